//! A sender for tests that pass acknowledgements one by one.

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionState, ControllerSpec, Idle, Phase, Rounding,
    SlowStart, Timeout, Window,
};
use longhaul_units::{Span, Time};

/// A flow with its clock and its counters.
pub struct Sender {
    pub state: CongestionState,
    /// Round-trip time of the next acknowledgements; 100 ms unless set.
    pub rtt: Span,
    /// The smallest round-trip time so far.
    min_rtt: Option<Span>,
    /// Start time of the flow; zero unless set.
    began: Time,
    now: Time,
    delivered: u64,
}

impl Sender {
    pub fn new(spec: &ControllerSpec, cwnd: f64, ssthresh: f64) -> Self {
        let window = Window::new(cwnd, ssthresh, 1e6, Rounding::Real);
        let controller = spec.build().unwrap();
        Self {
            state: CongestionState::new(window, SlowStart::Standard, controller),
            rtt: Span::from_millis(100),
            min_rtt: None,
            began: Time::ZERO,
            now: Time::ZERO,
            delivered: 0,
        }
    }

    /// Sets the start time of the flow.
    pub fn beginning_at(self, began: Time) -> Self {
        Self {
            began,
            now: began,
            ..self
        }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// Processes `count` acknowledgements of one segment each; returns the window after them.
    pub fn acknowledge_all(&mut self, count: u64) -> f64 {
        (0..count).for_each(|_| {
            self.acknowledge(|_| {});
        });
        self.cwnd()
    }

    /// Processes an acknowledgement in phase `phase`, after `change` has modified it; returns the new window.
    pub fn acknowledge_in(&mut self, phase: Phase, change: impl FnOnce(&mut AckSample)) -> f64 {
        let ack = self.sample(change);
        self.state.on_ack_in(&ack, phase);
        self.cwnd()
    }

    /// Processes an acknowledgement of one segment, 10 ms after the last one, modified by `change`. Returns the new
    /// window.
    pub fn acknowledge(&mut self, change: impl FnOnce(&mut AckSample)) -> f64 {
        let ack = self.sample(change);
        self.state.on_ack(&ack);
        self.cwnd()
    }

    /// Completes the handshake at the start time of the flow.
    pub fn shake_hands(&mut self, change: impl FnOnce(&mut AckSample)) {
        let first = self.sample(change);
        (self.now, self.delivered) = (self.began, 0);
        self.state.on_handshake(&AckSample {
            now: self.now,
            acked: 0,
            delivered: 0,
            credit: 0.0,
            ..first
        });
    }

    /// Processes a duplicate acknowledgement, modified by `change`. It reports the delivery of a segment after a gap.
    pub fn duplicate(&mut self, change: impl FnOnce(&mut AckSample)) {
        self.acknowledge_in(Phase::NoGrowth, change);
    }

    fn sample(&mut self, change: impl FnOnce(&mut AckSample)) -> AckSample {
        self.now += Span::from_millis(10);
        self.delivered += 1;
        let rtt = self.rtt;
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        let mut ack = AckSample {
            now: self.now,
            delivered: self.delivered,
            rtt: Some(rtt),
            srtt: rtt,
            min_rtt,
            in_flight: self.cwnd() as u64 - 1,
            round: self.delivered / 10,
            ..AckSample::ONE_SEGMENT
        };
        change(&mut ack);
        ack
    }

    /// Processes a congestion signal; returns the window after it.
    pub fn signal(&mut self, cause: Cause) -> f64 {
        let base = self.cwnd();
        self.state.on_congestion(&Congestion {
            now: self.now,
            cause,
            base,
            in_flight: base as u64,
            in_slow_start: self.state.window.in_slow_start(),
            first: false,
        });
        self.cwnd()
    }

    /// Ends a recovery.
    pub fn recover(&mut self) {
        self.state.on_recovery_exit(self.now);
    }

    /// Begins to send again after an idle time of one second.
    pub fn idle(&mut self) {
        let time = Span::from_secs(1);
        self.now += time;
        self.state.on_idle(&Idle {
            now: self.now,
            time,
            since_sent: time,
        });
    }

    pub fn time_out(&mut self) {
        let base = self.cwnd();
        self.state.on_timeout(&Timeout {
            now: self.now,
            base,
            keep_ssthresh: false,
            sent: self.delivered + base as u64,
        });
    }

    pub fn cwnd(&self) -> f64 {
        self.state.window.cwnd()
    }

    pub fn probe(&self, name: &str) -> Option<f64> {
        let mut found = None;
        self.state.probe(&mut |known, value| {
            if known == name {
                found = Some(value);
            }
        });
        found
    }
}

#[track_caller]
pub fn assert_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{found}, expected {expected}"
    );
}
