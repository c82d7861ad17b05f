//! FIFOs of packets.

use serde::{Deserialize, Serialize};

/// A FIFO of entries of type `T`: a ring. Its size is a power of two, so an index wraps with one
/// instruction. A FIFO that has become empty begins again at the first slot. A FIFO that is short and
/// often empty thus stays in the same few cache lines, even if it was long before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fifo<T> {
    /// Slots of the ring; a slot without an entry has an old value.
    ring: Vec<T>,
    first: usize,
    len: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self {
            ring: Vec::new(),
            first: 0,
            len: 0,
        }
    }
}

impl<T: Copy> Fifo<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the slot of the entry with index `at`, counted from the first entry.
    #[inline]
    fn place(&self, at: usize) -> usize {
        (self.first + at) & self.ring.len().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.ring.get(self.first)
    }

    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        if self.len == self.ring.len() {
            self.make_room(entry);
        }
        let place = self.place(self.len);
        self.ring[place] = entry;
        self.len += 1;
    }

    /// Makes room for one more entry; `filler` is the content of new slots.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, filler: T) {
        /// Number of slots of the smallest ring.
        const MIN: usize = 4;
        self.ring.rotate_left(self.first);
        self.first = 0;
        self.ring.resize((2 * self.len).max(MIN), filler);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let taken = *self.first()?;
        self.len -= 1;
        // An empty FIFO begins again at the start of its memory. This is a product, since a branch
        // would be hard to predict.
        self.first = self.place(1) * usize::from(self.len > 0);
        Some(taken)
    }

    /// Removes and returns the first entry. Also returns the `value` of the next entry, or `none` if there is no next
    /// entry.
    #[inline]
    pub(super) fn pop_and_next<V: Copy>(
        &mut self,
        value: impl Fn(&T) -> V,
        none: V,
    ) -> Option<(T, V)> {
        let taken = self.pop()?;
        // Without a next entry, this is the value of a stale entry.
        let next = value(self.ring.get(self.first)?);
        Some((taken, if self.len == 0 { none } else { next }))
    }

    /// Returns the entries from the first to the last.
    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let until_end = self.len.min(self.ring.len() - self.first);
        let wrapped = &self.ring[..self.len - until_end];
        self.ring[self.first..self.first + until_end]
            .iter()
            .chain(wrapped)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Checks that entries leave in the order of their arrival, as in the standard library's queue.
    /// Sizes are varied so that the ring is full, wraps and grows.
    #[test]
    fn entries_leave_in_the_order_in_which_they_came() {
        let (mut fifo, mut expected) = (Fifo::default(), VecDeque::new());
        let mut next = 0_u32;
        for round in 0..200_usize {
            for _ in 0..round * 7 % 11 {
                fifo.push(next);
                expected.push_back(next);
                next += 1;
            }
            assert!(fifo.iter().eq(&expected) && fifo.iter().rev().eq(expected.iter().rev()));
            for _ in 0..round * 13 % 9 {
                assert_eq!(fifo.first(), expected.front());
                assert_eq!(fifo.pop(), expected.pop_front());
            }
            let popped = expected.pop_front();
            let next = popped.map(|popped| (popped, expected.front().copied().unwrap_or(u32::MAX)));
            assert_eq!(fifo.pop_and_next(|&entry| entry, u32::MAX), next);
            assert_eq!(
                (fifo.len(), fifo.is_empty()),
                (expected.len(), expected.is_empty())
            );
        }
        assert!(next > 900);
    }
}
