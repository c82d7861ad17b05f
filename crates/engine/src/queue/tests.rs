//! A test bench for queue disciplines.

use longhaul_units::{Span, Time};

use super::ack_filter::AckFilter;
use super::{Arrival, BufferedQueue, DropReason, Effects, PacketQueue, QueueConfig};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

/// Returns an ECN-capable packet with this number.
pub(super) fn packet(number: u64, bytes: u16) -> Packet {
    Packet::data(number, bytes)
}

/// Returns an ECN-capable packet of the connection `flow`, with this number.
pub(super) fn packet_of(flow: u32, number: u64, bytes: u16) -> Packet {
    Packet {
        flow,
        ..packet(number, bytes)
    }
}

/// A discipline in front of a link that is always busy.
pub(super) struct Bench {
    pub(super) discipline: BufferedQueue,
    pub(super) now: Time,
    effects: Effects,
}

impl Bench {
    pub(super) fn new(config: &QueueConfig) -> Self {
        Self {
            discipline: config.buffered(Stream::new(1, 0, "bench")),
            now: Time::ZERO,
            effects: Effects::default(),
        }
    }

    /// Adds ACK filtering to the discipline.
    pub(super) fn filtering_acks(mut self) -> Self {
        let filter = AckFilter::new(self.discipline);
        self.discipline = BufferedQueue::FilteringAcks(Box::new(filter));
        self
    }

    pub(super) fn enqueue(&mut self, packet: Packet) -> Result<(), DropReason> {
        let (waiting_pkts, waiting_bytes) = self.discipline.waiting();
        let arrival = Arrival {
            now: self.now,
            bytes: u32::from(packet.bytes),
            ecn_capable: packet.flags.has(Flags::ECT),
            low_priority: false,
            waiting_pkts,
            waiting_bytes,
            idle_since: None,
        };
        let time = self.now;
        let packet = Packet { time, ..packet };
        self.discipline.enqueue(packet, &arrival, &mut self.effects)
    }

    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        self.discipline.dequeue(self.now, &mut self.effects)
    }

    /// Dequeues all packets, and returns their numbers.
    pub(super) fn dequeue_all(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.dequeue())
            .map(|packet| packet.seq)
            .collect()
    }

    /// Returns the numbers of the packets dropped since the last call.
    pub(super) fn dropped(&mut self) -> Vec<u64> {
        let dropped = self.effects.dropped.drain(..);
        dropped.map(|(packet, _)| packet.seq).collect()
    }
}

/// Checks that a packet leaves unmarked at once, and does not change the discipline's state, if it arrives while
/// [`PacketQueue::passes`] is true. The packets arrive after bursts and after pauses.
pub(super) fn check_passing(config: &QueueConfig) {
    let mut bench = Bench::new(config);
    let mut passed = 0;
    for ms in 0..4000 {
        bench.now = Time::ZERO + Span::from_millis(ms);
        if ms.is_multiple_of(20) {
            bench.discipline.update(bench.now);
        }
        if ms / 500 % 2 == 0 {
            let _ = [(); 2].map(|()| bench.enqueue(packet(ms, 1500)));
        }
        let transmitted = bench.dequeue();
        bench.effects = Effects::default();
        if transmitted.is_some() {
            continue;
        }
        assert!(bench.discipline.passes());
        let before = format!("{:?}", bench.discipline);
        assert_eq!(bench.enqueue(packet(ms, 40)), Ok(()));
        let next = bench.dequeue().map(|packet| (packet.seq, packet.flags));
        assert_eq!(next, Some((ms, packet(ms, 40).flags)));
        assert!(bench.effects.is_empty());
        assert_eq!(format!("{:?}", bench.discipline), before);
        passed += 1;
    }
    assert!(passed > 200, "{passed} passed");
}
