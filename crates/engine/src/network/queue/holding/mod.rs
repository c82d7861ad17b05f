//! Disciplines that hold their packets themselves: which packet leaves next, and whether it does, is
//! decided when the transmitter asks for it.
//!
//! They need explicit service. What they do to packets that they hold they report as [`Effects`],
//! so that the port counts everything in one place.

mod admission;
mod codel;
mod decbit;
mod fifo;
mod flow;
mod fq_codel;
mod head_drop;
mod pi;
mod pie;
mod rem;
mod round_robin;
mod sub_queues;
#[cfg(test)]
mod tests;

use longhaul_units::{Span, Time};

use self::admission::Admission;
use self::codel::CoDel;
pub use self::codel::{CoDelConfig, CoDelParameters};
use self::decbit::DecBit;
pub use self::decbit::DecBitConfig;
use self::fifo::Fifo;
use self::fq_codel::FqCoDel;
pub use self::fq_codel::FqCoDelConfig;
use self::head_drop::HeadDrop;
use self::pi::Pi;
pub use self::pi::PiConfig;
use self::pie::Pie;
pub use self::pie::PieConfig;
use self::rem::Rem;
pub use self::rem::RemConfig;
use self::round_robin::RoundRobin;
pub use self::round_robin::RoundRobinConfig;
use super::{Arrival, Counting, DropReason, DropTail, Queue, QueueConfig};
use crate::network::router::{VcpConfig, XcpConfig};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// A discipline that holds its packets. A packet's `time` is when it arrived.
#[derive(Clone, Debug)]
pub(crate) enum Holding {
    CoDel(CoDel),
    Fifo(Fifo),
    FqCoDel(FqCoDel),
    HeadDrop(HeadDrop),
    RoundRobin(RoundRobin),
}

/// What happens to packets that are held, for the port to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marked: Vec<Packet>,
}

impl Effects {
    /// Drops a packet that was held.
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet that is or was held.
    fn mark(&mut self, packet: &mut Packet) {
        packet.flags = packet.flags.with(Flags::CE);
        self.marked.push(*packet);
    }
}

/// Does the same with whatever discipline there is.
macro_rules! each {
    ($holding:expr, $discipline:ident => $result:expr) => {
        match $holding {
            Holding::CoDel($discipline) => $result,
            Holding::Fifo($discipline) => $result,
            Holding::FqCoDel($discipline) => $result,
            Holding::HeadDrop($discipline) => $result,
            Holding::RoundRobin($discipline) => $result,
        }
    };
}

impl Holding {
    /// The discipline of a configuration, be it one that could do with service on arrival.
    pub(super) fn new(config: &QueueConfig, mut stream: Stream) -> Self {
        let fifo = |admission| Self::Fifo(Fifo::new(admission));
        match config {
            QueueConfig::DropTail(_) | QueueConfig::Red(_) => {
                fifo(Admission::Plain(Queue::new(config, stream)))
            }
            // What the router does there is not the queue's.
            QueueConfig::Vcp(VcpConfig { limit, .. })
            | QueueConfig::Xcp(XcpConfig { limit, .. }) => {
                let drop_tail = DropTail {
                    limit: *limit,
                    counting: Counting::Waiting,
                };
                fifo(Admission::Plain(Queue::DropTail(drop_tail)))
            }
            QueueConfig::HeadDrop(limit) => Self::HeadDrop(HeadDrop::new(*limit)),
            QueueConfig::CoDel(codel) => Self::CoDel(CoDel::new(*codel)),
            QueueConfig::FqCoDel(fq) => Self::FqCoDel(FqCoDel::new(*fq, &mut stream)),
            QueueConfig::Pie(pie) => fifo(Admission::Pie(Pie::new(*pie, stream))),
            QueueConfig::Pi(pi) => fifo(Admission::Pi(Pi::new(*pi, stream))),
            QueueConfig::Rem(rem) => fifo(Admission::Rem(Rem::new(*rem, stream))),
            QueueConfig::DecBit(decbit) => fifo(Admission::DecBit(DecBit::new(*decbit))),
            QueueConfig::RoundRobin(turns) => Self::RoundRobin(RoundRobin::new(*turns)),
        }
    }

    /// Takes in a packet, or says why not. Others may be dropped instead.
    pub(crate) fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        each!(self, discipline => discipline.enqueue(packet, arrival, effects))
    }

    /// Hands out the packet to transmit next. Others may be dropped on the way.
    pub(crate) fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        each!(self, discipline => discipline.dequeue(now, effects))
    }

    /// The time between two calls of [`Self::update`], if the discipline needs them.
    pub(crate) fn period(&self) -> Option<Span> {
        match self {
            Self::Fifo(fifo) => fifo.admission.period(),
            _ => None,
        }
    }

    /// A period is over.
    pub(crate) fn update(&mut self) {
        if let Self::Fifo(fifo) = self {
            fifo.update();
        }
    }

    /// Packets held, and their bytes.
    pub(crate) fn held(&self) -> (u64, u64) {
        each!(self, discipline => discipline.held())
    }

    /// The average queue in packets, if the discipline keeps one.
    pub(super) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::Fifo(fifo) => fifo.admission.average_pkts(),
            _ => None,
        }
    }

    /// The maximum marking probability, if the discipline has one.
    pub(super) fn max_p(&self) -> Option<f64> {
        match self {
            Self::Fifo(fifo) => fifo.admission.max_p(),
            _ => None,
        }
    }

    /// The probability with which the discipline drops or marks a packet, if it has one.
    pub(super) fn drop_p(&self) -> Option<f64> {
        match self {
            Self::Fifo(fifo) => fifo.admission.drop_p(),
            _ => None,
        }
    }
}
