//! A TUN device: the packets that a namespace sends, and a way to give it some.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use libc::{c_int, c_short, ifreq};

use crate::packet::LARGEST;
use crate::system::checked;

/// Packets that the device holds before the forwarder takes them.
const QUEUE: c_int = 20_000;

/// The only interface of a namespace.
pub(crate) struct Tun(File);

impl Tun {
    /// Makes one in the network of the calling thread, with an address in a network of 256.
    pub(crate) fn open(own: Ipv4Addr) -> Result<Self> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open("/dev/net/tun")?;
        let mut named = request();
        named.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
        control(&file, libc::TUNSETIFF as libc::Ioctl, &mut named)?;
        configure(own)?;
        Ok(Self(file))
    }

    /// The next packet, if there is one.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives the namespace a packet.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<()> {
        (&self.0).write(packet).map(drop)
    }

    pub(crate) fn descriptor(&self) -> c_int {
        self.0.as_raw_fd()
    }
}

/// Addresses, the largest packet, and up.
fn configure(own: Ipv4Addr) -> Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    for (call, address) in [
        (libc::SIOCSIFADDR, own),
        (libc::SIOCSIFNETMASK, Ipv4Addr::new(255, 255, 255, 0)),
    ] {
        let mut with = request();
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr {
                s_addr: u32::from(address).to_be(),
            },
            sin_zero: [0; 8],
        };
        // SAFETY: both are 16 bytes, and a sockaddr_in stands wherever a sockaddr does.
        with.ifr_ifru.ifru_addr =
            unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) };
        control(&socket, call as libc::Ioctl, &mut with)?;
    }
    let mut with = request();
    with.ifr_ifru.ifru_mtu = LARGEST as c_int;
    control(&socket, libc::SIOCSIFMTU as libc::Ioctl, &mut with)?;
    let mut with = request();
    with.ifr_ifru.ifru_metric = QUEUE;
    control(&socket, libc::SIOCSIFTXQLEN as libc::Ioctl, &mut with)?;
    let mut with = request();
    with.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    control(&socket, libc::SIOCSIFFLAGS as libc::Ioctl, &mut with)
}

/// A request about the device.
fn request() -> ifreq {
    // SAFETY: a plain structure of numbers, for which zero is a value.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(*b"tun0") {
        *place = byte as libc::c_char;
    }
    request
}

fn control(file: &impl AsRawFd, call: libc::Ioctl, request: &mut ifreq) -> Result<()> {
    // SAFETY: all of these calls take such a structure.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), call, std::ptr::from_mut(request)) }).map(drop)
}
