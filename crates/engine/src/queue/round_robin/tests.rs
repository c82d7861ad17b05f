//! Tests of round robin and deficit round robin against turns computed by hand.

use super::*;
use crate::packet::Flags;
use crate::queue::tests::{Bench, packet_of};
use crate::queue::{BufferedQueue, DrrConfig, QueueConfig};

fn bench(limit: Capacity, quantum: Option<u64>) -> Bench {
    Bench::new(&match quantum.map(Bytes) {
        Some(quantum) => QueueConfig::Drr(DrrConfig { limit, quantum }),
        None => QueueConfig::RoundRobin(RoundRobinConfig { limit }),
    })
}

const PLENTY: Capacity = Capacity::Packets(1000);

#[test]
fn one_packet_of_each_flow_in_turn() {
    let mut bench = bench(PLENTY, None);
    // Packets of flow 1 are numbered from 10, of flow 2 from 20, and so on.
    for number in [10, 11, 12, 20, 30, 31] {
        bench
            .enqueue(packet_of(number as u32 / 10, number, 1000))
            .expect("room");
    }
    assert_eq!(bench.dequeue_all(), [10, 20, 30, 11, 31, 12]);
}

/// Packets leave as in the example of Shreedhar and Varghese, figures 2 and 3: a quantum of 500 bytes, and three flows
/// with packets of 200, 750 and 20 bytes, of 500 and 500 bytes, and of 200, 600 and 100 bytes.
#[test]
fn a_deficit_counts_in_the_next_turn() {
    let mut bench = bench(PLENTY, Some(500));
    let packets = [
        (1, 10, 200),
        (2, 20, 500),
        (3, 30, 200),
        (1, 11, 750),
        (1, 12, 20),
        (2, 21, 500),
        (3, 31, 600),
        (3, 32, 100),
    ];
    for (flow, number, bytes) in packets {
        bench.enqueue(packet_of(flow, number, bytes)).expect("room");
    }
    // In its first turn, flow 1 sends 200 of 500 bytes and keeps 300, flow 2 sends 500 of 500, and flow 3 sends 200 of
    // 500 and keeps 300. In the second turn, flow 1 sends 750 and 20 of 800 bytes, flow 2 sends 500, and flow 3 sends
    // 600 and 100 of 800.
    assert_eq!(bench.dequeue_all(), [10, 20, 30, 11, 12, 21, 31, 32]);
}

#[test]
fn flows_share_in_bytes() {
    let mut bench = bench(PLENTY, Some(1500));
    for number in 0..300 {
        bench.enqueue(packet_of(1, number, 1500)).expect("room");
        bench
            .enqueue(packet_of(2, 1000 + number, 300))
            .expect("room");
    }
    let mut bytes = [0, 0];
    for _ in 0..240 {
        let packet = bench.dequeue().expect("plenty");
        bytes[packet.flow as usize - 1] += u32::from(packet.bytes);
    }
    assert_eq!(bytes, [60_000, 60_000]);
}

#[test]
fn the_longest_queue_pays_with_its_head() {
    let mut bench = bench(Capacity::Bytes(4000), Some(1500));
    for (flow, number, bytes) in [(1, 10, 1500), (2, 20, 900), (2, 21, 900), (1, 11, 600)] {
        bench.enqueue(packet_of(flow, number, bytes)).expect("room");
    }
    assert_eq!(bench.dropped(), []);
    // With this packet, the queues would exceed the limit by 200 bytes. The first flow has 2100 bytes and the second
    // 1800.
    bench.enqueue(packet_of(3, 30, 200)).expect("another pays");
    assert_eq!(bench.dropped(), [10]);
    assert_eq!(bench.dequeue_all(), [11, 20, 30, 21]);
}

/// A flow's turn ends if its last packet is dropped. The next flow then begins its turn with a new quantum.
#[test]
fn a_turn_ends_with_the_flow_that_has_it() {
    let mut bench = bench(Capacity::Bytes(1700), Some(1000));
    for (flow, number, bytes) in [(1, 10, 500), (1, 11, 900), (2, 20, 150), (3, 30, 100)] {
        bench.enqueue(packet_of(flow, number, bytes)).expect("room");
    }
    assert_eq!(bench.dequeue().map(|packet| packet.seq), Some(10));
    bench.enqueue(packet_of(2, 21, 600)).expect("room");
    assert_eq!(bench.dropped(), [11]);
    assert_eq!(bench.dequeue_all(), [20, 21, 30]);
}

#[test]
fn datagrams_are_no_connection() {
    let mut bench = bench(PLENTY, None);
    for number in 0..2 {
        bench.enqueue(packet_of(1, number, 1000)).expect("room");
    }
    let mut datagram = packet_of(1, 2, 1000);
    datagram.flags = Flags::DATAGRAM;
    bench.enqueue(datagram).expect("room");
    assert_eq!(bench.dequeue_all(), [0, 2, 1]);
}

/// Checks that the tables of the discipline grow only with the number of flows with waiting packets. Connections come
/// and go; their indices cover all 32 bits.
#[test]
fn names_of_connections_cost_nothing() {
    for quantum in [None, Some(1500)] {
        let mut bench = bench(PLENTY, quantum);
        for generation in 0..1000 {
            let flows = [
                u32::MAX - generation,
                1 << 31 | generation << 20,
                generation,
            ];
            for (number, flow) in (0..).zip(flows) {
                bench.enqueue(packet_of(flow, number, 1000)).expect("room");
                bench
                    .enqueue(packet_of(flow, 10 + number, 100))
                    .expect("room");
            }
            let turns = match quantum {
                None => [0, 1, 2, 10, 11, 12],
                Some(_) => [0, 10, 1, 11, 2, 12],
            };
            assert_eq!(bench.dequeue_all(), turns);
        }
        let (BufferedQueue::RoundRobin(turns) | BufferedQueue::Drr(turns)) = &bench.discipline
        else {
            unreachable!("this bench has no other discipline");
        };
        assert_eq!((turns.flows.len(), turns.deficits.len()), (3, 3));
    }
}
