//! Draws from distributions.

use longhaul_units::Span;

use super::Stream;
use crate::Distribution;

/// Size in bytes or packets that stands for an unlimited source.
pub const WITHOUT_END: u64 = 1 << 56;

impl Stream {
    /// Draws a number from a distribution by inversion of one uniform number. A constant uses no
    /// uniform number, and a log-normal number uses two.
    #[inline]
    pub fn draw(&mut self, distribution: &Distribution) -> f64 {
        match *distribution {
            Distribution::Constant(value) => value,
            Distribution::Uniform(min, max) => min + self.uniform() * (max - min),
            Distribution::Exponential { mean } => -mean * libm::log1p(-self.uniform()),
            Distribution::Pareto { mean, shape } => {
                let scale = mean * (shape - 1.0) / shape;
                scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
            }
            Distribution::ParetoII { mean, shape } => {
                let scale = mean * (shape - 1.0);
                scale * (libm::pow(1.0 - self.uniform(), -1.0 / shape) - 1.0)
            }
            Distribution::BoundedPareto { min, max, shape } => {
                let beyond = libm::pow(min / max, shape);
                min * libm::pow(1.0 - self.uniform() * (1.0 - beyond), -1.0 / shape)
            }
            Distribution::Weibull { shape, scale } => weibull(self.uniform(), shape, scale),
            Distribution::InverseWeibull { shape, scale } => {
                // The inverse reverses the order: a small uniform number must give a small result.
                1.0 / weibull(1.0 - self.uniform(), shape, scale)
            }
            Distribution::LogNormal { median, sigma } => median * libm::exp(sigma * self.normal()),
            Distribution::Empirical(ref quantiles) => quantiles.at(self.uniform()),
            Distribution::Limited { ref of, max } => self.draw(of).min(max),
        }
    }

    /// Draws a size or count from a distribution, rounded up to a whole number of at least 1.
    #[inline]
    pub fn draw_count(&mut self, distribution: &Distribution) -> u64 {
        whole(self.draw(distribution))
    }

    /// Draws a duration from a distribution of seconds.
    #[inline]
    pub fn draw_span(&mut self, distribution: &Distribution) -> Span {
        /// Maximum duration in seconds (28 hours); no run is longer. The sum of several of them
        /// still fits into 64 bits of picoseconds.
        const LONGEST_S: f64 = 100_000.0;
        Span::from_secs_f64(self.draw(distribution).min(LONGEST_S))
    }

    /// Draws a number from the normal distribution of mean 0 and variance 1, from two uniform
    /// numbers (Box and Muller).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Returns a new stream, seeded by a draw from this stream, for a component that is created during a run. If this
    /// stream uses ns-2's shared generator, the new stream uses it, too.
    #[inline]
    pub fn split(&mut self) -> Self {
        match &self.0 {
            super::Generator::Own(_) => {
                let seed = (self.uniform() * (1_u64 << 53) as f64) as u64;
                Self::new(seed, 0, "split")
            }
            super::Generator::Ns2(_) => self.clone(),
        }
    }
}

/// Rounds a number up to a whole number from 1 to [`WITHOUT_END`]. The limit keeps sums of
/// heavy-tailed numbers within 64 bits.
#[inline]
pub fn whole(number: f64) -> u64 {
    (libm::ceil(number) as u64).clamp(1, WITHOUT_END)
}

/// Returns the quantile at probability `p` of a Weibull variable.
fn weibull(p: f64, shape: f64, scale: f64) -> f64 {
    scale * libm::pow(-libm::log1p(-p), 1.0 / shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quantiles;

    const DRAWS: usize = 400_000;

    fn sorted(distribution: &Distribution) -> Vec<f64> {
        let mut stream = Stream::new(5, 0, "test");
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| stream.draw(distribution)).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    /// Function in closed form that returns the probability that a draw exceeds a number.
    type Above = fn(f64) -> f64;

    fn all() -> Vec<(Distribution, Above)> {
        let points = [(0.0, 1.0), (0.25, 2.0), (0.75, 4.0), (1.0, 10.0)];
        vec![
            (Distribution::Uniform(2.0, 6.0), |x| (6.0 - x) / 4.0),
            (Distribution::Exponential { mean: 2.0 }, |x| {
                libm::exp(-x / 2.0)
            }),
            // Scale 3 (1.5 - 1)/1.5 = 1.
            (
                Distribution::Pareto {
                    mean: 3.0,
                    shape: 1.5,
                },
                |x| libm::pow(x, -1.5),
            ),
            // Scale 10 (1.2 - 1) = 2, as in WebTraf of LBNL-52549.
            (
                Distribution::ParetoII {
                    mean: 10.0,
                    shape: 1.2,
                },
                |x| libm::pow(1.0 + x / 2.0, -1.2),
            ),
            (
                Distribution::BoundedPareto {
                    min: 1.0,
                    max: 100.0,
                    shape: 1.0,
                },
                |x| (1.0 / x - 0.01) / 0.99,
            ),
            (
                Distribution::Weibull {
                    shape: 0.5,
                    scale: 3.0,
                },
                |x| libm::exp(-libm::sqrt(x / 3.0)),
            ),
            (
                // The inverse exceeds x if the Weibull variable is below 1/x.
                Distribution::InverseWeibull {
                    shape: 0.63,
                    scale: 305.0,
                },
                |x| 1.0 - libm::exp(-libm::pow(1.0 / x / 305.0, 0.63)),
            ),
            (
                Distribution::LogNormal {
                    median: 50e-6,
                    sigma: 0.6,
                },
                |x| libm::erfc(libm::log(x / 50e-6) / 0.6 / std::f64::consts::SQRT_2) / 2.0,
            ),
            (
                Distribution::Empirical(Quantiles::new(&points, None)),
                |x| match x {
                    x if x < 2.0 => 1.0 - 0.25 * (x - 1.0),
                    x if x < 4.0 => 0.75 - 0.25 * (x - 2.0),
                    x => 0.25 * (10.0 - x) / 6.0,
                },
            ),
        ]
    }

    #[test]
    fn draws_are_distributed_as_the_closed_forms_say() {
        for (distribution, above) in all() {
            let draws = sorted(&distribution);
            for p in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999] {
                let x = draws[(p * DRAWS as f64) as usize];
                let error = libm::sqrt(p * (1.0 - p) / DRAWS as f64);
                assert!(
                    (above(x) - (1.0 - p)).abs() < 4.0 * error,
                    "{distribution:?}: {} above {x}, not {}",
                    above(x),
                    1.0 - p
                );
            }
        }
    }

    #[test]
    fn what_is_above_the_limit_becomes_the_limit() {
        // Scale 12 (2.5 - 1)/2.5 = 7.2.
        let pareto = Distribution::Pareto {
            mean: 12.0,
            shape: 2.5,
        };
        let whole = sorted(&pareto);
        let limited = sorted(&Distribution::Limited {
            of: Box::new(pareto),
            max: 20.0,
        });
        let below = whole.partition_point(|&draw| draw < 20.0);
        assert_eq!(limited[..below], whole[..below]);
        assert!(limited[below..].iter().all(|&draw| draw == 20.0));
        let share = (DRAWS - below) as f64 / DRAWS as f64;
        assert!((share / libm::pow(0.36, 2.5) - 1.0).abs() < 0.02);
    }

    /// The round-trip times of PackMime have the published moments: on the server's side a median
    /// of 58 ms, a mean of 81 ms, and a 90 % quantile of 114 to 119 ms (Weigle 2003, appendix B).
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
        let draws = sorted(&Distribution::Empirical(quantiles));
        let rank = |share: f64| draws[(share * DRAWS as f64) as usize];
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        assert!((rank(0.5) - 58.0).abs() < 1.5, "{}", rank(0.5));
        assert!((mean - 81.0).abs() < 2.0, "{mean}");
        assert!((114.0..120.0).contains(&rank(0.9)), "{}", rank(0.9));
    }

    /// Checks that draws of counts are rounded up to a whole number of at least 1, as in ns-2.
    #[test]
    fn counts_are_rounded_up() {
        let mut stream = Stream::new(1, 0, "test");
        let constant = |value| Distribution::Constant(value);
        assert_eq!(stream.draw_count(&constant(0.2)), 1);
        assert_eq!(stream.draw_count(&constant(2.0)), 2);
        assert_eq!(stream.draw_count(&constant(2.1)), 3);
        let huge = Distribution::Constant(1e300);
        assert_eq!(stream.draw_count(&huge), WITHOUT_END);
        assert_eq!(stream.draw_span(&huge), Span::from_secs(100_000));
        // Probability that an exponential variable, rounded up, is 1.
        let draws = 100_000;
        let exponential = Distribution::Exponential { mean: 1.5 };
        let ones = (0..draws)
            .filter(|_| stream.draw_count(&exponential) == 1)
            .count();
        let share = ones as f64 / f64::from(draws);
        assert!(
            (share - (1.0 - libm::exp(-1.0 / 1.5))).abs() < 0.006,
            "{share}"
        );
    }

    #[test]
    fn what_splits_off_is_another_stream_and_leaves_the_rest() {
        let mut stream = Stream::new(1, 0, "test");
        let mut twin = Stream::new(1, 0, "test");
        let (mut first, mut second) = (stream.split(), stream.split());
        let (one, two) = (first.uniform(), second.uniform());
        assert_ne!(one, two);
        // The stream has used one number per split, no matter how many numbers the new streams have
        // drawn.
        twin.split();
        twin.split();
        assert_eq!(stream.uniform(), twin.uniform());
    }
}
