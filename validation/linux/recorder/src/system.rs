//! Calls of the operating system that the standard library does not have.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void};

/// Nanoseconds of a number of seconds.
pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn now() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place for the answer exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The error of the last call if it says that it failed.
pub(crate) fn checked(result: c_int) -> Result<c_int> {
    match result {
        -1 => Err(Error::last_os_error()),
        result => Ok(result),
    }
}

/// Gives the calling thread, and what it makes from now on, a network of its own.
pub(crate) fn new_network() -> Result<()> {
    // SAFETY: no memory is concerned.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Moves the calling thread to another network.
pub(crate) fn enter_network(network: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: as above.
    checked(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// The calling thread runs before all that are not real-time.
pub(crate) fn run_in_real_time(priority: c_int) -> Result<()> {
    // SAFETY: a plain structure of numbers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the structure lives during the call.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
        .map(drop)
}

/// Keeps memory from being paged out, and pages that are to be used from being missing.
pub(crate) fn lock_memory() -> Result<()> {
    // SAFETY: no memory is given.
    checked(unsafe { libc::mlockall(libc::MCL_CURRENT) }).map(drop)
}

/// A TCP socket with a congestion control, not connected yet.
pub(crate) fn socket(algorithm: &str) -> Result<OwnedFd> {
    // SAFETY: no memory is given.
    let number =
        checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    set_option(
        &socket,
        libc::IPPROTO_TCP,
        libc::TCP_CONGESTION,
        algorithm.as_bytes(),
    )?;
    Ok(socket)
}

/// Sets an option of a socket.
pub(crate) fn set_option(
    socket: &impl AsRawFd,
    level: c_int,
    name: c_int,
    value: &[u8],
) -> Result<()> {
    // SAFETY: pointer and length are those of a slice.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast::<c_void>(),
            value.len() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Fills `value`, of plain numbers, with as much of an option as there is.
pub(crate) fn get_option<T: Copy>(
    socket: &impl AsRawFd,
    level: c_int,
    name: c_int,
    value: &mut T,
) -> Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes, which are there.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_mut(value).cast::<c_void>(),
            &raw mut length,
        )
    })
    .map(drop)
}

/// Waits until either can be read, or so many nanoseconds have passed.
pub(crate) fn wait(files: [c_int; 2], nanoseconds: i64) {
    let mut polled = files.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let time = libc::timespec {
        tv_sec: nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    };
    // SAFETY: two entries, as told. That it was interrupted does not matter.
    unsafe { libc::ppoll(polled.as_mut_ptr(), 2, &raw const time, std::ptr::null()) };
}
