//! A simulated path for tests of both variants of C4.

use longhaul_units::Span;

use crate::facts::AckSample;
use crate::rate_sample::RateSample;
use crate::window::{Rounding, Window};

pub(super) const BYTES: u64 = 1250;
/// Number of packets in a round trip of the path.
pub(super) const FLIGHT: u64 = 100;
pub(super) const RTT_MS: u64 = 100;

/// A variant of C4, as the simulated path uses it.
pub(super) trait Form: Default {
    type State: Copy + PartialEq;

    /// State at the beginning of Cruising on a steady path.
    const CRUISING: Self::State;

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window);

    /// Returns the flow's state, and the number of packets sent before the current era, which is a round trip.
    fn era(&self) -> (Self::State, u64);
}

/// A flow of C4 on the simulated path. `C` is the form of C4: the draft's or picoquic's.
pub(super) struct Path<C> {
    pub c4: C,
    pub window: Window,
    pub ack: AckSample,
}

impl<C: Form> Path<C> {
    pub(super) fn new() -> Self {
        let ack = AckSample {
            in_flight: FLIGHT,
            delivered: 0,
            segment_bytes: BYTES,
            ..AckSample::ONE_SEGMENT
        };
        Self {
            c4: C::default(),
            window: Window::new(10.0, 1e9, 1e9, Rounding::Real),
            ack,
        }
    }

    /// Simulates one era (round trip) with a round-trip time of `rtt_ms`, on a path that delivers `rate` packets per
    /// second. Returns the flow's state at the beginning of the next era.
    pub(super) fn era(&mut self, rate: f64, rtt_ms: u64) -> C::State {
        let (_, end) = self.c4.era();
        while self.c4.era().1 == end {
            self.ack.delivered += 1;
            self.ack(rate, rtt_ms);
        }
        self.c4.era().0
    }

    pub(super) fn ack(&mut self, rate: f64, rtt_ms: u64) {
        self.ack.rtt = Some(Span::from_millis(rtt_ms));
        self.ack.delivery_rate = Some(RateSample::new(rate, Span::from_secs(1)));
        let ack = self.ack;
        self.c4.on_ack(&ack, &mut self.window);
    }

    /// Returns a path with a flow that cruises at 1,000 packets a second, 1.25 MB/s.
    pub(super) fn cruising() -> Self {
        let mut path = Self::new();
        while path.era(1000.0, RTT_MS) != C::CRUISING {}
        path
    }
}

pub(super) fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}
