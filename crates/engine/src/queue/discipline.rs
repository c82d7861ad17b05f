//! What a queue discipline is made of: parameters, and a queue that they make.

use longhaul_keys::{Refusal, Table};
use longhaul_units::{Rate, Span, Time};

use super::{Arrival, DropReason, LinkContext, Verdict};
use crate::packet::{Flags, OptionStore, Packet};
use crate::random::Stream;

/// The parameters of a discipline: what scenario files may say of it, and the queue that follows.
pub(crate) trait Parameters: Sized {
    /// The discipline at work.
    type Queue: PacketQueue;

    /// What scenario files call it.
    const KIND: &'static str;
    /// Its name in full.
    const TITLE: &'static str;
    /// What it does, in a sentence.
    const DESCRIPTION: &'static str;
    /// RFC or paper.
    const SOURCE: &'static str;
    /// Whether lengths are all that it decides from, when packets arrive, so that somebody else may hold these.
    const ON_ARRIVAL: bool = false;
    /// Whether it works without a link, as the local queue of a proxy: it has no periodic updates, and
    /// writes nothing into headers of departures.
    const OUTSIDE_LINKS: bool = Self::ON_ARRIVAL;
    /// Whether every flow has a queue of its own.
    const PER_FLOW: bool = false;

    /// Makes values explicit that follow from others or from the link, by `values.derive`, and refuses what
    /// cannot go together. `limit` is in packets or bytes already.
    fn complete(_values: &mut Table, _link: &LinkContext) -> Result<(), Refusal> {
        Ok(())
    }

    /// Reads complete values, for a link of this rate.
    fn read(values: &Table, rate: Rate) -> Self;

    /// An empty queue with these parameters. What is random about it is drawn from `stream`.
    fn queue(&self, stream: Stream) -> Self::Queue;

    /// Whether a packet's fate and departure are known when it arrives.
    fn decides_on_arrival(&self) -> bool {
        Self::ON_ARRIVAL
    }

    /// When it draws random numbers.
    fn draws(&self) -> Draws {
        Draws::Never
    }

    /// Whether anything about it is random.
    fn is_random(&self) -> bool {
        self.draws() != Draws::Never
    }

    /// Whether it marks packets that are ECN-capable.
    fn marks(&self) -> bool {
        false
    }
}

/// When a discipline draws random numbers while packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    Never,
    /// Once a queue has built up.
    InCongestion,
    /// For packets that find no queue, too.
    ForAnyPacket,
}

/// A discipline that holds the packets that wait. A packet's `time` is when it arrived.
pub(crate) trait PacketQueue {
    /// A packet reaches the link, whether it is lost, dropped or accepted then. For routers that take part
    /// in congestion control.
    fn observe_arrival(&mut self, _packet: &Packet, _options: &mut OptionStore) {}

    /// Whether a packet that finds the link idle and no other waiting goes straight into service, unmarked, and leaves
    /// the discipline as it was: then it is neither enqueued nor dequeued. Only for disciplines that neither observe
    /// arrivals nor stamp departures.
    fn passes(&self) -> bool {
        false
    }

    /// Accepts a packet, or says why not. Others may be dropped instead.
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason>;

    /// Hands out the packet to transmit next. Others may be dropped on the way.
    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet>;

    /// A packet begins service: the last chance to write into its header.
    fn stamp_departure(&mut self, _packet: &mut Packet, _options: &mut OptionStore) {}

    /// How many packets wait, and their bytes.
    fn waiting(&self) -> (u64, u64);

    /// Time until the next call of [`Self::update`], if it is to be called.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// An update interval is over.
    fn update(&mut self, _now: Time) {}

    /// What the time series shows.
    fn state(&self) -> AqmState {
        AqmState::default()
    }
}

/// Active queue management that decides whether a packet is let into a queue that is first in, first out:
/// [`Fifo`](super::Fifo) makes a [`PacketQueue`] of it.
pub(crate) trait Aqm {
    /// Whether an arriving packet is accepted.
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict;

    /// See [`PacketQueue::passes`].
    fn passes(&self) -> bool {
        false
    }

    /// A packet begins service while so many wait. Returns whether to mark it.
    fn on_departure(&mut self, _packet: &Packet, _now: Time, _waiting_pkts: u64) -> bool {
        false
    }

    /// Time until the next call of [`Self::update`], if it is to be called.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// An update interval is over; so many packets and bytes wait.
    fn update(&mut self, _waiting: (u64, u64)) {}

    /// What the time series shows.
    fn state(&self) -> AqmState {
        AqmState::default()
    }
}

/// What the time series shows of a discipline, as far as it has any of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AqmState {
    /// Average queue in packets.
    pub(crate) average_pkts: Option<f64>,
    /// Maximum marking probability.
    pub(crate) max_p: Option<f64>,
    /// Probability with which a packet is dropped or marked.
    pub(crate) drop_p: Option<f64>,
}

/// What a discipline did to packets that it had accepted, for the port to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marked: Vec<Packet>,
}

impl Effects {
    /// Whether nothing has been done.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked.is_empty()
    }

    /// Drops a packet that had been accepted.
    pub(super) fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet that has been accepted.
    pub(super) fn mark(&mut self, packet: &mut Packet) {
        packet.flags = packet.flags.with(Flags::CE);
        self.marked.push(*packet);
    }
}
