//! Hosts: network namespaces, each with a single device for all packets.

use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::thread;

use crate::refusal::Refusal;
use crate::socket_info::Inquiry;
use crate::system;
use crate::tun::Tun;

/// A host at a node of the emulated network.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) port: Port,
    /// The host's network namespace. It exists as long as this file is open, or a process is in it.
    pub(crate) network: OwnedFd,
    /// Socket for requests about the state of the host's connections.
    pub(crate) inquiry: Inquiry,
}

/// The device for packets that leave or enter a host.
#[derive(Debug)]
pub(crate) struct Port {
    /// Index of the host's node.
    pub(crate) node: usize,
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    pub(crate) tun: Tun,
}

impl Host {
    /// Creates the host number `number`, counted from 0.
    pub(crate) fn create(
        number: usize,
        (node, name): (usize, &str),
        sysctls: &[(String, String)],
    ) -> Result<Self, Refusal> {
        let address = address_of(number);
        let (tun, network, inquiry) = in_own_thread(|| make(address, sysctls))?;
        Ok(Self {
            port: Port {
                node,
                name: name.to_string(),
                address,
                tun,
            },
            network,
            inquiry,
        })
    }
}

/// Returns the address of host number `number`; number 0 has 10.77.0.1.
pub fn address_of(number: usize) -> Ipv4Addr {
    let [.., high, low] = (number as u32 + 1).to_be_bytes();
    Ipv4Addr::new(10, 77, high, low)
}

/// Calls `make` in a new thread that ends afterwards, because the function moves its thread to
/// another network namespace.
fn in_own_thread<T: Send>(make: impl FnOnce() -> Result<T, Refusal> + Send) -> Result<T, Refusal> {
    thread::scope(|scope| scope.spawn(make).join())
        .unwrap_or_else(|_| Err(Refusal::new("a thread has failed", "")))
}

/// Moves the calling thread to a new network namespace with a TUN device and the loopback. Returns
/// the device, the namespace's file, and a socket for requests in it.
fn make(
    address: Ipv4Addr,
    sysctls: &[(String, String)],
) -> Result<(Tun, OwnedFd, Inquiry), Refusal> {
    system::unshare(libc::CLONE_NEWNET).map_err(|error| no_namespace("network", &error))?;
    // IPv6 is disabled before the device exists, so that only programs send packets.
    for scope in ["all", "default"] {
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
    }
    let tun = Tun::open(address).map_err(|error| no_device(&error))?;
    for (name, value) in sysctls {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        fs::write(file, value).map_err(|error| {
            let message = format!("sysctl {name} = {value}: {error}");
            let advice = match name.as_str() {
                "net.ipv4.tcp_congestion_control" => {
                    "a host may only have an algorithm that every user of the machine may choose \
                     (net.ipv4.tcp_allowed_congestion_control); programs of root may choose any (`iperf3 -C`)"
                }
                _ => "`sysctl -a` lists the names and values of this kernel",
            };
            Refusal::new(message, advice)
        })?;
    }
    let network = File::open("/proc/thread-self/ns/net").map_err(|error| {
        Refusal::new(format!("/proc/thread-self/ns/net: {error}"), "mount /proc")
    })?;
    let inquiry =
        Inquiry::new().map_err(|error| Refusal::new(format!("sock_diag: {error}"), ""))?;
    Ok((tun, network.into(), inquiry))
}

/// Returns the refusal for a namespace of type `kind` that cannot be created or entered, with
/// advice to the user.
pub(crate) fn no_namespace(kind: &str, error: &Error) -> Refusal {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied => {
            "it needs root or CAP_SYS_ADMIN and CAP_NET_ADMIN: put `sudo` before the command or, where the kernel lets \
             users have namespaces, `unshare --map-root-user`; for a container, start it with `--privileged`"
        }
        _ => "the limits are in /proc/sys/user",
    };
    Refusal::new(format!("cannot make a {kind} namespace: {error}"), advice)
}

fn no_device(error: &Error) -> Refusal {
    let advice = match error.kind() {
        ErrorKind::NotFound => {
            "load the module with `modprobe tun`; for a container, start it with `--device /dev/net/tun`"
        }
        ErrorKind::PermissionDenied => "it needs CAP_NET_ADMIN, and /dev/net/tun to be writable",
        _ => "",
    };
    Refusal::new(format!("cannot make a TUN device: {error}"), advice)
}
