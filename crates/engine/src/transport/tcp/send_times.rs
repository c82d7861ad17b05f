//! When segments left: a round-trip sample of every acknowledgement, with the clock of the sender alone.
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
    /// What the samples so far add up to, as RFC 6298 smooths them; zero before the first, and if that is not asked for.
    smoothed: Span,
    smooths: bool,
}

impl SendTimes {
    /// `smooths`, if a mean of its own samples is asked for: beside that of timestamps, which have the wait of a delayed
    /// acknowledgement in them, a smallest sample without it would pass for a shorter path.
    pub(super) fn new(smooths: bool) -> Self {
        Self {
            smooths,
            ..Self::default()
        }
    }

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

    /// The smoothed round-trip time with a sample, if there is one, and if it is asked for.
    pub(super) fn smooth(&mut self, sample: Option<Span>) -> Option<Span> {
        if let Some(sample) = sample.filter(|_| self.smooths) {
            self.smoothed = match self.smoothed {
                Span::ZERO => sample,
                smoothed => smoothed * 7 / 8 + sample / 8,
            };
        }
        (self.smoothed != Span::ZERO).then_some(self.smoothed)
    }

    /// The current acknowledgement is dealt with.
    pub(super) fn end_acknowledgement(&mut self) {
        self.newest = None;
    }
}
