//! Keys of distributions: the same for everything that is drawn, in its own unit.

use longhaul_congestion::Range;

use super::{Kind, PROBABILITY, RATE, TIME, field, required};

/// Longer roots and wider spreads are a mistake.
const MUCH: f64 = 100.0;

/// A value that is always the same, or a table with one family and possibly a largest value.
macro_rules! distribution {
    ($name:ident, $value:expr) => {
        pub(super) const $name: Kind = Kind::OneOf(&[
            $value,
            Kind::Table(&[
                field(
                    "uniform",
                    Kind::List(&$value),
                    "Uniform between two values.",
                ),
                field("exponential", $value, "Exponential with this mean."),
                field(
                    "pareto",
                    Kind::Table(&[
                        required("mean", $value, "Mean."),
                        required(
                            "shape",
                            Kind::Number(Range::open(1.0, MUCH)),
                            "Shape: the tail falls with this power.",
                        ),
                    ]),
                    "Pareto.",
                ),
                field(
                    "log_normal",
                    Kind::Table(&[
                        required("median", $value, "Median."),
                        required(
                            "sigma",
                            Kind::Number(Range::closed(0.0, MUCH)),
                            "Standard deviation of the natural logarithm.",
                        ),
                    ]),
                    "Log-normal.",
                ),
                field(
                    "quantiles",
                    Kind::Table(&[
                        required(
                            "points",
                            Kind::List(&Kind::List(&Kind::OneOf(&[PROBABILITY, $value]))),
                            "Quantiles that were measured, as [probability, value].",
                        ),
                        field(
                            "root",
                            Kind::Number(Range::above(0.0, MUCH)),
                            "Degree of the root of the value that is linear in the logarithm of \
                             the probability to be above, also beyond the last point; without it \
                             the value is linear in the probability.",
                        ),
                    ]),
                    "Between measured quantiles.",
                ),
                field("max", $value, "Larger draws become this."),
            ]),
        ]);
    };
}

distribution!(TIMES, Kind::Quantity(TIME));
distribution!(RATES, Kind::Positive(RATE));
distribution!(PROBABILITIES, PROBABILITY);
