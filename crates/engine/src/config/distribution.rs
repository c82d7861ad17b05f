//! Distributions that delays, rates, probabilities, sizes and counts are drawn from.

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
    /// One over a Weibull number: PackMime's delays of servers (spec 001b B.7).
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
