//! The packets that a link has accepted and that have not reached its far end.

use std::collections::VecDeque;

use longhaul_units::Time;

use crate::packet::Packet;

/// What the counters of a link need of a packet: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// When it reaches the far end.
    pub(super) time: Time,
    pub(super) bytes: u16,
}

impl Passage {
    #[inline]
    pub(super) fn of(packet: &Packet) -> Self {
        Self {
            time: packet.time,
            bytes: packet.bytes,
        }
    }
}

/// A queue whose first elements are forgotten from time to time, many at once, so that an element
/// costs little more than its entry. Holds a quarter more than it has to, and a few.
#[derive(Debug)]
pub(super) struct Backlog<T> {
    elements: VecDeque<T>,
    /// So many are a reason to forget.
    many: usize,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self {
            elements: VecDeque::new(),
            many: Self::FEW,
        }
    }
}

impl<T> Backlog<T> {
    const FEW: usize = 8;

    #[inline]
    pub(super) fn push(&mut self, element: T) {
        self.elements.push_back(element);
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.elements.iter()
    }

    /// Whether it is time to forget some.
    #[inline]
    pub(super) fn are_many(&self) -> bool {
        self.elements.len() >= self.many
    }

    /// Takes out the elements at the front that are over.
    pub(super) fn forget(&mut self, over: impl Fn(&T) -> bool) -> impl Iterator<Item = T> {
        let count = self.elements.partition_point(over);
        let left = self.elements.len() - count;
        self.many = left + left / 4 + Self::FEW;
        self.elements.drain(..count)
    }
}

/// Those packets in order, waiting, in service or propagating.
#[derive(Debug)]
pub(super) enum Ring {
    Packets(VecDeque<Packet>),
    /// Of packets that were handed on ahead of time.
    Passages(Backlog<Passage>),
}

impl Default for Ring {
    fn default() -> Self {
        Self::Packets(VecDeque::new())
    }
}

impl Ring {
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Packets(packets) => packets.len(),
            Self::Passages(passages) => passages.len(),
        }
    }

    /// The passage of the packet at a position.
    #[inline]
    pub(super) fn at(&self, at: usize) -> Passage {
        match self {
            Self::Packets(packets) => Passage::of(&packets[at]),
            Self::Passages(passages) => passages.elements[at],
        }
    }

    /// The packets of a link that delivers them itself.
    #[inline]
    pub(super) fn packets(&mut self) -> &mut VecDeque<Packet> {
        match self {
            Self::Packets(packets) => packets,
            Self::Passages(_) => unreachable!("packets handed on have no event"),
        }
    }

    /// The first packet that is still on the link.
    #[inline]
    pub(super) fn first(&self) -> Option<&Packet> {
        match self {
            Self::Packets(packets) => packets.front(),
            Self::Passages(_) => None,
        }
    }

    /// How many at the front match.
    pub(super) fn partition_point(&self, matches: impl Fn(Passage) -> bool) -> usize {
        match self {
            Self::Packets(packets) => {
                packets.partition_point(|packet| matches(Passage::of(packet)))
            }
            Self::Passages(passages) => passages
                .elements
                .partition_point(|&passage| matches(passage)),
        }
    }
}
