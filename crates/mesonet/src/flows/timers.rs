//! Timers of flows.
//!
//! A flow has one valid entry for its retransmission timer, which does not move to a later deadline.
//! If the entry is due before the deadline, it is added again for the deadline. For an earlier deadline,
//! another entry is added, and the old one is stale. Entries of closed flows are recognised by their
//! generation.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::calendar::{Calendar, Key, time_of};
use crate::network::FlowId;
use longhaul_kernel::Heap;

/// A timer of a flow. Simultaneous timers expire in the order of these variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The SYN or retransmission timer of the flow may have expired.
    Expiry,
    /// The time until the flow may send its next packet is over: the pacing time of the algorithm or, rarely, the rest
    /// of the host's packet interval. Most packet intervals of hosts are timed by the network instead.
    Pace,
    Begin,
    Stop,
}

impl Timer {
    const ALL: [Self; 4] = [Self::Expiry, Self::Pace, Self::Begin, Self::Stop];
    const SHIFT: u32 = 60;
}

/// All timers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timers {
    calendar: Calendar,
    /// Timers that are due in the current window of simulated time.
    heap: Heap,
}

/// Number of windows in the calendar. With the longest windows (3 ms), they cover 0.77 s together,
/// which is longer than most timeouts.
const SLOTS: usize = 256;

impl Timers {
    pub(crate) fn new(window: Span) -> Self {
        Self {
            calendar: Calendar::new(SLOTS, window),
            heap: Heap::default(),
        }
    }

    /// Returns the time of the first timer in the current window; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        time_of(self.heap.first())
    }

    /// Adds an entry for `timer` of a flow at the time `time`. Other entries of the flow remain.
    pub(crate) fn push(&mut self, time: Time, timer: Timer, flow: FlowId) {
        let class = (timer as u64) << Timer::SHIFT;
        let tag = class | u64::from(flow.generation) << 32 | u64::from(flow.slot);
        self.push_key(Key::from(time.as_ps()) << 64 | Key::from(tag));
    }

    fn push_key(&mut self, key: Key) {
        if !self.calendar.push(key) {
            self.heap.push(key);
        }
    }

    /// Begins the next window of simulated time. Postpones each retransmission timer that is due in this window:
    /// `postponed` returns the new time for the timer's time and flow, or [`Time::NEVER`] to drop the timer.
    pub(crate) fn begin_window(&mut self, mut postponed: impl FnMut(Time, FlowId) -> Time) {
        for key in self.calendar.take_window() {
            let (time, timer, flow) = parts(key);
            if timer != Timer::Expiry {
                self.heap.push(key);
                continue;
            }
            match postponed(time, flow) {
                Time::NEVER => {}
                later => self.push(later, timer, flow),
            }
        }
    }

    /// Removes the first timer in the current window of simulated time, and returns its time, kind and flow.
    pub(crate) fn take(&mut self) -> (Time, Timer, FlowId) {
        let key = self.heap.first();
        self.heap.remove_first();
        parts(key)
    }
}

fn parts(key: Key) -> (Time, Timer, FlowId) {
    let tag = key as u64;
    let flow = FlowId {
        slot: tag as u32,
        generation: (tag >> 32) as u16,
    };
    let class = (tag >> Timer::SHIFT) as usize;
    (time_of(key), Timer::ALL[class % Timer::ALL.len()], flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_expire_in_order_of_time_then_kind() {
        let flow = FlowId {
            slot: u32::MAX,
            generation: u16::MAX,
        };
        let mut timers = Timers::new(Span::from_ps(6));
        let at = Time::from_ps;
        for (time, timer) in [
            (9, Timer::Stop),
            (5, Timer::Begin),
            (5, Timer::Pace),
            (5, Timer::Expiry),
            (2, Timer::Begin),
        ] {
            timers.push(at(time), timer, flow);
        }
        let mut order = Vec::new();
        for _ in 0..2 {
            timers.begin_window(|time, _| time);
            while timers.first() < Time::NEVER {
                order.push(timers.take());
            }
        }
        let expected = [
            (2, Timer::Begin),
            (5, Timer::Expiry),
            (5, Timer::Pace),
            (5, Timer::Begin),
            (9, Timer::Stop),
        ];
        assert_eq!(order, expected.map(|(time, timer)| (at(time), timer, flow)));
    }

    #[test]
    fn a_timer_whose_deadline_has_moved_is_set_anew() {
        let flow = FlowId {
            slot: 1,
            generation: 2,
        };
        let (at, mut timers) = (Time::from_ps, Timers::new(Span::from_ps(10)));
        timers.push(at(15), Timer::Expiry, flow);
        timers.push(at(16), Timer::Expiry, flow);
        let mut found = Vec::new();
        for window in 1..6 {
            timers.begin_window(|time, _| match time.as_ps() {
                15 => at(35),
                16 => Time::NEVER,
                _ => time,
            });
            while timers.first() < Time::NEVER {
                found.push((window, timers.take().0));
            }
        }
        assert_eq!(found, [(4, at(35))]);
    }
}
