//! The five detectors of congestion, which use queueing delays (Weigle 2003, chapter 3).

use serde::{Deserialize, Serialize};

use super::delays::Delays;
use super::trend::{Medians, Trend, pairwise_difference};

/// Decision of a detector, made when a transit time is reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) congested: bool,
    /// Trend of the delay; `None` from detectors that compute no trend.
    pub(super) trend: Option<Trend>,
    /// Queueing delay (the last or an average, depending on the detector), as a fraction of the largest queueing delay.
    /// For SyncMix, it is the relative change of the delay, which can exceed 1, before the first loss while the largest
    /// delay is small ([`Mix`]).
    pub(super) level: f64,
}

impl Verdict {
    /// Returns the quarter of the range from 0 to 1 in which `level` lies: 0 (lowest) to 3, also for levels above 1.
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
    /// SyncPQlen: compares the delay with a fraction of the largest queueing delay. It makes no decision before the
    /// first loss, which shows how large the delay can be.
    PartOfLargest { part: f64 },
    /// SyncPMinOTT: compares the delay with a fraction of the smallest transit time.
    PartOfTransit { part: f64 },
    /// SyncTrend: detects congestion by the trend of the delay.
    Trend { threshold: f64, medians: Medians },
    /// SyncAvg: compares the average delay with a fixed value.
    Average { threshold_s: f64, average: Average },
    /// SyncMix: detects congestion by the trend and the size of the average delay.
    Mix(Mix),
}

impl Detector {
    /// Processes the last delay report; returns the detector's decision, or `None` if the report leads to no decision.
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

    /// Returns the average queueing delay in seconds; `None` from detectors that compute no average.
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
    /// Creates an average without samples. Its value is zero, as is the first queueing delay by definition.
    pub(super) fn new(weight: f64) -> Self {
        Self { weight, value: 0.0 }
    }

    fn add(&mut self, sample: f64) -> f64 {
        self.add_weighted(sample, self.weight)
    }

    /// Moves the average towards `sample` by the fraction `weight` of their difference, and returns the new average. An
    /// equal sample leaves the average exactly unchanged.
    fn add_weighted(&mut self, sample: f64, weight: f64) -> f64 {
        self.value += weight * (sample - self.value);
        self.value
    }
}

/// Weights of the first samples after the start or after a timeout (table 3.1).
const FIRST_WEIGHTS: [f64; 5] = [1.0, 1.0, 0.75, 0.5, 0.25];

/// State of SyncMix (Weigle 2003, chapter 3, tables 3.1 and 3.2).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mix {
    /// Threshold of the largest queueing delay, in seconds. While the largest delay is below the threshold and no
    /// segment has been lost, the level of congestion is the relative change of the delay. Otherwise, the level is the
    /// average delay as a fraction of the largest delay.
    too_small_s: f64,
    average: Average,
    /// Number of samples since the start or the last timeout, up to five. All later samples have the same weight.
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
            // In these cases, table 1.1 reduces the window.
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
