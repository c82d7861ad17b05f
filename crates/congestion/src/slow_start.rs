//! Slow start: how the window opens below `ssthresh`. A choice of the flow, not of the algorithm.

use crate::facts::AckSample;
use crate::window::{Change, Window};

/// A slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// One segment per counted segment (RFC 5681 section 3.1).
    Standard,
    /// Limited slow start (RFC 3742): above `max_ssthresh` at most `max_ssthresh / 2` segments a
    /// round trip.
    Limited {
        /// Where the limit begins, in segments.
        max_ssthresh: f64,
    },
    /// ns-2's limited slow start (spec 000 B.3): `ssthresh` starts at `max_ssthresh`; above it, and
    /// until the first reduction that is not a timeout, the window grows by the larger of the
    /// algorithm's own step and the limit's.
    Ns2Limited {
        /// Where the limit begins, in segments.
        max_ssthresh: f64,
    },
}

impl SlowStart {
    /// The threshold to start with, given the one that the transport would choose.
    pub fn initial_ssthresh(self, ssthresh: f64) -> f64 {
        match self {
            Self::Ns2Limited { max_ssthresh } => ssthresh.min(max_ssthresh),
            Self::Standard | Self::Limited { .. } => ssthresh,
        }
    }

    /// Grows the window below `ssthresh`.
    #[inline]
    pub(crate) fn on_ack(self, ack: &AckSample, window: &mut Window) {
        let step = match self {
            Self::Standard | Self::Ns2Limited { .. } => 1.0,
            Self::Limited { max_ssthresh } => {
                // RFC 3742: K = int(cwnd / (0.5 max_ssthresh)); cwnd += int(MSS / K).
                if window.cwnd() <= max_ssthresh { 1.0 } else { limited_step(window.cwnd(), max_ssthresh) }
            }
        };
        window.grow(step * ack.credit, Change::SlowStart);
    }
}

/// Segments per acknowledgement of limited slow start at window `cwnd`: one over the number of
/// half `max_ssthresh` in the window, zero below the first half.
pub(crate) fn limited_step(cwnd: f64, max_ssthresh: f64) -> f64 {
    let halves = libm::floor(cwnd / (0.5 * max_ssthresh));
    if halves > 0.0 { 1.0 / halves } else { 0.0 }
}
