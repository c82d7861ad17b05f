//! A heap for the entries of an event list.

use serde::{Deserialize, Serialize};

/// An entry of the heap: a time in the upper half of the number, a tag in the lower half. A single
/// comparison orders two entries.
pub type Key = u128;

/// A min-heap with four children per entry. It is shallower than a binary heap. The four children have the size of a
/// cache line, and are adjacent: they occupy at most two lines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Heap {
    /// The entries, followed by padding with `Key::MAX`, so that an entry with any children has
    /// exactly four.
    keys: Vec<Key>,
    len: usize,
}

impl Heap {
    /// Returns the smallest entry; `Key::MAX` if the heap is empty.
    #[inline]
    pub fn first(&self) -> Key {
        self.keys.first().copied().unwrap_or(Key::MAX)
    }

    /// Returns the number of entries.
    #[inline]
    #[allow(
        clippy::len_without_is_empty,
        reason = "whether there is one, the first entry says"
    )]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, key: Key) {
        let hole = self.len;
        self.len += 1;
        if hole == self.keys.len() {
            self.make_room();
        }
        self.sift_up(hole, key);
    }

    /// Appends padding for entries to come: for the root, or for the four children of an entry.
    #[cold]
    fn make_room(&mut self) {
        let places = if self.keys.is_empty() { 1 } else { 4 };
        self.keys.resize(self.keys.len() + places, Key::MAX);
    }

    /// Replaces the smallest entry by `key`. The heap must not be empty.
    #[inline]
    pub fn replace_first(&mut self, key: Key) {
        self.sift_down(0, key);
    }

    /// Removes the smallest entry; does nothing if the heap is empty.
    #[inline]
    pub fn remove_first(&mut self) {
        if let Some(last) = self.pop_last()
            && self.len > 0
        {
            self.sift_down(0, last);
        }
    }

    /// Removes and returns the last entry of the array; `None` if the heap is empty.
    #[inline]
    fn pop_last(&mut self) -> Option<Key> {
        self.len = self.len.checked_sub(1)?;
        Some(std::mem::replace(&mut self.keys[self.len], Key::MAX))
    }

    /// Replaces the entry `entry`, which must be in the heap, by `key`. This is fast if `entry` is the smallest one, as
    /// it usually is; otherwise the array is searched.
    #[inline]
    pub fn replace(&mut self, entry: Key, key: Key) {
        let at = self.position(entry);
        if at > 0 && key < self.keys[(at - 1) / 4] {
            self.sift_up(at, key);
        } else {
            self.sift_down(at, key);
        }
    }

    /// Removes the entry `entry`, which must be in the heap.
    #[inline]
    pub fn remove(&mut self, entry: Key) {
        if self.first() == entry {
            self.remove_first();
        } else if let Some(last) = self.pop_last()
            && last != entry
        {
            self.replace(entry, last);
        }
    }

    #[inline]
    fn position(&self, entry: Key) -> usize {
        if self.first() == entry {
            return 0;
        }
        let at = self.keys.iter().position(|&key| key == entry);
        at.expect("only entries of the heap are replaced")
    }

    /// Fills the hole at `hole` with `key`, after moving larger ancestors down.
    #[inline]
    fn sift_up(&mut self, mut hole: usize, key: Key) {
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    /// Fills the hole at `hole` with `key`, after moving smaller descendants up.
    #[inline]
    fn sift_down(&mut self, mut hole: usize, key: Key) {
        let keys = self.keys.as_mut_slice();
        while 4 * hole + 1 < self.len
            && let Some(children) = keys[4 * hole + 1..].first_chunk()
        {
            let first = first_of(children);
            let first_key = children[first];
            if key <= first_key {
                break;
            }
            keys[hole] = first_key;
            hole = 4 * hole + 1 + first;
        }
        keys[hole] = key;
    }
}

/// Returns the index of the smallest of four keys, with three comparisons and no unpredictable
/// branch.
#[inline]
fn first_of(keys: &[Key; 4]) -> usize {
    let low = usize::from(keys[1] < keys[0]);
    let high = 2 + usize::from(keys[3] < keys[2]);
    if keys[high] < keys[low] { high } else { low }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any additions, replacements and removals the first entry is the smallest.
        #[test]
        fn the_smallest_is_first(steps in prop::collection::vec((0u8..5, any::<u8>(), any::<u8>()), 1..300)) {
            let (mut heap, mut model) = (Heap::default(), Vec::new());
            for (number, (step, which, time)) in (0..).zip(steps) {
                let key = Key::from(time) << 64 | number;
                model.sort_unstable();
                match (step, model.len()) {
                    (0 | 1, _) | (_, 0) => {
                        heap.push(key);
                        model.push(key);
                    }
                    (2, _) => {
                        heap.replace_first(key);
                        model[0] = key;
                    }
                    (3, len) => {
                        let entry = &mut model[usize::from(which) % len];
                        heap.replace(*entry, key);
                        *entry = key;
                    }
                    (_, len) => heap.remove(model.remove(usize::from(which) % len)),
                }
                prop_assert_eq!(heap.len(), model.len());
                prop_assert_eq!(heap.first(), model.iter().copied().min().unwrap_or(Key::MAX));
            }
        }
    }
}
