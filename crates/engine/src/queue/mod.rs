//! Queue disciplines: they accept, mark or drop packets, and choose the next packet to transmit.
//!
//! Each discipline has one module, with its keys, its parameters and its queue ([`Parameters`]). It either decides
//! about packets on arrival ([`Aqm`]), or stores them itself ([`PacketQueue`]). It reports drops and marks of accepted
//! packets as [`Effects`], which the port in front of the link or the proxy counts. Only DualPI2 keeps counters itself.
//!
//! Drop-tail (without head drop) and RED depend on queue lengths, not on the waiting packets. With these, a link can
//! compute the departure of a packet on its arrival, and needs no queue of packets ([`Queue`]).

#[macro_use]
mod registry;

mod ack_filter;
mod arrival;
mod capacity;
#[cfg(test)]
mod declared;
mod discipline;
mod fifo;
mod flow;
mod flow_queues;
mod link_context;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod restated;
mod sub_queues;
#[cfg(test)]
mod tests;

use longhaul_units::{Span, Time};

use self::ack_filter::AckFilter;
pub use self::arrival::{Arrival, DropReason, Verdict};
pub use self::capacity::Capacity;
pub(crate) use self::discipline::{Aqm, AqmState, Draws, Effects, PacketQueue, Parameters};
pub use self::drop_tail::{Counting, DropFrom};
use self::fifo::Fifo;
pub use self::link_context::LinkContext;
use self::red::Red;
pub use self::red::{Adaptation, Adaptive, Gentle, Marking, Rule};
pub use self::registry::Discipline;
use crate::measure::ClassCounters;
use crate::packet::{OptionStore, Packet};
use crate::random::Stream;

disciplines! {
    drop_tail: DropTail(DropTail),
    red: Red(RedConfig),
    codel: CoDel(CoDelConfig),
    fq_codel: FqCoDel(FqCoDelConfig),
    cobalt: Cobalt(CobaltConfig),
    cake: Cake(CakeConfig),
    pie: Pie(PieConfig),
    fq_pie: FqPie(FqPieConfig),
    pi: Pi(PiConfig),
    rem: Rem(RemConfig),
    decbit: DecBit(DecBitConfig),
    threshold: Threshold(ThresholdConfig),
    dual_pi2: DualPi2(DualPi2Config),
    round_robin: RoundRobin(RoundRobinConfig),
    drr: Drr(DrrConfig),
    vcp: Vcp(VcpConfig),
    xcp: Xcp(XcpConfig),
}
pub use self::cobalt::CobaltParameters;
pub use self::codel::{CoDelParameters, CoDelVariant};
pub use self::flow_queues::FlowQueuesParameters;
pub use self::pie::{DelayEstimate, PieParameters, PieVariant};

/// A queue in front of a link. The tag is a separate byte, which is faster to read than a niche in the variants.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Red(Box<Red>),
    /// Drop-tail or RED for packets of two priorities.
    Prioritised(Box<Queue>),
    /// A discipline that stores its packets. The link has to serve it explicitly.
    Buffered(Box<BufferedQueue>),
}

impl Queue {
    /// Creates the queue of a configuration. If the discipline decides about packets when they arrive, the queue stores
    /// no packets. Otherwise, the queue stores the waiting packets, and the link takes each one from the queue when the
    /// packet's transmission begins.
    pub(crate) fn new(config: &QueueConfig, stream: Stream) -> Self {
        match config {
            QueueConfig::DropTail(drop_tail) if drop_tail.decides_on_arrival() => {
                Self::DropTail(*drop_tail)
            }
            QueueConfig::Red(red) => Self::Red(Box::new(Red::new(*red, stream))),
            _ => Self::buffered(config, stream),
        }
    }

    /// Adds a second priority to a drop-tail or RED queue.
    pub(crate) fn prioritised(self) -> Self {
        Self::Prioritised(Box::new(self))
    }

    /// Creates a queue that stores its packets, with any discipline that `config` selects. The link has to serve the
    /// queue explicitly.
    pub(crate) fn buffered(config: &QueueConfig, stream: Stream) -> Self {
        Self::Buffered(Box::new(config.buffered(stream)))
    }

    /// Adds ACK filtering to a queue that stores packets: a newer acknowledgement replaces an older one that waits.
    pub(crate) fn filtering_acks(self) -> Self {
        let Self::Buffered(discipline) = self else {
            unreachable!("made for service on arrival");
        };
        let filter = AckFilter::new(*discipline);
        Self::Buffered(Box::new(BufferedQueue::FilteringAcks(Box::new(filter))))
    }

    /// Returns a mutable reference to the discipline. Only for queues that store their packets ([`Self::Buffered`]).
    #[inline]
    pub(crate) fn as_buffered(&mut self) -> &mut BufferedQueue {
        match self {
            Self::Buffered(queue) => queue,
            Self::DropTail(_) | Self::Red(_) | Self::Prioritised(_) => {
                unreachable!("made for service on arrival")
            }
        }
    }

    /// Returns the time until the next update of the discipline; `None` if the discipline needs no updates.
    pub(crate) fn update_interval(&self) -> Option<Span> {
        match self {
            Self::Buffered(queue) => queue.update_interval(),
            Self::DropTail(_) | Self::Red(_) | Self::Prioritised(_) => None,
        }
    }

    /// Returns true if a packet that finds the link idle is accepted without a change of the queue's state.
    #[inline(always)]
    pub(crate) fn accepts_trivially(&self, now: Time) -> bool {
        match self {
            Self::DropTail(_) => true,
            Self::Red(red) => red.accepts_trivially(now),
            Self::Prioritised(_) | Self::Buffered(_) => false,
        }
    }

    /// Decides about an arriving packet, for a discipline that decides on arrival.
    ///
    /// Always inlined: a drop-tail queue then computes only the fields of an arrival that it reads.
    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        match self {
            Self::DropTail(drop_tail) => drop_tail.decide(arrival),
            Self::Red(red) => red.decide(arrival),
            Self::Prioritised(queue) => queue.on_prioritised_arrival(*arrival),
            Self::Buffered(_) => unreachable!("made for explicit service"),
        }
    }

    /// Decides about an arriving packet of high or low priority. A packet of low priority is accepted only while no
    /// packet waits, so it delays others at most by its own transmission.
    ///
    /// Takes `arrival` by value, so that the caller can keep it in registers.
    #[cold]
    fn on_prioritised_arrival(&mut self, arrival: Arrival) -> Verdict {
        if arrival.low_priority && arrival.waiting_pkts > 0 {
            return Verdict::Drop(DropReason::Early);
        }
        match self {
            Self::DropTail(drop_tail) => drop_tail.decide(&arrival),
            Self::Red(red) => red.decide(&arrival),
            Self::Prioritised(_) | Self::Buffered(_) => unreachable!("decides on arrival itself"),
        }
    }

    /// Returns the discipline's state for the time series.
    pub(crate) fn state(&self) -> AqmState {
        match self {
            Self::DropTail(_) => AqmState::default(),
            Self::Red(red) => Aqm::state(&**red),
            Self::Prioritised(queue) => queue.state(),
            Self::Buffered(queue) => queue.state(),
        }
    }
}

#[cfg(test)]
mod priority_tests {
    use super::*;

    /// Returns the verdict on a packet that finds `waiting` other packets in a queue with a limit of three.
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
            drop: DropFrom::Tail,
            counting: Counting::Waiting,
        };
        let mut queue = Queue::DropTail(three).prioritised();
        assert!(
            !queue.accepts_trivially(Time::ZERO),
            "each arrival has to be looked at"
        );
        assert_eq!(verdict(&mut queue, true, 0), Verdict::Accept);
        let early = Verdict::Drop(DropReason::Early);
        assert_eq!(verdict(&mut queue, true, 1), early);
        assert_eq!(verdict(&mut queue, false, 2), Verdict::Accept);
        let overflow = Verdict::Drop(DropReason::Overflow);
        assert_eq!(verdict(&mut queue, false, 3), overflow);
    }
}
