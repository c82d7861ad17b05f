//! Time as ns-2 keeps it: sums of double-precision seconds.
//!
//! Acknowledgements come back spaced by the link that their data waits for, so that arrivals and
//! departures at a queue are often simultaneous, and which comes first decides what a full queue
//! drops and what RED sees. In ns-2 that is left to the rounding of its sums. Comparisons with ns-2
//! need the same sums, in the same order of operations (ns-2.35: `LinkDelay::recv`,
//! `Scheduler::schedule`); of equal times the one entered first comes first, which is the arrival.

use longhaul_units::{PS_PER_S, Rate, Span, Time};

use super::recent_sizes::RecentSizes;
use crate::packet::Packet;

/// The clock of one link.
#[derive(Debug)]
pub(super) struct Ns2Clock {
    bits_per_s: f64,
    delay_s: f64,
    transmissions_s: RecentSizes<f64>,
    /// End of the last scheduled transmission.
    busy_until_s: f64,
    /// When the first waiting packet begins service.
    next_start_s: f64,
}

impl Ns2Clock {
    pub(super) fn new(rate: Rate, delay: Span) -> Self {
        Self {
            bits_per_s: rate.as_bps() as f64,
            delay_s: delay.as_secs_f64(),
            transmissions_s: RecentSizes::default(),
            busy_until_s: f64::NEG_INFINITY,
            next_start_s: 0.0,
        }
    }

    /// Whether an arrival then finds the link idle.
    #[inline]
    pub(super) fn is_idle_at(&self, arrival_s: f64) -> bool {
        self.busy_until_s < arrival_s
    }

    /// Whether the first waiting packet's service begins before an arrival then.
    #[inline]
    pub(super) fn has_begun_by(&self, arrival_s: f64) -> bool {
        self.next_start_s < arrival_s
    }

    /// End of the last scheduled transmission.
    #[inline]
    pub(super) fn busy_until(&self) -> Time {
        nearest(self.busy_until_s.max(0.0))
    }

    /// Serves an arriving packet after all earlier ones. Returns its arrival at the far end, which
    /// the packet is told, too.
    #[inline]
    pub(super) fn serve(&mut self, packet: &mut Packet, none_waits: bool) -> Time {
        let start_s = f64::max(packet.ns2_s, self.busy_until_s);
        if none_waits {
            self.next_start_s = start_s;
        }
        let transmission_s = self.transmission_s(packet.bytes);
        self.busy_until_s = start_s + transmission_s;
        packet.ns2_s = start_s + (transmission_s + self.delay_s);
        nearest(packet.ns2_s)
    }

    /// The first waiting packet, of so many bytes, has begun service: when the next one will.
    #[inline]
    pub(super) fn start_of_next(&mut self, bytes: u16) -> Time {
        self.next_start_s += self.transmission_s(bytes);
        nearest(self.next_start_s)
    }

    #[inline]
    fn transmission_s(&mut self, bytes: u16) -> f64 {
        let compute = || 8.0 * f64::from(bytes) / self.bits_per_s;
        *self.transmissions_s.get(bytes, compute)
    }
}

/// The nearest picosecond. Monotonic, so that events keep their order. Processors convert to signed
/// integers in one step, which is enough for a hundred days.
#[inline]
fn nearest(time_s: f64) -> Time {
    Time::from_ps((time_s * PS_PER_S as f64 + 0.5) as i64 as u64)
}
