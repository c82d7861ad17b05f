//! The parts of a queue discipline: its parameters, and the queue that they create.

use longhaul_keys::{Refusal, Table};
use longhaul_units::{Rate, Span, Time};

use super::{Arrival, DropReason, LinkContext, Verdict};
use crate::measure::ClassCounters;
use crate::packet::{Flags, OptionStore, Packet};
use crate::random::Stream;

/// The parameters of a discipline: its keys in scenario files, and the queue that they create.
pub(crate) trait Parameters: Sized {
    /// The discipline's queue.
    type Queue: PacketQueue;

    /// Name in scenario files.
    const KIND: &'static str;
    /// Full name.
    const TITLE: &'static str;
    /// Description, a sentence.
    const DESCRIPTION: &'static str;
    /// RFC or paper.
    const SOURCE: &'static str;
    /// True if the discipline decides on arrival and from lengths alone, so that its caller may hold the packets.
    const ON_ARRIVAL: bool = false;
    /// True if the discipline works without a link, as the local queue of a proxy: it has no periodic updates, and
    /// writes nothing into headers of departures.
    const OUTSIDE_LINKS: bool = Self::ON_ARRIVAL;
    /// True if every flow has a queue of its own.
    const PER_FLOW: bool = false;

    /// Derives, by `values.derive`, the values that follow from others or from the link, and
    /// refuses values that contradict each other. `limit` has already been converted to packets or
    /// bytes.
    fn complete(_values: &mut Table, _link: &LinkContext) -> Result<(), Refusal> {
        Ok(())
    }

    /// Reads complete values, for a link of this rate.
    fn read(values: &Table, rate: Rate) -> Self;

    /// Returns an empty queue with these parameters, which draws random numbers from `stream`.
    fn queue(&self, stream: Stream) -> Self::Queue;

    /// Returns true if a packet's fate and departure are known when it arrives.
    fn decides_on_arrival(&self) -> bool {
        Self::ON_ARRIVAL
    }

    /// Returns the cases in which the discipline draws random numbers.
    fn draws(&self) -> Draws {
        Draws::Never
    }

    /// Returns true if the discipline is random in any way.
    fn is_random(&self) -> bool {
        self.draws() != Draws::Never
    }

    /// Returns true if the discipline marks ECN-capable packets.
    fn marks(&self) -> bool {
        false
    }
}

/// Cases in which a discipline draws random numbers while packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    Never,
    /// Once a queue has built up.
    InCongestion,
    /// For packets that find no queue, too.
    ForAnyPacket,
}

/// A discipline that holds the packets that wait. A packet's `time` is its arrival.
pub(crate) trait PacketQueue {
    /// Observes a packet that reaches the link, before it is lost, dropped or accepted. For routers that take part
    /// in congestion control.
    fn observe_arrival(&mut self, _packet: &Packet, _options: &mut OptionStore) {}
    /// Transfers the bytes of a packet that was [`DropReason::Filtered`] to the packet that it has
    /// replaced.
    fn note_filtered(&mut self, _packet: &Packet, _options: &mut OptionStore) {}

    /// Returns true if a packet that finds the link idle and no other waiting goes straight into service,
    /// unmarked, and does not change the discipline's state: it is then neither enqueued nor dequeued. Only for
    /// disciplines that neither observe arrivals nor stamp departures.
    fn passes(&self) -> bool {
        false
    }

    /// Accepts a packet, or returns the reason of its drop. Other packets may be dropped instead.
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason>;

    /// Returns the packet to transmit next. Other packets may be dropped.
    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet>;

    /// Writes a router's feedback into the header of a packet that begins service.
    fn stamp_departure(&mut self, _packet: &mut Packet, _options: &mut OptionStore) {}

    /// Returns the number of waiting packets, and their bytes.
    fn waiting(&self) -> (u64, u64);

    /// Returns the time until the next call of [`Self::update`], if it is to be called.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// Updates the state at the end of an update interval.
    fn update(&mut self, _now: Time) {}

    /// Returns the state for the time series.
    fn state(&self) -> AqmState {
        AqmState::default()
    }

    /// Returns the counters of L4S and of classic packets, if the discipline tells them apart.
    fn classes(&self) -> Option<[ClassCounters; 2]> {
        None
    }
}

/// Active queue management that decides about the admission of a packet to a first-in first-out queue:
/// [`Fifo`](super::Fifo) makes a [`PacketQueue`] of it.
pub(crate) trait Aqm {
    /// Decides about an arriving packet.
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict;

    /// See [`PacketQueue::passes`].
    fn passes(&self) -> bool {
        false
    }

    /// Returns true if a packet that begins service, while this many wait, is to be marked.
    fn on_departure(&mut self, _packet: &Packet, _now: Time, _waiting_pkts: u64) -> bool {
        false
    }

    /// Returns the time until the next call of [`Self::update`], if it is to be called.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// Updates the state at the end of an update interval, with the packets and bytes that wait.
    fn update(&mut self, _waiting: (u64, u64)) {}

    /// Returns the state for the time series.
    fn state(&self) -> AqmState {
        AqmState::default()
    }
}

/// State of a discipline in the time series; fields that it does not have are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AqmState {
    /// Average queue in packets.
    pub(crate) average_pkts: Option<f64>,
    /// Maximum marking probability.
    pub(crate) max_p: Option<f64>,
    /// Probability with which a packet is dropped or marked.
    pub(crate) drop_p: Option<f64>,
}

/// Effects of a discipline on packets that it had accepted, for the port to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marked: Vec<Packet>,
}

impl Effects {
    /// Returns true if there are no effects.
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
