//! Vegas of a current kernel (Linux 6.18, `tcp_vegas.c`). The number of queued segments is computed from the smallest
//! sample of each round trip, also in slow start: the window times the queueing delay, divided by the smallest
//! round-trip time of the connection. During a reduction the flow is standard TCP. So is its response to the
//! acknowledgement that ends a round trip with at most two samples.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::smallest_rtts::{MeasuredRound, SmallestRtts};
use crate::whole_windows::{Avoidance, grow_as_standard, half, slow_start};
use crate::window::Window;

/// State of the kernel's Vegas for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelVegas {
    alpha: u64,
    beta: u64,
    gamma: u64,
    queued: u64,
    round: MeasuredRound,
    avoidance: Avoidance,
}

impl KernelVegas {
    pub(super) fn new(alpha: f64, beta: f64, gamma: f64) -> Self {
        Self {
            alpha: alpha as u64,
            beta: beta as u64,
            gamma: gamma as u64,
            queued: 0,
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
        let acked = ack.credit as u64;
        let counted = &mut self.avoidance.counted;
        if !self.avoidance.reducing.is_open() {
            grow_as_standard(counted, window, acked);
        } else if self.round.is_over() {
            if self.round.rtts.samples <= 2 {
                grow_as_standard(counted, window, acked);
            } else {
                self.end_round(ack, window);
            }
            self.round.begin();
        } else if window.in_slow_start() {
            slow_start(window, acked);
        }
    }

    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let SmallestRtts { base, min, .. } = self.round.rtts;
        let filling = cwnd * base / min;
        self.queued = cwnd * (min - base) / base;
        if window.in_slow_start() && self.queued > self.gamma {
            window.set_cwnd(cwnd.min(filling + 1) as f64);
            lower_threshold(window);
        } else if window.in_slow_start() {
            slow_start(window, ack.credit as u64);
        } else if self.queued > self.beta {
            window.set_cwnd((cwnd - 1) as f64);
            lower_threshold(window);
        } else if self.queued < self.alpha {
            window.set_cwnd((cwnd + 1) as f64);
        }
        window.set_cwnd(window.cwnd().max(2.0));
        // As in `tcp_current_ssthresh`.
        let cwnd = window.cwnd() as u64;
        window.set_ssthresh(window.ssthresh().max((cwnd / 2 + cwnd / 4) as f64));
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.avoidance
            .on_congestion(event, half(event.base), window);
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let threshold = (!event.keep_ssthresh).then(|| half(event.base));
        self.avoidance.on_timeout(threshold, window);
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.avoidance.reducing.end_recovery(now) {
            self.round.begin();
        }
    }

    /// Discards the smallest round-trip times and begins a round trip when the connection sends after an idle time.
    pub(super) fn forget(&mut self) {
        self.round.forget();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.queued as f64);
    }
}

/// Lowers the threshold to the window if the threshold is larger (`tcp_vegas_ssthresh`).
fn lower_threshold(window: &mut Window) {
    window.set_ssthresh(window.ssthresh().min(window.cwnd()));
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::window::Rounding;

    fn round(vegas: &mut KernelVegas, window: &mut Window, us: u64) {
        for sample in [us + 500, us, us + 900] {
            vegas.round.rtts.sample(Some(Span::from_micros(sample)));
        }
        vegas.round.sequence.una = vegas.round.end;
        let ack = AckSample {
            in_flight: window.cwnd() as u64,
            rtt: Some(Span::from_micros(us)),
            ..AckSample::ONE_SEGMENT
        };
        let phase = if window.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        vegas.on_ack(&ack, phase, window);
    }

    /// Checks that the smallest sample of each round trip determines the number of segments in the queue. With 100
    /// segments in flight and a base round-trip time of 100 ms, 103 ms means three segments, and 105 ms five.
    #[test]
    fn the_smallest_sample_of_a_round_trip_decides() {
        let mut vegas = KernelVegas::new(2.0, 4.0, 1.0);
        let mut window = Window::new(100.0, 60.0, 1e6, Rounding::Real);
        let mut found = Vec::new();
        for us in [99_999, 103_200, 105_200, 100_999] {
            round(&mut vegas, &mut window, us);
            found.push(window.cwnd());
        }
        assert_eq!(found, [101.0, 101.0, 100.0, 101.0]);
    }

    /// Checks that the end of a recovery begins a new round trip. The new round trip ends with the acknowledgement of a
    /// segment sent later. Segments sent since the previous acknowledgement do not end it.
    #[test]
    fn the_end_of_a_recovery_begins_a_round_trip_at_what_has_left_by_then() {
        let mut vegas = KernelVegas::new(2.0, 4.0, 1.0);
        let mut window = Window::new(100.0, 60.0, 1e6, Rounding::Real);
        let at = |ms, in_flight| AckSample {
            now: Time::ZERO + Span::from_millis(ms),
            in_flight,
            ..AckSample::ONE_SEGMENT
        };
        vegas.on_timeout(
            &Timeout {
                now: Time::ZERO,
                base: 100.0,
                keep_ssthresh: false,
                sent: 100,
            },
            &mut window,
        );
        vegas.on_ack(&at(1, 40), Phase::NoGrowth, &mut window);
        vegas.on_recovery_exit(at(2, 50).now);
        vegas.on_ack(&at(2, 50), Phase::NoGrowth, &mut window);
        assert_eq!((vegas.round.end, vegas.round.rtts.samples), (2 + 50, 0));
    }

    #[test]
    fn slow_start_ends_with_what_fills_the_path_and_one_segment() {
        let mut vegas = KernelVegas::new(2.0, 4.0, 1.0);
        let mut window = Window::new(100.0, 1e6, 1e9, Rounding::Real);
        round(&mut vegas, &mut window, 99_999);
        assert_eq!(window.cwnd(), 101.0);
        round(&mut vegas, &mut window, 124_999);
        assert_eq!((window.cwnd(), window.ssthresh()), (81.0, 81.0));
    }
}
