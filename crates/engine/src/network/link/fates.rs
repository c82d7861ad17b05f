//! What a link did to the data packets of each connection: rare events, counted apart from the way that
//! most packets take.

use crate::packet::{Flags, Packet};

/// What became of the data packets of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) dropped_pkts: u64,
    pub(crate) marked_pkts: u64,
}

/// The fates of connections, by their index; others than these are not followed.
#[derive(Debug, Default)]
pub(super) struct Fates(Vec<Fate>);

impl Fates {
    /// Follows so many connections.
    pub(super) fn follow(&mut self, connections: usize) {
        self.0.resize(connections, Fate::default());
    }

    /// The fate of a packet's connection, if it is followed and the packet carries its data.
    pub(super) fn of(&mut self, packet: &Packet) -> Option<&mut Fate> {
        const OTHERS: Flags = Flags::SYN
            .with(Flags::ACK)
            .with(Flags::DATAGRAM)
            .with(Flags::LOW);
        if packet.flags.has(OTHERS) {
            return None;
        }
        self.0.get_mut(packet.flow as usize)
    }

    /// The fates of all connections.
    pub(super) fn all(&self) -> &[Fate] {
        &self.0
    }
}
