//! How fast the network delivered the last flight of segments
//! (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Each segment remembers how much had been delivered when it was sent. When it arrives, what was
//! delivered since, over the longer of the times that sending and acknowledging took, is a sample.
//! The names of the draft are in parentheses.

use longhaul_congestion::{Limit, RateSample};
use longhaul_units::{Span, Time};

use super::segment_ring::SegmentRing;
use crate::prefetch::prefetch;

/// What segments remember from their transmission: the same for all of a burst.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Segments delivered by then (`P.delivered`).
    delivered: u64,
    /// When the last of them was acknowledged (`P.delivered_time`).
    delivered_at: Time,
    /// When the flight that it ends began (`P.first_sent_time`).
    flight_began: Time,
    /// What limited the sender (`P.is_app_limited`).
    limit: Limit,
}

/// Segments sent together.
#[derive(Clone, Copy, Debug)]
struct Burst {
    sent: Sent,
    /// One past the highest segment sent before it.
    begin: u64,
}

/// The number of no burst.
const NONE: u64 = 0;

/// When none began.
const NO_BURST: (Time, u64) = (Time::NEVER, 0);

/// The estimator of one connection.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    /// The number of the burst of each segment in flight; none, once its delivery has been counted.
    burst_of: SegmentRing<u64>,
    /// These bursts and others, by number.
    bursts: SegmentRing<Burst>,
    /// When the last of them left, and how many segments were delivered by then; never, once what the
    /// next segment remembers is different.
    last: (Time, u64),
    /// When segments were last acknowledged (`C.delivered_time`).
    delivered_at: Time,
    /// When the segment most recently delivered was sent (`C.first_sent_time`).
    flight_began: Time,
    /// The burst sent last among those of the current acknowledgement's segments.
    newest: u64,
    /// What limits the sender, other than the network, until so many segments are delivered
    /// (`C.app_limited`).
    limited: Option<(Limit, u64)>,
}

impl Default for DeliveryRate {
    fn default() -> Self {
        Self {
            burst_of: SegmentRing::default(),
            bursts: SegmentRing::default(),
            last: NO_BURST,
            delivered_at: Time::ZERO,
            flight_began: Time::ZERO,
            newest: NONE,
            limited: None,
        }
    }
}

impl DeliveryRate {
    /// A segment is sent, after `delivered` segments were delivered; `alone` if nothing is in
    /// flight.
    pub(super) fn on_sent(&mut self, segment: u64, delivered: u64, alone: bool, now: Time) {
        if self.last != (now, delivered) {
            self.begin_burst(delivered, alone, now);
        }
        self.burst_of.set(segment, self.bursts.end() - 1);
    }

    /// The same if it belongs to a burst that has begun, for then it is not alone: what left at this
    /// moment is still in flight. If not, nothing happens.
    #[inline]
    pub(super) fn goes_on(&mut self, segment: u64, delivered: u64, now: Time) -> bool {
        let burst = self.bursts.end() - 1;
        self.last == (now, delivered) && self.burst_of.set_in_place(segment, burst)
    }

    /// The next segment is the first of a burst.
    fn begin_burst(&mut self, delivered: u64, alone: bool, now: Time) {
        if alone {
            self.flight_began = now;
            self.delivered_at = now;
        }
        if self.bursts.is_full() {
            self.forget_bursts();
        }
        let sent = Sent {
            at: now,
            delivered,
            delivered_at: self.delivered_at,
            flight_began: self.flight_began,
            limit: self.limited.map_or(Limit::Network, |(limit, _)| limit),
        };
        let begin = self.burst_of.end();
        self.bursts.set(self.bursts.end(), Burst { sent, begin });
        self.last = (now, delivered);
    }

    /// Forgets bursts before one that began with a segment that has been delivered, for all of theirs
    /// have been. When there is no place for another: once in many bursts.
    #[cold]
    fn forget_bursts(&mut self) {
        let mut kept = self.bursts.base();
        while kept != self.newest
            && let Some(next) = self.bursts.get(kept + 1)
            && next.begin <= self.burst_of.base()
        {
            kept += 1;
        }
        self.bursts.forget_below(kept);
    }

    #[inline]
    fn sent(&self, burst: u64) -> &Sent {
        // A segment in flight was sent in it.
        &self.bursts.at(burst).sent
    }

    /// The segments from `left` to `right` are acknowledged, perhaps not for the first time.
    #[inline]
    pub(super) fn on_delivered(&mut self, left: u64, right: u64) {
        for segment in self.burst_of.within(left, right) {
            let burst = std::mem::replace(self.burst_of.at_mut(segment), NONE);
            if burst == NONE || burst == self.newest {
                continue;
            }
            if self.newest == NONE {
                self.newest = burst;
            } else {
                self.take_if_newer(burst);
            }
        }
    }

    #[inline(never)]
    fn take_if_newer(&mut self, burst: u64) {
        if self.sent(burst).at >= self.sent(self.newest).at {
            self.newest = burst;
        }
    }

    /// Forgets the segments below `segment`.
    #[inline]
    pub(super) fn forget_below(&mut self, segment: u64) {
        self.burst_of.forget_below(segment);
    }

    /// The sender could send more, but for `limit`, until `delivered` segments are delivered.
    pub(super) fn note_limit(&mut self, limit: Limit, delivered: u64) {
        self.limited = Some((limit, delivered));
        self.last = NO_BURST;
    }

    /// The sample of the acknowledgement just taken, after which `delivered` segments are delivered, and
    /// what limited the sender when it sent those of the sample.
    ///
    /// An interval shorter than a round trip comes from acknowledgements that were held up: no
    /// sample.
    pub(super) fn sample(
        &mut self,
        delivered: u64,
        min_rtt: Span,
        now: Time,
    ) -> Option<(RateSample, Limit)> {
        if self.limited.is_some_and(|(_, until)| delivered > until) {
            self.limited = None;
            self.last = NO_BURST;
        }
        if self.newest == NONE {
            return None;
        }
        let newest = *self.sent(self.newest);
        // The next acknowledgement looks at this burst again or at the one that followed it.
        if let Some(next) = self.bursts.get(self.newest + 1) {
            prefetch(next);
        }
        self.newest = NONE;
        self.delivered_at = now;
        self.flight_began = newest.at;
        self.last = NO_BURST;
        let sending = newest.at.since(newest.flight_began);
        let interval = sending.max(now.since(newest.delivered_at));
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        // Processors have an instruction for signed integers only.
        let segments = (delivered - newest.delivered) as i64 as f64;
        Some((RateSample::new(segments, interval), newest.limit))
    }
}
