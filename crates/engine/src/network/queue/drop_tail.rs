//! Drop-tail: a packet that finds the queue full is lost.

use super::{Arrival, DropReason, Verdict};

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

impl Capacity {
    /// Whether so much is more than the queue holds.
    pub(crate) fn is_exceeded_by(self, pkts: u64, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => pkts > limit,
            Self::Bytes(limit) => bytes > limit,
        }
    }
}

/// What a queue's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Waiting packets only.
    Waiting,
    /// ns-2: a packet is refused when it would make the waiting ones reach the limit, so that the
    /// limit counts the packet in service too.
    InService,
}

/// A drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTail {
    /// How much it holds.
    pub limit: Capacity,
    /// What the limit counts.
    pub counting: Counting,
}

impl DropTail {
    #[inline(always)]
    pub(crate) fn on_arrival(&self, arrival: &Arrival) -> Verdict {
        // A packet that finds the link idle goes straight into service.
        if arrival.idle_since.is_some() {
            return Verdict::Accept;
        }
        let (held, limit) = match self.limit {
            Capacity::Packets(limit) => (arrival.waiting_pkts + 1, limit),
            Capacity::Bytes(limit) => (arrival.waiting_bytes + u64::from(arrival.bytes), limit),
        };
        let full = match self.counting {
            Counting::Waiting => held > limit,
            Counting::InService => held >= limit,
        };
        if full {
            Verdict::Drop(DropReason::Overflow)
        } else {
            Verdict::Accept
        }
    }
}
