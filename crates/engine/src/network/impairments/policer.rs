//! A policer: a token bucket without a queue (RFC 2697, section 3, with an excess burst of zero and red packets
//! dropped, as `tc-police` of Linux does by default).

use longhaul_units::{Rate, Span, Time};

use crate::config;

/// Tokens, one for a byte, that come in at a rate and are saved up to a depth. It is full at first.
#[derive(Debug)]
pub(super) struct Policer {
    rate: Rate,
    /// How long an empty bucket takes to fill.
    depth: Span,
    /// When it will be full, or was last.
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

    /// Whether there are tokens for a packet, which it takes.
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

    /// A byte each microsecond, up to 3000.
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
        // Full at first: two packets leave 0 tokens, and 1499 us later there are 1499.
        assert!(admits(0, 1500) && admits(0, 1500));
        assert!(!admits(0, 40) && !admits(1499, 1500));
        // The one that was dropped has taken none: 40 of the 1499 pass, and 1459 at the next microsecond are 1460.
        assert!(admits(1499, 40) && admits(1500, 1460) && !admits(1500, 1));
        // Long after, it holds 3000 and no more.
        assert!(admits(90_000, 1500) && admits(90_000, 1500) && !admits(90_000, 1));
    }

    /// Packets at twice the rate: half of them pass in the long run.
    #[test]
    fn what_passes_is_its_rate_and_a_burst() {
        let mut policer = policer();
        let passed = (0..10_000).filter(|number| policer.admits(1000, at(number * 500)));
        // 3000 bytes and one each microsecond for 4,999,500 us.
        assert_eq!(passed.count(), 5002);
    }
}
