//! YeAH of a current kernel (Linux 6.18, `tcp_yeah.c`). Windows are whole numbers. As in Vegas, the queue is computed
//! from the smallest sample of each round trip, also in slow start. Round trips with fewer than three samples are left
//! out. Precautionary decongestion sets the slow start threshold.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::smallest_rtts::{MeasuredRound, SmallestRtts};
use crate::whole_windows::{Avoidance, grow_by_one_for, slow_start};
use crate::window::Window;

/// Maximum number of acknowledged segments per segment of growth, in fast growth (`TCP_SCALABLE_AI_CNT`).
const FAST: u64 = 100;
/// Lower bound of the estimated window of standard TCP.
const LEAST: u64 = 2;

/// State of the kernel's YeAH for one flow. `doing_reno_now`, `reno_count` and `fast_count` are the kernel's names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelYeah {
    max_queued: u64,
    /// Divisor of the smallest round-trip time; the quotient is the maximum queueing delay.
    max_delay: u64,
    /// Maximum that decongestion removes, as a fraction of the window.
    max_taken_back: f64,
    min_decrease: f64,
    competing: u64,
    alone: u64,
    last_queue: u64,
    /// Number of successive round trips with the growth of standard TCP.
    doing_reno_now: u64,
    /// Window in segments that standard TCP would have.
    reno_count: u64,
    fast_count: u64,
    round: MeasuredRound,
    avoidance: Avoidance,
}

impl KernelYeah {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            max_queued: settings.get("max_queued") as u64,
            max_delay: libm::round(1.0 / settings.get("max_delay")).max(1.0) as u64,
            max_taken_back: settings.get("max_taken_back"),
            min_decrease: settings.get("min_decrease"),
            competing: settings.get("competing") as u64,
            alone: settings.get("alone") as u64,
            last_queue: 0,
            doing_reno_now: 0,
            reno_count: LEAST,
            fast_count: 0,
            round: MeasuredRound::default(),
            avoidance: Avoidance::default(),
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.round.on_ack(ack);
        if self.avoidance.reducing.on_ack(ack) {
            self.round.begin();
        }
        if !phase.may_grow() {
            return;
        }
        self.grow(ack.credit as u64, window);
        if self.round.is_over() {
            if self.round.rtts.samples > 2 {
                self.end_round(window);
            }
            self.round.begin();
        }
    }

    fn grow(&mut self, mut acked: u64, window: &mut Window) {
        if window.in_slow_start() {
            acked = slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd() as u64;
        let per_segment = if self.doing_reno_now == 0 {
            cwnd.min(FAST)
        } else {
            cwnd
        };
        grow_by_one_for(&mut self.avoidance.counted, window, per_segment, acked);
    }

    fn end_round(&mut self, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let SmallestRtts { base, min, .. } = self.round.rtts;
        let delay = min - base;
        let queue = cwnd * delay / min;
        if queue > self.max_queued || delay > base / self.max_delay {
            if queue > self.max_queued && cwnd > self.reno_count {
                self.decongest(queue, window);
            }
            self.reno_count = if self.reno_count <= LEAST {
                (window.cwnd() as u64 / 2).max(LEAST)
            } else {
                self.reno_count + 1
            };
            self.doing_reno_now += 1;
        } else {
            self.fast_count += 1;
            if self.fast_count > self.alone {
                (self.reno_count, self.fast_count) = (LEAST, 0);
            }
            self.doing_reno_now = 0;
        }
        self.last_queue = queue;
    }

    /// Reduces the window by `queue`, the flow's segments in the queue, but at most by a fraction of the window. Sets
    /// the threshold to the reduced window.
    fn decongest(&self, queue: u64, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let excess = queue.min((cwnd as f64 * self.max_taken_back) as u64);
        let left = (cwnd - excess).max(self.reno_count) as f64;
        window.set_cwnd(left);
        window.set_ssthresh(left);
    }

    /// Returns the window after a reduction (`tcp_yeah_ssthresh`). Also sets the count of fast rounds to zero, and
    /// halves the estimated window of standard TCP.
    fn reduced(&mut self, base: f64) -> f64 {
        let cwnd = base as u64;
        let half = (cwnd / 2).max(2);
        let reduction = if self.doing_reno_now < self.competing {
            let least = (cwnd as f64 * self.min_decrease) as u64;
            self.last_queue.min(half).max(least)
        } else {
            half
        };
        self.fast_count = 0;
        self.reno_count = (self.reno_count / 2).max(LEAST);
        cwnd.saturating_sub(reduction).max(2) as f64
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let target = self.reduced(event.base);
        self.avoidance.on_congestion(event, target, window);
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let threshold = (!event.keep_ssthresh).then(|| self.reduced(event.base));
        self.avoidance.on_timeout(threshold, window);
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.avoidance.reducing.end_recovery(now) {
            self.round.begin();
        }
    }

    /// Discards the smallest round-trip times when the connection sends after an idle time.
    pub(super) fn forget(&mut self) {
        self.round.forget();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.last_queue as f64);
        out("standard_window", self.reno_count as f64);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::algorithms::yeah::ENTRY;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    /// Checks that decongestion removes a queue of more than 80 segments, and sets the slow start threshold to the
    /// window.
    #[test]
    fn what_is_queued_is_taken_back_and_ends_slow_start() {
        let settings = ENTRY.settings(Variant::Linux6_18, &[]).unwrap();
        // With a base round-trip time of 100 ms, the queue has 74 segments at 108 ms and 90 at 110 ms.
        for (us, cwnd, reno) in [(107_999, 1000.0, 2), (109_999, 910.0, 455)] {
            let mut yeah = KernelYeah::new(&settings);
            let mut window = Window::new(1000.0, 1e6, 1e9, Rounding::Real);
            yeah.round.rtts.sample(Some(Span::from_micros(99_999)));
            yeah.round.rtts.forget_min();
            yeah.round.rtts.sample(Some(Span::from_micros(us)));
            yeah.end_round(&mut window);
            assert_eq!((window.cwnd(), yeah.reno_count), (cwnd, reno));
            assert_eq!(window.in_slow_start(), reno == 2);
        }
    }

    /// Checks that a loss removes the segments in the queue, but at least an eighth and at most half of the window.
    /// After sixteen rounds of growth as in standard TCP, a loss removes half of the window.
    #[test]
    fn a_loss_removes_what_is_queued_within_bounds() {
        let mut yeah = KernelYeah::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap());
        for (queue, left) in [(20, 700.0), (150, 650.0), (500, 400.0)] {
            yeah.last_queue = queue;
            assert_eq!(yeah.reduced(800.0), left);
        }
        yeah.doing_reno_now = 16;
        assert_eq!(yeah.reduced(801.0), 401.0);
    }
}
