//! A policer: a token bucket without a queue (RFC 2697, section 3, with an excess burst of zero; red packets are
//! dropped, as by Linux's `tc-police` with the action `drop`).

use longhaul_units::{Rate, Span, Time};

use crate::config;

/// A token bucket, full at first. One token stands for one byte. Tokens are added at a constant rate, up to the
/// bucket's depth.
#[derive(Debug)]
pub(super) struct Policer {
    rate: Rate,
    /// Depth of the bucket, as the time in which an empty bucket fills.
    depth: Span,
    /// Time at which the bucket will be full, or became full.
    full_at: Time,
}

impl Policer {
    pub(super) fn new(config: config::Policer) -> Self {
        Self {
            rate: config.rate,
            depth: config.rate.transmission(config.burst.0).0,
            full_at: Time::ZERO,
        }
    }

    /// If there are enough tokens for a packet of `bytes`, removes them and returns true; otherwise returns false.
    pub(super) fn admits(&mut self, bytes: u16, now: Time) -> bool {
        let full_at = self.full_at.max(now) + self.rate.transmission(bytes.into()).0;
        let conforms = full_at.since(now) <= self.depth;
        if conforms {
            self.full_at = full_at;
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Bytes;

    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Returns a policer with a rate of one byte per microsecond, and a depth of 3000 bytes.
    fn policer() -> Policer {
        Policer::new(config::Policer {
            rate: Rate::from_bps(8_000_000),
            burst: Bytes(3000),
        })
    }

    #[test]
    fn a_burst_passes_and_what_exceeds_it_takes_no_tokens() {
        let mut policer = policer();
        let mut admits = |us, bytes| policer.admits(bytes, at(us));
        // The bucket is full at first. Two packets leave 0 tokens, and 1499 us later there are 1499 tokens.
        assert!(admits(0, 1500) && admits(0, 1500));
        assert!(!admits(0, 40) && !admits(1499, 1500));
        // The dropped packet has taken no tokens. 40 of the 1499 tokens are used, and the remaining 1459 become 1460 a
        // microsecond later.
        assert!(admits(1499, 40) && admits(1500, 1460) && !admits(1500, 1));
        // Even after a long time, the bucket contains only 3000 tokens.
        assert!(admits(90_000, 1500) && admits(90_000, 1500) && !admits(90_000, 1));
    }

    /// If packets arrive at twice the rate of the tokens, half of them pass in the long run.
    #[test]
    fn what_passes_is_its_rate_and_a_burst() {
        let mut policer = policer();
        let passed = (0..10_000).filter(|number| policer.admits(1000, at(number * 500)));
        // A burst of 3000 bytes passes, and one byte per microsecond for 4,999,500 us.
        assert_eq!(passed.count(), 5002);
    }
}
