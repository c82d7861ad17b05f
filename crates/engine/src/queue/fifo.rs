//! First-in first-out queues with active queue management: packets leave in the order of their arrival, and the
//! management decides which packets enter the queue.

use std::collections::VecDeque;

use longhaul_kernel::memory;
use longhaul_units::{Span, Time};

use super::{Aqm, AqmState, Arrival, DropReason, Effects, PacketQueue, Verdict};
use crate::packet::Packet;

/// Waiting packets, in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Packets {
    pub(super) fn push(&mut self, packet: Packet) {
        let (len, capacity) = (self.packets.len(), self.packets.capacity());
        memory::claim_growth::<Packet>("packets in a queue", len, capacity);
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the arrival time of the packet that has waited longest.
    pub(super) fn oldest(&self) -> Option<Time> {
        Some(self.packets.front()?.time)
    }

    /// Returns the number of waiting packets, and their bytes.
    pub(super) fn waiting(&self) -> (u64, u64) {
        (self.packets.len() as u64, self.bytes)
    }
}

/// A first-in first-out queue with active queue management `A`.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<A> {
    aqm: A,
    packets: Packets,
}

impl<A: Aqm> Fifo<A> {
    pub(super) fn new(aqm: A) -> Self {
        Self {
            aqm,
            packets: Packets::default(),
        }
    }
}

impl<A: Aqm> PacketQueue for Fifo<A> {
    fn passes(&self) -> bool {
        self.aqm.passes()
    }

    fn enqueue(
        &mut self,
        mut packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        match self.aqm.on_arrival(arrival) {
            Verdict::Accept => {}
            Verdict::AcceptMarked => effects.mark(&mut packet),
            Verdict::Drop(reason) => return Err(reason),
        }
        self.packets.push(packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let mut packet = self.packets.pop()?;
        let (waiting_pkts, _) = self.packets.waiting();
        if self.aqm.on_departure(&packet, now, waiting_pkts) {
            effects.mark(&mut packet);
        }
        Some(packet)
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }

    fn update_interval(&self) -> Option<Span> {
        self.aqm.update_interval()
    }

    fn update(&mut self, _now: Time) {
        self.aqm.update(self.packets.waiting());
    }

    fn state(&self) -> AqmState {
        self.aqm.state()
    }
}
