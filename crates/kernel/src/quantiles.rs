//! Measured quantiles of a distribution, and interpolation between them.

use std::sync::Arc;

/// Measured quantiles, and the rule that interpolates between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// Points between which quantiles are interpolated linearly. They are `(probability, value)` if
    /// `root` is `None`, and `(-ln(1 - probability), value^(1/d))` for a root of degree `d`.
    points: Arc<[(f64, f64)]>,
    /// Degree `d` if `points` stores the `d`-th roots of the values; `None` if it stores the values.
    root: Option<f64>,
}

impl Quantiles {
    /// Creates quantiles from at least two pairs `(probability, value)`. Probabilities start at 0
    /// and increase; values do not decrease.
    ///
    /// Without `root`, values are interpolated linearly between the pairs, and the last probability
    /// is 1. With `root = d`, `value^(1/d)` is interpolated as a linear function of
    /// `ln(1 - probability)`. The last probability is then below 1; for larger probabilities, the
    /// last two pairs are extrapolated. PackMime's round-trip times have this form (Cao, Cleveland
    /// and others, "Stochastic models for generating synthetic HTTP source traffic", INFOCOM 2004).
    pub fn new(quantiles: &[(f64, f64)], root: Option<f64>) -> Self {
        let point = |&(probability, value): &(f64, f64)| match root {
            None => (probability, value),
            Some(degree) => (above(probability), libm::pow(value, 1.0 / degree)),
        };
        Self {
            points: quantiles.iter().map(point).collect(),
            root,
        }
    }

    /// Returns the quantile at a probability below 1.
    pub fn at(&self, probability: f64) -> f64 {
        match self.root {
            None => interpolate(&self.points, probability),
            Some(degree) => libm::pow(interpolate(&self.points, above(probability)), degree),
        }
    }
}

/// Returns `-ln(1 - probability)`.
fn above(probability: f64) -> f64 {
    -libm::log1p(-probability)
}

/// Returns the value at `x` of the piecewise linear function through `points`, at least two, in
/// ascending order of `x`. The first and the last piece extend beyond the points.
#[inline]
pub fn interpolate(points: &[(f64, f64)], x: f64) -> f64 {
    let above = points.partition_point(|&(known, _)| known <= x);
    let at = above.clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[at - 1], points[at]);
    y0 + (x - x0) / (x1 - x0) * (y1 - y0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_quantiles_are_met_and_joined_by_lines() {
        let linear = Quantiles::new(&[(0.0, 1.0), (0.5, 3.0), (0.9, 3.0), (1.0, 13.0)], None);
        for (probability, expected) in [(0.0, 1.0), (0.25, 2.0), (0.7, 3.0), (0.95, 8.0)] {
            assert!((linear.at(probability) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn roots_are_linear_in_the_logarithm_of_what_is_above_and_go_on() {
        // Three of PackMime's server-side round trips in ms. Where `1 - p` is a tenth of the last,
        // the root is as far beyond the last quantile as the last quantile is beyond the previous
        // one.
        let table = [(0.0, 0.495), (0.9, 122.131), (0.99, 707.259)];
        let tail = Quantiles::new(&table, Some(3.0));
        for (probability, value) in table {
            assert!((tail.at(probability) / value - 1.0).abs() < 1e-12);
        }
        let step = libm::cbrt(707.259) - libm::cbrt(122.131);
        let expected = libm::pow(libm::cbrt(707.259) + step, 3.0);
        assert!((tail.at(0.999) / expected - 1.0).abs() < 1e-9);
        let halfway = libm::pow(libm::cbrt(122.131) + step / 2.0, 3.0);
        let probability = 1.0 - 0.1 / libm::sqrt(10.0);
        assert!((tail.at(probability) / halfway - 1.0).abs() < 1e-9);
    }
}
