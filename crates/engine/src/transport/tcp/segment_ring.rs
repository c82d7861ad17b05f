//! A ring buffer with an entry for each segment in flight. It grows with the flight and never shrinks: once the flight
//! has reached its largest size, no more memory is allocated.

use std::ops::Range;

use longhaul_kernel::memory;

/// A ring with one entry of type `T` for each segment of a contiguous range.
#[derive(Debug)]
pub(super) struct SegmentRing<T> {
    /// Slots of entries. Their number is a power of two. A segment's slot is its number modulo the number of slots.
    slots: Vec<T>,
    /// Number of the first segment that has an entry.
    base: u64,
    /// One past the last segment that has an entry.
    end: u64,
}

impl<T> Default for SegmentRing<T> {
    /// Returns an empty ring that begins with segment 1, the first with data.
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            base: 1,
            end: 1,
        }
    }
}

impl<T: Copy> SegmentRing<T> {
    const FEWEST_SLOTS: usize = 16;

    /// Returns the first segment that is not forgotten.
    #[inline]
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Returns one past the last segment.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    #[inline]
    fn place(&self, segment: u64) -> usize {
        segment as usize & (self.slots.len() - 1)
    }

    /// Returns a reference to the entry of a segment, if it has one.
    #[inline]
    pub(super) fn get(&self, segment: u64) -> Option<&T> {
        (self.base <= segment && segment < self.end).then(|| &self.slots[self.place(segment)])
    }

    /// Returns a mutable reference to the entry of a segment, if it has one.
    #[inline]
    pub(super) fn get_mut(&mut self, segment: u64) -> Option<&mut T> {
        if segment < self.base || segment >= self.end {
            return None;
        }
        Some(self.at_mut(segment))
    }

    /// Returns the range of those segments in `[left, right)` that have an entry.
    #[inline]
    pub(super) fn within(&self, left: u64, right: u64) -> Range<u64> {
        left.max(self.base)..right.min(self.end)
    }

    /// Returns a reference to the entry of a segment, which must exist.
    #[inline]
    pub(super) fn at(&self, segment: u64) -> &T {
        debug_assert!((self.base..self.end).contains(&segment), "no entry");
        &self.slots[self.place(segment)]
    }

    /// Returns a mutable reference to the entry of a segment, which must exist.
    #[inline]
    pub(super) fn at_mut(&mut self, segment: u64) -> &mut T {
        debug_assert!((self.base..self.end).contains(&segment), "no entry");
        let place = self.place(segment);
        &mut self.slots[place]
    }

    /// Returns true if there is no free slot for the next segment.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.end - self.base == self.slots.len() as u64
    }

    /// Sets the entry of a segment that has an entry, or of the segment after the last one.
    #[inline]
    pub(super) fn set(&mut self, segment: u64, entry: T) {
        debug_assert!(
            (self.base..=self.end).contains(&segment),
            "segments are first sent in order"
        );
        if !self.set_in_place(segment, entry) {
            self.grow(entry);
            self.set_in_place(segment, entry);
        }
    }

    /// Sets the entry of a segment as [`Self::set`] does, if there is a slot for it. Otherwise returns false.
    #[inline]
    pub(super) fn set_in_place(&mut self, segment: u64, entry: T) -> bool {
        if segment - self.base >= self.slots.len() as u64 {
            return false;
        }
        self.end = self.end.max(segment + 1);
        let place = self.place(segment);
        self.slots[place] = entry;
        true
    }

    /// Doubles the number of slots. `filler` is written to the new slots.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let slots = (2 * self.slots.len()).max(Self::FEWEST_SLOTS);
        memory::claim::<T>("segments in flight of a connection", slots);
        let mut larger = vec![filler; slots];
        for segment in self.base..self.end {
            larger[segment as usize & (slots - 1)] = self.slots[self.place(segment)];
        }
        self.slots = larger;
    }

    /// Forgets all segments below `segment`.
    #[inline]
    pub(super) fn forget_below(&mut self, segment: u64) {
        self.base = self.base.max(segment);
        self.end = self.end.max(self.base);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that the ring and a `VecDeque` have equal contents after the same random additions, changes and
        /// removals of entries.
        #[test]
        fn behaves_like_a_queue(steps in prop::collection::vec((0u8..3, 0u64..50), 1..200)) {
            let mut ring = SegmentRing::default();
            let mut queue: VecDeque<(u64, u64)> = VecDeque::new();
            let (mut base, mut end) = (1, 1);
            for (entry, (action, number)) in (0u64..).zip(steps) {
                match action {
                    0 => {
                        for segment in end..end + number {
                            ring.set(segment, entry);
                            queue.push_back((segment, entry));
                        }
                        end += number;
                    }
                    1 => {
                        if let Some((segment, old)) = queue.get_mut(number as usize) {
                            *ring.at_mut(*segment) = entry;
                            *old = entry;
                        }
                    }
                    _ => {
                        // This may be above `end`: the next segments get higher numbers.
                        let below = (end + 10).saturating_sub(number);
                        base = base.max(below);
                        end = end.max(base);
                        ring.forget_below(below);
                        queue.retain(|&(segment, _)| segment >= below);
                    }
                }
                prop_assert_eq!((ring.base(), ring.end()), (base, end));
                let all: Vec<u64> = queue.iter().map(|&(segment, _)| segment).collect();
                prop_assert_eq!(ring.within(0, end + 1).collect::<Vec<_>>(), all);
                for segment in 0..=end {
                    let expected = queue.iter().find(|&&(known, _)| known == segment);
                    let expected = expected.map(|&(_, entry)| entry);
                    prop_assert_eq!(ring.get(segment).copied(), expected);
                    prop_assert_eq!(ring.get_mut(segment).map(|entry| *entry), expected);
                }
            }
        }
    }
}
