//! What a link did to the data packets of each connection: rare events, counted apart from the way that
//! most packets take.

use crate::packet::{Flags, Packet};

/// What became of the data packets of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) dropped_pkts: u64,
    pub(crate) marked_pkts: u64,
}

/// The fates of connections below an index. Most links do nothing to any connection, and hold nothing
/// of them.
#[derive(Debug, Default)]
pub(super) struct Fates {
    connections: u32,
    /// By connection, up to the last one to which something was done.
    known: Vec<Fate>,
}

impl Fates {
    /// Follows so many connections.
    pub(super) fn follow(&mut self, connections: u32) {
        self.connections = connections;
    }

    /// The fate of a packet's connection, if it is followed and the packet carries its data.
    pub(super) fn of(&mut self, packet: &Packet) -> Option<&mut Fate> {
        const OTHERS: Flags = Flags::SYN
            .with(Flags::ACK)
            .with(Flags::DATAGRAM)
            .with(Flags::LOW);
        if packet.flags.has(OTHERS) || packet.flow >= self.connections {
            return None;
        }
        let connection = packet.flow as usize;
        if connection >= self.known.len() {
            self.known.resize(connection + 1, Fate::default());
        }
        Some(&mut self.known[connection])
    }

    /// Adds them to those of other links, by connection.
    pub(super) fn add_to(&self, all: &mut [Fate]) {
        for (sum, fate) in all.iter_mut().zip(&self.known) {
            sum.dropped_pkts += fate.dropped_pkts;
            sum.marked_pkts += fate.marked_pkts;
        }
    }
}
