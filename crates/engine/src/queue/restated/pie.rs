//! Second implementation of PIE: the drop probability follows the queueing delay.

use longhaul_units::{Bytes, Rate, Span, Time};

use super::sojourn::refuse_beyond;
use super::{Rule, Waiting, assert_follows, stream};
use crate::packet::Packet;
use crate::queue::{
    Arrival, Capacity, DelayEstimate, Draws, DropReason, PieConfig, PieParameters, PieVariant,
    QueueConfig, Verdict,
};
use crate::random::Stream;

const MANY: u64 = 40;

/// PIE by `enqueue`, `drop_early`, `calculate_drop_prob` and `dequeue` of RFC 8033 section 4 and appendix A. ECN,
/// derandomised drops and the cap on increases are those of section 5.
#[derive(Clone, Debug)]
pub(super) struct Pie {
    pub(super) parameters: PieParameters,
    drop_prob: f64,
    accu_prob: f64,
    burst_allowance: Span,
    current_qdelay: f64,
    qdelay_old: f64,
    /// Sojourn time of the last packet that left, in seconds; zero if no packet waited behind it. `None` if the delay
    /// is computed from the waiting bytes.
    last_wait: Option<f64>,
    calm: bool,
}

impl Pie {
    pub(super) fn new(parameters: PieParameters, timestamps: bool) -> Self {
        Self {
            parameters,
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance: parameters.max_burst,
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            last_wait: timestamps.then_some(0.0),
            calm: true,
        }
    }

    fn drop_early(&mut self, bytes: u64, stream: &mut Stream) -> bool {
        if self.calm || bytes <= 2 * self.parameters.mean_packet.0 {
            return false;
        }
        if self.parameters.derandomise {
            self.accu_prob = if self.drop_prob == 0.0 {
                0.0
            } else {
                self.accu_prob
            };
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        stream.uniform() < self.drop_prob
    }

    pub(super) fn decide(&mut self, may_mark: bool, bytes: u64, stream: &mut Stream) -> Verdict {
        if self.burst_allowance > Span::ZERO || !self.drop_early(bytes, stream) {
            return Verdict::Accept;
        }
        self.accu_prob = 0.0;
        if may_mark && self.drop_prob <= self.parameters.mark_up_to {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    pub(super) fn overflow(&mut self) {
        self.accu_prob = 0.0;
    }

    pub(super) fn left(&mut self, packet: &Packet, now: Time, behind: bool) {
        let wait = if behind {
            now.since(packet.time).as_secs_f64()
        } else {
            0.0
        };
        self.last_wait = self.last_wait.map(|_| wait);
    }

    pub(super) fn calculate(&mut self, bytes: u64) {
        // 12 Mbit/s are 1.5 MB/s.
        self.current_qdelay = self.last_wait.unwrap_or(bytes as f64 / 1.5e6);
        let reference = self.parameters.target.as_secs_f64();
        let mut p = self.parameters.alpha * (self.current_qdelay - reference)
            + self.parameters.beta * (self.current_qdelay - self.qdelay_old);
        p /= match self.drop_prob {
            ..0.000_001 => 2048.0,
            ..0.00001 => 512.0,
            ..0.0001 => 128.0,
            ..0.001 => 32.0,
            ..0.01 => 8.0,
            ..0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        self.drop_prob += p;
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.parameters.update);
        let half = reference / 2.0;
        let short = self.current_qdelay < half;
        if self.drop_prob == 0.0 && short && self.qdelay_old < half {
            self.burst_allowance = self.parameters.max_burst;
        }
        self.qdelay_old = self.current_qdelay;
        self.calm = short && self.drop_prob < 0.2;
    }

    pub(super) fn probability(&self) -> f64 {
        self.drop_prob
    }
}

/// PIE as in Linux 6.18 (`pie.h`, `sch_pie.c`). Probabilities are whole numbers of 56 bits, and times are in units of
/// 64 ns. The time between departures is subtracted from the burst allowance. The larger steps at delays above 250 ms
/// are left out: the queues of these tests are too short for such delays.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) parameters: PieParameters,
    prob: i128,
    accu_prob: i128,
    qdelay: i128,
    qdelay_old: i128,
    burst_time: i128,
    dq_tstamp: Option<i128>,
}

const MAX_PROB: i128 = (1 << 56) - 1;

fn ticks(span: Span) -> i128 {
    i128::from(span.as_ps() / 64_000)
}

impl Kernel {
    pub(super) fn new(parameters: PieParameters) -> Self {
        Self {
            parameters,
            prob: 0,
            accu_prob: 0,
            qdelay: 0,
            qdelay_old: 0,
            burst_time: ticks(parameters.max_burst),
            dq_tstamp: None,
        }
    }

    fn drop_early(&mut self, bytes: u64, stream: &mut Stream) -> bool {
        let target = ticks(self.parameters.target);
        let calm = self.qdelay < target / 2 && self.prob < MAX_PROB / 5;
        let few = bytes < 2 * self.parameters.mean_packet.0;
        if self.burst_time > 0 || calm || few {
            return false;
        }
        if self.parameters.derandomise {
            self.accu_prob = if self.prob == 0 {
                0
            } else {
                self.accu_prob + self.prob
            };
            if self.accu_prob < MAX_PROB / 100 * 85 {
                return false;
            }
            if self.accu_prob >= MAX_PROB / 2 * 17 {
                return true;
            }
        }
        // A random number has 53 bits.
        let selected = i128::from(stream.bits()) * 8 < self.prob;
        self.accu_prob = if selected { 0 } else { self.accu_prob };
        selected
    }

    pub(super) fn decide(&mut self, may_mark: bool, bytes: u64, stream: &mut Stream) -> Verdict {
        let mark_up_to = (self.parameters.mark_up_to * MAX_PROB as f64) as i128;
        if !self.drop_early(bytes, stream) {
            Verdict::Accept
        } else if may_mark && self.prob <= mark_up_to {
            Verdict::AcceptMarked
        } else {
            self.accu_prob = 0;
            Verdict::Drop(DropReason::Early)
        }
    }

    pub(super) fn overflow(&mut self) {
        self.accu_prob = 0;
    }

    pub(super) fn left(&mut self, packet: &Packet, now: Time, behind: bool) {
        let at = |time: Time| ticks(time.since(Time::ZERO));
        self.qdelay = if behind { at(now) - at(packet.time) } else { 0 };
        if let Some(before) = self.dq_tstamp {
            self.burst_time = (self.burst_time - (at(now) - before)).max(0);
        }
        self.dq_tstamp = Some(at(now));
    }

    /// Converts a weight per second of delay to a weight per tick of 64 ns. `per_s` is first rounded to a multiple of
    /// 1/16. The weight is halved at a probability below 1/10, and divided by 4 for each further power of ten down to
    /// 10^-6.
    fn weight(&self, per_s: f64) -> i128 {
        let ticks_per_s = 1_000_000_000 >> 6;
        let weight = (16.0 * per_s).round() as i128 * (MAX_PROB / ticks_per_s) / 16;
        let mut weight = if self.prob < MAX_PROB / 10 {
            weight / 2
        } else {
            weight
        };
        let mut power = 100;
        while power <= 1_000_000 && self.prob < MAX_PROB / power {
            weight /= 4;
            power *= 10;
        }
        weight
    }

    pub(super) fn calculate(&mut self, bytes: u64) {
        let target = ticks(self.parameters.target);
        let mut delta = self.weight(self.parameters.alpha) * (self.qdelay - target)
            + self.weight(self.parameters.beta) * (self.qdelay - self.qdelay_old);
        if self.prob >= MAX_PROB / 10 && delta > MAX_PROB / 50 {
            delta = MAX_PROB / 100 * 2;
        }
        self.prob = (self.prob + delta).max(0);
        if self.qdelay == 0 && self.qdelay_old == 0 && bytes == 0 {
            self.prob -= self.prob / 64;
        }
        if self.qdelay < target / 2 && self.qdelay_old < target / 2 && self.prob == 0 {
            self.burst_time = ticks(self.parameters.max_burst);
            (self.dq_tstamp, self.accu_prob) = (None, 0);
        }
        self.qdelay_old = self.qdelay;
    }

    pub(super) fn probability(&self) -> f64 {
        (self.prob as f64 / MAX_PROB as f64).min(1.0)
    }
}

/// Rules of PIE in one of its two variants.
#[derive(Clone, Debug)]
pub(super) enum Either {
    Rfc(Pie),
    Linux(Kernel),
}

impl Either {
    pub(super) fn new(parameters: PieParameters, timestamps: bool) -> Self {
        match parameters.variant {
            PieVariant::Rfc8033 => Self::Rfc(Pie::new(parameters, timestamps)),
            PieVariant::Linux => Self::Linux(Kernel::new(parameters)),
        }
    }

    pub(super) fn decide(&mut self, may_mark: bool, bytes: u64, stream: &mut Stream) -> Verdict {
        match self {
            Self::Rfc(pie) => pie.decide(may_mark, bytes, stream),
            Self::Linux(pie) => pie.decide(may_mark, bytes, stream),
        }
    }

    pub(super) fn overflow(&mut self) {
        match self {
            Self::Rfc(pie) => pie.overflow(),
            Self::Linux(pie) => pie.overflow(),
        }
    }

    pub(super) fn left(&mut self, packet: &Packet, now: Time, behind: bool) {
        match self {
            Self::Rfc(pie) => pie.left(packet, now, behind),
            Self::Linux(pie) => pie.left(packet, now, behind),
        }
    }

    pub(super) fn calculate(&mut self, bytes: u64) {
        match self {
            Self::Rfc(pie) => pie.calculate(bytes),
            Self::Linux(pie) => pie.calculate(bytes),
        }
    }

    pub(super) fn probability(&self) -> f64 {
        match self {
            Self::Rfc(pie) => pie.probability(),
            Self::Linux(pie) => pie.probability(),
        }
    }
}

struct Alone {
    pie: Either,
    ecn: bool,
    stream: Stream,
}

impl Rule for Alone {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(6))
    }

    fn draws(&self) -> (Draws, bool) {
        (Draws::InCongestion, false)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &Packet, waiting: &mut Waiting) -> Verdict {
        let full = refuse_beyond(MANY, arrival, waiting);
        if full != Verdict::Accept {
            self.pie.overflow();
            return full;
        }
        let may_mark = self.ecn && arrival.ecn_capable;
        self.pie
            .decide(may_mark, waiting.bytes(|_| true), &mut self.stream)
    }

    fn take(&mut self, now: Time, waiting: &mut Waiting) -> Option<Packet> {
        let packet = waiting.take(|_| true)?;
        self.pie.left(&packet, now, waiting.len() > 0);
        Some(packet)
    }

    fn update(&mut self, _now: Time, waiting: &Waiting) {
        self.pie.calculate(waiting.bytes(|_| true));
    }

    fn probability(&self) -> Option<f64> {
        Some(self.pie.probability())
    }
}

/// Returns parameters suited to queueing delays of a few milliseconds.
pub(super) fn parameters(variant: PieVariant, derandomise: bool) -> PieParameters {
    PieParameters {
        variant,
        target: Span::from_millis(3),
        update: Span::from_millis(6),
        alpha: 2.0,
        beta: 20.0,
        max_burst: Span::from_millis(20),
        mark_up_to: 0.1,
        derandomise,
        mean_packet: Bytes(1500),
    }
}

#[test]
fn pie() {
    for (variant, delay_estimate) in [
        (PieVariant::Rfc8033, DelayEstimate::Rate),
        (PieVariant::Rfc8033, DelayEstimate::Timestamps),
        (PieVariant::Linux, DelayEstimate::Timestamps),
    ] {
        for (ecn, derandomise) in [(false, false), (true, false), (true, true), (false, true)] {
            let control = parameters(variant, derandomise);
            let config = PieConfig {
                limit: Capacity::Packets(MANY),
                ecn,
                delay_estimate,
                control,
                rate: Rate::from_bps(12_000_000),
            };
            let rule = || Alone {
                pie: Either::new(control, delay_estimate == DelayEstimate::Timestamps),
                ecn,
                stream: stream(),
            };
            assert_follows(&QueueConfig::Pie(config), rule);
        }
    }
}
