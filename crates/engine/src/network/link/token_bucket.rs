//! A token bucket in front of a transmitter. Bursts pass at the link's rate. The long-run rate is that of the tokens.

use longhaul_units::{Span, Time};

use super::transmitter::Transmitter;
use crate::config::Shaper;

/// A token bucket. One token stands for one byte; tokens are added at a rate and saved up to a depth.
#[derive(Debug)]
pub(super) struct TokenBucket {
    /// Transmitter at the rate of the tokens: it computes the time in which the tokens for a packet are added.
    source: Transmitter,
    /// Depth of the bucket, as the time in which an empty bucket fills.
    depth: Span,
    /// Time at which the bucket will be full, or became full.
    full_at: Time,
}

impl TokenBucket {
    pub(super) fn new(shaper: Shaper) -> Self {
        Self {
            source: Transmitter::new(shaper.rate),
            depth: shaper.rate.transmission(shaper.burst.0).0,
            full_at: Time::ZERO,
        }
    }

    /// Takes the tokens for a packet. Returns the time at which enough tokens are available: `now`, or later.
    pub(super) fn take(&mut self, bytes: u16, now: Time) -> Time {
        self.full_at = self.full_at.max(now) + self.source.time(bytes);
        let ready = self.full_at.as_ps().saturating_sub(self.depth.as_ps());
        now.max(Time::from_ps(ready))
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::{Bytes, Rate};

    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        // The bucket gets one byte per microsecond and holds up to 3000 bytes.
        let mut bucket = TokenBucket::new(Shaper {
            rate: Rate::from_bps(8_000_000),
            burst: Bytes(3000),
        });
        let mut take = |at_us: u64, bytes| {
            let start = bucket.take(bytes, Time::ZERO + Span::from_micros(at_us));
            start.as_ps() / 1_000_000
        };
        // The bucket is full at first. Two packets pass; the third waits for its 1000 bytes.
        assert_eq!([take(0, 1500), take(0, 1500), take(0, 1000)], [0, 0, 1000]);
        // The bucket is empty at 1000 us. 600 bytes are added until 1600 us, of which 500 are used; 1000 are available
        // at 2500 us.
        assert_eq!([take(1600, 500), take(1600, 1000)], [1600, 2500]);
        // Even after a long time, the bucket contains only 3000 tokens.
        assert_eq!([take(90_000, 1500), take(90_000, 1500)], [90_000; 2]);
        assert_eq!(take(90_000, 40), 90_040);
    }
}
