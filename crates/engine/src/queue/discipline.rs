//! The parts of a queue discipline: its parameters, and the queue that is created from them.

use longhaul_keys::{Refusal, Table};
use longhaul_units::{Rate, Span, Time};

use super::{Arrival, DropReason, LinkContext, Verdict};
use crate::measure::ClassCounters;
use crate::packet::{Flags, OptionStore, Packet};
use crate::random::Stream;

/// The parameters of a discipline: its keys in scenario files, from which its queue is created.
pub(crate) trait Parameters: Sized {
    /// Type of the discipline's queue.
    type Queue: PacketQueue;

    /// Name of the discipline in scenario files.
    const KIND: &'static str;
    /// Full name of the discipline.
    const TITLE: &'static str;
    /// Description of the discipline in one sentence.
    const DESCRIPTION: &'static str;
    /// RFC or paper that defines the discipline.
    const SOURCE: &'static str;
    /// True if the discipline decides about packets only on arrival. It does not store them: its link or proxy does.
    /// (Drop-tail is an exception if it drops from the head: see [`Self::decides_on_arrival`].)
    const ON_ARRIVAL: bool = false;
    /// True if the discipline works without a link, as in the local queue of a proxy. Such a discipline needs no
    /// periodic updates, and writes nothing into headers of packets that leave.
    const OUTSIDE_LINKS: bool = Self::ON_ARRIVAL;
    /// True if flows have separate queues. With hashing, some flows may share a queue.
    const PER_FLOW: bool = false;

    /// Sets values that follow from other values or from the link (with `values.derive`). Refuses values that
    /// contradict each other. `limit` has already been converted to packets or bytes, unless it is `auto`.
    fn complete(_values: &mut Table, _link: &LinkContext) -> Result<(), Refusal> {
        Ok(())
    }

    /// Reads the parameters from complete values; `rate` is the rate of the link or, if there is one, of its shaper.
    fn read(values: &Table, rate: Rate) -> Self;

    /// Returns an empty queue with the parameters `self`. The queue draws random numbers from `stream`.
    fn queue(&self, stream: Stream) -> Self::Queue;

    /// Returns true if the fate of a packet and its departure time are known when it arrives.
    fn decides_on_arrival(&self) -> bool {
        Self::ON_ARRIVAL
    }

    /// Returns the cases in which the discipline draws random numbers.
    fn draws(&self) -> Draws {
        Draws::Never
    }

    /// Returns true if the discipline ever uses random numbers, for packets or for the hashes of flows.
    fn is_random(&self) -> bool {
        self.draws() != Draws::Never
    }

    /// Returns true if the discipline marks ECN-capable packets.
    fn marks(&self) -> bool {
        false
    }
}

/// Cases in which a discipline draws random numbers for packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draws {
    Never,
    /// Random numbers are drawn only once a queue has built up.
    InCongestion,
    /// A random number is drawn for every packet, even if no queue has built up.
    ForAnyPacket,
}

/// A queue discipline that stores the waiting packets. A packet's `time` is its arrival time.
pub(crate) trait PacketQueue {
    /// Observes a packet that reaches the link, before the packet is lost, dropped or accepted. Only for routers that
    /// take part in congestion control.
    fn observe_arrival(&mut self, _packet: &Packet, _options: &mut OptionStore) {}
    /// Exchanges the bytes that `options` stores for two acknowledgements: `packet`, and the waiting one that it
    /// replaces. Does nothing if no bytes are stored. Called if [`Self::enqueue`] has returned
    /// [`DropReason::Filtered`].
    fn note_filtered(&mut self, _packet: &Packet, _options: &mut OptionStore) {}

    /// Returns true if a packet that finds the link idle and the queue empty may bypass the discipline. It then goes
    /// straight into service, unmarked, and the discipline's state does not change. Must be false for disciplines that
    /// observe arrivals or write into headers.
    fn passes(&self) -> bool {
        false
    }

    /// Accepts a packet, or returns the reason for its drop. Accepted packets, even this one, may be dropped afterwards
    /// (`effects`), for example if the limit is exceeded.
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason>;

    /// Returns the packet to transmit next; others may be dropped before it.
    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet>;

    /// Writes a router's feedback into the header of a packet that begins service.
    fn stamp_departure(&mut self, _packet: &mut Packet, _options: &mut OptionStore) {}

    /// Returns the number of waiting packets, and their bytes.
    fn waiting(&self) -> (u64, u64);

    /// Returns the time until the next call of [`Self::update`]; `None` if the discipline needs no updates.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// Updates the state at the end of an update interval.
    fn update(&mut self, _now: Time) {}

    /// Returns the discipline's state for the time series.
    fn state(&self) -> AqmState {
        AqmState::default()
    }

    /// Returns the counters of L4S packets and of classic packets; `None` if the discipline does not distinguish them.
    fn classes(&self) -> Option<[ClassCounters; 2]> {
        None
    }
}

/// Active queue management that decides if a packet may join a first-in first-out queue. [`Fifo`](super::Fifo) turns it
/// into a [`PacketQueue`].
pub(crate) trait Aqm {
    /// Decides about an arriving packet.
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict;

    /// See [`PacketQueue::passes`].
    fn passes(&self) -> bool {
        false
    }

    /// Returns true if a packet must be marked when it begins service; `_waiting_pkts` other packets wait at that time.
    fn on_departure(&mut self, _packet: &Packet, _now: Time, _waiting_pkts: u64) -> bool {
        false
    }

    /// Returns the time until the next call of [`Self::update`]; `None` if there are no updates.
    fn update_interval(&self) -> Option<Span> {
        None
    }

    /// Updates the state at the end of an update interval. `_waiting` contains the number of waiting packets and the
    /// number of waiting bytes.
    fn update(&mut self, _waiting: (u64, u64)) {}

    /// Returns the discipline's state for the time series.
    fn state(&self) -> AqmState {
        AqmState::default()
    }
}

/// State of a discipline in the time series; quantities that the discipline does not have are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AqmState {
    /// Average queue in packets.
    pub(crate) average_pkts: Option<f64>,
    /// Maximum marking probability.
    pub(crate) max_p: Option<f64>,
    /// Current probability of a drop or mark; the largest one if each queue has its own. In DualPI2, the base
    /// probability; in COBALT and CAKE, BLUE's.
    pub(crate) drop_p: Option<f64>,
}

/// Drops and marks of packets that a discipline has accepted, including marks on arrival. The port or the proxy counts
/// them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marked: Vec<Packet>,
}

impl Effects {
    /// Returns true if no accepted packet was dropped or marked.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked.is_empty()
    }

    /// Records that a packet accepted before is dropped.
    pub(super) fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push((packet, reason));
    }

    /// Marks a packet that is accepted now or was accepted before, and records the mark.
    pub(super) fn mark(&mut self, packet: &mut Packet) {
        packet.flags = packet.flags.with(Flags::CE);
        self.marked.push(*packet);
    }
}
