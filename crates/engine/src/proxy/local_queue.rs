//! The queue in front of a proxy's receivers: a queue discipline that is not part of a link.
//!
//! Dropped packets are not acknowledged: their senders reduce their rates (master thesis, University of Innsbruck,
//! 2009; docs/proxy.md).

use std::collections::VecDeque;

use longhaul_units::Time;

use crate::config::Work;
use crate::measure::{LinkCounters, LinkSample};
use crate::packet::{Flags, Packet};
use crate::queue::{
    AqmState, Arrival, BufferedQueue, DropReason, Effects, PacketQueue, Queue, Verdict,
};

/// Packets that wait until a proxy takes them.
#[derive(Debug)]
pub(super) struct LocalQueue {
    held: Held,
    /// Number of waiting packets.
    waiting_pkts: u64,
    /// Bytes of the waiting packets.
    waiting_bytes: u64,
    /// Time since which the queue has been empty; `None` if it is not empty.
    empty_since: Option<Time>,
    /// Integral of the number of waiting packets, in packets times picoseconds, up to the time `integrated`.
    integral_ps: u128,
    integrated: Time,
    /// Counters of the queue. The integral and `transmitted` are added by [`Self::counters`]; `queue_found_pkts` stays
    /// zero.
    counters: LinkCounters,
    /// Buffer, reused, for the discipline's drops and marks of packets that it had accepted.
    effects: Effects,
    /// Accepted packets that the discipline has dropped since the last call of [`Self::dropped`].
    dropped: Vec<Packet>,
}

/// Store of the waiting packets.
#[derive(Debug)]
enum Held {
    /// A discipline that only decides about arriving packets, and the packets, which are stored here. A packet's `time`
    /// is its arrival time.
    Here {
        discipline: Queue,
        packets: VecDeque<Packet>,
    },
    /// A discipline that stores the packets, and `next`: the packet that has left the discipline, but not the queue.
    ByDiscipline {
        queue: Box<BufferedQueue>,
        next: Option<Packet>,
    },
}

impl LocalQueue {
    pub(super) fn new(discipline: Queue) -> Self {
        Self {
            held: match discipline {
                Queue::Buffered(queue) => Held::ByDiscipline { queue, next: None },
                discipline => Held::Here {
                    discipline,
                    packets: VecDeque::new(),
                },
            },
            waiting_pkts: 0,
            waiting_bytes: 0,
            empty_since: Some(Time::ZERO),
            integral_ps: 0,
            integrated: Time::ZERO,
            counters: LinkCounters::default(),
            effects: Effects::default(),
            dropped: Vec::new(),
        }
    }

    /// Replaces the discipline by `other`; waiting packets stay. Both must decide on arrival; a discipline that stores
    /// packets is not replaced.
    pub(super) fn replace_discipline(&mut self, other: Queue) {
        if let Held::Here { discipline, .. } = &mut self.held {
            *discipline = other;
        }
    }

    /// Accepts or drops a packet that arrives; returns true if it is accepted.
    pub(super) fn push(&mut self, mut packet: Packet) -> bool {
        let (now, bytes) = (packet.time, u64::from(packet.bytes));
        self.counters.arrived_pkts += 1;
        self.counters.arrived_bytes += bytes;
        let arrival = Arrival {
            now,
            bytes: packet.bytes.into(),
            ecn_capable: packet.flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts: self.waiting_pkts,
            waiting_bytes: self.waiting_bytes,
            idle_since: self.empty_since,
        };
        let refused = match &mut self.held {
            Held::Here {
                discipline,
                packets,
            } => match discipline.on_arrival(&arrival) {
                Verdict::Drop(reason) => Some(reason),
                verdict => {
                    if verdict == Verdict::AcceptMarked {
                        packet.flags = packet.flags.with(Flags::CE);
                        self.counters.marked_pkts += 1;
                    }
                    packets.push_back(packet);
                    None
                }
            },
            Held::ByDiscipline { queue, .. } => {
                queue.enqueue(packet, &arrival, &mut self.effects).err()
            }
        };
        if let Some(reason) = refused {
            self.count_drop(reason);
            return false;
        }
        self.change(now, 1, bytes as i64);
        self.count_effects(now);
        self.counters.queue_max_pkts = self.counters.queue_max_pkts.max(self.waiting_pkts);
        true
    }

    /// Returns the next packet for the proxy, which [`Self::pop`] removes. The discipline may drop packets before it.
    pub(super) fn first(&mut self, now: Time) -> Option<Packet> {
        match &mut self.held {
            Held::Here { packets, .. } => packets.front().copied(),
            Held::ByDiscipline { queue, next } => {
                if next.is_none() {
                    *next = queue.dequeue(now, &mut self.effects);
                }
                let first = *next;
                self.count_effects(now);
                first
            }
        }
    }

    /// Removes the packet that [`Self::first`] has returned.
    pub(super) fn pop(&mut self, now: Time) -> Option<Packet> {
        let packet = match &mut self.held {
            Held::Here { packets, .. } => packets.pop_front(),
            Held::ByDiscipline { next, .. } => next.take(),
        }?;
        self.change(now, -1, -i64::from(packet.bytes));
        self.counters.departed_pkts += 1;
        self.counters.departed_bytes += u64::from(packet.bytes);
        Some(packet)
    }

    /// Returns accepted packets that the discipline dropped later. The caller has to discard their stored TCP options.
    pub(super) fn dropped(&mut self) -> impl Iterator<Item = Packet> {
        self.dropped.drain(..)
    }

    /// Adds `packets` and `bytes`, which may be negative, to the numbers of waiting packets and bytes at the time
    /// `now`.
    fn change(&mut self, now: Time, packets: i64, bytes: i64) {
        self.integral_ps += self.since_integrated(now);
        self.integrated = now;
        self.waiting_pkts = self.waiting_pkts.wrapping_add_signed(packets);
        self.waiting_bytes = self.waiting_bytes.wrapping_add_signed(bytes);
        self.empty_since = (self.waiting_pkts == 0).then_some(now);
    }

    /// Returns the integral of `waiting_pkts` from the time `integrated` to `now`, in packets times picoseconds.
    fn since_integrated(&self, now: Time) -> u128 {
        u128::from(self.waiting_pkts) * u128::from(now.since(self.integrated).as_ps())
    }

    /// Counts the discipline's drops and marks of packets that it had accepted.
    fn count_effects(&mut self, now: Time) {
        self.counters.marked_pkts += self.effects.marked.drain(..).count() as u64;
        while let Some((packet, reason)) = self.effects.dropped.pop() {
            self.count_drop(reason);
            self.change(now, -1, -i64::from(packet.bytes));
            self.dropped.push(packet);
        }
    }

    fn count_drop(&mut self, reason: DropReason) {
        let counters = &mut self.counters;
        *match reason {
            DropReason::Loss => &mut counters.dropped_loss_pkts,
            DropReason::Overflow => &mut counters.dropped_overflow_pkts,
            DropReason::Early => &mut counters.dropped_early_pkts,
            DropReason::Forced => &mut counters.dropped_forced_pkts,
            DropReason::Policed | DropReason::Thinned | DropReason::Filtered => {
                unreachable!("only links do so")
            }
        } += 1;
    }

    /// Returns the counters up to `now`.
    pub(super) fn counters(&self, now: Time) -> LinkCounters {
        let integral_ps = self.integral_ps + self.since_integrated(now);
        LinkCounters {
            queue_integral_ps: integral_ps,
            transmitted: Work::of_bytes(self.counters.departed_bytes),
            ..self.counters
        }
    }

    /// Returns the maximum length of the queue so far, and begins a new maximum.
    pub(super) fn restart_maximum(&mut self) -> u64 {
        std::mem::replace(&mut self.counters.queue_max_pkts, self.waiting_pkts)
    }

    /// Returns a sample of the queue at `now` for the time series. Its field `link` is `id`, the proxy's number.
    pub(super) fn sample(&self, id: u32, now: Time) -> LinkSample {
        let counters = self.counters(now);
        let state: AqmState = match &self.held {
            Held::Here { discipline, .. } => discipline.state(),
            Held::ByDiscipline { queue, .. } => queue.state(),
        };
        LinkSample {
            time: now,
            link: id,
            queue_pkts: self.waiting_pkts,
            queue_bytes: self.waiting_bytes,
            queue_avg_pkts: state.average_pkts,
            max_p: state.max_p,
            drop_p: state.drop_p,
            queue_integral: counters.queue_integral(),
            departed_pkts: counters.departed_pkts,
            departed_bytes: counters.departed_bytes,
            transmitted_bytes: counters.transmitted.bytes(),
            dropped_pkts: counters.dropped_pkts(),
            marked_pkts: counters.marked_pkts,
            capacity_bytes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SackHandle;
    use crate::queue::{
        Capacity, CoDelConfig, CoDelParameters, CoDelVariant, DropTail, QueueConfig,
    };
    use crate::random::Stream;
    use longhaul_units::{Bytes, Span};

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
        // Up to now, the first packet has waited for 30 ms and the second for 90 ms.
        let counters = queue.counters(at(100));
        assert!((counters.queue_integral() - 0.120).abs() < 1e-12);
        assert_eq!((counters.arrived_pkts, counters.departed_pkts), (3, 1));
        assert_eq!(
            (counters.dropped_overflow_pkts, counters.queue_max_pkts),
            (1, 2)
        );
        let sample = queue.sample(0, at(100));
        assert_eq!((sample.queue_pkts, sample.queue_bytes), (1, 1000));
    }

    /// Returns an empty CoDel queue with a target of 5 ms and an interval of 100 ms.
    fn codel() -> Queue {
        let config = QueueConfig::CoDel(CoDelConfig {
            limit: Capacity::Packets(1000),
            ecn: false,
            control: CoDelParameters {
                variant: CoDelVariant::Rfc8289,
                target: Span::from_millis(5),
                interval: Span::from_millis(100),
                max_packet: Bytes(1000),
            },
        });
        Queue::new(&config, Stream::new(1, 0, "local"))
    }

    #[test]
    fn a_discipline_may_hold_the_packets_and_drop_them_later() {
        let mut queue = LocalQueue::new(codel());
        let mut taken = Vec::new();
        let mut lost = 0;
        // A packet arrives every millisecond and every second one is taken, so that delays exceed 5 ms for more than
        // 100 ms.
        for ms in 0..1000 {
            assert!(queue.push(packet(ms, at(ms))));
            if ms % 2 == 0 {
                let first = queue.first(at(ms)).expect("it has just come, or before");
                assert_eq!(queue.first(at(ms)).map(|again| again.seq), Some(first.seq));
                taken.extend(queue.pop(at(ms)).map(|packet| packet.seq));
            }
            lost += queue.dropped().count() as u64;
        }
        assert!(taken.is_sorted());
        let counters = queue.counters(at(1000));
        assert!(lost > 5, "{lost}");
        assert_eq!(counters.dropped_pkts(), lost);
        let sample = queue.sample(0, at(1000));
        assert_eq!(
            counters.arrived_pkts,
            counters.departed_pkts + lost + sample.queue_pkts
        );
        assert_eq!(sample.queue_bytes, 1000 * sample.queue_pkts);
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
