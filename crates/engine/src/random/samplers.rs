//! Draws from distributions, all by inversion: one number of the stream for each.

use longhaul_units::Span;

use super::Stream;
use crate::config::Distribution;

/// Longer times are as good as without end.
const LONGEST_S: f64 = 100_000.0;

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
        Span::from_secs_f64(self.draw(distribution).min(LONGEST_S))
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
