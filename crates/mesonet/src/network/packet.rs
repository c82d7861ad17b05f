//! Packets without size: five types, a number, and where they go (spec 004a B.2).

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A source asks for a connection.
    Syn,
    /// A receiver grants it.
    SynAck,
    /// A part of the file.
    Data,
    /// The answer to a data packet that came in order.
    Ack,
    /// The answer to a data packet that came after a gap.
    Nak,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Syn, Self::SynAck, Self::Data, Self::Ack, Self::Nak];
}

/// The name of a flow while it lasts: a place, and which of those that had the place it is. Packets
/// of a flow that is over find another in its place, and are known by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlowId {
    pub(crate) place: u32,
    /// Wraps; packets live for far less than as many flows in one place.
    pub(crate) life: u16,
}

/// A packet, or a turn of a host: 24 bytes. The order of its fields is that in which processors copy it,
/// sixteen bytes and eight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Packet {
    /// When the source made the data packet that this is, or that this answers.
    pub(crate) created: Time,
    /// The number above the kind.
    label: u64,
    place: u32,
    life: u16,
    /// Access router that it goes to.
    pub(crate) to: u16,
}

impl Packet {
    const KIND_BITS: u32 = 3;

    #[inline]
    pub(crate) fn new(kind: Kind, number: u64, flow: FlowId, to: u16, created: Time) -> Self {
        Self {
            created,
            label: number << Self::KIND_BITS | kind as u64,
            place: flow.place,
            life: flow.life,
            to,
        }
    }

    /// What it is.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        let bits = self.label & ((1 << Self::KIND_BITS) - 1);
        Kind::ALL[bits as usize % Kind::ALL.len()]
    }

    /// A data packet's own number, or the one that an answer expects next.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.label >> Self::KIND_BITS
    }

    /// The flow that it belongs to.
    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        FlowId {
            place: self.place,
            life: self.life,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_what_it_was_made_of() {
        assert_eq!(size_of::<Packet>(), 24);
        let flow = FlowId {
            place: 4_000_000_000,
            life: 65_535,
        };
        for kind in Kind::ALL {
            let packet = Packet::new(kind, 1 << 40, flow, 138, Time::from_ps(7));
            assert_eq!((packet.kind(), packet.number()), (kind, 1 << 40));
            assert_eq!((packet.flow(), packet.to), (flow, 138));
        }
    }
}
