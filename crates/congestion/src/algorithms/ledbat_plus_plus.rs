//! LEDBAT++: LEDBAT that grows no faster than Reno, decreases in proportion to its window, and pauses to measure the
//! delay of the empty path.
//!
//! draft-irtf-iccrg-ledbat-plus-plus-06. Delays are round-trip times. LEDBAT++ removes the latecomer advantage of
//! LEDBAT: a late flow mistakes the queueing delay of earlier flows for part of its base delay, and starves them.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::delay_history::DelayHistory;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::{self, Quantity};
use crate::window::Window;

/// State of LEDBAT++. It is boxed, so that the enum of all controllers stays small.
pub type BoxedLedbatPlusPlus = Box<LedbatPlusPlus>;

pub(crate) static ENTRY: Entry<BoxedLedbatPlusPlus> = Entry {
    kind: "ledbat++",
    title: "LEDBAT++",
    description: "Background transport: LEDBAT with a smaller target, growth below that of standard TCP, decreases \
        in proportion to the window, a slow start of its own that ends before the target, and slowdowns: for two \
        round trips it sends two segments per round trip, so that the queue empties and the smallest delay can be \
        measured. The next slowdown follows after nine times the duration of the last one.",
    law: &[
        "gain = 1 / min(16, ceil(2 * target / base))",
        "each ACK up to the target: cwnd += gain * acked / cwnd",
        "each ACK above it: cwnd += max(gain - cwnd * (queueing / target - 1), -cwnd / 2) * acked / cwnd",
        "slow start: cwnd += gain * acked, at first up to a queueing of 3/4 target, later up to the window before the slowdown",
        "slowdown two round trips after the first slow start, then nine times its length after each",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "draft-irtf-iccrg-ledbat-plus-plus-06",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::QUEUEING_S,
        Quantity::new("gain", "", "gain of the window"),
    ],
    variants: &[Variant::Paper],
    parameters: &[Parameter {
        name: "target",
        unit: "seconds",
        default: DefaultValue::Fixed(0.06),
        allowed: Range::above(0.0, 10.0),
        help: "Queueing delay that the flow should not exceed.",
        source: "draft-irtf-iccrg-ledbat-plus-plus-06, TARGET",
    }],
    build: |settings| Ok(Box::new(LedbatPlusPlus::new(settings))),
};

/// Minimum growth, as a fraction of standard TCP's.
const LEAST_GAIN: f64 = 1.0 / 16.0;
/// Queueing delay that ends the first slow start if exceeded, as a fraction of the target delay.
const EXIT: f64 = 0.75;
/// Number of round trips with the minimum window in a slowdown. Also the number of round trips from the end of the
/// first slow start to the first slowdown if the delay ended it. If a congestion signal ended it, the slowdown begins
/// with the next acknowledgement outside recovery.
const PAUSE_ROUNDS: u64 = 2;
/// Time from the end of a slowdown to the next one, as a multiple of the slowdown's duration, which here includes the
/// slow start after it.
const BETWEEN: u64 = 9;
/// Minimum window, in segments; also the window during a slowdown.
const MIN_CWND: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// Slow start until the queueing delay exceeds `EXIT`, or until a congestion signal or a timeout.
    FirstSlowStart,
    /// The delay steers the window until the next slowdown, at the time `slowdown`.
    Steady { slowdown: Time },
    /// Slowdown with two segments per round trip, from `begun` to `ends`; `before` is the window before the slowdown.
    Pause {
        begun: Time,
        ends: Time,
        before: f64,
    },
    /// Slow start after the slowdown or the timeout at `begun`, until the window is `before`: the window before the
    /// slowdown, or the threshold after the timeout.
    SlowStart { begun: Time, before: f64 },
}

/// State of LEDBAT++ for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedbatPlusPlus {
    target_s: f64,
    delays: DelayHistory,
    stage: Stage,
}

impl LedbatPlusPlus {
    fn new(settings: &Settings) -> Self {
        Self {
            target_s: settings.get("target"),
            delays: DelayHistory::default(),
            stage: Stage::FirstSlowStart,
        }
    }

    /// Returns the growth of the window while the queueing delay is at most the target, in segments per round trip. In
    /// slow start, it is the growth per acknowledged segment.
    fn gain(&self) -> f64 {
        let base_s = self.delays.base().map_or(0.0, Span::as_secs_f64);
        (1.0 / (2.0 * self.target_s / base_s).ceil()).clamp(LEAST_GAIN, 1.0)
    }

    /// Returns the change of the window in a round trip, in segments. `queueing` is the queueing delay as a fraction of
    /// the target.
    fn change(&self, queueing: f64, cwnd: f64) -> f64 {
        if queueing <= 1.0 {
            return self.gain();
        }
        (self.gain() - cwnd * (queueing - 1.0)).max(-cwnd / 2.0)
    }

    /// Enters the next stage if the current stage ends with this acknowledgement, and reduces the window if a slowdown
    /// begins. `queueing` is the queueing delay as a fraction of the target.
    fn advance(&mut self, ack: &AckSample, queueing: f64, window: &mut Window) {
        let (now, cwnd) = (ack.now, window.cwnd());
        self.stage = match self.stage {
            Stage::FirstSlowStart if queueing > EXIT => {
                // This lowers the threshold to the window.
                window.shrink(0.0);
                let slowdown = now + ack.srtt * PAUSE_ROUNDS;
                Stage::Steady { slowdown }
            }
            Stage::Steady { slowdown } if now >= slowdown => {
                window.shrink(cwnd - MIN_CWND.min(cwnd));
                let ends = now + ack.srtt * PAUSE_ROUNDS;
                Stage::Pause {
                    begun: now,
                    ends,
                    before: cwnd,
                }
            }
            Stage::Pause {
                begun,
                ends,
                before,
            } if now >= ends => Stage::SlowStart { begun, before },
            Stage::SlowStart { begun, before } if cwnd >= before => Self::after(begun, now),
            stage => stage,
        };
    }

    /// Returns the stage after a slow start that ends at `now`. The slowdown or the timeout before it was at `begun`.
    fn after(begun: Time, now: Time) -> Stage {
        Stage::Steady {
            slowdown: now + now.since(begun) * BETWEEN,
        }
    }

    fn queueing_s(&self) -> Option<f64> {
        self.delays.queueing().map(Span::as_secs_f64)
    }
}

impl CongestionControl for LedbatPlusPlus {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
        let Some(queueing_s) = self.queueing_s() else {
            return;
        };
        let queueing = queueing_s / self.target_s;
        if phase == Phase::Recovery {
            return;
        }
        self.advance(ack, queueing, window);
        let (cwnd, may_grow) = (window.cwnd(), phase.may_grow());
        match self.stage {
            Stage::FirstSlowStart if may_grow => {
                window.grow(self.gain() * ack.credit);
            }
            Stage::SlowStart { before, .. } if may_grow => {
                let grown = cwnd + self.gain() * ack.credit;
                window.set_cwnd(grown.min(before));
            }
            Stage::Steady { .. } => {
                let change = self.change(queueing, cwnd) * ack.credit / cwnd;
                if change < 0.0 {
                    window.shrink((-change).min(cwnd - MIN_CWND.min(cwnd)));
                } else if may_grow {
                    window.grow(change);
                }
            }
            _ => {}
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let half = (event.base / 2.0).max(MIN_CWND);
        window.reduce_to(half.min(event.base));
        self.stage = match self.stage {
            Stage::FirstSlowStart => Stage::Steady {
                slowdown: event.now,
            },
            Stage::SlowStart { begun, .. } => Self::after(begun, event.now),
            stage => stage,
        };
    }

    /// Begins slow start up to the threshold, and discards the latest delays: those from before a timeout say nothing
    /// about the queue after it.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.delays.forget_current();
        restart(event, window);
        self.stage = Stage::SlowStart {
            begun: event.now,
            before: window.ssthresh(),
        };
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_s", self.queueing_s().unwrap_or(f64::NAN));
        out("gain", self.gain());
    }
}
