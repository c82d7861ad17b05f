//! Entries of the event list in order.

use serde::{Deserialize, Serialize};

/// Time in the upper half, tag in the lower: one comparison orders two entries.
pub type Key = u128;

/// A 4-ary min-heap: shallower than a binary one, and four children share a cache line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Heap {
    keys: Vec<Key>,
}

impl Heap {
    /// The first entry; the largest key if there is none.
    #[inline]
    pub fn first(&self) -> Key {
        self.keys.first().copied().unwrap_or(Key::MAX)
    }

    /// How many entries there are.
    #[inline]
    #[allow(
        clippy::len_without_is_empty,
        reason = "whether there is one, the first entry says"
    )]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, key: Key) {
        let hole = self.keys.len();
        self.keys.push(key);
        self.sift_up(hole, key);
    }

    /// Puts `key` in the place of the first entry.
    #[inline]
    pub fn replace_first(&mut self, key: Key) {
        self.sift_down(0, key);
    }

    /// Removes the first entry.
    #[inline]
    pub fn remove_first(&mut self) {
        if let Some(last) = self.keys.pop()
            && !self.keys.is_empty()
        {
            self.sift_down(0, last);
        }
    }

    /// Puts `key` in the place of `entry`, which is usually the first.
    #[inline]
    pub fn replace(&mut self, entry: Key, key: Key) {
        let at = self.position(entry);
        if at > 0 && key < self.keys[(at - 1) / 4] {
            self.sift_up(at, key);
        } else {
            self.sift_down(at, key);
        }
    }

    /// Takes out an entry that is there.
    #[inline]
    pub fn remove(&mut self, entry: Key) {
        if self.first() == entry {
            self.remove_first();
        } else if let Some(last) = self.keys.pop()
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

    /// Puts `key` into the hole at `hole` or, if it is smaller than what is above, further up.
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

    /// Puts `key` into the hole at `hole` or, if it is larger than what is below, further down.
    #[inline]
    fn sift_down(&mut self, mut hole: usize, key: Key) {
        let keys = self.keys.as_mut_slice();
        loop {
            let child = 4 * hole + 1;
            let smallest = if let Some(&[a, b, c, d]) = keys.get(child..child + 4) {
                // Three independent comparisons, no unpredictable branch.
                let (low, low_at) = if b < a { (b, child + 1) } else { (a, child) };
                let (high, high_at) = if d < c {
                    (d, child + 3)
                } else {
                    (c, child + 2)
                };
                if high < low { high_at } else { low_at }
            } else {
                let Some(at) = (child..keys.len()).min_by_key(|&at| keys[at]) else {
                    break;
                };
                at
            };
            if key <= keys[smallest] {
                break;
            }
            keys[hole] = keys[smallest];
            hole = smallest;
        }
        keys[hole] = key;
    }
}
