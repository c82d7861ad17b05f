//! A TUN device: reads the packets that a host sends, and delivers packets to the host.

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use libc::{c_int, c_short};

use crate::system::{
    control, control_number, index_of, receive, request, send, set_address, set_feature, socket,
};

/// Name of the TUN device in every host.
pub(crate) const NAME: &CStr = c"longhaul0";

/// Size in bytes of the largest packet: the device's MTU.
pub(crate) const MTU: usize = 1500;

/// Capacity of the device's queue of packets to be read.
const QUEUE: u32 = 20_000;

/// Commands of `include/uapi/linux/ethtool.h` that switch offloads: transmit checksums,
/// scatter-gather, TSO, GSO and GRO.
const FEATURES: [u32; 5] = [0x17, 0x19, 0x1f, 0x24, 0x2c];

/// The TUN device of a host, its only network interface except the loopback.
#[derive(Debug)]
pub(crate) struct Tun(File);

impl Tun {
    /// Creates a device with the address `own` in the network namespace of the calling thread; its
    /// subnet has 2^16 addresses.
    pub(crate) fn open(own: Ipv4Addr) -> Result<Self> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open("/dev/net/tun")?;
        let mut named = request(NAME);
        named.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
        control(&file, libc::TUNSETIFF as libc::Ioctl, &mut named)?;
        // No offloads: every packet is complete, with its checksum.
        control_number(&file, libc::TUNSETOFFLOAD as libc::Ioctl, 0)?;
        configure(own)?;
        Ok(Self(file))
    }

    /// Reads the next packet into `buffer` and returns its length; `None` if the host has sent no
    /// more.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Delivers a packet to the host.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<()> {
        (&self.0).write(packet).map(drop)
    }

    pub(crate) fn descriptor(&self) -> c_int {
        self.0.as_raw_fd()
    }
}

/// Sets the device's address, MTU and queue, switches its offloads off, and brings the device and
/// the loopback up.
fn configure(own: Ipv4Addr) -> Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    for (call, address) in [
        (libc::SIOCSIFADDR, own),
        (libc::SIOCSIFNETMASK, Ipv4Addr::new(255, 255, 0, 0)),
    ] {
        let mut with = request(NAME);
        set_address(&mut with, address);
        control(&socket, call as libc::Ioctl, &mut with)?;
    }
    let mut with = request(NAME);
    with.ifr_ifru.ifru_mtu = MTU as c_int;
    control(&socket, libc::SIOCSIFMTU as libc::Ioctl, &mut with)?;
    set_queue(device_index(&socket)?)?;
    for feature in FEATURES {
        // Switching off a feature that the device lacks fails, which does not matter.
        let _ = set_feature(&socket, NAME, feature, false);
    }
    for device in [NAME, c"lo"] {
        let mut with = request(device);
        with.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        control(&socket, libc::SIOCSIFFLAGS as libc::Ioctl, &mut with)?;
    }
    Ok(())
}

/// Returns the index of the device in its network namespace.
fn device_index(socket: &UdpSocket) -> Result<i32> {
    let mut with = request(NAME);
    control(socket, libc::SIOCGIFINDEX as libc::Ioctl, &mut with)?;
    Ok(index_of(&with))
}

/// Sets the length of the device's queue with netlink, since `ioctl` would require permissions
/// outside the namespace (`net/core/dev_ioctl.c`).
fn set_queue(device: i32) -> Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 5;
    const QUEUE_LENGTH: u16 = 13;
    let mut message = Vec::with_capacity(40);
    message.extend(40_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend([0; 12]);
    message.extend(device.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(8_u16.to_ne_bytes());
    message.extend(QUEUE_LENGTH.to_ne_bytes());
    message.extend(QUEUE.to_ne_bytes());
    let kernel = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    send(&kernel, &message)?;
    let mut answer = [0; 64];
    receive(&kernel, &mut answer)?;
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(Error::from_raw_os_error(-error)),
    }
}
