//! What is remembered of each segment in flight, in a ring: as long as the flight, and no memory is
//! asked for once it has grown to the largest.

use std::collections::VecDeque;

/// One entry for each of a run of segments.
#[derive(Debug)]
pub(super) struct SegmentRing<T> {
    entries: VecDeque<T>,
    /// The first entry's segment.
    base: u64,
}

impl<T> Default for SegmentRing<T> {
    /// Data begins with segment 1.
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            base: 1,
        }
    }
}

impl<T> SegmentRing<T> {
    /// One past the last segment.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// The entry of a segment, if it has one.
    #[inline]
    pub(super) fn get_mut(&mut self, segment: u64) -> Option<&mut T> {
        let index = segment.checked_sub(self.base)?;
        self.entries.get_mut(index as usize)
    }

    /// Sets a segment's entry: one that is there, or the next.
    #[inline]
    pub(super) fn set(&mut self, segment: u64, entry: T) {
        if let Some(slot) = self.get_mut(segment) {
            *slot = entry;
        } else {
            debug_assert_eq!(segment, self.end(), "segments are first sent in order");
            self.entries.push_back(entry);
        }
    }

    /// Forgets all segments below `segment`.
    #[inline]
    pub(super) fn forget_below(&mut self, segment: u64) {
        let count = segment.saturating_sub(self.base);
        self.entries
            .drain(..(count as usize).min(self.entries.len()));
        self.base += count;
    }
}
