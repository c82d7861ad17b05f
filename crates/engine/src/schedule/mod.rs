//! The event list: what happens next.
//!
//! Events are ordered by (time, class, index of the element), so that ties are broken the same way
//! in every run. Only among packets that arrive over different links at the same time, which may compete
//! for the same queue, the index would prefer the same links for ever: they have [`TieBreak`]s.
//! A busy element has one entry, not one per packet. Four 4-ary heaps share the work:
//! links, whose entries change most; timers of the ends of flows, those of receivers apart, which paced
//! senders are not to keep from working ahead; and observations, which bound what may be computed ahead
//! of time.

mod heap;
pub(crate) mod timers;

use longhaul_units::Time;

pub use self::heap::Heap;
pub(crate) use self::heap::{Arrivals, Key};
use self::timers::{Block, Deadlines, Kind};
use crate::network::NextArrival;

/// What happens, and to which element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A link's rate, delay or loss changes; the index is that of its changes.
    Change(u32),
    /// Packets on a link reach its far end.
    Arrival(u32),
    /// Packets on several links reach the one that they all lead to; the index is the merge's.
    Merge(u32),
    /// A period of a link's queue discipline is over.
    QueueUpdate(u32),
    /// Packets that a link's impairments have held back are released; the index is that of the impairments.
    Release(u32),
    /// A TCP sender may send: the end of a send jitter or a pacing gap.
    Send(u32),
    /// The next datagram of a UDP source leaves.
    Datagram(u32),
    /// The next dummy of a TCP sender may leave.
    Dummy(u32),
    /// The timer of a TCP sender's scheme of loss repair may have expired. Of this and the next two
    /// timers, the event list itself has blocks.
    RackTlpTimer(u32),
    /// A TCP sender's retransmission timer may have expired.
    RetransmissionTimer(u32),
    /// A TCP receiver's delayed acknowledgement may be due.
    DelayedAckTimer(u32),
    /// The next arrival of a traffic source.
    Traffic(u32),
    /// The next message of an application.
    Message(u32),
    /// It is the turn of one side of a connection: a server's delay or a client's pause is over.
    Turn(u32),
    /// A packet held back at one end of a connection is due.
    Held(u32),
    /// A proxy looks at its local queue.
    Check(u32),
    /// A flow starts.
    Start(u32),
    /// A flow's application stops sending.
    Stop(u32),
    /// The measurement window opens.
    MeasureFrom,
    /// The time series are sampled.
    Sample,
    /// The recorder is told how far the simulation is.
    Progress,
    /// The simulation ends.
    End,
}

/// Classes in the order of events at the same time; the class sits above the index in a tag.
mod class {
    pub(super) const CHANGE: u64 = 0;
    pub(super) const ARRIVAL: u64 = 1;
    pub(super) const MERGE: u64 = 2;
    pub(super) const QUEUE_UPDATE: u64 = 3;
    pub(super) const RELEASE: u64 = 4;
    pub(super) const SEND: u64 = 5;
    pub(super) const DATAGRAM: u64 = 6;
    pub(super) const DUMMY: u64 = 7;
    pub(super) const RACK_TLP_TIMER: u64 = 8;
    pub(super) const RETRANSMISSION_TIMER: u64 = 9;
    pub(super) const DELAYED_ACK_TIMER: u64 = 10;
    pub(super) const HELD: u64 = 11;
    pub(super) const TURN: u64 = 12;
    pub(super) const TRAFFIC: u64 = 13;
    pub(super) const MESSAGE: u64 = 14;
    pub(super) const CHECK: u64 = 15;
    pub(super) const START: u64 = 16;
    pub(super) const STOP: u64 = 17;
    pub(super) const MEASURE_FROM: u64 = 18;
    pub(super) const SAMPLE: u64 = 19;
    pub(super) const PROGRESS: u64 = 20;
    pub(super) const END: u64 = 21;
    pub(super) const SHIFT: u32 = 59;
    /// Of an arrival's index; between it and the class is its tie-break.
    pub(super) const LINK_BITS: u32 = 22;
}

impl Event {
    #[inline]
    fn tag(self) -> u64 {
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
    fn from_tag(tag: u64) -> Self {
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

/// The link of an arrival.
#[inline]
fn link_of(tag: u64) -> u32 {
    tag as u32 & ((1 << class::LINK_BITS) - 1)
}

#[inline]
fn key(time: Time, event: Event) -> Key {
    Key::from(time.as_ps()) << 64 | Key::from(event.tag())
}

/// The entry of the next arrival at the far end of a link.
#[inline]
fn arrival_key(next: NextArrival, link: u32) -> Key {
    let tie_break = next.tie_break.bits() << class::LINK_BITS;
    let tag = class::ARRIVAL << class::SHIFT | tie_break | u64::from(link);
    Key::from(next.time.as_ps()) << 64 | Key::from(tag)
}

/// [`Time::NEVER`] for the key of no entry.
#[inline]
pub(crate) fn time_of(key: Key) -> Time {
    Time::from_ps((key >> 64) as u64)
}

/// The event list.
#[derive(Debug)]
pub(crate) struct Schedule {
    links: Heap,
    timers: Heap,
    /// Delayed acknowledgements.
    delayed_acks: Heap,
    observations: Heap,
    /// By kind.
    deadlines: [Deadlines; Kind::ALL.len()],
    /// When next a timer expires or everything is looked at, which is asked for each packet.
    undisturbed_until: Time,
    /// When the run may end, if not at its end.
    may_end: Time,
    /// The entry of the link's event that was taken last.
    taken: Key,
    /// Events taken so far.
    pub(crate) events: u64,
    /// The most entries that waited at once.
    pub(crate) pending_max: usize,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            links: Heap::default(),
            timers: Heap::default(),
            delayed_acks: Heap::default(),
            observations: Heap::default(),
            deadlines: Default::default(),
            undisturbed_until: Time::NEVER,
            may_end: Time::NEVER,
            taken: Key::MAX,
            events: 0,
            pending_max: 0,
        }
    }
}

impl Schedule {
    pub(crate) const MAX_LINKS: usize = 1 << class::LINK_BITS;

    /// Enters an event of a link or a datagram stream, other than an arrival.
    #[inline]
    pub(crate) fn push_link(&mut self, time: Time, event: Event) {
        self.links.push(key(time, event));
    }

    /// Enters the next arrival at the far end of a link.
    #[inline]
    pub(crate) fn push_arrival(&mut self, next: NextArrival, link: u32) {
        self.links.push(arrival_key(next, link));
    }

    /// Enters an event of an end of a flow.
    pub(crate) fn push_timer(&mut self, time: Time, event: Event) {
        let heap = match event {
            Event::DelayedAckTimer(_) => &mut self.delayed_acks,
            _ => &mut self.timers,
        };
        heap.push(key(time, event));
        self.undisturbed_until = self.undisturbed_until.min(time);
        self.note_pending();
    }

    /// Enters an event at which the state of everything is looked at.
    pub(crate) fn push_observation(&mut self, time: Time, event: Event) {
        self.observations.push(key(time, event));
        self.undisturbed_until = self.undisturbed_until.min(time);
        self.note_pending();
    }

    fn note_pending(&mut self) {
        let heaps = [
            &self.links,
            &self.timers,
            &self.delayed_acks,
            &self.observations,
        ];
        let pending = heaps.iter().map(|heap| heap.len()).sum();
        self.pending_max = self.pending_max.max(pending);
    }

    /// The deadline of a connection's timer is set.
    #[inline]
    fn set_timer(&mut self, kind: Kind, connection: u32, deadline: Time) {
        if let Some(block) = self.deadlines[kind as usize].set(connection, deadline) {
            self.enter_block(kind, block, deadline);
        }
    }

    /// Out of the way of what most acknowledgements do.
    #[cold]
    #[inline(never)]
    fn enter_block(&mut self, kind: Kind, block: Block, deadline: Time) {
        self.push_timer(deadline, kind.event(block.0));
    }

    /// The next event. That of a link stays until [`Self::finish_link`] or [`Self::renew_link`] is
    /// called; others are removed.
    ///
    /// The caller must have entered [`Event::End`], so that there always is a next event.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Event) {
        self.events += 1;
        loop {
            let link = self.links.first();
            let timer = self.timers.first();
            let answer = self.delayed_acks.first();
            let observation = self.observations.first();
            let other = timer.min(answer).min(observation);
            if link < other {
                self.taken = link;
                return (time_of(link), Event::from_tag(link as u64));
            }
            if timer == other {
                self.timers.remove_first();
            } else if answer == other {
                self.delayed_acks.remove_first();
            } else {
                self.observations.remove_first();
            }
            let now = time_of(other);
            let event = self.of_block(now, Event::from_tag(other as u64));
            let timer = self.timers.first().min(self.delayed_acks.first());
            self.undisturbed_until = time_of(timer.min(self.observations.first()));
            if let Some(event) = event {
                return (now, event);
            }
        }
    }

    /// The event itself or, of a block of timers, that of the one whose deadline has come, if it is the
    /// deadline of any.
    #[inline]
    fn of_block(&mut self, now: Time, event: Event) -> Option<Event> {
        let (kind, block) = match event {
            Event::RackTlpTimer(block) => (Kind::RackTlp, Block(block)),
            Event::RetransmissionTimer(block) => (Kind::Retransmission, Block(block)),
            Event::DelayedAckTimer(block) => (Kind::DelayedAck, Block(block)),
            other => return Some(other),
        };
        let (connection, next) = self.deadlines[kind as usize].take(block, now);
        if next != Time::NEVER {
            self.push_timer(next, event);
        }
        connection.map(|connection| kind.event(connection))
    }

    /// When everything is looked at next, or may be.
    #[inline]
    pub(crate) fn next_observation(&self) -> Time {
        time_of(self.observations.first()).min(self.may_end)
    }

    /// The run may end early, but not before this time.
    pub(crate) fn bound_lookahead(&mut self, may_end: Time) {
        self.may_end = may_end;
    }

    /// When next a delayed acknowledgement may be due. Its timer may have moved on since.
    #[inline]
    pub(crate) fn next_delayed_ack(&self) -> Time {
        time_of(self.delayed_acks.first())
    }

    /// When next a timer expires or everything is looked at. A timer may have moved on since.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.undisturbed_until.min(self.may_end)
    }

    /// A connection that traffic has opened is over: its deadlines do not come any more.
    pub(crate) fn forget(&mut self, connection: u32) {
        for deadlines in &mut self.deadlines {
            deadlines.forget(connection);
        }
    }

    /// The connections in which something will be due, of the next event of an end of a flow and of those among
    /// which the one after it is.
    pub(crate) fn coming_to_connections(&self) -> impl Iterator<Item = u32> {
        let first = self.timers.beginning().iter().copied();
        let class = |key: Key| key as u64 >> class::SHIFT;
        let own = first.filter(move |&key| [class::HELD, class::TURN].contains(&class(key)));
        own.map(|key| key as u32)
    }

    /// Removes the event of a link that is at work.
    #[inline]
    pub(crate) fn finish_link(&mut self) {
        self.links.remove(self.taken);
    }

    /// Replaces the event of a link that is at work, no arrival, by the same at `next`.
    #[inline]
    pub(crate) fn renew_link(&mut self, next: Time) {
        let tag = self.taken as u64;
        let key = Key::from(next.as_ps()) << 64 | Key::from(tag);
        self.links.replace(self.taken, key);
    }

    /// Replaces the arrival that is at work by the next one on its link.
    #[inline]
    pub(crate) fn renew_arrival(&mut self, next: NextArrival, link: u32) {
        self.links.replace(self.taken, arrival_key(next, link));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::TieBreak;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_class_then_turn_or_element() {
        let mut schedule = Schedule::default();
        let now = Time::from_ps(5);
        schedule.push_observation(now, Event::Sample);
        for (link, tie_break) in [
            (1, TieBreak::LAST),
            (2, TieBreak::FIRST),
            (3, TieBreak::LAST),
        ] {
            schedule.push_arrival(
                NextArrival {
                    time: now,
                    tie_break,
                },
                link,
            );
        }
        schedule.push_link(now, Event::Change(9));
        schedule.push_timer(now, Event::Start(0));
        let mut order = Vec::new();
        for _ in 0..6 {
            let (_, event) = schedule.next();
            if matches!(event, Event::Arrival(_) | Event::Change(_)) {
                schedule.finish_link();
            }
            order.push(event);
        }
        assert_eq!(
            order,
            [
                Event::Change(9),
                Event::Arrival(2),
                Event::Arrival(1),
                Event::Arrival(3),
                Event::Start(0),
                Event::Sample
            ]
        );
    }

    proptest! {
        /// Whatever is entered while an event of a link is at work.
        #[test]
        fn entries_come_out_sorted(
            times in prop::collection::vec(0u64..1000, 1..200),
            renewals in prop::collection::vec(prop::option::of(0u64..50), 200),
            meanwhile in prop::collection::vec(prop::option::of(0u64..50), 200),
        ) {
            let mut schedule = Schedule::default();
            for (link, &time) in (0..).zip(&times) {
                schedule.push_link(Time::from_ps(time), Event::Datagram(link));
            }
            let mut pending = times.clone();
            let steps = renewals.iter().zip(&meanwhile).zip(1000..);
            for ((renewal, meanwhile), other) in steps {
                if pending.is_empty() {
                    break;
                }
                let (now, _) = schedule.next();
                pending.sort_unstable();
                prop_assert_eq!(now.as_ps(), pending.remove(0));
                let later = |span: u64| Time::from_ps(now.as_ps() + span);
                if let &Some(span) = meanwhile {
                    // Another class, which at the same time comes first.
                    schedule.push_link(later(span), Event::Change(other));
                    pending.push(later(span).as_ps());
                }
                match *renewal {
                    Some(span) => {
                        schedule.renew_link(later(span));
                        pending.push(later(span).as_ps());
                    }
                    None => schedule.finish_link(),
                }
            }
        }
    }
}
