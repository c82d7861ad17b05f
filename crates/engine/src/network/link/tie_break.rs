//! Order of packets that reach a node over different links at the same time.
//!
//! If access links and the bottleneck have the same rate, packets of several flows arrive simultaneously, again and
//! again. A full queue can accept only one of them. A constant order of the links would lock out the last flows. The
//! order is therefore random or, with ns-2's clock, ns-2's order. Both depend only on the packets, not on the time at
//! which an arrival is entered into an event list: lookahead does not change the order.

use longhaul_units::{PS_PER_S, Time};

use super::clock::DualClockTime;
use crate::random::Streams;
use crate::schedule::TieBreak;

/// Random tie-breaks of the packets of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomTieBreak {
    salt: u64,
}

impl RandomTieBreak {
    pub(super) fn new(link: &str, streams: &Streams) -> Self {
        Self {
            salt: streams.own(format_args!("links/{link}/turns")).bits(),
        }
    }

    /// Returns a hash of the link and the time. Unlike a random number, the hash does not depend on earlier draws. It
    /// has two rounds of multiplication with the constants of SplitMix64's finaliser (Steele, Lea and Flood, 2014).
    /// After one round, regular times would still show a pattern.
    #[inline]
    pub(crate) fn tie_break(self, time: Time) -> TieBreak {
        let mixed = (time.as_ps() ^ self.salt).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb);
        TieBreak::new(mixed >> (u64::BITS - TieBreak::BITS))
    }
}

/// Order in which ns-2 processes simultaneous arrivals: by their time in seconds, then by the time at which they were
/// entered into the event list.
///
/// ns-2 (2.35: `LinkDelay::recv`, `Scheduler::schedule`) enters an arrival when the packet's transmission begins. Of
/// two simultaneous arrivals, the one with the longer transit time therefore comes first. If the transit times are
/// equal, the link that has been busy for the shorter time comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns2EntryOrder {
    /// Arrival time of the preceding packet, in seconds.
    last_s: f64,
    // A transmission on a link that has been busy for a shorter time is started by an event entered earlier. An idle
    // link starts at a packet's arrival, entered when the packet's transmission on the previous link began. A busy link
    // starts at the end of the preceding transmission, entered when that transmission began. This is later if the
    // previous link's delay exceeds a transmission time. Packets that follow without a gap keep the order of the links.
    /// Time since which the link has been busy without a gap, in seconds.
    busy_since_s: f64,
}

impl Ns2EntryOrder {
    const ULPS_BITS: u32 = 16;
    const TRANSIT_BITS: u32 = 8;
    const AGE_BITS: u32 = 13;

    pub(super) fn new() -> Self {
        Self {
            last_s: f64::NEG_INFINITY,
            busy_since_s: 0.0,
        }
    }

    /// Records the next packet to reach the far end, which arrives there at `arrival_s`.
    #[inline]
    pub(super) fn note_next(&mut self, arrival_s: f64, transit: &TransitRank) {
        let gap_s = arrival_s - self.last_s;
        self.last_s = arrival_s;
        if gap_s > transit.back_to_back_s {
            self.busy_since_s = arrival_s - transit.transit_s;
        }
    }

    /// Returns the tie-break of the packet that was recorded last.
    #[inline]
    pub(super) fn tie_break(&self, arrival: DualClockTime, transit: &TransitRank) -> TieBreak {
        let began_s = arrival.ns2_s - transit.transit_s;
        let age = scaled(began_s - self.busy_since_s, Self::AGE_BITS);
        let ulps = ulps(arrival) << (Self::TRANSIT_BITS + Self::AGE_BITS);
        TieBreak::new(ulps | transit.code | age)
    }
}

/// Values that determine a packet's place in ns-2's order of simultaneous arrivals; they depend on the packet's size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TransitRank {
    /// Time from the beginning of the transmission to the far end, in seconds.
    transit_s: f64,
    /// Maximum time between the arrivals of two packets that are transmitted without a gap, in seconds.
    back_to_back_s: f64,
    code: u64,
}

impl TransitRank {
    pub(super) fn new(transmission_s: f64, delay_s: f64) -> Self {
        /// Factor that allows for rounding errors of sums and differences.
        const ROUNDING: f64 = 1.0 + 1e-6;
        let longest = (1 << Ns2EntryOrder::TRANSIT_BITS) - 1;
        let transit_s = transmission_s + delay_s;
        let code = longest - scaled(transit_s, Ns2EntryOrder::TRANSIT_BITS);
        Self {
            transit_s,
            back_to_back_s: transmission_s * ROUNDING,
            code: code << Ns2EntryOrder::AGE_BITS,
        }
    }
}

/// Returns ns-2's arrival time minus the same time rounded to picoseconds, in units in the last place (ulps) of a time
/// in seconds. `MIDDLE` is added to avoid negative results.
#[inline]
fn ulps(arrival: DualClockTime) -> u64 {
    const MIDDLE: i64 = 1 << (Ns2EntryOrder::ULPS_BITS - 1);
    // The conversion from a signed number takes one instruction.
    let whole_s = arrival.time.as_ps() as i64 as f64 * (1.0 / PS_PER_S as f64);
    let offset = arrival.ns2_s.to_bits().wrapping_sub(whole_s.to_bits()) as i64;
    // From 125 ms on, half a picosecond is less than `MIDDLE` ulps: no value is clamped.
    (offset + MIDDLE).clamp(0, 2 * MIDDLE - 1) as u64
}

/// Encodes a duration in `bits` bits: five bits of the floating-point exponent, and the first bits of the fraction.
/// Durations below 2^-24 s (60 ns) give zero; those from 256 s on give the largest code.
#[inline]
fn scaled(span_s: f64, bits: u32) -> u64 {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    const EXPONENT: u32 = 5;
    const LEAST: u64 = 256.0_f64.to_bits() - (1 << (FRACTION + EXPONENT));
    let code = span_s.max(0.0).to_bits().saturating_sub(LEAST) >> (FRACTION + EXPONENT - bits);
    code.min((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Randomness;

    /// Checks that, of ten links with simultaneous arrivals, each is first equally often, without a regular pattern.
    #[test]
    fn every_link_is_first_as_often_as_the_others_and_in_no_pattern() {
        const LINKS: usize = 10;
        const SLOTS: u64 = 20_000;
        let streams = Streams::new(1, 0, Randomness::Streams);
        let links: Vec<RandomTieBreak> = (0..LINKS)
            .map(|link| RandomTieBreak::new(&format!("access-{link}"), &streams))
            .collect();
        let winner = |slot: u64| {
            // Every 120 us, as with packets of 1500 bytes at 100 Mbit/s.
            let time = Time::from_ps(1_234_567_000 + slot * 120_000_000);
            let tie_breaks = links.iter().map(|link| link.tie_break(time));
            let (winner, _) = tie_breaks
                .enumerate()
                .min_by_key(|&(_, tie_break)| tie_break)
                .expect("ten");
            winner
        };
        let winners: Vec<usize> = (0..SLOTS).map(winner).collect();
        let mut won = [0_u32; LINKS];
        winners.iter().for_each(|&link| won[link] += 1);
        let again = winners.windows(2).filter(|pair| pair[0] == pair[1]);
        // The expected count of each is 2000, with a standard deviation of 42.
        let expected = SLOTS as f64 / LINKS as f64;
        for count in won.into_iter().chain([again.count() as u32]) {
            assert!((f64::from(count) - expected).abs() < 5.0 * 42.0, "{won:?}");
        }
    }

    /// Packets that arrive within the same picosecond are processed in ns-2's order.
    #[test]
    fn ns2_takes_the_earlier_double_then_the_longer_crossing_then_the_link_busy_for_less() {
        const TRANSMISSION_S: f64 = 0.000_12;
        let tie_break = |order: &mut Ns2EntryOrder, ns2_s: f64, delay_s: f64| {
            let time = Time::from_ps((ns2_s * PS_PER_S as f64).round() as u64);
            let arrival = DualClockTime { time, ns2_s };
            let transit = TransitRank::new(TRANSMISSION_S, delay_s);
            order.note_next(ns2_s, &transit);
            order.tie_break(arrival, &transit)
        };
        let alone = |ns2_s, delay_s| tie_break(&mut Ns2EntryOrder::new(), ns2_s, delay_s);
        let now_s: f64 = 12.345_678;
        assert!(alone(now_s.next_down(), 0.001) < alone(now_s, 0.005));
        assert!(alone(now_s, 0.005) < alone(now_s, 0.001));
        let busy_for = |packets: u32| {
            let mut order = Ns2EntryOrder::new();
            let mut last = None;
            for number in (0..packets).rev() {
                let arrival_s = now_s - f64::from(number) * TRANSMISSION_S;
                last = Some(tie_break(&mut order, arrival_s, 0.001));
            }
            last
        };
        assert!(busy_for(1) < busy_for(2));
        assert!(busy_for(2) < busy_for(60));
        assert_eq!(busy_for(1), Some(alone(now_s, 0.001)));
    }
}
