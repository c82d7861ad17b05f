//! Timers: what happens at a time of its own, and not because a packet comes.
//!
//! A flow has one entry for its retransmission timer, which is looked at when it comes up: it is put
//! back if the timer has been moved on meanwhile. Entries of flows that are over are known by their
//! life.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::network::FlowId;
use longhaul_engine::Heap;

/// What happens. At one time, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A flow's SYN or retransmission timer may have expired.
    Expiry(FlowId),
    /// A source whose host was busy may send.
    Pace(FlowId),
    /// A source asks for a file.
    Ask(u32),
    /// A long-lived flow starts.
    Start(u32),
    /// A long-lived flow stops.
    Stop(u32),
}

impl Timer {
    const CLASS_SHIFT: u32 = 60;

    fn tag(self) -> u64 {
        let flow = |flow: FlowId| u64::from(flow.life) << 32 | u64::from(flow.place);
        let (class, index) = match self {
            Self::Expiry(id) => (0, flow(id)),
            Self::Pace(id) => (1, flow(id)),
            Self::Ask(source) => (2, u64::from(source)),
            Self::Start(number) => (3, u64::from(number)),
            Self::Stop(number) => (4, u64::from(number)),
        };
        class << Self::CLASS_SHIFT | index
    }

    fn from_tag(tag: u64) -> Self {
        let place = tag as u32;
        let life = (tag >> 32) as u16;
        match tag >> Self::CLASS_SHIFT {
            0 => Self::Expiry(FlowId { place, life }),
            1 => Self::Pace(FlowId { place, life }),
            2 => Self::Ask(place),
            3 => Self::Start(place),
            _ => Self::Stop(place),
        }
    }
}

/// When the timer of a key is due; never for the key of no timer.
#[inline]
fn time_of(key: u128) -> Time {
    Time::from_ps((key >> 64) as u64)
}

/// All timers, in order. Those of flows, which come and go, are kept apart from those of hundreds of
/// thousands of sources that think.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timers {
    flows: Heap,
    users: Heap,
}

impl Timers {
    /// When the first one is due; never if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        time_of(self.flows.first().min(self.users.first()))
    }

    /// Sets one.
    pub(crate) fn push(&mut self, time: Time, timer: Timer) {
        let key = u128::from(time.as_ps()) << 64 | u128::from(timer.tag());
        match timer {
            Timer::Expiry(_) | Timer::Pace(_) => self.flows.push(key),
            Timer::Ask(_) | Timer::Start(_) | Timer::Stop(_) => self.users.push(key),
        }
    }

    /// Takes the first one.
    pub(crate) fn take(&mut self) -> (Time, Timer) {
        let (flows, users) = (self.flows.first(), self.users.first());
        if flows < users {
            self.flows.remove_first();
        } else {
            self.users.remove_first();
        }
        let key = flows.min(users);
        (time_of(key), Timer::from_tag(key as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_up_in_order_as_they_were_set() {
        let flow = FlowId {
            place: u32::MAX,
            life: u16::MAX,
        };
        let mut timers = Timers::default();
        let at = Time::from_ps;
        for (time, timer) in [
            (9, Timer::Stop(1)),
            (5, Timer::Ask(7)),
            (5, Timer::Pace(flow)),
            (5, Timer::Expiry(flow)),
            (2, Timer::Start(3)),
        ] {
            timers.push(at(time), timer);
        }
        assert_eq!(timers.first(), at(2));
        let order: Vec<_> = (0..5).map(|_| timers.take().1).collect();
        let expected = [
            Timer::Start(3),
            Timer::Expiry(flow),
            Timer::Pace(flow),
            Timer::Ask(7),
            Timer::Stop(1),
        ];
        assert_eq!(order, expected);
        assert_eq!(timers.first(), Time::NEVER);
    }
}
