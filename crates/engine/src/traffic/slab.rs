//! Where dialogues live: slots that are used again, under names that are not.
//!
//! A name says slot and generation, so that a packet or timer of a dialogue that is over finds nobody.
//! Slots rest before they are used again: a name comes back only after some hundred thousand others.

use std::collections::VecDeque;

use crate::schedule::timers;

/// The name of one direction of a connection, as packets and events know it: the generation of its
/// slot, the slot, the leg, and the side. The highest bit tells it from the numbers of connections that
/// are there from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name(u32);

/// Which way data goes in a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// From the client, which opens it, to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Name {
    const MARK: u32 = timers::OPENED;
    const GENERATION_BITS: u32 = 10;
    const SLOT_BITS: u32 = timers::OPENED_BITS - 2;
    const ONWARD: u32 = 1 << 1;
    const DOWN: u32 = 1;
    /// How many there may be at once.
    pub(super) const SLOTS: usize = 1 << Self::SLOT_BITS;

    fn new(slot: usize, generation: u32) -> Self {
        let generation = generation % (1 << Self::GENERATION_BITS);
        Self(Self::MARK | generation << (Self::SLOT_BITS + 2) | (slot as u32) << 2)
    }

    /// Of what packets and events carry.
    pub(crate) fn of(index: u32) -> Self {
        Self(index)
    }

    /// What they carry.
    pub(crate) fn index(self) -> u32 {
        self.0
    }

    /// Whether this is such a name.
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

    /// The first leg of a direction of the same connection.
    pub(crate) fn on(self, side: Side) -> Self {
        Self(self.connection().0 | u32::from(side == Side::Down))
    }

    /// Whether it is the leg behind a proxy.
    pub(crate) fn is_onward(self) -> bool {
        self.0 & Self::ONWARD != 0
    }

    /// The leg behind a proxy of the same direction.
    pub(crate) fn onward(self) -> Self {
        Self(self.0 | Self::ONWARD)
    }

    /// What all names of one connection have in common.
    fn connection(self) -> Self {
        Self(self.0 & !(Self::ONWARD | Self::DOWN))
    }

    fn slot(self) -> usize {
        (self.0 >> 2) as usize % Self::SLOTS
    }
}

/// What lives in slots.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    /// Free slots, those that have rested longest first.
    free: VecDeque<u32>,
    /// Memory of what was there, the newest last: most of it is still in the processor's caches.
    spare: Vec<Place<T>>,
}

/// Memory for one thing, which is kept when that goes.
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
    /// So many free slots rest at any time.
    const RESTING: usize = 256;

    /// Puts in what `make` makes for its name; nothing if all slots are taken.
    pub(crate) fn insert(&mut self, make: impl FnOnce(Name) -> T) -> Option<Name> {
        let slot = if self.free.len() > Self::RESTING || self.slots.len() == Name::SLOTS {
            self.free.pop_front()? as usize
        } else {
            self.slots.push(Slot {
                generation: 0,
                content: None,
            });
            self.slots.len() - 1
        };
        let slot_of_it = &mut self.slots[slot];
        let name = Name::new(slot, slot_of_it.generation);
        let mut content = self.spare.pop().unwrap_or_default();
        *content = Some(make(name));
        slot_of_it.content = Some(content);
        Some(name)
    }

    /// What has this name, if it is still there.
    #[inline]
    pub(crate) fn get_mut(&mut self, name: Name) -> Option<&mut T> {
        let slot = self.slots.get_mut(name.slot())?;
        let current = Name::new(name.slot(), slot.generation) == name.connection();
        slot.get_mut().filter(|_| current)
    }

    /// The same to look at only.
    pub(crate) fn get(&self, name: Name) -> Option<&T> {
        let slot = self.slots.get(name.slot())?;
        let current = Name::new(name.slot(), slot.generation) == name.connection();
        slot.get().filter(|_| current)
    }

    /// The name of what has the slot of this one now, on the same side and leg: a timer's event does not
    /// tell generations.
    pub(crate) fn renewed(&self, name: Name) -> Name {
        let generation = self.slots[name.slot()].generation;
        Name(Name::new(name.slot(), generation).0 | name.0 & (Name::ONWARD | Name::DOWN))
    }

    /// Drops what has this name, which nobody has from now on. Returns whether there was anything.
    pub(crate) fn remove(&mut self, name: Name) -> bool {
        if self.get(name).is_none() {
            return false;
        }
        let slot = &mut self.slots[name.slot()];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push_back(name.slot() as u32);
        if let Some(mut content) = slot.content.take() {
            *content = None;
            self.spare.push(content);
        }
        true
    }

    /// How many things are there.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Where the thing of this name is, if there is any, which need not be in the processor's caches.
    #[inline]
    pub(crate) fn place(&self, name: Name) -> Option<&Option<T>> {
        self.slots.get(name.slot())?.content.as_deref()
    }

    /// Does something with everything that is there, in the order of slots, after `announce` has seen the
    /// place of it some time before.
    pub(crate) fn for_each(&mut self, announce: impl Fn(&Option<T>), mut act: impl FnMut(&mut T)) {
        /// Slots that are long enough for memory to come.
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

    /// Everything that is there, in the order of slots.
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
            let name = slab.insert(|_| number).expect("there is room");
            assert!(Name::is_one(name.index()));
            assert_eq!(slab.get_mut(name.on(Side::Down)), Some(&mut number.clone()));
            assert!(slab.remove(name));
            dead.push(name);
        }
        assert!(slab.slots.len() <= Slab::<i32>::RESTING + 1);
        let alive = slab.insert(|_| 0).expect("there is room");
        for name in dead {
            assert_ne!(name, alive);
            assert_eq!(slab.get(name), None);
            assert!(!slab.remove(name));
        }
        assert_eq!(slab.iter_mut().count(), 1);
        let of_old = Name::new(alive.slot(), 0).on(Side::Down).onward();
        assert_eq!(slab.renewed(of_old), alive.on(Side::Down).onward());
    }

    #[test]
    fn sides_and_legs_are_told_apart() {
        let name = Name::new(0x7_ffff, 1023);
        assert_eq!((name.slot(), name.side()), (0x7_ffff, Side::Up));
        let down = Name::of(name.on(Side::Down).index());
        assert_eq!((down.slot(), down.side()), (0x7_ffff, Side::Down));
        assert_eq!(down.on(Side::Up), name);
        let onward = Name::of(down.onward().index());
        assert_eq!((onward.slot(), onward.side()), (0x7_ffff, Side::Down));
        assert!(onward.is_onward() && !down.is_onward());
        assert_eq!(onward.on(Side::Down), down);
        assert_eq!(onward.connection(), name);
    }
}
