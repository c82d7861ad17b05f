//! Tests of CAKE against results computed by hand: its hash, its sparse flows and its limit. COBALT has separate tests.

use std::collections::HashSet;

use super::*;
use crate::queue::QueueConfig;
use crate::queue::flow_queues::FlowHash;
use crate::queue::tests::{Bench, packet, packet_of};

fn config(limit: u64) -> CakeConfig {
    CakeConfig {
        limit: Capacity::Bytes(limit),
        quantum: Bytes(1514),
        control: CobaltParameters {
            ecn: true,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu_time: Span::from_millis(1),
            blue_up: 1.0 / 256.0,
            blue_down: 1.0 / 4096.0,
        },
    }
}

fn bench(limit: u64) -> Bench {
    Bench::new(&QueueConfig::Cake(config(limit)))
}

/// Of 1024 flows, about 881 have a queue for themselves; of a hundred flows, all have.
#[test]
fn flows_hardly_ever_share_a_queue() {
    let queues = |flows: u32| {
        let mut ways = Ways::new(&mut Stream::new(7, 0, "hash"));
        let mut used = HashSet::new();
        for flow in 0..flows {
            let queue = ways.queue(&packet_of(flow, 0, 1500), |queue| used.contains(&queue));
            used.insert(queue);
        }
        used.len()
    };
    assert_eq!(queues(100), 100);
    // A set of eight queues gets a Poisson number of flows with mean 8, and uses one queue for each, up to eight. This
    // is 6.88 on average, or 881 in all 128 sets. With a plain hash, 1024 / e = 377 queues would stay empty.
    assert!((850..=910).contains(&queues(1024)), "{}", queues(1024));
}

#[test]
fn a_flow_keeps_its_queue_while_that_is_in_use_and_others_take_it_later() {
    let mut ways = Ways::new(&mut Stream::new(7, 0, "hash"));
    let first = ways.queue(&packet_of(1, 0, 1500), |_| false);
    assert_eq!(ways.queue(&packet_of(1, 0, 1500), |_| true), first);
    // Some of the many flows are hashed to the same set. When all queues of the set are in use, a flow gets the queue
    // of its hash, although another flow uses it.
    let others: Vec<u32> = (2..20_000)
        .map(|flow| ways.queue(&packet_of(flow, 0, 1500), |_| true))
        .collect();
    assert!(others.contains(&first));
}

/// Checks the queues of nine flows of one set of eight queues (`cake_hash`). A flow gets the queue of its hash or, if
/// another flow has this queue, the next free one (cyclically). The ninth flow shares the queue of its hash.
#[test]
fn a_set_fills_from_the_queue_of_the_hash_on() {
    let stream = || Stream::new(7, 0, "hash");
    let hash = FlowHash::new(&mut stream());
    let direct = |flow| hash.queue(&packet_of(flow, 0, 1500), QUEUES);
    let set = direct(0) / 8;
    let flows: Vec<u32> = (0..u32::MAX)
        .filter(|&flow| direct(flow) / 8 == set)
        .take(9)
        .collect();
    let mut ways = Ways::new(&mut stream());
    let mut used = vec![];
    for &flow in &flows {
        let mut cyclic = (0..8).map(|way| set * 8 + (direct(flow) + way) % 8);
        let expected = cyclic
            .find(|queue| !used.contains(queue))
            .unwrap_or(direct(flow));
        let queue = ways.queue(&packet_of(flow, 0, 1500), |queue| used.contains(&queue));
        assert_eq!(queue, expected);
        used.push(queue);
    }
    assert!(
        flows[..8]
            .iter()
            .zip(&used)
            .any(|(&flow, &queue)| direct(flow) != queue)
    );
    for (&flow, &queue) in flows[..8].iter().zip(&used) {
        // The ninth flow has taken the queue of its hash from another flow.
        if queue != used[8] {
            assert_eq!(ways.queue(&packet_of(flow, 0, 1500), |_| true), queue);
            assert_eq!(ways.queue(&packet_of(flow, 0, 1500), |_| false), queue);
        }
    }
}

/// A sparse flow is served before a flow with a standing queue as long as the sparse flow's packets come one by one. A
/// flow that uses up its quantum has to wait for its next turn.
#[test]
fn sparse_flows_go_first() {
    let mut bench = bench(1 << 20);
    for number in 0..50 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
    }
    // The first two packets use more than the first quantum.
    assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(0));
    assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(1));
    for number in 100..110 {
        bench.enqueue(packet_of(2, number, 1000)).expect("room");
        assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(number));
        assert!(bench.dequeue().is_some_and(|packet| packet.seq < 50));
    }
    for number in 200..205 {
        bench.enqueue(packet_of(3, number, 1500)).expect("room");
    }
    let order: Vec<u64> = (0..6)
        .filter_map(|_| bench.dequeue().map(|packet| packet.seq))
        .collect();
    // Two packets use more than the first quantum of the sparse flow. The other flow then has a deficit of almost a
    // packet, so that it has to wait for another turn.
    let numbers: Vec<u64> = order.into_iter().map(|number| number.max(99)).collect();
    assert_eq!(numbers, [200, 201, 202, 99, 203, 99]);
}

/// At the limit, the queue with the most bytes drops one packet from its head, and this queue's BLUE probability rises.
#[test]
fn the_longest_flow_pays() {
    let mut bench = bench(12_000);
    bench.now += Span::from_millis(10);
    for number in 0..20 {
        bench.enqueue(packet_of(1, number, 300)).expect("room");
    }
    for number in 100..104 {
        bench.enqueue(packet_of(2, number, 1500)).expect("room");
    }
    assert_eq!(bench.dropped(), []);
    // Both queues contain 6000 bytes; the first of equal queues is selected.
    bench.enqueue(packet_of(3, 200, 100)).expect("another pays");
    assert_eq!(bench.dropped(), [0]);
    bench
        .enqueue(packet_of(3, 201, 1500))
        .expect("another pays");
    assert_eq!(bench.dropped(), [100]);
    assert_eq!(bench.discipline.state().drop_p, Some(1.0 / 256.0));
}

#[test]
fn parameters_follow_from_the_rate() {
    let complete = |bps| {
        let mut values = Table::defaults(CakeConfig::KEYS, longhaul_keys::Profile::Rfc);
        let link = LinkContext::new(Rate::from_bps(bps), Span::from_millis(10), Bytes(1500));
        CakeConfig::complete(&mut values, &link).expect("sound values");
        let config = CakeConfig::of(&values);
        (config.limit, config.quantum)
    };
    let min = Capacity::Bytes(4 << 20);
    assert_eq!(complete(1_000_000), (min, Bytes(300)));
    assert_eq!(complete(20_000_000), (min, Bytes(610)));
    // In 1/4096 s, the first rate transmits 1000 B, and the second a byte less than 1001 B.
    assert_eq!(complete(32_768_000), (min, Bytes(1000)));
    assert_eq!(complete(32_800_760), (min, Bytes(1000)));
    // At this rate, 400 ms are 12.5 MB.
    let more = Capacity::Bytes(12_500_000);
    assert_eq!(complete(250_000_000), (more, Bytes(1514)));
    let most = Capacity::Bytes(10_240 * 1500);
    assert_eq!(complete(10_000_000_000), (most, Bytes(1514)));
}

#[test]
fn given_values_stay() {
    let quantity = Value::Quantity;
    let mut values = Table::defaults(CakeConfig::KEYS, longhaul_keys::Profile::Rfc)
        .with(CakeConfig::limit, quantity(Quantity::Packets(7.0)))
        .with(CakeConfig::quantum, quantity(Quantity::Bytes(Bytes(9000))))
        .with(
            CobaltParameters::target,
            quantity(Quantity::Span(Span::from_millis(7))),
        )
        .with(
            CobaltParameters::mtu_time,
            quantity(Quantity::Span(Span::from_millis(3))),
        );
    let link = LinkContext::new(
        Rate::from_bps(1_000_000),
        Span::from_millis(10),
        Bytes(1500),
    );
    CakeConfig::complete(&mut values, &link).expect("sound values");
    let config = CakeConfig::of(&values);
    assert_eq!(
        (config.limit, config.quantum),
        (Capacity::Packets(7), Bytes(9000))
    );
    let control = config.control;
    let times = [control.target, control.mtu_time, control.interval];
    assert_eq!(times, [7, 3, 100].map(Span::from_millis));
}

/// A queue stays reserved for its flow while COBALT's state may affect the flow's next packets: here, for an interval
/// after the last packet.
#[test]
fn a_queue_is_free_again_after_an_interval() {
    let config = config(1 << 20);
    let mut control = Control::default();
    let parameters = &config.control;
    let (mut effects, mut stream) = (Effects::default(), Stream::new(1, 0, "blue"));
    let mut packets = crate::queue::fifo::Packets::default();
    packets.push(packet(1, 1500));
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let mut next =
        |now| control.dequeue(parameters, now, &mut packets, (&mut effects, &mut stream));
    assert!(next(at(1)).is_some() && next(at(2)).is_none());
    assert!(!control.is_at_rest(parameters, at(100)));
    assert!(control.is_at_rest(parameters, at(101)));
}

/// Checks that a flow gets no queue in which packets of another flow wait. Of a hundred flows, about five have the hash
/// of another flow.
#[test]
fn a_queue_with_packets_is_not_given_to_another_flow() {
    let mut cake = Cake::new(config(1 << 20), Stream::new(7, 0, "hash"));
    let mut used = HashSet::new();
    for flow in 0..100 {
        let packet = packet_of(flow, 0, 1500);
        let queue = cake.classify(&packet, Time::ZERO);
        cake.queues.push(queue, packet);
        used.insert(queue);
    }
    assert_eq!(used.len(), 100);
}
