//! The law of PCC Vivace.

use longhaul_congestion::{AckSample, Phases, Variant, Window};
use longhaul_units::Time;

use super::{Event, Law, assert_follows};
use crate::controller;

/// Law of PCC Vivace by Dong and others, NSDI 2018, sections 4 and 5, with the parameters of PCC-Uspace.
struct Vivace {
    stage: VivaceStage,
    started: bool,
    rate: f64,
    intervals: Vec<MonitorInterval>,
    /// Number of intervals whose segments are all known to be delivered or lost.
    known: usize,
    counts: (u64, u64),
    draws: u64,
    gradient: f64,
    /// Number of successive steps in the same direction.
    steps: i32,
    /// Number of times that the change boundary has been raised.
    moved: u32,
    pacing: Option<(u64, u64)>,
}

#[derive(Clone, Copy)]
enum VivaceStage {
    Paused,
    /// Start of the flow. The number is the utility at half of the current rate.
    Starting(f64),
    /// Pair of intervals, one with a rate above and one with a rate below the current one. The flag is true if the
    /// higher rate comes first. The number is the gradient from the previous pair, if this pair is a repetition.
    Learning(bool, Option<f64>),
}

struct MonitorInterval {
    rate: f64,
    start: Time,
    end: Option<Time>,
    /// Number of segments sent before the interval.
    first: u64,
    /// Number of segments that the flow has sent by the end of the interval.
    last: u64,
    before: Option<(u64, u64)>,
    /// Departure times of segments, in seconds after the start of the interval, and their round-trip times in seconds.
    samples: Vec<(f64, f64)>,
    used: bool,
    loss: f64,
    slope: f64,
}

const SEGMENT_MBIT: f64 = 0.012;

impl MonitorInterval {
    fn utility(&self) -> f64 {
        let weight = if self.loss <= 0.03 { 1.0 } else { 11.35 };
        self.rate.powf(0.9) - self.rate * (900.0 * self.slope + weight * self.loss)
    }

    /// Ends the interval if it has lasted a round trip and has ten segments; returns true if it has ended.
    fn try_end(&mut self, ack: &AckSample, sent: u64) -> bool {
        let count = sent.saturating_sub(self.first);
        let over = ack.now >= self.start + ack.srtt && count >= 10;
        if over {
            (self.end, self.last) = (Some(ack.now), sent);
            let asked = self.rate * ack.now.since(self.start).as_secs_f64() / SEGMENT_MBIT;
            self.used = count as f64 >= 0.9 * asked;
        }
        over
    }

    /// Processes an acknowledgement; returns true if all segments of the interval are known to be delivered or lost.
    fn note(&mut self, ack: &AckSample, before: (u64, u64)) -> bool {
        let known = ack.delivered + ack.lost;
        if known > self.first {
            self.before.get_or_insert(before);
        }
        if let Some(rtt) = ack.rtt {
            let left = ack.now.since(Time::ZERO).saturating_sub(rtt);
            let left = Time::ZERO + left;
            if left >= self.start && self.end.is_none_or(|end| left < end) {
                let after = left.since(self.start).as_secs_f64();
                self.samples.push((after, rtt.as_secs_f64()));
            }
        }
        if self.end.is_none() || known < self.last {
            return false;
        }
        let (delivered, lost) = self.before.unwrap_or_default();
        let (delivered, lost) = ((ack.delivered - delivered) as f64, (ack.lost - lost) as f64);
        self.loss = lost / (lost + delivered).max(1.0);
        self.slope = Some(self.slope())
            .filter(|slope| slope.abs() >= 0.01)
            .unwrap_or(0.0);
        true
    }

    /// Returns the slope of the least-squares line through the samples.
    fn slope(&self) -> f64 {
        let n = self.samples.len() as f64;
        let origin = self.samples.first().map_or(0.0, |sample| sample.1);
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let terms = self.samples.iter().map(|&(x, y)| of(x, y - origin));
            terms.sum::<f64>()
        };
        let (x, y, xx, xy) = (
            sum(&|x, _| x),
            sum(&|_, y| y),
            sum(&|x, _| x * x),
            sum(&|x, y| x * y),
        );
        let spread = n * xx - x * x;
        if spread <= 1e-9 * n * xx {
            0.0
        } else {
            (n * xy - x * y) / spread
        }
    }
}

impl Vivace {
    fn new() -> Self {
        Self {
            stage: VivaceStage::Paused,
            started: false,
            rate: 0.0,
            intervals: Vec::new(),
            known: 0,
            counts: (0, 0),
            draws: 0,
            gradient: 0.0,
            steps: 0,
            moved: 0,
            pacing: None,
        }
    }

    fn planned(&self) -> usize {
        match self.stage {
            VivaceStage::Paused => 0,
            VivaceStage::Starting(_) => 1,
            VivaceStage::Learning(..) => 2,
        }
    }

    /// Returns the number of intervals with all segments sent.
    fn sent(&self) -> usize {
        self.intervals
            .iter()
            .filter(|interval| interval.end.is_some())
            .count()
    }

    fn sending_rate(&self) -> f64 {
        match self.stage {
            VivaceStage::Learning(high_first, _) if self.sent() < 2 => {
                let high = high_first == (self.sent() == 0);
                self.rate * if high { 1.05 } else { 0.95 }
            }
            _ => self.rate,
        }
    }

    fn begin(&mut self, ack: &AckSample, sent: u64) {
        self.intervals.push(MonitorInterval {
            rate: self.sending_rate(),
            start: ack.now,
            end: None,
            first: sent,
            last: 0,
            before: None,
            samples: Vec::new(),
            used: false,
            loss: 0.0,
            slope: 0.0,
        });
    }

    fn enter(&mut self, stage: VivaceStage, ack: &AckSample, sent: u64) {
        self.stage = stage;
        (self.intervals, self.known) = (Vec::new(), 0);
        self.begin(ack, sent);
    }

    fn learn(&mut self, doubtful: Option<f64>, ack: &AckSample, sent: u64) {
        // The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
        self.draws = self.draws.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.draws ^ (self.draws >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let high_first = (mixed ^ (mixed >> 31)).is_multiple_of(2);
        self.enter(VivaceStage::Learning(high_first, doubtful), ack, sent);
    }

    fn advance(&mut self, ack: &AckSample, before: (u64, u64), sent: u64) {
        let planned = self.planned();
        if self.sent() < planned
            && let Some(current) = self.intervals.last_mut()
            && current.try_end(ack, sent)
            && self.intervals.len() < planned
        {
            self.begin(ack, sent);
        }
        let known = self.known;
        for interval in &mut self.intervals[known..] {
            self.known += usize::from(interval.note(ack, before));
        }
        if self.known == planned {
            self.decide(ack, sent);
        }
    }

    fn decide(&mut self, ack: &AckSample, sent: u64) {
        let used = self.intervals.iter().all(|one| one.used || one.loss > 0.03);
        match self.stage {
            VivaceStage::Paused => {}
            VivaceStage::Starting(_) if !used => self.enter(self.stage, ack, sent),
            VivaceStage::Starting(before) => {
                let utility = self.intervals[0].utility();
                if utility > before {
                    self.rate *= 2.0;
                    self.enter(VivaceStage::Starting(utility), ack, sent);
                } else {
                    self.rate /= 2.0;
                    self.started = true;
                    self.learn(None, ack, sent);
                }
            }
            VivaceStage::Learning(..) if !used => self.learn(None, ack, sent),
            VivaceStage::Learning(high_first, doubtful) => {
                let (high, low) = if high_first { (0, 1) } else { (1, 0) };
                let (high, low) = (&self.intervals[high], &self.intervals[low]);
                let odd = high.loss < low.loss;
                let gradient = (high.utility() - low.utility()) / (high.rate - low.rate);
                if odd && doubtful.is_none() {
                    return self.learn(Some(gradient), ack, sent);
                }
                let both = doubtful
                    .filter(|_| odd)
                    .map(|before| (before + gradient) / 2.0);
                self.gradient = both.unwrap_or(gradient);
                self.rate += self.change();
                self.learn(None, ack, sent);
            }
        }
    }

    /// Returns the change of the rate: the gradient times the confidence amplifier, limited by the dynamic change
    /// boundary (section 4.2 of the paper).
    fn change(&mut self) -> f64 {
        let direction = if self.gradient > 0.0 { 1 } else { -1 };
        if self.steps * direction <= 0 {
            (self.steps, self.moved) = (0, 0);
        }
        self.steps += direction;
        let steps = self.steps.abs();
        let amplifier = if steps <= 3 { steps } else { 2 * steps - 3 };
        let change = f64::from(amplifier) * self.gradient.abs();
        let bound = |moved: u32| self.rate * (0.05 + f64::from(moved) * 0.06);
        let bounded = change.min(bound(self.moved));
        if change > bound(self.moved) {
            self.moved += 1;
        } else {
            let least = (0..=self.moved).find(|&moved| change <= bound(moved));
            self.moved = least.unwrap_or(self.moved);
        }
        f64::from(direction) * bounded
    }
}

impl Law for Vivace {
    const TOLERANCE: f64 = 1e-6;

    fn phases(&self) -> Phases {
        Phases::All
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, _) => {
                let before = std::mem::replace(&mut self.counts, (ack.delivered, ack.lost));
                let sent = ack.delivered + ack.lost + ack.in_flight;
                let srtt_s = ack.srtt.as_secs_f64();
                if !matches!(self.stage, VivaceStage::Paused) {
                    self.advance(ack, before, sent);
                } else if srtt_s > 0.0 {
                    if self.rate == 0.0 {
                        self.draws = ack.now.as_ps();
                        self.rate = window.cwnd() * SEGMENT_MBIT / srtt_s;
                    }
                    if self.started {
                        self.learn(None, ack, sent);
                    } else {
                        self.enter(VivaceStage::Starting(f64::NEG_INFINITY), ack, sent);
                    }
                }
                if self.rate > 0.0 && srtt_s > 0.0 {
                    self.rate = self.rate.max(2.0 * SEGMENT_MBIT / srtt_s);
                    window.set_cwnd((2.0 * self.rate * srtt_s / SEGMENT_MBIT).max(4.0));
                    self.pacing = Some(((self.sending_rate() * 1e6) as u64, 1));
                }
            }
            Event::Timeout(_) => {
                self.rate *= 0.5;
                (self.stage, self.started) = (VivaceStage::Paused, true);
                (self.steps, self.moved) = (0, 0);
                window.set_cwnd(1.0);
            }
            Event::Idle(_) => self.stage = VivaceStage::Paused,
            Event::Signal(_) | Event::Exit(_) => {}
        }
    }

    fn pacing(&self) -> Option<(u64, u64)> {
        self.pacing
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("rate_mbps", self.rate), ("gradient", self.gradient)]
    }
}

#[test]
fn vivace() {
    let algorithm = controller("vivace", Variant::Paper, &[]).build().unwrap();
    assert_follows(&algorithm, Vivace::new, &[20.0, 60.0, 10.0]);
}
