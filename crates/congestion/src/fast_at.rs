//! FAST with alpha tuning: how many segments to keep queued follows from the throughput.
//!
//! The levels and thresholds of FAST's prototype as NIST used them (spec 004b B.9, equations 22 and
//! 23): a slow flow that kept hundreds of segments queued would fill a slow path's buffer.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::controller::Controller;
use crate::fast::{Fast, GAIN, SRTT_TIMER_SLACK, UPDATE_PERIOD};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::periodic::Periodic;
use crate::registry::{Entry, Work};

pub(crate) static ENTRY: Entry<Controller> = Entry {
    kind: "fast-at",
    title: "FAST TCP with alpha tuning",
    description: "FAST with three levels of alpha. Starts at the highest; every tuning_period the \
        mean throughput decides whether to go up or down by one level.",
    source: "Wei, Jin, Low and Hegde, ToN 14(6), 2006; NIST SP 500-282 chapter 5",
    used_by: &[Work::Nist],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: |settings| {
        let tuning = Tuning::new(settings)?;
        let alpha = tuning.alphas[tuning.level];
        Ok(Controller::Fast(Fast::new(settings, alpha, Some(tuning))))
    },
};

const fn level(name: &'static str, value: f64, help: &'static str) -> Parameter {
    Parameter {
        name,
        unit: "segments",
        default: DefaultValue::Fixed(value),
        allowed: Range::above(0.0, 1e6),
        help,
        source: "spec 004b B.9, A1 to A3",
    }
}

const fn threshold(name: &'static str, value: f64, help: &'static str) -> Parameter {
    Parameter {
        name,
        unit: "segments per second",
        default: DefaultValue::Fixed(value),
        allowed: Range::closed(0.0, 1e9),
        help,
        source: "spec 004b B.9 and H-19",
    }
}

static PARAMETERS: [Parameter; 12] = [
    level("alpha_low", 8.0, "Lowest level of alpha."),
    level("alpha_medium", 20.0, "Middle level of alpha."),
    level(
        "alpha_high",
        200.0,
        "Highest level of alpha, and the first.",
    ),
    threshold(
        "low_to_medium",
        1500.0,
        "Throughput that ends the lowest level.",
    ),
    threshold(
        "medium_to_low",
        1250.0,
        "Throughput that leads back to the lowest level.",
    ),
    threshold(
        "medium_to_high",
        15000.0,
        "Throughput that leads to the highest level.",
    ),
    threshold(
        "high_to_medium",
        12500.0,
        "Throughput that ends the highest level.",
    ),
    Parameter {
        name: "tuning_period",
        unit: "seconds",
        default: DefaultValue::Fixed(200.0),
        allowed: Range::above(0.0, 1e6),
        help: "Interval between two decisions.",
        source: "spec 004b B.9, UA",
    },
    Parameter {
        name: "throughput_memory",
        unit: "fraction",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::closed(0.0, 0.999),
        help: "Weight of the mean throughput against that of the last round trip.",
        source: "spec 004b B.9, T",
    },
    GAIN,
    UPDATE_PERIOD,
    SRTT_TIMER_SLACK,
];

/// The level of alpha.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tuning {
    alphas: [f64; 3],
    level: usize,
    /// Throughput from which the next level is chosen, for all levels but the highest.
    raise: [f64; 2],
    /// Throughput up to which the level below is chosen, for all levels but the lowest.
    lower: [f64; 2],
    memory: f64,
    /// Mean segments per second.
    throughput: f64,
    period: Span,
    decisions: Periodic,
}

impl Tuning {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
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

    /// Takes the throughput of a round trip, in segments per second.
    pub(crate) fn measure(&mut self, rate: f64) {
        self.throughput = self.memory * self.throughput + (1.0 - self.memory) * rate;
    }

    /// Mean segments per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.throughput
    }

    /// Alpha from now on: another level if a decision is due.
    pub(crate) fn alpha_at(&mut self, now: Time) -> f64 {
        if self.decisions.elapsed(now, self.period).is_some() {
            self.decide();
        }
        self.alphas[self.level]
    }

    /// Goes one level up or down, or stays.
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
