//! Statistics of a connection's round-trip samples.

use longhaul_units::Span;

/// Statistics of the samples taken so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) samples: u64,
    pub(crate) sum: Span,
    /// Smallest sample since the minimum and the maximum were last reset; zero if there is none.
    pub(crate) min: Span,
    pub(crate) max: Span,
}

impl RoundTrips {
    #[inline]
    pub(crate) fn take(&mut self, rtt: Span) {
        self.samples += 1;
        self.sum += rtt;
        self.max = self.max.max(rtt);
        if rtt < self.min || self.min == Span::ZERO {
            self.min = rtt;
        }
    }

    /// Returns the smallest and the largest round-trip sample since the last call, and restarts both.
    pub(crate) fn restart_extremes(&mut self) -> (Span, Span) {
        let extremes = (self.min, self.max);
        (self.min, self.max) = (Span::ZERO, Span::ZERO);
        extremes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count and sum of samples begin with the connection, the smallest and the largest sample with the last
    /// restart.
    #[test]
    fn extremes_are_those_since_the_restart() {
        let mut trips = RoundTrips::default();
        let ms = Span::from_millis;
        let take = |trips: &mut RoundTrips, samples: &[u64]| {
            samples.iter().for_each(|&sample| trips.take(ms(sample)));
            (trips.min, trips.max)
        };
        assert_eq!(take(&mut trips, &[5, 3, 8]), (ms(3), ms(8)));
        assert_eq!(trips.restart_extremes(), (ms(3), ms(8)));
        assert_eq!(take(&mut trips, &[6]), (ms(6), ms(6)));
        assert_eq!((trips.samples, trips.sum), (4, ms(22)));
    }
}
