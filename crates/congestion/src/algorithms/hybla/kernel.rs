//! Hybla of a current kernel (Linux 6.18, `tcp_hybla.c`), in whole 128ths of a segment. The window grows once per
//! acknowledgement, however many segments it covers: with delayed acknowledgements, it grows half as fast as in the
//! paper. The connection begins with a window of `rho` segments, and no window exceeds 65,535 segments. After a
//! timeout, the flow is standard TCP until all lost segments have been repaired.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::whole_windows::{Counted, Reducing, grow_as_standard, half, reduce};
use crate::window::Window;

/// Maximum window, in segments (`snd_cwnd_clamp`).
const CLAMP: u64 = 65_535;

/// State of the kernel's Hybla for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelHybla {
    reference_us: u64,
    /// Eight times the smallest smoothed round-trip time, in microseconds; zero before the first sample.
    min_srtt: u64,
    /// Eight times `rho`.
    rho_eighths: u64,
    /// 128 times the square of `rho`.
    rho_squared: u64,
    /// Growth that has not enlarged the window yet, in 128ths of a segment.
    parts: u64,
    counted: Counted,
    reducing: Reducing,
}

impl KernelHybla {
    pub(super) fn new(reference_s: f64) -> Self {
        Self {
            reference_us: (libm::round(1e3 * reference_s) as u64).max(1) * 1000,
            min_srtt: 0,
            rho_eighths: 0,
            rho_squared: 0,
            parts: 0,
            counted: Counted::default(),
            reducing: Reducing::default(),
        }
    }

    /// Updates `rho` from the smallest smoothed round-trip time (`hybla_recalc_param`).
    fn measure(&mut self, srtt: Span) {
        let srtt = srtt.as_ps() / 125_000;
        if srtt == 0 || self.min_srtt != 0 && srtt >= self.min_srtt {
            return;
        }
        self.min_srtt = srtt;
        self.rho_eighths = (srtt / self.reference_us).max(8);
        self.rho_squared = (self.rho_eighths * self.rho_eighths) << 1;
    }

    pub(super) fn rho(&self) -> f64 {
        self.rho_eighths as f64 / 8.0
    }

    /// Sets `rho`, and thus the first window, from the round-trip time of the handshake.
    pub(super) fn first_window(&mut self, srtt: Span) {
        self.measure(srtt);
    }

    pub(super) fn initial(&self, initial: f64) -> f64 {
        if self.rho_eighths == 0 {
            initial
        } else {
            (self.rho_eighths / 8) as f64
        }
    }

    /// Grows the window for an acknowledgement (`hybla_cong_avoid`).
    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.reducing.on_ack(ack);
        if phase == Phase::Recovery {
            return;
        }
        self.measure(ack.srtt);
        if !phase.may_grow() || self.rho_eighths == 0 {
            return;
        }
        if !self.reducing.is_open() {
            return grow_as_standard(&mut self.counted, window, ack.credit as u64);
        }
        let before = window.cwnd() as u64;
        let slow_start = window.in_slow_start();
        let increment = self.increment(before, slow_start);
        let mut cwnd = before + (increment >> 7);
        self.parts += increment % 128;
        while self.parts >= 128 {
            cwnd += 1;
            self.parts -= 128;
            self.counted = Counted::default();
        }
        if increment == 0 && self.counted.0 >= cwnd {
            cwnd += 1;
            self.counted = Counted::default();
        }
        if slow_start {
            cwnd = cwnd.min(window.ssthresh() as u64);
        }
        window.set_cwnd(cwnd.min(CLAMP) as f64);
    }

    /// Returns the increase for an acknowledgement, in 128ths of a segment. In congestion avoidance, counts an
    /// acknowledgement that adds less than one segment.
    fn increment(&mut self, cwnd: u64, slow_start: bool) -> u64 {
        if slow_start {
            let (whole, eighths) = (self.rho_eighths / 8, self.rho_eighths % 8);
            let power = libm::floor(128.0 * libm::exp2(eighths as f64 / 8.0)) as u64;
            return (power << whole.min(16)) - 128;
        }
        let increment = self.rho_squared / cwnd.max(1);
        self.counted.0 += u64::from(increment < 128);
        increment
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        self.counted = Counted::default();
        reduce(window, half(event.base));
    }

    /// Processes a timeout: the flow is standard TCP until the recovery is over (`hybla_state`).
    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        self.counted = Counted::default();
        if !event.keep_ssthresh {
            window.set_ssthresh(half(event.base));
        }
        window.restart();
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        self.reducing.end_recovery(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    fn ack(ms: u64) -> AckSample {
        AckSample {
            srtt: Span::from_millis(ms),
            acked: 2,
            credit: 2.0,
            ..AckSample::ONE_SEGMENT
        }
    }

    /// Checks that an acknowledgement of two segments counts once. At a round-trip time of 100 ms, four times the
    /// reference, it adds 15 segments in slow start, and 16 divided by the window afterwards.
    #[test]
    fn an_acknowledgement_counts_once() {
        let mut hybla = KernelHybla::new(0.025);
        hybla.first_window(Span::from_millis(100));
        assert_eq!((hybla.initial(10.0), hybla.rho_squared), (4.0, 2048));
        let mut window = Window::new(4.0, 1e6, 1e9, Rounding::Real);
        hybla.on_ack(&ack(100), Phase::SlowStart, &mut window);
        assert_eq!(window.cwnd(), 19.0);
        window.reduce_to(200.0);
        for _ in 0..13 {
            hybla.on_ack(&ack(100), Phase::Avoidance, &mut window);
        }
        // Each of the thirteen acknowledgements adds 10/128 segments.
        assert_eq!((window.cwnd(), hybla.parts), (201.0, 2));
    }

    /// Checks that the window grows as in standard TCP during the recovery from a timeout: an acknowledgement adds its
    /// two segments. The acknowledgement that ends the recovery adds 15 segments, as in Hybla.
    #[test]
    fn a_timeout_makes_it_standard_tcp_until_the_recovery_is_over() {
        let mut hybla = KernelHybla::new(0.025);
        hybla.first_window(Span::from_millis(100));
        let mut window = Window::new(400.0, 1e6, 1e9, Rounding::Real);
        let timeout = Timeout {
            now: Time::ZERO,
            base: 400.0,
            keep_ssthresh: false,
            sent: 400,
        };
        hybla.on_timeout(&timeout, &mut window);
        hybla.on_ack(&ack(100), Phase::SlowStart, &mut window);
        assert_eq!((window.cwnd(), window.ssthresh()), (3.0, 200.0));
        let last = AckSample {
            now: Time::ZERO + Span::from_secs(1),
            ..ack(100)
        };
        hybla.on_recovery_exit(last.now);
        hybla.on_ack(&last, Phase::SlowStart, &mut window);
        assert_eq!(window.cwnd(), 18.0);
    }

    /// Checks that `rho` is rounded down to eighths, here to 9/8. An acknowledgement in slow start then adds
    /// 2^(9/8) - 1 segments, in 128ths `2 * 139 - 128`, since 2^(1/8) is 139/128.
    #[test]
    fn parts_of_rho_are_eighths() {
        let mut hybla = KernelHybla::new(0.1);
        hybla.measure(Span::from_micros(112_600));
        assert_eq!(hybla.increment(10, true), 2 * 139 - 128);
        assert_eq!(hybla.rho(), 1.125);
        hybla.measure(Span::from_millis(300));
        assert_eq!(hybla.rho(), 1.125, "the smallest counts");
    }
}
