//! Distributions that delays, rates, probabilities, sizes and counts are drawn from.

use longhaul_keys::{
    Kind, PROBABILITY, RATE, Range, Read, SIZE, TIME, Value, Values, key, required,
};
use longhaul_units::Quantity;

use super::Quantiles;

/// A distribution of numbers that are not negative: seconds, bits per second, bytes, or counts, as the
/// context says.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Uniform from the first to the second.
    Uniform(f64, f64),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Pareto: `P(X > x) = (scale/x)^shape`, with `scale = mean (shape - 1)/shape` (ns-2's `Pareto`).
    Pareto {
        /// Mean.
        mean: f64,
        /// Tail index, above 1.
        shape: f64,
    },
    /// Pareto of the second kind, from zero: `P(X > x) = (1 + x/scale)^-shape`, with `scale = mean
    /// (shape - 1)` (ns-2's `ParetoII`).
    ParetoII {
        /// Mean.
        mean: f64,
        /// Tail index, above 1.
        shape: f64,
    },
    /// Pareto between two bounds.
    BoundedPareto {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Tail index of the unbounded distribution.
        shape: f64,
    },
    /// Weibull: `P(X > x) = exp(-(x/scale)^shape)`.
    Weibull {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// One over a Weibull number: PackMime's server delays (Cao, Cleveland and others, INFOCOM 2004, section 7).
    InverseWeibull {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Median.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Between quantiles that were measured.
    Empirical(Quantiles),
    /// Another distribution, of which larger numbers become `max`.
    Limited {
        /// The distribution.
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
                Some(match table.get("limit") {
                    Some(limit) => Self::Limited {
                        of: Box::new(distribution),
                        max: in_base_unit(limit)?,
                    },
                    None => distribution,
                })
            }
            constant => in_base_unit(constant).map(Self::Constant),
        }
    }
}

impl Distribution {
    fn of(table: &Values) -> Option<Self> {
        let value = |key| in_base_unit(table.get(key)?);
        let Value::Text(kind) = table.get("kind")? else {
            return None;
        };
        Some(match kind.as_str() {
            "uniform" => Self::Uniform(value("min")?, value("max")?),
            "exponential" => Self::Exponential {
                mean: value("mean")?,
            },
            "pareto" => Self::Pareto {
                mean: value("mean")?,
                shape: value("shape")?,
            },
            "pareto-ii" => Self::ParetoII {
                mean: value("mean")?,
                shape: value("shape")?,
            },
            "bounded-pareto" => Self::BoundedPareto {
                min: value("min")?,
                max: value("max")?,
                shape: value("shape")?,
            },
            "weibull" => Self::Weibull {
                shape: value("shape")?,
                scale: value("scale")?,
            },
            "log-normal" => Self::LogNormal {
                median: value("median")?,
                sigma: value("sigma")?,
            },
            "empirical" => {
                let probabilities = numbers(table.get("probabilities")?)?.into_iter();
                let quantiles: Vec<_> = probabilities.zip(numbers(table.get("values")?)?).collect();
                Self::Empirical(Quantiles::new(&quantiles, value("root")))
            }
            _ => return None,
        })
    }
}

/// A number of seconds, bytes or bits per second, or one without a unit.
pub fn in_base_unit(value: &Value) -> Option<f64> {
    match *value {
        Value::Number(number) => Some(number),
        Value::Quantity(Quantity::Span(span)) => Some(span.as_secs_f64()),
        Value::Quantity(Quantity::Bytes(bytes)) => Some(bytes.0 as f64),
        Value::Quantity(Quantity::Rate(rate)) => Some(rate.as_bps() as f64),
        _ => None,
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::List(items) => items.iter().map(in_base_unit).collect(),
        _ => None,
    }
}

const TAIL: Kind = Kind::Number(Range::above(1.0, 1000.0));
const BOUNDED_TAIL: Kind = Kind::Number(Range::closed(0.05, 1000.0));
const WEIBULL_SHAPE: Kind = Kind::Number(Range::closed(0.05, 100.0));
/// Wider spreads and higher roots are a mistake.
const SIGMA: Kind = Kind::Number(Range::closed(0.0, 100.0));
const ROOT: Kind = Kind::Number(Range::above(0.0, 100.0));

const TAIL_HELP: &str = "Tail index: the share above a large value x falls as x to minus this.";
const LIMIT_HELP: &str = "Larger draws become this.";

/// A table that says what is drawn. Some may be 0 at least, though not on average.
macro_rules! drawn {
    ($min:expr, $value:expr) => {
        Kind::Tagged(&[
            (
                "uniform",
                &[
                    required("min", $min, "Smallest value."),
                    required("max", $value, "Largest value."),
                ],
            ),
            (
                "exponential",
                &[
                    required("mean", $value, "Mean."),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
            (
                "pareto",
                &[
                    required("mean", $value, "Mean."),
                    required("shape", TAIL, TAIL_HELP),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
            (
                "pareto-ii",
                &[
                    required("mean", $value, "Mean."),
                    required("shape", TAIL, TAIL_HELP),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
            (
                "bounded-pareto",
                &[
                    required("min", $value, "Smallest value."),
                    required("max", $value, "Largest value."),
                    required("shape", BOUNDED_TAIL, TAIL_HELP),
                ],
            ),
            (
                "weibull",
                &[
                    required("scale", $value, "Scale."),
                    required(
                        "shape",
                        WEIBULL_SHAPE,
                        "Shape: 1 is exponential, less has a heavier tail.",
                    ),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
            (
                "log-normal",
                &[
                    required("median", $value, "Median."),
                    required(
                        "sigma",
                        SIGMA,
                        "Standard deviation of the natural logarithm.",
                    ),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
            (
                "empirical",
                &[
                    required(
                        "probabilities",
                        Kind::List(&PROBABILITY),
                        "Probabilities in ascending order, from 0 to 1, or below 1 with `root`.",
                    ),
                    required(
                        "values",
                        Kind::List(&$min),
                        "The quantiles that belong to them; straight lines between.",
                    ),
                    key(
                        "root",
                        ROOT,
                        "Degree of the root of the value that is linear in the logarithm of the \
                         probability to be above, also beyond the last quantile; without it the \
                         value is linear in the probability.",
                    ),
                    key("limit", $value, LIMIT_HELP),
                ],
            ),
        ])
    };
}

/// A distribution of times.
pub const DRAWN_TIMES: Kind = drawn!(Kind::Quantity(TIME), Kind::Positive(TIME));
/// A time, or a distribution of times.
pub const TIMES: Kind = Kind::OneOf(&[Kind::Quantity(TIME), DRAWN_TIMES]);

/// A rate, or a distribution of rates.
pub const RATES: Kind = Kind::OneOf(&[
    Kind::Positive(RATE),
    drawn!(Kind::Positive(RATE), Kind::Positive(RATE)),
]);

/// A size, or a distribution of sizes.
pub const SIZES: Kind = Kind::OneOf(&[
    Kind::Positive(SIZE),
    drawn!(Kind::Positive(SIZE), Kind::Positive(SIZE)),
]);

const COUNT: Kind = Kind::Number(Range::above(0.0, 1e6));
/// A number, or a distribution of numbers.
pub const COUNTS: Kind = Kind::OneOf(&[COUNT, drawn!(COUNT, COUNT)]);

const POSSIBLE: Kind = Kind::Number(Range::above(0.0, 1.0));
/// A probability, or a distribution of probabilities.
pub const PROBABILITIES: Kind = Kind::OneOf(&[PROBABILITY, drawn!(PROBABILITY, POSSIBLE)]);
