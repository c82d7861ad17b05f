//! Drop-tail and head-drop queues. In a drop-tail queue, a packet that finds the queue full is dropped. In a head-drop
//! queue, the packet that has waited longest is dropped instead. Its sender thus notices the congestion earlier, by the
//! queueing delay of a full queue (Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over
//! ATM", INFOCOM 1996).

use longhaul_keys::{Kind, Table, keys, words};
use longhaul_units::{Rate, Time};

use super::fifo::Packets;
use super::{Aqm, Arrival, Capacity, DropReason, Effects, PacketQueue, Parameters, Verdict};
use crate::packet::Packet;
use crate::random::Stream;

words! {
    /// Packet to drop at a full queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DropFrom {
        /// The arriving packet is dropped.
        Tail = "tail",
        /// The packet that has waited longest is dropped.
        Head = "head",
    }
}

words! {
    /// Packets that count towards a queue's limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Counting {
        /// Waiting packets only.
        Waiting = "waiting",
        /// Waiting packets and the packet in service, as in ns-2 (`drop-tail.cc`). With a limit in bytes, the packet
        /// in service counts as one byte.
        InService = "in-service",
    }
}

keys! {
    /// Parameters of a drop-tail or head-drop queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DropTail {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// Packet dropped at a full queue: the one that arrives, or the one that has waited longest.
        pub drop: DropFrom = Kind::Word(DropFrom::WORDS).key().default("tail"),
        /// Packets that the limit counts: waiting packets only, or also the one in service, as in ns-2.
        pub counting: Counting =
            Kind::Word(Counting::WORDS).key().default("waiting").in_ns2("in-service"),
    }
}

impl Parameters for DropTail {
    type Queue = DropTailQueue;

    const KIND: &'static str = "droptail";
    const TITLE: &'static str = "Drop-tail";
    const DESCRIPTION: &'static str =
        "First in, first out; a full queue drops the arriving packet, or the first in the queue.";
    const SOURCE: &'static str = "head drop: Lakshman, Neidhardt and Ott, INFOCOM 1996";
    const ON_ARRIVAL: bool = true;

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> DropTailQueue {
        DropTailQueue {
            parameters: *self,
            packets: Packets::default(),
        }
    }

    fn decides_on_arrival(&self) -> bool {
        self.drop == DropFrom::Tail
    }
}

impl DropTail {
    /// Returns a drop-tail queue with this limit.
    pub const fn new(limit: Capacity) -> Self {
        Self {
            limit,
            drop: DropFrom::Tail,
            counting: Counting::Waiting,
        }
    }

    /// Decides about an arriving packet: accepts it if there is room.
    #[inline(always)]
    pub(crate) fn decide(&self, arrival: &Arrival) -> Verdict {
        // A packet that finds the link idle is transmitted at once.
        if arrival.idle_since.is_some() {
            return Verdict::Accept;
        }
        let (waiting, limit) = match self.limit {
            Capacity::Packets(limit) => (arrival.waiting_pkts + 1, limit),
            Capacity::Bytes(limit) => (arrival.waiting_bytes + u64::from(arrival.bytes), limit),
        };
        let full = match self.counting {
            Counting::Waiting => waiting > limit,
            Counting::InService => waiting >= limit,
        };
        if full {
            Verdict::Drop(DropReason::Overflow)
        } else {
            Verdict::Accept
        }
    }
}

impl Aqm for DropTail {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.decide(arrival)
    }
}

/// A drop-tail or head-drop queue with its packets.
#[derive(Clone, Debug)]
pub(crate) struct DropTailQueue {
    parameters: DropTail,
    packets: Packets,
}

impl PacketQueue for DropTailQueue {
    fn passes(&self) -> bool {
        true
    }

    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let mut arrival = *arrival;
        while let Verdict::Drop(reason) = self.parameters.decide(&arrival) {
            if self.parameters.drop == DropFrom::Tail {
                return Err(reason);
            }
            let first = self.packets.pop().ok_or(reason)?;
            effects.drop(first, reason);
            (arrival.waiting_pkts, arrival.waiting_bytes) = self.packets.waiting();
        }
        self.packets.push(packet);
        Ok(())
    }

    fn dequeue(&mut self, _now: Time, _effects: &mut Effects) -> Option<Packet> {
        self.packets.pop()
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;
    use crate::queue::tests::{Bench, check_passing, packet};

    fn bench(limit: Capacity) -> Bench {
        Bench::new(&QueueConfig::DropTail(DropTail {
            drop: DropFrom::Head,
            ..DropTail::new(limit)
        }))
    }

    #[test]
    fn the_first_packet_makes_room() {
        let mut bench = bench(Capacity::Packets(3));
        for number in 0..5 {
            assert_eq!(bench.enqueue(packet(number, 1000)), Ok(()));
        }
        assert_eq!(bench.dropped(), [0, 1]);
        assert_eq!(bench.dequeue_all(), [2, 3, 4]);
    }

    #[test]
    fn as_many_as_a_long_packet_needs() {
        let mut bench = bench(Capacity::Bytes(2000));
        for (number, bytes) in [(0, 500), (1, 600), (2, 900), (3, 1100), (4, 2001)] {
            let fits = bench.enqueue(packet(number, bytes));
            assert_eq!(fits.is_ok(), bytes <= 2000);
        }
        // Packets of 900 and 1100 bytes fill the queue; the last packet would exceed the limit.
        assert_eq!(bench.dropped(), [0, 1, 2, 3]);
        assert_eq!(bench.dequeue_all(), []);
    }

    #[test]
    fn a_packet_that_finds_the_link_idle_passes() {
        check_passing(&QueueConfig::DropTail(DropTail::new(Capacity::Packets(
            100,
        ))));
    }
}
