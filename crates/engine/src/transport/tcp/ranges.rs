//! A set of segment numbers, seen as ranges `[left, right)`.
//!
//! Receivers store the segments that arrived out of order, and senders the selectively acknowledged segments. New data
//! extends the last range, which is stored separately. All other numbers are in a bitmap. The cost of a search is
//! therefore independent of the number of ranges.

use crate::packet::{SackBlocks, SackOption};
use crate::transport::tcp::bitmap::Bitmap;

/// A range without numbers.
const EMPTY: (u64, u64) = (0, 0);

/// Disjoint ranges of segment numbers that do not touch.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    /// The range with the largest numbers, which most insertions extend; empty if the set is empty.
    newest: (u64, u64),
    total: u64,
    /// Bound below which the bitmap `older` has all numbers of the set, even those in the range `newest`.
    stored: u64,
    /// Bitmap of the numbers in the set that are below the range `newest`, and of those in it that are below `stored`.
    older: Bitmap,
    /// SACK blocks of the last acknowledgement given to [`Self::repeats`], without the first block.
    repeated: [(u64, u64); SackBlocks::MAX - 1],
}

impl Ranges {
    /// Returns the count of numbers in the set.
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.newest == EMPTY
    }

    /// Returns one more than the largest number, or zero if the set is empty.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.newest.1
    }

    /// Returns the last range.
    #[inline]
    pub(crate) fn newest(&self) -> Option<(u64, u64)> {
        (!self.is_empty()).then_some(self.newest)
    }

    /// Returns the ranges from the last to the first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        std::iter::successors(self.newest(), |&(left, _)| {
            let right = self.older.last(left)? + 1;
            Some((self.older.begin_of_run(right), right))
        })
    }

    pub(crate) fn clear(&mut self) {
        self.older.clear();
        self.newest = EMPTY;
        self.total = 0;
        self.stored = 0;
        self.repeated = Default::default();
    }

    /// Returns the range that contains `number`.
    #[inline]
    pub(crate) fn containing(&self, number: u64) -> Option<(u64, u64)> {
        if number >= self.newest.0 {
            return (number < self.newest.1).then_some(self.newest);
        }
        let range = || {
            let left = self.older.begin_of_run(number);
            (left, self.older.next_absent(number))
        };
        self.older.contains(number).then(range)
    }

    /// Returns the smallest number at or above `from` that is not in the set.
    #[inline]
    pub(crate) fn next_absent(&self, from: u64) -> u64 {
        if from >= self.newest.0 {
            from.max(self.newest.1)
        } else {
            self.older.next_absent(from)
        }
    }

    /// Adds `[left, right)`; calls `added` with each part that was not in the set yet.
    #[inline(always)]
    pub(crate) fn add(&mut self, left: u64, right: u64, mut added: impl FnMut(u64, u64)) {
        debug_assert!(left < right, "nothing to add");
        if left > self.end() {
            self.begin(left);
        }
        if left < self.newest.0 {
            self.add_below(left, right.min(self.newest.0), &mut added);
        }
        // In most cases, the last range grows.
        let end = self.newest.1;
        if right > end {
            added(end, right);
            self.total += right - end;
            self.newest.1 = right;
        }
    }

    /// Begins a new, still empty last range at `left`, above all numbers of the set.
    #[inline(never)]
    fn begin(&mut self, left: u64) {
        let (first, end) = self.newest;
        let first = first.max(self.stored);
        if first < end {
            self.older.insert(first, end);
            self.stored = end;
        }
        self.newest = (left, left);
    }

    /// Adds `[left, right)`, below the last range or touching it. Calls `added` with each part that was not in the set
    /// yet.
    #[inline(never)]
    fn add_below(&mut self, left: u64, right: u64, added: &mut impl FnMut(u64, u64)) {
        let mut hole = self.older.next_absent(left);
        while hole < right {
            let end = match self.older.next(hole) {
                Some(next) if hole + 1 < right => next.min(right),
                _ => right,
            };
            added(hole, end);
            self.total += end - hole;
            self.older.insert(hole, end);
            hole = self.older.next_absent(end);
        }
        let first = self.newest.0;
        if right == first {
            self.newest.0 = self.older.begin_of_run(first);
            self.stored = self.stored.max(first);
        }
    }

    /// Returns true if all SACK blocks except the first equal those of the previous acknowledgement, and thus report
    /// nothing new. `next` is the acknowledgement number.
    #[inline]
    pub(crate) fn repeats(&mut self, sack: &SackOption, next: u64) -> bool {
        let [_, older @ ..] = sack.all(next);
        let repeats = older == self.repeated;
        if !repeats {
            self.repeated = older;
        }
        repeats
    }

    /// Returns the SACK blocks of an acknowledgement, and the number `n` of blocks that may report new segments: the
    /// first `n` blocks, which the caller has to add to the set. `next` is the acknowledgement number.
    #[inline]
    pub(crate) fn unseen(
        &mut self,
        sack: &SackOption,
        next: u64,
    ) -> ([(u64, u64); SackBlocks::MAX], usize) {
        let count = if sack.has_blocks() && self.repeats(sack, next) {
            1
        } else {
            sack.len()
        };
        (sack.all(next), count)
    }

    /// Removes everything below `number`; returns the count of numbers removed.
    #[inline]
    pub(crate) fn remove_below(&mut self, number: u64) -> u64 {
        let (first, end) = self.newest;
        let mut removed = self.older.remove_below(number.min(first));
        if number > first {
            self.older.remove_below(number);
            removed += number.min(end) - first;
            self.newest.0 = number;
            if number >= end {
                self.newest = EMPTY;
                self.stored = 0;
            }
        }
        self.total -= removed;
        removed
    }

    /// Returns the smallest number at or above `from` that is not in the set, if a larger number is in the set.
    #[inline]
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        let absent = self.next_absent(from);
        (absent < self.end()).then_some(absent)
    }

    /// Returns the count of numbers of the set in `[left, right)`. Reads all words of the bitmap from `left` to
    /// `right`.
    pub(crate) fn count_in(&self, left: u64, right: u64) -> u64 {
        let (first, end) = self.newest;
        let newest = right.min(end).saturating_sub(left.max(first));
        newest + self.older.count(left, right.min(first))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::packet::SackStore;
    use proptest::prelude::*;

    proptest! {
        /// [`Ranges::unseen`] leaves out a SACK block only if the set already contains all numbers of the block.
        #[test]
        fn what_is_left_out_is_known(
            acks in prop::collection::vec(prop::collection::vec((0u64..6, 1u64..4), 0..4), 1..40),
        ) {
            let mut ranges = Ranges::default();
            let mut store = SackStore::default();
            for (next, ack) in (1..).zip(acks) {
                let mut blocks = SackBlocks::NONE;
                let all: Vec<_> = ack.iter().map(|&(at, long)| (40 + at, 40 + at + long)).collect();
                all.iter().for_each(|&block| blocks.push(block));
                let handle = store.put(&blocks, next);
                let (unseen, count) = ranges.unseen(&store.take(handle), next);
                prop_assert_eq!(&unseen[..count], &all[..count]);
                for &(left, right) in &unseen[..count] {
                    ranges.add(left, right, |_, _| {});
                }
                for &(left, right) in &all {
                    prop_assert_eq!(ranges.count_in(left, right), right - left);
                }
            }
        }

        /// Compares the ranges with a reference set of numbers.
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((0u64..60, 1u64..12, 0u8..4), 1..60)) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (left, length, action) in steps {
                if action == 0 {
                    let removed = ranges.remove_below(left);
                    let kept: BTreeSet<u64> = set.iter().copied().filter(|&n| n >= left).collect();
                    prop_assert_eq!(removed as usize, set.len() - kept.len());
                    set = kept;
                } else {
                    let mut fresh = Vec::new();
                    ranges.add(left, left + length, |l, r| fresh.extend(l..r));
                    let expected: Vec<u64> =
                        (left..left + length).filter(|n| !set.contains(n)).collect();
                    prop_assert_eq!(fresh, expected);
                    set.extend(left..left + length);
                }
                prop_assert_eq!(ranges.total() as usize, set.len());
                prop_assert_eq!(ranges.end(), set.last().map_or(0, |last| last + 1));
                for number in 0..75 {
                    prop_assert_eq!(ranges.containing(number).is_some(), set.contains(&number));
                    let hole = (number..ranges.end()).find(|n| !set.contains(n));
                    prop_assert_eq!(ranges.next_hole(number), hole);
                }
                prop_assert_eq!(
                    ranges.count_in(left, left + length) as usize,
                    set.range(left..left + length).count()
                );
                let pairs: Vec<_> = ranges.descending().collect();
                prop_assert!(pairs.windows(2).all(|pair| pair[1].1 < pair[0].0));
            }
        }
    }
}
