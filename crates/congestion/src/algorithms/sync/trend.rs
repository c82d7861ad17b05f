//! Trends of noisy samples, computed from the medians of three groups of three samples.

use serde::{Deserialize, Serialize};

/// Direction in which the samples change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Trend {
    Increasing,
    Decreasing,
    /// The samples show no clear direction.
    Undetermined,
}

impl Trend {
    /// Returns the trend that `difference` shows, or `Undetermined` if its absolute value is at most `threshold`.
    pub(super) fn of(difference: f64, threshold: f64) -> Self {
        if difference > threshold {
            Self::Increasing
        } else if difference < -threshold {
            Self::Decreasing
        } else {
            Self::Undetermined
        }
    }
}

const GROUP: usize = 3;

/// Medians of the last nine samples in groups of three. The first three medians need nine samples; every three further
/// samples replace the oldest median (Weigle 2003, chapter 3, SyncTrend).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Medians {
    group: [f64; GROUP],
    filled: usize,
    /// The last three medians; the oldest is first.
    medians: [f64; 3],
    complete: usize,
}

impl Medians {
    /// Adds a sample. If it completes the third or a later group, returns the last three medians, the oldest first.
    pub(super) fn push(&mut self, sample: f64) -> Option<[f64; 3]> {
        self.group[self.filled] = sample;
        self.filled += 1;
        if self.filled < GROUP {
            return None;
        }
        self.filled = 0;
        self.medians.rotate_left(1);
        self.medians[2] = median(self.group);
        self.complete = (self.complete + 1).min(self.medians.len());
        (self.complete == self.medians.len()).then_some(self.medians)
    }

    /// Removes all samples.
    pub(super) fn clear(&mut self) {
        (self.filled, self.complete) = (0, 0);
    }
}

fn median([a, b, c]: [f64; GROUP]) -> f64 {
    a.min(b).max(a.max(b).min(c))
}

/// Returns the trend of three medians, from -1 to 1: the difference between the last and the first one, divided by the
/// sum of the absolute differences of neighbours (pairwise difference test of Jain and Dovrolis, SIGCOMM 2002). Returns
/// `None` if all medians are equal.
pub(super) fn pairwise_difference([first, second, third]: [f64; 3]) -> Option<f64> {
    // The paper's pairwise comparison test adds nothing: it requires two upward steps, and this trend is then 1.
    let steps = (second - first).abs() + (third - second).abs();
    (steps > 0.0).then(|| (third - first) / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_one() {
        for group in [
            [1.0, 2.0, 9.0],
            [9.0, 1.0, 2.0],
            [2.0, 9.0, 1.0],
            [2.0, 2.0, 1.0],
        ] {
            assert_eq!(median(group), 2.0, "{group:?}");
        }
    }

    #[test]
    fn nine_samples_give_the_first_medians_and_three_more_the_next() {
        let mut medians = Medians::default();
        let found: Vec<_> = (1..=14).map(|n| medians.push(f64::from(n))).collect();
        for (index, medians) in found.iter().enumerate() {
            assert_eq!(medians.is_some(), [8, 11].contains(&index), "{index}");
        }
        assert_eq!(found[8], Some([2.0, 5.0, 8.0]));
        assert_eq!(found[11], Some([5.0, 8.0, 11.0]));
        medians.clear();
        assert!((0..8).all(|_| medians.push(1.0).is_none()));
        assert_eq!(medians.push(1.0), Some([1.0; 3]));
    }

    #[test]
    fn the_pairwise_difference_weighs_steps_back() {
        assert_eq!(pairwise_difference([1.0, 2.0, 4.0]), Some(1.0));
        assert_eq!(pairwise_difference([4.0, 2.0, 1.0]), Some(-1.0));
        // The medians rise by 5 and fall by 2, so that the change is 3/7 of the total.
        assert_eq!(pairwise_difference([0.0, 5.0, 3.0]), Some(3.0 / 7.0));
        assert_eq!(pairwise_difference([2.0; 3]), None);
    }
}
