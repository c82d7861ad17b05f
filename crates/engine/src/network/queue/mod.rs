//! Queue disciplines: whether a packet is accepted, marked or dropped, and which one leaves next.
//!
//! Drop-tail and RED decide on arrival. They see lengths, not packets, so that a link can compute
//! departures on arrival too. All others hold their packets ([`Holding`]). In either case the port
//! in front of the link has every counter.

mod drop_tail;
mod holding;
mod red;

use longhaul_units::{Span, Time};

pub use drop_tail::{Capacity, Counting, DropTail};
pub use holding::{
    CoDelConfig, CoDelParameters, DecBitConfig, FqCoDelConfig, PiConfig, PieConfig, RemConfig,
    RoundRobinConfig,
};
pub(crate) use holding::{Effects, Holding};
pub use red::{
    Adaptation, AdaptationParameters, Gentle, Marking, Red, RedConfig, RedParameters, Rule, Weight,
};

pub use super::router::{VcpConfig, XcpConfig};
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
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Flows hashed to queues, each under controlled delay.
    FqCoDel(FqCoDelConfig),
    /// A proportional integral controller of the delay.
    Pie(PieConfig),
    /// A proportional integral controller of the queue.
    Pi(PiConfig),
    /// Random exponential marking.
    Rem(RemConfig),
    /// The binary feedback of DECnet.
    DecBit(DecBitConfig),
    /// Flows in turn.
    RoundRobin(RoundRobinConfig),
    /// Drop-tail, under a router that tells its load.
    Vcp(VcpConfig),
    /// Drop-tail, under a router that grants changes of the throughput.
    Xcp(XcpConfig),
}

impl QueueConfig {
    /// Whether an arrival's fate and departure are known when it arrives.
    pub fn decides_on_arrival(&self) -> bool {
        matches!(self, Self::DropTail(_) | Self::Red(_))
    }

    /// Whether it draws random numbers while it works.
    pub(crate) fn draws(&self) -> bool {
        matches!(
            self,
            Self::Red(_) | Self::Pie(_) | Self::Pi(_) | Self::Rem(_)
        )
    }

    /// Whether anything about it is random.
    pub fn is_random(&self) -> bool {
        self.draws() || matches!(self, Self::FqCoDel(_))
    }

    /// Whether it marks packets that are capable of ECN.
    pub fn marks(&self) -> bool {
        match self {
            Self::DropTail(_)
            | Self::HeadDrop(_)
            | Self::RoundRobin(_)
            | Self::Vcp(_)
            | Self::Xcp(_) => false,
            Self::Red(red) => red.ecn,
            Self::CoDel(codel) => codel.control.ecn,
            Self::FqCoDel(fq) => fq.control.ecn,
            Self::Pie(pie) => pie.ecn,
            Self::Pi(pi) => pi.ecn,
            Self::Rem(rem) => rem.ecn,
            Self::DecBit(_) => true,
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
    /// Whether it is of low priority.
    pub low_priority: bool,
    /// Packets that wait, the one in service not included.
    pub waiting_pkts: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Since when the link has been idle, if it is.
    pub idle_since: Option<Time>,
}

impl Arrival {
    /// Whether the packet would make those that wait exceed a limit. One that finds the link idle
    /// goes straight into service.
    fn check_room(&self, limit: Capacity) -> Result<(), DropReason> {
        if self.idle_since.is_none()
            && limit.is_exceeded_by(
                self.waiting_pkts + 1,
                self.waiting_bytes + u64::from(self.bytes),
            )
        {
            return Err(DropReason::Overflow);
        }
        Ok(())
    }
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

/// A discipline at work. The tag is a byte of its own, quicker to look at than one hidden in what
/// the variants hold.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Red(Box<Red>),
    /// One of these two, where packets of low priority come.
    Prioritised(Box<Queue>),
    /// Holds its packets: needs explicit service.
    Holding(Box<Holding>),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig, stream: Stream) -> Self {
        match config {
            QueueConfig::DropTail(drop_tail) => Self::DropTail(*drop_tail),
            QueueConfig::Red(red) => Self::Red(Box::new(Red::new(*red, stream))),
            _ => Self::holding(config, stream),
        }
    }

    /// The same where packets of low priority come, for a discipline that decides on arrival.
    pub(crate) fn prioritised(self) -> Self {
        Self::Prioritised(Box::new(self))
    }

    /// The same for explicit service: it holds its packets, whatever it is.
    pub(crate) fn holding(config: &QueueConfig, stream: Stream) -> Self {
        Self::Holding(Box::new(Holding::new(config, stream)))
    }

    /// The discipline of explicit service.
    pub(crate) fn held(&mut self) -> &mut Holding {
        match self {
            Self::Holding(holding) => holding,
            Self::DropTail(_) | Self::Red(_) | Self::Prioritised(_) => {
                unreachable!("made for service on arrival")
            }
        }
    }

    /// The time between two updates, if explicit service has to call for them.
    pub(crate) fn period(&self) -> Option<Span> {
        match self {
            Self::Holding(holding) => holding.period(),
            Self::DropTail(_) | Self::Red(_) | Self::Prioritised(_) => None,
        }
    }

    /// Whether a packet that finds the link idle is accepted, and that is all: links that only carry
    /// acknowledgements never see anything else.
    #[inline(always)]
    pub(crate) fn rests(&self, now: Time) -> bool {
        match self {
            Self::DropTail(_) => true,
            Self::Red(red) => red.rests(now),
            Self::Prioritised(_) | Self::Holding(_) => false,
        }
    }

    /// Whether an arriving packet is accepted, for a discipline that decides then.
    ///
    /// Always inlined: of an arrival, a drop-tail queue then costs only what it looks at.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        match self {
            Self::DropTail(drop_tail) => drop_tail.on_arrival(arrival),
            Self::Red(red) => red.on_arrival(arrival),
            Self::Prioritised(queue) => queue.on_prioritised_arrival(*arrival),
            Self::Holding(_) => unreachable!("made for explicit service"),
        }
    }

    /// What is of low priority goes first: it never delays others by more than its own transmission.
    ///
    /// Takes a copy, so that arrivals elsewhere stay in registers.
    #[cold]
    fn on_prioritised_arrival(&mut self, arrival: Arrival) -> Verdict {
        if arrival.low_priority && arrival.waiting_pkts > 0 {
            return Verdict::Drop(DropReason::Early);
        }
        match self {
            Self::DropTail(drop_tail) => drop_tail.on_arrival(&arrival),
            Self::Red(red) => red.on_arrival(&arrival),
            Self::Prioritised(_) | Self::Holding(_) => unreachable!("decides on arrival itself"),
        }
    }

    /// The discipline's average queue in packets, if it keeps one.
    pub(crate) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.average_pkts()),
            Self::Prioritised(queue) => queue.average_pkts(),
            Self::Holding(holding) => holding.average_pkts(),
        }
    }

    /// The discipline's maximum marking probability, if it has one.
    pub(crate) fn max_p(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.max_p()),
            Self::Prioritised(queue) => queue.max_p(),
            Self::Holding(holding) => holding.max_p(),
        }
    }

    /// The probability with which the discipline drops or marks a packet, if it has one.
    pub(crate) fn drop_p(&self) -> Option<f64> {
        match self {
            Self::DropTail(_) => None,
            Self::Red(red) => Some(red.drop_p()),
            Self::Prioritised(queue) => queue.drop_p(),
            Self::Holding(holding) => holding.drop_p(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a packet that finds `waiting` others in a queue of at most three.
    fn verdict(queue: &mut Queue, low_priority: bool, waiting: u64) -> Verdict {
        queue.on_arrival(&Arrival {
            now: Time::ZERO,
            bytes: 1500,
            ecn_capable: false,
            low_priority,
            waiting_pkts: waiting,
            waiting_bytes: waiting * 1500,
            idle_since: None,
        })
    }

    #[test]
    fn low_priority_never_waits_behind_others_and_the_rest_sees_the_discipline_alone() {
        let three = DropTail {
            limit: Capacity::Packets(3),
            counting: Counting::Waiting,
        };
        let mut queue = Queue::DropTail(three).prioritised();
        assert!(!queue.rests(Time::ZERO), "each arrival has to be looked at");
        assert_eq!(verdict(&mut queue, true, 0), Verdict::Accept);
        let early = Verdict::Drop(DropReason::Early);
        assert_eq!(verdict(&mut queue, true, 1), early);
        assert_eq!(verdict(&mut queue, false, 2), Verdict::Accept);
        let overflow = Verdict::Drop(DropReason::Overflow);
        assert_eq!(verdict(&mut queue, false, 3), overflow);
    }
}
