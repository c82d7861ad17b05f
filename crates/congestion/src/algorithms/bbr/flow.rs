//! A flow for tests of both versions of BBR. The tests determine the delivery rate and the segments in flight of each
//! acknowledgement; there is no simulated path.

use longhaul_units::Span;

use crate::congestion_control::CongestionControl;
use crate::facts::{AckSample, Cause, Congestion, Limit, Phase};
use crate::rate_sample::RateSample;
use crate::window::{Rounding, Window};

pub(super) const RTT: Span = Span::from_millis(100);

/// A flow with the algorithm `A`, its window and its last acknowledgement.
pub(super) struct Flow<A> {
    pub(super) bbr: A,
    pub(super) window: Window,
    pub(super) ack: AckSample,
}

impl<A: CongestionControl> Flow<A> {
    /// Returns a flow with ten segments in flight.
    pub(super) fn new(bbr: A) -> Self {
        let ack = AckSample {
            delivered: 0,
            rtt: Some(RTT),
            srtt: RTT,
            min_rtt: RTT,
            in_flight: 10,
            limit: Limit::Network,
            ..AckSample::ONE_SEGMENT
        };
        Self {
            bbr,
            window: Window::new(10.0, 1e9, f64::INFINITY, Rounding::Real),
            ack,
        }
    }

    /// Ends a round trip with an acknowledgement of all segments that were in flight and one segment sent after them.
    /// The acknowledgement has a delivery rate of `rate` segments per second, and leaves `in_flight` segments in
    /// flight.
    pub(super) fn round(&mut self, rate: f64, in_flight: u64) {
        let delivered = self.ack.in_flight + 1;
        self.acked(delivered, 0, rate, in_flight, RTT);
    }

    /// Advances by `count` round trips as [`Self::round`] does.
    pub(super) fn rounds(&mut self, count: u32, rate: f64, in_flight: u64) {
        (0..count).for_each(|_| self.round(rate, in_flight));
    }

    /// Reports delivered or lost segments in an acknowledgement, a time `later` after the last event.
    pub(super) fn acked(
        &mut self,
        delivered: u64,
        lost: u64,
        rate: f64,
        in_flight: u64,
        later: Span,
    ) {
        let ack = &mut self.ack;
        ack.now += later;
        ack.delivered += delivered;
        ack.acked = delivered;
        ack.credit = delivered as f64;
        ack.lost += lost;
        ack.in_flight = in_flight;
        ack.delivery_rate = Some(RateSample::new(rate * RTT.as_secs_f64(), RTT));
        self.bbr.on_ack(ack, Phase::Avoidance, &mut self.window);
    }

    /// Begins a recovery from a loss.
    pub(super) fn lose(&mut self) {
        let loss = Congestion {
            now: self.ack.now,
            cause: Cause::Loss,
            base: self.window.cwnd(),
            in_flight: self.ack.in_flight,
            in_slow_start: false,
            first: false,
        };
        self.bbr.on_congestion(&loss, &mut self.window);
    }

    pub(super) fn limit_by(&mut self, limit: Limit) {
        self.ack.limit = limit;
    }
}
