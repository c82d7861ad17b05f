//! Operating system calls that the standard library lacks.
#![allow(
    unsafe_code,
    reason = "each call says why it is sound; no other part of the emulation is unsafe, except the fork in `process.rs`"
)]

use std::ffi::CStr;
use std::io::{Error, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, ifreq};

/// Returns the time of the monotonic clock in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer to the result is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns `result`, the result of a call, or the last error of the operating system if it
/// is -1.
pub(crate) fn checked(result: c_int) -> Result<c_int> {
    match result {
        -1 => Err(Error::last_os_error()),
        result => Ok(result),
    }
}

/// Moves the calling thread, and the processes that it starts from now on, to new namespaces. A new
/// process namespace is for these processes only.
pub(crate) fn unshare(namespaces: c_int) -> Result<()> {
    // SAFETY: the call accesses no memory; files, memory and signals stay shared.
    checked(unsafe { libc::unshare(namespaces) }).map(drop)
}

/// Moves the calling thread to another network namespace.
pub(crate) fn enter_network(network: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: the call accesses no memory.
    checked(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Gives the calling thread a real-time priority.
pub(crate) fn run_in_real_time(priority: c_int) -> Result<()> {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the structure exists during the call.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) })
        .map(drop)
}

pub(crate) fn signal(process: u32, signal: c_int) {
    // SAFETY: only numbers are passed.
    unsafe { libc::kill(process as libc::pid_t, signal) };
}

/// Waits until one of `files` is readable, or `nanoseconds` have passed. Readable files are marked
/// in `files`.
pub(crate) fn poll(files: &mut [libc::pollfd], nanoseconds: u64) -> Result<c_int> {
    let time = libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    };
    let count = files.len() as libc::nfds_t;
    // SAFETY: `count` is the length of `files`, and the time exists during the call.
    checked(unsafe { libc::ppoll(files.as_mut_ptr(), count, &raw const time, std::ptr::null()) })
}

/// Creates a socket, which is closed when the process executes a program.
pub(crate) fn socket(family: c_int, kind: c_int, protocol: c_int) -> Result<OwnedFd> {
    // SAFETY: only numbers are passed.
    let number = checked(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: no other code owns the file.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Sends a message on a netlink socket to the kernel.
pub(crate) fn send(socket: &OwnedFd, message: &[u8]) -> Result<()> {
    // SAFETY: pointer and length are from a slice.
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

/// Receives a message in `buffer`, and returns its length in bytes.
pub(crate) fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: pointer and length are from a slice.
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

/// Returns an `ifreq`, the argument of calls about the network device `device`.
pub(crate) fn request(device: &CStr) -> ifreq {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(device.to_bytes()) {
        *place = *byte as libc::c_char;
    }
    request
}

/// Sets the IPv4 address in the argument of a call.
pub(crate) fn set_address(request: &mut ifreq, address: std::net::Ipv4Addr) {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: both structures have 16 bytes, and a `sockaddr_in` is valid as a `sockaddr`.
    request.ifr_ifru.ifru_addr =
        unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) };
}

/// Returns the index of a network device from the answer to `SIOCGIFINDEX`.
pub(crate) fn index_of(request: &ifreq) -> c_int {
    // SAFETY: every bit pattern is a valid number.
    unsafe { request.ifr_ifru.ifru_ifindex }
}

/// Makes an `ioctl` call about a device.
pub(crate) fn control(file: &impl AsFd, call: libc::Ioctl, request: &mut ifreq) -> Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: all calls made here take an `ifreq`.
    checked(unsafe { libc::ioctl(file, call, std::ptr::from_mut(request)) }).map(drop)
}

/// Makes an `ioctl` call with a number as argument.
pub(crate) fn control_number(file: &impl AsFd, call: libc::Ioctl, value: u64) -> Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: all calls made here take a number.
    checked(unsafe { libc::ioctl(file, call, value) }).map(drop)
}

/// Switches a feature of a device on or off (`struct ethtool_value` of
/// `include/uapi/linux/ethtool.h`).
pub(crate) fn set_feature(file: &impl AsFd, device: &CStr, command: u32, on: bool) -> Result<()> {
    let mut value = [command, u32::from(on)];
    let mut with = request(device);
    with.ifr_ifru.ifru_data = value.as_mut_ptr().cast::<libc::c_char>();
    // The structure exists until the call returns.
    control(file, libc::SIOCETHTOOL as libc::Ioctl, &mut with)
}
