//! Step marking: an arriving packet is marked if the queue exceeds a threshold (Alizadeh and others, "Data center TCP
//! (DCTCP)", SIGCOMM 2010, section 3.1; RFC 8257 section 3.1). The instantaneous queue decides, not an average. The
//! arriving packet and the packet in service do not count.
//!
//! Packets that are not ECN-capable are accepted up to the limit, as in the paper. Switches that use RED for step
//! marking drop such packets from the threshold on (RFC 8257 section 5); the discipline RED models these switches.

use longhaul_keys::{Kind, Refusal, Table, Value, keys};
use longhaul_units::{Bytes, Dimension, Quantity, Rate};

use super::{Aqm, Arrival, Capacity, Fifo, LinkContext, Parameters, Verdict};
use crate::random::Stream;

keys! {
    /// Parameters of step marking.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ThresholdConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
        /// Queue beyond which arriving packets are marked, in packets, in bytes or as the data that the link sends
        /// in a time; `auto`: a seventh of 1 BDP.
        pub threshold: Capacity = Kind::OneOf(&[
            Kind::Word(&["auto"]),
            Kind::Positive(&[Dimension::Packets, Dimension::Size, Dimension::Bdp, Dimension::Time]),
        ])
        .key()
        .default("auto")
        .source("SIGCOMM 2010, equation 13; L4S: a time, RFC 9332 appendix A.1"),
    }
}

impl Parameters for ThresholdConfig {
    type Queue = Fifo<Threshold>;

    const KIND: &'static str = "threshold";
    const TITLE: &'static str = "Step marking";
    const DESCRIPTION: &'static str =
        "Marks arriving packets while more than a threshold waits; drops when full.";
    const SOURCE: &'static str = "RFC 8257 section 3.1; Alizadeh and others, SIGCOMM 2010";
    const OUTSIDE_LINKS: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        let bytes = |values: &mut Table, bytes: f64, rule: &str| {
            let value = Value::Quantity(Quantity::Bytes(Bytes(bytes as u64)));
            values.derive(Self::threshold, value, rule);
        };
        let bdp = link.rate.bdp(link.rtt).0 as f64;
        if values.is_word(Self::threshold, "auto") {
            bytes(values, bdp / 7.0, "1 BDP / 7");
            return Ok(());
        }
        match values.read(Self::threshold.seen_as()) {
            Quantity::Bdp(multiple) => {
                let rule = format!("{multiple} BDP: {} x {}", link.rate, link.rtt);
                bytes(values, bdp * multiple, &rule);
            }
            Quantity::Span(span) => {
                let rule = format!("{span} at {}", link.rate);
                bytes(values, link.rate.bdp(span).0 as f64, &rule);
            }
            Quantity::Packets(packets) if packets.fract() != 0.0 => {
                let message = format!("expected a whole number of packets, found {packets}");
                return Err(Refusal::of(Self::threshold, message));
            }
            _ => {}
        }
        // The user did not choose a limit that is taken over, which may hold a single packet.
        let room = if link.taken_over { 0 } else { link.packet.0 };
        let [threshold, limit] = Self::of(values).in_bytes(link.packet);
        if threshold.saturating_add(room) >= limit {
            let message =
                "is not more than one packet below the limit, so that nothing would be marked";
            return Err(Refusal::of(Self::threshold, message));
        }
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> Fifo<Threshold> {
        Fifo::new(Threshold(*self))
    }

    fn marks(&self) -> bool {
        true
    }
}

impl ThresholdConfig {
    /// Returns true if a packet of size `packet` can find more than `threshold` waiting, and fit below `limit`, where
    /// all other packets have this size, too.
    #[must_use]
    pub fn can_mark(&self, packet: Bytes) -> bool {
        let [threshold, limit] = self.in_bytes(packet);
        threshold.saturating_add(packet.0) < limit
    }

    /// Returns threshold and limit in bytes, if all packets have the size `packet`.
    fn in_bytes(&self, packet: Bytes) -> [u64; 2] {
        [self.threshold, self.limit].map(|capacity| match capacity {
            Capacity::Packets(packets) => packets.saturating_mul(packet.0),
            Capacity::Bytes(bytes) => bytes,
        })
    }
}

/// The state of step marking.
#[derive(Clone, Debug)]
pub(crate) struct Threshold(ThresholdConfig);

impl Aqm for Threshold {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_limit(self.0.limit) {
            return Verdict::Drop(reason);
        }
        let (packets, bytes) = (arrival.waiting_pkts, arrival.waiting_bytes);
        if arrival.ecn_capable && self.0.threshold.is_exceeded_by(packets, bytes) {
            Verdict::AcceptMarked
        } else {
            Verdict::Accept
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::{Span, Time};

    use super::*;
    use crate::queue::DropReason;

    const LIMIT: Capacity = Capacity::Packets(30);

    fn arrival(waiting: u64, ecn_capable: bool) -> Arrival {
        Arrival {
            now: Time::ZERO,
            bytes: 1500,
            ecn_capable,
            low_priority: false,
            waiting_pkts: waiting,
            waiting_bytes: waiting * 1500,
            idle_since: None,
        }
    }

    /// Returns the verdicts on packets that find 0 to 31 other packets waiting.
    fn verdicts(threshold: Capacity, ecn_capable: bool) -> Vec<Verdict> {
        let config = ThresholdConfig {
            limit: LIMIT,
            threshold,
        };
        let mut aqm = Threshold(config);
        let one = |waiting| aqm.on_arrival(&arrival(waiting, ecn_capable));
        (0..32).map(one).collect()
    }

    /// Packets are marked if the queue is "greater than K upon its arrival" (SIGCOMM 2010, section
    /// 3.1), and dropped at the limit.
    #[test]
    fn what_finds_more_than_the_threshold_is_marked_up_to_the_limit() {
        for threshold in [Capacity::Packets(20), Capacity::Bytes(20 * 1500)] {
            let verdicts = verdicts(threshold, true);
            let accept = |verdict: &Verdict| *verdict == Verdict::Accept;
            assert!(verdicts[..=20].iter().all(accept), "{verdicts:?}");
            let mark = |verdict: &Verdict| *verdict == Verdict::AcceptMarked;
            assert!(verdicts[21..30].iter().all(mark), "{verdicts:?}");
            assert_eq!(verdicts[30..], [Verdict::Drop(DropReason::Overflow); 2]);
        }
    }

    #[test]
    fn packets_that_cannot_be_marked_have_the_limit_alone() {
        let verdicts = verdicts(Capacity::Packets(20), false);
        assert!(verdicts[..30].iter().all(|one| *one == Verdict::Accept));
        assert_eq!(verdicts[30], Verdict::Drop(DropReason::Overflow));
    }

    /// Checks that a threshold given as a time or in bandwidth-delay products is converted to bytes, here at 10 Gbit/s
    /// and a round trip of 100 us.
    #[test]
    fn times_and_products_are_what_the_link_sends() {
        let rate = Rate::from_bps(10_000_000_000);
        let link = LinkContext::new(rate, Span::from_micros(50), Bytes(1500));
        let threshold = |value: Value| {
            let mut values = Table::new()
                .with(
                    ThresholdConfig::limit,
                    Value::Quantity(Quantity::Packets(3000.0)),
                )
                .with(ThresholdConfig::threshold, value);
            ThresholdConfig::complete(&mut values, &link)
                .map(|()| ThresholdConfig::of(&values).threshold)
        };
        let millisecond = Value::Quantity(Quantity::Span(Span::from_millis(1)));
        assert_eq!(threshold(millisecond), Ok(Capacity::Bytes(1_250_000)));
        // A seventh of the bandwidth-delay product.
        let auto = Value::Text("auto".to_string());
        assert_eq!(threshold(auto), Ok(Capacity::Bytes(17_857)));
        let half = Value::Quantity(Quantity::Bdp(0.5));
        assert_eq!(threshold(half), Ok(Capacity::Bytes(62_500)));
        let packets = |packets| threshold(Value::Quantity(Quantity::Packets(packets)));
        assert_eq!(packets(65.0), Ok(Capacity::Packets(65)));
        assert!(packets(6.5).is_err());
        // The threshold would never be reached: 3000 packets are 4.5 MB, and 1 BDP is 125 kB.
        assert!(packets(3000.0).is_err());
        assert!(threshold(Value::Quantity(Quantity::Bdp(36.0))).is_err());
        assert!(threshold(Value::Quantity(Quantity::Bdp(35.9))).is_ok());
    }
}
