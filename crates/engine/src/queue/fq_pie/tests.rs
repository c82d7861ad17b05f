//! Tests of FQ-PIE against results computed by hand. The scheduling of flows, shared with FQ-CoDel, and PIE's
//! controller have separate tests.

use longhaul_units::{Bytes, Time};

use super::*;
use crate::queue::QueueConfig;
use crate::queue::tests::{Bench, packet_of};

fn bench(limit: u64) -> Bench {
    Bench::new(&QueueConfig::FqPie(FqPieConfig {
        limit: Capacity::Packets(limit),
        ecn: false,
        flows: FlowQueuesParameters {
            quantum: Bytes(1500),
            queues: 1024,
        },
        control: PieParameters {
            variant: PieVariant::Rfc8033,
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::ZERO,
            mark_up_to: 0.1,
            derandomise: false,
            mean_packet: Bytes(1500),
        },
    }))
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn probability(bench: &Bench) -> f64 {
    bench.discipline.state().drop_p.expect("it is shown")
}

/// A packet of a flow without waiting packets is served before a hundred packets of another flow.
#[test]
fn a_sparse_flow_sees_no_queue_beside_a_bulk_flow() {
    let mut bench = bench(1000);
    for number in 0..100 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
    }
    bench.dequeue();
    for round in 0..20 {
        let number = 1000 + round;
        bench.enqueue(packet_of(2, number, 200)).expect("room");
        let first_two = [bench.dequeue(), bench.dequeue()];
        let sent = first_two.map(|packet| packet.expect("a packet").seq);
        assert!(sent.contains(&number), "{sent:?}");
        bench.dequeue();
    }
}

/// Checks the probability after two updates at a sojourn time of 40 ms, and that it falls to zero once the queue is
/// empty.
#[test]
fn the_probability_by_hand() {
    let mut bench = bench(1000);
    for number in 0..3 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
    }
    bench.now = ms(40);
    bench.dequeue();
    let mut expected = 0.0;
    // The steps are (0.125 * 0.025 + 1.25 * 0.04) / 2048 and 0.125 * 0.025 / 128.
    for step in [0.053_125 / 2048.0, 0.003_125 / 128.0] {
        bench.discipline.update(bench.now);
        expected += step;
        assert!((probability(&bench) - expected).abs() < 1e-15);
    }
    bench.dequeue_all();
    // The probability would fall by more than its value: 0.125 * -0.015 - 1.25 * 0.04.
    bench.discipline.update(bench.now);
    assert_eq!(probability(&bench), 0.0);
}

/// One flow has a hundred packets in the queue, the other one packet. Only the first flow has a queueing delay, and
/// only its arrivals are dropped.
#[test]
fn only_the_standing_queue_loses_packets() {
    let mut bench = bench(10_000);
    for number in 0..2000 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
    }
    let (mut lost, mut sparse_lost) = (0, 0);
    for time in 1..=1500 {
        bench.now = ms(time);
        bench.dequeue();
        lost += u64::from(bench.enqueue(packet_of(1, 0, 1500)).is_err());
        if time % 10 == 0 {
            sparse_lost += u64::from(bench.enqueue(packet_of(2, 0, 200)).is_err());
        }
        if time % 15 == 0 {
            bench.discipline.update(bench.now);
        }
    }
    assert!(lost > 100, "{lost}");
    assert_eq!(sparse_lost, 0);
}

/// At the limit, the arriving packet is dropped, even if another queue is the longest.
#[test]
fn a_full_queue_takes_nothing_in() {
    let mut bench = bench(2);
    bench.enqueue(packet_of(1, 0, 1500)).expect("room");
    bench.enqueue(packet_of(1, 1, 1500)).expect("room");
    let refused = bench.enqueue(packet_of(2, 2, 40));
    assert_eq!(refused, Err(DropReason::Overflow));
}
