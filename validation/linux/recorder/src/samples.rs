//! Samples of the senders, at fixed times.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::case::Case;
use crate::machine::Machine;
use crate::system::{self, nanoseconds, now};
use crate::tcp_info::{BbrInfo, TcpInfo};

/// Above the forwarder's: a sample takes microseconds, once in milliseconds.
const PRIORITY: libc::c_int = 51;

/// `TCP_CC_INFO` of `include/uapi/linux/tcp.h`.
const TCP_CC_INFO: libc::c_int = 26;

/// `TCP_CLOSE` and `TCP_SYN_SENT` of `include/net/tcp_states.h`.
const NOT_OPEN: [u8; 2] = [7, 2];

/// Of one flow.
pub(crate) struct Sample {
    pub(crate) time: i64,
    pub(crate) flow: usize,
    pub(crate) info: TcpInfo,
    pub(crate) bbr: BbrInfo,
}

/// A thread that samples.
pub(crate) struct Sampler {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

/// Begins to sample.
pub(crate) fn begin(case: &Case, machine: &Machine, start: i64) -> Sampler {
    let ended = Arc::new(AtomicBool::new(false));
    let copies = machine.sockets.iter().map(OwnedFd::try_clone);
    let sockets: Vec<OwnedFd> = copies.flatten().collect();
    let is_bbr = case
        .flows
        .iter()
        .map(|flow| flow.algorithm == "bbr")
        .collect();
    let every = nanoseconds(case.sample_s);
    let asked = Arc::clone(&ended);
    let thread = thread::spawn(move || sample(&sockets, is_bbr, start, every, &asked));
    Sampler { ended, thread }
}

impl Sampler {
    /// What was sampled.
    pub(crate) fn end(self) -> Vec<Sample> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn sample(
    sockets: &[OwnedFd],
    is_bbr: Vec<bool>,
    start: i64,
    every: i64,
    ended: &AtomicBool,
) -> Vec<Sample> {
    if let Err(error) = system::run_in_real_time(PRIORITY) {
        eprintln!("samples: real-time scheduling: {error}");
    }
    let mut samples = Vec::with_capacity(1 << 16);
    let mut next = start;
    while !ended.load(Ordering::Relaxed) {
        let time = now();
        if time < next {
            thread::sleep(Duration::from_nanos((next - time) as u64));
            continue;
        }
        for (flow, socket) in sockets.iter().enumerate() {
            let mut info = TcpInfo::default();
            let mut bbr = BbrInfo::default();
            let read = system::get_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info);
            if is_bbr[flow] {
                let _ = system::get_option(socket, libc::IPPROTO_TCP, TCP_CC_INFO, &mut bbr);
            }
            if read.is_ok() && !NOT_OPEN.contains(&info.state) {
                samples.push(Sample {
                    time,
                    flow,
                    info,
                    bbr,
                });
            }
        }
        next += every;
    }
    samples
}
