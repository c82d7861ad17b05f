//! The packets of a link, in the order of their arrival at its far end.

use longhaul_kernel::memory;
use longhaul_units::Time;

use crate::packet::Packet;

/// Packets that a link has accepted (with explicit service, packets that have begun service), numbered from 0 in the
/// order of their arrival at the far end. A packet may be forwarded before its departure, but stays in the ring as long
/// as the link needs it.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Slots of packets; none before the first packet, then a power of two. Packet `n` is in slot `n` modulo the number
    /// of slots.
    slots: Vec<Packet>,
    accepted: usize,
    forwarded: usize,
    /// Number of accepted packets that no longer have a slot. These are the oldest packets.
    forgotten: usize,
}

impl Ring {
    const FEWEST_SLOTS: usize = 4;

    /// Returns the number of packets accepted so far.
    #[inline]
    pub(super) fn accepted(&self) -> usize {
        self.accepted
    }

    /// Returns the number of packets accepted and not forwarded yet.
    pub(super) fn under_way(&self) -> usize {
        self.accepted - self.forwarded
    }

    /// Returns the packet with this number, which must still be in the ring.
    #[inline]
    pub(super) fn at(&self, number: usize) -> &Packet {
        &self.slots[number & (self.slots.len() - 1)]
    }

    /// Appends a packet; returns true if it is the next one to forward. If the ring is full, forwarded packets below
    /// number `needed` are removed. If the ring must grow and the memory budget refuses, the run ends by unwinding. If
    /// the budget has refused memory before, returns false without effect instead.
    #[inline(always)]
    pub(super) fn push(&mut self, packet: Packet, needed: usize) -> bool {
        if self.accepted - self.forgotten == self.slots.len() && !self.make_room(needed, packet) {
            return false;
        }
        let (number, mask) = (self.accepted, self.slots.len() - 1);
        self.accepted += 1;
        self.slots[number & mask] = packet;
        number == self.forwarded
    }

    /// Frees the slots of the forwarded packets before packet `needed`. If less than an eighth of the slots is then
    /// free, doubles the ring; if the memory budget refuses, the run ends by unwinding. Returns false if the ring would
    /// have to grow, but the budget has refused memory before.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, needed: usize, filler: Packet) -> bool {
        self.forgotten = self.forwarded.min(needed).max(self.forgotten);
        let kept = self.accepted - self.forgotten;
        if 8 * kept <= 7 * self.slots.len() && !self.slots.is_empty() {
            return true;
        }
        if memory::is_exhausted() {
            return false;
        }
        let slots = (2 * self.slots.len()).max(Self::FEWEST_SLOTS);
        memory::claim::<Packet>("packets of a link", slots);
        let mut larger = vec![filler; slots];
        for number in self.forgotten..self.accepted {
            larger[number & (slots - 1)] = *self.at(number);
        }
        self.slots = larger;
        true
    }

    /// Returns the next packet to forward.
    #[inline]
    pub(super) fn next(&self) -> Option<&Packet> {
        (self.forwarded < self.accepted).then(|| self.at(self.forwarded))
    }

    /// Forwards and returns the next packet, if it reaches the far end by `until`.
    #[inline(always)]
    pub(super) fn forward(&mut self, until: Time) -> Option<&Packet> {
        let packet = self.next()?;
        if packet.time > until {
            return None;
        }
        self.forwarded += 1;
        Some(self.last_forwarded())
    }

    /// Returns the packet that will be forwarded after `others` other packets, if it is in the ring.
    #[inline]
    pub(super) fn ahead(&self, others: usize) -> Option<&Packet> {
        let number = self.forwarded + others;
        (number < self.accepted).then(|| self.at(number))
    }

    /// Returns the packet that was forwarded last.
    #[inline(always)]
    pub(super) fn last_forwarded(&self) -> &Packet {
        self.at(self.forwarded.wrapping_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Flags, SackHandle};

    fn packet(number: usize) -> Packet {
        Packet {
            time: Time::from_ps(number as u64),
            ns2_s: 0.0,
            seq: number as u64,
            stamp: Time::ZERO,
            flow: 0,
            route: 0,
            sack: SackHandle::NONE,
            bytes: 1500,
            flags: Flags::NONE,
        }
    }

    /// A ring that is empty from time to time keeps its number of slots, whatever number of packets passes.
    #[test]
    fn an_empty_ring_does_not_grow() {
        let mut ring = Ring::default();
        for number in 0..1000 {
            ring.push(packet(number), number);
            assert!(ring.forward(Time::from_ps(number as u64)).is_some());
        }
        assert_eq!(ring.slots.len(), Ring::FEWEST_SLOTS);
    }

    proptest! {
        /// In random bursts of arrivals and departures, the ring forwards packets in order, and keeps all packets from
        /// number `needed` on.
        #[test]
        fn packets_keep_their_order_and_what_is_needed_stays(
            bursts in prop::collection::vec((0usize..40, 0usize..40, 0usize..20), 1..60),
        ) {
            let mut ring = Ring::default();
            let (mut next, mut needed) = (0, 0);
            for (arrivals, departures, lag) in bursts {
                needed = ring.accepted().saturating_sub(lag).max(needed);
                for _ in 0..arrivals {
                    let number = ring.accepted();
                    let leads = ring.push(packet(number), needed);
                    prop_assert_eq!(leads, next == number);
                    for kept in needed..number {
                        prop_assert_eq!(ring.at(kept).seq, kept as u64);
                    }
                }
                for _ in 0..departures {
                    let until = Time::from_ps(next as u64);
                    let out = ring.forward(until).map(|packet| packet.seq);
                    prop_assert_eq!(out, (next < ring.accepted()).then_some(next as u64));
                    next += usize::from(out.is_some());
                    prop_assert!(ring.forward(until).is_none());
                }
            }
        }
    }
}
