//! [`Rate`], in bits per second, and sizes in [`Bytes`].

use serde::{Deserialize, Serialize};

use crate::{PS_PER_S, Span};

/// A transmission rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Bytes(pub u64);

impl Rate {
    /// Returns a rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Returns the rate in bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the rate in packets per second, for packets of `bytes` bytes.
    pub fn packets_per_s(self, bytes: u64) -> f64 {
        self.0 as f64 / (8.0 * bytes as f64)
    }

    /// Returns the time to transmit `bytes` bytes at this rate, in whole picoseconds, and the remainder of the division
    /// by the rate. A link can add up the remainders; its long-run rate is then exact. The rate must not be 0, and the
    /// time must fit into a [`Span`].
    pub const fn transmission(self, bytes: u64) -> (Span, u64) {
        let bit_ps = bytes as u128 * 8 * PS_PER_S as u128;
        let rate = self.0 as u128;
        (
            Span::from_ps((bit_ps / rate) as u64),
            (bit_ps % rate) as u64,
        )
    }

    /// Returns the product of this rate and the round-trip time `rtt`, in bytes rounded down.
    pub const fn bdp(self, rtt: Span) -> Bytes {
        Bytes((self.0 as u128 * rtt.as_ps() as u128 / (8 * PS_PER_S as u128)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_is_exact_with_its_remainder() {
        // 1500 B at 622 Mbit/s: 12000 / 622e6 s = 19_292_604.501607... ps
        let rate = Rate::from_bps(622_000_000);
        let (span, remainder) = rate.transmission(1500);
        assert_eq!(span.as_ps(), 19_292_604);
        assert_eq!(
            u128::from(span.as_ps()) * 622_000_000 + u128::from(remainder),
            12_000 * u128::from(PS_PER_S)
        );
    }

    #[test]
    fn bdp_of_the_gigabit_transatlantic_path() {
        // LBNL-52549: 1 Gbit/s times 100 ms are 8333 packets of 1500 bytes.
        let bdp = Rate::from_bps(1_000_000_000).bdp(Span::from_millis(100));
        assert_eq!(bdp.0 / 1500, 8333);
    }
}
