//! The packets of a link, in the order of their arrival at its far end.

use std::collections::VecDeque;

use crate::packet::Packet;

/// Packets that a link has accepted. Those at the front may have been handed on before they have
/// even departed; they stay as long as the link's counters need them.
#[derive(Debug, Default)]
pub(super) struct Ring {
    packets: VecDeque<Packet>,
    handed_on: usize,
}

impl Ring {
    /// So many packets handed on are a reason to forget them, many at once.
    const MANY: usize = 64;

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(super) fn at(&self, at: usize) -> &Packet {
        &self.packets[at]
    }

    #[inline]
    pub(super) fn push(&mut self, packet: Packet) {
        self.packets.push_back(packet);
    }

    /// Whether every packet has been handed on.
    #[inline]
    pub(super) fn is_through(&self) -> bool {
        self.handed_on == self.packets.len()
    }

    /// The next packet to hand on.
    #[inline]
    pub(super) fn next(&self) -> Option<&Packet> {
        self.packets.get(self.handed_on)
    }

    /// The next packet has been handed on; returns whether it is time to forget some.
    #[inline]
    pub(super) fn hand_on(&mut self) -> bool {
        self.handed_on += 1;
        self.handed_on >= Self::MANY
    }

    /// Forgets what has been handed on, except among the last `kept` packets.
    pub(super) fn forget(&mut self, kept: usize) {
        let count = self.handed_on.min(self.packets.len().saturating_sub(kept));
        if count >= Self::MANY / 2 {
            self.packets.drain(..count);
            self.handed_on -= count;
        }
    }
}
