//! Packets of all hosts, passed to another thread that writes them: no disk delays the loop.

use std::sync::mpsc::SyncSender;

use longhaul_units::Time;

/// A packet at a host's device, as it was sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TappedPacket {
    /// Number of the host.
    pub host: usize,
    /// Time at which it was sent, or was due.
    pub time: Time,
    /// Its bytes from the IP header on.
    pub bytes: Box<[u8]>,
}

/// The loop's end of the channel.
#[derive(Debug)]
pub(crate) struct Tap {
    to: SyncSender<TappedPacket>,
    /// Packets that found the channel full.
    missed: u64,
}

impl Tap {
    pub(crate) fn new(to: SyncSender<TappedPacket>) -> Self {
        Self { to, missed: 0 }
    }

    pub(crate) fn packet(&mut self, host: usize, time: Time, bytes: &[u8]) {
        let bytes = bytes.into();
        let sent = self.to.try_send(TappedPacket { host, time, bytes });
        self.missed += u64::from(sent.is_err());
    }

    /// Returns the number of packets that were not written, as the disk was too slow.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }
}
