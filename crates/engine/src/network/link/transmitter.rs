//! Transmission times of packets at a constant rate.

use longhaul_units::{Rate, Span};

use super::tx_time_cache::TxTimeCache;
use crate::config::Work;

/// A transmitter at a constant rate. Its times are exact in the long run, since fractions of a picosecond are carried
/// over.
#[derive(Debug)]
pub(super) struct Transmitter {
    times: TxTimes,
    carry: Carry,
}

/// Transmission times of packets at a constant rate. Several links may share them.
#[derive(Debug)]
pub(super) struct TxTimes {
    rate: Rate,
    transmissions: TxTimeCache<Transmission>,
}

/// Fraction of a picosecond that a link carries over from one transmission to the next. Both fields are numerators; the
/// denominator is the rate in bit/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    remainder: u64,
    /// Value of `remainder` at the start of the current busy period: the fraction carried over from earlier periods.
    paid: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    time: Span,
    remainder: u64,
}

impl Transmitter {
    pub(super) fn new(rate: Rate) -> Self {
        Self {
            times: TxTimes::new(rate),
            carry: Carry::default(),
        }
    }

    /// Records that the transmitter has paused before the next transmission.
    #[inline]
    pub(super) fn note_pause(&mut self) {
        self.carry.note_pause();
    }

    /// Returns the unsent part of a transmission that ends after `left`.
    pub(super) fn unsent(&self, left: Span) -> Work {
        self.times.unsent(left, &self.carry)
    }

    #[inline]
    pub(super) fn time(&mut self, bytes: u16) -> Span {
        self.times.time(bytes, &mut self.carry)
    }
}

impl Carry {
    /// Records a pause before the next transmission.
    #[inline]
    pub(super) fn note_pause(&mut self) {
        self.paid = self.remainder;
    }
}

impl TxTimes {
    pub(super) fn new(rate: Rate) -> Self {
        Self {
            rate,
            transmissions: TxTimeCache::default(),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the amount of data that a transmission has not yet sent at the time `left` before its end. The fraction
    /// of a picosecond in `carry` is taken into account.
    pub(super) fn unsent(&self, left: Span, carry: &Carry) -> Work {
        let left = Work::of_rate(self.rate, left).0 + u128::from(carry.remainder);
        Work(left).since(Work(u128::from(carry.paid)))
    }

    #[inline]
    pub(super) fn time(&mut self, bytes: u16, carry: &mut Carry) -> Span {
        let known = self.transmissions.get(bytes, || {
            let (time, remainder) = self.rate.transmission(u64::from(bytes));
            Transmission { time, remainder }
        });
        carry.remainder += known.remainder;
        if carry.remainder < self.rate.as_bps() {
            return known.time;
        }
        carry.remainder -= self.rate.as_bps();
        known.time + Span::from_ps(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times_are_exact_in_the_long_run() {
        // At 192 Gbit/s, 1500 bytes take exactly 62500 ps, and 40 bytes take 1666.67 ps.
        let mut transmitter = Transmitter::new(Rate::from_bps(192_000_000_000));
        let total: u64 = (0..3_000_000).map(|_| transmitter.time(40).as_ps()).sum();
        assert_eq!(total, 5_000_000_000);
        // The total is 100 * 62500 ps + 200 * 1666 2/3 ps; the last third of a picosecond is carried over.
        let mixed: u64 = (0..300)
            .map(|n| transmitter.time(if n % 3 == 0 { 1500 } else { 40 }).as_ps())
            .sum();
        assert_eq!(mixed, 6_583_333);
    }
}
