//! CoDel as in Linux (`include/net/codel_impl.h`; Dumazet and Taht 2012). Times are 32-bit numbers in units of 1024 ns.
//! The value 1/sqrt(count) is approximated by one Newton step per drop, starting from 1. At the second drop, this step
//! gives 0.5 instead of 0.71: the third drop follows after half an interval. If a dropping state soon follows another
//! one, the approximation is continued.

use longhaul_units::{Span, Time};

use super::{CoDelParameters, Head, Source};
use crate::packet::Packet;
use crate::queue::Effects;

/// State of CoDel for one queue, with the kernel's names.
#[derive(Clone, Debug, Default)]
pub(in crate::queue) struct Control {
    /// Number that determines the gap to the next drop. It grows with each drop or mark, and with drops at the queue's
    /// limit. [`Self::enter_dropping`] sets its first value.
    count: u32,
    last_count: u32,
    dropping: bool,
    /// Upper half of 1/sqrt(count), which is a 32-bit fraction.
    rec_inv_sqrt: u16,
    /// Time at which the delay will have exceeded the target for an interval. Zero while the delay is below the target,
    /// or at most `max_packet` bytes wait.
    first_above: u32,
    drop_next: u32,
}

impl Control {
    /// Returns the packet to transmit, and drops packets before it (`codel_dequeue`).
    pub(super) fn dequeue(
        &mut self,
        (parameters, ecn): (&CoDelParameters, bool),
        now: Time,
        source: &mut impl Source,
        effects: &mut Effects,
    ) -> Option<Packet> {
        let interval = units_of(parameters.interval);
        let mut head = self.take(parameters, now, source);
        if head.packet.is_none() {
            self.dropping = false;
            return None;
        }
        let at = units_at(now);
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && !is_after(self.drop_next, at) {
                self.count = self.count.wrapping_add(1);
                self.newton_step();
                let marked = head.mark_or_drop(ecn, effects);
                if !marked {
                    head = self.take(parameters, now, source);
                    self.dropping = head.ok_to_drop;
                }
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next, interval);
                }
                if marked {
                    break;
                }
            }
        } else if head.ok_to_drop {
            if !head.mark_or_drop(ecn, effects) {
                head = self.take(parameters, now, source);
            }
            self.enter_dropping(at, interval);
        }
        head.packet
    }

    /// Removes the packet at the head, and determines if it may be dropped (`codel_should_drop`).
    fn take(&mut self, parameters: &CoDelParameters, now: Time, source: &mut impl Source) -> Head {
        let packet = source.pop();
        let at = units_at(now);
        let too_long = |packet: &Packet| {
            let waited = at.wrapping_sub(units_at(packet.time));
            !is_after(units_of(parameters.target), waited)
                && source.bytes() > parameters.max_packet.0
        };
        let mut ok_to_drop = false;
        if !packet.as_ref().is_some_and(too_long) {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = at.wrapping_add(units_of(parameters.interval));
        } else {
            ok_to_drop = is_after(at, self.first_above);
        }
        Head { packet, ok_to_drop }
    }

    /// Enters the dropping state at the time `at`. The count begins at 1 or, if the previous dropping state ended
    /// recently, at the number of drops after that state's first one.
    fn enter_dropping(&mut self, at: u32, interval: u32) {
        let drops = self.count.wrapping_sub(self.last_count);
        let since = at.wrapping_sub(self.drop_next);
        if drops > 1 && is_after(interval.wrapping_mul(16), since) {
            self.count = drops;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = self.control_law(at, interval);
    }

    /// Improves the approximation of 1/sqrt(count) by one step (`codel_Newton_step`).
    fn newton_step(&mut self) {
        let root = u64::from(self.rec_inv_sqrt) << 16;
        let square = (root * root) >> 32;
        let rest = (3_u64 << 32).wrapping_sub(u64::from(self.count) * square);
        // The difference is divided by four, so that the product fits into 64 bits.
        let next = (rest >> 2).wrapping_mul(root) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (next >> 16) as u16;
    }

    /// Returns the time of the next drop (`codel_control_law`).
    fn control_law(&self, last: u32, interval: u32) -> u32 {
        let root = u64::from(self.rec_inv_sqrt) << 16;
        last.wrapping_add(((u64::from(interval) * root) >> 32) as u32)
    }

    /// Adds `drops` packets dropped at the queue's limit to CoDel's count of drops (`fq_codel_drop`).
    pub(super) fn on_overflow(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }
}

/// Returns a time in the kernel's form: 32 bits, in units of 1024 ns.
fn units_at(time: Time) -> u32 {
    ((time.as_ps() / 1000) >> 10) as u32
}

/// Returns a duration in units of 1024 ns, after rounding it down to whole microseconds as the kernel does.
fn units_of(span: Span) -> u32 {
    ((span.as_ps() / 1_000_000 * 1000) >> 10) as u32
}

/// Returns true if a time is after another one, by the sign of their difference (`codel_time_after`).
fn is_after(time: u32, other: u32) -> bool {
    time.wrapping_sub(other).cast_signed() > 0
}

#[cfg(test)]
mod tests {
    use crate::queue::codel::tests::linux;
    use crate::queue::tests::packet;
    use longhaul_units::{Span, Time};

    /// Drops are at the same times as with `codel_dequeue` of Linux 6.1, compiled and fed with the same packets.
    /// Datagrams of 1500 B arrive at 11 Mbit/s at a link of 10 Mbit/s. By RFC 8289, the third drop is at 327.6 ms.
    #[test]
    fn the_second_gap_is_half_an_interval() {
        let mut bench = linux();
        let (arrivals, service) = (Span::from_ps(1_090_909_091), Span::from_micros(1200));
        let (mut next, mut drops) = (Time::ZERO, vec![]);
        for number in 0..600 {
            let departure = Time::ZERO + service * number;
            while next <= departure {
                bench.now = next;
                bench.enqueue(packet(next.as_ps(), 1500)).expect("room");
                next += arrivals;
            }
            bench.now = departure;
            bench.dequeue();
            let dropped = bench.dropped().len();
            drops.extend(vec![departure.as_ps() / 1_000_000_000; dropped]);
        }
        assert_eq!(drops[..8], [156, 256, 306, 362, 411, 456, 495, 534]);
    }
}
