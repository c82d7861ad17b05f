//! Packets that are held back, each until its release time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longhaul_units::Time;

use crate::packet::Packet;

/// Packets by the time at which they go on; at the same time, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct HeldPackets {
    /// When each is released, its number, and its slot.
    due: BinaryHeap<Reverse<(Time, u64, u32)>>,
    packets: Vec<Packet>,
    free: Vec<u32>,
    held: u64,
}

impl HeldPackets {
    /// Holds a packet back.
    pub(super) fn hold(&mut self, until: Time, packet: Packet) {
        let place = if let Some(place) = self.free.pop() {
            self.packets[place as usize] = packet;
            place
        } else {
            self.packets.push(packet);
            let place = self.packets.len() - 1;
            u32::try_from(place).expect("more than 4e9 packets held back")
        };
        self.due.push(Reverse((until, self.held, place)));
        self.held += 1;
    }

    /// When the next packet goes on.
    pub(super) fn next(&self) -> Option<Time> {
        let Reverse((time, ..)) = self.due.peek()?;
        Some(*time)
    }

    /// Takes the next packet that goes on by `now`.
    pub(super) fn release(&mut self, now: Time) -> Option<Packet> {
        self.next().filter(|&time| time <= now)?;
        let Reverse((_, _, place)) = self.due.pop()?;
        self.free.push(place);
        Some(self.packets[place as usize])
    }
}
