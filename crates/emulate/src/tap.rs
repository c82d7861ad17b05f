//! Capture of the packets of all hosts. The forwarding loop passes them to another thread that
//! writes them to disk, so that the disk does not delay the loop.

use std::sync::mpsc::SyncSender;

use longhaul_units::Time;

/// A packet that a host sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TappedPacket {
    /// Index of the host in `Setup::hosts`.
    pub host: usize,
    /// Time at which the host sent the packet, or at which a received packet was due at the host.
    pub time: Time,
    /// The packet's bytes, starting with the IP header.
    pub bytes: Box<[u8]>,
}

/// The loop's end of the channel to the thread that writes packets.
#[derive(Debug)]
pub(crate) struct Tap {
    to: SyncSender<TappedPacket>,
    /// Number of packets that were not sent, because the channel was full or had no receiver.
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

    /// Returns the number of packets that were not written, because the disk was too slow or the
    /// writing thread had ended.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }
}
