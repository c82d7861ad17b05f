//! Disciplines that hold their packets themselves: which packet leaves next, and whether it does, is
//! decided when the transmitter asks for it.
//!
//! They need explicit service. What they do to packets that they hold they report as [`Effects`],
//! so that the port counts everything in one place.

mod fifo;
mod head_drop;
#[cfg(test)]
mod tests;

use longhaul_units::{Span, Time};

use self::fifo::Fifo;
use self::head_drop::HeadDrop;
use super::{Arrival, DropReason, DropTail, Queue};
use crate::packet::{Flags, Packet, SackHandle};

/// A discipline that holds its packets. A packet's `time` is when it arrived.
#[derive(Clone, Debug)]
pub(crate) enum Holding {
    Fifo(Fifo),
    HeadDrop(HeadDrop),
}

/// What happens to packets that are held, for the port to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marked_pkts: u64,
    /// The SACK blocks of the dropped packets, once counted, for the network to forget.
    pub(crate) displaced: Vec<SackHandle>,
}

impl Effects {
    /// Drops a packet that was held.
    pub(super) fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet that is or was held.
    pub(super) fn mark(&mut self, packet: &mut Packet) {
        packet.flags = packet.flags.with(Flags::CE);
        self.marked_pkts += 1;
    }
}

/// Does the same with whatever discipline there is.
macro_rules! each {
    ($holding:expr, $discipline:ident => $result:expr) => {
        match $holding {
            Holding::Fifo($discipline) => $result,
            Holding::HeadDrop($discipline) => $result,
        }
    };
}

impl Holding {
    /// First in, first out, under a discipline that decides on arrival.
    pub(crate) fn fifo(admission: Queue) -> Self {
        Self::Fifo(Fifo::new(admission))
    }

    pub(crate) fn head_drop(limit: DropTail) -> Self {
        Self::HeadDrop(HeadDrop::new(limit))
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
        None
    }

    /// A period is over.
    pub(crate) fn update(&mut self) {}

    /// Packets held, and their bytes.
    pub(crate) fn held(&self) -> (u64, u64) {
        each!(self, discipline => discipline.held())
    }

    pub(super) fn average_pkts(&self) -> Option<f64> {
        match self {
            Self::Fifo(fifo) => fifo.admission.average_pkts(),
            Self::HeadDrop(_) => None,
        }
    }

    pub(super) fn max_p(&self) -> Option<f64> {
        match self {
            Self::Fifo(fifo) => fifo.admission.max_p(),
            Self::HeadDrop(_) => None,
        }
    }
}
