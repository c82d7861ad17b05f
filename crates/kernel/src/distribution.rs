//! Distributions of delays, rates, probabilities, sizes and counts.

use longhaul_keys::{
    KIND, Kind, PROBABILITY, RATE, Range, Read, SIZE, TIME, Table, Value, key, required,
};
use longhaul_units::Quantity;

use crate::Quantiles;

pub use drawn::Drawn;

/// A distribution of non-negative numbers. Their unit depends on the use: seconds, bits per second,
/// bytes or counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// A constant.
    Constant(f64),
    /// Uniform distribution between two values.
    Uniform(f64, f64),
    /// Exponential distribution.
    Exponential {
        /// Mean value.
        mean: f64,
    },
    /// Pareto distribution: `P(X > x) = (scale/x)^shape`, with `scale = mean (shape - 1)/shape`
    /// (ns-2's `Pareto`).
    Pareto {
        /// Mean value.
        mean: f64,
        /// Tail index, above 1.
        shape: f64,
    },
    /// Pareto distribution of the second kind, from zero: `P(X > x) = (1 + x/scale)^-shape`, with
    /// `scale = mean (shape - 1)` (ns-2's `ParetoII`).
    ParetoII {
        /// Mean value.
        mean: f64,
        /// Tail index, above 1.
        shape: f64,
    },
    /// Pareto distribution bounded on both sides.
    BoundedPareto {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Tail index of the unbounded distribution.
        shape: f64,
    },
    /// Weibull distribution: `P(X > x) = exp(-(x/scale)^shape)`.
    Weibull {
        /// Shape parameter.
        shape: f64,
        /// Scale parameter.
        scale: f64,
    },
    /// Distribution of the inverse of a Weibull variable, as for PackMime's server delays (Cao,
    /// Cleveland and others, INFOCOM 2004, section 7).
    InverseWeibull {
        /// Shape parameter of the Weibull variable.
        shape: f64,
        /// Scale parameter of the Weibull variable.
        scale: f64,
    },
    /// Log-normal distribution.
    LogNormal {
        /// Median value.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Distribution given by measured quantiles.
    Empirical(Quantiles),
    /// Another distribution with an upper limit: values above `max` become `max`.
    Limited {
        /// The unlimited distribution.
        of: Box<Distribution>,
        /// Largest value.
        max: f64,
    },
}

impl Read for Distribution {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Table(table) => {
                let distribution = Self::of(table)?;
                Some(match table.get(Drawn::limit) {
                    Some(limit) => Self::Limited {
                        of: Box::new(distribution),
                        max: in_base_unit(&limit.value)?,
                    },
                    None => distribution,
                })
            }
            constant => in_base_unit(constant).map(Self::Constant),
        }
    }
}

impl Distribution {
    /// Returns true if draws, before any rounding, have zero probability of being 0. For measured
    /// quantiles, a probability below 1e-6 counts as zero.
    pub fn avoids_zero(&self) -> bool {
        match self {
            Self::Constant(value) => *value > 0.0,
            Self::Uniform(_, max) | Self::BoundedPareto { max, .. } => *max > 0.0,
            Self::Empirical(quantiles) => quantiles.at(1e-6) > 0.0,
            Self::Limited { of, max } => *max > 0.0 && of.avoids_zero(),
            _ => true,
        }
    }

    fn of(table: &Table) -> Option<Self> {
        let value = |key| in_base_unit(&table.get(key)?.value);
        Some(match table.word(KIND) {
            "uniform" => Self::Uniform(value(Drawn::min)?, value(Drawn::max)?),
            "exponential" => Self::Exponential {
                mean: value(Drawn::mean)?,
            },
            "pareto" => Self::Pareto {
                mean: value(Drawn::mean)?,
                shape: value(Drawn::shape)?,
            },
            "pareto-ii" => Self::ParetoII {
                mean: value(Drawn::mean)?,
                shape: value(Drawn::shape)?,
            },
            "bounded-pareto" => Self::BoundedPareto {
                min: value(Drawn::min)?,
                max: value(Drawn::max)?,
                shape: value(Drawn::shape)?,
            },
            "weibull" => Self::Weibull {
                shape: value(Drawn::shape)?,
                scale: value(Drawn::scale)?,
            },
            "log-normal" => Self::LogNormal {
                median: value(Drawn::median)?,
                sigma: value(Drawn::sigma)?,
            },
            "empirical" => {
                let numbers = |key| -> Option<Vec<f64>> {
                    let items = table.list(key).iter();
                    items.map(|item| in_base_unit(&item.value)).collect()
                };
                let probabilities = numbers(Drawn::probabilities)?.into_iter();
                let quantiles: Vec<_> = probabilities.zip(numbers(Drawn::values)?).collect();
                Self::Empirical(Quantiles::new(&quantiles, value(Drawn::root)))
            }
            _ => return None,
        })
    }
}

/// Returns a number or quantity as a plain number: times in seconds, sizes in bytes, rates in bits
/// per second. Returns `None` for all other values: also for whole numbers, and for quantities in
/// packets or bandwidth-delay products.
pub fn in_base_unit(value: &Value) -> Option<f64> {
    match *value {
        Value::Number(number) => Some(number),
        Value::Quantity(Quantity::Span(span)) => Some(span.as_secs_f64()),
        Value::Quantity(Quantity::Bytes(bytes)) => Some(bytes.0 as f64),
        Value::Quantity(Quantity::Rate(rate)) => Some(rate.as_bps() as f64),
        _ => None,
    }
}

/// Keys of the tables that describe distributions. Each type of distribution uses some of the keys.
#[allow(non_upper_case_globals)]
mod drawn {
    use longhaul_keys::Field;

    /// Namespace for the keys of distribution tables, which are its constants.
    pub struct Drawn;

    impl Drawn {
        /// Smallest value.
        pub const min: Field<f64> = Field::new("min");
        /// Largest value.
        pub const max: Field<f64> = Field::new("max");
        /// Mean value.
        pub const mean: Field<f64> = Field::new("mean");
        /// Shape parameter, or tail index.
        pub const shape: Field<f64> = Field::new("shape");
        /// Scale parameter.
        pub const scale: Field<f64> = Field::new("scale");
        /// Median value.
        pub const median: Field<f64> = Field::new("median");
        /// Standard deviation of the natural logarithm.
        pub const sigma: Field<f64> = Field::new("sigma");
        /// Probabilities of the quantiles in `values`.
        pub const probabilities: Field<Vec<f64>> = Field::new("probabilities");
        /// Quantiles at the probabilities in `probabilities`.
        pub const values: Field<Vec<f64>> = Field::new("values");
        /// Degree `d`: between quantiles and beyond the last, `value^(1/d)` is interpolated.
        pub const root: Field<f64> = Field::new("root");
        /// Largest value; larger draws become this value.
        pub const limit: Field<f64> = Field::new("limit");
    }
}

const TAIL: Kind = Kind::Number(Range::above(1.0, 1000.0));
const BOUNDED_TAIL: Kind = Kind::Number(Range::closed(0.05, 1000.0));
const WEIBULL_SHAPE: Kind = Kind::Number(Range::closed(0.05, 100.0));
/// Allowed values of the key `sigma`. A larger number is treated as a mistake, as for `root`.
const SIGMA: Kind = Kind::Number(Range::closed(0.0, 100.0));
const ROOT: Kind = Kind::Number(Range::above(0.0, 100.0));

const TAIL_HELP: &str = "Tail index a: the share of draws above a large value x falls as x^-a.";
const LIMIT_HELP: &str = "Upper bound, to which larger draws are set.";

/// Kind of tables that describe distributions: the keys of each type of distribution, and their
/// allowed values. `$value` has those of means, maxima and other positive values; `$min`, which may
/// allow 0, has those of quantiles and of the minimum of a uniform distribution.
macro_rules! drawn {
    ($min:expr, $value:expr) => {
        Kind::Tagged(&[
            (
                "uniform",
                &[
                    required(Drawn::min.name(), $min, "Smallest value."),
                    required(Drawn::max.name(), $value, "Largest value."),
                ],
            ),
            (
                "exponential",
                &[
                    required(Drawn::mean.name(), $value, "Mean."),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
            (
                "pareto",
                &[
                    required(Drawn::mean.name(), $value, "Mean."),
                    required(Drawn::shape.name(), TAIL, TAIL_HELP),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
            (
                "pareto-ii",
                &[
                    required(Drawn::mean.name(), $value, "Mean."),
                    required(Drawn::shape.name(), TAIL, TAIL_HELP),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
            (
                "bounded-pareto",
                &[
                    required(Drawn::min.name(), $value, "Smallest value."),
                    required(Drawn::max.name(), $value, "Largest value."),
                    required(Drawn::shape.name(), BOUNDED_TAIL, TAIL_HELP),
                ],
            ),
            (
                "weibull",
                &[
                    required(Drawn::scale.name(), $value, "Scale."),
                    required(
                        Drawn::shape.name(),
                        WEIBULL_SHAPE,
                        "Shape: 1 is exponential, less has a heavier tail.",
                    ),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
            (
                "log-normal",
                &[
                    required(Drawn::median.name(), $value, "Median."),
                    required(
                        Drawn::sigma.name(),
                        SIGMA,
                        "Standard deviation of the natural logarithm.",
                    ),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
            (
                "empirical",
                &[
                    required(
                        Drawn::probabilities.name(),
                        Kind::List(&PROBABILITY),
                        "Probabilities in ascending order, from 0 to 1, or below 1 with `root`.",
                    ),
                    required(
                        Drawn::values.name(),
                        Kind::List(&$min),
                        "Quantiles at these probabilities, interpolated linearly between them.",
                    ),
                    key(
                        Drawn::root.name(),
                        ROOT,
                        "Degree n: the n-th root of the value is linear in the logarithm of the probability that a \
                            draw is larger, also beyond the last quantile. Without this key the value is linear in \
                            the probability.",
                    ),
                    key(Drawn::limit.name(), $value, LIMIT_HELP),
                ],
            ),
        ])
    };
}

/// Allowed values of a key: a distribution of times.
pub const DRAWN_TIMES: Kind = drawn!(Kind::Quantity(TIME), Kind::Positive(TIME));
/// Allowed values of a key: a time, or a distribution of times.
pub const TIMES: Kind = Kind::OneOf(&[Kind::Quantity(TIME), DRAWN_TIMES]);

/// Allowed values of a key: a rate, or a distribution of rates.
pub const RATES: Kind = Kind::OneOf(&[
    Kind::Positive(RATE),
    drawn!(Kind::Positive(RATE), Kind::Positive(RATE)),
]);

/// Allowed values of a key: a size, or a distribution of sizes.
pub const SIZES: Kind = Kind::OneOf(&[
    Kind::Positive(SIZE),
    drawn!(Kind::Positive(SIZE), Kind::Positive(SIZE)),
]);

const COUNT: Kind = Kind::Number(Range::above(0.0, 1e6));
/// Allowed values of a key: a number, or a distribution of numbers.
pub const COUNTS: Kind = Kind::OneOf(&[COUNT, drawn!(COUNT, COUNT)]);

const POSSIBLE: Kind = Kind::Number(Range::above(0.0, 1.0));
/// Allowed values of a key: a probability, or a distribution of probabilities.
pub const PROBABILITIES: Kind = Kind::OneOf(&[PROBABILITY, drawn!(PROBABILITY, POSSIBLE)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_a_probability_where_numbers_stay_at_it() {
        let measured = |second| {
            Distribution::Empirical(Quantiles::new(
                &[(0.0, 0.0), (0.5, second), (1.0, 2.0)],
                None,
            ))
        };
        let limited = |max| Distribution::Limited {
            of: Box::new(Distribution::Constant(1.0)),
            max,
        };
        for zero in [
            Distribution::Constant(0.0),
            Distribution::Uniform(0.0, 0.0),
            measured(0.0),
            limited(0.0),
        ] {
            assert!(!zero.avoids_zero(), "{zero:?}");
        }
        for positive in [
            Distribution::Constant(1e-9),
            Distribution::Uniform(0.0, 1.0),
            Distribution::Exponential { mean: 1.0 },
            measured(1.0),
            limited(0.5),
        ] {
            assert!(positive.avoids_zero(), "{positive:?}");
        }
    }
}
