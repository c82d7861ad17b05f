//! Distributions that sizes, counts and times are drawn from.

use std::sync::Arc;

/// A distribution of numbers above zero: seconds, bytes, or counts, as the context says.
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
    /// One over a Weibull number, at most `max`: PackMime's delays of servers (spec 001b B.7).
    InverseWeibull {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
        /// Largest value.
        max: f64,
    },
    /// Quantiles `(probability, value)` in ascending order, the first at 0 and the last at 1, with
    /// straight lines between them.
    Empirical(Arc<[(f64, f64)]>),
}

impl Distribution {
    /// The value below which a draw falls with probability `p`, from 0 up to 1 itself excluded.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            &Self::Constant(value) => value,
            &Self::Uniform(min, max) => min + p * (max - min),
            &Self::Exponential { mean } => -mean * libm::log1p(-p),
            &Self::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                scale * libm::pow(1.0 - p, -1.0 / shape)
            }
            &Self::ParetoII { mean, shape } => {
                let scale = mean * (shape - 1.0);
                scale * (libm::pow(1.0 - p, -1.0 / shape) - 1.0)
            }
            &Self::BoundedPareto { min, max, shape } => {
                let beyond = libm::pow(min / max, shape);
                min * libm::pow(1.0 - p * (1.0 - beyond), -1.0 / shape)
            }
            &Self::Weibull { shape, scale } => weibull(p, shape, scale),
            &Self::InverseWeibull { shape, scale, max } => {
                // Small numbers have large inverses.
                (1.0 / weibull(1.0 - p, shape, scale)).min(max)
            }
            Self::Empirical(points) => interpolate(points, p),
        }
    }

    /// The mean, if it is known in closed form.
    pub fn mean(&self) -> Option<f64> {
        match self {
            &Self::Constant(value) => Some(value),
            &Self::Uniform(min, max) => Some((min + max) / 2.0),
            &Self::Exponential { mean }
            | &Self::Pareto { mean, .. }
            | &Self::ParetoII { mean, .. } => Some(mean),
            &Self::BoundedPareto { min, max, shape } => {
                let beyond = libm::pow(min / max, shape);
                let whole = if shape == 1.0 {
                    min * libm::log(max / min)
                } else {
                    shape / (shape - 1.0) * (min - max * beyond)
                };
                Some(whole / (1.0 - beyond))
            }
            &Self::Weibull { shape, scale } => Some(scale * libm::tgamma(1.0 + 1.0 / shape)),
            Self::InverseWeibull { .. } => None,
            Self::Empirical(points) => {
                let pieces = points.windows(2);
                let area =
                    |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0;
                Some(pieces.map(area).sum())
            }
        }
    }
}

fn weibull(p: f64, shape: f64, scale: f64) -> f64 {
    scale * libm::pow(-libm::log1p(-p), 1.0 / shape)
}

/// A point on a line through `points`, ascending in the first number. Beyond both ends the outermost
/// pieces go on.
pub(crate) fn interpolate(points: &[(f64, f64)], x: f64) -> f64 {
    let above = points.partition_point(|&(known, _)| known <= x);
    let at = above.clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[at - 1], points[at]);
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}
