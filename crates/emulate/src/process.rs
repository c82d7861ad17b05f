//! Programs that run in hosts. Each program has its own process and mount namespaces. The first
//! process of the process namespace ends with the emulation, even if the emulation is killed. The
//! kernel then ends all other processes of the namespace.
#![allow(
    unsafe_code,
    reason = "between fork and exec there are only calls that are safe after a fork; each block says what it does"
)]

use std::ffi::{CStr, CString, c_int};
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::host::no_namespace;
use crate::program::Program;
use crate::refusal::Refusal;
use crate::system::{self, checked};

/// Maximum time for a program to end after SIGTERM. After this time, the program gets SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// A program that runs in a host.
#[derive(Debug)]
pub(crate) struct Running {
    /// Identifier of the first process of the program's namespace.
    process: u32,
    /// Thread that started the program. The program's processes end with this thread.
    thread: JoinHandle<()>,
    ended: Receiver<Result<ExitStatus>>,
}

impl Running {
    /// Starts a program in a host. `on_end` is called when the program has ended; `hosts` is the
    /// text of the `/etc/hosts` that the program sees.
    pub(crate) fn start(
        program: &Program,
        network: BorrowedFd<'_>,
        hosts: &str,
        on_end: impl FnOnce() + Send + 'static,
    ) -> std::result::Result<Self, Refusal> {
        let failed =
            |error: Error| Refusal::new(format!("cannot start {}: {error}", program.name()), "");
        let network = network.try_clone_to_owned().map_err(failed)?;
        let (program, hosts) = (program.clone(), CString::new(hosts).unwrap_or_default());
        let (started, is_started) = channel();
        let (tell, ended) = channel();
        let thread = thread::spawn(move || match start(&program, network.as_fd(), hosts) {
            Err(refusal) => drop(started.send(Err(refusal))),
            Ok(child) => {
                let _ = started.send(Ok(child.id()));
                attend(child, &tell);
                on_end();
            }
        });
        let process = is_started
            .recv()
            .unwrap_or_else(|_| Err(Refusal::new("a thread has failed", "")))?;
        Ok(Self {
            process,
            thread,
            ended,
        })
    }

    /// Ends the program with SIGTERM, and with SIGKILL after [`GRACE`], unless it has ended
    /// already. Returns the exit status, `None` if unknown, and true if the program was requested
    /// to end.
    pub(crate) fn end(self) -> (Option<ExitStatus>, bool) {
        if let Ok(status) = self.ended.try_recv() {
            let _ = self.thread.join();
            return (status.ok(), false);
        }
        system::signal(self.process, libc::SIGTERM);
        let status = self.ended.recv_timeout(GRACE).or_else(|_| {
            system::signal(self.process, libc::SIGKILL);
            self.ended.recv()
        });
        let _ = self.thread.join();
        (status.ok().and_then(Result::ok), true)
    }
}

/// Waits until `child` has ended, and sends its exit status to `tell`.
fn attend(mut child: Child, tell: &Sender<Result<ExitStatus>>) {
    // The receiver may be gone.
    let _ = tell.send(child.wait());
}

/// Moves the calling thread to the host's network namespace and a new mount namespace, and starts
/// the program there in a new process namespace.
fn start(
    program: &Program,
    network: BorrowedFd<'_>,
    hosts: CString,
) -> std::result::Result<Child, Refusal> {
    let kinds = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
    system::unshare(kinds).map_err(|error| no_namespace("mount and process", &error))?;
    system::enter_network(network).map_err(|error| no_namespace("network", &error))?;
    let mut command = Command::new(&program.arguments[0]);
    command.args(&program.arguments[1..]);
    if !program.is_in_foreground {
        command.stdin(Stdio::null());
    }
    let outlives = !program.is_in_foreground;
    // SAFETY: the function makes only calls that are safe after a fork, and allocates nothing.
    unsafe {
        command.pre_exec(move || enter(&hosts, outlives));
    }
    command.spawn().map_err(|error| {
        let message = format!("cannot start `{}`: {error}", program.arguments[0]);
        Refusal::new(message, "")
    })
}

/// Identifier of the program's process, which the signal handler needs.
static WORKER: AtomicI32 = AtomicI32::new(0);

/// Mounts `/proc` and `/etc/hosts` for the program's namespaces, and forks. Without an error, the
/// function returns only in the new process, which executes the program. The calling process waits
/// until the program ends or, if `outlives`, until the last of the program's descendants ends.
fn enter(hosts: &CStr, outlives: bool) -> Result<()> {
    // SAFETY: only numbers are passed. The signal comes when the thread that started the program
    // ends.
    checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    mount_own(hosts)?;
    // SAFETY: the process has one thread.
    match checked(unsafe { libc::fork() })? {
        0 => Ok(()),
        worker => be_first(worker, outlives),
    }
}

/// Mounts the namespace's own `/proc`, and `hosts` over `/etc/hosts` if that exists, without changing
/// any mount outside.
fn mount_own(hosts: &CStr) -> Result<()> {
    const PROC: &CStr = c"/proc";
    const FILE: &CStr = c"/proc/hosts";
    mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)?;
    // The file is in a memory file system, mounted where `/proc` will be mounted anyway.
    mount(Some(c"tmpfs"), PROC, Some(c"tmpfs"), 0)?;
    write(FILE, hosts.to_bytes())?;
    match mount(Some(FILE), c"/etc/hosts", None, libc::MS_BIND) {
        Err(error) if error.raw_os_error() != Some(libc::ENOENT) => return Err(error),
        _ => {}
    }
    // SAFETY: a valid C string is passed.
    checked(unsafe { libc::umount2(PROC.as_ptr(), libc::MNT_DETACH) })?;
    // Some containers forbid this; programs then see the processes outside the namespace.
    let _ = mount(Some(c"proc"), PROC, Some(c"proc"), 0);
    Ok(())
}

fn mount(source: Option<&CStr>, target: &CStr, kind: Option<&CStr>, flags: u64) -> Result<()> {
    let text = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    let flags = flags as libc::c_ulong;
    let (source, kind) = (text(source), text(kind));
    // SAFETY: valid C strings and numbers are passed; null means an absent argument.
    checked(unsafe { libc::mount(source, target.as_ptr(), kind, flags, std::ptr::null()) })
        .map(drop)
}

fn write(file: &CStr, bytes: &[u8]) -> Result<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC;
    // SAFETY: a valid C string and numbers are passed.
    let file = checked(unsafe { libc::open(file.as_ptr(), flags, 0o644 as c_int) })?;
    // SAFETY: pointer and length are from a slice.
    let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
    // SAFETY: no other code has the file.
    unsafe { libc::close(file) };
    checked(written as c_int).map(drop)
}

/// Forwards `signal`, a request to end, to the program.
extern "C" fn pass_on(signal: c_int) {
    // SAFETY: only numbers are passed.
    unsafe { libc::kill(WORKER.load(Ordering::Relaxed), signal) };
}

/// Acts as the first process of a namespace: waits for child processes, and ends with the exit
/// status of the program. If `outlives`, it waits for all descendants of the program.
fn be_first(worker: libc::pid_t, outlives: bool) -> ! {
    WORKER.store(worker, Ordering::Relaxed);
    let mut status = 0;
    // SAFETY: this process uses none of the closed files, which belong to the program and the
    // emulation. Signals from a terminal are ignored here, because the program gets them too.
    unsafe {
        libc::close_range(3, u32::MAX, 0);
        libc::signal(libc::SIGTERM, pass_on as *const () as libc::sighandler_t);
        for ignored in [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGHUP] {
            libc::signal(ignored, libc::SIG_IGN);
        }
    }
    loop {
        let mut of_one = 0;
        // SAFETY: the pointer to the status is valid.
        let ended = unsafe { libc::waitpid(-1, &raw mut of_one, 0) };
        if ended == worker {
            status = of_one;
            if !outlives {
                break;
            }
        } else if ended == -1 && Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            break;
        }
    }
    let code = if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        128 + libc::WTERMSIG(status)
    };
    // SAFETY: ends the process at once and runs none of the exit handlers of the parent.
    unsafe { libc::_exit(code) }
}
