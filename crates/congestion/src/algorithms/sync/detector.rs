//! Five detectors of congestion from queueing delays (Weigle 2003, chapter 3).

use serde::{Deserialize, Serialize};

use super::delays::Delays;
use super::trend::{Medians, Trend, pairwise_difference};

/// Judgement of a detector on the reports so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) congested: bool,
    /// Trend of the delay; none from detectors without a trend.
    pub(super) trend: Option<Trend>,
    /// Queueing delay, of the last report or averaged, as a fraction of the largest.
    pub(super) level: f64,
}

impl Verdict {
    /// Returns the quarter of the largest queueing delay that the level is in: 0 to 3.
    pub(super) fn quarter(&self) -> usize {
        quarter(self.level)
    }
}

fn quarter(level: f64) -> usize {
    ((4.0 * level) as usize).min(3)
}

/// A detector with its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Detector {
    /// SyncPQlen: compares the delay with a fraction of the largest queueing delay; no verdict
    /// before the first loss has shown how large that can be.
    PartOfLargest { part: f64 },
    /// SyncPMinOTT: compares the delay with a fraction of the smallest transit time.
    PartOfTransit { part: f64 },
    /// SyncTrend: uses the trend of the delay.
    Trend { threshold: f64, medians: Medians },
    /// SyncAvg: compares the average delay with a fixed one.
    Average { threshold_s: f64, average: Average },
    /// SyncMix: uses the trend of the average and its size.
    Mix(Mix),
}

impl Detector {
    /// Evaluates the last report; returns a verdict if it changes or confirms the last one.
    pub(super) fn on_report(&mut self, delays: &Delays) -> Option<Verdict> {
        let queueing_s = delays.queueing_s();
        let against = |threshold_s: f64, delay_s: f64| Verdict {
            congested: delay_s > threshold_s,
            trend: None,
            level: delays.part_of_largest(delay_s),
        };
        match self {
            Self::PartOfLargest { part } => {
                let verdict = against(*part * delays.largest_s(), queueing_s);
                delays.lossy.then_some(verdict)
            }
            Self::PartOfTransit { part } => Some(against(*part * delays.min_s(), queueing_s)),
            Self::Trend { threshold, medians } => {
                let difference = pairwise_difference(medians.push(queueing_s)?);
                let trend = Trend::of(difference.unwrap_or(0.0), *threshold);
                Some(Verdict {
                    congested: trend == Trend::Increasing,
                    trend: Some(trend),
                    level: delays.part_of_largest(queueing_s),
                })
            }
            Self::Average {
                threshold_s,
                average,
            } => Some(against(*threshold_s, average.add(queueing_s))),
            Self::Mix(mix) => mix.on_report(delays),
        }
    }

    pub(super) fn on_timeout(&mut self) {
        if let Self::Mix(mix) = self {
            mix.restart();
        }
    }

    /// Returns the average queueing delay in seconds; none for detectors without an average.
    pub(super) fn average_s(&self) -> Option<f64> {
        match self {
            Self::Average { average, .. } | Self::Mix(Mix { average, .. }) => Some(average.value),
            _ => None,
        }
    }
}

/// An exponentially weighted average.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Average {
    weight: f64,
    value: f64,
}

impl Average {
    /// Starts an average with no samples: the first queueing delay is zero by its definition.
    pub(super) fn new(weight: f64) -> Self {
        Self { weight, value: 0.0 }
    }

    fn add(&mut self, sample: f64) -> f64 {
        self.add_weighted(sample, self.weight)
    }

    /// Adds a weighted sample, as a step from the average, so that samples equal to the average
    /// leave it exactly unchanged.
    fn add_weighted(&mut self, sample: f64, weight: f64) -> f64 {
        self.value += weight * (sample - self.value);
        self.value
    }
}

/// Weights of the first samples since the start or the last timeout (table 3.1).
const FIRST_WEIGHTS: [f64; 5] = [1.0, 1.0, 0.75, 0.5, 0.25];

/// SyncMix (Weigle 2003, chapter 3, Tables 3.1 and 3.2).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mix {
    /// Queueing delay in seconds that the largest one has to exceed, before the first loss, for a
    /// verdict.
    too_small_s: f64,
    average: Average,
    /// Samples since the start or the last timeout, as far as their weights differ.
    samples: usize,
    medians: Medians,
}

impl Mix {
    pub(super) fn new(weight: f64, too_small_s: f64) -> Self {
        Self {
            too_small_s,
            average: Average::new(weight),
            samples: 0,
            medians: Medians::default(),
        }
    }

    fn on_report(&mut self, delays: &Delays) -> Option<Verdict> {
        let average_s = self.average_in(delays.queueing_s());
        let [first, _, last] = self.medians.push(average_s)?;
        let trend = Trend::of(last - first, 0.0);
        let level = if !delays.lossy && delays.largest_s() < self.too_small_s {
            delays.change()
        } else {
            delays.part_of_largest(average_s)
        };
        Some(Verdict {
            // Table 1.1 reduces the window in these cases.
            congested: trend == Trend::Increasing && quarter(level) > 0,
            trend: Some(trend),
            level,
        })
    }

    fn average_in(&mut self, sample_s: f64) -> f64 {
        let Some(&weight) = FIRST_WEIGHTS.get(self.samples) else {
            return self.average.add(sample_s);
        };
        self.samples += 1;
        self.average.add_weighted(sample_s, weight)
    }

    fn restart(&mut self) {
        self.samples = 0;
        self.medians.clear();
    }
}
