//! State of the TCP sockets in a host's network, requested with Linux's `sock_diag`
//! (`include/uapi/linux/inet_diag.h`).

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use crate::packet::{FiveTuple, TCP};
use crate::system;

/// Type of the request: `SOCK_DIAG_BY_FAMILY` of `include/uapi/linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;

/// Bit set of the states of connected sockets (`include/net/tcp_states.h`): all TCP states except
/// SYN-SENT, SYN-RECEIVED, TIME-WAIT, CLOSE and LISTEN.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
const LISTEN: u32 = 1 << 10;

/// Number of the answer's attribute that contains `tcp_info`.
const INFO: u16 = 2;
/// Number of the answer's attribute that contains the name of the congestion control.
const CONGESTION: u16 = 4;
/// Bits that request the attributes `INFO` and `CONGESTION`.
const ASKED: u8 = 1 << (INFO - 1) | 1 << (CONGESTION - 1);

/// Size in bytes of the header of a netlink message.
const HEADER: usize = 16;
/// Size in bytes of a request without its header.
const REQUEST: usize = 56;
/// Size in bytes of the fixed part of an answer from the kernel, between header and attributes.
const ANSWER: usize = 72;

/// State of a connected socket (`struct tcp_info` of `include/uapi/linux/tcp.h`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SocketInfo {
    /// The five values that identify the packets that this socket sends to its peer.
    pub(crate) flow: FiveTuple,
    /// Name of the socket's congestion control.
    pub(crate) congestion: String,
    /// State of congestion control (`tcpi_ca_state`): 0 open, 1 disorder, 2 CWR, 3 recovery, 4
    /// loss.
    pub(crate) ca_state: u8,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    pub(crate) srtt_us: u32,
    /// Slow start threshold in segments; `None` while it is infinite.
    pub(crate) ssthresh: Option<u32>,
    pub(crate) cwnd: u32,
}

/// Netlink socket for requests about the TCP sockets in one network namespace.
#[derive(Debug)]
pub(crate) struct Inquiry {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Inquiry {
    /// Creates a netlink socket in the network namespace of the calling thread.
    pub(crate) fn new() -> Result<Self> {
        const SOCK_DIAG: libc::c_int = 4;
        let socket = system::socket(libc::AF_NETLINK, libc::SOCK_RAW, SOCK_DIAG)?;
        Ok(Self {
            socket,
            buffer: vec![0; 1 << 16],
        })
    }

    /// Returns the state of all connected sockets of the namespace.
    pub(crate) fn connections(&mut self) -> Result<Vec<SocketInfo>> {
        let mut all = Vec::new();
        self.ask(CONNECTED, &mut |answer| all.extend(read(answer)))?;
        Ok(all)
    }

    /// Returns true if any TCP socket in the namespace listens.
    pub(crate) fn has_listener(&mut self) -> Result<bool> {
        let mut any = false;
        self.ask(LISTEN, &mut |_| any = true)?;
        Ok(any)
    }

    /// Requests the sockets in the states of the bit set `states`, and passes each answer to
    /// `take`. Both address families are requested, since IPv6 sockets can also use IPv4.
    fn ask(&mut self, states: u32, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        for family in [libc::AF_INET, libc::AF_INET6] {
            system::send(&self.socket, &request(family as u8, states))?;
            while self.answer(take)? {}
        }
        Ok(())
    }

    /// Reads one datagram with answers, and passes each answer to `take`. Returns true if more follow.
    fn answer(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool> {
        const ERROR: u16 = 2;
        const DONE: u16 = 3;
        let length = system::receive(&self.socket, &mut self.buffer)?;
        let mut rest = &self.buffer[..length];
        while rest.len() >= HEADER {
            let size = number(rest, 0) as usize;
            let message = rest.get(HEADER..size).ok_or(ErrorKind::InvalidData)?;
            match u16::from_ne_bytes([rest[4], rest[5]]) {
                DONE => return Ok(false),
                ERROR => return Err(Error::from(ErrorKind::Unsupported)),
                _ => take(message),
            }
            rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(true)
    }
}

/// Returns the message that requests all TCP sockets of an address family in the states of a bit
/// set (`struct inet_diag_req_v2`).
fn request(family: u8, states: u32) -> Vec<u8> {
    const REQUEST_FLAG: u16 = 1;
    const DUMP: u16 = 0x300;
    let mut message = Vec::with_capacity(HEADER + REQUEST);
    message.extend(((HEADER + REQUEST) as u32).to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend((REQUEST_FLAG | DUMP).to_ne_bytes());
    message.extend([0; 8]);
    message.extend([family, TCP, ASKED, 0]);
    message.extend(states.to_ne_bytes());
    message.resize(HEADER + REQUEST, 0);
    message
}

/// Reads an answer (`struct inet_diag_msg` and its attributes); returns `None` if it is incomplete or
/// lacks `tcp_info`. IPv6 addresses are taken as IPv4-mapped, since hosts have no others.
fn read(answer: &[u8]) -> Option<SocketInfo> {
    let port = |at: usize| Some(u16::from_be_bytes([*answer.get(at)?, *answer.get(at + 1)?]));
    // In an IPv4-mapped IPv6 address the IPv4 address is at the end (RFC 4291, section 2.5.5.2).
    let place = if answer.first() == Some(&(libc::AF_INET6 as u8)) {
        12
    } else {
        0
    };
    let address = |at: usize| {
        let bytes: [u8; 4] = answer.get(at + place..at + place + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(bytes))
    };
    let flow = FiveTuple {
        protocol: TCP,
        source: address(8)?,
        destination: address(24)?,
        source_port: port(4)?,
        destination_port: port(6)?,
    };
    let (mut info, mut congestion) = (None, String::new());
    let mut rest = answer.get(ANSWER..)?;
    while rest.len() >= 4 {
        let size = usize::from(u16::from_ne_bytes([rest[0], rest[1]]));
        let value = rest.get(4..size)?;
        match u16::from_ne_bytes([rest[2], rest[3]]) {
            INFO => info = Some(value),
            CONGESTION => {
                let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
                congestion = String::from_utf8_lossy(text).into_owned();
            }
            _ => {}
        }
        rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
    }
    // The kernel's `TCP_INFINITE_SSTHRESH`.
    const INFINITE: u32 = 0x7fff_ffff;
    let info = info.filter(|info| info.len() >= 104)?;
    let ssthresh = number(info, 76);
    Some(SocketInfo {
        flow,
        congestion,
        ca_state: info[1],
        unacked: number(info, 24),
        sacked: number(info, 28),
        lost: number(info, 32),
        retransmitted: number(info, 36),
        srtt_us: number(info, 68),
        ssthresh: (ssthresh < INFINITE).then_some(ssthresh),
        cwnd: number(info, 80),
    })
}

/// Returns the 32-bit number at offset `at`, which must exist.
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
