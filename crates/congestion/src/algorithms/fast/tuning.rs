//! Alpha tuning: the number of segments that FAST keeps in the queue depends on its throughput.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::parameter::{Settings, SpecError};
use crate::periodic::Periodic;

/// State of alpha tuning: the current level of alpha, and the throughput that decides on the level.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tuning {
    alphas: [f64; 3],
    level: usize,
    /// Average throughputs at or above which alpha rises: from low to medium, and from medium to high.
    raise: [f64; 2],
    /// Average throughputs at or below which alpha falls: from medium to low, and from high to medium.
    lower: [f64; 2],
    memory: f64,
    /// Average throughput, in segments per second.
    throughput: f64,
    period: Span,
    decisions: Periodic,
}

impl Tuning {
    pub(crate) fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("alpha_low", "alpha_medium")?;
        settings.require_below("alpha_medium", "alpha_high")?;
        settings.require_below("medium_to_low", "low_to_medium")?;
        settings.require_below("high_to_medium", "medium_to_high")?;
        Ok(Self {
            alphas: ["alpha_low", "alpha_medium", "alpha_high"].map(|name| settings.get(name)),
            level: 2,
            raise: ["low_to_medium", "medium_to_high"].map(|name| settings.get(name)),
            lower: ["medium_to_low", "high_to_medium"].map(|name| settings.get(name)),
            memory: settings.get("throughput_memory"),
            throughput: 0.0,
            period: Span::from_secs_f64(settings.get("tuning_period")),
            decisions: Periodic::NEW,
        })
    }

    /// Returns alpha at its current level.
    pub(crate) fn alpha(&self) -> f64 {
        self.alphas[self.level]
    }

    /// Adds the throughput of a round trip, in segments per second.
    pub(crate) fn measure(&mut self, rate: f64) {
        self.throughput = self.memory * self.throughput + (1.0 - self.memory) * rate;
    }

    /// Returns the average throughput, in segments per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.throughput
    }

    /// Returns alpha at `now`. At the end of a tuning period, alpha is first raised or lowered by one level if the
    /// average throughput requires it.
    pub(crate) fn alpha_at(&mut self, now: Time) -> f64 {
        if self.decisions.elapsed(now, self.period).is_some() {
            self.decide();
        }
        self.alpha()
    }

    /// Raises or lowers alpha by one level if the average throughput requires it.
    fn decide(&mut self) {
        if self.level < 2 && self.throughput >= self.raise[self.level] {
            self.level += 1;
        } else if self.level > 0 && self.throughput <= self.lower[self.level - 1] {
            self.level -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::fast_at::ENTRY;
    use crate::parameter::Variant;

    fn tuning() -> Tuning {
        Tuning::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()).unwrap()
    }

    #[test]
    fn a_decision_moves_by_one_level_and_thresholds_have_hysteresis() {
        let mut tuning = tuning();
        let mut levels = Vec::new();
        for throughput in [
            12_501.0, 12_500.0, 14_999.0, 1251.0, 1250.0, 1499.0, 20_000.0, 20_000.0, 100.0, 100.0,
        ] {
            tuning.throughput = throughput;
            tuning.decide();
            levels.push(tuning.alphas[tuning.level]);
        }
        let expected = [200.0, 20.0, 20.0, 20.0, 8.0, 8.0, 20.0, 200.0, 20.0, 8.0];
        assert_eq!(levels, expected);
    }

    #[test]
    fn the_throughput_is_a_mean_with_equal_weights() {
        let mut tuning = tuning();
        tuning.measure(1000.0);
        tuning.measure(2000.0);
        assert_eq!(tuning.throughput(), 1250.0);
    }
}
