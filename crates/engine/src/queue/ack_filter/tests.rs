//! Tests of ACK filtering: examples computed by hand, and random arrivals at disciplines that also drop packets.

use std::collections::BTreeMap;

use longhaul_congestion::Load;
use longhaul_units::{Bytes, Rate};
use proptest::prelude::*;

use super::*;
use crate::packet::SackBlocks;
use crate::queue::tests::Bench;
use crate::queue::{
    Capacity, CoDelConfig, CoDelParameters, CoDelVariant, DropFrom, DropTail, DrrConfig,
    FlowQueuesParameters, FqCoDelConfig, QueueConfig, RoundRobinConfig, VcpConfig,
};

/// Returns an acknowledgement of a connection. Its timestamp equals its number.
fn ack(flow: u32, seq: u64) -> Packet {
    Packet {
        flow,
        seq,
        stamp: Time::from_ps(seq),
        bytes: 40,
        flags: Flags::ACK,
        ..Packet::NONE
    }
}

fn flagged(flow: u32, seq: u64, flag: Flags) -> Packet {
    let ack = ack(flow, seq);
    Packet {
        flags: ack.flags.with(flag),
        ..ack
    }
}

fn with_sack(flow: u32, seq: u64) -> Packet {
    let mut blocks = SackBlocks::NONE;
    blocks.push((seq + 1, seq + 2));
    let sack = OptionStore::default().put(&blocks, seq);
    Packet {
        sack,
        ..ack(flow, seq)
    }
}

fn drop_tail(packets: u64, drop: DropFrom) -> QueueConfig {
    QueueConfig::DropTail(DropTail {
        drop,
        ..DropTail::new(Capacity::Packets(packets))
    })
}

fn bench() -> Bench {
    // Room for all packets of a test.
    Bench::new(&drop_tail(1000, DropFrom::Tail)).filtering_acks()
}

const TAKEN: Result<(), DropReason> = Ok(());
const FILTERED: Result<(), DropReason> = Err(DropReason::Filtered);

#[test]
fn a_newer_one_takes_the_place_of_an_older_one_of_its_connection() {
    let mut bench = bench();
    for (packet, expected) in [
        (ack(1, 2), TAKEN),
        (ack(2, 50), TAKEN),
        (ack(1, 4), FILTERED),
        (ack(3, 70), TAKEN),
        (ack(1, 6), FILTERED),
        (ack(2, 52), FILTERED),
    ] {
        assert_eq!(bench.enqueue(packet), expected, "{packet:?}");
    }
    assert_eq!(bench.discipline.waiting(), (3, 120));
    let first = bench.dequeue().expect("three wait");
    assert_eq!((first.seq, first.stamp), (6, Time::from_ps(6)));
    assert_eq!(first.flags, Flags::ACK);
    // The first ACK has left, so that the next one has to wait behind the other packets.
    assert_eq!(bench.enqueue(ack(1, 8)), TAKEN);
    assert_eq!(bench.dequeue_all(), [52, 70, 8]);
}

/// Acknowledgements with SACK blocks or flags, and duplicates, neither replace older acknowledgements nor are replaced
/// by newer ones (RFC 3449, section 5.2.1; Linux, `cake_tcph_may_drop`).
#[test]
fn what_says_something_else_stays_in_its_order() {
    let others = [
        with_sack(1, 4),
        flagged(1, 4, Flags::FIN),
        flagged(1, 4, Flags::SYN),
        flagged(1, 4, Flags::ECE),
        flagged(1, 4, Flags::CWR),
        flagged(1, 4, Flags::CE),
        flagged(1, 4, Flags::LOW),
        // The packets are a duplicate, a late acknowledgement, and an acknowledgement that echoes an earlier timestamp.
        ack(1, 2),
        ack(1, 1),
        Packet {
            stamp: Time::ZERO,
            ..ack(1, 4)
        },
    ];
    for other in others {
        let mut bench = bench();
        assert_eq!(bench.enqueue(ack(1, 2)), TAKEN);
        assert_eq!(bench.enqueue(other), TAKEN, "{other:?}");
        let replaces_it = other.stamp == Time::ZERO;
        let expected = if replaces_it { FILTERED } else { TAKEN };
        assert_eq!(bench.enqueue(ack(1, 6)), expected, "{other:?}");
        let left = bench.dequeue_all();
        if replaces_it {
            assert_eq!(left, [2, 6]);
        } else {
            assert_eq!(left, [2, other.seq, 6]);
        }
    }
}

/// Duplicates are not replaced, since a sender without SACK retransmits after three of them.
#[test]
fn duplicates_stay() {
    let mut bench = bench();
    for (packet, expected) in [
        (ack(1, 2), TAKEN),
        (ack(1, 4), FILTERED),
        (ack(1, 4), TAKEN),
        (ack(1, 4), TAKEN),
        (ack(1, 4), TAKEN),
        (ack(1, 9), TAKEN),
        (ack(1, 11), FILTERED),
    ] {
        assert_eq!(bench.enqueue(packet), expected, "{packet:?}");
    }
    assert_eq!(bench.dequeue_all(), [4, 4, 4, 4, 11]);
}

/// If acknowledgements come from a real program, the bytes of the newer one replace those of the older one. An
/// acknowledgement of another length is not replaced.
#[test]
fn bytes_of_real_acknowledgements_change_places() {
    let mut options = OptionStore::default();
    let mut real = |seq: u64, bytes: u16| Packet {
        sack: options.put_datagram(&vec![seq as u8; bytes.into()]),
        bytes,
        ..ack(1, seq)
    };
    let (old, new, longer) = (real(2, 40), real(4, 40), real(6, 52));
    let mut bench = bench();
    assert_eq!(bench.enqueue(old), TAKEN);
    assert_eq!(bench.enqueue(new), FILTERED);
    bench.discipline.note_filtered(&new, &mut options);
    assert_eq!(bench.enqueue(longer), TAKEN);
    for (seq, sack, bytes) in [(4, old.sack, 40), (6, longer.sack, 52)] {
        let left = bench.dequeue().expect("two wait");
        assert_eq!((left.seq, left.sack, left.bytes), (seq, sack, bytes));
        let datagram = options.datagram(left.sack, bytes.into());
        assert_eq!(datagram.bytes, vec![seq as u8; bytes.into()]);
    }
}

/// Checks that VCP works behind an ACK filter: it measures arrivals, and writes the load into the header of a departing
/// packet. Here, 30 kB arrive in 10 ms: three times the bytes that the link can send.
#[test]
fn routers_work_behind_the_filter() {
    let config = VcpConfig {
        limit: Capacity::Packets(100),
        interval: Span::from_millis(10),
        sample: Span::from_millis(10),
        queue_weight: 0.5,
        target: 1.0,
        rate: Rate::from_bps(8_000_000),
    };
    let mut bench = Bench::new(&QueueConfig::Vcp(config)).filtering_acks();
    let mut options = OptionStore::default();
    let mut packet = Packet::data(0, 1000);
    packet.flags = Flags::ECT.with_load(Load::Low);
    let router = &mut bench.discipline;
    (0..30).for_each(|_| router.observe_arrival(&packet, &mut options));
    router.update(Time::ZERO);
    router.stamp_departure(&mut packet, &mut options);
    assert_eq!(packet.flags.load(), Some(Load::Over));
}

#[test]
fn data_passes_untouched() {
    let mut bench = bench();
    for number in [7, 7, 8] {
        assert_eq!(bench.enqueue(Packet::data(number, 1500)), TAKEN);
    }
    assert_eq!(bench.dequeue_all(), [7, 7, 8]);
}

fn codel() -> CoDelParameters {
    CoDelParameters {
        variant: CoDelVariant::Rfc8289,
        target: Span::from_millis(5),
        interval: Span::from_millis(20),
        max_packet: Bytes(40),
    }
}

/// Returns disciplines with limits so small that packets are dropped.
fn disciplines() -> [QueueConfig; 6] {
    let limit = Capacity::Packets(6);
    [
        drop_tail(6, DropFrom::Tail),
        drop_tail(6, DropFrom::Head),
        QueueConfig::RoundRobin(RoundRobinConfig { limit }),
        QueueConfig::Drr(DrrConfig {
            limit,
            quantum: Bytes(60),
        }),
        QueueConfig::CoDel(CoDelConfig {
            limit: Capacity::Packets(1000),
            ecn: true,
            control: codel(),
        }),
        QueueConfig::FqCoDel(FqCoDelConfig {
            limit,
            ecn: true,
            flows: FlowQueuesParameters {
                queues: 2,
                quantum: Bytes(100),
            },
            drop_batch: 4,
            control: codel(),
        }),
    ]
}

/// Draws arrivals. Each consists of a connection, the number of newly acknowledged segments, and a flag for packets
/// with other information.
fn steps() -> impl Strategy<Value = Vec<Option<(u32, u64, bool)>>> {
    let arrival = (0u32..4, 0u64..3, prop::bool::weighted(0.1));
    prop::collection::vec(prop::option::weighted(0.6, arrival), 1..200)
}

/// List of the waiting packets, a reference for the filter. The first flag of a packet is true for a pure
/// acknowledgement, the second for a duplicate.
#[derive(Default)]
struct List {
    packets: Vec<(Packet, bool, bool)>,
    /// Highest number among the pure acknowledgements of each connection; reset when none of them waits.
    newest: [u64; 3],
}

impl List {
    /// Processes an arrival; returns true if the packet replaces the last one of its connection.
    fn arrives(&mut self, packet: Packet, pure: bool) -> bool {
        let of_its_own = |other: &Packet| other.flow == packet.flow;
        let newest = &mut self.newest[packet.flow as usize];
        if !self.packets.iter().any(|one| of_its_own(&one.0) && one.1) {
            *newest = 0;
        }
        let duplicate = packet.seq <= *newest;
        if pure {
            *newest = packet.seq.max(*newest);
        }
        let last = self.packets.iter_mut().rev().find(|one| of_its_own(&one.0));
        if let Some((older, true, false)) = last
            && pure
            && packet.seq > older.seq
            && packet.stamp >= older.stamp
        {
            (older.seq, older.stamp) = (packet.seq, packet.stamp);
            return true;
        }
        self.packets.push((packet, pure, duplicate));
        false
    }
}

proptest! {
    /// The filter gives the same result as a search through a list of all packets. Some acknowledgements arrive late or
    /// echo earlier times, and some packets are not pure acknowledgements.
    #[test]
    fn replacements_are_those_of_a_list_that_is_searched(
        steps in prop::collection::vec((0u32..3, 0u64..4, 0u64..3, 0u8..8), 1..300),
    ) {
        let mut bench = bench();
        let mut list = List::default();
        let mut next = [4_u64; 3];
        for (flow, ahead, time, kind) in steps {
            if kind >= 6 {
                let found = bench.dequeue().map(|packet| (packet.flow, packet.seq, packet.stamp));
                let expected = (!list.packets.is_empty()).then(|| list.packets.remove(0).0);
                prop_assert_eq!(found, expected.map(|packet| (packet.flow, packet.seq, packet.stamp)));
                continue;
            }
            let next = &mut next[flow as usize];
            // One acknowledgement in four is behind by a segment.
            *next += ahead;
            let (pure, seq) = (kind > 0, *next - 2 * u64::from(ahead == 3));
            let packet = if pure { ack(flow, seq) } else { flagged(flow, seq, Flags::ECE) };
            let packet = Packet { stamp: Time::from_ps(*next + time), ..packet };
            let replaces = list.arrives(packet, pure);
            prop_assert_eq!(bench.enqueue(packet), if replaces { FILTERED } else { TAKEN });
        }
    }

    /// Every packet leaves, waits, is dropped by the discipline, or is replaced. Packets of a connection leave in
    /// order, each with the content of an arrived packet. Departed packets leave no state behind.
    #[test]
    fn packets_are_conserved_and_keep_their_order(discipline in 0usize..6, steps in steps()) {
        let mut bench = Bench::new(&disciplines()[discipline]).filtering_acks();
        let (mut arrived, mut refused, mut dropped, mut left) = (0, 0, 0, 0);
        let mut last_in: BTreeMap<u32, u64> = BTreeMap::new();
        let mut last_out: BTreeMap<u32, u64> = BTreeMap::new();
        let mut said = vec![];
        let drain = std::iter::repeat_n(None, 200);
        for step in steps.into_iter().chain(drain) {
            bench.now += Span::from_millis(3);
            if let Some((flow, more, other)) = step {
                let seq = last_in.entry(flow).or_insert(1);
                *seq += more;
                let packet = if other { flagged(flow, *seq, Flags::ECE) } else { ack(flow, *seq) };
                said.push((flow, packet.seq, packet.stamp, other));
                arrived += 1;
                refused += usize::from(bench.enqueue(packet).is_err());
            } else if let Some(packet) = bench.dequeue() {
                left += 1;
                let before = last_out.insert(packet.flow, packet.seq);
                prop_assert!(before.is_none_or(|before| before <= packet.seq));
                let other = packet.flags.has(Flags::ECE);
                prop_assert!(said.contains(&(packet.flow, packet.seq, packet.stamp, other)));
                prop_assert!(!packet.flags.has(Flags::PLACE));
            }
            dropped += bench.dropped().len();
            let (waiting, _) = bench.discipline.waiting();
            prop_assert_eq!(arrived, refused + dropped + left + waiting as usize);
        }
        let BufferedQueue::FilteringAcks(filter) = &bench.discipline else {
            unreachable!("as it was made");
        };
        prop_assert_eq!(filter.discipline.waiting(), (0, 0));
        prop_assert_eq!(filter.free.len(), filter.contents.len());
        prop_assert!(filter.waiting.iter().all(|waiting| waiting.pkts == 0 && waiting.replaceable.is_none()));
    }
}
