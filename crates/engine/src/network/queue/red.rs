//! Random early detection: packets are marked or dropped with a probability that grows with the
//! average queue.
//!
//! Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (1993); the
//! gentle line (Floyd 2000); Adaptive RED (Floyd, Gummadi and Shenker 2001). What these leave open
//! is done as in ns-2.35: a queue of one packet is never touched, nor is the first packet after the
//! average crosses the lower threshold; the hard limit is tested after the random test.

#[cfg(test)]
mod model;
mod parameters;
#[cfg(test)]
mod tests;

use longhaul_units::{Span, Time};

pub use parameters::{Adaptation, AdaptationParameters, Gentle, RedConfig, RedParameters, Weight};

use super::{Arrival, Capacity, DropReason, Verdict};
use crate::random::Stream;

/// RED at work. The average, the thresholds and the waiting queue are all in bytes or all in
/// packets.
#[derive(Clone, Debug)]
pub struct Red {
    average: f64,
    weight: f64,
    /// One minus the weight.
    keep: f64,
    min_th: f64,
    in_bytes: bool,
    /// Whether the average was above the lower threshold at the last arrival.
    above: bool,
    /// `max_p` may change after this.
    adapt_after: Time,
    limit: Limit,
    /// Packets, and their bytes, since the last mark or drop, or since the average crossed the
    /// lower threshold.
    count: u64,
    count_bytes: u64,
    curve: Curve,
    /// From this average on every packet is dropped.
    forced_from: f64,
    /// Capable packets are marked up to this probability.
    mark_up_to: f64,
    config: RedConfig,
    stream: Stream,
}

impl Red {
    pub(crate) fn new(config: RedConfig, stream: Stream) -> Self {
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
                .map_or(Time::NEVER, |adaptive| Time::ZERO + adaptive.interval),
            limit: Limit {
                capacity: config.limit,
                overshoot: config.limit_overshoot,
            },
            count: 0,
            count_bytes: 0,
            curve: Curve::new(&config, unit),
            // With `mark_p` the probability, which is 1 there, decides.
            forced_from: if config.mark_p.is_none() {
                certain
            } else {
                f64::INFINITY
            },
            mark_up_to: match config.mark_p {
                _ if !config.ecn => f64::NEG_INFINITY,
                Some(mark_p) => mark_p,
                None => f64::INFINITY,
            },
            config,
            stream,
        }
    }

    /// Whether nothing is to be done for an arrival but to accept it: links that only carry
    /// acknowledgements never wait.
    #[inline(always)]
    pub(crate) fn rests(&self, arrival: &Arrival) -> bool {
        let empty = arrival.waiting_pkts == 0 && self.average == 0.0;
        empty && !self.above && arrival.now <= self.adapt_after && arrival.idle_since.is_some()
    }

    #[inline(always)]
    pub(crate) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        let waiting = if self.in_bytes {
            arrival.waiting_bytes
        } else {
            arrival.waiting_pkts
        };
        if let Some(since) = arrival.idle_since {
            self.decay(arrival.now.since(since));
        }
        // Processors have an instruction for signed integers only.
        self.average = self.average * self.keep + self.weight * waiting as i64 as f64;
        if arrival.now > self.adapt_after {
            self.adapt(arrival.now);
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

    /// The average queue in mean packets.
    pub(crate) fn average_pkts(&self) -> f64 {
        if self.in_bytes {
            self.average / self.config.mean_packet.0 as f64
        } else {
            self.average
        }
    }

    /// The probability at the upper threshold.
    pub(crate) fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    /// Averages over the packets that could have been sent while the link was idle. Links that only
    /// carry acknowledgements are idle before each, so an average of zero costs nothing.
    fn decay(&mut self, idle: Span) {
        if self.average > 0.0 {
            let packets = (self.config.packets_per_s * idle.as_secs_f64()) as u64;
            self.average *= power(self.keep, packets);
        }
    }

    /// Adaptive RED, section 5: keeps the average in the middle fifth between the thresholds. The
    /// bounds are tested before a step, so `max_p` may rest one step beyond.
    fn adapt(&mut self, now: Time) {
        let Some(adaptive) = &self.config.adaptive else {
            return;
        };
        let max_p = self.curve.max_p;
        let margin = 0.4 * (self.curve.max_th - self.min_th);
        let changed = if self.average < self.min_th + margin && max_p > adaptive.bottom {
            max_p * adaptive.beta
        } else if self.average > self.curve.max_th - margin && max_p < adaptive.top {
            max_p + f64::min(adaptive.alpha, 0.25 * max_p)
        } else {
            return;
        };
        self.adapt_after = now + adaptive.interval;
        self.curve.set_max_p(changed);
    }

    /// Whether a packet that arrives above the lower threshold is selected, and what then.
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
        if arrival.ecn_capable && probability <= self.mark_up_to {
            Verdict::AcceptMarked
        } else if probability >= 1.0 {
            Verdict::Drop(DropReason::Forced)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    /// Turns geometric gaps between marks into uniform ones: up to `1/p` packets, or with `wait`
    /// from `1/p` to `2/p` (RED paper, section 4; ns-2 counts whole mean packets in byte mode).
    fn space(&self, probability: f64, bytes: u32) -> f64 {
        let scaled = self.config.scale_by_size;
        let mean_packet = self.config.mean_packet.0;
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

/// By repeated squaring: the same bits on every platform, and fast for the usual few packets.
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

/// The hard limit on what waits.
#[derive(Clone, Copy, Debug)]
struct Limit {
    capacity: Capacity,
    overshoot: bool,
}

impl Limit {
    /// A packet that finds the link idle goes straight into service.
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

/// Probability against average queue.
#[derive(Clone, Copy, Debug)]
struct Curve {
    max_p: f64,
    max_th: f64,
    /// Slope and offset between the thresholds, for a `max_p` of 1.
    slope: f64,
    offset: f64,
    gentle: Gentle,
    /// Slope and offset above the upper threshold.
    gentle_slope: f64,
    gentle_offset: f64,
}

impl Curve {
    fn new(config: &RedConfig, unit: f64) -> Self {
        let min_th = config.min_th_pkts * unit;
        let max_th = config.max_th_pkts * unit;
        // Equal thresholds leave no line between them, so its slope does not matter.
        let range = if max_th > min_th {
            max_th - min_th
        } else {
            1.0
        };
        let mut curve = Self {
            max_p: config.max_p,
            max_th,
            slope: 1.0 / range,
            offset: -min_th / range,
            gentle: config.gentle,
            gentle_slope: 0.0,
            gentle_offset: 1.0,
        };
        if config.gentle != Gentle::Off {
            curve.draw_gentle_line();
        }
        curve
    }

    fn set_max_p(&mut self, max_p: f64) {
        self.max_p = max_p;
        if self.gentle == Gentle::On {
            self.draw_gentle_line();
        }
    }

    /// From `max_p` at the upper threshold to 1 at twice that.
    fn draw_gentle_line(&mut self) {
        self.gentle_slope = (1.0 - self.max_p) / self.max_th;
        self.gentle_offset = 2.0 * self.max_p - 1.0;
    }

    fn probability(&self, average: f64) -> f64 {
        let probability = if average >= self.max_th {
            self.gentle_slope * average + self.gentle_offset
        } else {
            (self.slope * average + self.offset) * self.max_p
        };
        f64::min(probability, 1.0)
    }
}
