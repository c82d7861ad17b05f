//! Timers of flows.
//!
//! A flow has one entry for its retransmission timer; when it is due and the deadline has moved
//! meanwhile, it is entered again. Entries of closed flows are told by their generation.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::network::FlowId;
use longhaul_engine::Heap;

/// A timer of a flow. Those due at the same time expire in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Its SYN or retransmission timer may have expired.
    Expiry,
    /// Its packet interval had not elapsed; it may send.
    Pace,
    /// It begins.
    Begin,
    /// It stops.
    Stop,
}

impl Timer {
    const ALL: [Self; 4] = [Self::Expiry, Self::Pace, Self::Begin, Self::Stop];
    const SHIFT: u32 = 60;
}

/// All timers of a region.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timers {
    heap: Heap,
}

impl Timers {
    /// When the next timer is due; never if there is none.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        Time::from_ps((self.heap.first() >> 64) as u64)
    }

    /// Sets a timer.
    pub(crate) fn push(&mut self, time: Time, timer: Timer, flow: FlowId) {
        let class = (timer as u64) << Timer::SHIFT;
        let tag = class | u64::from(flow.generation) << 32 | u64::from(flow.slot);
        self.heap
            .push(u128::from(time.as_ps()) << 64 | u128::from(tag));
    }

    /// Removes the next timer.
    pub(crate) fn take(&mut self) -> (Time, Timer, FlowId) {
        let (time, tag) = (self.first(), self.heap.first() as u64);
        self.heap.remove_first();
        let flow = FlowId {
            slot: tag as u32,
            generation: (tag >> 32) as u16,
        };
        let class = (tag >> Timer::SHIFT) as usize;
        (time, Timer::ALL[class % Timer::ALL.len()], flow)
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
            (9, Timer::Stop),
            (5, Timer::Begin),
            (5, Timer::Pace),
            (5, Timer::Expiry),
            (2, Timer::Begin),
        ] {
            timers.push(at(time), timer, flow);
        }
        let order: Vec<_> = (0..5).map(|_| timers.take()).collect();
        let expected = [
            (2, Timer::Begin),
            (5, Timer::Expiry),
            (5, Timer::Pace),
            (5, Timer::Begin),
            (9, Timer::Stop),
        ];
        assert_eq!(order, expected.map(|(time, timer)| (at(time), timer, flow)));
        assert_eq!(timers.first(), Time::NEVER);
    }
}
