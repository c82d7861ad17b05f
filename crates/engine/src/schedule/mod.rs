//! The event list.
//!
//! Events are ordered by (time, class, index of the element). Ties are therefore broken in the same way in every run.
//! Simultaneous arrivals over different links are ordered by a separate rank ([`NextArrival`]): in a competition for
//! one queue, the index would always favour the same links. A busy link has one entry, not one per packet.
//!
//! There are three 4-ary heaps: one for links and datagram streams, with the most frequent changes; one for
//! delayed-ACK timers; and one for observations (samples, queue updates, the end of the run). Packets are forwarded
//! ahead of time up to the next observation and, to receivers, at most up to the next delayed-ACK timer
//! (`network/lookahead.rs`). Timers of paced senders do not limit the lookahead of links that lead only to receivers.
//! All other timers are in a [`CalendarQueue`], since web traffic has tens of thousands of them.

mod arrivals;
mod calendar_queue;
mod event;
mod next_arrival;
pub(crate) mod timers;

use longhaul_kernel::{Heap, Key};
use longhaul_units::Time;

pub(crate) use self::arrivals::{Arrivals, Arriving};
pub(crate) use self::calendar_queue::CalendarQueue;
pub(crate) use self::event::Event;
pub(crate) use self::event::arrival_key;
use self::event::{class, is_of_block, key};
pub(crate) use self::next_arrival::{NextArrival, TieBreak};
use self::timers::{Block, Deadlines, Kind};

/// Returns the time of a key. The key that stands for no entry has the time [`Time::NEVER`].
#[inline]
pub(crate) fn time_of(key: Key) -> Time {
    Time::from_ps((key >> 64) as u64)
}

/// Returns the key of an entry. Keys are ordered by time, then by tag.
#[inline]
pub(crate) fn key_of(time: Time, tag: u64) -> Key {
    Key::from(time.as_ps()) << 64 | Key::from(tag)
}

/// The event list.
#[derive(Debug)]
pub(crate) struct Schedule {
    links: Heap,
    timers: CalendarQueue<Key>,
    /// Delayed-ACK timers.
    delayed_acks: Heap,
    observations: Heap,
    /// Deadlines, for each kind of timer.
    deadlines: [Deadlines; Kind::ALL.len()],
    /// The earliest of the entries that do not belong to links, stored because it is read for each packet.
    first_of_others: Key,
    /// The earliest entry of `delayed_acks` and `observations`.
    first_of_rest: Key,
    /// Earliest time at which the run may end before its duration is over.
    may_end: Time,
    /// The entry of the event that was taken last.
    taken: Key,
    /// The latest of all entries taken so far.
    latest: Key,
    /// Number of events taken so far.
    pub(crate) events: u64,
    /// Maximum number of entries pending at once, counted whenever a timer or an observation is scheduled.
    pub(crate) pending_max: usize,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            links: Heap::default(),
            timers: CalendarQueue::default(),
            delayed_acks: Heap::default(),
            observations: Heap::default(),
            deadlines: Default::default(),
            first_of_others: Key::MAX,
            first_of_rest: Key::MAX,
            may_end: Time::NEVER,
            taken: Key::MAX,
            latest: 0,
            events: 0,
            pending_max: 0,
        }
    }
}

impl Schedule {
    pub(crate) const MAX_LINKS: usize = 1 << class::LINK_BITS;
    /// Number of coming entries of timers that are searched for connections to prefetch.
    const PREFETCHED: usize = 5;

    /// Returns the largest key of all events taken so far. The current event may have a smaller key: an earlier event
    /// at the same time may have scheduled the current event.
    #[inline]
    pub(crate) fn current(&self) -> Key {
        self.latest
    }

    /// Schedules an event of a link or a datagram stream, other than an arrival.
    #[inline]
    pub(crate) fn push_link(&mut self, time: Time, event: Event) {
        self.links.push(key(time, event));
    }

    /// Schedules the next arrival of a packet at the far end of a link.
    #[inline]
    pub(crate) fn push_arrival(&mut self, next: NextArrival, link: u32) {
        self.links.push(arrival_key(next, link));
    }

    /// Schedules an event of an endpoint, a traffic source or a proxy.
    #[inline]
    pub(crate) fn push_timer(&mut self, time: Time, event: Event) {
        let key = key(time, event);
        match event {
            Event::DelayedAckTimer(_) => self.enter_delayed_ack(key),
            _ => self.enter_timer(key),
        }
    }

    #[inline(never)]
    fn enter_timer(&mut self, key: Key) {
        self.timers.push(key);
        self.first_of_others = self.first_of_others.min(key);
        self.note_pending();
    }

    #[inline(never)]
    fn enter_delayed_ack(&mut self, key: Key) {
        self.delayed_acks.push(key);
        self.first_of_rest = self.first_of_rest.min(key);
        self.first_of_others = self.first_of_others.min(key);
        self.note_pending();
    }

    /// Schedules an event that limits all lookahead: one that reads the state of links and flows, such as a sample, or
    /// updates a queue discipline.
    pub(crate) fn push_observation(&mut self, time: Time, event: Event) {
        let key = key(time, event);
        self.observations.push(key);
        self.first_of_rest = self.first_of_rest.min(key);
        self.first_of_others = self.first_of_others.min(key);
        self.note_pending();
    }

    fn note_pending(&mut self) {
        let heaps = [&self.links, &self.delayed_acks, &self.observations];
        let pending = self.timers.len() + heaps.iter().map(|heap| heap.len()).sum::<usize>();
        self.pending_max = self.pending_max.max(pending);
    }

    /// Sets the deadline of a connection's timer.
    #[inline(always)]
    fn set_timer(&mut self, kind: Kind, connection: u32, deadline: Time) {
        if let Some(block) = self.deadlines[kind as usize].set(connection, deadline) {
            self.enter_block(kind, block, deadline);
        }
    }

    /// Clears the deadline of a connection's timer.
    #[inline]
    fn clear_timer(&mut self, kind: Kind, connection: u32) {
        self.deadlines[kind as usize].clear(connection);
    }

    /// Adds an event at `deadline` for a block of timers. Not inlined: most ACKs only postpone a deadline, which needs
    /// no event.
    #[cold]
    #[inline(never)]
    fn enter_block(&mut self, kind: Kind, block: Block, deadline: Time) {
        self.push_timer(deadline, kind.event(block.0));
    }

    /// Returns the next event. The event of a link stays until [`Self::finish_link`], [`Self::renew_link`] or
    /// [`Self::renew_arrival`] is called; others are removed.
    ///
    /// The caller must have scheduled [`Event::End`]. There is then always a next event.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Event) {
        let entry = self.take_next();
        // The conversion is inlined into the caller, so that the kind of the event is tested only once.
        (time_of(entry), Event::from_tag(entry as u64))
    }

    /// Returns the time of the earliest entry. A timer's entry may be earlier than its deadline, if the deadline has
    /// been moved since.
    pub(crate) fn first_time(&self) -> Time {
        time_of(self.links.first().min(self.first_of_others))
    }

    /// Returns the next event as [`Self::next`] does, if the event is due by `until`.
    pub(crate) fn next_by(&mut self, until: Time) -> Option<(Time, Event)> {
        while self.first_time() <= until {
            let (link, other) = (self.links.first(), self.first_of_others);
            if link < other || !is_of_block(other) {
                return Some(self.next());
            }
            // The timer may have moved past `until`.
            self.taken = other;
            self.latest = self.latest.max(other);
            self.remove_first_of_others();
            if let Some(timer) = self.of_block(other) {
                self.events += 1;
                return Some((time_of(timer), Event::from_tag(timer as u64)));
            }
        }
        None
    }

    #[inline(never)]
    fn take_next(&mut self) -> Key {
        self.events += 1;
        loop {
            let (link, other) = (self.links.first(), self.first_of_others);
            if link < other {
                self.taken = link;
                self.latest = self.latest.max(link);
                return link;
            }
            self.taken = other;
            self.latest = self.latest.max(other);
            self.remove_first_of_others();
            if !is_of_block(other) {
                return other;
            }
            if let Some(timer) = self.of_block(other) {
                return timer;
            }
        }
    }

    #[inline]
    fn first_timer(&self) -> Key {
        self.timers.first().copied().unwrap_or(Key::MAX)
    }

    #[inline]
    fn remove_first_of_others(&mut self) {
        if self.first_of_rest == self.first_of_others {
            self.remove_first_of_rest();
        } else {
            self.timers.remove_first();
        }
        self.first_of_others = self.first_timer().min(self.first_of_rest);
    }

    fn remove_first_of_rest(&mut self) {
        if self.delayed_acks.first() == self.first_of_rest {
            self.delayed_acks.remove_first();
        } else {
            self.observations.remove_first();
        }
        self.first_of_rest = self.delayed_acks.first().min(self.observations.first());
    }

    /// Returns the key of the timer that expires now in the block of `entry`; `None` if no timer expires. Schedules the
    /// block again, for its next deadline.
    fn of_block(&mut self, entry: Key) -> Option<Key> {
        let (now, event) = (time_of(entry), Event::from_tag(entry as u64));
        let (kind, block) = match event {
            Event::RackTlpTimer(block) => (Kind::RackTlp, Block(block)),
            Event::RetransmissionTimer(block) => (Kind::Retransmission, Block(block)),
            Event::DelayedAckTimer(block) => (Kind::DelayedAck, Block(block)),
            other => unreachable!("{other:?} is of one element"),
        };
        let (connection, next) = self.deadlines[kind as usize].take(block, now);
        if next != Time::NEVER {
            self.push_timer(next, event);
        }
        connection.map(|connection| key(now, kind.event(connection)))
    }

    /// Returns the time that limits all lookahead: the next observation or, if earlier, the earliest possible end of
    /// the run.
    #[inline]
    pub(crate) fn next_observation(&self) -> Time {
        time_of(self.observations.first()).min(self.may_end)
    }

    /// Sets the earliest possible end of the run. Packets that arrive later are not forwarded ahead of time.
    pub(crate) fn bound_lookahead(&mut self, may_end: Time) {
        self.may_end = may_end;
    }

    /// Returns the earliest possible expiry of a delayed-ACK timer. The actual deadline may have been moved later.
    #[inline]
    pub(crate) fn next_delayed_ack(&self) -> Time {
        time_of(self.delayed_acks.first())
    }

    /// Returns the earliest possible time of a timer's expiry, of an observation or of the end of the run. A timer's
    /// actual deadline may have been moved later.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        time_of(self.first_of_others).min(self.may_end)
    }

    /// Cancels the timers of a connection that a traffic source had opened and that is closed now.
    pub(crate) fn forget(&mut self, connection: u32) {
        for deadlines in &mut self.deadlines {
            deadlines.forget(connection);
        }
    }

    /// Returns the connections of [`Event::Held`] and [`Event::Turn`] among the next events of timers, for prefetching.
    pub(crate) fn coming_to_connections(&self) -> impl Iterator<Item = u32> {
        let first = self.timers.coming().take(Self::PREFETCHED);
        let class = |key: Key| key as u64 >> class::SHIFT;
        let own = first.filter(move |&key| [class::HELD, class::TURN].contains(&class(key)));
        own.map(|key| key as u32)
    }

    /// Removes the current event from the schedule. It must be an event of a link.
    #[inline]
    pub(crate) fn finish_link(&mut self) {
        self.links.remove(self.taken);
    }

    /// Schedules the current event again at the time `next`. It must be an event of a link other than an arrival.
    #[inline]
    pub(crate) fn renew_link(&mut self, next: Time) {
        let tag = self.taken as u64;
        let key = key_of(next, tag);
        self.links.replace(self.taken, key);
    }

    /// Replaces the entry of the current arrival by the next arrival on the same link.
    #[inline]
    pub(crate) fn renew_arrival(&mut self, next: NextArrival, link: u32) {
        self.links.replace(self.taken, arrival_key(next, link));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that the current key does not decrease if an event schedules another one with a smaller key: a start
    /// event schedules a datagram for the current time.
    #[test]
    fn what_follows_from_an_event_does_not_stand_before_it() {
        let mut schedule = Schedule::default();
        let now = Time::from_ps(5);
        schedule.push_timer(now, Event::Start(0));
        schedule.next();
        let start = schedule.current();
        assert_eq!(start, key(now, Event::Start(0)));
        schedule.push_link(now, Event::Datagram(0));
        schedule.next();
        assert_eq!(schedule.current(), start);
        schedule.finish_link();
        schedule.push_link(Time::from_ps(6), Event::Datagram(0));
        schedule.next();
        assert!(schedule.current() > start);
    }

    #[test]
    fn ties_go_by_class_then_tie_break_or_element() {
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
        /// Entries come out in order, even if other entries are added while an event of a link is processed.
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
                    // This entry has another class, which is processed first at the same time.
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
