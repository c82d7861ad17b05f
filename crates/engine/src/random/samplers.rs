//! Draws from distributions, by inversion: one number of the stream for each.

use longhaul_units::Span;

use super::Stream;
use crate::config::Distribution;

/// A span of drawn seconds.
pub(crate) fn span_of(seconds: f64) -> Span {
    /// Longer times are as good as without end; sums of several stay within 64 bits of picoseconds.
    const LONGEST_S: f64 = 100_000.0;
    Span::from_secs_f64(seconds.min(LONGEST_S))
}

impl Stream {
    /// A number from a distribution.
    pub(crate) fn draw(&mut self, distribution: &Distribution) -> f64 {
        match distribution {
            // Takes no number, so that what is constant may become random later, and not otherwise.
            &Distribution::Constant(value) => value,
            other => other.quantile(self.uniform()),
        }
    }

    /// A size or count: the next whole number, at least 1.
    pub(crate) fn draw_count(&mut self, distribution: &Distribution) -> u64 {
        // Saturates for tails without a mean.
        (libm::ceil(self.draw(distribution)) as u64).max(1)
    }

    /// A time from a distribution of seconds.
    pub(crate) fn draw_span(&mut self, distribution: &Distribution) -> Span {
        span_of(self.draw(distribution))
    }

    /// A Gaussian number of mean 0 and variance 1, from two numbers of the stream (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A stream of its own for one of many like things, of which nothing else is known beforehand.
    pub(crate) fn split(&mut self) -> Self {
        match &self.0 {
            super::Generator::Own(_) => {
                let seed = (self.uniform() * (1_u64 << 53) as f64) as u64;
                Self::new(seed, 0, "split")
            }
            super::Generator::Ns2(_) => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability that a draw is above a number, in closed form.
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
            // Scale 10 (1.2 - 1) = 2, as in spec 000 B.13.
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
                // Above x are the inverses of those below 1/x.
                Distribution::InverseWeibull {
                    shape: 0.63,
                    scale: 305.0,
                    max: 0.1,
                },
                |x| 1.0 - libm::exp(-libm::pow(1.0 / x / 305.0, 0.63)),
            ),
            (Distribution::Empirical(points.into()), |x| match x {
                x if x < 2.0 => 1.0 - 0.25 * (x - 1.0),
                x if x < 4.0 => 0.75 - 0.25 * (x - 2.0),
                x => 0.25 * (10.0 - x) / 6.0,
            }),
        ]
    }

    #[test]
    fn draws_fall_above_their_quantiles_as_often_as_they_should() {
        const DRAWS: usize = 200_000;
        for (distribution, above) in all() {
            let mut stream = Stream::new(5, 0, "test");
            let draws: Vec<f64> = (0..DRAWS).map(|_| stream.draw(&distribution)).collect();
            for p in [0.1, 0.5, 0.9, 0.99] {
                let x = distribution.quantile(p);
                let exact = above(x);
                assert!(
                    (exact - (1.0 - p)).abs() < 1e-12 || x == 0.1,
                    "{distribution:?} at {p}"
                );
                let share = draws.iter().filter(|&&draw| draw > x).count() as f64 / DRAWS as f64;
                let error = libm::sqrt(exact * (1.0 - exact) / DRAWS as f64);
                // Nothing is above the bound of what is bounded.
                let expected = if x == 0.1 { 0.0 } else { exact };
                assert!(
                    (share - expected).abs() < 4.0 * error,
                    "{distribution:?}: {share} at {p}"
                );
            }
        }
    }

    /// The area under the quantile function, by the midpoint rule in `1 - p = e^-y`, which resolves
    /// tails.
    #[test]
    fn means_are_what_the_quantiles_add_up_to() {
        for (distribution, _) in all() {
            let Some(mean) = distribution.mean() else {
                continue;
            };
            // Beyond 1 - p = 1e-14 the quantile function loses its digits; up to there a Pareto tail
            // of index 1.2 has all but half a percent.
            let (steps, last) = (200_000, 32.0);
            let area = (0..steps).map(|step| {
                let y = (f64::from(step) + 0.5) * last / f64::from(steps);
                distribution.quantile(-libm::expm1(-y)) * libm::exp(-y) * last / f64::from(steps)
            });
            let area: f64 = area.sum();
            assert!(
                (area / mean - 1.0).abs() < 0.006,
                "{distribution:?}: {area} for {mean}"
            );
        }
    }

    /// Spec 002 B9.2 and 003 B.13: what rounding up does to means.
    #[test]
    fn counts_are_rounded_up() {
        let mut stream = Stream::new(1, 0, "test");
        let constant = |value| Distribution::Constant(value);
        assert_eq!(stream.draw_count(&constant(0.2)), 1);
        assert_eq!(stream.draw_count(&constant(2.0)), 2);
        assert_eq!(stream.draw_count(&constant(2.1)), 3);
        let huge = Distribution::Constant(1e300);
        assert_eq!(stream.draw_count(&huge), u64::MAX);
        assert_eq!(stream.draw_span(&huge), Span::from_secs(100_000));
        // P(ceil(X) = 1) of an exponential number.
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
        // As many numbers were taken from it, however many its parts have drawn.
        twin.split();
        twin.split();
        assert_eq!(stream.uniform(), twin.uniform());
    }
}
