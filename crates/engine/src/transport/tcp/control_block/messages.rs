//! Division of an application's data into segments, if the data comes message by message.
//!
//! All segments are full except the last one of the data given so far. This segment is filled up if more data comes
//! before it leaves. Once it has left, it stays short, even in the middle of the stream.

use std::collections::VecDeque;

use super::ControlBlock;
use crate::transport::tcp::wire::Wire;

/// Segments that are not full. Sending reads only the first field, which is at the beginning in memory. Most
/// connections have one short segment, without an allocation.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ShortSegments {
    /// The first short segment that is stored. If there is none, `first.segment` is larger than any segment's number.
    first: Short,
    /// The short segments after `first`, in ascending order; `None` if there never were any.
    #[allow(
        clippy::box_collection,
        reason = "a pointer is smaller than an empty queue"
    )]
    others: Option<Box<VecDeque<Short>>>,
    /// Sum of `missing`, the bytes that a segment lacks to be full, over the short segments that are no longer stored.
    forgotten: u64,
}

/// A segment that is not full.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Short {
    segment: u64,
    /// Number of bytes that this and all earlier short segments together lack to be full.
    missing_so_far: u64,
    /// Number of bytes that this segment lacks to be full.
    missing: u16,
}

impl Short {
    const NONE: Self = Self {
        segment: u64::MAX,
        missing_so_far: 0,
        missing: 0,
    };
}

impl ShortSegments {
    const NONE: Self = Self {
        first: Short::NONE,
        others: None,
        forgotten: 0,
    };

    /// Returns the short segments of a transfer: the last one, unless it is full or the size is unlimited.
    pub(super) fn last_of(wire: &Wire) -> Self {
        let mut short = Self::NONE;
        short.push(wire.end() - 1, wire.last_segment_shortfall());
        short
    }

    #[inline]
    pub(super) fn first(&self) -> u64 {
        self.first.segment
    }

    /// Returns the short segments after the first.
    #[inline]
    fn others(&self) -> Option<&VecDeque<Short>> {
        self.others.as_deref().filter(|others| !others.is_empty())
    }

    /// Returns the shortfall of a segment in bytes: the difference to a full segment.
    pub(super) fn missing_in(&self, segment: u64) -> u16 {
        if segment == self.first.segment {
            return self.first.missing;
        }
        let others = self.others();
        let found = others.and_then(|others| {
            let found = others.binary_search_by_key(&segment, |short| short.segment);
            found.ok().map(|at| others[at].missing)
        });
        found.unwrap_or(0)
    }

    /// Returns how many bytes the segments below `segment` lack in total, compared with full segments. Short segments
    /// that are no longer stored are all counted, so `segment` must be above them.
    fn missing_below(&self, segment: u64) -> u64 {
        if self.first.segment >= segment {
            return self.forgotten;
        }
        let last = self.others().and_then(|others| {
            let below = others.partition_point(|short| short.segment < segment);
            below.checked_sub(1).map(|last| others[last])
        });
        last.unwrap_or(self.first).missing_so_far
    }

    fn last(&self) -> Option<Short> {
        let first = (self.first.segment != u64::MAX).then_some(self.first);
        self.others()
            .and_then(|others| others.back().copied())
            .or(first)
    }

    fn push(&mut self, segment: u64, missing: u64) {
        if missing == 0 {
            return;
        }
        let before = self.last().map(|short| short.missing_so_far);
        let short = Short {
            segment,
            missing: missing as u16,
            missing_so_far: before.unwrap_or(self.forgotten) + missing,
        };
        match before {
            None => self.first = short,
            Some(_) => self.others.get_or_insert_default().push_back(short),
        }
    }

    /// Removes the record of the last segment, `segment`, if it is short. Returns the number of bytes to its full size.
    fn take_last(&mut self, segment: u64) -> u64 {
        match self.last() {
            Some(last) if last.segment == segment => {
                if last.segment == self.first.segment {
                    self.first = Short::NONE;
                } else if let Some(others) = &mut self.others {
                    others.pop_back();
                }
                last.missing.into()
            }
            _ => 0,
        }
    }

    fn forget_below(&mut self, segment: u64) {
        while self.first.segment < segment {
            self.forgotten = self.first.missing_so_far;
            let next = self.others.as_mut().and_then(|others| others.pop_front());
            self.first = next.unwrap_or(Short::NONE);
        }
    }
}

impl ControlBlock {
    /// Begins without data to send: the application gives data later.
    pub(crate) fn begin_empty(&mut self) {
        self.end = 1;
        self.fin = u64::MAX;
        self.short = ShortSegments::NONE;
    }

    /// Adds `bytes` that the application has to send.
    pub(crate) fn append(&mut self, bytes: u64) {
        let mss = u64::from(self.config.mss_bytes);
        self.short.forget_below(self.una);
        let room = if self.end > self.max_sent.max(1) {
            self.short.take_last(self.end - 1)
        } else {
            0
        };
        let more = bytes.saturating_sub(room).div_ceil(mss);
        self.end += more;
        self.short.push(self.end - 1, room + more * mss - bytes);
    }

    /// Ends the stream after the segments below `end`.
    pub(crate) fn end_with(&mut self, end: u64) {
        self.end = end;
        self.fin = end - 1;
    }

    /// Closes the stream after all data, with a FIN in a separate segment without payload.
    pub(crate) fn append_fin(&mut self) {
        self.short.forget_below(self.una);
        self.end_with(self.end + 1);
        self.short.push(self.fin, self.config.mss_bytes.into());
    }

    /// Returns true if the FIN is a separate segment without payload. Segment 0, the SYN, never counts as a FIN, even
    /// if the flow is stopped before its first data.
    pub(crate) fn fin_is_bare(&self) -> bool {
        (1..u64::MAX).contains(&self.fin) && self.payload_bytes(self.fin) == 0
    }

    /// Returns true if a segment after the SYN holds data.
    #[inline]
    pub(crate) fn holds_data(&self, segment: u64) -> bool {
        segment != self.fin || !self.fin_is_bare()
    }

    /// Returns the payload bytes of a segment.
    pub(crate) fn payload_bytes(&self, segment: u64) -> u64 {
        if segment == 0 {
            return 0;
        }
        u64::from(self.config.mss_bytes) - u64::from(self.short.missing_in(segment))
    }

    /// Returns the number of bytes that a data segment has on the wire in addition to its payload.
    pub(crate) fn overhead_bytes(&self) -> u64 {
        u64::from(self.full_bytes) - u64::from(self.config.mss_bytes)
    }

    /// Returns the application's bytes in the segments below `next`, which must not be below `una`.
    pub(crate) fn bytes_below(&self, next: u64) -> u64 {
        let segments = next.saturating_sub(1);
        let full = segments * u64::from(self.config.mss_bytes);
        full.saturating_sub(self.short.missing_below(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_adds_up_whatever_is_forgotten_and_filled() {
        let mut short = ShortSegments::NONE;
        for (segment, missing) in [(3, 100), (4, 7), (9, 1), (12, 50)] {
            short.push(segment, missing);
        }
        let sums = [(3, 0), (4, 100), (5, 107), (9, 107), (10, 108), (13, 158)];
        for forgotten_below in [0, 4, 10] {
            short.forget_below(forgotten_below);
            for (below, sum) in sums.into_iter().filter(|&(n, _)| n >= forgotten_below) {
                assert_eq!(short.missing_below(below), sum, "{forgotten_below} {below}");
            }
        }
        assert_eq!((short.missing_in(12), short.missing_in(11)), (50, 0));
        assert_eq!((short.take_last(11), short.take_last(12)), (0, 50));
        assert_eq!((short.first(), short.missing_below(20)), (u64::MAX, 108));
        short.push(12, 30);
        assert_eq!((short.first(), short.missing_below(20)), (12, 138));
    }
}
