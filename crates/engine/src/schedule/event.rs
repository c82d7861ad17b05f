//! Events, and the keys that order them.

use longhaul_units::Time;

use super::key_of;
use super::next_arrival::NextArrival;
use longhaul_kernel::Key;

/// Kind of an event, with the index of the link, flow or other element that the event concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A link's delay or loss changes; the index is that of the link among the links with such changes.
    Change(u32),
    /// Packets on a link reach its far end.
    Arrival(u32),
    /// Packets from several links reach their common next link; the index refers to the merge (`merge.rs`).
    Merge(u32),
    /// An update interval of a link's queue discipline is over.
    QueueUpdate(u32),
    /// Packets held back by the impairments with this index are released.
    Release(u32),
    /// A TCP sender may send, because a random delay or a pacing gap is over.
    Send(u32),
    /// The next datagram of a UDP source leaves.
    Datagram(u32),
    /// The next dummy segment of a TCP sender may leave.
    Dummy(u32),
    /// The RACK-TLP timer of a TCP sender may have expired. For this timer, and for each of the two kinds of timers
    /// below, a block of 64 connections shares one entry in the event list (`timers.rs`).
    RackTlpTimer(u32),
    /// A TCP sender's retransmission timer may have expired.
    RetransmissionTimer(u32),
    /// A TCP receiver's delayed-ACK timer may have expired.
    DelayedAckTimer(u32),
    /// A deadline at one endpoint of a foreign stack's connection may have passed. The index is twice the connection's
    /// number, plus one for the receiver.
    Stack(u32),
    /// A traffic source opens its next connection.
    Traffic(u32),
    /// An application sends its next message.
    Message(u32),
    /// A server delay, a client's think time or the lifetime of a connection is over.
    Turn(u32),
    /// A packet delayed at one endpoint of a connection may be due.
    Held(u32),
    /// A proxy checks its local queue.
    Check(u32),
    /// A flow starts.
    Start(u32),
    /// A flow's application stops sending.
    Stop(u32),
    /// The measurement window opens.
    MeasureFrom,
    /// The time series are sampled.
    Sample,
    /// Progress is reported to the recorder.
    Progress,
    /// The simulation ends.
    End,
}

/// Classes of events, in their order of processing at equal times. In an event's tag, the class is above the bits of
/// the index.
pub(super) mod class {
    pub(in crate::schedule) const CHANGE: u64 = 0;
    pub(in crate::schedule) const ARRIVAL: u64 = 1;
    pub(in crate::schedule) const MERGE: u64 = 2;
    pub(in crate::schedule) const QUEUE_UPDATE: u64 = 3;
    pub(in crate::schedule) const RELEASE: u64 = 4;
    pub(in crate::schedule) const SEND: u64 = 5;
    pub(in crate::schedule) const DATAGRAM: u64 = 6;
    pub(in crate::schedule) const DUMMY: u64 = 7;
    pub(in crate::schedule) const RACK_TLP_TIMER: u64 = 8;
    pub(in crate::schedule) const RETRANSMISSION_TIMER: u64 = 9;
    pub(in crate::schedule) const DELAYED_ACK_TIMER: u64 = 10;
    pub(in crate::schedule) const STACK: u64 = 11;
    pub(in crate::schedule) const HELD: u64 = 12;
    pub(in crate::schedule) const TURN: u64 = 13;
    pub(in crate::schedule) const TRAFFIC: u64 = 14;
    pub(in crate::schedule) const MESSAGE: u64 = 15;
    pub(in crate::schedule) const CHECK: u64 = 16;
    pub(in crate::schedule) const START: u64 = 17;
    pub(in crate::schedule) const STOP: u64 = 18;
    pub(in crate::schedule) const MEASURE_FROM: u64 = 19;
    pub(in crate::schedule) const SAMPLE: u64 = 20;
    pub(in crate::schedule) const PROGRESS: u64 = 21;
    pub(in crate::schedule) const END: u64 = 22;
    pub(in crate::schedule) const SHIFT: u32 = 59;
    /// Number of bits of a link's index in the tag of an arrival. Above the index are the event's tie-break and class.
    pub(in crate::schedule) const LINK_BITS: u32 = 22;
}

impl Event {
    #[inline]
    pub(super) fn tag(self) -> u64 {
        let (class, index) = match self {
            Self::Change(changes) => (class::CHANGE, changes),
            Self::Arrival(link) => (class::ARRIVAL, link),
            Self::Merge(merge) => (class::MERGE, merge),
            Self::QueueUpdate(link) => (class::QUEUE_UPDATE, link),
            Self::Release(entrance) => (class::RELEASE, entrance),
            Self::Send(flow) => (class::SEND, flow),
            Self::Datagram(flow) => (class::DATAGRAM, flow),
            Self::Dummy(flow) => (class::DUMMY, flow),
            Self::RackTlpTimer(flow) => (class::RACK_TLP_TIMER, flow),
            Self::RetransmissionTimer(flow) => (class::RETRANSMISSION_TIMER, flow),
            Self::DelayedAckTimer(flow) => (class::DELAYED_ACK_TIMER, flow),
            Self::Stack(end) => (class::STACK, end),
            Self::Held(end) => (class::HELD, end),
            Self::Turn(connection) => (class::TURN, connection),
            Self::Traffic(source) => (class::TRAFFIC, source),
            Self::Message(application) => (class::MESSAGE, application),
            Self::Check(proxy) => (class::CHECK, proxy),
            Self::Start(flow) => (class::START, flow),
            Self::Stop(flow) => (class::STOP, flow),
            Self::MeasureFrom => (class::MEASURE_FROM, 0),
            Self::Sample => (class::SAMPLE, 0),
            Self::Progress => (class::PROGRESS, 0),
            Self::End => (class::END, 0),
        };
        class << class::SHIFT | u64::from(index)
    }

    #[inline]
    pub(super) fn from_tag(tag: u64) -> Self {
        let index = tag as u32;
        match tag >> class::SHIFT {
            class::CHANGE => Self::Change(index),
            class::ARRIVAL => Self::Arrival(link_of(tag)),
            class::MERGE => Self::Merge(index),
            class::QUEUE_UPDATE => Self::QueueUpdate(index),
            class::RELEASE => Self::Release(index),
            class::SEND => Self::Send(index),
            class::DATAGRAM => Self::Datagram(index),
            class::DUMMY => Self::Dummy(index),
            class::RACK_TLP_TIMER => Self::RackTlpTimer(index),
            class::RETRANSMISSION_TIMER => Self::RetransmissionTimer(index),
            class::DELAYED_ACK_TIMER => Self::DelayedAckTimer(index),
            class::STACK => Self::Stack(index),
            class::HELD => Self::Held(index),
            class::TURN => Self::Turn(index),
            class::TRAFFIC => Self::Traffic(index),
            class::MESSAGE => Self::Message(index),
            class::CHECK => Self::Check(index),
            class::START => Self::Start(index),
            class::STOP => Self::Stop(index),
            class::MEASURE_FROM => Self::MeasureFrom,
            class::SAMPLE => Self::Sample,
            class::PROGRESS => Self::Progress,
            _ => Self::End,
        }
    }
}

/// Returns true if an entry is for a block of timers (`timers.rs`).
#[inline]
pub(super) fn is_of_block(entry: Key) -> bool {
    let class = entry as u64 >> class::SHIFT;
    (class::RACK_TLP_TIMER..=class::DELAYED_ACK_TIMER).contains(&class)
}

/// Returns the link number that the tag of an arrival contains.
#[inline]
pub(super) fn link_of(tag: u64) -> u32 {
    tag as u32 & ((1 << class::LINK_BITS) - 1)
}

#[inline]
pub(super) fn key(time: Time, event: Event) -> Key {
    key_of(time, event.tag())
}

/// Returns the key of the next arrival at the far end of a link.
#[inline]
pub(crate) fn arrival_key(next: NextArrival, link: u32) -> Key {
    let tie_break = next.tie_break.bits() << class::LINK_BITS;
    let tag = class::ARRIVAL << class::SHIFT | tie_break | u64::from(link);
    key_of(next.time, tag)
}
