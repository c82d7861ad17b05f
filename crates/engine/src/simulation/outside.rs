//! Flows of programs outside the simulation, as the network sees them.

use crate::network::Path;
use crate::packet::Packet;

/// Flows of programs outside, and their packets that have crossed the network.
#[derive(Debug, Default)]
pub(super) struct OutsideFlows {
    /// Number in the packets of the first flow; numbers follow those of datagram streams and
    /// connections of foreign stacks.
    pub(super) first: u32,
    pub(super) paths: Vec<Path>,
    /// Packets that have reached the ends of their routes.
    pub(super) arrived: Vec<Packet>,
    /// Contents of the packet that enters or leaves.
    pub(super) bytes: Vec<u8>,
}

impl OutsideFlows {
    /// Returns the number of flows.
    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Takes a packet at the end of its route.
    pub(super) fn arrive(&mut self, packet: &Packet) {
        self.arrived.push(*packet);
    }
}
