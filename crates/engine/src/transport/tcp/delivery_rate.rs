//! Estimation of the rate at which the network delivered the last flight of segments
//! (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! When a segment is sent, the number of segments delivered so far is stored with it. Its acknowledgement gives a
//! sample of the rate: the number of segments delivered since then, divided by their sending time or their
//! acknowledging time, whichever is longer. Names of the draft's variables are in parentheses.

use longhaul_congestion::{Limit, RateSample};
use longhaul_units::{Span, Time};

use super::segment_ring::SegmentRing;
use crate::prefetch::prefetch;

/// State of the connection that is stored when a burst of segments is sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Number of segments delivered at the transmission (`P.delivered`).
    delivered: u64,
    /// Time of the last acknowledgement before the burst; `at` if nothing was in flight (`P.delivered_time`).
    delivered_at: Time,
    /// Send time of the segment that was delivered last; `at` if nothing was in flight. The send interval of the rate
    /// sample begins at this time (`P.first_sent_time`).
    flight_began: Time,
    /// Limit on the sender when the burst was sent: the network or another limit (`P.is_app_limited`).
    limit: Limit,
}

/// Segments sent at the same time, and without an acknowledgement between them, which share one stored state.
#[derive(Clone, Copy, Debug)]
struct Burst {
    sent: Sent,
    /// One past the highest segment sent before the burst.
    begin: u64,
}

/// Burst number that means no burst.
const NONE: u64 = 0;

/// Value of [`DeliveryRate::last`] that means no burst.
const NO_BURST: (Time, u64) = (Time::NEVER, 0);

/// Estimator of one connection's delivery rate.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    /// Burst number of each segment in flight; [`NONE`] once its delivery has been counted.
    burst_of: SegmentRing<u64>,
    /// Bursts by their numbers, at least those that `burst_of` refers to.
    bursts: SegmentRing<Burst>,
    /// Departure time of the last burst, and number of segments delivered before the burst left. [`NO_BURST`] if the
    /// next segment must begin another burst.
    last: (Time, u64),
    /// Time at which segments were last acknowledged (`C.delivered_time`). Like `flight_began`, it is set to the
    /// current time when a segment leaves while nothing is in flight.
    delivered_at: Time,
    /// Send time of the segment delivered last (`C.first_sent_time`).
    flight_began: Time,
    /// Number of the newest burst that contains a segment delivered by the current acknowledgement.
    newest: u64,
    /// A limit of the sender other than the network, and the number of delivered segments up to which it applies
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
    /// Records a segment sent after `delivered` segments were delivered. `alone` is true if nothing
    /// is in flight.
    pub(super) fn on_sent(&mut self, segment: u64, delivered: u64, alone: bool, now: Time) {
        if self.last != (now, delivered) {
            self.begin_burst(delivered, alone, now);
        }
        self.burst_of.set(segment, self.bursts.end() - 1);
    }

    /// Adds a segment to the current burst. Returns false if [`Self::on_sent`] has to do this instead: the segment
    /// begins another burst, or has no slot yet.
    #[inline]
    pub(super) fn goes_on(&mut self, segment: u64, delivered: u64, now: Time) -> bool {
        let burst = self.bursts.end() - 1;
        self.last == (now, delivered) && self.burst_of.set_in_place(segment, burst)
    }

    /// Begins a burst with the next segment.
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

    /// Forgets bursts with all segments delivered. Only called when the ring is full.
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
        // This is the burst in which a segment in flight was sent.
        &self.bursts.at(burst).sent
    }

    /// Processes an acknowledgement of the segments in `[left, right)`. Some may have been acknowledged before.
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

    /// Records that `limit` keeps the sender from sending more, and that the limit applies until `delivered` segments
    /// have been delivered.
    pub(super) fn note_limit(&mut self, limit: Limit, delivered: u64) {
        self.limited = Some((limit, delivered));
        self.last = NO_BURST;
    }

    /// Returns the delivery rate measured by the current acknowledgement, and the limit on the sender when it sent the
    /// measured segments. `delivered` counts all segments delivered so far, those of this acknowledgement included.
    ///
    /// Returns `None` if this acknowledgement delivers no segment, or if the rate would be measured over less than
    /// `min_rtt`. The latter happens if delayed acknowledgements arrive together.
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
        // The next acknowledgement will read the same burst or the next one.
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
        // The conversion is from a signed integer, since processors have an instruction for signed integers only.
        let segments = (delivered - newest.delivered) as i64 as f64;
        Some((RateSample::new(segments, interval), newest.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Checks that an application limit applies to segments sent after it was noted, not to segments sent before, even
    /// if they left at the same time (draft-cheng-iccrg-delivery-rate-estimation-02, section 3.2).
    #[test]
    fn segments_sent_after_a_limit_was_noted_are_limited() {
        let limit_of = |acknowledged| {
            let mut rate = DeliveryRate::default();
            rate.on_sent(1, 0, true, at(0));
            assert!(rate.goes_on(2, 0, at(0)));
            rate.note_limit(Limit::Application, 2);
            assert!(!rate.goes_on(3, 0, at(0)));
            rate.on_sent(3, 0, false, at(0));
            rate.on_delivered(1, acknowledged);
            let sample = rate.sample(acknowledged - 1, Span::ZERO, at(100));
            sample.expect("100 ms have passed").1
        };
        assert_eq!(limit_of(3), Limit::Network);
        assert_eq!(limit_of(4), Limit::Application);
    }

    /// Checks that a limit by the application, with two segments in flight, ends at the third delivery, not the second.
    #[test]
    fn a_limit_holds_until_its_flight_is_delivered() {
        for (delivered, limit) in [(2, Limit::Application), (3, Limit::Network)] {
            let mut rate = DeliveryRate::default();
            rate.on_sent(1, 0, true, at(0));
            rate.note_limit(Limit::Application, 2);
            rate.on_delivered(1, 2);
            rate.sample(delivered, Span::ZERO, at(50));
            rate.on_sent(2, delivered, false, at(50));
            rate.on_delivered(2, 3);
            let (_, found) = rate
                .sample(delivered + 1, Span::ZERO, at(150))
                .expect("a sample");
            assert_eq!(found, limit, "{delivered} delivered");
        }
    }
}
