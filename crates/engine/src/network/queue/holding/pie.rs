//! PIE: drops, or marks, arriving packets with a probability that a proportional integral
//! controller steers towards a target delay (Pan, Natarajan, Baker and White, RFC 8033).
//!
//! The delay is what waits over the rate at which it leaves (Little's law, section 5.2), which a
//! link knows and need not measure.

#[cfg(test)]
mod tests;

use longhaul_units::{Bytes, Rate, Span};

use crate::network::queue::{Arrival, Capacity, DropReason, Verdict};
use crate::random::Stream;

/// PIE, resolved. Defaults are those of RFC 8033.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Hard limit on what waits.
    pub limit: Capacity,
    /// `QDELAY_REF`: the delay to keep (15 ms, section 4.2).
    pub target: Span,
    /// `T_UPDATE`: time between two changes of the probability (15 ms, section 4.2).
    pub update: Span,
    /// Weight of the deviation from the target, in 1/s (0.125, section 4.2).
    pub alpha: f64,
    /// Weight of the delay's change, in 1/s (1.25, section 4.2).
    pub beta: f64,
    /// `MAX_BURST`: after a quiet time nothing is dropped for so long (150 ms, section 4.4).
    pub max_burst: Span,
    /// Whether ECN-capable packets are marked instead.
    pub ecn: bool,
    /// `mark_ecnth`: up to which probability they are (0.1, section 5.1).
    pub mark_up_to: f64,
    /// Whether the gaps between drops are made more even (section 5.4).
    pub derandomise: bool,
    /// `MEAN_PKTSIZE`: nothing is dropped while no more than two of these wait.
    pub mean_packet: Bytes,
    /// The rate at which packets leave.
    pub rate: Rate,
}

/// PIE at work.
#[derive(Clone, Debug)]
pub(super) struct Pie {
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

    pub(super) fn new(config: PieConfig, stream: Stream) -> Self {
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

    /// Of a drop or mark.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    pub(super) fn period(&self) -> Span {
        self.config.update
    }

    pub(super) fn on_arrival(&mut self, arrival: &Arrival) -> Verdict {
        if let Err(reason) = arrival.check_room(self.config.limit) {
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

    /// `calculate_drop_prob` of section 4.2, with the cap of section 5.5, and what section 4.4 does
    /// about bursts then.
    pub(super) fn update(&mut self, waiting_bytes: u64) {
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
