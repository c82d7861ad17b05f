//! PIE: drops, or marks, arriving packets with a probability that a proportional integral
//! controller steers towards a target delay (Pan, Natarajan, Baker and White, RFC 8033).
//!
//! The delay is what waits over the rate at which it leaves (Little's law, section 5.2), which a
//! link knows and need not measure.

#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, PROBABILITY, Profile, Range, Refusal, SIZE, TIME, Table, keys};
use longhaul_units::{Bytes, Rate, Span};

use super::link_context::check_update;
use super::{
    Aqm, AqmState, Arrival, Capacity, Draws, DropReason, Fifo, LinkContext, Parameters, Verdict,
};
use crate::random::Stream;

const WEIGHT: Kind = Kind::Number(Range::closed(0.0, 1e6));

keys! {
    /// PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig {
        /// How much the queue holds. A time is what the link sends in it.
        pub limit: Capacity = Capacity::LIMIT
            .in_profile(Profile::Linux, "1000 packets")
            .source("RFC 8033 names none; Linux: pie_params_init of include/net/pie.h"),
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
        /// Whether ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("RFC 8033 section 5.1"),
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
    beside {
        /// The rate at which packets leave.
        pub rate: Rate,
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
        link.complete_size(values, Self::mean_packet);
        check_update(values, Self::update)
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

/// PIE at work.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    target_s: f64,
    probability: f64,
    /// The delay at the last update, in seconds.
    old_delay_s: f64,
    burst_allowance: Span,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    stream: Stream,
}

impl Pie {
    /// Below the first of these sums no packet is dropped, from the second on each (section 5.4).
    const DERANDOMISED: (f64, f64) = (0.85, 8.5);

    fn new(config: PieConfig, stream: Stream) -> Self {
        Self {
            config,
            target_s: config.target.as_secs_f64(),
            probability: 0.0,
            old_delay_s: 0.0,
            burst_allowance: config.max_burst,
            accumulated: 0.0,
            stream,
        }
    }

    /// `drop_early` of section 4.1, with that of section 5.4 if wanted.
    fn selects(&mut self, arrival: &Arrival) -> bool {
        let calm = self.old_delay_s < self.target_s / 2.0 && self.probability < 0.2;
        if calm || arrival.waiting_bytes <= 2 * self.config.mean_packet.0 {
            return false;
        }
        if self.config.derandomise {
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
        self.stream.uniform() < self.probability
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
}

impl Aqm for Pie {
    fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            self.accumulated = 0.0;
            return Verdict::Drop(reason);
        }
        if self.burst_allowance > Span::ZERO || !self.selects(arrival) {
            return Verdict::Accept;
        }
        self.accumulated = 0.0;
        let may_mark = self.config.ecn && self.probability <= self.config.mark_up_to;
        if may_mark && arrival.ecn_capable {
            Verdict::AcceptMarked
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.update)
    }

    /// `calculate_drop_prob` of section 4.2, with the cap of section 5.5, and what section 4.4 does
    /// about bursts then.
    fn update(&mut self, (_, waiting_bytes): (u64, u64)) {
        let delay_s = (8 * waiting_bytes) as f64 / self.config.rate.as_bps() as f64;
        let deviation = self.config.alpha * (delay_s - self.target_s);
        let trend = self.config.beta * (delay_s - self.old_delay_s);
        let mut step = (deviation + trend) * self.tuning();
        if self.probability >= 0.1 {
            step = f64::min(step, 0.02);
        }
        self.probability += step;
        if delay_s == 0.0 && self.old_delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.config.update);
        let is_short = |delay_s: f64| delay_s < self.target_s / 2.0;
        if self.probability == 0.0 && is_short(delay_s) && is_short(self.old_delay_s) {
            self.burst_allowance = self.config.max_burst;
        }
        self.old_delay_s = delay_s;
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.probability),
            ..AqmState::default()
        }
    }
}
