//! Watch that ends calls of Python algorithms which are still running when the time limit of their
//! run has passed.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::algorithm::{self, Calls};
use crate::clock::Clock;
use crate::limit::TimeLimit;

/// Time that an interrupted algorithm has to return before the program is ended.
const GRACE: Duration = Duration::from_secs(2);
/// Exit code for errors of algorithms.
const EXIT_CODE: i32 = 2;

/// Supervision of the time that calls of algorithms take. It ends when this object is dropped. The
/// thread that drops the object must not hold the interpreter's lock.
pub(crate) struct CallWatch {
    _interrupting: Clock,
    _ending: Option<Clock>,
}

impl CallWatch {
    /// Starts to watch this thread's calls of algorithms. A call that still runs after the time limit is interrupted
    /// with an exception. If the call continues despite the exception, and `limit.stacks` names a file for call stacks,
    /// the program is ended. `out` is the run directory; `None` if no run directory is being written.
    pub(crate) fn start(limit: &TimeLimit, out: Option<&Path>) -> PyResult<Self> {
        let mut interrupting = CallLimit::new(limit.clone())?;
        let mut ending = LastResort::new(limit.clone(), out);
        Ok(Self {
            _interrupting: Clock::start(move || interrupting.check()),
            // A separate thread: the other one waits for Python's lock, which the call may never
            // release.
            _ending: limit
                .stacks
                .is_some()
                .then(|| Clock::start(move || ending.check())),
        })
    }
}

/// Watch that interrupts a call which is still running when the time limit has passed.
struct CallLimit {
    limit: TimeLimit,
    calls: Arc<Calls>,
    /// Python's identifier of the simulation's thread.
    thread: Py<PyAny>,
    /// Number of the call in progress at the last check; `None` if there was none.
    seen: Option<u64>,
    interrupts: bool,
}

impl CallLimit {
    /// Creates a watch over the algorithms that this thread calls.
    fn new(limit: TimeLimit) -> PyResult<Self> {
        let thread = Python::attach(|py| -> PyResult<_> {
            let ident = py.import("threading")?.call_method0("get_ident")?;
            Ok(ident.unbind())
        })?;
        Ok(Self {
            limit,
            calls: Calls::of_this_thread(),
            thread,
            seen: None,
            interrupts: false,
        })
    }

    fn check(&mut self) {
        let before = std::mem::replace(&mut self.seen, self.calls.current());
        let lasts = self.seen.is_some() && self.seen == before;
        if !lasts || !self.limit.is_over() {
            return;
        }
        Python::attach(|py| {
            if self.calls.current() == self.seen {
                self.interrupts = true;
                let _ = algorithm::interrupt(py, &self.thread);
            }
        });
    }
}

impl Drop for CallLimit {
    fn drop(&mut self) {
        if self.interrupts {
            let _ = Python::attach(|py| algorithm::forget_interruption(py, &self.thread));
        }
    }
}

/// Watch that ends the program if an exception cannot interrupt the algorithm, for example in
/// `sum(range(10**12))`.
struct LastResort {
    limit: TimeLimit,
    calls: Arc<Calls>,
    out: Option<PathBuf>,
    /// Number of the call in progress at the last check, and the time when a check first found this call in progress.
    /// Checks before the time limit do not count.
    seen: Option<(u64, Instant)>,
}

impl LastResort {
    fn new(limit: TimeLimit, out: Option<&Path>) -> Self {
        Self {
            limit,
            calls: Calls::of_this_thread(),
            out: out.map(Path::to_path_buf),
            seen: None,
        }
    }

    fn check(&mut self) {
        if !self.limit.is_over() {
            return;
        }
        let current = self.calls.current();
        match self.seen {
            Some((call, since)) if current == Some(call) => {
                if since.elapsed() >= GRACE {
                    self.end();
                }
            }
            _ => self.seen = current.map(|call| (call, Instant::now())),
        }
    }

    fn end(&self) {
        let lost = match &self.out {
            Some(out) => {
                longhaul_output::discard_unfinished(out);
                "what this run had recorded is lost"
            }
            None => "nothing was simulated",
        };
        // A progress bar has hidden the cursor.
        let cursor = if io::stderr().is_terminal() {
            "\r\x1b[K\x1b[?25h"
        } else {
            ""
        };
        let place = self.place();
        let _ = writeln!(
            io::stderr(),
            "{cursor}error: {place}, nor when it was interrupted, which code outside Python does not notice; the program \
             is ended, and {lost}"
        );
        process::exit(EXIT_CODE);
    }

    /// Returns the beginning of the error message: the file and the line that the algorithm is
    /// executing, and that it has not returned. If the call stacks do not show this line, the
    /// message names all files of algorithms. Removes the file of call stacks.
    fn place(&self) -> String {
        let path = self.limit.stacks.as_deref();
        let stacks = path.and_then(|path| fs::read_to_string(path).ok());
        if let Some(path) = path {
            let _ = fs::remove_file(path);
        }
        let what = "has not returned when the time limit was reached";
        let files = self.calls.files();
        let found = stacks.as_deref().and_then(|text| innermost(text, &files));
        match found {
            Some((file, line, "<module>")) => format!("{file}:{line}: {what} (in the file itself)"),
            Some((file, line, function)) => format!("{file}:{line}: {what} (in {function})"),
            None => format!("{}: {what}", files.join(", ")),
        }
    }
}

/// Returns the file, line and function of the innermost call in one of `files`; `None` if there is
/// no such call. `stacks` is the output of `faulthandler`: lines such as `File "cc.py", line 12 in
/// on_ack`, the most recent call first.
fn innermost<'a>(stacks: &'a str, files: &'a [String]) -> Option<(&'a str, &'a str, &'a str)> {
    stacks.lines().find_map(|text| {
        files.iter().find_map(|file| {
            let rest = text.trim_start().strip_prefix("File \"")?;
            let rest = rest.strip_prefix(escaped(file).as_str())?;
            let (line, function) = rest.strip_prefix("\", line ")?.split_once(" in ")?;
            Some((file.as_str(), line, function))
        })
    })
}

/// Returns a file's name as `faulthandler` writes it (`_Py_DumpASCII` of CPython).
fn escaped(file: &str) -> String {
    file.chars()
        .map(|character| match u32::from(character) {
            32..=126 => character.to_string(),
            code @ ..=0xff => format!("\\x{code:02x}"),
            code @ ..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        })
        .collect()
}
