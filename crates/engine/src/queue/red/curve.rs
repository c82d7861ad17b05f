//! RED's curve: the drop or mark probability between the thresholds and, with gentle RED, above them.

use super::{Gentle, RedConfig};

/// Drop or mark probability as a function of the average queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) max_p: f64,
    pub(super) max_th: f64,
    /// Slope of the line between the thresholds, for a `max_p` of 1.
    slope: f64,
    /// Intercept of the line between the thresholds, for a `max_p` of 1.
    offset: f64,
    gentle: Gentle,
    /// Slope of the line above the upper threshold.
    gentle_slope: f64,
    /// Intercept of the line above the upper threshold.
    gentle_offset: f64,
}

impl Curve {
    pub(super) fn new(config: &RedConfig, unit: f64) -> Self {
        let min_th = config.min_th_pkts * unit;
        let max_th = config.max_th_pkts * unit;
        // With equal thresholds, no average is between them, so that the slope has no effect.
        let range = if max_th > min_th {
            max_th - min_th
        } else {
            1.0
        };
        let mut curve = Self {
            max_p: config.max_p,
            max_th,
            slope: 1.0 / range,
            offset: -min_th / range,
            gentle: config.gentle,
            gentle_slope: 0.0,
            gentle_offset: 1.0,
        };
        if config.gentle != Gentle::Off {
            curve.draw_gentle_line();
        }
        curve
    }

    pub(super) fn set_max_p(&mut self, max_p: f64) {
        self.max_p = max_p;
        if self.gentle == Gentle::On {
            self.draw_gentle_line();
        }
    }

    /// Sets the gentle line: from `max_p` at the upper threshold to 1 at twice that threshold.
    fn draw_gentle_line(&mut self) {
        self.gentle_slope = (1.0 - self.max_p) / self.max_th;
        self.gentle_offset = 2.0 * self.max_p - 1.0;
    }

    /// Returns the probability for an average of at least the lower threshold. For a smaller average, the result is
    /// negative.
    pub(super) fn probability(&self, average: f64) -> f64 {
        let probability = if average >= self.max_th {
            self.gentle_slope * average + self.gentle_offset
        } else {
            (self.slope * average + self.offset) * self.max_p
        };
        f64::min(probability, 1.0)
    }
}
