//! A thread that periodically requests the state of sockets from the kernel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::forwarder::Sockets;
use crate::socket_info::Inquiry;

/// A running thread that requests the state of sockets.
#[derive(Debug)]
pub(crate) struct Sampler {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Sampler {
    /// Starts a thread that requests the state of sockets at intervals of `every`, and stores the
    /// latest answers in `sockets`. There is one of `inquiries` for each network namespace.
    pub(crate) fn begin(inquiries: Vec<Inquiry>, every: Duration, sockets: Sockets) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&ended);
        let thread = thread::spawn(move || sample(inquiries, every, &sockets, &asked));
        Self { ended, thread }
    }

    pub(crate) fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let _ = self.thread.join();
    }
}

fn sample(mut inquiries: Vec<Inquiry>, every: Duration, sockets: &Sockets, ended: &AtomicBool) {
    while !ended.load(Ordering::Relaxed) {
        let answers = inquiries.iter_mut();
        let answers = answers.flat_map(|inquiry| inquiry.connections().unwrap_or_default());
        let all = answers.collect();
        if let Ok(mut newest) = sockets.lock() {
            *newest = all;
        }
        thread::park_timeout(every);
    }
}
