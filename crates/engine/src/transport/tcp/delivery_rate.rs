//! How fast the network delivered the last flight of segments
//! (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Each segment remembers how much had been delivered when it was sent. When it arrives, what was
//! delivered since, over the longer of the times that sending and acknowledging took, is a sample.
//! The names of the draft are in parentheses.

use longhaul_congestion::Limit;
use longhaul_units::{Span, Time};

use super::segment_ring::SegmentRing;

/// What a segment remembers from its transmission.
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
    /// Whether its delivery has been counted.
    counted: bool,
}

/// The estimator of one connection.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    sent: SegmentRing<Sent>,
    /// When segments were last acknowledged (`C.delivered_time`).
    delivered_at: Time,
    /// When the segment most recently delivered was sent (`C.first_sent_time`).
    flight_began: Time,
    /// The segment sent last among those of the current acknowledgement.
    newest: Option<Sent>,
    /// What limits the sender, other than the network, until so many segments are delivered
    /// (`C.app_limited`).
    limited: Option<(Limit, u64)>,
}

impl Default for DeliveryRate {
    fn default() -> Self {
        Self {
            sent: SegmentRing::default(),
            delivered_at: Time::ZERO,
            flight_began: Time::ZERO,
            newest: None,
            limited: None,
        }
    }
}

impl DeliveryRate {
    /// A segment is sent, after `delivered` segments were delivered; `alone` if nothing is in
    /// flight.
    pub(super) fn on_sent(&mut self, segment: u64, delivered: u64, alone: bool, now: Time) {
        if alone {
            self.flight_began = now;
            self.delivered_at = now;
        }
        self.sent.set(
            segment,
            Sent {
                at: now,
                delivered,
                delivered_at: self.delivered_at,
                flight_began: self.flight_began,
                limit: self.limited.map_or(Limit::Network, |(limit, _)| limit),
                counted: false,
            },
        );
    }

    /// The segments from `left` to `right` are acknowledged, perhaps not for the first time.
    pub(super) fn on_delivered(&mut self, left: u64, right: u64) {
        for segment in left..right {
            let Some(sent) = self.sent.get_mut(segment).filter(|sent| !sent.counted) else {
                continue;
            };
            sent.counted = true;
            if self.newest.is_none_or(|newest| sent.at >= newest.at) {
                self.newest = Some(*sent);
            }
        }
    }

    /// Forgets the segments below `segment`.
    pub(super) fn forget_below(&mut self, segment: u64) {
        self.sent.forget_below(segment);
    }

    /// The sender could send more, but for `limit`, until `delivered` segments are delivered.
    pub(super) fn note_limit(&mut self, limit: Limit, delivered: u64) {
        self.limited = Some((limit, delivered));
    }

    /// The sample of the acknowledgement just taken, after which `delivered` segments are
    /// delivered: segments per second, and what limited the sender when it sent them.
    ///
    /// An interval shorter than a round trip comes from acknowledgements that were held up: no
    /// sample.
    pub(super) fn sample(
        &mut self,
        delivered: u64,
        min_rtt: Span,
        now: Time,
    ) -> Option<(f64, Limit)> {
        if self.limited.is_some_and(|(_, until)| delivered > until) {
            self.limited = None;
        }
        let newest = self.newest.take()?;
        self.delivered_at = now;
        self.flight_began = newest.at;
        let sending = newest.at.since(newest.flight_began);
        let interval = sending.max(now.since(newest.delivered_at));
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        // Processors have an instruction for signed integers only.
        let segments = (delivered - newest.delivered) as i64 as f64;
        let rate = segments / interval.as_secs_f64();
        Some((rate, newest.limit))
    }
}
