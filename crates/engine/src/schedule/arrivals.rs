//! Next arrivals of several links that lead to one common link, in order.

use longhaul_units::Time;

use super::calendar_queue::Due;
use super::event::{arrival_key, link_of};
use super::next_arrival::NextArrival;
use super::{key_of, time_of};
use crate::packet::Packet;
use longhaul_kernel::{Heap, Key};

/// Links that lead to one common link, ordered by the arrival times of their next packets.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    heap: Heap,
}

impl Arrivals {
    /// Returns the earliest arrival, and its link.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, u32)> {
        let first = self.heap.first();
        (first != Key::MAX).then(|| (time_of(first), link_of(first as u64)))
    }

    /// Returns the number of links with a pending arrival.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Enters the next arrival of a link that had none.
    #[inline]
    pub(crate) fn push(&mut self, next: NextArrival, link: u32) {
        self.heap.push(arrival_key(next, link));
    }

    /// Replaces the first entry by `next`, the next arrival on the same link. Removes the entry if `next` is `None`.
    #[inline(always)]
    pub(crate) fn renew_first(&mut self, link: u32, next: Option<NextArrival>) {
        match next {
            Some(next) => self.heap.replace_first(arrival_key(next, link)),
            None => self.heap.remove_first(),
        }
    }
}

/// A packet that arrives over a link which does not store its packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    /// Lower half of the arrival's key: the class of arrivals, the rank among simultaneous arrivals, and the number of
    /// the link. The upper half is `packet.time`.
    tag: u64,
    pub(crate) packet: Packet,
}

impl Arriving {
    /// Creates the entry of a packet that arrives over `link`. `packet.time` must be the time of `arrival`.
    #[inline]
    pub(crate) fn new(arrival: NextArrival, link: u32, packet: Packet) -> Self {
        Self {
            tag: arrival_key(arrival, link) as u64,
            packet,
        }
    }
}

impl Due for Arriving {
    #[inline]
    fn key(&self) -> Key {
        key_of(self.packet.time, self.tag)
    }
}
