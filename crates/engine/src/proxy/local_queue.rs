//! The queue in front of a proxy's receivers: a queue discipline outside a link.
//!
//! What it drops is never acknowledged, so that senders notice and slow down (master thesis, University of Innsbruck, 2009; docs/proxy.md).

use std::collections::VecDeque;

use longhaul_units::{PS_PER_S, Time};

use crate::measure::{LinkCounters, LinkSample};
use crate::packet::{Flags, Packet};
use crate::queue::{Arrival, DropReason, Queue, Verdict};

/// Packets that wait until a proxy takes them.
#[derive(Debug)]
pub(super) struct LocalQueue {
    discipline: Queue,
    /// Their `time` is when they came.
    packets: VecDeque<Packet>,
    bytes: u64,
    /// Since when there have been none, if there are none.
    empty_since: Option<Time>,
    /// Waits that are over, in picoseconds.
    waited_ps: u128,
    /// But for the integral.
    counters: LinkCounters,
}

impl LocalQueue {
    pub(super) fn new(discipline: Queue) -> Self {
        Self {
            discipline,
            packets: VecDeque::new(),
            bytes: 0,
            empty_since: Some(Time::ZERO),
            waited_ps: 0,
            counters: LinkCounters::default(),
        }
    }

    /// Another discipline decides from now on; what waits stays.
    pub(super) fn replace_discipline(&mut self, discipline: Queue) {
        self.discipline = discipline;
    }

    /// Takes in or drops a packet that has just come; says whether it is taken in.
    pub(super) fn push(&mut self, mut packet: Packet) -> bool {
        let bytes = u64::from(packet.bytes);
        self.counters.arrived_pkts += 1;
        self.counters.arrived_bytes += bytes;
        let verdict = self.discipline.on_arrival(&Arrival {
            now: packet.time,
            bytes: packet.bytes.into(),
            ecn_capable: packet.flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts: self.packets.len() as u64,
            waiting_bytes: self.bytes,
            idle_since: self.empty_since,
        });
        match verdict {
            Verdict::Accept => {}
            Verdict::AcceptMarked => {
                packet.flags = packet.flags.with(Flags::CE);
                self.counters.marked_pkts += 1;
            }
            Verdict::Drop(reason) => {
                self.count_drop(reason);
                return false;
            }
        }
        self.empty_since = None;
        self.bytes += bytes;
        self.packets.push_back(packet);
        let waiting = self.packets.len() as u64;
        self.counters.queue_max_pkts = self.counters.queue_max_pkts.max(waiting);
        true
    }

    fn count_drop(&mut self, reason: DropReason) {
        let counters = &mut self.counters;
        *match reason {
            DropReason::Loss => &mut counters.dropped_loss_pkts,
            DropReason::Overflow => &mut counters.dropped_overflow_pkts,
            DropReason::Early => &mut counters.dropped_early_pkts,
            DropReason::Forced => &mut counters.dropped_forced_pkts,
        } += 1;
    }

    /// The packet that has waited longest.
    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Takes it out.
    pub(super) fn pop(&mut self, now: Time) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        self.waited_ps += u128::from(now.since(packet.time).as_ps());
        self.counters.departed_pkts += 1;
        self.counters.departed_bytes += u64::from(packet.bytes);
        self.empty_since = self.packets.is_empty().then_some(now);
        Some(packet)
    }

    /// Counters up to `now`.
    pub(super) fn counters(&self, now: Time) -> LinkCounters {
        let waits = self.packets.iter().map(|packet| now.since(packet.time));
        let waiting_ps: u128 = waits.map(|wait| u128::from(wait.as_ps())).sum();
        LinkCounters {
            queue_integral: (self.waited_ps + waiting_ps) as f64 / PS_PER_S as f64,
            transmitted_bytes: self.counters.departed_bytes as f64,
            ..self.counters
        }
    }

    /// Restarts the record of the largest queue; returns the largest so far.
    pub(super) fn restart_maximum(&mut self) -> u64 {
        let waiting = self.packets.len() as u64;
        std::mem::replace(&mut self.counters.queue_max_pkts, waiting)
    }

    /// State up to `now` for the time series, as that of link number `id`.
    pub(super) fn sample(&self, id: u32, now: Time) -> LinkSample {
        let counters = self.counters(now);
        let state = self.discipline.state();
        LinkSample {
            time: now,
            link: id,
            queue_pkts: self.packets.len() as u64,
            queue_bytes: self.bytes,
            queue_avg_pkts: state.average_pkts,
            max_p: state.max_p,
            drop_p: state.drop_p,
            queue_integral: counters.queue_integral,
            departed_pkts: counters.departed_pkts,
            departed_bytes: counters.departed_bytes,
            transmitted_bytes: counters.transmitted_bytes,
            dropped_pkts: counters.dropped_pkts(),
            marked_pkts: counters.marked_pkts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SackHandle;
    use crate::queue::{Capacity, DropTail};
    use longhaul_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn packet(number: u64, time: Time) -> Packet {
        Packet {
            time,
            ns2_s: 0.0,
            seq: number,
            stamp: time,
            flow: 0,
            route: 0,
            sack: SackHandle::NONE,
            bytes: 1000,
            flags: Flags::NONE,
        }
    }

    fn drop_tail(packets: u64) -> Queue {
        Queue::DropTail(DropTail::new(Capacity::Packets(packets)))
    }

    #[test]
    fn waits_and_drops_are_counted() {
        let mut queue = LocalQueue::new(drop_tail(2));
        assert!(queue.push(packet(0, at(0))));
        assert!(queue.push(packet(1, at(10))));
        assert!(!queue.push(packet(2, at(20))));
        assert_eq!(queue.pop(at(30)).map(|packet| packet.seq), Some(0));
        // 30 ms of the first, 90 of the second so far.
        let counters = queue.counters(at(100));
        assert!((counters.queue_integral - 0.120).abs() < 1e-12);
        assert_eq!((counters.arrived_pkts, counters.departed_pkts), (3, 1));
        assert_eq!(
            (counters.dropped_overflow_pkts, counters.queue_max_pkts),
            (1, 2)
        );
        let sample = queue.sample(0, at(100));
        assert_eq!((sample.queue_pkts, sample.queue_bytes), (1, 1000));
    }

    #[test]
    fn another_limit_counts_from_the_next_arrival() {
        let mut queue = LocalQueue::new(drop_tail(3));
        assert!((0..3).all(|number| queue.push(packet(number, at(number)))));
        queue.replace_discipline(drop_tail(1));
        assert!(!queue.push(packet(3, at(3))));
        assert!(queue.pop(at(4)).is_some() && queue.pop(at(4)).is_some());
        assert!(!queue.push(packet(4, at(5))));
        assert!(queue.pop(at(6)).is_some());
        assert!(queue.push(packet(5, at(7))));
    }
}
