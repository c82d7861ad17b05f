//! Distributions of what is drawn once per flow or per packet: delays, rates, probabilities.

use super::Stream;

/// A distribution of numbers that are not negative, in the unit of what they mean: seconds, bits per
/// second, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// What the numbers follow.
    pub family: Family,
    /// Larger numbers become this one; infinity for none.
    pub max: f64,
}

/// A family of distributions with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// Always the same.
    Constant(f64),
    /// Uniform on [`from`, `to`).
    Uniform {
        /// Smallest.
        from: f64,
        /// Largest.
        to: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Pareto: a number is above `x` with probability `(least / x)^shape`.
    Pareto {
        /// Mean, which is `least * shape / (shape - 1)`.
        mean: f64,
        /// Shape, above 1.
        shape: f64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Median.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Between quantiles that were measured.
    Quantiles(Quantiles),
}

impl Distribution {
    /// Always the same number.
    pub const fn constant(number: f64) -> Self {
        Self::unlimited(Family::Constant(number))
    }

    /// A family without a limit.
    pub const fn unlimited(family: Family) -> Self {
        Self {
            family,
            max: f64::INFINITY,
        }
    }

    /// Whether all draws are the same.
    pub fn is_constant(&self) -> bool {
        matches!(self.family, Family::Constant(_))
    }

    /// Draws a number, by inversion except for log-normal ones.
    pub(crate) fn draw(&self, stream: &mut Stream) -> f64 {
        let number = match &self.family {
            Family::Constant(number) => *number,
            Family::Uniform { from, to } => from + (to - from) * stream.uniform(),
            Family::Exponential { mean } => mean * exponential(stream),
            Family::Pareto { mean, shape } => {
                let least = mean * (shape - 1.0) / shape;
                least * libm::exp(exponential(stream) / shape)
            }
            Family::LogNormal { median, sigma } => median * libm::exp(sigma * stream.normal()),
            Family::Quantiles(quantiles) => quantiles.at(stream.uniform()),
        };
        number.min(self.max)
    }
}

/// Exponential with mean 1.
fn exponential(stream: &mut Stream) -> f64 {
    // 1 - uniform() is above zero.
    -libm::log(1.0 - stream.uniform())
}

/// Quantiles that were measured, and how to get from one to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// Where each one stands on a scale, and a height, between which lines are drawn.
    line: Vec<(f64, f64)>,
    /// What to raise heights to.
    root: Option<f64>,
}

impl Quantiles {
    /// The distribution with these quantiles `(probability, value)`, two at least, whose
    /// probabilities ascend from 0 and whose values do not fall.
    ///
    /// Without a root, values are linear in the probability between quantiles, of which the last is
    /// that of 1. With one, the root of the value of this degree is linear in the logarithm of the
    /// probability to be above, beyond the last quantile too, which is below 1: round trips as
    /// PackMime has them (Cao, Cleveland and others, "Stochastic models for generating synthetic
    /// HTTP source traffic", INFOCOM 2004).
    pub fn new(quantiles: &[(f64, f64)], root: Option<f64>) -> Self {
        let line = quantiles.iter().map(|&(probability, value)| match root {
            None => (probability, value),
            Some(degree) => (above(probability), libm::pow(value, 1.0 / degree)),
        });
        Self {
            line: line.collect(),
            root,
        }
    }

    /// The quantile of a probability below 1.
    fn at(&self, probability: f64) -> f64 {
        let scale = self.root.map_or(probability, |_| above(probability));
        let inner = &self.line[1..self.line.len() - 1];
        let segment = inner.partition_point(|&(place, _)| place <= scale);
        let ((left, low), (right, high)) = (self.line[segment], self.line[segment + 1]);
        let height = low + (high - low) * (scale - left) / (right - left);
        self.root.map_or(height, |root| libm::pow(height, root))
    }
}

fn above(probability: f64) -> f64 {
    -libm::log1p(-probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 400_000;

    fn draws(distribution: &Distribution) -> Vec<f64> {
        let mut stream = Stream::new(5, 0, "test");
        let draws = (0..DRAWS).map(|_| distribution.draw(&mut stream));
        let mut draws: Vec<f64> = draws.collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    /// Quantiles within 1.5 % of the closed form, far into the tail.
    fn assert_quantiles(family: Family, closed_form: impl Fn(f64) -> f64) {
        let name = format!("{family:?}");
        let draws = draws(&Distribution::unlimited(family));
        for probability in [0.1, 0.5, 0.9, 0.99] {
            let found = draws[(probability * DRAWS as f64) as usize];
            let expected = closed_form(probability);
            assert!(
                (found / expected - 1.0).abs() < 0.015,
                "{name} at {probability}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn quantiles_are_those_of_the_closed_forms() {
        assert_quantiles(Family::Uniform { from: 2.0, to: 5.0 }, |p| 2.0 + 3.0 * p);
        assert_quantiles(Family::Exponential { mean: 0.3 }, |p| {
            -0.3 * libm::log(1.0 - p)
        });
        let (mean, shape) = (12.0, 1.5);
        assert_quantiles(Family::Pareto { mean, shape }, |p| {
            4.0 * libm::pow(1.0 - p, -1.0 / 1.5)
        });
        // Standard normal quantiles of 0.1, 0.5, 0.9 and 0.99.
        let normal = |p| match p {
            0.1 => -1.281_551_6,
            0.5 => 0.0,
            0.9 => 1.281_551_6,
            _ => 2.326_347_9,
        };
        let (median, sigma) = (50e-6, 0.6);
        assert_quantiles(Family::LogNormal { median, sigma }, |p| {
            50e-6 * libm::exp(0.6 * normal(p))
        });
    }

    #[test]
    fn means_and_limits_are_as_given() {
        let pareto = Family::Pareto {
            mean: 12.0,
            shape: 2.5,
        };
        let found = mean(&draws(&Distribution::unlimited(pareto.clone())));
        assert!((found / 12.0 - 1.0).abs() < 0.02, "{found}");
        let cut = Distribution {
            family: pareto,
            max: 20.0,
        };
        let draws = draws(&cut);
        assert_eq!(draws[DRAWS - 1], 20.0);
        // A share of (7.2 / 20)^2.5.
        let share = draws.iter().filter(|&&draw| draw == 20.0).count() as f64 / DRAWS as f64;
        assert!((share / libm::pow(0.36, 2.5) - 1.0).abs() < 0.02);
    }

    /// PackMime's server-side round trips have a median of 58 ms, a mean of 81 ms, and a ninth
    /// decile of 114 to 119 ms (spec 001b B.7).
    #[test]
    fn the_round_trips_of_packmime_have_its_moments() {
        let table_ms = [
            (0.0, 0.495),
            (0.446_649_89, 52.283),
            (0.700_083_75, 88.980),
            (0.845_474_56, 96.328),
            (0.906_674_57, 122.131),
            (0.990_559_39, 707.259),
            (0.994_812, 1156.964),
            (0.996_909_7, 1541.151),
            (0.998_250_15, 2769.733),
            (0.9999, 5110.757),
        ];
        let quantiles = Quantiles::new(&table_ms, Some(3.0));
        let draws = draws(&Distribution::unlimited(Family::Quantiles(quantiles)));
        let rank = |share: f64| draws[(share * DRAWS as f64) as usize];
        assert!((rank(0.5) - 58.0).abs() < 1.5, "{}", rank(0.5));
        assert!((mean(&draws) - 81.0).abs() < 2.0, "{}", mean(&draws));
        assert!((114.0..120.0).contains(&rank(0.9)), "{}", rank(0.9));
    }

    #[test]
    fn measured_quantiles_are_met_and_joined_by_lines() {
        let linear = Quantiles::new(&[(0.0, 1.0), (0.5, 3.0), (0.9, 3.0), (1.0, 13.0)], None);
        for (probability, expected) in [(0.0, 1.0), (0.25, 2.0), (0.7, 3.0), (0.95, 8.0)] {
            assert!((linear.at(probability) - expected).abs() < 1e-12);
        }
        // Three of PackMime's server-side round trips in ms, and 1 - p ten times smaller than at the
        // last: as far again as from the one before.
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
