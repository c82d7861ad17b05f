//! Timers of flows and sources.
//!
//! A flow has one entry for its retransmission timer; when it is due and the deadline has moved
//! meanwhile, it is entered again. Entries of closed flows are told by their generation.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::network::FlowId;
use longhaul_engine::Heap;

/// A timer. Those due at the same time expire in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A flow's SYN or retransmission timer may have expired.
    Expiry(FlowId),
    /// A source whose packet interval had not elapsed may send.
    Pace(FlowId),
    /// A source requests a file.
    Request(u32),
    /// A long-lived flow starts.
    Start(u32),
    /// A long-lived flow stops.
    Stop(u32),
}

impl Timer {
    const CLASS_SHIFT: u32 = 60;

    fn tag(self) -> u64 {
        let flow = |flow: FlowId| u64::from(flow.generation) << 32 | u64::from(flow.slot);
        let (class, index) = match self {
            Self::Expiry(id) => (0, flow(id)),
            Self::Pace(id) => (1, flow(id)),
            Self::Request(source) => (2, u64::from(source)),
            Self::Start(number) => (3, u64::from(number)),
            Self::Stop(number) => (4, u64::from(number)),
        };
        class << Self::CLASS_SHIFT | index
    }

    fn from_tag(tag: u64) -> Self {
        let slot = tag as u32;
        let generation = (tag >> 32) as u16;
        match tag >> Self::CLASS_SHIFT {
            0 => Self::Expiry(FlowId { slot, generation }),
            1 => Self::Pace(FlowId { slot, generation }),
            2 => Self::Request(slot),
            3 => Self::Start(slot),
            _ => Self::Stop(slot),
        }
    }
}

/// When the timer of a key is due; never for an empty heap's key.
#[inline]
fn time_of(key: u128) -> Time {
    Time::from_ps((key >> 64) as u64)
}

/// All timers. Those of flows, which change often, have a heap of their own, separate from that of hundreds of
/// thousands of thinking sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timers {
    flows: Heap,
    users: Heap,
}

impl Timers {
    /// When the next timer is due; never if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        time_of(self.flows.first().min(self.users.first()))
    }

    /// Sets a timer.
    pub(crate) fn push(&mut self, time: Time, timer: Timer) {
        let key = u128::from(time.as_ps()) << 64 | u128::from(timer.tag());
        match timer {
            Timer::Expiry(_) | Timer::Pace(_) => self.flows.push(key),
            Timer::Request(_) | Timer::Start(_) | Timer::Stop(_) => self.users.push(key),
        }
    }

    /// Removes the next timer.
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
    fn timers_expire_in_order_of_time_then_kind() {
        let flow = FlowId {
            slot: u32::MAX,
            generation: u16::MAX,
        };
        let mut timers = Timers::default();
        let at = Time::from_ps;
        for (time, timer) in [
            (9, Timer::Stop(1)),
            (5, Timer::Request(7)),
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
            Timer::Request(7),
            Timer::Stop(1),
        ];
        assert_eq!(order, expected);
        assert_eq!(timers.first(), Time::NEVER);
    }
}
