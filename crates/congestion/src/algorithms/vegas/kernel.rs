//! Vegas of a current kernel (Linux 6.18, `tcp_vegas.c`): a round trip's smallest sample decides, in slow start, too, in
//! which every acknowledgement enlarges the window; in a recovery, and where a round trip has two samples at most, it is
//! standard TCP.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::whole_windows::{
    Counted, Reducing, Sequence, grow_as_standard, half, reduce, slow_start,
};
use crate::window::Window;

/// The kernel's Vegas. Round-trip times are in microseconds, and one more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelVegas {
    alpha: u64,
    beta: u64,
    gamma: u64,
    base_rtt: u64,
    min_rtt: u64,
    samples: u64,
    queued: u64,
    sequence: Sequence,
    /// Segments sent when the round trip began.
    round_end: u64,
    counted: Counted,
    reducing: Reducing,
}

impl KernelVegas {
    pub(super) fn new(alpha: f64, beta: f64, gamma: f64) -> Self {
        Self {
            alpha: alpha as u64,
            beta: beta as u64,
            gamma: gamma as u64,
            base_rtt: u64::MAX,
            min_rtt: u64::MAX,
            samples: 0,
            queued: 0,
            sequence: Sequence::default(),
            round_end: 0,
            counted: Counted::default(),
            reducing: Reducing::default(),
        }
    }

    fn sample(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let rtt = rtt.as_ps() / 1_000_000 + 1;
            self.base_rtt = self.base_rtt.min(rtt);
            self.min_rtt = self.min_rtt.min(rtt);
            self.samples += 1;
        }
    }

    fn forget_samples(&mut self) {
        (self.min_rtt, self.samples) = (u64::MAX, 0);
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.sample(ack.rtt);
        self.sequence.on_ack(ack);
        if self.reducing.on_ack(ack) {
            self.enable();
        }
        if !phase.may_grow() {
            return;
        }
        let acked = ack.credit as u64;
        if !self.reducing.is_open() {
            grow_as_standard(&mut self.counted, window, acked);
        } else if self.sequence.una > self.round_end {
            self.round_end = self.sequence.nxt;
            if self.samples <= 2 {
                grow_as_standard(&mut self.counted, window, acked);
            } else {
                self.end_round(ack, window);
            }
            self.forget_samples();
        } else if window.in_slow_start() {
            slow_start(window, acked);
        }
    }

    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        let cwnd = window.cwnd() as u64;
        let filling = cwnd * self.base_rtt / self.min_rtt;
        self.queued = cwnd * (self.min_rtt - self.base_rtt) / self.base_rtt;
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
        // `tcp_current_ssthresh`
        let cwnd = window.cwnd() as u64;
        window.set_ssthresh(window.ssthresh().max((cwnd / 2 + cwnd / 4) as f64));
    }

    /// Follows `vegas_enable`.
    fn enable(&mut self) {
        self.round_end = self.sequence.nxt;
        self.forget_samples();
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        self.counted = Counted::default();
        reduce(window, half(event.base));
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        self.counted = Counted::default();
        if !event.keep_ssthresh {
            window.set_ssthresh(half(event.base));
        }
        window.restart();
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        if self.reducing.end_recovery(now) {
            self.enable();
        }
    }

    /// Begins anew when the connection sends after nothing was in flight (`tcp_vegas_cwnd_event`).
    pub(super) fn forget(&mut self) {
        self.base_rtt = u64::MAX;
        self.enable();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.queued as f64);
    }
}

/// Follows `tcp_vegas_ssthresh`.
fn lower_threshold(window: &mut Window) {
    window.set_ssthresh(window.ssthresh().min(window.cwnd()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    fn round(vegas: &mut KernelVegas, window: &mut Window, us: u64) {
        for sample in [us + 500, us, us + 900] {
            vegas.sample(Some(Span::from_micros(sample)));
        }
        vegas.sequence.una = vegas.round_end;
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

    /// With 100 segments and 100 ms, a round-trip time of 103 ms means three segments in the queue, 105 ms
    /// five.
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

    /// Segments that left after the acknowledgement before belong to the recovery.
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
        assert_eq!((vegas.round_end, vegas.samples), (2 + 50, 0));
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
