//! Times in ns-2's arithmetic: sums of double-precision seconds.
//!
//! Arrivals and departures at a bottleneck queue are often simultaneous, because the bottleneck spaces the
//! acknowledgements. Their order decides which packets a full queue drops, and which queue lengths RED sees. In ns-2,
//! this order depends on rounding errors. Comparisons with ns-2 therefore need the same sums, computed in the same
//! order (ns-2.35: `LinkDelay::recv`, `Scheduler::schedule`). At equal times, the event that was scheduled first, the
//! arrival, is processed first.

use longhaul_units::{PS_PER_S, Rate, Span, Time};

use super::clock::{Clock, DualClockTime};
use super::tie_break::{Ns2EntryOrder, TransitRank};
use super::tx_time_cache::TxTimeCache;
use crate::config::Work;
use crate::packet::Packet;
use crate::schedule::TieBreak;

/// The clock of one link.
#[derive(Debug)]
pub(crate) struct Ns2Clock {
    rate: Rate,
    bits_per_s: f64,
    delay_s: f64,
    transits: TxTimeCache<Transit>,
    /// End of the last scheduled transmission, in seconds.
    busy_until_s: f64,
    /// Time at which the first waiting packet begins service, in seconds.
    next_start_s: f64,
    order: Ns2EntryOrder,
}

/// Time from the beginning of a packet's service to its arrival at the far end, for packets of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Transit {
    transmission_s: f64,
    /// Transit time in picoseconds. An arrival time minus this time is the recorded beginning of service.
    whole: Span,
    tie_break: TransitRank,
}

impl Ns2Clock {
    pub(super) fn new(rate: Rate, delay: Span) -> Self {
        Self {
            rate,
            bits_per_s: rate.as_bps() as f64,
            delay_s: delay.as_secs_f64(),
            transits: TxTimeCache::default(),
            busy_until_s: f64::NEG_INFINITY,
            next_start_s: 0.0,
            order: Ns2EntryOrder::new(),
        }
    }

    /// Returns the tie-break that orders `packet`, now the link's next one to arrive, among simultaneous arrivals.
    #[inline]
    pub(super) fn tie_break(&mut self, packet: &Packet) -> TieBreak {
        let transit = self.note_next(packet);
        self.order.tie_break(DualClockTime::of(packet), &transit)
    }

    /// Records that `packet` is the next one to reach the far end. Returns values that depend on the packet's size;
    /// they are used to order simultaneous arrivals as in ns-2.
    #[inline]
    pub(super) fn note_next(&mut self, packet: &Packet) -> TransitRank {
        let transit = self.transit(packet.bytes).tie_break;
        self.order.note_next(packet.ns2_s, &transit);
        transit
    }

    #[inline]
    fn transit(&mut self, bytes: u16) -> &Transit {
        let compute = || {
            let transmission_s = 8.0 * f64::from(bytes) / self.bits_per_s;
            Transit {
                transmission_s,
                whole: nearest(transmission_s + self.delay_s).since(Time::ZERO),
                tie_break: TransitRank::new(transmission_s, self.delay_s),
            }
        };
        self.transits.get(bytes, compute)
    }
}

impl Clock for Ns2Clock {
    #[inline]
    fn is_idle(&self, arrival: DualClockTime) -> bool {
        self.busy_until_s < arrival.ns2_s
    }

    #[inline]
    fn busy_until(&self) -> Time {
        nearest(self.busy_until_s.max(0.0))
    }

    fn unsent(&self, now: Time, waiting_bytes: u64) -> Work {
        let end = match waiting_bytes {
            0 => self.busy_until(),
            _ => nearest(self.next_start_s),
        };
        Work::of_rate(self.rate, end.since(now))
    }

    #[inline]
    fn serve(
        &mut self,
        bytes: u16,
        arrival: DualClockTime,
        idle: bool,
        none_waits: bool,
    ) -> (Time, DualClockTime) {
        let start_s = if idle {
            arrival.ns2_s
        } else {
            self.busy_until_s
        };
        if none_waits {
            self.next_start_s = start_s;
        }
        let Transit {
            transmission_s,
            whole,
            ..
        } = *self.transit(bytes);
        self.busy_until_s = start_s + transmission_s;
        let ns2_s = start_s + (transmission_s + self.delay_s);
        let time = nearest(ns2_s);
        (time - whole, DualClockTime { time, ns2_s })
    }

    #[inline]
    fn has_begun(&self, now: DualClockTime) -> bool {
        self.next_start_s < now.ns2_s
    }

    #[inline]
    fn begin_next(&mut self, begun: &Packet) -> Time {
        let Transit {
            transmission_s,
            whole,
            ..
        } = *self.transit(begun.bytes);
        self.next_start_s += transmission_s;
        begun.time - whole
    }
}

/// Returns a time in seconds rounded to picoseconds. Rounding is monotonic, so events keep their order.
#[inline]
fn nearest(time_s: f64) -> Time {
    /// A number so large that doubles of its size are integers. The last bits of its sum with a smaller number are
    /// therefore the smaller number, rounded. The sum is faster than a conversion, which checks for overflow.
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    const SMALLER: f64 = (1_u64 << 51) as f64;
    let ps = time_s * PS_PER_S as f64;
    Time::from_ps(if ps < SMALLER {
        (ps + WHOLE).to_bits() - WHOLE.to_bits()
    } else {
        // Times of more than 37 minutes are converted like this.
        (ps + 0.5) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn times_are_rounded_to_the_nearest_picosecond(ps in 0u64..(1 << 53), part in -0.4..0.4f64) {
            let time_s = (ps as f64 + part) / PS_PER_S as f64;
            // The sum, the division and the multiplication have an error of half a bit each.
            let error_ps = 1.5 * ps as f64 * f64::EPSILON + 0.5;
            let found = nearest(time_s).as_ps();
            let off = found.abs_diff(ps) as f64 - part.abs();
            prop_assert!(off <= error_ps, "{found} for {ps} and {part}");
            prop_assert!(nearest(time_s.next_up()) >= nearest(time_s));
        }
    }

    #[test]
    fn whole_picoseconds_stay_what_they_are() {
        for ps in [0, 1, 1_000_000, (1 << 51) - 1, 1 << 51, (1 << 51) + 1] {
            assert_eq!(nearest(ps as f64 / PS_PER_S as f64).as_ps(), ps);
        }
    }
}
