//! The two namespaces of a recording: senders in one, receivers in the other.

use std::collections::BTreeMap;
use std::fs;
use std::io::Result as IoResult;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use crate::case::{Case, Flow};
use crate::system;
use crate::tun::Tun;

/// Where receivers listen: at this port the first flow's, and so on.
const FIRST_PORT: u16 = 5000;

/// Address of the senders.
const SENDERS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);

/// Address of the receivers.
pub(crate) const RECEIVERS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Of the forwarder, above that of the applications.
const FORWARDER_PRIORITY: libc::c_int = 50;

/// Both networks, and what is in them.
pub(crate) struct Machine {
    /// Packets that senders send.
    pub(crate) senders: Tun,
    /// Packets that receivers send.
    pub(crate) receivers: Tun,
    pub(crate) sockets: Vec<OwnedFd>,
    pub(crate) listeners: Vec<TcpListener>,
    /// As they were during the recording.
    pub(crate) sysctls: BTreeMap<String, String>,
    senders_network: OwnedFd,
}

impl Machine {
    /// Makes the networks and the sockets; says what this machine lacks.
    pub(crate) fn prepare(case: &Case) -> Result<Self, String> {
        let (senders, senders_network) = network(SENDERS, &case.sysctls)?;
        let socket = |flow: &Flow| {
            system::socket(&flow.algorithm)
                .map_err(|error| format!("congestion control {}: {error}", flow.algorithm))
        };
        let sockets = case.flows.iter().map(socket).collect::<Result<_, _>>()?;
        let sysctls = read_sysctls();
        let (receivers, _) = network(RECEIVERS, &case.sysctls)?;
        let listeners = (0..case.flows.len())
            .map(|flow| listen(port_of(flow), case.receive_buffer_bytes))
            .collect::<IoResult<_>>()
            .map_err(|error| format!("listening: {error}"))?;
        system::lock_memory().map_err(|error| format!("locking memory: {error}"))?;
        system::run_in_real_time(FORWARDER_PRIORITY)
            .map_err(|error| format!("real-time scheduling: {error}"))?;
        Ok(Self {
            senders,
            receivers,
            sockets,
            listeners,
            sysctls,
            senders_network,
        })
    }

    /// Whether recording is possible here.
    pub(crate) fn check() -> Result<(), String> {
        network(SENDERS, &BTreeMap::new())?;
        system::run_in_real_time(FORWARDER_PRIORITY)
            .map_err(|error| format!("real-time scheduling: {error}"))
    }

    /// Counters of TCP that are not zero, of both ends.
    pub(crate) fn counters(&self) -> IoResult<BTreeMap<String, BTreeMap<String, u64>>> {
        let receivers = counters();
        system::enter_network(self.senders_network.as_fd())?;
        Ok(BTreeMap::from([
            ("receivers".to_string(), receivers),
            ("senders".to_string(), counters()),
        ]))
    }
}

/// Which flow a receiver's port is of.
pub(crate) fn flow_of(port: u16, flows: usize) -> Option<usize> {
    let flow = usize::from(port.checked_sub(FIRST_PORT)?);
    (flow < flows).then_some(flow)
}

/// Where the receiver of a flow listens.
pub(crate) fn port_of(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// A new network for the calling thread, with nothing but a TUN device.
fn network(own: Ipv4Addr, sysctls: &BTreeMap<String, String>) -> Result<(Tun, OwnedFd), String> {
    system::new_network().map_err(|error| format!("a network namespace: {error}"))?;
    let tun = Tun::open(own).map_err(|error| format!("a TUN device: {error}"))?;
    for (name, value) in sysctls {
        fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
            .map_err(|error| format!("net.ipv4.{name} = {value}: {error}"))?;
    }
    let network = fs::File::open("/proc/thread-self/ns/net")
        .map_err(|error| format!("a network namespace: {error}"))?;
    Ok((tun, network.into()))
}

fn listen(port: u16, buffer: Option<usize>) -> IoResult<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    if let Some(bytes) = buffer {
        let bytes = (bytes as libc::c_int).to_ne_bytes();
        system::set_option(&listener, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes)?;
    }
    Ok(listener)
}

fn read_sysctls() -> BTreeMap<String, String> {
    let Ok(folder) = fs::read_dir("/proc/sys/net/ipv4") else {
        return BTreeMap::new();
    };
    let names = folder
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let of_tcp = names.filter(|name| name.starts_with("tcp_") && !name.contains("key"));
    let read = |name: String| {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        Some((name, words.join(" ")))
    };
    of_tcp.filter_map(read).collect()
}

/// Of the calling thread's network: pairs of lines, names and numbers.
fn counters() -> BTreeMap<String, u64> {
    let files = [
        "/proc/thread-self/net/snmp",
        "/proc/thread-self/net/netstat",
    ];
    let mut found = BTreeMap::new();
    for text in files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
    {
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines
            .chunks_exact(2)
            .filter(|pair| pair[0].starts_with("Tcp"))
        {
            let names = pair[0].split_whitespace().skip(1);
            let values = pair[1].split_whitespace().skip(1);
            for (name, value) in names.zip(values) {
                match value.parse() {
                    Ok(0) | Err(_) => {}
                    Ok(value) => {
                        found.insert(name.to_string(), value);
                    }
                }
            }
        }
    }
    found
}
