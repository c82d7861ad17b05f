//! PIE: drops, or marks, arriving packets with a probability that a proportional integral
//! controller steers towards a target delay (Pan, Natarajan, Baker and White, RFC 8033).
//!
//! The delay is what waits over the rate at which it leaves (Little's law, section 5.2), which a link whose rate is constant
//! knows and need not measure, or the time that the packet that left last has waited (timestamps, section 4.3; Linux without
//! `dq_rate_estimator`).

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
    /// The way in which PIE learns the delay of its queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DelayEstimate {
        /// The waiting bytes over the link's rate.
        Rate = "rate",
        /// The time that the packet that left last has waited; zero if none waited behind it.
        Timestamps = "timestamps",
    }
}

keys! {
    /// PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig {
        /// How much the queue holds. A time is what the link sends in it.
        pub limit: Capacity = Capacity::LIMIT
            .in_profile(Profile::Linux, "1000 packets")
            .source("RFC 8033 names none; Linux: pie_params_init of include/net/pie.h"),
        /// Whether ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.1"),
        /// How the delay is found out: what waits over the rate of the link, or what the packet that left last has waited;
        /// `auto`: the latter where the rate of the link varies.
        pub delay_estimate: DelayEstimate =
            Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Word(DelayEstimate::WORDS)])
                .key()
                .default("auto")
                .source("RFC 8033 section 4.3; Linux: dq_rate_estimator"),
    }
    flattened {
        /// How it keeps the delay.
        pub control: PieParameters,
    }
    beside {
        /// The rate at which packets leave.
        pub rate: Rate,
    }
}

keys! {
    /// How PIE keeps the delay.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieParameters {
        /// The delay to keep.
        pub target: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 8033 section 4.2: QDELAY_REF"),
        /// Time between two updates of the probability.
        pub update: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 8033 section 4.2: T_UPDATE"),
        /// Weight of the delay's deviation from the target, per second.
        pub alpha: f64 = WEIGHT.key().unit("1/s").default("0.125").source("RFC 8033 section 4.2"),
        /// Weight of the delay's change, per second.
        pub beta: f64 = WEIGHT.key().unit("1/s").default("1.25").source("RFC 8033 section 4.2"),
        /// How long nothing is dropped after a quiet time.
        pub max_burst: Span =
            Kind::Quantity(TIME).key().default("150 ms").source("RFC 8033 section 4.4: MAX_BURST"),
        /// Largest probability at which packets are marked; above it they are dropped.
        pub mark_up_to as "mark_p": f64 =
            PROBABILITY.key().default("0.1").source("RFC 8033 section 5.1: mark_ecnth"),
        /// Whether the gaps between drops are made more even.
        pub derandomise: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.4"),
        /// Mean packet size; `auto`: the largest that a flow sends.
        pub mean_packet: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8033 section 4.1: MEAN_PKTSIZE"),
    }
}

impl PieParameters {
    /// Makes explicit what follows from the link, and refuses what cannot be.
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
    /// Whether delay and probability were so small at the last update that nothing is dropped.
    calm: bool,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
}

impl Control {
    /// Below the first of these sums no packet is dropped, from the second on each (section 5.4).
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

    /// What becomes of a packet before which so many bytes wait; with `ecn` it may be marked instead of dropped.
    ///
    /// Always inlined: a call would cost as much as what is left to do for most packets.
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

    /// A packet was dropped because the queue is full.
    pub(super) fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// `drop_early` of section 4.1, with that of section 5.4 if wanted.
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

    /// Section 4.2: small probabilities move by small steps.
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

    /// `calculate_drop_prob` of section 4.2 at a delay, with the cap of section 5.5, and what section 4.4 does about
    /// bursts then.
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

    /// The probability with which packets are dropped or marked.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }
}

/// PIE at work.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    control: Control,
    /// The time that the last packet to leave has waited, zero if none waited behind it.
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
        // Nothing is dropped while no more than two packets wait, and no number drawn (RFC 8033 section 4.1).
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
