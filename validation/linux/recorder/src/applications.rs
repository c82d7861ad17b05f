//! The programs at both ends of the connections: they write, or read and throw away.

use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use crate::case::{Case, Flow};
use crate::machine::{Machine, RECEIVERS, port_of};
use crate::system::{self, checked, nanoseconds, now};

/// Below the forwarder, so that it is never kept waiting.
const PRIORITY: libc::c_int = 40;

/// Bytes of a write of who writes all the time, and of a read.
const CHUNK: usize = 1 << 16;

/// Begins all of them. They end with the process.
pub(crate) fn begin(case: &Case, machine: &Machine, start: i64) {
    for (number, flow) in case.flows.iter().enumerate() {
        let ends = machine.listeners[number].try_clone();
        let (Ok(listener), Ok(socket)) = (ends, machine.sockets[number].try_clone()) else {
            continue;
        };
        let flow = flow.clone();
        thread::spawn(move || receive(&listener));
        thread::spawn(move || send(socket, number, &flow, start));
    }
}

fn receive(listener: &TcpListener) {
    in_real_time();
    let mut buffer = vec![0; CHUNK];
    if let Ok((mut stream, _)) = listener.accept() {
        while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
    }
}

fn send(socket: OwnedFd, number: usize, flow: &Flow, start: i64) {
    in_real_time();
    let begin = start + nanoseconds(flow.start_s);
    sleep_until(begin);
    let address = SocketAddrV4::new(RECEIVERS, port_of(number));
    let written = connect(&socket, address).and_then(|()| {
        let mut stream = TcpStream::from(socket);
        match (flow.writes, flow.size_bytes) {
            (Some(writes), _) => {
                let data = vec![0; writes.bytes];
                let every = nanoseconds(writes.every_s);
                (1..).try_for_each(|number| {
                    sleep_until(begin + number * every);
                    stream.write_all(&data)
                })
            }
            (None, size) => write(&mut stream, size.unwrap_or(u64::MAX)),
        }?;
        // Without a FIN: what is recorded is the data.
        thread::park();
        Ok(())
    });
    if let Err(error) = written {
        eprintln!("flow {number}: {error}");
    }
}

fn write(stream: &mut TcpStream, size: u64) -> std::io::Result<()> {
    let data = vec![0; CHUNK];
    let mut left = size;
    while left > 0 {
        let length = left.min(CHUNK as u64) as usize;
        stream.write_all(&data[..length])?;
        left -= length as u64;
    }
    Ok(())
}

fn connect(socket: &OwnedFd, address: SocketAddrV4) -> std::io::Result<()> {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(*address.ip()).to_be(),
        },
        sin_zero: [0; 8],
    };
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    let place = (&raw const address).cast::<libc::sockaddr>();
    // SAFETY: the address lives during the call, and has this length.
    checked(unsafe { libc::connect(socket.as_raw_fd(), place, length) }).map(drop)
}

fn sleep_until(time: i64) {
    let left = time - now();
    if left > 0 {
        thread::sleep(Duration::from_nanos(left as u64));
    }
}

fn in_real_time() {
    if let Err(error) = system::run_in_real_time(PRIORITY) {
        eprintln!("an application: real-time scheduling: {error}");
    }
}
