//! Queue disciplines: whether an arriving packet is accepted, marked or dropped.
//!
//! A discipline sees lengths, not packets; the link that owns it owns the packets and every
//! counter.

mod drop_tail;
mod red;

use longhaul_units::Time;

pub use drop_tail::{Capacity, Counting, DropTail};
pub use red::{Adaptation, AdaptationParameters, Gentle, Red, RedConfig, RedParameters, Weight};

use crate::random::Stream;

/// A discipline and its parameters, resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; full is full.
    DropTail(DropTail),
    /// Random early detection.
    Red(RedConfig),
}

/// A packet that arrives at a queue, as its discipline sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Time,
    /// Its bytes on the wire.
    pub bytes: u32,
    /// Whether it may be marked instead of dropped.
    pub ecn_capable: bool,
    /// Packets that wait, the one in service not included.
    pub waiting_pkts: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the queue.
    Accept,
    /// It joins the queue with the congestion-experienced mark.
    AcceptMarked,
    /// It is dropped.
    Drop(DropReason),
}

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The link's loss model.
    Loss,
    /// The queue is full.
    Overflow,
    /// Chosen at random by active queue management.
    Early,
    /// Active queue management left no choice.
    Forced,
}

/// A discipline at work.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Red(Box<Red>),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, stream: Stream) -> Self {
        match config {
            QueueConfig::DropTail(drop_tail) => Self::DropTail(*drop_tail),
            QueueConfig::Red(red) => Self::Red(Box::new(Red::new(*red, stream))),
        }
    }

    /// Always inlined: of an arrival, a drop-tail queue then costs only what it looks at.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, arrival: impl Fn() -> Arrival) -> Verdict {
        match self {
            Self::DropTail(drop_tail) => drop_tail.on_arrival(&arrival()),
            Self::Red(red) if red.rests(&arrival()) => Verdict::Accept,
            Self::Red(red) => red.on_arrival(&arrival()),
        }
    }

    /// The discipline's average queue in packets, if it keeps one.
    pub(crate) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.average_pkts()),
        }
    }

    /// The discipline's maximum marking probability, if it has one.
    pub(crate) fn max_p(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.max_p()),
        }
    }
}
