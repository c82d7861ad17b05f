//! Keys of distributions: the same for everything that is drawn, in its own unit.

use longhaul_congestion::Range;

use super::{Kind, PROBABILITY, RATE, TIME, field, required};

/// Longer roots and wider spreads are a mistake.
const MUCH: f64 = 100.0;
const LIMIT_HELP: &str = "Larger draws become this.";

/// A value that is always the same, or a table that says what is drawn.
macro_rules! distribution {
    ($name:ident, $value:expr) => {
        pub(super) const $name: Kind = Kind::OneOf(&[
            $value,
            Kind::Tagged(&[
                (
                    "uniform",
                    &[
                        required("min", $value, "Smallest value."),
                        required("max", $value, "Largest value."),
                    ],
                ),
                (
                    "exponential",
                    &[
                        required("mean", $value, "Mean."),
                        field("limit", $value, LIMIT_HELP),
                    ],
                ),
                (
                    "pareto",
                    &[
                        required("mean", $value, "Mean."),
                        required(
                            "shape",
                            Kind::Number(Range::open(1.0, MUCH)),
                            "Tail index: the tail falls with this power.",
                        ),
                        field("limit", $value, LIMIT_HELP),
                    ],
                ),
                (
                    "log-normal",
                    &[
                        required("median", $value, "Median."),
                        required(
                            "sigma",
                            Kind::Number(Range::closed(0.0, MUCH)),
                            "Standard deviation of the natural logarithm.",
                        ),
                        field("limit", $value, LIMIT_HELP),
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
                            Kind::List(&$value),
                            "The quantiles that belong to them; straight lines between.",
                        ),
                        field(
                            "root",
                            Kind::Number(Range::above(0.0, MUCH)),
                            "Degree of the root of the value that is linear in the logarithm of \
                             the probability to be above, also beyond the last quantile; without \
                             it the value is linear in the probability.",
                        ),
                        field("limit", $value, LIMIT_HELP),
                    ],
                ),
            ]),
        ]);
    };
}

distribution!(TIMES, Kind::Quantity(TIME));
distribution!(RATES, Kind::Positive(RATE));
distribution!(PROBABILITIES, PROBABILITY);
