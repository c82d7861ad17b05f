//! Packets on links whose packets are recorded.

use super::{End, Hop, Network};
use crate::packet::Packet;

impl Network {
    /// Captured packets are recorded as they are when they are sent.
    #[cold]
    pub(super) fn note_sent(&mut self, packet: Packet) {
        if let Some(sent) = &mut self.sent {
            sent.push_back(packet);
        }
    }

    /// Whether packets of any link are recorded.
    pub(crate) fn is_captured(&self) -> bool {
        self.sent.is_some()
    }

    /// Takes the next of the packets that have been sent, where packets are recorded.
    pub(crate) fn next_sent(&mut self) -> Option<Packet> {
        self.sent.as_mut()?.pop_front()
    }

    /// The packet about to arrive at the far end of a link whose packets are recorded.
    #[inline]
    pub(crate) fn captured(&self, link: u32) -> Option<&Packet> {
        let link = &self.links[link as usize];
        let due = |packet: &&Packet| link.captured && packet.time <= self.now;
        link.next().filter(due)
    }

    /// What will take a packet at the end of its route.
    pub(crate) fn destination(&self, packet: &Packet) -> End {
        let mut position = packet.route;
        loop {
            match self.routes.hop(position) {
                Hop::Link(_) | Hop::Impairments(..) => position += 1,
                Hop::End(end) => return end,
            }
        }
    }
}
