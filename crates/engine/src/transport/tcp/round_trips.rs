//! Statistics of a connection's round-trip samples.

use longhaul_units::Span;

/// Statistics of the samples taken so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) samples: u64,
    pub(crate) sum: Span,
    /// The smallest sample since the extremes were last restarted; zero without one.
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

    /// Restarts the record of extremes; returns the smallest and largest so far.
    pub(crate) fn restart_extremes(&mut self) -> (Span, Span) {
        let extremes = (self.min, self.max);
        (self.min, self.max) = (Span::ZERO, Span::ZERO);
        extremes
    }
}
