//! The congestion window and the slow start threshold, with their bounds.

use longhaul_keys::{Kind, Profile};
use serde::{Deserialize, Serialize};

use crate::facts::Cause;

longhaul_keys::words! {
    /// Rounding of the window and the threshold at reductions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Rounding {
        /// No rounding: `cwnd` and `ssthresh` are real numbers.
        #[default]
        Real = "real",
        /// `ssthresh` is truncated to whole segments (ns-2.35).
        IntegerSsthresh = "integer-ssthresh",
        /// `cwnd` and `ssthresh` are truncated to whole segments at a reduction (ns-2 before 2006).
        IntegerBoth = "integer-both",
    }
}

const MIN_SEGMENTS: Kind = Kind::Whole { min: 1, max: 100 };

longhaul_keys::keys! {
    /// Lower bounds of cwnd after reductions, in whole segments. They apply whatever the algorithm requests. After a
    /// timeout, cwnd is one segment in any case. Algorithms that control cwnd in all phases, such as BBR, have their
    /// own bounds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MinCwnd {
        /// Smallest window after a loss.
        pub loss: u8 = MIN_SEGMENTS.key().default("2").in_ns2("1").unit("segments")
            .source("RFC 5681 section 3.2: cwnd = ssthresh, at least 2; Linux: the same; ns-2: slowdown"),
        /// Smallest window after an ECN mark.
        pub ecn: u8 = MIN_SEGMENTS.key().default("1").in_profile(Profile::Linux, "2").unit("segments")
            .source("RFC 3168 section 6.1.2; Linux: ssthresh, which is 2 at least; ns-2: slowdown"),
    }
}

/// Smallest slow start threshold in segments (RFC 5681, equation 4).
const MIN_SSTHRESH: f64 = 2.0;

/// Minimum window in segments.
const FLOOR: f64 = 1.0;

/// Congestion window and slow start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    cwnd: f64,
    ssthresh: f64,
    ceiling: f64,
    rounding: Rounding,
    reduced_min: MinCwnd,
}

impl Window {
    /// Returns a window of `cwnd` segments with the threshold `ssthresh`. `ceiling` is an upper bound of the window.
    /// Panics if `cwnd` is less than one segment or above `ceiling`.
    pub fn new(cwnd: f64, ssthresh: f64, ceiling: f64, rounding: Rounding) -> Self {
        let window = Self {
            cwnd,
            ssthresh,
            ceiling,
            rounding,
            reduced_min: MinCwnd { loss: 1, ecn: 1 },
        };
        assert!(
            cwnd >= FLOOR && ceiling >= cwnd,
            "initial window out of bounds"
        );
        window
    }

    /// Returns this window with other lower bounds after reductions. If the lower bound after losses is zero, the
    /// window may be reduced below one segment.
    pub fn with_min_cwnd(self, reduced_min: MinCwnd) -> Self {
        Self {
            reduced_min,
            ..self
        }
    }

    /// Returns the congestion window in segments.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Returns the slow start threshold in segments.
    #[inline]
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Returns true if the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Sets the window, within its bounds. NaN is a bug in the algorithm: it stops debug builds, and becomes the
    /// minimum window in release builds.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: f64) {
        debug_assert!(!cwnd.is_nan(), "the window is not a number");
        // A comparison takes one instruction; `max` and `min` take five to process NaN, which the first comparison does
        // here.
        let raised = if cwnd > FLOOR { cwnd } else { FLOOR };
        self.cwnd = if raised < self.ceiling {
            raised
        } else {
            self.ceiling
        };
    }

    /// Adds `segments` to the window.
    #[inline]
    pub fn grow(&mut self, segments: f64) {
        self.set_cwnd(self.cwnd + segments);
    }

    /// Subtracts `segments` from the window in congestion avoidance. The threshold is lowered with the window if
    /// necessary, since otherwise slow start would begin again.
    pub fn shrink(&mut self, segments: f64) {
        self.set_cwnd(self.cwnd - segments);
        self.ssthresh = self.ssthresh.min(self.cwnd.max(MIN_SSTHRESH));
    }

    /// Sets the threshold, at least two segments (RFC 5681, equation 4), and rounds it as configured.
    pub fn set_ssthresh(&mut self, ssthresh: f64) {
        let whole = self.rounding != Rounding::Real;
        self.ssthresh = if whole {
            libm::floor(ssthresh)
        } else {
            ssthresh
        }
        .max(MIN_SSTHRESH);
    }

    /// Ends slow start at the current window. A window below the minimum threshold stays in slow start.
    pub fn exit_slow_start(&mut self) {
        self.ssthresh = self.cwnd.max(MIN_SSTHRESH);
    }

    /// Sets the window and the threshold to `target` after a congestion signal, also if `target` is larger.
    pub fn reduce_to(&mut self, target: f64) {
        let target = if self.rounding == Rounding::IntegerBoth {
            libm::floor(target)
        } else {
            target
        };
        self.set_ssthresh(target);
        self.set_cwnd(target);
        if self.reduced_min.loss == 0 && target < FLOOR {
            // With a window of less than a segment, nothing can be sent until a timeout.
            self.cwnd = target.max(0.0);
        }
    }

    /// Ends a reduction: raises the window to the lower bound for the `cause` if the window is smaller.
    pub(crate) fn end_reduction(&mut self, cause: Cause) {
        let min = f64::from(match cause {
            Cause::Ecn => self.reduced_min.ecn,
            Cause::Loss | Cause::Nak => self.reduced_min.loss,
        });
        if self.cwnd < min {
            self.set_cwnd(min);
        }
    }

    /// Restarts the window from one segment after a timeout.
    pub fn restart(&mut self) {
        self.set_cwnd(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lower bound of the window after a loss that halves a window of 1.5 segments. Each case has the lower
    /// bound in segments (0: none), the window after the loss, and the window after growth by one more segment.
    #[test]
    fn losses_leave_the_smallest_window_or_less_than_a_segment_if_there_is_none() {
        for (min, reduced, grown) in [(0, 0.75, 1.75), (1, 1.0, 2.0), (2, 2.0, 3.0)] {
            let min = MinCwnd { loss: min, ecn: 1 };
            let window = Window::new(1.5, 2.0, 1e6, Rounding::Real).with_min_cwnd(min);
            let mut after = window;
            after.reduce_to(after.cwnd() / 2.0);
            after.end_reduction(Cause::Nak);
            assert_eq!((after.cwnd(), after.ssthresh()), (reduced, 2.0));
            after.grow(1.0);
            assert_eq!(after.cwnd(), grown);
        }
    }
}
