//! FAST with alpha tuning: the number of segments kept in the queue depends on the throughput.
//!
//! The levels and thresholds are those of FAST's prototype, as NIST used them (NIST SP 500-282, equations 22 and 23).
//! Without tuning, a slow flow that keeps hundreds of segments in the queue would fill a slow path's buffer.

use super::fast::tuning::Tuning;
use super::fast::{ALPHA, Fast, GAIN, SRTT_TIMER_SLACK, TARGET, UPDATE_PERIOD};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::parameter::{DefaultValue, Parameter, Range, Variant};
use crate::quantity::Quantity;

/// State of FAST with alpha tuning.
pub type FastAt = Fast;

pub(crate) static ENTRY: Entry<FastAt> = Entry {
    kind: "fast-at",
    title: "FAST TCP with alpha tuning",
    description: "FAST with three levels of alpha. Starts at the highest; every tuning_period the \
        mean throughput decides whether to go up or down by one level.",
    law: &["as fast, with an alpha that follows from the throughput at intervals of tuning_period"],
    source: "Wei, Jin, Low and Hegde, ToN 14(6), 2006; NIST SP 500-282 chapter 5",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        ALPHA,
        TARGET,
        Quantity::new("throughput", "segments/s", "mean rate, which chooses alpha"),
    ],
    variants: &[Variant::Paper],
    parameters: &PARAMETERS,
    build: |settings| {
        let tuning = Tuning::new(settings)?;
        let alpha = tuning.alpha();
        Ok(Fast::new(settings, alpha, Some(tuning)))
    },
};

const fn level(name: &'static str, value: f64, help: &'static str) -> Parameter {
    Parameter {
        name,
        unit: "segments",
        default: DefaultValue::Fixed(value),
        allowed: Range::above(0.0, 1e6),
        help,
        source: "NIST SP 500-282, chapter 5, A1 to A3",
    }
}

const fn threshold(name: &'static str, value: f64, help: &'static str) -> Parameter {
    Parameter {
        name,
        unit: "segments per second",
        default: DefaultValue::Fixed(value),
        allowed: Range::closed(0.0, 1e9),
        help,
        source: "NIST SP 500-282, equation 22",
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
        source: "NIST SP 500-282, chapter 5, UA",
    },
    Parameter {
        name: "throughput_memory",
        unit: "fraction",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::closed(0.0, 0.999),
        help: "Weight of the mean throughput against that of the last round trip.",
        source: "NIST SP 500-282, equation 23, T",
    },
    GAIN,
    UPDATE_PERIOD,
    SRTT_TIMER_SLACK,
];
