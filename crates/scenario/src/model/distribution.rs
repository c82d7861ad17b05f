//! Keys of distributions: the same for everything that is drawn, in its own unit.

use longhaul_keys::{Kind, PROBABILITY, RATE, Range, SIZE, TIME, key, required};

const TAIL: Kind = Kind::Number(Range::above(1.0, 1000.0));
const BOUNDED_TAIL: Kind = Kind::Number(Range::closed(0.05, 1000.0));
const WEIBULL_SHAPE: Kind = Kind::Number(Range::closed(0.05, 100.0));
/// Longer roots and wider spreads are a mistake.
const SIGMA: Kind = Kind::Number(Range::closed(0.0, 100.0));
const ROOT: Kind = Kind::Number(Range::above(0.0, 100.0));

const TAIL_HELP: &str = "Tail index: the share above a large value x falls as x to minus this.";
const LIMIT_HELP: &str = "Larger draws become this.";

/// A table that says what is drawn. The smallest value may be less than the others: zero, for some.
macro_rules! drawn {
    ($least:expr, $value:expr) => {
        Kind::Tagged(&[
            (
                "uniform",
                &[
                    required("min", $least, "Smallest value."),
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
                        Kind::List(&$least),
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

pub(super) const DRAWN_TIMES: Kind = drawn!(Kind::Quantity(TIME), Kind::Positive(TIME));
pub(super) const TIMES: Kind = Kind::OneOf(&[Kind::Quantity(TIME), DRAWN_TIMES]);

pub(super) const RATES: Kind = Kind::OneOf(&[
    Kind::Positive(RATE),
    drawn!(Kind::Positive(RATE), Kind::Positive(RATE)),
]);

pub(super) const SIZES: Kind = Kind::OneOf(&[
    Kind::Positive(SIZE),
    drawn!(Kind::Positive(SIZE), Kind::Positive(SIZE)),
]);

const COUNT: Kind = Kind::Number(Range::above(0.0, 1e6));
pub(super) const COUNTS: Kind = Kind::OneOf(&[COUNT, drawn!(COUNT, COUNT)]);

const POSSIBLE: Kind = Kind::Number(Range::above(0.0, 1.0));
pub(super) const PROBABILITIES: Kind = Kind::OneOf(&[PROBABILITY, drawn!(PROBABILITY, POSSIBLE)]);
