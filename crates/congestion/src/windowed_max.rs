//! Maximum over a sliding window, computed without storing all values.
//!
//! Kathleen Nichols' estimator, as BBR uses it (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.1.3; Linux,
//! lib/win_minmax.c). The estimator stores the maximum and two later values. When the first value expires, the second
//! one replaces it. The second value is at first a copy of the maximum, until a quarter of the window later; the third
//! one is a copy of the second until half of the window later. Smaller values in between are not stored. The result is
//! therefore too small at times, if values decrease: it may be a value up to half of the window later than the maximum.

use serde::{Deserialize, Serialize};

/// Maximum of the values in the last `length` ticks of a monotonic clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WindowedMax {
    /// Tick and value of the maximum, and of the two later values that will succeed it.
    best: [(u64, f64); 3],
    /// Tick and length of the sliding window at the last update. While both stay the same, values below the third value
    /// in `best` are ignored. `None` if no value may be ignored.
    settled: Option<(u64, u64)>,
}

impl WindowedMax {
    /// Creates a filter without values. Its maximum is zero.
    pub(crate) fn new() -> Self {
        Self {
            best: [(0, 0.0); 3],
            settled: None,
        }
    }

    /// Returns the maximum at the last update; zero before the first.
    pub(crate) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Returns the bound below which [`Self::update`] ignores a value, for the same `tick` and `length`.
    #[inline]
    pub(crate) fn ignores_below(&self, tick: u64, length: u64) -> f64 {
        if self.settled == Some((tick, length)) {
            self.best[2].1
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Adds a value at `tick`, and removes values that are older than `length` ticks.
    #[inline]
    pub(crate) fn update(&mut self, tick: u64, value: f64, length: u64) {
        if value >= self.ignores_below(tick, length) {
            self.take(tick, value, length);
        }
    }

    fn take(&mut self, tick: u64, value: f64, length: u64) {
        self.settled = None;
        let new = (tick, value);
        if value >= self.best[0].1 || tick - self.best[2].0 > length {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        if !self.age(new, length) {
            self.settled = Some((tick, length));
        }
    }

    /// Removes the first value if it is older than `length`. Otherwise, replaces the second or third value by `new` if
    /// that value has been a copy of the preceding one for too long. Returns true if a value has changed.
    fn age(&mut self, new: (u64, f64), length: u64) -> bool {
        let age = new.0 - self.best[0].0;
        if age > length {
            self.best = [self.best[1], self.best[2], new];
            if new.0 - self.best[0].0 > length {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age > length / 4 {
            // A quarter of `length` after the first value, the second is still its copy.
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age > length / 2 {
            // Half of `length` after the first value, the third is still a copy of the second.
            self.best[2] = new;
        } else {
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Checks that the result is never above the true maximum of the window, and never below the current value.
        #[test]
        fn it_is_close_to_the_true_maximum(values in prop::collection::vec(0.0..100.0_f64, 1..80)) {
            let mut filter = WindowedMax::new();
            let length = 10;
            for (tick, &value) in values.iter().enumerate() {
                filter.update(tick as u64, value, length);
                let largest = |from: usize| values[from..=tick].iter().copied().fold(0.0, f64::max);
                let window = largest(tick.saturating_sub(length as usize));
                prop_assert!(filter.get() <= window);
                prop_assert!(filter.get() >= value);
            }
        }
    }

    proptest! {
        /// Compares `update` with `take`, which processes every value. `update` skips values below the third largest
        /// one if they cannot change the filter.
        #[test]
        fn what_is_left_out_changes_nothing(
            steps in prop::collection::vec((0u64..4, 0u8..20), 1..200),
            changes_at in 0usize..200,
            lengths in prop::sample::select(vec![(1, 10), (10, 1)]),
        ) {
            let (mut quick, mut thorough) = (WindowedMax::new(), WindowedMax::new());
            let mut tick = 0;
            for (step, (later, value)) in steps.into_iter().enumerate() {
                let length = if step < changes_at { lengths.0 } else { lengths.1 };
                tick += later / 2;
                quick.update(tick, value.into(), length);
                thorough.take(tick, value.into(), length);
                prop_assert_eq!(quick.best, thorough.best);
            }
        }
    }

    #[test]
    fn a_peak_is_remembered_for_the_window_and_then_forgotten() {
        let mut filter = WindowedMax::new();
        filter.update(0, 9.0, 10);
        for tick in 1..=10 {
            filter.update(tick, 5.0, 10);
            assert_eq!(filter.get(), 9.0, "tick {tick}");
        }
        filter.update(11, 5.0, 10);
        assert_eq!(filter.get(), 5.0);
    }
}
