//! CUBIC of RFC 9438 in real numbers, and CUBIC of Linux 2.6.22 (tcp_cubic.c).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::ack_ratio::AckRatio;
use crate::backoff::Backoff;
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{Settings, Variant};
use crate::window::Window;

/// Maximum growth of the window beyond the plateau, in segments per second (Linux 2.6.22).
const LINUX_GROWTH: f64 = 160.0;

/// Number of acknowledgements for one segment of growth of the Reno-friendly window, as a multiple of the window. For
/// `b` = 819/1024, the multiple is `(1 + b) / (3 (1 - b))`; Linux 2.6.22 rounds it down to eighths (`beta_scale`).
const LINUX_STANDARD_ACKS: f64 = 23.0 / 8.0;

/// State of CUBIC for one flow, in the variants of RFC 9438 and of Linux 2.6.22.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RealCubic {
    scale: f64,
    backoff: Backoff,
    fast_convergence: bool,
    linux: bool,
    timestamps: bool,
    /// Window at the last reduction, lowered by fast convergence; zero before the first reduction and after a timeout.
    peak: f64,
    /// Window at the last congestion event.
    prior: f64,
    /// The current epoch of congestion avoidance; `None` before its first acknowledgement.
    epoch: Option<Epoch>,
    /// Time of the last acknowledgement, even if it may not enlarge the window.
    heard: Time,
    /// Time of the acknowledgement before the last one.
    heard_before: Time,
    /// Estimate of the number of segments per acknowledgement; used in the variant of Linux only.
    ack_ratio: AckRatio,
}

/// An epoch of congestion avoidance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Epoch {
    start: Time,
    /// Time of the last acknowledgement in congestion avoidance; not updated in the variant of Linux.
    grown: Time,
    /// Window at which the cubic is flat.
    plateau: f64,
    /// Time from the start to the plateau, in seconds.
    until_plateau: f64,
    /// Window of the AIMD flow that has the same mean window as standard TCP.
    standard: f64,
}

impl RealCubic {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            scale: settings.get("scale"),
            backoff: Backoff::new(settings),
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            linux: settings.variant() == Variant::Linux2_6_22,
            timestamps: settings.get("timestamps") >= 0.5,
            peak: 0.0,
            prior: 0.0,
            epoch: None,
            heard: Time::ZERO,
            heard_before: Time::ZERO,
            ack_ratio: AckRatio::NEW,
        }
    }

    /// Returns the epoch that begins at the first acknowledgement of congestion avoidance (RFC 9438 section 4.2).
    fn begin(&self, now: Time, cwnd: f64) -> Epoch {
        let plateau = self.peak.max(cwnd);
        let until_plateau = libm::cbrt((plateau - cwnd) / self.scale);
        Epoch {
            start: now,
            grown: now,
            plateau,
            until_plateau,
            standard: cwnd,
        }
    }

    /// Returns the window of the cubic function, `t` seconds after the start of the epoch (RFC 9438 equation 1).
    fn window_at(&self, epoch: &Epoch, t: f64) -> f64 {
        let x = t - epoch.until_plateau;
        epoch.plateau + self.scale * x * x * x
    }

    /// Returns the number of segments that an acknowledgement adds. The acknowledgements of a round trip together raise
    /// the window to the cubic function's value one round trip later, at most by half (RFC 9438 section 4.2).
    fn step(&self, epoch: &Epoch, t: f64, cwnd: f64, ack: &AckSample) -> f64 {
        let target = self.window_at(epoch, t + ack.srtt.as_secs_f64());
        (target.clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd * ack.credit
    }

    /// Returns the number of segments, at most one, that an acknowledgement adds in Linux 2.6.22 (`bictcp_update`).
    fn linux_step(&self, epoch: &Epoch, t: f64, cwnd: f64, ack: &AckSample) -> f64 {
        let segments = self.ack_ratio.segments();
        if self.peak == 0.0 {
            return segments / 50.0;
        }
        let min_rtt = if self.timestamps {
            ack.min_rtt.as_secs_f64()
        } else {
            0.0
        };
        let mut growth = (self.window_at(epoch, t + min_rtt) - cwnd).max(0.01);
        if min_rtt > 0.0 && t + min_rtt >= epoch.until_plateau {
            growth = growth.min(LINUX_GROWTH * min_rtt);
        }
        (growth * segments / cwnd).min(1.0)
    }

    /// Returns the growth of the Reno-friendly window for `credit` acknowledged segments (RFC 9438 section 4.3). Once
    /// this window is as large as the window before the last reduction, it grows as in standard TCP. In Linux 2.6.22,
    /// it never does, and each acknowledgement counts once, whatever its `credit`.
    fn standard_step(&self, epoch: &Epoch, cwnd: f64, credit: f64) -> f64 {
        if self.linux {
            return 1.0 / (LINUX_STANDARD_ACKS * cwnd);
        }
        let increase = if epoch.standard < self.prior {
            3.0 * self.backoff.loss / (2.0 - self.backoff.loss)
        } else {
            1.0
        };
        increase * credit / cwnd
    }

    /// Stores the window at a congestion event, and returns the window after a loss.
    fn reduce_cwnd(&mut self, base: f64) -> f64 {
        self.remember(base);
        base * (1.0 - self.backoff.loss)
    }

    /// Stores `base` as the prior window and as the peak, or a lower peak if fast convergence applies (RFC 9438 section
    /// 4.7). Ends the epoch.
    fn remember(&mut self, base: f64) {
        let lower = self.fast_convergence && base < self.peak;
        self.peak = if lower {
            base * (2.0 - self.backoff.loss) / 2.0
        } else {
            base
        };
        self.prior = base;
        self.epoch = None;
    }
}

impl Epoch {
    /// Excludes from the epoch the time in which acknowledgements could not enlarge the window, mostly because the
    /// window did not limit the flow (RFC 9438 sections 4.2 and 5.8). `heard_before` is the time of the previous
    /// acknowledgement.
    #[inline]
    fn skip_limited(&mut self, heard_before: Time, now: Time) {
        if heard_before > self.grown {
            self.start += heard_before.since(self.grown);
        }
        self.grown = now;
    }
}

impl RealCubic {
    pub(super) fn constants(&self) -> (f64, f64) {
        (self.scale, self.backoff.loss)
    }

    #[inline(always)]
    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.heard_before = std::mem::replace(&mut self.heard, ack.now);
        if phase != Phase::Avoidance {
            return;
        }
        let cwnd = window.cwnd();
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now, cwnd),
        };
        if !self.linux {
            epoch.skip_limited(self.heard_before, ack.now);
        }
        epoch.standard += self.standard_step(&epoch, cwnd, ack.credit);
        let t = ack.now.since(epoch.start).as_secs_f64();
        let step = if self.linux {
            self.ack_ratio.observe(ack.acked);
            Self::linux_step
        } else {
            Self::step
        };
        let cubic = cwnd + step(self, &epoch, t, cwnd, ack);
        window.set_cwnd(cubic.max(epoch.standard));
        self.epoch = Some(epoch);
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.remember(event.base);
        window.reduce_to(event.base * (1.0 - self.backoff.at(event)));
    }

    /// Processes a timeout (RFC 9438 section 4.8). The threshold is reduced as after a loss. The peak is forgotten, so
    /// the plateau of the next epoch is the first window of that epoch.
    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let target = self.reduce_cwnd(event.base);
        self.peak = 0.0;
        self.ack_ratio = AckRatio::NEW;
        if !event.keep_ssthresh {
            window.set_ssthresh(target);
        }
        window.restart();
    }

    pub(super) fn on_idle(&mut self, idle: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("peak", self.peak);
        if let Some(epoch) = &self.epoch {
            out("standard_window", epoch.standard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::window::Rounding;

    const ACK: AckSample = AckSample {
        srtt: Span::from_millis(100),
        min_rtt: Span::from_millis(100),
        ..AckSample::ONE_SEGMENT
    };

    fn cubic(variant: Variant) -> RealCubic {
        RealCubic::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    #[test]
    fn the_cubic_is_back_at_the_peak_after_k_seconds() {
        // RFC 9438 equation 2: K = cbrt((W_max - cwnd) / C) is 9.0856 s from 700 up to 1000 segments.
        let mut cubic = cubic(Variant::Paper);
        let left = cubic.reduce_cwnd(1000.0);
        assert_eq!(left, 700.0);
        let epoch = cubic.begin(Time::ZERO, left);
        assert!((epoch.until_plateau - 9.0856).abs() < 1e-4);
        assert!((cubic.window_at(&epoch, 0.0) - 700.0).abs() < 1e-9);
        assert!((cubic.window_at(&epoch, 9.0856) - 1000.0).abs() < 1e-6);
        assert!((cubic.window_at(&epoch, 9.0856 + 5.0) - 1050.0).abs() < 1e-2);
    }

    /// Checks that a pause in the growth does not count as time of the epoch (RFC 9438 section 5.8). From 2 to 7 s,
    /// acknowledgements may not enlarge the window. Afterwards, the window grows as if there had been no pause.
    #[test]
    fn time_without_growth_does_not_count() {
        let run = |limited: std::ops::Range<u64>, until: u64| {
            let mut cubic = cubic(Variant::Paper);
            let mut window = Window::new(1000.0, 2.0, 1e6, Rounding::Real);
            let left = cubic.reduce_cwnd(1000.0);
            window.reduce_to(left);
            for number in 0..until {
                let ack = AckSample {
                    now: Time::ZERO + Span::from_millis(10 * number),
                    acked: 70,
                    credit: 70.0,
                    ..ACK
                };
                let phase = if limited.contains(&number) {
                    Phase::NoGrowth
                } else {
                    Phase::Avoidance
                };
                cubic.on_ack(&ack, phase, &mut window);
            }
            window.cwnd()
        };
        let unlimited = run(0..0, 300);
        assert!((800.0..950.0).contains(&unlimited), "{unlimited}");
        let limited = run(200..700, 800);
        assert!((limited - unlimited).abs() < 1.0, "{limited}, {unlimited}");
    }

    #[test]
    fn fast_convergence_lowers_the_peak_of_a_flow_that_loses_ground() {
        let mut cubic = cubic(Variant::Paper);
        cubic.reduce_cwnd(1000.0);
        cubic.reduce_cwnd(800.0);
        assert!((cubic.peak - 800.0 * 1.7 / 2.0).abs() < 1e-9);
        cubic.reduce_cwnd(900.0);
        assert_eq!(cubic.peak, 900.0);
    }

    #[test]
    fn linux_2_6_22_keeps_four_fifths() {
        // Linux 2.6.22, tcp_cubic.c: with beta 819/1024, a window with a peak of 6510 packets reaches the peak again
        // after 14.8 s.
        let mut cubic = cubic(Variant::Linux2_6_22);
        let left = cubic.reduce_cwnd(6510.0);
        assert!((left - 6510.0 * 819.0 / 1024.0).abs() < 1e-9);
        assert!((cubic.begin(Time::ZERO, left).until_plateau - 14.8).abs() < 0.05);
    }
}
