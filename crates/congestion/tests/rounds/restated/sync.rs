//! Law of Sync-TCP by Weigle, dissertation, UNC 2003, chapter 3, with all its detectors and reactions.

use longhaul_congestion::{AckSample, Cause, ControllerSpec, Phase, Phases, Variant, Window};
use longhaul_units::Span;

use super::{Event, Law, answer_as_standard, assert_follows, grow_as_standard};
use crate::controller;

/// Values of the algorithm's parameters.
#[derive(Clone, Copy, Debug)]
struct Choices {
    detector: &'static str,
    reaction: &'static str,
    /// True if the window does not change after a reduction, false if it grows.
    stays: bool,
    /// True if the last adjustment continues when there is no trend.
    keeps: bool,
}

#[derive(Clone, Copy)]
struct Verdict {
    congested: bool,
    /// Trend of the delay: 1 if it rises, -1 if it falls, 0 otherwise; `None` from detectors without a trend.
    trend: Option<i32>,
    level: f64,
}

impl Verdict {
    fn quarter(self) -> usize {
        ((4.0 * self.level) as usize).min(3)
    }
}

/// Effect of acknowledgements on the window.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Standard,
    Grow(f64),
    Reduce,
    Shrink(f64),
}

struct Sync {
    choices: Choices,
    bounds: Option<(Span, Span)>,
    queueing: f64,
    previous: f64,
    reports: u64,
    lossy: bool,
    average: f64,
    /// Number of samples averaged since the start or the last timeout.
    weighed: usize,
    /// Samples of the current, incomplete group of three.
    group: Vec<f64>,
    /// Medians of the complete groups of three samples.
    medians: Vec<f64>,
    verdict: Option<Verdict>,
    step: Step,
    flight: u64,
    rate: Option<f64>,
    next: u64,
    cuts: u64,
}

impl Sync {
    fn new(choices: Choices) -> Self {
        Self {
            choices,
            bounds: None,
            queueing: 0.0,
            previous: 0.0,
            reports: 0,
            lossy: false,
            average: 0.0,
            weighed: 0,
            group: Vec::new(),
            medians: Vec::new(),
            verdict: None,
            step: Step::Standard,
            flight: 0,
            rate: None,
            next: 0,
            cuts: 0,
        }
    }

    fn largest(&self) -> f64 {
        let span = |(min, max): (Span, Span)| max.saturating_sub(min).as_secs_f64();
        self.bounds.map_or(0.0, span)
    }

    fn part(&self, delay: f64) -> f64 {
        if self.largest() > 0.0 {
            delay / self.largest()
        } else {
            0.0
        }
    }

    /// Adds a sample. If it completes a group of three samples, returns the medians of the last three groups.
    fn medians_with(&mut self, sample: f64) -> Option<[f64; 3]> {
        self.group.push(sample);
        if self.group.len() < 3 {
            return None;
        }
        self.group.sort_by(f64::total_cmp);
        self.medians.push(self.group[1]);
        self.group.clear();
        self.medians.last_chunk().copied()
    }

    /// Adds a sample to the average and returns the average. In SyncMix, the first five samples have larger weights
    /// than later ones (table 3.1).
    fn average_with(&mut self, sample: f64) -> f64 {
        let first = [1.0, 1.0, 0.75, 0.5, 0.25];
        let mixes = self.choices.detector == "mix";
        let weight = first.get(self.weighed).copied().filter(|_| mixes);
        self.weighed += 1;
        self.average += weight.unwrap_or(0.125) * (sample - self.average);
        self.average
    }

    fn judge(&mut self) -> Option<Verdict> {
        let queueing = self.queueing;
        let above = |threshold: f64, delay: f64, level: f64| Verdict {
            congested: delay > threshold,
            trend: None,
            level,
        };
        let sign = |difference: f64, threshold: f64| {
            i32::from(difference > threshold) - i32::from(difference < -threshold)
        };
        match self.choices.detector {
            "pqlen" => {
                let verdict = above(0.5 * self.largest(), queueing, self.part(queueing));
                self.lossy.then_some(verdict)
            }
            "pminott" => {
                let (min, _) = self.bounds?;
                Some(above(
                    0.5 * min.as_secs_f64(),
                    queueing,
                    self.part(queueing),
                ))
            }
            "avg" => {
                let average = self.average_with(queueing);
                Some(above(0.03, average, self.part(average)))
            }
            "trend" => {
                let [first, second, third] = self.medians_with(queueing)?;
                let steps = (second - first).abs() + (third - second).abs();
                let way = if steps > 0.0 {
                    (third - first) / steps
                } else {
                    0.0
                };
                let trend = sign(way, 0.4);
                Some(Verdict {
                    congested: trend > 0,
                    trend: Some(trend),
                    level: self.part(queueing),
                })
            }
            _ => {
                let average = self.average_with(queueing);
                let [first, _, third] = self.medians_with(average)?;
                let trend = sign(third - first, 0.0);
                let level = if self.lossy || self.largest() >= 0.06 {
                    self.part(average)
                } else if self.previous == queueing {
                    0.0
                } else if self.previous == 0.0 {
                    1.0
                } else {
                    (queueing - self.previous).abs() / self.previous
                };
                Some(Verdict {
                    congested: trend > 0 && level >= 0.25,
                    trend: Some(trend),
                    level,
                })
            }
        }
    }

    /// Applies table 1.1 of the dissertation: sets the growth of the window from now on. Returns the fraction of the
    /// window that is kept; `None` without a reduction.
    fn adjust(&mut self, verdict: Verdict, cwnd: f64) -> Option<f64> {
        let kept = [None, Some(0.9), Some(0.75), Some(0.5)][verdict.quarter()];
        let rising = match verdict.trend {
            Some(trend) => trend > 0,
            None => verdict.congested,
        };
        match verdict.trend {
            _ if rising => {
                self.rate = Some(1.0);
                return kept;
            }
            Some(-1) => {
                let growth = [cwnd / 2.0, cwnd / 4.0, cwnd / 10.0, 0.0];
                self.rate = Some(growth[verdict.quarter()]);
            }
            Some(_) if !self.choices.keeps => self.rate = Some(1.0),
            Some(_) => {}
            None => self.rate = self.rate.map(|_| 1.0),
        }
        None
    }

    fn react(&mut self, fresh: bool, ack: &AckSample, cwnd: f64) -> Step {
        let Some(verdict) = self.verdict else {
            return Step::Standard;
        };
        let after = if self.choices.stays { 0.0 } else { 1.0 };
        match self.choices.reaction {
            "pcwnd" if !verdict.congested => Step::Standard,
            "pcwnd" if ack.delivered > self.flight => {
                self.flight = ack.delivered + ack.in_flight;
                Step::Reduce
            }
            "pcwnd" if self.choices.stays => Step::Grow(0.0),
            "mixreact" => {
                if fresh && self.reports >= self.next {
                    self.next = self.reports + 3;
                    if let Some(kept) = self.adjust(verdict, cwnd) {
                        self.rate = Some(after);
                        return Step::Shrink(kept);
                    }
                }
                self.rate.map_or(Step::Standard, Step::Grow)
            }
            _ => Step::Standard,
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        let mut fresh = false;
        if let Some(transit) = ack.one_way_delay {
            let (min, max) = self.bounds.unwrap_or((transit, transit));
            self.bounds = Some((min.min(transit), max.max(transit)));
            self.previous = self.queueing;
            self.queueing = transit.saturating_sub(min.min(transit)).as_secs_f64();
            self.reports += 1;
            if let Some(verdict) = self.judge() {
                (self.verdict, fresh) = (Some(verdict), true);
            }
        }
        let waits = matches!(self.step, Step::Reduce | Step::Shrink(_));
        if phase == Phase::Recovery {
            self.step = Step::Standard;
        } else if !waits {
            self.step = self.react(fresh, ack, window.cwnd());
        }
        if !phase.may_grow() {
            return;
        }
        match self.step {
            Step::Standard if phase == Phase::Avoidance => grow_as_standard(ack, window),
            Step::Standard => {}
            Step::Grow(rate) => window.grow(rate * ack.credit / window.cwnd()),
            Step::Reduce => {
                window.reduce_to(window.cwnd() / 2.0);
                (self.step, self.cuts) = (Step::Grow(0.0), self.cuts + 1);
            }
            Step::Shrink(kept) => {
                window.set_cwnd(window.cwnd() * kept);
                (self.step, self.cuts) = (Step::Grow(0.0), self.cuts + 1);
            }
        }
    }
}

impl Law for Sync {
    fn phases(&self) -> Phases {
        if self.step == Step::Standard {
            Phases::Avoidance
        } else {
            Phases::SlowStart
        }
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => self.on_ack(ack, *phase, window),
            Event::Signal(signal) => {
                self.lossy |= signal.cause != Cause::Ecn;
                (self.step, self.rate) = (Step::Standard, None);
                answer_as_standard(event, window);
            }
            Event::Timeout(_) => {
                self.lossy = true;
                (self.verdict, self.step, self.rate) = (None, Step::Standard, None);
                if self.choices.detector == "mix" {
                    self.weighed = 0;
                    (self.group, self.medians) = (Vec::new(), Vec::new());
                }
                answer_as_standard(event, window);
            }
            Event::Exit(_) | Event::Idle(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        let mut state = vec![
            ("queueing_delay", self.queueing),
            ("largest_queueing_delay", self.largest()),
            ("early_cuts", self.cuts as f64),
        ];
        if let Some(verdict) = self.verdict {
            state.push(("congested", f64::from(u8::from(verdict.congested))));
            state.push(("level", verdict.level));
            state.extend(verdict.trend.map(|trend| ("trend", f64::from(trend))));
        }
        state
    }
}

/// Returns the configuration of the algorithm with these choices.
fn sync(choices: Choices) -> ControllerSpec {
    let place = |names: &[&str], name| {
        let found = names.iter().position(|&known| known == name);
        found.expect("a name of the parameter") as f64
    };
    let detectors = ["pqlen", "pminott", "trend", "avg", "mix"];
    let reactions = ["none", "pcwnd", "mixreact"];
    let given = [
        ("detector", place(&detectors, choices.detector)),
        ("reaction", place(&reactions, choices.reaction)),
        ("after_cut", f64::from(u8::from(choices.stays))),
        ("tie", f64::from(u8::from(choices.keeps))),
        ("too_small", 0.06),
    ];
    controller("sync", Variant::Paper, &given)
}

#[test]
fn sync_tcp() {
    for detector in ["pqlen", "pminott", "trend", "avg", "mix"] {
        for (reaction, stays, keeps) in [
            ("pcwnd", false, false),
            ("pcwnd", true, false),
            ("mixreact", false, false),
            ("mixreact", true, true),
        ] {
            let choices = Choices {
                detector,
                reaction,
                stays,
                keeps,
            };
            let algorithm = sync(choices).build().unwrap();
            assert_follows(&algorithm, || Sync::new(choices), &[20.0, 60.0, 300.0]);
        }
    }
}
