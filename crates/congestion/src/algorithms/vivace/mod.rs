//! PCC Vivace: gradient ascent on a utility of rate, latency and loss.
//!
//! Dong, Meng, Zarchy, Arslan, Gilad, Godfrey and Schapira, NSDI 2018. Points that the paper does not define are as in
//! its authors' implementations. "PCC-Uspace" below is PCCproject/PCC-Uspace, branch NSDI-2018, the code of the paper's
//! submission, unless another branch is named.
//!
//! Three points are implemented as follows. Each change of the rate needs one pair of intervals, as in section 4.2, or
//! two if the higher rate lost less (in the submission two pairs after a change of direction, in branch master three).
//! The slope of the round-trip time has its sign, as in equation 1 (branch master sets negative slopes to zero). A
//! small loss rate has a small weight, as in the submission; otherwise the noise of losses would change the utility
//! more than a change of the rate by 10 %. A Mbit/s is 10^6 bit/s.
//!
//! Known limits: with random losses of 3 % and more, the rate falls, since at least every second interval then loses
//! more than 3 %. At 500 kbit/s, an interval has only ten segments: if the start has overfilled the queue, the rate
//! takes half a minute to fall. At 64 kbit/s with a queue of 20 segments, every second segment of the first minute is
//! retransmitted (with Reno, one in sixteen).

mod ascent;
mod interval;
#[cfg(test)]
mod tests;

use longhaul_units::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::quantity::Quantity;
use crate::split_mix::split_mix;
use crate::window::Window;
use ascent::Ascent;
use interval::{Counts, Interval, mbit};

/// State of PCC Vivace. It is boxed, so that the enum of all controllers stays small.
pub type BoxedVivace = Box<Vivace>;

pub(crate) static ENTRY: Entry<BoxedVivace> = Entry {
    kind: "vivace",
    title: "PCC Vivace",
    description: "Sends for a round trip a little faster than its rate and for one a little slower, in random order, \
        and moves the rate in the direction of the larger utility. The utility increases with the rate, and \
        decreases with the growth of the round-trip time and with the loss rate. The change of the rate is \
        proportional to the gradient of the utility, grows with each step in the same direction, and is at most a \
        given part of the rate. It starts by doubling the rate as long as the utility grows. It paces at this rate, \
        with at most twice the segments that the rate sends in a round trip in flight.",
    law: &[
        "utility = rate^exponent - latency * rate * d rtt / d t - loss * rate * loss rate; rate in Mbit/s, \
            d rtt / d t by linear regression, 0 below 0.01; 1 instead of loss up to a loss rate of tolerated",
        "gradient = (utility((1 + probe) rate) - utility((1 - probe) rate)) / (2 probe rate)",
        "rate += conversion * m * gradient; m = 1, 2, 3, 5, 7, ... for steps in one direction",
        "no change above boundary + k * boundary_step of the rate; k counts changes that were bounded",
        "timeout: rate = rate / 2",
    ],
    source: "Dong et al., NSDI 2018",
    listens_to: &[Signal::Loss, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        Quantity::new("rate_mbps", "Mbit/s", "sending rate"),
        Quantity::new("gradient", "", "gradient of the utility"),
    ],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "exponent",
            unit: "1",
            default: DefaultValue::Fixed(0.9),
            allowed: Range::open(0.0, 1.0),
            help: "Exponent of the rate in the utility.",
            source: "NSDI 2018, equation 1; PCC-Uspace, master, pcc_utility_manager.cpp",
        },
        Parameter {
            name: "latency",
            unit: "1",
            default: DefaultValue::Fixed(900.0),
            allowed: Range::closed(0.0, 1e6),
            help: "Weight of the growth of the round-trip time in the utility. With 0 only losses reduce the utility.",
            source: "NSDI 2018, equation 1; PCC-Uspace, master, pcc_utility_manager.cpp",
        },
        Parameter {
            name: "loss",
            unit: "1",
            default: DefaultValue::Fixed(11.35),
            allowed: Range::closed(0.0, 1e6),
            help: "Weight of the loss rate in the utility, where it is above tolerated.",
            source: "NSDI 2018, equation 1; PCC-Uspace, pcc.h",
        },
        Parameter {
            name: "tolerated",
            unit: "loss rate",
            default: DefaultValue::Fixed(0.03),
            allowed: Range::closed(0.0, 1.0),
            help: "Loss rate of an interval up to which losses have a weight of 1. 0 gives equation 1 of the paper, and random \
                losses of 1 to 2 % then reduce the rate.",
            source: "PCC-Uspace, pcc.h (utility)",
        },
        Parameter {
            name: "probe",
            unit: "fraction of the rate",
            default: DefaultValue::Fixed(0.05),
            allowed: Range::open(0.0, 0.5),
            help: "Distance of the two rates that are compared from the current rate.",
            source: "NSDI 2018, section 4.2; PCC-Uspace, pcc.h",
        },
        Parameter {
            name: "conversion",
            unit: "Mbit/s per gradient",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Change of the rate for a gradient of 1, at the first step in a direction.",
            source: "PCC-Uspace, gradient_descent_pcc_client.cpp",
        },
        Parameter {
            name: "boundary",
            unit: "fraction of the rate",
            default: DefaultValue::Fixed(0.05),
            allowed: Range::above(0.0, 1.0),
            help: "Largest change at the first step in a direction.",
            source: "PCC-Uspace, gradient_descent_pcc_client.cpp",
        },
        Parameter {
            name: "boundary_step",
            unit: "fraction of the rate",
            default: DefaultValue::Fixed(0.06),
            allowed: Range::closed(0.0, 1.0),
            help: "Increase of the largest change after each change in the same direction that was bounded.",
            source: "PCC-Uspace, gradient_descent_pcc_client.cpp",
        },
    ],
    build: |settings| {
        if settings.get("latency") == 0.0 && settings.get("loss") == 0.0 {
            return Err(SpecError::Together {
                kind: "vivace",
                reason: "expected `latency` or `loss` above 0, found 0 for both: nothing would lower the rate",
            });
        }
        Ok(Box::new(Vivace::new(settings)))
    },
};

/// Minimum rate in segments per round trip (PCCproject/PCC-Kernel, branch vivace, tcp_pcc.c).
const MIN_SEGMENTS_PER_RTT: f64 = 2.0;
/// Minimum window in segments (the same source).
const MIN_CWND: f64 = 4.0;
/// Window, as a multiple of the data sent in a round trip at the current rate (as in PCC-Uspace).
const RTTS_IN_WINDOW: f64 = 2.0;
/// Fraction of the rate that is kept after a timeout (section 4.3: a monitor interval without ACKs).
const KEPT_AT_TIMEOUT: f64 = 0.5;
const BITS_PER_MBIT: f64 = 1e6;

/// Decision that the flow makes next, when the results of its current intervals are known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// No decision: the connection begins, or continues after a timeout or an idle time.
    Paused,
    /// Choice between doubling the rate once more and halving it. `before` is the utility at half of the current rate;
    /// minus infinity at the start and after an idle time.
    Starting { before: f64 },
    /// Choice of a direction, from a pair of intervals: one above the rate and one below. `high_first` is true if the
    /// interval above the rate is sent first. If the higher rate lost less, a second pair is measured; `doubtful` is
    /// then the gradient of the first pair.
    Learning {
        high_first: bool,
        doubtful: Option<f64>,
    },
}

/// State of PCC Vivace for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vivace {
    exponent: f64,
    latency: f64,
    loss: f64,
    tolerated: f64,
    probe: f64,
    ascent: Ascent,
    stage: Stage,
    /// True once a decrease of the utility or a timeout has ended the doubling of the rate at the start.
    started: bool,
    /// Rate in Mbit/s; 0 before the first round trip.
    rate: f64,
    intervals: [Interval; 2],
    /// Number of intervals that have been sent completely.
    sent: usize,
    /// Number of intervals whose segments are all known to be delivered or lost.
    known: usize,
    counts: Counts,
    /// State of the random generator that chooses the order of two intervals. The seed is the time at which the first
    /// rate is set.
    draws: u64,
    gradient: f64,
    pacing: Option<Rate>,
}

impl Vivace {
    fn new(settings: &Settings) -> Self {
        Self {
            exponent: settings.get("exponent"),
            latency: settings.get("latency"),
            loss: settings.get("loss"),
            tolerated: settings.get("tolerated"),
            probe: settings.get("probe"),
            ascent: Ascent::new(settings),
            stage: Stage::Paused,
            started: false,
            rate: 0.0,
            intervals: [Interval::default(); 2],
            sent: 0,
            known: 0,
            counts: Counts::default(),
            draws: 0,
            gradient: 0.0,
            pacing: None,
        }
    }

    /// Returns the utility of an interval (equation 1, but a loss rate up to `tolerated` has a weight of 1).
    fn utility(&self, of: &Interval) -> f64 {
        let weight = if of.loss <= self.tolerated {
            1.0
        } else {
            self.loss
        };
        let penalty = self.latency * of.slope + weight * of.loss;
        libm::pow(of.rate, self.exponent) - of.rate * penalty
    }

    fn planned(&self) -> usize {
        match self.stage {
            Stage::Paused => 0,
            Stage::Starting { .. } => 1,
            Stage::Learning { .. } => 2,
        }
    }

    /// Returns the sending rate: a rate above or below the current one in a probing interval, otherwise the current
    /// rate.
    fn sending_rate(&self) -> f64 {
        match self.stage {
            Stage::Learning { high_first, .. } if self.sent < self.planned() => {
                let above = high_first == (self.sent == 0);
                let probe = if above { self.probe } else { -self.probe };
                self.rate * (1.0 + probe)
            }
            _ => self.rate,
        }
    }

    fn begin_interval(&mut self, ack: &AckSample) {
        self.intervals[self.sent] = Interval::begin(self.sending_rate(), ack);
    }

    fn enter(&mut self, stage: Stage, ack: &AckSample) {
        self.stage = stage;
        (self.sent, self.known) = (0, 0);
        self.begin_interval(ack);
    }

    fn start(&mut self, ack: &AckSample) {
        let before = f64::NEG_INFINITY;
        self.enter(Stage::Starting { before }, ack);
    }

    fn learn(&mut self, doubtful: Option<f64>, ack: &AckSample) {
        let high_first = split_mix(&mut self.draws).is_multiple_of(2);
        let stage = Stage::Learning {
            high_first,
            doubtful,
        };
        self.enter(stage, ack);
    }

    fn resume(&mut self, ack: &AckSample, window: &Window) {
        let srtt_s = ack.srtt.as_secs_f64();
        if srtt_s == 0.0 {
            return;
        }
        if self.rate == 0.0 {
            self.draws = ack.now.as_ps();
            self.rate = window.cwnd() * mbit(ack) / srtt_s;
        }
        if self.started {
            self.learn(None, ack);
        } else {
            self.start(ack);
        }
    }

    /// Passes an acknowledgement to the monitor intervals, and makes the decision once all of them are known. `before`
    /// are the counters before the acknowledgement.
    fn advance(&mut self, ack: &AckSample, before: Counts) {
        let planned = self.planned();
        if self.sent < planned && self.intervals[self.sent].end(ack) {
            self.sent += 1;
            if self.sent < planned {
                self.begin_interval(ack);
            }
        }
        let begun = planned.min(self.sent + 1);
        for interval in &mut self.intervals[self.known..begun] {
            self.known += usize::from(interval.note(ack, before));
        }
        if self.known == planned {
            self.decide(ack);
        }
    }

    fn decide(&mut self, ack: &AckSample) {
        let planned = self.planned();
        // If an interval was sent below its rate because the application or the receiver limited it, it says nothing
        // about the rate, unless the path has lost much of it.
        let used = self.intervals[..planned]
            .iter()
            .all(|interval| interval.used || interval.loss > self.tolerated);
        match self.stage {
            Stage::Paused => {}
            Stage::Starting { before } => self.decide_start(before, used, ack),
            Stage::Learning { .. } if !used => self.learn(None, ack),
            Stage::Learning {
                high_first,
                doubtful,
            } => self.decide_step(high_first, doubtful, ack),
        }
    }

    /// Ends an interval of the starting phase (section 4). Doubles the rate if the utility exceeds `before`, the
    /// utility at half of the rate; otherwise halves the rate and ends the phase. Repeats the interval if the
    /// application limited the sender (`used` is false).
    fn decide_start(&mut self, before: f64, used: bool, ack: &AckSample) {
        let utility = self.utility(&self.intervals[0]);
        if !used {
            self.enter(Stage::Starting { before }, ack);
        } else if utility > before {
            self.rate *= 2.0;
            self.enter(Stage::Starting { before: utility }, ack);
        } else {
            self.rate /= 2.0;
            self.started = true;
            self.learn(None, ack);
        }
    }

    /// Changes the rate by the gradient of the utility between two intervals with different rates (sections 4.2 and
    /// 4.3). If the interval with the higher rate lost less, the decision is put off until a second pair of intervals
    /// has been measured. `high_first` and `doubtful` are the fields of [`Stage::Learning`].
    fn decide_step(&mut self, high_first: bool, doubtful: Option<f64>, ack: &AckSample) {
        let [first, second] = &self.intervals;
        let (high, low) = if high_first {
            (first, second)
        } else {
            (second, first)
        };
        let odd = high.loss < low.loss;
        let gradient = (self.utility(high) - self.utility(low)) / (high.rate - low.rate);
        if odd && doubtful.is_none() {
            return self.learn(Some(gradient), ack);
        }
        self.gradient = match doubtful {
            Some(before) if odd => (before + gradient) / 2.0,
            _ => gradient,
        };
        self.rate += self.ascent.change(self.rate, self.gradient);
        self.learn(None, ack);
    }

    fn apply(&mut self, ack: &AckSample, window: &mut Window) {
        let srtt_s = ack.srtt.as_secs_f64();
        if self.rate == 0.0 || srtt_s == 0.0 {
            return;
        }
        let segment = mbit(ack);
        self.rate = self.rate.max(MIN_SEGMENTS_PER_RTT * segment / srtt_s);
        let cwnd = RTTS_IN_WINDOW * self.rate * srtt_s / segment;
        window.set_cwnd(cwnd.max(MIN_CWND));
        let bits_per_s = self.sending_rate() * BITS_PER_MBIT;
        self.pacing = Some(Rate::from_bps((bits_per_s as u64).max(1)));
    }
}

impl CongestionControl for Vivace {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn needs(&self) -> Needs {
        Needs {
            no_ecn: true,
            rack_tlp: true,
            paces: true,
            ..Needs::RTT
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.srtt > Span::ZERO {
            self.resume(ack, window);
            self.apply(ack, window);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        let before = std::mem::replace(&mut self.counts, Counts::of(ack));
        match self.stage {
            Stage::Paused => self.resume(ack, window),
            _ => self.advance(ack, before),
        }
        self.apply(ack, window);
    }

    /// Does nothing: losses have an effect through the loss rate of intervals.
    fn on_congestion(&mut self, _event: &Congestion, _window: &mut Window) {}

    /// Reduces the rate, since whole monitor intervals have passed without an acknowledgement (section 4.3).
    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        self.rate *= KEPT_AT_TIMEOUT;
        (self.stage, self.started) = (Stage::Paused, true);
        self.ascent.restart();
        window.restart();
    }

    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {
        self.stage = Stage::Paused;
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_mbps", self.rate);
        out("gradient", self.gradient);
    }
}
