//! Drops and marks of the data packets of each connection. They are rare, and are therefore counted outside the fast
//! path.

use crate::packet::{Flags, Packet};

/// Drops and marks of the data packets of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowDrops {
    pub(crate) dropped_pkts: u64,
    pub(crate) marked_pkts: u64,
}

impl FlowDrops {
    fn add(&mut self, other: Self) {
        self.dropped_pkts += other.dropped_pkts;
        self.marked_pkts += other.marked_pkts;
    }
}

/// Numbers of dropped and marked data packets by connection. Memory is allocated only at the first drop or mark.
#[derive(Debug, Default)]
pub(super) struct PerFlowDrops {
    connections: u32,
    /// Drops and marks by connection, up to the last connection that has any.
    known: Vec<FlowDrops>,
    /// Drops and marks of datagrams from sending endpoints of foreign stacks' connections and from real programs, by
    /// the number in the packets.
    datagrams: Vec<FlowDrops>,
}

impl PerFlowDrops {
    /// Begins to count drops and marks for the first `connections` connections.
    pub(super) fn track(&mut self, connections: u32) {
        self.connections = connections;
    }

    /// Returns the counters of a data packet's connection; `None` if the connection is not tracked, or if the packet is
    /// not counted. SYNs, acknowledgements, dummy packets, datagram streams, and datagrams from the receiving endpoints
    /// of foreign stacks' connections are not counted.
    pub(super) fn of(&mut self, packet: &Packet) -> Option<&mut FlowDrops> {
        const OTHERS: Flags = Flags::SYN
            .with(Flags::ACK)
            .with(Flags::DATAGRAM)
            .with(Flags::LOW);
        let (known, is_data) = if packet.sack.has_datagram() {
            (&mut self.datagrams, packet.seq & Packet::ANSWER == 0)
        } else {
            let others = packet.flags.has(OTHERS) || packet.flow >= self.connections;
            (&mut self.known, !others)
        };
        if !is_data {
            return None;
        }
        let connection = packet.flow as usize;
        if connection >= known.len() {
            known.resize(connection + 1, FlowDrops::default());
        }
        Some(&mut known[connection])
    }

    /// Adds the counters of TCP connections to `all`, which is indexed by the connection's number.
    pub(super) fn add_to(&self, all: &mut [FlowDrops]) {
        for (sum, flow) in all.iter_mut().zip(&self.known) {
            sum.add(*flow);
        }
    }

    /// Adds the counters of datagrams to `all`, which is indexed by the number in the packets. Extends `all` if it is
    /// too short.
    pub(super) fn add_datagrams_to(&self, all: &mut Vec<FlowDrops>) {
        if all.len() < self.datagrams.len() {
            all.resize(self.datagrams.len(), FlowDrops::default());
        }
        for (sum, flow) in all.iter_mut().zip(&self.datagrams) {
            sum.add(*flow);
        }
    }
}
