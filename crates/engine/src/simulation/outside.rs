//! Flows of programs outside the simulation, as the network sees them.

use crate::network::Path;
use crate::packet::Packet;

/// Flows of real programs outside the simulation, and packets of these flows that have crossed the network.
#[derive(Debug, Default)]
pub(super) struct OutsideFlows {
    /// Number of the first outside flow. Outside flows are numbered after datagram streams and connections of foreign
    /// stacks.
    pub(super) first: u32,
    pub(super) paths: Vec<Path>,
    /// Packets that have reached the ends of their routes, and wait to be handed to the receiving hosts.
    pub(super) arrived: Vec<Packet>,
    /// Bytes of the packet that enters or leaves at present.
    pub(super) bytes: Vec<u8>,
}

impl OutsideFlows {
    /// Returns the number of flows.
    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Stores a packet that has reached the end of its route.
    pub(super) fn arrive(&mut self, packet: &Packet) {
        self.arrived.push(*packet);
    }
}
