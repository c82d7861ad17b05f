//! Storage of connections: a reused slot gets a new id.
//!
//! An id contains the slot and its generation. Stale packets and events of closed connections are thus recognised and
//! ignored. Free slots wait in a queue before they are reused: while slots can be added, an id recurs only after some
//! hundred thousand others. Deadlines of TCP's timers have no generation, and are cleared when a connection closes.

use std::collections::VecDeque;

use crate::schedule::timers;

/// Id of one direction of a connection in packets and events. It contains the slot, the slot's generation, the side,
/// and the leg: the part of the connection before or behind a proxy. The highest bit distinguishes ids from the numbers
/// of connections that exist from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId(u32);

/// Direction of data in a connection, named after the side that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// From the client, which opens the connection, to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl ConnectionId {
    const MARK: u32 = timers::OPENED;
    const GENERATION_BITS: u32 = 10;
    const SLOT_BITS: u32 = timers::OPENED_BITS - 2;
    const SECOND_LEG: u32 = 1 << 1;
    const DOWN: u32 = 1;
    /// Maximum number of simultaneous connections.
    pub(super) const SLOTS: usize = 1 << Self::SLOT_BITS;

    fn new(slot: usize, generation: u32) -> Self {
        let generation = generation % (1 << Self::GENERATION_BITS);
        Self(Self::MARK | generation << (Self::SLOT_BITS + 2) | (slot as u32) << 2)
    }

    /// Returns the id that a packet or event contains as `index`.
    pub(crate) fn of(index: u32) -> Self {
        Self(index)
    }

    /// Returns the id as an index for packets and events.
    pub(crate) fn index(self) -> u32 {
        self.0
    }

    /// Returns true if `index`, from a packet or event, identifies a connection that traffic has opened. Other
    /// connections exist from the beginning of the run.
    pub(crate) fn is_one(index: u32) -> bool {
        index & Self::MARK != 0
    }

    pub(crate) fn side(self) -> Side {
        if self.0 & Self::DOWN == 0 {
            Side::Up
        } else {
            Side::Down
        }
    }

    /// Returns the id of the direction `side` of this connection; if a proxy splits it, the id of the first leg.
    pub(crate) fn on(self, side: Side) -> Self {
        Self(self.connection().0 | u32::from(side == Side::Down))
    }

    /// Returns true if the id belongs to the leg after a proxy.
    pub(crate) fn is_second_leg(self) -> bool {
        self.0 & Self::SECOND_LEG != 0
    }

    /// Returns the id of the leg after a proxy, in the same direction.
    pub(crate) fn second_leg(self) -> Self {
        Self(self.0 | Self::SECOND_LEG)
    }

    /// Returns the id without leg and side. All ids of one connection have this part in common.
    fn connection(self) -> Self {
        Self(self.0 & !(Self::SECOND_LEG | Self::DOWN))
    }

    fn slot(self) -> usize {
        (self.0 >> 2) as usize % Self::SLOTS
    }
}

/// Slots with contents of type `T`. A content is found by its id.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    /// Free slots, in order of their release.
    free: VecDeque<u32>,
    /// Memory of contents removed from slots, for reuse. The most recently freed memory is last and is reused first,
    /// since it is probably still in the caches.
    spare: Vec<Place<T>>,
}

/// Memory for the content of a slot. It is kept when the content is removed.
type Place<T> = Box<Option<T>>;

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    content: Option<Place<T>>,
}

impl<T> Slot<T> {
    #[inline]
    fn get(&self) -> Option<&T> {
        self.content.as_deref()?.as_ref()
    }

    #[inline]
    fn get_mut(&mut self) -> Option<&mut T> {
        self.content.as_deref_mut()?.as_mut()
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: VecDeque::new(),
            spare: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Minimum number of free slots: a slot is reused only when more than this number are free, or when no slot can be
    /// added.
    const RESTING: usize = 256;

    /// Stores the content that `make` creates for a free id. Returns the id; `None` if all slots are in use.
    pub(crate) fn insert(&mut self, make: impl FnOnce(ConnectionId) -> T) -> Option<ConnectionId> {
        let slot = if self.free.len() > Self::RESTING || self.slots.len() == ConnectionId::SLOTS {
            self.free.pop_front()? as usize
        } else {
            self.slots.push(Slot {
                generation: 0,
                content: None,
            });
            self.slots.len() - 1
        };
        let slot_of_it = &mut self.slots[slot];
        let id = ConnectionId::new(slot, slot_of_it.generation);
        let mut content = self.spare.pop().unwrap_or_default();
        *content = Some(make(id));
        slot_of_it.content = Some(content);
        Some(id)
    }

    /// Returns a mutable reference to the content with this id; `None` if it has been removed.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.slot())?;
        let current = ConnectionId::new(id.slot(), slot.generation) == id.connection();
        slot.get_mut().filter(|_| current)
    }

    /// Returns a reference to the content with the id `id`; `None` if the content has been removed.
    pub(crate) fn get(&self, id: ConnectionId) -> Option<&T> {
        let slot = self.slots.get(id.slot())?;
        let current = ConnectionId::new(id.slot(), slot.generation) == id.connection();
        slot.get().filter(|_| current)
    }

    /// Returns `id` with the current generation of its slot. Needed since ids in the events of the retransmission,
    /// RACK-TLP and delayed-ACK timers contain no generation.
    pub(crate) fn renewed(&self, id: ConnectionId) -> ConnectionId {
        let generation = self.slots[id.slot()].generation;
        ConnectionId(
            ConnectionId::new(id.slot(), generation).0
                | id.0 & (ConnectionId::SECOND_LEG | ConnectionId::DOWN),
        )
    }

    /// Removes the content with this id, and retires the id. Returns false if there is no such content.
    pub(crate) fn remove(&mut self, id: ConnectionId) -> bool {
        if self.get(id).is_none() {
            return false;
        }
        let slot = &mut self.slots[id.slot()];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push_back(id.slot() as u32);
        if let Some(mut content) = slot.content.take() {
            *content = None;
            self.spare.push(content);
        }
        true
    }

    /// Returns the number of occupied slots.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the memory of the content of an id's slot without reading it, for prefetching; `None` if the slot is
    /// free. Does not compare generations.
    #[inline]
    pub(crate) fn place(&self, id: ConnectionId) -> Option<&Option<T>> {
        self.slots.get(id.slot())?.content.as_deref()
    }

    /// Calls `act` on the content of every slot, in order. To prefetch memory, calls `announce` on each content some
    /// slots earlier.
    pub(crate) fn for_each(&mut self, announce: impl Fn(&Option<T>), mut act: impl FnMut(&mut T)) {
        /// Number of slots, ahead of the current one, whose memory is prefetched.
        const AHEAD: usize = 4;
        for slot in 0..self.slots.len() {
            if let Some(later) = self.slots.get(slot + AHEAD) {
                later.content.as_deref().into_iter().for_each(&announce);
            }
            if let Some(content) = self.slots[slot].get_mut() {
                act(content);
            }
        }
    }

    /// Returns mutable references to the contents of all occupied slots, in the order of the slots.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let slots = self.slots.iter_mut();
        slots.filter_map(Slot::get_mut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_thing_only() {
        let mut slab = Slab::default();
        let mut dead = Vec::new();
        for number in 0..5000 {
            let id = slab.insert(|_| number).expect("there is room");
            assert!(ConnectionId::is_one(id.index()));
            assert_eq!(slab.get_mut(id.on(Side::Down)), Some(&mut number.clone()));
            assert!(slab.remove(id));
            dead.push(id);
        }
        assert!(slab.slots.len() <= Slab::<i32>::RESTING + 1);
        let alive = slab.insert(|_| 0).expect("there is room");
        for id in dead {
            assert_ne!(id, alive);
            assert_eq!(slab.get(id), None);
            assert!(!slab.remove(id));
        }
        assert_eq!(slab.iter_mut().count(), 1);
        let of_old = ConnectionId::new(alive.slot(), 0)
            .on(Side::Down)
            .second_leg();
        assert_eq!(slab.renewed(of_old), alive.on(Side::Down).second_leg());
    }

    #[test]
    fn sides_and_legs_are_told_apart() {
        let id = ConnectionId::new(0x7_ffff, 1023);
        assert_eq!((id.slot(), id.side()), (0x7_ffff, Side::Up));
        let down = ConnectionId::of(id.on(Side::Down).index());
        assert_eq!((down.slot(), down.side()), (0x7_ffff, Side::Down));
        assert_eq!(down.on(Side::Up), id);
        let second_leg = ConnectionId::of(down.second_leg().index());
        assert_eq!(
            (second_leg.slot(), second_leg.side()),
            (0x7_ffff, Side::Down)
        );
        assert!(second_leg.is_second_leg() && !down.is_second_leg());
        assert_eq!(second_leg.on(Side::Down), down);
        assert_eq!(second_leg.connection(), id);
    }
}
