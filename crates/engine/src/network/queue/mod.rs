//! Queue disciplines: whether a packet is accepted, marked or dropped, and which one leaves next.
//!
//! Drop-tail and RED decide on arrival. They see lengths, not packets, so that a link can compute
//! departures on arrival too. All others hold their packets ([`Holding`]). In either case the port
//! in front of the link has every counter.

mod drop_tail;
mod holding;
mod red;

use longhaul_units::Time;

pub use drop_tail::{Capacity, Counting, DropTail};
pub(crate) use holding::{Effects, Holding};
pub use red::{Adaptation, AdaptationParameters, Gentle, Red, RedConfig, RedParameters, Weight};

use crate::random::Stream;

/// A discipline and its parameters, resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; full is full.
    DropTail(DropTail),
    /// The same, but what is dropped is the packet that has waited longest.
    HeadDrop(DropTail),
    /// Random early detection.
    Red(RedConfig),
}

impl QueueConfig {
    /// Whether an arrival's fate and departure are known when it arrives.
    pub fn decides_on_arrival(&self) -> bool {
        match self {
            Self::DropTail(_) | Self::Red(_) => true,
            Self::HeadDrop(_) => false,
        }
    }
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
    /// Chosen by active queue management.
    Early,
    /// Active queue management left no choice.
    Forced,
}

/// A discipline at work.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Red(Box<Red>),
    /// Holds its packets: needs explicit service.
    Holding(Box<Holding>),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, stream: Stream) -> Self {
        match config {
            QueueConfig::DropTail(drop_tail) => Self::DropTail(*drop_tail),
            QueueConfig::Red(red) => Self::Red(Box::new(Red::new(*red, stream))),
            QueueConfig::HeadDrop(limit) => Self::Holding(Box::new(Holding::head_drop(*limit))),
        }
    }

    /// The same, holding its packets: for explicit service.
    pub(crate) fn into_holding(self) -> Self {
        match self {
            Self::Holding(_) => self,
            decides_on_arrival => Self::Holding(Box::new(Holding::fifo(decides_on_arrival))),
        }
    }

    /// The discipline of explicit service.
    pub(crate) fn holding(&mut self) -> &mut Holding {
        match self {
            Self::Holding(holding) => holding,
            Self::DropTail(_) | Self::Red(_) => unreachable!("made for service on arrival"),
        }
    }

    /// Whether an arriving packet is accepted, for a discipline that decides then.
    ///
    /// Always inlined: of an arrival, a drop-tail queue then costs only what it looks at.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, arrival: impl Fn() -> Arrival) -> Verdict {
        match self {
            Self::DropTail(drop_tail) => drop_tail.on_arrival(&arrival()),
            Self::Red(red) if red.rests(&arrival()) => Verdict::Accept,
            Self::Red(red) => red.on_arrival(&arrival()),
            Self::Holding(_) => unreachable!("made for explicit service"),
        }
    }

    /// The discipline's average queue in packets, if it keeps one.
    pub(crate) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.average_pkts()),
            Self::Holding(holding) => holding.average_pkts(),
        }
    }

    /// The discipline's maximum marking probability, if it has one.
    pub(crate) fn max_p(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.max_p()),
            Self::Holding(holding) => holding.max_p(),
        }
    }
}
