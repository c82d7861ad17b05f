//! When segments left: a round-trip sample of every acknowledgement, with the clock of the sender alone.
//!
//! Karn's rule (RFC 6298 section 3): what was sent more than once gives none, because it is ambiguous
//! which copy arrived. Of what an acknowledgement covers nothing gives one if such a segment is among it, for what it
//! covers besides may have waited at the receiver; what it reports selectively does (Linux, `tcp_clean_rtx_queue`).

use longhaul_units::Time;

use super::segment_ring::SegmentRing;

#[derive(Clone, Copy, Debug)]
enum Sent {
    Once(Time),
    Repeatedly,
    /// It has arrived, and was acknowledged selectively.
    Sacked,
}

/// Of the segments that an acknowledgement newly tells of, when the first and the last left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) first: Time,
    pub(super) last: Time,
}

impl Ends {
    /// With a segment more, sent at `at`.
    #[inline]
    fn with(ends: Option<Self>, at: Time) -> Option<Self> {
        Some(match ends {
            None => Self {
                first: at,
                last: at,
            },
            Some(ends) => Self {
                first: ends.first.min(at),
                last: ends.last.max(at),
            },
        })
    }
}

/// Those of the segments in flight of one connection.
#[derive(Debug, Default)]
pub(super) struct SendTimes {
    sent: SegmentRing<Sent>,
    /// Of the current acknowledgement.
    ends: Option<Ends>,
}

impl SendTimes {
    /// A segment leaves.
    pub(super) fn on_sent(&mut self, segment: u64, is_new: bool, now: Time) {
        let sent = if is_new {
            Sent::Once(now)
        } else {
            Sent::Repeatedly
        };
        self.sent.set(segment, sent);
    }

    /// The segments from `left` to `right` are selectively acknowledged.
    pub(super) fn on_sacked(&mut self, left: u64, right: u64) {
        for segment in self.sent.within(left, right) {
            if let Sent::Once(at) = *self.sent.at(segment) {
                self.ends = Ends::with(self.ends, at);
            }
            self.sent.set(segment, Sent::Sacked);
        }
    }

    /// Everything from `una` to `next` is acknowledged, before what the acknowledgement reports selectively.
    pub(super) fn on_cumulative(&mut self, una: u64, next: u64) {
        let mut ends = None;
        let mut ambiguous = false;
        for segment in self.sent.within(una, next) {
            match *self.sent.at(segment) {
                Sent::Once(at) => ends = Ends::with(ends, at),
                Sent::Repeatedly => ambiguous = true,
                Sent::Sacked => {}
            }
        }
        self.ends = ends.filter(|_| !ambiguous);
        self.sent.forget_below(next);
    }

    /// What the current acknowledgement tells of, if it gives samples.
    #[inline]
    pub(super) fn ends(&self) -> Option<Ends> {
        self.ends
    }

    /// The current acknowledgement is dealt with.
    #[inline]
    pub(super) fn end_acknowledgement(&mut self) {
        self.ends = None;
    }
}
