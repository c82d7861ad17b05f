//! When each segment was last sent, and which of them are under way: in the order of sending, so
//! that the first to be missed is the first in line (RFC 8985 section 6.2 looks at all segments).
//!
//! The line is a doubly linked list through the ring of segments. Every segment enters and leaves
//! it once per transmission: nothing depends on the window.

use longhaul_units::Time;

use crate::transport::tcp::segment_ring::SegmentRing;

/// No segment.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Lost,
    Delivered,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent: Time,
    /// Neighbours in the line.
    before: u64,
    after: u64,
    state: State,
    /// Whether it was sent more than once.
    repeated: bool,
}

/// A transmission as RACK compares them: by time, then by number (`RACK_sent_after`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Transmission {
    pub(crate) sent: Time,
    pub(crate) segment: u64,
}

/// The segments in flight.
#[derive(Debug)]
pub(crate) struct Transmissions {
    entries: SegmentRing<Entry>,
    first: u64,
    last: u64,
    /// The last in line that was sent before the newest delivered one.
    overtaken: u64,
    /// Segments lost and not sent again.
    lost: u64,
}

impl Default for Transmissions {
    fn default() -> Self {
        Self {
            entries: SegmentRing::default(),
            first: NONE,
            last: NONE,
            overtaken: NONE,
            lost: 0,
        }
    }
}

impl Transmissions {
    fn entry(&mut self, segment: u64) -> &mut Entry {
        self.entries.get_mut(segment).expect("it is in flight")
    }

    /// Segments lost and not sent again.
    #[inline]
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether a segment is lost and not sent again.
    pub(crate) fn is_lost(&mut self, segment: u64) -> bool {
        self.entries
            .get_mut(segment)
            .is_some_and(|entry| entry.state == State::Lost)
    }

    /// A segment is sent, for the first time or again.
    pub(crate) fn send(&mut self, segment: u64, now: Time) {
        let known = self.entries.get_mut(segment).map(|entry| entry.state);
        match known {
            Some(State::UnderWay) => self.unlink(segment),
            Some(State::Lost) => self.lost -= 1,
            Some(State::Delivered) | None => {}
        }
        let before = self.last;
        self.entries.set(
            segment,
            Entry {
                sent: now,
                before,
                after: NONE,
                state: State::UnderWay,
                repeated: known.is_some(),
            },
        );
        self.last = segment;
        if before == NONE {
            self.first = segment;
        } else {
            self.entry(before).after = segment;
        }
    }

    /// A segment is acknowledged. Returns when it was last sent, and whether more than once; nothing
    /// if that was known.
    pub(crate) fn deliver(&mut self, segment: u64) -> Option<(Time, bool)> {
        let &mut Entry {
            sent,
            state,
            repeated,
            ..
        } = self.entries.get_mut(segment)?;
        match state {
            State::Delivered => return None,
            State::UnderWay => self.unlink(segment),
            State::Lost => self.lost -= 1,
        }
        self.entry(segment).state = State::Delivered;
        Some((sent, repeated))
    }

    /// A segment is taken for lost.
    pub(crate) fn lose(&mut self, segment: u64) {
        if self.entry(segment).state == State::UnderWay {
            self.unlink(segment);
            self.entry(segment).state = State::Lost;
            self.lost += 1;
        }
    }

    /// Forgets all segments below `segment`, which are delivered.
    pub(crate) fn forget_below(&mut self, segment: u64) {
        self.entries.forget_below(segment);
    }

    /// Notes the newest transmission known to have arrived.
    pub(crate) fn overtake(&mut self, newest: Transmission) {
        loop {
            let next = match self.overtaken {
                NONE => self.first,
                segment => self.entry(segment).after,
            };
            if next == NONE || self.transmission(next) > newest {
                return;
            }
            self.overtaken = next;
        }
    }

    /// The first in line.
    pub(crate) fn first(&mut self) -> Option<Transmission> {
        (self.first != NONE).then(|| self.transmission(self.first))
    }

    /// The last in line that was overtaken.
    pub(crate) fn last_overtaken(&mut self) -> Option<Transmission> {
        (self.overtaken != NONE).then(|| self.transmission(self.overtaken))
    }

    fn transmission(&mut self, segment: u64) -> Transmission {
        Transmission {
            sent: self.entry(segment).sent,
            segment,
        }
    }

    fn unlink(&mut self, segment: u64) {
        let &mut Entry { before, after, .. } = self.entry(segment);
        match before {
            NONE => self.first = after,
            before => self.entry(before).after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.entry(after).before = before,
        }
        if self.overtaken == segment {
            self.overtaken = before;
        }
    }
}
