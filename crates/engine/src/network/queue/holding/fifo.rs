//! First in, first out: packets in the order of their arrival, and the queue under a discipline that
//! decides about arrivals.

use std::collections::VecDeque;

use longhaul_units::Time;

use super::Effects;
use super::admission::Admission;
use crate::network::queue::{Arrival, DropReason, Verdict};
use crate::packet::Packet;

/// Packets in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Packets {
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// How many there are, and their bytes.
    pub(super) fn held(&self) -> (u64, u64) {
        (self.packets.len() as u64, self.bytes)
    }
}

/// A queue whose discipline decides about arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    pub(super) admission: Admission,
    packets: Packets,
}

impl Fifo {
    pub(super) fn new(admission: Admission) -> Self {
        Self {
            admission,
            packets: Packets::default(),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        mut packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        match self.admission.on_arrival(arrival) {
            Verdict::Accept => {}
            Verdict::AcceptMarked => effects.mark(&mut packet),
            Verdict::Drop(reason) => return Err(reason),
        }
        self.packets.push(packet);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let mut packet = self.packets.pop()?;
        let (waiting_pkts, _) = self.packets.held();
        if self.admission.on_departure(&packet, now, waiting_pkts) {
            effects.mark(&mut packet);
        }
        Some(packet)
    }

    pub(super) fn update(&mut self) {
        self.admission.update(self.packets.held());
    }

    pub(super) fn held(&self) -> (u64, u64) {
        self.packets.held()
    }
}
