//! Random early detection (RED): packets are marked or dropped with a probability that grows with the average queue.
//!
//! Sources: Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (1993); the gentle line
//! (Floyd 2000); Adaptive RED (Floyd, Gummadi and Shenker 2001); gentle Adaptive RED ("High-Speed Transport-Layer
//! Protocols for Fast Long-Distance Networks", doctoral thesis, Osaka University, 2006, chapter 3). Details that these
//! sources do not define are as in ns-2.35. Two kinds of packets are never selected at random. The first kind finds
//! fewer than two waiting packets (with a queue in bytes: none). The second kind is the first packet after the average
//! crosses the lower threshold, or after a packet of the first kind. The hard limit is tested after the random test.

mod curve;
#[cfg(test)]
mod model;
mod parameters;
#[cfg(test)]
mod tests;

use longhaul_keys::{Refusal, Table};
use longhaul_units::{Rate, Span, Time};

pub use self::parameters::{Adaptation, Adaptive, Gentle, Marking, RedConfig, Rule};

use self::curve::Curve;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::random::Stream;

impl Parameters for RedConfig {
    type Queue = Fifo<Red>;

    const KIND: &'static str = "red";
    const TITLE: &'static str = "Random early detection";
    const DESCRIPTION: &'static str = "Drops or marks arriving packets with a probability that grows with the \
        average queue, and may adapt the probability.";
    const SOURCE: &'static str =
        "Floyd and Jacobson, ToN 1(4), 1993; Floyd, Gummadi and Shenker 2001; ns-2";
    const ON_ARRIVAL: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        parameters::complete(values, link)
    }

    fn read(values: &Table, rate: Rate) -> Self {
        Self::complete(values, rate)
    }

    fn queue(&self, stream: Stream) -> Fifo<Red> {
        Fifo::new(Red::new(*self, stream))
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// State of RED. The average, the thresholds and the waiting queue are either all in bytes or all in packets.
#[derive(Clone, Debug)]
pub struct Red {
    average: f64,
    weight: f64,
    /// Weight of the old average at an arrival: one minus the weight of the queue.
    keep: f64,
    min_th: f64,
    in_bytes: bool,
    /// True if, at the last arrival without a forced drop, the average had reached the lower threshold and more than
    /// one packet or byte waited.
    above: bool,
    /// Time after which `max_p` may change again.
    adapt_after: Time,
    limit: Limit,
    /// Number of packets since the last mark or drop, or since the average crossed the lower threshold.
    count: u64,
    /// Number of bytes of the packets in `count`.
    count_bytes: u64,
    curve: Curve,
    /// Smallest average queue at which every packet is dropped; infinite if marks have a maximum probability.
    forced_from: f64,
    /// Maximum probability for marks of ECN-capable packets.
    mark_up_to: f64,
    /// Upper limit of the average queue for marks of ECN-capable packets.
    mark_below: f64,
    /// Average queue at the end of the last interval of adaptation (only for gentle Adaptive RED).
    old_average: f64,
    config: RedConfig,
    stream: Stream,
}

impl Red {
    pub(super) fn new(config: RedConfig, stream: Stream) -> Self {
        let unit = if config.queue_in_bytes {
            config.mean_packet.0 as f64
        } else {
            1.0
        };
        let max_th = config.max_th_pkts * unit;
        let certain = if config.gentle == Gentle::Off {
            max_th
        } else {
            2.0 * max_th
        };
        Self {
            average: 0.0,
            weight: config.weight,
            keep: 1.0 - config.weight,
            min_th: config.min_th_pkts * unit,
            in_bytes: config.queue_in_bytes,
            above: false,
            adapt_after: config
                .adaptive
                .0
                .map_or(Time::NEVER, |adaptive| Time::ZERO + adaptive.interval),
            limit: Limit {
                capacity: config.limit,
                overshoot: config.limit_overshoot,
            },
            count: 0,
            count_bytes: 0,
            curve: Curve::new(&config, unit),
            // With a limit on the marking probability, the limit alone decides, since the probability is 1 here.
            forced_from: match config.marking {
                Marking::UpTo(_) => f64::INFINITY,
                Marking::Always | Marking::BelowMaxTh => certain,
            },
            mark_up_to: match config.marking {
                _ if !config.ecn => f64::NEG_INFINITY,
                Marking::UpTo(mark_p) => mark_p,
                Marking::Always | Marking::BelowMaxTh => f64::INFINITY,
            },
            mark_below: match config.marking {
                Marking::BelowMaxTh => max_th,
                Marking::Always | Marking::UpTo(_) => f64::INFINITY,
            },
            old_average: 0.0,
            config,
            stream,
        }
    }

    /// Returns true if RED accepts a packet that finds the link idle, without a change of RED's own state.
    #[inline(always)]
    pub(super) fn accepts_trivially(&self, now: Time) -> bool {
        // An average of zero is below the lower threshold.
        let adapts = now > self.adapt_after && !self.rests_at_bottom();
        self.average == 0.0 && !adapts
    }

    /// Returns true if the adaptation of `max_p` changes nothing while the average is zero. Either there is no
    /// adaptation, or Adaptive RED has decreased `max_p` to its lower bound.
    fn rests_at_bottom(&self) -> bool {
        let Some(adaptation) = &self.config.adaptive.0 else {
            return true;
        };
        let target = (f64::MIN_POSITIVE, f64::INFINITY);
        matches!(adaptation.rule, Rule::Adaptive)
            && adaptation.step(0.0, target, self.curve.max_p).is_none()
    }

    #[inline(always)]
    pub(super) fn decide(&mut self, arrival: &Arrival) -> Verdict {
        let waiting = if self.in_bytes {
            arrival.waiting_bytes
        } else {
            arrival.waiting_pkts
        };
        let before = self.average;
        if let Some(since) = arrival.idle_since {
            self.decay(arrival.now.since(since));
        }
        // The conversion is from a signed integer, since processors have an instruction for signed integers only.
        self.average = self.average * self.keep + self.weight * waiting as i64 as f64;
        if arrival.now > self.adapt_after {
            self.adapt(arrival.now, before);
        }
        let verdict = if self.average >= self.min_th && waiting > 1 {
            self.select(arrival)
        } else {
            self.above = false;
            Verdict::Accept
        };
        if self.limit.is_exceeded_by(arrival) {
            self.restart_count(0, 0);
            return Verdict::Drop(DropReason::Overflow);
        }
        verdict
    }

    /// Returns the average queue length in packets of the mean size.
    fn average_pkts(&self) -> f64 {
        if self.in_bytes {
            self.average / self.config.mean_packet.0 as f64
        } else {
            self.average
        }
    }

    /// Returns the current `max_p`, the probability at the upper threshold.
    fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    /// Returns the probability that RED's curve gives for the current average queue, before marks are spaced evenly.
    fn drop_p(&self) -> f64 {
        if self.average < self.min_th {
            return 0.0;
        }
        self.curve.probability(self.average)
    }

    /// Decays the average by one step for each packet that the link could have sent in its idle time `idle`. Nothing is
    /// computed for an average of zero, which is usual on links that carry only acknowledgements.
    fn decay(&mut self, idle: Span) {
        if self.average > 0.0 {
            let packets = (self.config.packets_per_s * idle.as_secs_f64()) as u64;
            self.average *= power(self.keep, packets);
        }
    }

    /// Adapts `max_p` if a change is due. `before` is the average queue before the packet's arrival.
    fn adapt(&mut self, now: Time, before: f64) {
        let Some(adaptation) = &self.config.adaptive.0 else {
            return;
        };
        let margin = 0.4 * (self.curve.max_th - self.min_th);
        let target = (self.min_th + margin, self.curve.max_th - margin);
        let max_p = self.curve.max_p;
        let changed = match adaptation.rule {
            Rule::Adaptive => {
                let changed = adaptation.step(self.average, target, max_p);
                if changed.is_some() {
                    self.adapt_after = now + adaptation.interval;
                }
                changed
            }
            Rule::GentleAdaptive => {
                // At least one interval ended before this arrival. The average did not change, so that only the first
                // of these intervals had an effect. An interval that ends now ends after the arrival.
                let interval = adaptation.interval.as_ps();
                self.adapt_after = Time::from_ps(now.as_ps().div_ceil(interval) * interval);
                let old = std::mem::replace(&mut self.old_average, before);
                let falls = before < old && before > self.min_th;
                let changed = adaptation.step(before, target, max_p);
                changed.filter(|&changed| if changed > max_p { before > old } else { falls })
            }
        };
        if let Some(changed) = changed {
            self.curve.set_max_p(changed);
        }
    }

    /// Decides if a packet is accepted, marked or dropped. The average must have reached the lower threshold.
    #[inline(never)]
    fn select(&mut self, arrival: &Arrival) -> Verdict {
        if self.average >= self.forced_from {
            self.restart_count(0, 0);
            return Verdict::Drop(DropReason::Forced);
        }
        if !self.above {
            self.above = true;
            self.restart_count(1, u64::from(arrival.bytes));
            return Verdict::Accept;
        }
        self.count += 1;
        self.count_bytes += u64::from(arrival.bytes);
        let probability = self.curve.probability(self.average);
        let spaced = self.space(probability, arrival.bytes);
        if self.stream.uniform() >= spaced {
            return Verdict::Accept;
        }
        self.restart_count(0, 0);
        let marks = probability <= self.mark_up_to && self.average < self.mark_below;
        if arrival.ecn_capable && marks {
            Verdict::AcceptMarked
        } else if probability >= 1.0 {
            Verdict::Drop(DropReason::Forced)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    /// Returns the probability of marking the arriving packet (Floyd and Jacobson 1993, section 4). It grows with the
    /// number of packets since the last mark. With p = `probability`, gaps between marks are uniformly distributed: up
    /// to `1/p` packets or, with `wait`, from `1/p` to `2/p` packets.
    fn space(&self, probability: f64, bytes: u32) -> f64 {
        let scaled = self.config.scale_by_size;
        let mean_packet = self.config.mean_packet.0;
        // Whole packets of mean size, as in ns-2.
        let count = if scaled {
            self.count_bytes / mean_packet
        } else {
            self.count
        };
        let expected = count as f64 * probability;
        let spaced = match (self.config.wait, expected) {
            (true, expected) if expected < 1.0 => 0.0,
            (true, expected) if expected < 2.0 => probability / (2.0 - expected),
            (false, expected) if expected < 1.0 => probability / (1.0 - expected),
            _ => 1.0,
        };
        if scaled && spaced < 1.0 {
            spaced * f64::from(bytes) / mean_packet as f64
        } else {
            spaced
        }
    }

    fn restart_count(&mut self, packets: u64, bytes: u64) {
        self.count = packets;
        self.count_bytes = bytes;
    }
}

impl Aqm for Red {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        self.decide(arrival)
    }

    fn state(&self) -> AqmState {
        AqmState {
            average_pkts: Some(self.average_pkts()),
            max_p: Some(self.max_p()),
            drop_p: Some(self.drop_p()),
        }
    }
}

impl Adaptation {
    /// Returns the new `max_p`, if it changes (section 5 of Adaptive RED). The target range of the average, from `low`
    /// to `high`, is the middle fifth between the thresholds. The bounds of `max_p` are tested before a step, and the
    /// step may exceed them.
    fn step(&self, average: f64, (low, high): (f64, f64), max_p: f64) -> Option<f64> {
        if average < low && max_p > self.bottom.unwrap_or(0.0) {
            Some(max_p * self.beta)
        } else if average > high && max_p < self.top {
            Some(max_p + f64::min(self.alpha, 0.25 * max_p))
        } else {
            None
        }
    }
}

/// Returns a power by repeated squaring, which gives equal bits on every platform and is fast for small exponents.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

/// The hard limit of the queue.
#[derive(Clone, Copy, Debug)]
struct Limit {
    capacity: Capacity,
    overshoot: bool,
}

impl Limit {
    /// Returns true if an arriving packet exceeds the limit. A packet that finds the link idle never exceeds the limit,
    /// since it goes straight into service.
    #[inline]
    fn is_exceeded_by(self, arrival: &Arrival) -> bool {
        let full = match self.capacity {
            Capacity::Packets(limit) => arrival.waiting_pkts >= limit,
            Capacity::Bytes(limit) if self.overshoot => arrival.waiting_bytes >= limit,
            Capacity::Bytes(limit) => arrival.waiting_bytes + u64::from(arrival.bytes) > limit,
        };
        full && arrival.idle_since.is_none()
    }
}
