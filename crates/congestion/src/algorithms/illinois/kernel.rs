//! Illinois of a current kernel (Linux 6.18, `tcp_illinois.c`): the increase is in 128ths, the decrease in 64ths, and
//! delays are in whole microseconds. The count of acknowledged segments restarts at zero, without a remainder, when the
//! window grows. Increase and decrease follow the delay even while the window is not fully used.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::whole_windows::{Reducing, reduce};
use crate::window::Window;

/// Denominator of the increase (`ALPHA_SCALE`).
const ALPHA: u64 = 128;
/// Denominator of the decrease (`BETA_SCALE`).
const BETA: u64 = 64;
/// Numerators of standard TCP's increase and decrease; the denominators are `ALPHA` and `BETA`.
const STANDARD: (u64, u64) = (ALPHA, BETA / 2);
/// Maximum round-trip time, in microseconds (`RTT_MAX`).
const LONGEST: u64 = (u32::MAX / 1280) as u64;

/// State of the kernel's Illinois for one flow. Round-trip times are in microseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelIllinois {
    alphas: (u64, u64),
    betas: (u64, u64),
    low_window: u64,
    patience: u64,
    alpha: u64,
    beta: u64,
    base_rtt: u64,
    max_rtt: u64,
    sum_rtt: u64,
    cnt_rtt: u64,
    rtt_low: u64,
    rtt_above: bool,
    /// Number of segments that the last acknowledgement covers; 1 after they have been counted towards growth.
    acked: u64,
    /// Number of acknowledged segments counted towards the next growth by one segment (`snd_cwnd_cnt`).
    counted: u64,
    /// Number of segments acknowledged so far (`snd_una`).
    una: u64,
    /// Number of segments sent when the round trip began.
    end_seq: u64,
    reducing: Reducing,
}

impl KernelIllinois {
    pub(super) fn new(settings: &Settings) -> Self {
        let parts = |name, of: u64| (settings.get(name) * of as f64) as u64;
        let least = parts("min_increase", ALPHA).max(1);
        let alphas = (least, parts("max_increase", ALPHA).max(least));
        Self {
            alphas,
            betas: (parts("min_decrease", BETA), parts("max_decrease", BETA)),
            low_window: settings.get("low_window") as u64,
            patience: settings.get("patience") as u64,
            alpha: alphas.1,
            beta: STANDARD.1,
            base_rtt: 0x7fff_ffff,
            max_rtt: 0,
            sum_rtt: 0,
            cnt_rtt: 0,
            rtt_low: 0,
            rtt_above: false,
            acked: 0,
            counted: 0,
            una: 0,
            end_seq: 0,
            reducing: Reducing::default(),
        }
    }

    /// Adds the round-trip sample of an acknowledgement (`tcp_illinois_acked`).
    fn sample(&mut self, acked: u64, rtt: Option<Span>) {
        self.acked = acked;
        if let Some(rtt) = rtt {
            let rtt = (rtt.as_ps() / 1_000_000).min(LONGEST);
            self.base_rtt = self.base_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.cnt_rtt += 1;
            self.sum_rtt += rtt;
        }
    }

    /// Begins a round trip (`rtt_reset`).
    fn reset(&mut self, in_flight: u64) {
        self.end_seq = self.una + in_flight;
        (self.cnt_rtt, self.sum_rtt) = (0, 0);
    }

    /// Updates increase and decrease at the end of a round trip (`update_params`).
    fn update(&mut self, cwnd: u64) {
        if cwnd < self.low_window {
            (self.alpha, self.beta) = STANDARD;
        } else if let Some(mean) = self.sum_rtt.checked_div(self.cnt_rtt) {
            let (largest, delay) = (self.max_rtt - self.base_rtt, mean - self.base_rtt);
            self.alpha = self.alpha_at(delay, largest);
            self.beta = self.beta_at(delay, largest);
        }
    }

    /// Returns the increase at the queueing delay `delay`, in 128ths (`alpha`). `largest` is the largest queueing
    /// delay. Each call counts as one round trip.
    fn alpha_at(&mut self, delay: u64, largest: u64) -> u64 {
        let (least, most) = self.alphas;
        let low = largest / 100;
        if delay <= low {
            if !self.rtt_above {
                return most;
            }
            self.rtt_low += 1;
            if self.rtt_low < self.patience {
                return self.alpha;
            }
            (self.rtt_low, self.rtt_above) = (0, false);
            return most;
        }
        self.rtt_above = true;
        let (largest, delay) = (largest - low, delay - low);
        largest * most / (largest + delay * (most - least) / least)
    }

    /// Returns the fraction of the window that a loss removes at the queueing delay `delay`, in 64ths (`beta`).
    /// `largest` is the largest queueing delay.
    fn beta_at(&self, delay: u64, largest: u64) -> u64 {
        let (least, most) = self.betas;
        let (low, high) = (largest / 10, 8 * largest / 10);
        if delay <= low {
            least
        } else if delay >= high || high <= low {
            most
        } else {
            least + (most - least) * (delay - low) / (high - low)
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.sample(ack.acked, ack.rtt);
        self.una += ack.acked;
        self.reducing.on_ack(ack);
        if !self.reducing.asks_for_growth(ack, phase) {
            return;
        }
        if self.una > self.end_seq {
            self.update(window.cwnd() as u64);
            self.reset(ack.in_flight);
        }
        if phase == Phase::Avoidance {
            self.avoid(window);
        }
    }

    /// Grows the window in congestion avoidance (second half of `tcp_illinois_cong_avoid`).
    fn avoid(&mut self, window: &mut Window) {
        self.counted += std::mem::replace(&mut self.acked, 1);
        let (due, cwnd) = (self.counted * self.alpha / ALPHA, window.cwnd() as u64);
        if due >= cwnd {
            window.grow((due / cwnd) as f64);
            self.counted = 0;
        }
    }

    /// Returns the window after a reduction (`tcp_illinois_ssthresh`).
    fn reduced(&self, base: f64) -> f64 {
        let cwnd = base as u64;
        (cwnd - cwnd * self.beta / BETA).max(2) as f64
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        self.counted = 0;
        reduce(window, self.reduced(event.base));
    }

    /// Processes a timeout: the threshold is set by the present decrease. Increase and decrease then become those of
    /// standard TCP (`tcp_illinois_state`).
    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        self.counted = 0;
        if !event.keep_ssthresh {
            window.set_ssthresh(self.reduced(event.base));
        }
        (self.alpha, self.beta) = STANDARD;
        (self.rtt_low, self.rtt_above) = (0, false);
        self.reset(event.sent.saturating_sub(self.una));
        window.restart();
    }

    pub(super) fn on_recovery_exit(&mut self, now: Time) {
        self.reducing.end_recovery(now);
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("increase", self.alpha as f64 / ALPHA as f64);
        out("decrease", self.beta as f64 / BETA as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::illinois::ENTRY;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    fn kernel() -> KernelIllinois {
        KernelIllinois::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap())
    }

    /// Checks increases in 128ths of a segment and decreases in 64ths of the window, if the largest delay is 100 ms.
    /// The increase is a function of the delay less 1 ms: at 50 ms, it is `99 * 1280 / (99 + 49 * 1242 / 38)`. The
    /// decrease rises linearly between 10 and 80 ms.
    #[test]
    fn amounts_are_whole_parts() {
        let mut kernel = kernel();
        assert_eq!(kernel.alphas, (38, 1280));
        assert_eq!(kernel.alpha_at(50_000, 100_000), 74);
        assert_eq!(kernel.beta_at(49_000, 100_000), 8 + 24 * 39 / 70);
        assert_eq!(
            (
                kernel.beta_at(10_000, 100_000),
                kernel.beta_at(80_000, 100_000)
            ),
            (8, 32)
        );
    }

    /// Checks that an excess of acknowledged segments is discarded. With an increase of ten segments per round trip, a
    /// window of 100 grows by one as soon as ten are acknowledged; further ones of the same acknowledgement do not
    /// count.
    #[test]
    fn what_is_acknowledged_beyond_a_segment_is_forgotten() {
        let mut kernel = kernel();
        let mut window = Window::new(100.0, 50.0, 1e6, Rounding::Real);
        for (acked, grown, left) in [(9, 0.0, 9), (2, 1.0, 0), (15, 1.0, 0)] {
            let before = window.cwnd();
            kernel.acked = acked;
            kernel.avoid(&mut window);
            assert_eq!((window.cwnd() - before, kernel.counted), (grown, left));
        }
    }
}
