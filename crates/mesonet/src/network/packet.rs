//! Packets (NIST SP 500-282, chapter 3). A packet has one of five types, a sequence number and a
//! destination, but no size.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

pub(crate) use crate::records::PacketKind as Kind;

/// Identity of a flow at one of its ends: a slot in the tables of the end's region, and the
/// generation of that slot. Stale packets of earlier flows in the slot have other generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlowId {
    pub(crate) slot: u32,
    /// Number of earlier flows in the slot, modulo 65,536. No packet stays in the network for so many flows.
    pub(crate) generation: u16,
}

impl FlowId {
    /// Returns the identity of the next flow in the slot.
    pub(crate) fn next_generation(self) -> Self {
        Self {
            generation: self.generation.wrapping_add(1),
            ..self
        }
    }
}

/// A packet: 24 bytes in three words. With smaller fields, compilers would store and load a packet
/// in different pieces, and processors would wait for the stores.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Packet {
    /// Send time of this data packet; for an acknowledgement, that of the acknowledged packet.
    pub(crate) created: Time,
    /// Sequence number in the upper bits, kind in the lower bits.
    label: u64,
    /// The flow's slot and generation, and the access router of the packet's destination, in this order
    /// from the lowest bits.
    end: u64,
}

impl Packet {
    const KIND_BITS: u32 = 3;

    /// Packet that fills unused slots.
    pub(crate) const FILLER: Self = Self {
        created: Time::ZERO,
        label: 0,
        end: u32::MAX as u64,
    };

    #[inline]
    pub(crate) fn new(kind: Kind, number: u64, flow: FlowId, to: u16, created: Time) -> Self {
        Self {
            created,
            label: number << Self::KIND_BITS | kind as u64,
            end: Self::end(flow, to),
        }
    }

    #[inline]
    fn end(flow: FlowId, to: u16) -> u64 {
        u64::from(flow.slot) | u64::from(flow.generation) << 32 | u64::from(to) << 48
    }

    /// Returns a copy of the packet with the flow id `flow`. A flow has a separate id at each end; `flow` must be the
    /// id at the packet's destination.
    #[inline]
    pub(crate) fn for_flow(self, flow: FlowId) -> Self {
        Self {
            end: Self::end(flow, self.to()),
            ..self
        }
    }

    /// Returns the destination access router.
    #[inline]
    pub(crate) fn to(&self) -> u16 {
        (self.end >> 48) as u16
    }

    /// Returns the packet's type.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        match self.label & ((1 << Self::KIND_BITS) - 1) {
            0 => Kind::Syn,
            1 => Kind::SynAck,
            2 => Kind::Data,
            3 => Kind::Ack,
            _ => Kind::Nak,
        }
    }

    /// Returns the sequence number; for an acknowledgement, the number expected next.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.label >> Self::KIND_BITS
    }

    /// Returns the flow's id at the packet's destination; for an acknowledgement that its receiver has not sent yet,
    /// the id at the receiver.
    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        FlowId {
            slot: self.end as u32,
            generation: (self.end >> 32) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_packed_without_loss() {
        assert_eq!(size_of::<Packet>(), 24);
        let flow = FlowId {
            slot: 4_000_000_000,
            generation: 65_535,
        };
        for kind in [Kind::Syn, Kind::SynAck, Kind::Data, Kind::Ack, Kind::Nak] {
            let packet = Packet::new(kind, 1 << 40, flow, 138, Time::from_ps(7));
            assert_eq!((packet.kind(), packet.number()), (kind, 1 << 40));
            assert_eq!((packet.flow(), packet.to()), (flow, 138));
        }
    }
}
