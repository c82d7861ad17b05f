//! Differential test: a flow with the fast path is compared with the same flow without it.

use std::fmt::Debug;

use longhaul_units::Span;

use crate::congestion_control::CongestionControl;
use crate::facts::{AckSample, Cause, Congestion, Idle, Phase, Timeout};
use crate::rate_sample::RateSample;
use crate::window::{Rounding, Window};

const FIRST: AckSample = AckSample {
    delivered: 0,
    srtt: Span::from_millis(100),
    min_rtt: Span::from_millis(100),
    in_flight: 0,
    ..AckSample::ONE_SEGMENT
};

/// An algorithm with a fast path.
pub(super) trait HasFastPath: CongestionControl + Clone + Debug {
    /// Returns true if the algorithm would process this acknowledgement on its fast path.
    fn would_take_fast_path(&self, ack: &AckSample, window: &Window) -> bool;

    /// Makes the next acknowledgement take the full update instead of the fast path.
    fn leave_fast_path(&mut self);
}

/// Two copies of a flow with the algorithm `A` that get the same events; one copy never uses the fast path.
pub(super) struct Differential<A> {
    quick: (A, Window),
    full: (A, Window),
    ack: AckSample,
    /// Number of acknowledgements that took the fast path.
    pub(super) fast_path: usize,
}

impl<A: HasFastPath> Differential<A> {
    pub(super) fn new(algorithm: A) -> Self {
        let window = Window::new(10.0, 1e9, f64::INFINITY, Rounding::Real);
        let twin = (algorithm, window);
        Self {
            quick: twin.clone(),
            full: twin,
            ack: FIRST,
            fast_path: 0,
        }
    }

    fn both(&mut self, act: impl Fn(&mut A, &mut Window)) {
        for (algorithm, window) in [&mut self.quick, &mut self.full] {
            act(algorithm, window);
        }
    }

    /// Returns the window, which must be equal in both flows.
    pub(super) fn cwnd(&self) -> f64 {
        self.quick.1.cwnd()
    }

    /// Passes an acknowledgement to both flows, a millisecond after the last one.
    pub(super) fn ack(
        &mut self,
        delivered: u64,
        lost: u64,
        in_flight: u64,
        rtt_ms: u64,
        rate: f64,
    ) {
        self.ack.now += Span::from_millis(1);
        self.ack.delivered += delivered;
        self.ack.lost += lost;
        self.ack.in_flight = in_flight;
        self.ack.rtt = Some(Span::from_millis(rtt_ms));
        self.ack.delivery_rate = Some(RateSample::new(rate, Span::from_secs(1)));
        let ack = self.ack;
        let (quick, window) = &self.quick;
        self.fast_path += usize::from(quick.would_take_fast_path(&ack, window));
        self.full.0.leave_fast_path();
        self.both(|algorithm, window| algorithm.on_ack(&ack, Phase::Avoidance, window));
    }

    /// Passes a loss, the end of a recovery, an idle time, a timeout, or nothing to both flows, depending on `event`.
    pub(super) fn other_event(&mut self, event: u8) {
        let now = self.ack.now;
        let loss = Congestion {
            now,
            cause: Cause::Loss,
            base: 50.0,
            in_flight: self.ack.in_flight,
            in_slow_start: false,
            first: false,
        };
        let timeout = Timeout {
            now,
            base: 50.0,
            keep_ssthresh: false,
            sent: 0,
        };
        self.both(|algorithm, window| match event {
            0 => algorithm.on_congestion(&loss, window),
            1 => algorithm.on_recovery_exit(now, window),
            2 => algorithm.on_idle(&Idle::of(Span::from_millis(5)), window),
            3 => algorithm.on_timeout(&timeout, window),
            _ => {}
        });
    }

    /// Sets the ECN echo of all later acknowledgements, until the next call, in both flows.
    pub(super) fn mark(&mut self, marked: bool) {
        self.ack.ecn_echo = marked;
    }

    /// Returns the states of both flows as text, for comparison. The bounds of the fast path are left out.
    pub(super) fn states(&self) -> [String; 2] {
        [&self.quick, &self.full].map(|(algorithm, window)| {
            let mut algorithm = algorithm.clone();
            algorithm.leave_fast_path();
            format!("{algorithm:?} {window:?}")
        })
    }
}
