//! When segments left: a round-trip sample of every acknowledgement without timestamps.
//!
//! Karn's rule (RFC 6298 section 3): what was sent more than once gives none, because it is ambiguous
//! which copy arrived. An acknowledgement that covers such a segment gives none at all, for what it covers
//! besides may have waited at the receiver (Linux, `tcp_clean_rtx_queue`).

use longhaul_units::{Span, Time};

use super::segment_ring::SegmentRing;

#[derive(Clone, Copy, Debug)]
enum Sent {
    Once(Time),
    Repeatedly,
    /// It has arrived, and was acknowledged selectively.
    Sacked,
}

/// Those of the segments in flight of one connection.
#[derive(Debug, Default)]
pub(super) struct SendTimes {
    sent: SegmentRing<Sent>,
    /// The latest of the segments that the current acknowledgement reports.
    newest: Option<Time>,
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
                self.newest = self.newest.max(Some(at));
            }
            self.sent.set(segment, Sent::Sacked);
        }
    }

    /// Everything from `una` to `next` is acknowledged.
    pub(super) fn on_cumulative(&mut self, una: u64, next: u64) {
        let mut newest = None;
        let mut ambiguous = false;
        for segment in self.sent.within(una, next) {
            match *self.sent.at(segment) {
                Sent::Once(at) => newest = newest.max(Some(at)),
                Sent::Repeatedly => ambiguous = true,
                Sent::Sacked => {}
            }
        }
        if !ambiguous {
            self.newest = self.newest.max(newest);
        }
        self.sent.forget_below(next);
    }

    /// The sample of the current acknowledgement, if it gives one.
    pub(super) fn sample(&self, now: Time) -> Option<Span> {
        self.newest.map(|sent| now.since(sent))
    }

    /// The current acknowledgement is dealt with.
    pub(super) fn end_acknowledgement(&mut self) {
        self.newest = None;
    }
}
