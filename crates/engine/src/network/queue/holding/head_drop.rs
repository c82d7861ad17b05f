//! Head drop: a packet that finds the queue full pushes out the one that has waited longest, so
//! that its flow hears of the congestion a queue's length sooner (Lakshman, Neidhardt and Ott, "The
//! drop from front strategy in TCP and in TCP over ATM", 1996).

use longhaul_units::Time;

use super::Effects;
use super::fifo::Packets;
use crate::network::queue::{Arrival, DropReason, DropTail, Verdict};
use crate::packet::Packet;

/// First in, first out; full is full, and the first pays for it.
#[derive(Clone, Debug)]
pub(crate) struct HeadDrop {
    limit: DropTail,
    packets: Packets,
}

impl HeadDrop {
    pub(super) fn new(limit: DropTail) -> Self {
        Self {
            limit,
            packets: Packets::default(),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let mut arrival = *arrival;
        while let Verdict::Drop(reason) = self.limit.on_arrival(&arrival) {
            let first = self.packets.pop().ok_or(reason)?;
            effects.drop(first, reason);
            (arrival.waiting_pkts, arrival.waiting_bytes) = self.packets.held();
        }
        self.packets.push(packet);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, _now: Time, _effects: &mut Effects) -> Option<Packet> {
        self.packets.pop()
    }

    pub(super) fn held(&self) -> (u64, u64) {
        self.packets.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::queue::holding::tests::{Bench, packet};
    use crate::network::queue::{Capacity, Counting, QueueConfig};

    fn bench(limit: Capacity) -> Bench {
        let counting = Counting::Waiting;
        Bench::new(&QueueConfig::HeadDrop(DropTail { limit, counting }))
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
        // 900 and 1100 fill the queue; the last packet is longer than that.
        assert_eq!(bench.dropped(), [0, 1, 2, 3]);
        assert_eq!(bench.dequeue_all(), []);
    }
}
