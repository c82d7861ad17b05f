//! Tests of FQ-CoDel against a literal transcription of RFC 8290's sections 4.1 and 4.2, and against results computed
//! by hand.

use longhaul_units::{Bytes, Span, Time};
use proptest::prelude::*;

use super::*;
use crate::queue::tests::{Bench, packet_of};
use crate::queue::{BufferedQueue, QueueConfig};

fn config(limit: u64, target: Span) -> FqCoDelConfig {
    FqCoDelConfig {
        limit: Capacity::Packets(limit),
        ecn: false,
        drop_batch: 64,
        flows: FlowQueuesParameters {
            queues: 1024,
            quantum: Bytes(1514),
        },
        control: CoDelParameters {
            variant: CoDelVariant::Rfc8289,
            target,
            interval: Span::from_millis(100),
            max_packet: Bytes(1500),
        },
    }
}

/// Returns a test bench with Linux's variant.
fn linux(limit: u64, target: Span) -> Bench {
    let mut config = config(limit, target);
    config.control.variant = CoDelVariant::Linux;
    Bench::new(&QueueConfig::FqCoDel(config))
}

/// At the limit, the longest queue loses half of its bytes in Linux, half of its packets in RFC
/// 8290.
#[test]
fn the_longest_queue_loses_half_of_its_bytes_or_of_its_packets() {
    for (mut bench, dropped) in [
        (bench(4), vec![0, 1]),
        (linux(4, Span::from_secs(1000)), vec![0]),
    ] {
        for (number, bytes) in (0..).zip([1500, 100, 100, 100]) {
            bench.enqueue(packet_of(1, number, bytes)).expect("room");
        }
        bench.enqueue(packet_of(2, 10, 100)).expect("room");
        assert_eq!(bench.dropped(), dropped);
    }
}

/// In Linux, a packet that finds no other waiting bypasses the discipline, which declares `TCQ_F_CAN_BYPASS`
/// (`fq_codel_init` of `sch_fq_codel.c`). In RFC 8290, such a packet makes its queue a new queue (section 4.1).
#[test]
fn packets_go_by_an_empty_discipline_in_linux_alone() {
    assert!(linux(100, Span::from_millis(5)).discipline.passes());
    assert!(!bench(100).discipline.passes());
}

/// Linux may drop a queue's only packet while packets wait in other queues, since it considers the bytes of all queues.
/// RFC 8289 considers only those of the packet's own queue, and drops nothing.
#[test]
fn linux_drops_a_queue_s_only_packet_while_others_wait() {
    let exact = Bench::new(&QueueConfig::FqCoDel(config(100, Span::ZERO)));
    for (mut bench, dropped) in [(exact, vec![]), (linux(100, Span::ZERO), vec![7])] {
        for flow in [1, 2, 3] {
            bench.enqueue(packet_of(flow, 0, 1500)).expect("room");
        }
        bench.dequeue();
        bench.enqueue(packet_of(1, 7, 1500)).expect("room");
        bench.now = Time::ZERO + Span::from_millis(200);
        bench.dequeue();
        assert_eq!(bench.dropped(), dropped);
    }
}

/// Returns a test bench with a discipline that drops only at its limit, not for delay.
fn bench(limit: u64) -> Bench {
    Bench::new(&QueueConfig::FqCoDel(config(limit, Span::from_secs(1000))))
}

#[test]
fn a_new_flow_goes_first_with_its_first_quantum() {
    let mut bench = bench(1000);
    for number in 100..110 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
    }
    // The flow's second packet uses more than the rest of the first quantum, so that the flow becomes an old one.
    assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(100));
    assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(101));
    for number in 200..204 {
        bench.enqueue(packet_of(2, number, 1000)).expect("room");
    }
    // The new flow sends two packets, 2000 of the 1514 bytes of its quantum. It then has a deficit of 486 bytes, and
    // the old flow has one of 1486 bytes.
    let order: Vec<u64> = (0..6)
        .filter_map(|_| bench.dequeue().map(|packet| packet.seq))
        .collect();
    // Each flow then gets a quantum. The old flow has a credit of 28 bytes, which is enough for one packet, and the new
    // one has 1028 bytes, which are enough for two.
    assert_eq!(order, [200, 201, 102, 202, 203, 103]);
}

#[test]
fn the_flow_with_the_most_bytes_pays() {
    let mut bench = bench(10);
    for number in 0..6 {
        bench.enqueue(packet_of(1, number, 300)).expect("room");
    }
    for number in 10..14 {
        bench.enqueue(packet_of(2, number, 1500)).expect("room");
    }
    // Half of the flow's four packets are dropped, from the head.
    bench.enqueue(packet_of(3, 20, 40)).expect("another pays");
    assert_eq!(bench.dropped(), [10, 11]);
    bench.enqueue(packet_of(3, 21, 40)).expect("there is room");
    assert_eq!(bench.dropped(), []);
}

#[test]
fn no_more_than_a_batch_is_lost_at_once() {
    let mut bench = bench(1000);
    for number in 0..1000 {
        bench.enqueue(packet_of(1, number, 300)).expect("room");
    }
    bench
        .enqueue(packet_of(2, 5000, 300))
        .expect("another pays");
    let dropped: Vec<u64> = (0..64).collect();
    assert_eq!(bench.dropped(), dropped);
}

/// Packets of a standing queue are dropped, and packets of a short queue are not: each queue has its own CoDel.
#[test]
fn only_the_standing_queue_loses_packets() {
    let config = config(10_000, Span::from_millis(5));
    let mut bench = Bench::new(&QueueConfig::FqCoDel(config));
    for number in 0..2000 {
        bench.enqueue(packet_of(1, number, 1000)).expect("room");
    }
    let mut lost = vec![];
    for ms in 1..=400 {
        bench.now += Span::from_millis(1);
        if ms % 10 == 0 {
            bench
                .enqueue(packet_of(2, 10_000 + ms, 1000))
                .expect("room");
        }
        bench.dequeue();
        lost.extend(bench.dropped());
    }
    // One CoDel drops the same number in 400 ms; see its tests.
    assert_eq!(lost.len(), 5);
    assert!(lost.iter().all(|&number| number < 2000), "{lost:?}");
}

/// A queue: its number, its packets (number and size in bytes of each), and its credit in bytes.
type RfcQueue = (u32, Vec<(u64, i64)>, i64);

/// Reference model: RFC 8290 with the lists of new and of old queues as vectors.
#[derive(Default)]
struct Rfc {
    queues: Vec<RfcQueue>,
    new_queues: Vec<u32>,
    old_queues: Vec<u32>,
    dropped: Vec<u64>,
}

impl Rfc {
    const QUANTUM: i64 = 1514;

    fn queue(&mut self, id: u32) -> &mut RfcQueue {
        let at = self.queues.iter().position(|queue| queue.0 == id);
        let at = at.unwrap_or_else(|| {
            self.queues.push((id, vec![], 0));
            self.queues.len() - 1
        });
        &mut self.queues[at]
    }

    fn total(&self) -> usize {
        self.queues.iter().map(|queue| queue.1.len()).sum()
    }

    fn enqueue(&mut self, id: u32, number: u64, bytes: i64, limit: usize) {
        self.queue(id).1.push((number, bytes));
        if !self.new_queues.contains(&id) && !self.old_queues.contains(&id) {
            self.new_queues.push(id);
            self.queue(id).2 = Self::QUANTUM;
        }
        if self.total() > limit {
            let size = |queue: &[(u64, i64)]| queue.iter().map(|packet| packet.1).sum::<i64>();
            let mut fattest: Option<(u32, i64)> = None;
            for id in [self.new_queues.clone(), self.old_queues.clone()].concat() {
                let bytes = size(&self.queue(id).1);
                if fattest.is_none_or(|(_, most)| bytes > most) {
                    fattest = Some((id, bytes));
                }
            }
            let (id, _) = fattest.expect("packets wait");
            // Half of the packets in this queue are dropped, at most 64.
            let half = usize::max(1, self.queue(id).1.len() / 2).min(64);
            for head in self.queue(id).1.drain(..half).collect::<Vec<_>>() {
                self.dropped.push(head.0);
            }
        }
    }

    fn dequeue(&mut self) -> Option<u64> {
        loop {
            let from_new = !self.new_queues.is_empty();
            let list = if from_new {
                &self.new_queues
            } else {
                &self.old_queues
            };
            let id = *list.first()?;
            if self.queue(id).2 <= 0 {
                self.queue(id).2 += Self::QUANTUM;
                self.remove_first(from_new);
                self.old_queues.push(id);
                continue;
            }
            if self.queue(id).1.is_empty() {
                self.remove_first(from_new);
                if from_new {
                    self.old_queues.push(id);
                }
                continue;
            }
            let (number, bytes) = self.queue(id).1.remove(0);
            self.queue(id).2 -= bytes;
            return Some(number);
        }
    }

    fn remove_first(&mut self, from_new: bool) {
        if from_new {
            self.new_queues.remove(0);
        } else {
            self.old_queues.remove(0);
        }
    }
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_two_lists(
        limit in 1usize..40,
        steps in prop::collection::vec((0u32..8, 40u16..=1500, 0usize..3), 1..400),
    ) {
        let mut bench = bench(limit as u64);
        let mut rfc = Rfc::default();
        for (number, (flow, bytes, departures)) in (0..).zip(steps) {
            let packet = packet_of(flow, number, bytes);
            let BufferedQueue::FqCoDel(discipline) = &bench.discipline else {
                unreachable!("that is what it was made of");
            };
            let queue = discipline.classify(&packet);
            bench.enqueue(packet).expect("others pay");
            rfc.enqueue(queue, number, i64::from(bytes), limit);
            prop_assert_eq!(bench.dropped(), std::mem::take(&mut rfc.dropped));
            for _ in 0..departures {
                let out = bench.dequeue().map(|packet| packet.seq);
                prop_assert_eq!(out, rfc.dequeue());
            }
        }
    }
}

/// RFC 8290 section 4.1.1: the hash is perturbed by a random number and taken modulo the number of queues. Flows that
/// share a queue in one run usually do not in another.
#[test]
fn the_hash_is_taken_modulo_the_queues_and_perturbed() {
    let [hash, other] = [1, 2].map(|seed| FlowHash::new(&mut Stream::new(seed, 0, "hash")));
    for queues in [1, 2, 3, 7, 8, 1000, 1024] {
        for flow in 0..50 {
            let packet = packet_of(flow, 0, 1500);
            let queue = hash.queue(&packet, queues);
            assert_eq!(u64::from(queue), hash.of(&packet) % u64::from(queues));
        }
    }
    let queue_of = |hash: &FlowHash, flow| hash.queue(&packet_of(flow, 0, 1500), 1024);
    let same = (0..1000).filter(|&flow| queue_of(&hash, flow) == queue_of(&other, flow));
    assert!(same.count() < 10);
}

/// Consecutive keys, such as those of a scenario's flows, are spread like random numbers: of 1024 queues, about 1024 /
/// e stay empty.
#[test]
fn flows_are_spread_evenly() {
    let stream = Stream::new(7, 0, "hash");
    let discipline = FqCoDel::new(config(1000, Span::ZERO), stream);
    let mut used = vec![false; 1024];
    for flow in 0..1024 {
        used[discipline.classify(&packet_of(flow, 0, 1500)) as usize] = true;
    }
    let empty = used.iter().filter(|used| !**used).count();
    // The standard deviation is sqrt(1024 (1/e) (1 - 2/e)) = 10.
    assert!((337..=417).contains(&empty), "{empty}");
}
