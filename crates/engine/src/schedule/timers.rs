//! Timers of connections. Their deadlines move far more often than they expire.
//!
//! A later deadline is only written to a field: the entry in the event list keeps its time, and is moved when this time
//! comes. For each kind of timer, 64 consecutive numbers of connections share one entry. With an entry per connection,
//! each retransmission timer would cause about five events per second without expiring. For a thousand connections,
//! these events would limit the lookahead.

use longhaul_units::Time;

use super::{Event, Schedule};

/// Highest bit of a connection's number, set for connections that traffic opens during the run.
pub(crate) const OPENED: u32 = 1 << 31;

/// Number of low bits for the connection's slot, direction and leg, in a number with the bit [`OPENED`] set. The bits
/// between them and [`OPENED`] are the slot's generation.
pub(crate) const OPENED_BITS: u32 = 21;

/// Kinds of connection timers, in their order of processing at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// RACK-TLP's timer, which may restart the retransmission timer.
    RackTlp,
    Retransmission,
    DelayedAck,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::RackTlp, Self::Retransmission, Self::DelayedAck];

    /// Returns the event of a timer of this kind, for a connection or a block of connections with the index `index`.
    #[inline]
    pub(super) fn event(self, index: u32) -> Event {
        match self {
            Self::RackTlp => Event::RackTlpTimer(index),
            Self::Retransmission => Event::RetransmissionTimer(index),
            Self::DelayedAck => Event::DelayedAckTimer(index),
        }
    }
}

/// A timer of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    deadline: Time,
}

impl Timer {
    pub(crate) const IDLE: Self = Self {
        deadline: Time::NEVER,
    };

    /// Sets the timer's deadline, and schedules the timer's event.
    #[inline]
    pub(crate) fn set(
        &mut self,
        deadline: Time,
        (kind, connection): (Kind, u32),
        schedule: &mut Schedule,
    ) {
        self.deadline = deadline;
        schedule.set_timer(kind, connection, deadline);
    }

    /// Clears the deadline in the timer only. The event still comes, and is then ignored.
    #[inline]
    pub(crate) fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Clears the deadline in the timer and in the schedule. For timers that will not be set again soon.
    #[inline]
    pub(crate) fn stop(&mut self, (kind, connection): (Kind, u32), schedule: &mut Schedule) {
        if self.is_set() {
            self.deadline = Time::NEVER;
            schedule.clear_timer(kind, connection);
        }
    }

    /// Returns true if a deadline is set.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.deadline != Time::NEVER
    }

    /// Returns the deadline; [`Time::NEVER`] if none is set.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns true if the timer expires at `now`; the deadline is then cleared.
    pub(crate) fn expires(&mut self, now: Time) -> bool {
        let expires = self.deadline == now;
        if expires {
            self.deadline = Time::NEVER;
        }
        expires
    }
}

/// Number of a block: the timers of 64 consecutive numbers of connections, either all opened by traffic or none. A
/// connection that traffic has opened takes four numbers: two directions with two legs each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(pub(super) u32);

/// Deadlines of all timers of one kind.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// Two tables of deadlines: for connections of flows and proxies, and for connections opened by traffic sources.
    tables: [Table; 2],
}

impl Deadlines {
    /// Sets a connection's deadline. Returns the connection's block of timers if an event must be scheduled for it.
    #[inline]
    pub(super) fn set(&mut self, connection: u32, deadline: Time) -> Option<Block> {
        let (table, place) = Self::place(connection);
        let enters = self.tables[table].set(place, deadline);
        enters.then_some(Block(connection & OPENED | (place / Table::BLOCK) as u32))
    }

    /// Clears a connection's deadline.
    #[inline]
    pub(super) fn clear(&mut self, connection: u32) {
        let (table, place) = Self::place(connection);
        self.tables[table].deadlines[place] = Time::NEVER;
    }

    /// Returns a connection's table, and its index in this table.
    #[inline]
    fn place(connection: u32) -> (usize, usize) {
        if connection & OPENED == 0 {
            (0, connection as usize)
        } else {
            (1, (connection & ((1 << OPENED_BITS) - 1)) as usize)
        }
    }

    /// Clears all deadlines of a connection that traffic has opened.
    pub(super) fn forget(&mut self, connection: u32) {
        debug_assert!(connection & OPENED != 0, "others are never over");
        let first = (connection & ((1 << OPENED_BITS) - 1) & !3) as usize;
        let deadlines = &mut self.tables[1].deadlines;
        let own = first.min(deadlines.len())..(first + 4).min(deadlines.len());
        deadlines[own].fill(Time::NEVER);
    }

    /// Processes the event of a block of timers. Returns the first connection whose timer expires at `now`, and the
    /// time for which the caller must schedule the block again; [`Time::NEVER`] if no deadline is left, or if the event
    /// is out of date. The number of a traffic connection is returned without its generation.
    pub(super) fn take(&mut self, block: Block, now: Time) -> (Option<u32>, Time) {
        let opened = block.0 & OPENED;
        let table = &mut self.tables[usize::from(opened != 0)];
        let (place, next) = table.take((block.0 & !OPENED) as usize, now);
        (place.map(|place| opened | place as u32), next)
    }
}

/// Deadlines, by the index of a connection.
#[derive(Debug, Default)]
struct Table {
    /// Deadlines; [`Time::NEVER`] if none is set.
    deadlines: Vec<Time>,
    /// Time of the next event of each block of timers. Events of the block at other times are out of date.
    entries: Vec<Time>,
}

impl Table {
    /// Number of timers in a block.
    const BLOCK: usize = 64;

    /// Sets the deadline of the timer `place`. Returns true if the timer's block has no event scheduled by `deadline`.
    #[inline]
    fn set(&mut self, place: usize, deadline: Time) -> bool {
        if place >= self.deadlines.len() {
            self.grow(place);
        }
        self.deadlines[place] = deadline;
        let entry = &mut self.entries[place / Self::BLOCK];
        let enters = deadline < *entry;
        if enters {
            *entry = deadline;
        }
        enters
    }

    #[cold]
    fn grow(&mut self, place: usize) {
        self.deadlines.resize(place + 1, Time::NEVER);
        self.entries.resize(place / Self::BLOCK + 1, Time::NEVER);
    }

    fn take(&mut self, block: usize, now: Time) -> (Option<usize>, Time) {
        if self.entries[block] != now {
            return (None, Time::NEVER);
        }
        let begin = block * Self::BLOCK;
        let end = self.deadlines.len().min(begin + Self::BLOCK);
        let members = &mut self.deadlines[begin..end];
        let mut next = earliest(members);
        let mut due = None;
        // Usually no timer is due any more, since deadlines have been postponed.
        if next == now
            && let Some(place) = members.iter().position(|&deadline| deadline == now)
        {
            members[place] = Time::NEVER;
            due = Some(begin + place);
            next = earliest(members);
        }
        self.entries[block] = next;
        (due, next)
    }
}

/// Returns the earliest of `deadlines`. Several are compared at a time, for instruction-level parallelism.
fn earliest(deadlines: &[Time]) -> Time {
    const ABREAST: usize = 4;
    let (groups, rest) = deadlines.as_chunks::<ABREAST>();
    let mut least = [Time::NEVER; ABREAST];
    for group in groups {
        for (least, deadline) in least.iter_mut().zip(group) {
            *least = (*least).min(*deadline);
        }
    }
    let all = least.iter().chain(rest).copied();
    all.min().unwrap_or(Time::NEVER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the id of connection `number`. Connections 0 to 69 exist from the beginning; traffic opens the others.
    /// The number 70 is chosen so that the timers take more than one block.
    fn connection(number: usize) -> u32 {
        let place = (number % 70) as u32;
        if number < 70 {
            place
        } else {
            OPENED | 7 << OPENED_BITS | place
        }
    }

    #[test]
    fn a_stopped_timer_has_no_event_and_a_cancelled_one_does() {
        let first_event = |stops: bool| {
            let mut schedule = Schedule::default();
            let of = (Kind::DelayedAck, connection(70));
            let mut timer = Timer::IDLE;
            timer.set(Time::from_ps(5), of, &mut schedule);
            match stops {
                true => timer.stop(of, &mut schedule),
                false => timer.cancel(),
            }
            assert!(!timer.is_set());
            schedule.push_observation(Time::from_ps(9), Event::End);
            schedule.next()
        };
        assert_eq!(first_event(true), (Time::from_ps(9), Event::End));
        let expired = Event::DelayedAckTimer(OPENED);
        assert_eq!(first_event(false), (Time::from_ps(5), expired));
    }

    proptest! {
        /// Checks that each valid deadline is reported exactly once, in the order of time. Equal deadlines are reported
        /// in the order of the timers' kinds. Deadlines are set and cancelled at random.
        #[test]
        fn deadlines_that_stand_come_once_and_in_order(
            steps in prop::collection::vec((0usize..140, 0usize..3, 0u64..40, 0u64..12), 1..300),
        ) {
            let mut schedule = Schedule::default();
            let mut timers = Kind::ALL.map(|_| vec![Timer::IDLE; 140]);
            let mut model: [Vec<Option<u64>>; 3] = Kind::ALL.map(|_| vec![None; 140]);
            let mut now = 0;
            let end = Time::from_ps(1_000_000);
            schedule.push_observation(end, Event::End);
            let mut events = Vec::new();
            let mut step = |number: usize, kind: usize, after: u64, wait: u64, now: &mut u64| {
                let deadline = *now + after;
                let of = (Kind::ALL[kind], connection(number));
                if after == 0 {
                    match number % 2 {
                        0 => timers[kind][number].cancel(),
                        _ => timers[kind][number].stop(of, &mut schedule),
                    }
                    model[kind][number] = None;
                } else {
                    timers[kind][number].set(Time::from_ps(deadline), of, &mut schedule);
                    model[kind][number] = Some(deadline);
                }
                *now += wait;
                let stop = Time::from_ps(*now);
                schedule.push_observation(stop, Event::Progress);
                loop {
                    let (at, event) = schedule.next();
                    let (kind, index) = match event {
                        Event::RackTlpTimer(index) => (0, index),
                        Event::RetransmissionTimer(index) => (1, index),
                        Event::DelayedAckTimer(index) => (2, index),
                        _ => break,
                    };
                    let place = (index & !OPENED) as usize;
                    let number = if index & OPENED == 0 { place } else { 70 + place };
                    if timers[kind][number].expires(at) {
                        events.push((at.as_ps(), kind, number));
                    }
                }
                let mut due = Vec::new();
                for (kind, deadlines) in model.iter_mut().enumerate() {
                    for (number, deadline) in deadlines.iter_mut().enumerate() {
                        if deadline.is_some_and(|deadline| deadline <= *now) {
                            due.push((deadline.take().unwrap_or_default(), kind, number));
                        }
                    }
                }
                due.sort_unstable();
                (std::mem::take(&mut events), due)
            };
            for (number, kind, after, wait) in steps {
                let (events, due) = step(number, kind, after, wait, &mut now);
                prop_assert_eq!(events, due);
            }
        }
    }
}
