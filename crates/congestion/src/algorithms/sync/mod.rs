//! Sync-TCP: early detection of congestion from one-way transit times.
//!
//! Weigle, "Investigating the use of synchronized clocks in TCP congestion control", University of North Carolina, 2003
//! (chapter 3). With synchronised clocks, a flow knows the queueing delay of the forward path separately. Any of five
//! detectors can be combined with either of two reactions; the response to losses is that of standard TCP.

mod delays;
mod detector;
mod reaction;
mod trend;

use delays::Delays;
use detector::{Average, Detector, Mix, Verdict};
use reaction::{Adjust, AfterCut, Cut, Reaction, Step};
use trend::{Medians, Trend};

use serde::{Deserialize, Serialize};

use crate::algorithms::reno::Reno;
use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<SyncTcp> = Entry {
    kind: "sync",
    title: "Sync-TCP, any detector with any reaction",
    description: "Standard TCP with one of five detectors of congestion, which work on the queueing delay of the \
        forward path, and one of two reactions to them. Without a reaction, the detector's verdicts can be recorded \
        while standard TCP controls the window.",
    law: &["as sync-pcwnd or sync-mixreact, by detector and reaction"],
    source: "Weigle, dissertation, UNC 2003, chapter 3",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: STATE,
    variants: &[Variant::Paper],
    parameters: &GENERIC_PARAMETERS,
    build: |settings| {
        let (detector, reaction) = (chosen_detector(settings), chosen_reaction(settings));
        Ok(SyncTcp::new(detector, reaction))
    },
};

/// Quantities of all detectors and reactions; quantities that a detector does not compute are not recorded.
pub(super) const STATE: &[Quantity] = &[
    Quantity::new("queueing_delay", "s", "queueing delay"),
    Quantity::new("largest_queueing_delay", "s", "largest queueing delay"),
    Quantity::new(
        "smallest_transit_time",
        "s",
        "smallest one-way transit time",
    ),
    Quantity::new("congested", "", "1 while the detector finds congestion"),
    Quantity::new("level", "", "queueing delay as a part of the largest"),
    Quantity::new("verdicts", "", "verdicts of the detector so far"),
    Quantity::new("early_cuts", "", "reductions without a loss so far"),
    Quantity::new("average_queueing_delay", "s", "average queueing delay"),
    Quantity::new("trend", "", "trend of the delay: 1 up, -1 down, 0 neither"),
];

/// Quantities of detectors that compute neither an average nor a trend: all of `STATE` except the last two.
pub(super) const STATE_OF_DELAYS: &[Quantity] = STATE.split_at(STATE.len() - 2).0;

static GENERIC_PARAMETERS: [Parameter; 11] = [
    Parameter {
        name: "detector",
        unit: "choice",
        default: DefaultValue::Fixed(4.0),
        allowed: Range::choice(&["pqlen", "pminott", "trend", "avg", "mix"]),
        help: "Detector of congestion: queueing delay against a part of the largest (pqlen) or of \
            the smallest transit time (pminott), its trend, its average, or trend and average (mix).",
        source: "Weigle, dissertation, UNC 2003, chapter 3",
    },
    Parameter {
        name: "reaction",
        unit: "choice",
        default: DefaultValue::Fixed(0.0),
        allowed: Range::choice(&["none", "pcwnd", "mixreact"]),
        help: "Reaction to congestion: none, one reduction per round trip (pcwnd), or adjustments by \
            trend and level (mixreact).",
        source: "Weigle, dissertation, UNC 2003, chapter 3",
    },
    PART,
    Parameter {
        name: "part_of_transit",
        unit: "fraction of the smallest transit time",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::above(0.0, 1e3),
        help: "Detector pminott: queueing delay above which there is congestion.",
        source: "Weigle, dissertation, UNC 2003, chapter 3, SyncPMinOTT",
    },
    Parameter {
        name: "trend_threshold",
        unit: "fraction of the sum of the steps",
        default: DefaultValue::Fixed(0.4),
        allowed: Range::closed(0.0, 0.99),
        help: "Detector trend: smallest total change of the medians that counts as a trend.",
        source: "Weigle, dissertation, UNC 2003, chapter 3, SyncTrend",
    },
    Parameter {
        name: "threshold",
        unit: "seconds",
        default: DefaultValue::Fixed(0.03),
        allowed: Range::above(0.0, 1e3),
        help: "Detector avg: average queueing delay above which there is congestion.",
        source: "Weigle, dissertation, UNC 2003, chapter 3, SyncAvg",
    },
    WEIGHT,
    TOO_SMALL,
    DECREASE,
    AFTER_CUT,
    TIE,
];

pub(super) const PART: Parameter = Parameter {
    name: "part_of_largest",
    unit: "fraction of the largest queueing delay",
    default: DefaultValue::Fixed(0.5),
    allowed: Range::open(0.0, 1.0),
    help: "Detector pqlen: queueing delay above which there is congestion.",
    source: "Weigle, dissertation, UNC 2003, chapter 3, SyncPQlen",
};

pub(super) const WEIGHT: Parameter = Parameter {
    name: "weight",
    unit: "fraction of the average",
    default: DefaultValue::Fixed(0.125),
    allowed: Range::above(0.0, 1.0),
    help: "Detectors avg and mix: weight of a report in the average; mix gives its first five reports more weight.",
    source: "Weigle, dissertation, UNC 2003, chapter 3, SyncAvg; Table 3.1",
};

pub(super) const TOO_SMALL: Parameter = Parameter {
    name: "too_small",
    unit: "seconds",
    default: DefaultValue::Fixed(0.01),
    allowed: Range::closed(0.0, 1e3),
    help: "Detector mix: before the first loss, the relative change between the last two reports is used instead of \
        a largest queueing delay that is below this value.",
    source: "Weigle, dissertation, UNC 2003, chapter 3, SyncMix",
};

pub(super) const DECREASE: Parameter = Parameter {
    name: "decrease",
    unit: "fraction of the window",
    default: DefaultValue::Fixed(0.5),
    allowed: Range::open(0.0, 1.0),
    help: "Reaction pcwnd: part of the window removed by a cut.",
    source: "Weigle, dissertation, UNC 2003, chapter 3, SyncPcwnd",
};

pub(super) const TIE: Parameter = Parameter {
    name: "tie",
    unit: "choice",
    default: DefaultValue::Fixed(0.0),
    allowed: Range::choice(&["avoidance", "keep"]),
    help: "Reaction mixreact, where no trend is found: congestion avoidance of standard TCP, or \
        the last adjustment's growth (slow start before the first).",
    source: "Weigle, dissertation, UNC 2003, chapter 3, SyncMix",
};

pub(super) const AFTER_CUT: Parameter = Parameter {
    name: "after_cut",
    unit: "choice",
    default: DefaultValue::Fixed(0.0),
    allowed: Range::choice(&["grow", "stay"]),
    help: "Window after a reduction, until the next one is allowed (pcwnd) or the next verdict \
        is reached (mixreact): grows as in congestion avoidance, or stays.",
    source: "Weigle, dissertation, UNC 2003, does not say; with growth MixReact's utilisation and loss \
        are those of Table 4.3",
};

fn part_of_largest(settings: &Settings) -> Detector {
    Detector::PartOfLargest {
        part: settings.get(PART.name),
    }
}

fn mix(settings: &Settings) -> Detector {
    Detector::Mix(Mix::new(
        settings.get(WEIGHT.name),
        settings.get(TOO_SMALL.name),
    ))
}

fn chosen_detector(settings: &Settings) -> Detector {
    match settings.choice("detector") {
        "pqlen" => part_of_largest(settings),
        "pminott" => Detector::PartOfTransit {
            part: settings.get("part_of_transit"),
        },
        "trend" => Detector::Trend {
            threshold: settings.get("trend_threshold"),
            medians: Medians::default(),
        },
        "avg" => Detector::Average {
            threshold_s: settings.get("threshold"),
            average: Average::new(settings.get(WEIGHT.name)),
        },
        _ => mix(settings),
    }
}

fn cut(settings: &Settings) -> Reaction {
    Reaction::Cut(Cut::new(settings.get(DECREASE.name), after_cut(settings)))
}

fn adjust(settings: &Settings) -> Reaction {
    Reaction::Adjust(Adjust::new(
        settings.choice(TIE.name) == "keep",
        after_cut(settings),
    ))
}

fn after_cut(settings: &Settings) -> AfterCut {
    match settings.choice(AFTER_CUT.name) {
        "stay" => AfterCut::Stays,
        _ => AfterCut::Grows,
    }
}

fn chosen_reaction(settings: &Settings) -> Reaction {
    match settings.choice("reaction") {
        "pcwnd" => cut(settings),
        "mixreact" => adjust(settings),
        _ => Reaction::Watch,
    }
}

/// State of Sync-TCP for one flow: a detector, a reaction, and standard TCP for everything else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SyncTcp {
    detector: Detector,
    reaction: Reaction,
    standard: Reno,
    delays: Delays,
    /// Last decision of the detector; `None` before the first one and after a timeout.
    verdict: Option<Verdict>,
    /// Number of decisions of the detector so far.
    verdicts: u64,
    /// Number of reductions caused by decisions of the detector.
    cuts: u64,
    /// Effect of the current acknowledgement on the window, or a reduction that an earlier one could not make.
    step: Step,
}

impl SyncTcp {
    /// Creates Sync-TCP with the detector pqlen and the reaction pcwnd.
    pub(super) fn pcwnd(settings: &Settings) -> Self {
        Self::new(part_of_largest(settings), cut(settings))
    }

    /// Creates Sync-TCP with the detector mix and the reaction mixreact.
    pub(super) fn mix_react(settings: &Settings) -> Self {
        Self::new(mix(settings), adjust(settings))
    }

    fn new(detector: Detector, reaction: Reaction) -> Self {
        Self {
            detector,
            reaction,
            standard: Reno::general(1.0, 0.5),
            delays: Delays::default(),
            verdict: None,
            verdicts: 0,
            cuts: 0,
            step: Step::Standard,
        }
    }

    /// Passes a transit time to the detector. If the detector decides, returns the number of transit times so far.
    fn detect(&mut self, ack: &AckSample) -> Option<u64> {
        self.delays.report(ack.one_way_delay?);
        self.verdict = Some(self.detector.on_report(&self.delays)?);
        self.verdicts += 1;
        Some(self.delays.reports())
    }

    /// Determines `step`, the effect of an acknowledgement on the window. In recovery, the effect is that of standard
    /// TCP. An acknowledgement in [`Phase::NoGrowth`] cannot change the window; if it causes a reduction, the reduction
    /// stays in `step` for a later acknowledgement.
    fn decide(&mut self, ack: &AckSample, phase: Phase, window: &Window) {
        let number = self.detect(ack);
        if phase == Phase::Recovery {
            self.step = Step::Standard;
        } else if !self.step.cuts() {
            let verdict = self.verdict.as_ref();
            self.step = self.reaction.step(verdict, number, ack, window);
        }
    }
}

impl CongestionControl for SyncTcp {
    fn needs(&self) -> Needs {
        Needs {
            one_way_delay: true,
            ..Needs::default()
        }
    }

    /// Returns the phases in which this algorithm changes the window. While the flow behaves like standard TCP, the
    /// result is `Avoidance`: congestion avoidance alone. While the reaction to delays sets the window, the result is
    /// `SlowStart`: slow start as well as congestion avoidance.
    fn phases(&self) -> Phases {
        if self.step == Step::Standard {
            Phases::Avoidance
        } else {
            Phases::SlowStart
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.decide(ack, phase, window);
        let standard_slow_start = phase == Phase::SlowStart && self.step == Step::Standard;
        if standard_slow_start || !phase.may_grow() {
            return;
        }
        match self.step {
            Step::Standard => self.standard.on_ack(ack, phase, window),
            Step::Grow(rate) => window.grow(rate * ack.credit / window.cwnd()),
            Step::Reduce(kept) => {
                self.cuts += 1;
                self.step = Step::Grow(0.0);
                window.reduce_to(window.cwnd() * kept);
            }
            Step::Shrink(kept) => {
                self.cuts += 1;
                self.step = Step::Grow(0.0);
                window.set_cwnd(window.cwnd() * kept);
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.delays.lossy |= matches!(event.cause, Cause::Loss | Cause::Nak);
        self.step = Step::Standard;
        self.reaction.on_loss();
        self.standard.on_congestion(event, window);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.delays.lossy = true;
        self.verdict = None;
        self.step = Step::Standard;
        self.detector.on_timeout();
        self.reaction.on_loss();
        self.standard.on_timeout(event, window);
    }

    /// Reports delays in seconds, and the numbers of decisions and of early reductions. If there is a last decision,
    /// also reports it (1 if congested, otherwise 0), its level, and its trend if the detector computes one (1 if
    /// increasing, -1 if decreasing, otherwise 0).
    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_delay", self.delays.queueing_s());
        out("largest_queueing_delay", self.delays.largest_s());
        out("smallest_transit_time", self.delays.min_s());
        out("verdicts", self.verdicts as f64);
        out("early_cuts", self.cuts as f64);
        if let Some(average_s) = self.detector.average_s() {
            out("average_queueing_delay", average_s);
        }
        let Some(verdict) = self.verdict else {
            return;
        };
        out("congested", f64::from(verdict.congested));
        out("level", verdict.level);
        if let Some(trend) = verdict.trend {
            let sign = match trend {
                Trend::Increasing => 1.0,
                Trend::Decreasing => -1.0,
                Trend::Undetermined => 0.0,
            };
            out("trend", sign);
        }
    }
}
