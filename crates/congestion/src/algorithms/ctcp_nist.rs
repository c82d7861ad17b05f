//! Compound TCP as NIST's study prints it: a single window. Every round trip adds the delay window to it again.
//!
//! NIST SP 500-282, equations 14 to 17, with interchanged minima and maxima corrected. This algorithm grows much faster
//! than the study's results show; the study's results agree with `ctcp`.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use super::ctcp::{DelayLaw, EXPONENT, GAMMA, INCREASE, LOW_WINDOW, ZETA};
use super::fast::SRTT_TIMER_SLACK;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<CtcpNist> = Entry {
    kind: "ctcp-nist",
    title: "Compound TCP as printed by NIST",
    description: "A single window, to which the whole delay window is added every round trip. A congestion signal \
        removes half of the window, less the delay window. For comparison with ctcp only.",
    law: &[
        "queued = cwnd * (1 - min_rtt / srtt); dwnd follows it as in ctcp",
        "each round trip: cwnd += dwnd",
        "each ACK: cwnd += acked / (cwnd + dwnd)",
        "congestion: cwnd = min(cwnd / 2 + dwnd, cwnd)",
    ],
    source: "NIST SP 500-282, equations 14 to 17",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::DELAY_WINDOW],
    variants: &[Variant::Paper],
    parameters: &[
        INCREASE,
        EXPONENT,
        GAMMA,
        ZETA,
        LOW_WINDOW,
        SRTT_TIMER_SLACK,
    ],
    build: |settings| Ok(CtcpNist::new(settings)),
};

/// State of one flow with Compound TCP by the formulas of NIST's study.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CtcpNist {
    law: DelayLaw,
    low_window: f64,
    /// The delay window, in segments.
    delay: f64,
    /// Part of the delay window that is still to be added to the window.
    pending: f64,
    /// True if there was a congestion signal since the last change of the delay window.
    signalled: bool,
}

impl CtcpNist {
    fn new(settings: &Settings) -> Self {
        Self {
            law: DelayLaw::new(settings),
            low_window: settings.get("low_window"),
            delay: 0.0,
            pending: 0.0,
            signalled: false,
        }
    }

    /// Updates the delay window once a round trip, except in slow start and below `low_window`. The first update after
    /// a congestion signal sets the delay window to zero.
    fn update_delay_window(&mut self, ack: &AckSample, window: &Window) {
        let cwnd = window.cwnd();
        if !self.law.is_due(ack) || window.in_slow_start() || cwnd < self.low_window {
            return;
        }
        if std::mem::take(&mut self.signalled) {
            self.delay = 0.0;
        } else {
            self.delay = self.law.next(self.delay, cwnd, ack.min_rtt, ack.srtt);
            self.pending = self.delay;
        }
    }
}

impl CongestionControl for CtcpNist {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.update_delay_window(ack, window);
        if phase != Phase::Avoidance {
            return;
        }
        window.grow(std::mem::take(&mut self.pending));
        let cwnd = window.cwnd();
        let both = if cwnd < self.low_window {
            cwnd
        } else {
            cwnd + self.delay
        };
        window.grow(ack.credit / both);
    }

    /// Reduces the window to half of itself plus the whole delay window, but never enlarges it. Below `low_window`, the
    /// delay window is not added.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let delay = if event.base < self.low_window {
            0.0
        } else {
            self.delay
        };
        window.reduce_to((event.base / 2.0 + delay).min(event.base));
        (self.pending, self.signalled) = (0.0, true);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        (self.delay, self.pending, self.signalled) = (0.0, 0.0, true);
        restart(event, window);
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        window.cwnd() >= self.low_window
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("delay_window", self.delay);
    }
}
