//! Number of segments per acknowledgement, as Linux 2.6.22 estimates it for BIC and CUBIC.
//!
//! The estimate begins with two segments (`delayed_ack` in tcp_bic.c and tcp_cubic.c), and is rounded to sixteenths of
//! a segment. Because of this rounding, the estimate stays at 31/16 if the receiver acknowledges every segment. The
//! flow then grows nearly twice as fast as the algorithm intends.

use serde::{Deserialize, Serialize};

const SIXTEENTHS: u32 = 4;

/// Estimate of the number of segments per acknowledgement, in sixteenths.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct AckRatio {
    sixteenths: u64,
}

impl AckRatio {
    pub(crate) const NEW: Self = Self {
        sixteenths: 2 << SIXTEENTHS,
    };

    /// Counts an acknowledgement of `acked` segments outside recovery.
    pub(crate) fn observe(&mut self, acked: u64) {
        self.sixteenths += acked;
        self.sixteenths -= (self.sixteenths - acked) >> SIXTEENTHS;
    }

    /// Returns the estimated number of acknowledgements for `segments` segments (`(cnt << 4) / delayed_ack`).
    pub(crate) fn divide(self, segments: u64) -> u64 {
        (segments << SIXTEENTHS) / self.sixteenths
    }

    /// Returns the estimated number of segments per acknowledgement.
    pub(crate) fn segments(self) -> f64 {
        self.sixteenths as f64 / f64::from(1 << SIXTEENTHS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the estimated number of segments per acknowledgement after 1000 acknowledgements: 31/16 if each covers
    /// one segment, 2 if each covers two. The recursion is `delayed_ack += acked - (delayed_ack >> 4)`, starting at 32.
    #[test]
    fn it_stays_at_two_or_just_below() {
        for (acked, expected) in [(1, 31.0), (2, 32.0)] {
            let mut ratio = AckRatio::NEW;
            for _ in 0..1000 {
                ratio.observe(acked);
            }
            assert_eq!(ratio.segments(), expected / 16.0, "{acked}");
        }
    }
}
