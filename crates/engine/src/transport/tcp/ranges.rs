//! A set of segment numbers kept as disjoint, non-adjacent ranges in ascending order.
//!
//! Receivers keep what arrived out of order in one, senders what was selectively acknowledged. New
//! data extends the last range and repairs remove the first, so both ends are cheap; anything else
//! costs a binary search. Nothing is linear in the window.

use std::collections::VecDeque;

use crate::packet::{SackBlocks, SackOption};

/// A range without numbers.
const EMPTY: (u64, u64) = (0, 0);

/// Disjoint ranges `[left, right)`.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    /// The last range, which most news extend; empty if the set is.
    newest: (u64, u64),
    total: u64,
    /// All others.
    older: VecDeque<(u64, u64)>,
    /// The blocks behind the first of the acknowledgement that [`Self::repeats`] was last asked about.
    repeated: [(u64, u64); SackBlocks::MAX - 1],
}

impl Ranges {
    /// So many ranges from the last on are looked at before a binary search.
    const NEWEST: usize = 4;

    /// Numbers in the set.
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.newest == EMPTY
    }

    /// One past the largest number, zero if the set is empty.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.newest.1
    }

    /// The last range.
    #[inline]
    pub(crate) fn newest(&self) -> Option<(u64, u64)> {
        (!self.is_empty()).then_some(self.newest)
    }

    /// The ranges from the last to the first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        let older = self.older.iter().rev().copied();
        self.newest().into_iter().chain(older)
    }

    pub(crate) fn clear(&mut self) {
        self.older.clear();
        self.newest = EMPTY;
        self.total = 0;
        self.repeated = Default::default();
    }

    /// Index of the first older range that ends at or after `number`: the only one that can hold or
    /// touch it from below.
    #[inline]
    fn position(&self, number: u64) -> usize {
        // Most questions are about the oldest gap or the newest data.
        let first = self.older.front();
        if first.is_none_or(|&(_, right)| right >= number) {
            return 0;
        }
        let mut at = self.older.len();
        for _ in 0..Self::NEWEST {
            if at == 0 || self.older[at - 1].1 < number {
                return at;
            }
            at -= 1;
        }
        self.older.partition_point(|&(_, right)| right < number)
    }

    /// The range that holds `number`.
    pub(crate) fn containing(&self, number: u64) -> Option<(u64, u64)> {
        if number >= self.newest.0 {
            return (number < self.newest.1).then_some(self.newest);
        }
        let mut at = self.position(number);
        let touches = |&(_, right): &(u64, u64)| right == number;
        if self.older.get(at).is_some_and(touches) {
            at += 1;
        }
        let range = self.older.get(at).copied();
        range.filter(|&(left, _)| left <= number)
    }

    /// Adds `[left, right)`; calls `added` with each part that was not in the set yet. Returns the
    /// range that holds it.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        left: u64,
        right: u64,
        mut added: impl FnMut(u64, u64),
    ) -> (u64, u64) {
        debug_assert!(left < right, "nothing to add");
        if left > self.end() {
            self.begin(left);
        }
        let (first, end) = self.newest;
        if left < first {
            return self.add_anywhere(left, right, added);
        }
        // Most often the last range grows.
        if right > end {
            added(end, right);
            self.total += right - end;
            self.newest.1 = right;
        }
        self.newest
    }

    /// Begins another range above all others, in which there is nothing yet.
    #[inline(never)]
    fn begin(&mut self, left: u64) {
        if !self.is_empty() {
            self.older.push_back(self.newest);
        }
        self.newest = (left, left);
    }

    /// Adds what begins below the last range, which it may reach.
    #[inline(never)]
    fn add_anywhere(&mut self, left: u64, right: u64, added: impl FnMut(u64, u64)) -> (u64, u64) {
        self.older.push_back(self.newest);
        let merged = self.add_to_older(left, right, added);
        self.newest = self.older.pop_back().unwrap_or(EMPTY);
        merged
    }

    fn add_to_older(
        &mut self,
        left: u64,
        right: u64,
        mut added: impl FnMut(u64, u64),
    ) -> (u64, u64) {
        let first = self.position(left);
        if let Some(&(l, r)) = self.older.get(first)
            && l <= left
            && right <= r
        {
            return (l, r);
        }
        let mut merged = (left, right);
        let mut fresh_from = left;
        let mut last = first;
        while let Some(&(l, r)) = self.older.get(last) {
            if l > right {
                break;
            }
            if fresh_from < l {
                added(fresh_from, l);
                self.total += l - fresh_from;
            }
            fresh_from = fresh_from.max(r);
            merged = (merged.0.min(l), merged.1.max(r));
            last += 1;
        }
        if fresh_from < right {
            added(fresh_from, right);
            self.total += right - fresh_from;
        }
        match last - first {
            0 => self.older.insert(first, merged),
            1 => self.older[first] = merged,
            _ => {
                self.older[first] = merged;
                self.older.drain(first + 1..last);
            }
        }
        merged
    }

    /// Whether the blocks behind the first of the acknowledgement `next` repeat those of the
    /// acknowledgement before, as they mostly do, so that they hold nothing new. If not, the caller is
    /// to add them.
    #[inline]
    pub(crate) fn repeats(&mut self, sack: &SackOption, next: u64) -> bool {
        let [_, older @ ..] = sack.all(next);
        let repeats = older == self.repeated;
        if !repeats {
            self.repeated = older;
        }
        repeats
    }

    /// The blocks of the acknowledgement `next` that may hold something new, and how many they are; the
    /// caller is to add them.
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

    /// Removes everything below `number`; returns how many numbers that were.
    pub(crate) fn remove_below(&mut self, number: u64) -> u64 {
        let before = self.total;
        while let Some(first) = self.older.front_mut() {
            self.total -= cut_below(first, number);
            if *first != EMPTY {
                return before - self.total;
            }
            self.older.pop_front();
        }
        self.total -= cut_below(&mut self.newest, number);
        before - self.total
    }

    /// The smallest number at or above `from` that is not in the set but lies below one that is.
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        if from >= self.end() {
            return None;
        }
        match self.containing(from) {
            None => Some(from),
            Some((_, right)) if right < self.end() => Some(right),
            Some(_) => None,
        }
    }

    /// Numbers of the set in `[left, right)`. Walks the ranges between the two.
    pub(crate) fn count_in(&self, left: u64, right: u64) -> u64 {
        let overlap = |(l, r): (u64, u64)| r.min(right).saturating_sub(l.max(left));
        let older = self.older.range(self.position(left)..).copied();
        let older = older.take_while(|&(l, _)| l < right);
        overlap(self.newest) + older.map(overlap).sum::<u64>()
    }
}

/// Removes everything below `number` from a range; returns how many numbers that were.
fn cut_below(range: &mut (u64, u64), number: u64) -> u64 {
    let (left, right) = *range;
    let cut = number.clamp(left, right);
    *range = if cut < right { (cut, right) } else { EMPTY };
    cut - left
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::packet::SackStore;
    use proptest::prelude::*;

    proptest! {
        /// Blocks of one acknowledgement after the other: what is left out is in the set.
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

        /// Against a plain set of numbers.
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
