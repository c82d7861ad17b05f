//! PIE: drops, or marks, arriving packets with a probability that a proportional integral
//! controller steers towards a target delay (Pan, Natarajan, Baker and White, RFC 8033).
//!
//! The delay is either the waiting bytes over the departure rate (Little's law, section 5.2), which is known for a
//! link of constant rate and need not be measured, or the sojourn time of the last packet that left (timestamps,
//! section 4.3; Linux without `dq_rate_estimator`).

#[cfg(test)]
mod tests;

use longhaul_keys::{
    Kind, PROBABILITY, Profile, Range, Refusal, SIZE, TIME, Table, Value, keys, words,
};
use longhaul_units::{Bytes, Rate, Span, Time};

use super::link_context::check_update;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::packet::Packet;
use crate::random::Stream;

const WEIGHT: Kind = Kind::Number(Range::closed(0.0, 1e6));

words! {
    /// Measurement of the queue's delay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DelayEstimate {
        /// The waiting bytes over the link's rate.
        Rate = "rate",
        /// The sojourn time of the last packet that left; zero if none waited behind it.
        Timestamps = "timestamps",
    }
}

keys! {
    /// PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig {
        /// Capacity of the queue. A time stands for the data that the link sends in it.
        pub limit: Capacity = Capacity::LIMIT
            .in_profile(Profile::Linux, "1000 packets")
            .source("RFC 8033 names none; Linux: pie_params_init of include/net/pie.h"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.1"),
        /// Measurement of the delay: the waiting bytes over the link's rate, or the sojourn time of the last
        /// packet that left; `auto`: the latter if the link's rate varies.
        pub delay_estimate: DelayEstimate =
            Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Word(DelayEstimate::WORDS)])
                .key()
                .default("auto")
                .source("RFC 8033 section 4.3; Linux: dq_rate_estimator"),
    }
    flattened {
        /// Control of the delay.
        pub control: PieParameters,
    }
    beside {
        /// The rate at which packets leave.
        pub rate: Rate,
    }
}

keys! {
    /// Parameters with which PIE controls the delay.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieParameters {
        /// Target of the queueing delay.
        pub target: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 8033 section 4.2: QDELAY_REF"),
        /// Time between two updates of the probability.
        pub update: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 8033 section 4.2: T_UPDATE"),
        /// Weight of the delay's deviation from the target, per second.
        pub alpha: f64 = WEIGHT.key().unit("1/s").default("0.125").source("RFC 8033 section 4.2"),
        /// Weight of the delay's change, per second.
        pub beta: f64 = WEIGHT.key().unit("1/s").default("1.25").source("RFC 8033 section 4.2"),
        /// Duration of a burst, after a quiet time, in which nothing is dropped.
        pub max_burst: Span =
            Kind::Quantity(TIME).key().default("150 ms").source("RFC 8033 section 4.4: MAX_BURST"),
        /// Largest probability at which packets are marked; above it they are dropped.
        pub mark_up_to as "mark_p": f64 =
            PROBABILITY.key().default("0.1").source("RFC 8033 section 5.1: mark_ecnth"),
        /// True if drops are derandomised: the gaps between them are more even.
        pub derandomise: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.4"),
        /// Mean packet size; `auto`: the largest that a flow sends.
        pub mean_packet: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8033 section 4.1: MEAN_PKTSIZE"),
    }
}

impl PieParameters {
    /// Makes values explicit that follow from the link, and refuses impossible ones.
    pub(super) fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, Self::mean_packet);
        check_update(values, Self::update)
    }
}

impl Parameters for PieConfig {
    type Queue = Fifo<Pie>;

    const KIND: &'static str = "pie";
    const TITLE: &'static str = "Proportional integral controller enhanced";
    const DESCRIPTION: &'static str =
        "Steers the probability of drops on arrival towards a target delay.";
    const SOURCE: &'static str = "RFC 8033";

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        if values.is_word(Self::delay_estimate, "auto") {
            let (estimate, rule) = match link.varies {
                true => ("timestamps", "the rate of the link varies"),
                false => ("rate", "the rate of the link is constant"),
            };
            values.derive(Self::delay_estimate, Value::text(estimate), rule);
        }
        PieParameters::complete(values, link)
    }

    fn read(values: &Table, rate: Rate) -> Self {
        Self::of(values, rate)
    }

    fn queue(&self, stream: Stream) -> Fifo<Pie> {
        Fifo::new(Pie::new(*self, stream))
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of one PIE.
#[derive(Clone, Debug)]
pub(super) struct Control {
    probability: f64,
    /// The delay at the last update, in seconds.
    old_delay_s: f64,
    burst_allowance: Span,
    /// True if delay and probability were so small at the last update that nothing is dropped.
    calm: bool,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
}

impl Control {
    /// Sums of probabilities below which no packet, and from which on every packet, is dropped (section 5.4).
    const DERANDOMISED: (f64, f64) = (0.85, 8.5);

    pub(super) fn new(parameters: &PieParameters) -> Self {
        Self {
            probability: 0.0,
            old_delay_s: 0.0,
            burst_allowance: parameters.max_burst,
            calm: true,
            accumulated: 0.0,
        }
    }

    /// Decides about a packet that finds this many bytes waiting; with `ecn`, it may be marked instead of dropped.
    ///
    /// Always inlined: a call would cost as much as the remaining work for most packets.
    #[inline(always)]
    pub(super) fn on_arrival(
        &mut self,
        parameters: &PieParameters,
        ecn: bool,
        waiting_bytes: u64,
        stream: &mut Stream,
    ) -> Verdict {
        if self.burst_allowance > Span::ZERO || !self.selects(parameters, waiting_bytes, stream) {
            return Verdict::Accept;
        }
        self.accumulated = 0.0;
        if ecn && self.probability <= parameters.mark_up_to {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    /// Records a drop at a full queue.
    pub(super) fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// Draws a decision by `drop_early` of section 4.1, derandomised by section 5.4 if configured.
    #[inline(always)]
    fn selects(
        &mut self,
        parameters: &PieParameters,
        waiting_bytes: u64,
        stream: &mut Stream,
    ) -> bool {
        if self.calm || waiting_bytes <= 2 * parameters.mean_packet.0 {
            return false;
        }
        if parameters.derandomise {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            let (none_below, all_from) = Self::DERANDOMISED;
            if self.accumulated < none_below {
                return false;
            }
            if self.accumulated >= all_from {
                return true;
            }
        }
        stream.uniform() < self.probability
    }

    /// Returns the divisor of a step: small probabilities move by small steps (section 4.2).
    fn tuning(&self) -> f64 {
        const STEPS: [(f64, f64); 6] = [
            (1e-6, 2048.0),
            (1e-5, 512.0),
            (1e-4, 128.0),
            (1e-3, 32.0),
            (1e-2, 8.0),
            (1e-1, 2.0),
        ];
        let is_below = |&&(bound, _): &&(f64, f64)| self.probability < bound;
        STEPS.iter().find(is_below).map_or(1.0, |(_, by)| 1.0 / by)
    }

    /// Updates the probability at a delay by `calculate_drop_prob` of section 4.2, with the cap of section 5.5 and
    /// the burst allowance of section 4.4.
    pub(super) fn update(&mut self, parameters: &PieParameters, delay_s: f64) {
        let target_s = parameters.target.as_secs_f64();
        let deviation = parameters.alpha * (delay_s - target_s);
        let trend = parameters.beta * (delay_s - self.old_delay_s);
        let mut step = (deviation + trend) * self.tuning();
        if self.probability >= 0.1 {
            step = f64::min(step, 0.02);
        }
        self.probability += step;
        if delay_s == 0.0 && self.old_delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(parameters.update);
        let is_short = |delay_s: f64| delay_s < target_s / 2.0;
        if self.probability == 0.0 && is_short(delay_s) && is_short(self.old_delay_s) {
            self.burst_allowance = parameters.max_burst;
        }
        self.old_delay_s = delay_s;
        self.calm = is_short(delay_s) && self.probability < 0.2;
    }

    /// Returns the probability with which packets are dropped or marked.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }
}

/// The state of PIE.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    control: Control,
    /// Sojourn time of the last packet that left, zero if none waited behind it.
    last_sojourn: Span,
    stream: Stream,
}

impl Pie {
    fn new(config: PieConfig, stream: Stream) -> Self {
        Self {
            config,
            control: Control::new(&config.control),
            last_sojourn: Span::ZERO,
            stream,
        }
    }

    fn delay_s(&self, waiting_bytes: u64) -> f64 {
        match self.config.delay_estimate {
            DelayEstimate::Rate => (8 * waiting_bytes) as f64 / self.config.rate.as_bps() as f64,
            DelayEstimate::Timestamps => self.last_sojourn.as_secs_f64(),
        }
    }
}

impl Aqm for Pie {
    fn passes(&self) -> bool {
        // Nothing is dropped while at most two packets wait, and no number drawn (RFC 8033 section 4.1).
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            self.control.on_overflow();
            return Verdict::Drop(reason);
        }
        let ecn = self.config.ecn && arrival.ecn_capable;
        let waiting = arrival.waiting_bytes;
        self.control
            .on_arrival(&self.config.control, ecn, waiting, &mut self.stream)
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.control.update)
    }

    fn on_departure(&mut self, packet: &Packet, now: Time, waiting_pkts: u64) -> bool {
        self.last_sojourn = match waiting_pkts {
            0 => Span::ZERO,
            _ => now.since(packet.time),
        };
        false
    }

    fn update(&mut self, (_, waiting_bytes): (u64, u64)) {
        let delay_s = self.delay_s(waiting_bytes);
        self.control.update(&self.config.control, delay_s);
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.control.probability()),
            ..AqmState::default()
        }
    }
}
