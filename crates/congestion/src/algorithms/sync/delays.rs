//! Queueing delays, computed from one-way transit times.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

/// Delays computed from a flow's reports of transit times (Weigle 2003, chapter 3).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Delays {
    /// Smallest and largest transit time; `None` before the first report.
    bounds: Option<(Span, Span)>,
    /// Queueing delay of the last report, in seconds.
    queueing_s: f64,
    /// Queueing delay of the report before the last one, in seconds.
    previous_s: f64,
    /// Number of transit times reported so far.
    reports: u64,
    /// True once the flow has lost a segment.
    pub(super) lossy: bool,
}

impl Delays {
    /// Records the transit time of the last segment that the receiver got. A constant difference between the clocks of
    /// the sender and the receiver changes only [`Self::min_s`].
    pub(super) fn report(&mut self, transit: Span) {
        let (min, max) = self.bounds.unwrap_or((transit, transit));
        let (min, max) = (min.min(transit), max.max(transit));
        self.bounds = Some((min, max));
        self.previous_s = self.queueing_s;
        self.queueing_s = transit.saturating_sub(min).as_secs_f64();
        self.reports += 1;
    }

    pub(super) fn reports(&self) -> u64 {
        self.reports
    }

    /// Returns the smallest transit time in seconds.
    pub(super) fn min_s(&self) -> f64 {
        self.bounds.map_or(0.0, |(min, _)| min.as_secs_f64())
    }

    /// Returns the queueing delay of the last report in seconds.
    pub(super) fn queueing_s(&self) -> f64 {
        self.queueing_s
    }

    /// Returns the largest queueing delay so far, in seconds; it never decreases.
    pub(super) fn largest_s(&self) -> f64 {
        let span = |(min, max): (Span, Span)| max.saturating_sub(min).as_secs_f64();
        self.bounds.map_or(0.0, span)
    }

    /// Returns the queueing delay `delay_s`, in seconds, as a fraction of the largest queueing delay. It is zero
    /// while the largest one is zero.
    pub(super) fn part_of_largest(&self, delay_s: f64) -> f64 {
        let largest_s = self.largest_s();
        if largest_s > 0.0 {
            delay_s / largest_s
        } else {
            0.0
        }
    }

    /// Returns the absolute difference between the last two queueing delays, as a fraction of the earlier one. A change
    /// from zero to any other delay is 1 (Weigle 2003, chapter 3, SyncMix).
    pub(super) fn change(&self) -> f64 {
        if self.queueing_s == self.previous_s {
            0.0
        } else if self.previous_s == 0.0 {
            1.0
        } else {
            (self.queueing_s - self.previous_s).abs() / self.previous_s
        }
    }
}
