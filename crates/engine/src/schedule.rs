//! The event list: what happens next.
//!
//! Events are ordered by (time, class, index of the element), so that ties are broken the same way
//! in every run. A busy element has one entry, not one per packet. Two 4-ary heaps share the work:
//! the near one holds links and send timers, whose entries change with every packet; the far one
//! holds timers and samples, so that a thousand sleeping timers cost the packets nothing.

use longhaul_units::Time;

/// What happens, and to which element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A link ends the transmission of a packet (explicit service only).
    Departure(u32),
    /// The first packet on a link reaches its far end.
    Arrival(u32),
    /// A TCP sender may send: the end of a send jitter or a pacing gap.
    Send(u32),
    /// The next datagram of a UDP source leaves.
    Datagram(u32),
    /// A TCP sender's retransmission timer may have expired.
    RetransmissionTimer(u32),
    /// A TCP receiver's delayed acknowledgement may be due.
    DelayedAckTimer(u32),
    /// A flow starts.
    Start(u32),
    /// A flow's application stops sending.
    Stop(u32),
    /// The measurement window opens.
    MeasureFrom,
    /// The time series are sampled.
    Sample,
    /// The simulation ends.
    End,
}

/// Classes in the order of events at the same time; the class sits above the index in a tag.
mod class {
    pub(super) const DEPARTURE: u64 = 0;
    pub(super) const ARRIVAL: u64 = 1;
    pub(super) const SEND: u64 = 2;
    pub(super) const DATAGRAM: u64 = 3;
    pub(super) const RETRANSMISSION_TIMER: u64 = 4;
    pub(super) const DELAYED_ACK_TIMER: u64 = 5;
    pub(super) const START: u64 = 6;
    pub(super) const STOP: u64 = 7;
    pub(super) const MEASURE_FROM: u64 = 8;
    pub(super) const SAMPLE: u64 = 9;
    pub(super) const END: u64 = 10;
    pub(super) const SHIFT: u32 = 56;
}

impl Event {
    #[inline]
    fn tag(self) -> u64 {
        let (class, index) = match self {
            Self::Departure(link) => (class::DEPARTURE, link),
            Self::Arrival(link) => (class::ARRIVAL, link),
            Self::Send(flow) => (class::SEND, flow),
            Self::Datagram(flow) => (class::DATAGRAM, flow),
            Self::RetransmissionTimer(flow) => (class::RETRANSMISSION_TIMER, flow),
            Self::DelayedAckTimer(flow) => (class::DELAYED_ACK_TIMER, flow),
            Self::Start(flow) => (class::START, flow),
            Self::Stop(flow) => (class::STOP, flow),
            Self::MeasureFrom => (class::MEASURE_FROM, 0),
            Self::Sample => (class::SAMPLE, 0),
            Self::End => (class::END, 0),
        };
        class << class::SHIFT | u64::from(index)
    }

    #[inline]
    fn from_tag(tag: u64) -> Self {
        let index = tag as u32;
        match tag >> class::SHIFT {
            class::DEPARTURE => Self::Departure(index),
            class::ARRIVAL => Self::Arrival(index),
            class::SEND => Self::Send(index),
            class::DATAGRAM => Self::Datagram(index),
            class::RETRANSMISSION_TIMER => Self::RetransmissionTimer(index),
            class::DELAYED_ACK_TIMER => Self::DelayedAckTimer(index),
            class::START => Self::Start(index),
            class::STOP => Self::Stop(index),
            class::MEASURE_FROM => Self::MeasureFrom,
            class::SAMPLE => Self::Sample,
            _ => Self::End,
        }
    }
}

/// Time in the upper half, tag in the lower: one comparison orders two entries.
type Key = u128;

#[inline]
fn key(time: Time, event: Event) -> Key {
    Key::from(time.as_ps()) << 64 | Key::from(event.tag())
}

/// A 4-ary min-heap: shallower than a binary one, and four children share a cache line.
#[derive(Debug, Default)]
struct Heap {
    keys: Vec<Key>,
}

impl Heap {
    #[inline]
    fn first(&self) -> Key {
        self.keys.first().copied().unwrap_or(Key::MAX)
    }

    #[inline]
    fn push(&mut self, key: Key) {
        let mut hole = self.keys.len();
        self.keys.push(key);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    /// Puts `key` in the place of the first entry.
    #[inline]
    fn replace_first(&mut self, key: Key) {
        let keys = self.keys.as_mut_slice();
        let mut hole = 0;
        loop {
            let child = 4 * hole + 1;
            let smallest = if let Some(&[a, b, c, d]) = keys.get(child..child + 4) {
                // Three independent comparisons, no unpredictable branch.
                let (low, low_at) = if b < a { (b, child + 1) } else { (a, child) };
                let (high, high_at) = if d < c {
                    (d, child + 3)
                } else {
                    (c, child + 2)
                };
                if high < low { high_at } else { low_at }
            } else {
                let Some(at) = (child..keys.len()).min_by_key(|&at| keys[at]) else {
                    break;
                };
                at
            };
            if key <= keys[smallest] {
                break;
            }
            keys[hole] = keys[smallest];
            hole = smallest;
        }
        keys[hole] = key;
    }

    #[inline]
    fn remove_first(&mut self) {
        if let Some(last) = self.keys.pop()
            && !self.keys.is_empty()
        {
            self.replace_first(last);
        }
    }
}

/// The event list.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    near: Heap,
    far: Heap,
    /// Events taken so far.
    pub(crate) events: u64,
    /// The most entries that waited at once.
    pub(crate) pending_max: usize,
}

impl Schedule {
    /// Enters an event of a link or a send timer.
    #[inline]
    pub(crate) fn push_near(&mut self, time: Time, event: Event) {
        self.near.push(key(time, event));
    }

    /// Enters an event of any other kind.
    pub(crate) fn push_far(&mut self, time: Time, event: Event) {
        self.far.push(key(time, event));
        self.pending_max = self
            .pending_max
            .max(self.near.keys.len() + self.far.keys.len());
    }

    /// The next event. An event of the near heap stays there until [`Self::finish_near`] or
    /// [`Self::renew_near`] is called, which must come before any other change; an event of the far
    /// heap is removed.
    ///
    /// The caller must have entered [`Event::End`], so that there always is a next event.
    #[inline]
    pub(crate) fn next(&mut self) -> (Time, Event) {
        self.events += 1;
        let near = self.near.first();
        let far = self.far.first();
        let first = if near < far {
            near
        } else {
            self.far.remove_first();
            far
        };
        (
            Time::from_ps((first >> 64) as u64),
            Event::from_tag(first as u64),
        )
    }

    /// Removes the event just taken from the near heap.
    #[inline]
    pub(crate) fn finish_near(&mut self) {
        self.near.remove_first();
    }

    /// Replaces the event just taken from the near heap by the next one of the same element.
    #[inline]
    pub(crate) fn renew_near(&mut self, time: Time, event: Event) {
        self.near.replace_first(key(time, event));
    }
}

/// A timer whose deadline moves far more often than it expires: moving it later writes a field,
/// and the entry in the event list catches up when it fires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LazyTimer {
    deadline: Time,
    /// Time of the one entry that counts; others are leftovers.
    entry: Time,
}

impl LazyTimer {
    pub(crate) const IDLE: Self = Self {
        deadline: Time::NEVER,
        entry: Time::NEVER,
    };

    /// Sets the deadline.
    #[inline]
    pub(crate) fn set(&mut self, deadline: Time, schedule: &mut Schedule, event: Event) {
        self.deadline = deadline;
        if deadline < self.entry {
            self.entry = deadline;
            schedule.push_far(deadline, event);
        }
    }

    /// Takes the deadline away.
    #[inline]
    pub(crate) fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Whether a deadline is set.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// The deadline, if it is earlier than `time`.
    #[inline]
    pub(crate) fn due_before(&self, time: Time) -> Option<Time> {
        (self.deadline < time).then_some(self.deadline)
    }

    /// Whether the timer expires with the entry that fired at `now`; enters it anew if the deadline
    /// has moved.
    pub(crate) fn fires(&mut self, now: Time, schedule: &mut Schedule, event: Event) -> bool {
        if now != self.entry {
            return false;
        }
        self.entry = Time::NEVER;
        let deadline = self.deadline;
        if deadline == now {
            self.deadline = Time::NEVER;
            return true;
        }
        if deadline != Time::NEVER {
            self.set(deadline, schedule, event);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_class_then_element() {
        let mut schedule = Schedule::default();
        let now = Time::from_ps(5);
        schedule.push_far(now, Event::Sample);
        schedule.push_near(now, Event::Arrival(2));
        schedule.push_near(now, Event::Arrival(1));
        schedule.push_near(now, Event::Departure(9));
        schedule.push_far(now, Event::Start(0));
        let mut order = Vec::new();
        for _ in 0..5 {
            let (_, event) = schedule.next();
            if matches!(event, Event::Arrival(_) | Event::Departure(_)) {
                schedule.finish_near();
            }
            order.push(event);
        }
        assert_eq!(
            order,
            [
                Event::Departure(9),
                Event::Arrival(1),
                Event::Arrival(2),
                Event::Start(0),
                Event::Sample
            ]
        );
    }

    #[test]
    fn a_lazy_timer_fires_once_at_its_last_deadline() {
        let mut schedule = Schedule::default();
        let mut timer = LazyTimer::IDLE;
        let event = Event::RetransmissionTimer(0);
        let at = Time::from_ps;
        timer.set(at(10), &mut schedule, event);
        timer.set(at(30), &mut schedule, event);
        timer.set(at(20), &mut schedule, event);
        let mut fired = Vec::new();
        schedule.push_far(at(100), Event::End);
        loop {
            let (now, event) = schedule.next();
            if event == Event::End {
                break;
            }
            if timer.fires(now, &mut schedule, event) {
                fired.push(now);
            }
        }
        assert_eq!(fired, [at(20)]);
    }

    proptest! {
        #[test]
        fn entries_come_out_sorted(times in prop::collection::vec(0u64..1000, 1..200), renew in 0u64..50) {
            let mut schedule = Schedule::default();
            for (index, &time) in times.iter().enumerate() {
                schedule.push_near(Time::from_ps(time), Event::Arrival(index as u32));
            }
            let mut last = Time::ZERO;
            for count in 0..2 * times.len() {
                if schedule.near.keys.is_empty() {
                    break;
                }
                let (now, event) = schedule.next();
                prop_assert!(now >= last);
                last = now;
                if count % 2 == 0 && count < times.len() {
                    schedule.renew_near(Time::from_ps(now.as_ps() + renew), event);
                } else {
                    schedule.finish_near();
                }
            }
        }
    }
}
