//! PIE's control by RFC 8033, with floating-point probabilities and exact times.

use longhaul_units::{Span, Time};

use super::{DropReason, PieParameters, Verdict};
use crate::random::Stream;

/// State of PIE for one queue.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Control {
    pub(super) probability: f64,
    /// Delay at the last update, in seconds.
    old_delay_s: f64,
    pub(super) burst_allowance: Span,
    /// True if the delay and the probability at the last update were so small that nothing is dropped.
    pub(super) calm: bool,
    /// Sum of the probabilities at the arrivals since the last drop or mark, for derandomised drops. Arrivals that
    /// cannot be dropped, for example in a burst, are left out.
    pub(super) accumulated: f64,
    /// Sojourn time of the last packet that left; zero if no packet waited behind this packet.
    last_sojourn: Span,
}

impl Control {
    /// Two bounds for the sum of the probabilities since the last drop. Below the first bound, no packet is dropped;
    /// from the second one on, every packet is dropped (RFC 8033 section 5.4).
    const DERANDOMISED: (f64, f64) = (0.85, 8.5);

    pub(super) fn new(parameters: &PieParameters) -> Self {
        Self {
            probability: 0.0,
            old_delay_s: 0.0,
            burst_allowance: parameters.max_burst,
            calm: true,
            accumulated: 0.0,
            last_sojourn: Span::ZERO,
        }
    }

    /// Decides if an arriving packet is accepted, marked or dropped. `waiting_bytes` is the size of the queue that
    /// the packet finds. The packet may be marked only if `ecn` is true.
    ///
    /// Always inlined: for most packets, a call would cost as much as the work itself.
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

    /// Decides at random if a packet is to be dropped or marked (`drop_early` of section 4.1; derandomised by section
    /// 5.4 if configured).
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

    /// Returns the factor applied to steps of the probability. It is below 1 while the probability is small (section
    /// 4.2).
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

    /// Records the departure of a packet that arrived at `arrived`; `alone` is true if no packet waits behind it.
    #[inline]
    pub(super) fn on_departure(&mut self, now: Time, arrived: Time, alone: bool) {
        self.last_sojourn = if alone {
            Span::ZERO
        } else {
            now.since(arrived)
        };
    }

    /// Updates the probability (`calculate_drop_prob` of section 4.2, with the cap of section 5.5 and the burst
    /// allowance of section 4.4). `delay_s` is the queueing delay in seconds. If it is `None`, the sojourn time of the
    /// last packet that left is used.
    pub(super) fn update(&mut self, parameters: &PieParameters, delay_s: Option<f64>) {
        let delay_s = delay_s.unwrap_or(self.last_sojourn.as_secs_f64());
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

    /// Returns the probability of a drop or mark.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }
}
