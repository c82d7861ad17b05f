//! Delay gradient: the window grows as long as delay does not increase with it.
//!
//! Jain, "A delay-based approach for congestion avoidance in interconnected heterogeneous computer networks", CCR
//! 19(5), 1989. Every second round trip, the relative change of the round-trip time is compared with the relative
//! change of the window since the last decision. The ratio shows if the window is below or above the knee, where a
//! queue begins to build up.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, OwnBursts, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<DelayGradient> = Entry {
    kind: "delay-gradient",
    title: "Delay gradient (Jain)",
    description: "Every second round trip, compares the round-trip time and the window with those at the last \
        decision: removes an eighth of the window if both rose or both fell, and adds a segment otherwise. It has no \
        slow start. At a loss it reacts as standard TCP. The flow's own bursts cause queueing, which grows with the \
        window: a single flow uses 38 % of 10 Mbit/s and 4 % of 100 Mbit/s at 40 ms, and 89 % of both if it is paced \
        at one window per round trip.",
    law: &[
        "gradient = relative change of rtt / relative change of cwnd since the last decision",
        "every second round trip: cwnd = (1 - decrease) * cwnd where gradient > 0, else cwnd += increase",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Jain, CCR 19(5), 1989",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::slow(OwnBursts {
        effect: "alone on a fast path it uses a few per cent of it, paced at one window per round trip \
            (tcp.pacing = { slow_start = 1.0, avoidance = 1.0 }) most of it",
        pacing_helps: true,
    }),
    state: &[Quantity::new(
        "gradient",
        "",
        "normalised gradient of the delay",
    )],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "increase",
            unit: "segments per decision",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Additive increase.",
            source: "Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a positive gradient.",
            source: "Weigle, dissertation, UNC 2003, chapter 2",
        },
    ],
    build: |settings| Ok(DelayGradient::new(settings)),
};

/// A measurement: a window, and the mean round-trip time with it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Point {
    rtt_s: f64,
    window: f64,
}

impl Point {
    /// Returns the normalised delay gradient between an earlier measurement and this one. If the window has not
    /// changed, returns only the relative change of the delay.
    fn gradient_from(self, earlier: Self) -> f64 {
        let delay = (self.rtt_s - earlier.rtt_s) / (self.rtt_s + earlier.rtt_s);
        if self.window == earlier.window {
            return delay;
        }
        delay * (self.window + earlier.window) / (self.window - earlier.window)
    }
}

/// State of delay gradient for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DelayGradient {
    increase: f64,
    decrease: f64,
    /// Sum of the `rtt_count` round-trip samples that came in the current round while the window could grow. The sum is
    /// in whole picoseconds, so that equal delays give equal means.
    rtt_sum_ps: u128,
    rtt_count: u64,
    /// True if the segments acknowledged in the current round were sent after the last change of the window.
    settled: bool,
    last: Option<Point>,
    /// The normalised delay gradient at the last decision.
    gradient: f64,
}

impl DelayGradient {
    fn new(settings: &Settings) -> Self {
        Self {
            increase: settings.get("increase"),
            decrease: settings.get("decrease"),
            rtt_sum_ps: 0,
            rtt_count: 0,
            settled: false,
            last: None,
            gradient: 0.0,
        }
    }

    fn decide(&mut self, rtt_s: f64, window: &mut Window) {
        let point = Point {
            rtt_s,
            window: window.cwnd(),
        };
        self.gradient = self.last.map_or(0.0, |last| point.gradient_from(last));
        self.last = Some(point);
        if self.gradient > 0.0 {
            window.shrink(window.cwnd() * self.decrease);
        } else {
            window.grow(self.increase);
        }
    }

    /// Discards the last measurement. A loss, a mark or a timeout has changed the window, so the next gradient cannot
    /// be computed from this measurement.
    fn begin(&mut self) {
        (self.last, self.settled) = (None, false);
    }

    fn end_round(&mut self, window: &mut Window) {
        let (sum_ps, count) = (self.rtt_sum_ps, u128::from(self.rtt_count));
        (self.rtt_sum_ps, self.rtt_count) = (0, 0);
        if self.settled && count > 0 {
            let mean = Span::from_ps((sum_ps / count) as u64);
            self.decide(mean.as_secs_f64(), window);
        }
        self.settled = !self.settled;
    }
}

impl CongestionControl for DelayGradient {
    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if ack.round_start {
            self.end_round(window);
        }
        if phase.may_grow()
            && let Some(rtt) = ack.rtt
        {
            self.rtt_sum_ps += u128::from(rtt.as_ps());
            self.rtt_count += 1;
        }
    }

    fn on_handshake(&mut self, _ack: &AckSample, window: &mut Window) {
        self.end_round(window);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.begin();
        window.reduce_to(event.base / 2.0);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.begin();
        restart(event, window);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("gradient", self.gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_paper() {
        let point = |rtt_s, window| Point { rtt_s, window };
        // The gradient is (0.1 / 0.3) (30 / 10) = 1.
        let rising = point(0.2, 20.0).gradient_from(point(0.1, 10.0));
        assert!((rising - 1.0).abs() < 1e-12);
        let falling = point(0.1, 10.0).gradient_from(point(0.2, 20.0));
        assert!((falling - 1.0).abs() < 1e-12);
        assert!(point(0.2, 10.0).gradient_from(point(0.1, 20.0)) < 0.0);
        assert!(point(0.2, 10.0).gradient_from(point(0.1, 10.0)) > 0.0);
    }
}
