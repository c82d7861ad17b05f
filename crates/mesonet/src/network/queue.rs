//! A drop-tail queue served at a fixed rate: one cache line, however many packets it holds.
//!
//! Packets have no size, so the time when the server becomes idle is the whole state. If the queue
//! is empty, the next packet departs one service time after its arrival. Otherwise, it departs one
//! service time after the server would have become idle. The queue length is the remaining work
//! divided by the service time, rounded up. No packet is stored, and a departure is no event.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::PacketRate;
use crate::records::QueueSample;

/// The state of a queue and its server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DropTailQueue {
    /// Time when the server becomes idle, rounded down to a picosecond.
    busy_until: Time,
    /// Rounding error of `busy_until`, in units of 2^-32 ps.
    fraction: u32,
    /// Fraction of a picosecond in the service time, in units of 2^-32 ps. It makes the mean rate
    /// exact.
    step: u32,
    service: Span,
    /// Maximum remaining work of the server, in time, with which the queue still accepts a packet.
    limit: Span,
    arrived: u64,
    dropped: u64,
}

/// Part of `DropTailQueue::limit` that exceeds the service of `buffer - 1` packets. It is tolerated because
/// times are rounded to picoseconds.
const ROUNDING: Span = Span::from_ps(1);

impl DropTailQueue {
    /// Returns a queue with room for `buffer` packets, including the packet in service.
    pub(crate) fn new(capacity: PacketRate, buffer: u64) -> Self {
        const UNIT: f64 = (1_u64 << 32) as f64;
        let exact = longhaul_units::PS_PER_S as f64 / capacity.as_per_s();
        let whole = libm::floor(exact);
        let service = Span::from_ps(whole as u64);
        let step = libm::round((exact - whole) * UNIT).min(UNIT - 1.0) as u32;
        let work = u128::from(buffer - 1) * (u128::from(service.as_ps()) << 32 | u128::from(step));
        Self {
            busy_until: Time::ZERO,
            fraction: 0,
            step,
            service,
            limit: Span::from_ps(u64::try_from(work >> 32).unwrap_or(u64::MAX >> 1)) + ROUNDING,
            arrived: 0,
            dropped: 0,
        }
    }

    /// Queues a packet that arrives at `now`. Returns its departure time; `None` if the queue is
    /// full. A packet that departs at `now` makes room first.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Time) -> Option<Time> {
        self.arrived += 1;
        let work = self.busy_until.since(now);
        if work > self.limit {
            self.dropped += 1;
            return None;
        }
        let (fraction, carry) = self.fraction.overflowing_add(self.step);
        self.fraction = fraction;
        let ps = now.as_ps() + work.as_ps() + self.service.as_ps() + u64::from(carry);
        self.busy_until = Time::from_ps(ps);
        Some(self.busy_until)
    }

    /// Returns the counters and the length of the queue at `now`. No arrival so far may be later than `now`.
    pub(crate) fn sample(&self, now: Time) -> QueueSample {
        let each = u128::from(self.service.as_ps()) << 32 | u128::from(self.step);
        // Departures after `now` are the last one, and the earlier ones that fit into the time
        // until then.
        let work = self.busy_until.since(now).as_ps();
        let waiting = match work.checked_sub(1) {
            None => 0,
            Some(beyond) => {
                let beyond = u128::from(beyond) << 32 | u128::from(self.fraction);
                (beyond / each) as u64 + 1
            }
        };
        QueueSample {
            waiting,
            arrived: self.arrived,
            forwarded: self.arrived - self.dropped - waiting,
            dropped: self.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use longhaul_kernel::random::Randomness;
    use longhaul_kernel::random::Streams;

    #[test]
    fn a_queue_takes_one_cache_line() {
        assert!(size_of::<DropTailQueue>() <= 64);
    }

    /// Checks that departures and drops equal those of a queue that stores its packets.
    #[test]
    fn departures_and_drops_are_those_of_a_queue_that_stores_packets() {
        // At 2100 packets per second, a service takes a whole number of 21sts of a picosecond.
        const UNIT: u64 = 21;
        let mut stream = Streams::new(1, 0, Randomness::Streams).component("test");
        let buffer = 7;
        let mut server = DropTailQueue::new(PacketRate::per_ms(2.1), buffer);
        let service = 1_000_000_000_000 * UNIT / 2100;
        let mut queue: VecDeque<u64> = VecDeque::new();
        let (mut now, mut last, mut dropped) = (0, 0, 0);
        for _ in 0..100_000 {
            now += (-libm::log(1.0 - stream.uniform()) * 1e12 / 3000.0) as u64;
            while queue
                .front()
                .is_some_and(|&departure| departure < (now + 1) * UNIT)
            {
                queue.pop_front();
            }
            let at = Time::from_ps(now);
            assert_eq!(server.sample(at).waiting, queue.len() as u64);
            let found = server.enqueue(at);
            if queue.len() as u64 >= buffer {
                assert_eq!(found, None);
                dropped += 1;
                continue;
            }
            last = last.max(now * UNIT) + service;
            queue.push_back(last);
            let found = found.expect("there is room").as_ps() * UNIT;
            assert!(found.abs_diff(last) < 2 * UNIT, "{found} for {last}");
        }
        let sample = server.sample(Time::from_ps(now));
        assert!(dropped > 20_000);
        assert_eq!((sample.arrived, sample.dropped), (100_000, dropped));
        assert_eq!(sample.forwarded + sample.waiting + dropped, 100_000);
    }

    /// Checks that the mean rate is the capacity, although service times are not whole picoseconds:
    /// 2,400 packets in a millisecond take 416,666.67 ps each.
    #[test]
    fn the_mean_rate_is_the_capacity() {
        let mut server = DropTailQueue::new(PacketRate::per_ms(2400.0), u64::MAX >> 20);
        let last = (0..24_000_000)
            .filter_map(|_| server.enqueue(Time::ZERO))
            .last();
        let error = last.expect("served").as_ps().abs_diff(10_000_000_000_000);
        assert!(error <= 10, "{error} ps in ten seconds");
    }

    /// Checks that a full queue accepts a packet that arrives at the time of a departure.
    #[test]
    fn a_departure_makes_room_at_once() {
        let mut server = DropTailQueue::new(PacketRate::per_ms(3.0), 2);
        let first = server.enqueue(Time::ZERO).expect("empty");
        assert!(server.enqueue(Time::ZERO).is_some());
        assert!(server.enqueue(Time::ZERO).is_none());
        assert!(server.enqueue(Time::from_ps(first.as_ps() - 2)).is_none());
        assert!(server.enqueue(first).is_some());
    }
}
