//! Calls of the operating system that the standard library does not have.
#![allow(
    unsafe_code,
    reason = "each call says why it is sound; no other part of the emulation is unsafe, except the fork in `process.rs`"
)]

use std::ffi::CStr;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, ifreq};

/// Returns the nanoseconds of the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place for the answer exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the result of a call, or the error that it has left.
pub(crate) fn checked(result: c_int) -> Result<c_int> {
    match result {
        -1 => Err(Error::last_os_error()),
        result => Ok(result),
    }
}

/// Gives the calling thread, and the processes that it starts from now on, namespaces of their own.
pub(crate) fn unshare(namespaces: c_int) -> Result<()> {
    // SAFETY: no memory is concerned; files, memory and signals stay shared.
    checked(unsafe { libc::unshare(namespaces) }).map(drop)
}

/// Moves the calling thread to another network.
pub(crate) fn enter_network(network: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: as above.
    checked(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Lets the calling thread run before all threads that are not real-time.
pub(crate) fn run_in_real_time(priority: c_int) -> Result<()> {
    // SAFETY: a plain structure of numbers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the structure lives during the call.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
        .map(drop)
}

/// Ends a process, or asks it to end.
pub(crate) fn signal(process: u32, signal: c_int) {
    // SAFETY: no memory is given.
    unsafe { libc::kill(process as libc::pid_t, signal) };
}

/// Waits until any of the files can be read, or the given number of nanoseconds has passed; marks in `files` which can.
pub(crate) fn poll(files: &mut [libc::pollfd], nanoseconds: u64) -> Result<c_int> {
    let time = libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    };
    let count = files.len() as libc::nfds_t;
    // SAFETY: as many entries as told; the time lives during the call.
    checked(unsafe { libc::ppoll(files.as_mut_ptr(), count, &raw const time, std::ptr::null()) })
}

/// Returns a socket, closed when a program is executed.
pub(crate) fn socket(family: c_int, kind: c_int, protocol: c_int) -> Result<OwnedFd> {
    // SAFETY: no memory is given.
    let number = checked(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Sends a message to the kernel.
pub(crate) fn send(socket: &OwnedFd, message: &[u8]) -> Result<()> {
    // SAFETY: pointer and length are those of a slice.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            message.as_ptr().cast::<c_void>(),
            message.len(),
            0,
        )
    };
    checked(sent as c_int).map(drop)
}

/// Receives a message; returns its length.
pub(crate) fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: pointer and length are those of a slice.
    let received = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            buffer.as_mut_ptr().cast::<c_void>(),
            buffer.len(),
            0,
        )
    };
    checked(received as c_int).map(|length| length as usize)
}

/// Returns a request about a network device.
pub(crate) fn request(device: &CStr) -> ifreq {
    // SAFETY: a plain structure of numbers, for which zero is a value.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(device.to_bytes()) {
        *place = *byte as libc::c_char;
    }
    request
}

/// Puts an IPv4 address into a request.
pub(crate) fn set_address(request: &mut ifreq, address: std::net::Ipv4Addr) {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: both are 16 bytes, and a sockaddr_in stands wherever a sockaddr does.
    request.ifr_ifru.ifru_addr =
        unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) };
}

/// Returns the number of a device that a request has been answered with.
pub(crate) fn index_of(request: &ifreq) -> c_int {
    // SAFETY: every bit pattern is a number.
    unsafe { request.ifr_ifru.ifru_ifindex }
}

/// Calls for something about a device.
pub(crate) fn control(file: &impl AsFd, call: libc::Ioctl, request: &mut ifreq) -> Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: all calls that are made take such a structure.
    checked(unsafe { libc::ioctl(file, call, std::ptr::from_mut(request)) }).map(drop)
}

/// Calls with a number.
pub(crate) fn control_number(file: &impl AsFd, call: libc::Ioctl, value: u64) -> Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: all calls that are made take a number.
    checked(unsafe { libc::ioctl(file, call, value) }).map(drop)
}

/// Sets a feature of a device (`struct ethtool_value` of `include/uapi/linux/ethtool.h`).
pub(crate) fn set_feature(file: &impl AsFd, device: &CStr, command: u32, on: bool) -> Result<()> {
    let mut value = [command, u32::from(on)];
    let mut with = request(device);
    with.ifr_ifru.ifru_data = value.as_mut_ptr().cast::<libc::c_char>();
    // The structure outlives the call.
    control(file, libc::SIOCETHTOOL as libc::Ioctl, &mut with)
}
