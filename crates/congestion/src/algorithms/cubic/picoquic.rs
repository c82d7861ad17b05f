//! CUBIC of picoquic (picoquic/cubic.c, August 2026). The window is that of the cubic or of standard TCP, whichever is
//! larger. A reduction keeps 7/8 of the window, or 49/64 if fast convergence also lowers the plateau. The first slow
//! start ends when round-trip times grow; the window at that time is the first plateau. Losses of segments sent before
//! this time are ignored.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::backoff::Backoff;
use crate::facts::{AckSample, Congestion, Limit, Phase, Timeout};
use crate::parameter::Settings;
use crate::window::Window;

/// State of picoquic's CUBIC for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PicoquicCubic {
    scale: f64,
    backoff: Backoff,
    fast_convergence: bool,
    /// Window at the last reduction, or at the end of the first slow start (`W_last_max`); infinite before.
    last_peak: f64,
    /// Plateau for the stage that follows the slow start after a timeout; `None` outside this slow start.
    after_timeout: Option<f64>,
    /// Number of segments that had been sent when the first slow start ended (`recovery_sequence`).
    sent_in_slow_start: u64,
    stage: Option<Stage>,
}

/// A stage of congestion avoidance, with a single cubic function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stage {
    start: Time,
    /// Window at which the cubic is flat (`W_max`).
    plateau: f64,
    /// Time from `start` to the plateau, in seconds (`K`).
    until_plateau: f64,
    /// Window that standard TCP would have in this stage (`W_reno`). Its initial value is half of the window that the
    /// flow had just before the stage.
    standard: f64,
}

impl Stage {
    /// Returns the cubic's window at the time `now`.
    fn window_at(&self, scale: f64, now: Time) -> f64 {
        let x = now.since(self.start).as_secs_f64() - self.until_plateau;
        self.plateau + scale * x * x * x
    }
}

impl PicoquicCubic {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            scale: settings.get("scale"),
            backoff: Backoff::new(settings),
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            last_peak: f64::INFINITY,
            after_timeout: None,
            sent_in_slow_start: 0,
            stage: None,
        }
    }

    /// Returns true if losses must be ignored: a delay has ended the first slow start, and segments of this slow start
    /// may still be in flight. `settled` is the number of segments known to be delivered or lost.
    pub(super) fn ignores_losses(&self, settled: u64) -> bool {
        settled <= self.sent_in_slow_start
    }

    pub(super) fn constants(&self) -> (f64, f64) {
        (self.scale, self.backoff.loss)
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if ack.limit != Limit::Network {
            self.on_idle(ack.now);
        }
        if phase != Phase::Avoidance {
            return;
        }
        let cwnd = window.cwnd();
        let mut stage = match self.stage {
            Some(stage) => stage,
            None => self.begin_after_slow_start(ack, cwnd),
        };
        stage.standard += ack.credit / stage.standard;
        let cubic = stage.window_at(self.scale, ack.now);
        window.set_cwnd(cubic.max(stage.standard));
        self.stage = Some(stage);
    }

    /// Moves the start of the stage to `now`, so that the cubic begins again. Until then, the flow was limited by
    /// something other than the window (`last_sender_limited_time`).
    pub(super) fn on_idle(&mut self, now: Time) {
        if let Some(stage) = &mut self.stage {
            stage.start = stage.start.max(now);
        }
    }

    /// Returns the stage that follows a slow start. After the first slow start, the plateau is the current window
    /// `cwnd`. After a timeout, the window begins below the plateau, as after a reduction.
    fn begin_after_slow_start(&mut self, ack: &AckSample, cwnd: f64) -> Stage {
        match self.after_timeout.take() {
            Some(plateau) => self.begin(ack.now, plateau, self.backoff.loss, cwnd / 2.0),
            None => {
                self.last_peak = cwnd;
                self.sent_in_slow_start = ack.delivered + ack.lost + ack.in_flight;
                self.begin(ack.now, cwnd, 0.0, cwnd / 2.0)
            }
        }
    }

    /// Returns a stage that begins at `now`, after a reduction of the window from `plateau` by the fraction `decrease`.
    /// `standard` is standard TCP's window at the start of the stage (`cubic_enter_avoidance`).
    fn begin(&self, now: Time, plateau: f64, decrease: f64, standard: f64) -> Stage {
        Stage {
            start: now,
            plateau,
            until_plateau: libm::cbrt(plateau * decrease / self.scale),
            standard,
        }
    }

    /// Stores the window `base` at a congestion event as the peak. Returns the plateau of the next stage: `base`, or
    /// less if fast convergence applies (`cubic_enter_recovery`).
    fn lower_peak(&mut self, base: f64, decrease: f64) -> f64 {
        let lower = self.fast_convergence && base < self.last_peak;
        self.last_peak = base;
        if lower { base * (1.0 - decrease) } else { base }
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let decrease = self.backoff.at(event);
        let plateau = self.lower_peak(event.base, decrease);
        self.stage = Some(self.begin(event.now, plateau, decrease, event.base / 2.0));
        self.after_timeout = None;
        window.reduce_to(plateau * (1.0 - decrease));
    }

    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let decrease = self.backoff.loss;
        if !event.keep_ssthresh {
            let plateau = self.lower_peak(event.base, decrease);
            self.after_timeout = Some(plateau);
            window.set_ssthresh(plateau * (1.0 - decrease));
        }
        self.stage = None;
        window.restart();
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(stage) = &self.stage {
            out("peak", stage.plateau);
            out("standard_window", stage.standard);
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::super::ENTRY;
    use super::*;
    use crate::facts::Cause;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    fn cubic() -> PicoquicCubic {
        PicoquicCubic::new(&ENTRY.settings(Variant::Picoquic, &[]).unwrap())
    }

    fn window(cwnd: f64) -> Window {
        Window::new(cwnd, 2.0, 1e6, Rounding::Real)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn acked(cubic: &mut PicoquicCubic, window: &mut Window, ms: u64) -> f64 {
        let ack = AckSample {
            now: at(ms),
            ..AckSample::ONE_SEGMENT
        };
        cubic.on_ack(&ack, Phase::Avoidance, window);
        window.cwnd()
    }

    fn lose(cubic: &mut PicoquicCubic, window: &mut Window, ms: u64) -> f64 {
        let event = Congestion {
            now: at(ms),
            cause: Cause::Loss,
            base: window.cwnd(),
            in_flight: 0,
            in_slow_start: false,
            first: false,
        };
        cubic.on_congestion(&event, window);
        window.cwnd()
    }

    /// Checks that the window follows the cubic: it grows from 100 to 100 + 0.4 * 5^3 = 150 segments in five seconds
    /// after slow start, and from 875 back to 1000 segments in (125 / 0.4)^(1/3) = 6.7860 s after a reduction.
    #[test]
    fn the_window_is_the_cubic() {
        let (mut cubic, mut window) = (cubic(), window(100.0));
        assert_eq!(acked(&mut cubic, &mut window, 1_000), 100.0);
        assert!((acked(&mut cubic, &mut window, 6_000) - 150.0).abs() < 1e-9);
        window.set_cwnd(1_000.0);
        assert_eq!(lose(&mut cubic, &mut window, 7_000), 875.0);
        assert!((acked(&mut cubic, &mut window, 7_000) - 875.0).abs() < 1e-9);
        assert!((acked(&mut cubic, &mut window, 13_786) - 1_000.0).abs() < 1e-6);
    }

    /// Checks that, by fast convergence, a reduction below the last peak leaves 49/64 of the window instead of 7/8.
    /// Before the first reduction, the last peak is infinite, so the first reduction also leaves 49/64.
    #[test]
    fn fast_convergence_lowers_the_window() {
        let (mut cubic, mut window) = (cubic(), window(64.0));
        assert_eq!(lose(&mut cubic, &mut window, 1_000), 49.0);
        window.set_cwnd(64.0);
        assert_eq!(lose(&mut cubic, &mut window, 2_000), 56.0);
        assert_eq!(lose(&mut cubic, &mut window, 3_000), 42.875);
    }

    #[test]
    fn time_in_which_something_else_limits_does_not_count() {
        let (mut cubic, mut window) = (cubic(), window(100.0));
        lose(&mut cubic, &mut window, 1_000);
        let ack = AckSample {
            now: at(9_000),
            limit: Limit::Application,
            ..AckSample::ONE_SEGMENT
        };
        let before = window.cwnd();
        cubic.on_ack(&ack, Phase::NoGrowth, &mut window);
        assert!((acked(&mut cubic, &mut window, 9_000) - before).abs() < 1e-9);
    }

    /// A delay ends slow start when 300 segments have been sent; losses of these 300 segments do not count.
    #[test]
    fn losses_of_a_slow_start_that_a_delay_ended_do_not_count() {
        let (mut cubic, mut window) = (cubic(), window(100.0));
        assert!(!cubic.ignores_losses(1));
        let ack = AckSample {
            now: at(1_000),
            delivered: 200,
            in_flight: 100,
            ..AckSample::ONE_SEGMENT
        };
        cubic.on_ack(&ack, Phase::Avoidance, &mut window);
        assert!(cubic.ignores_losses(300));
        assert!(!cubic.ignores_losses(301));
    }

    /// Checks that, after a timeout, congestion avoidance begins at 7/8 of its plateau, as after a loss. The plateau is
    /// the window before the timeout.
    #[test]
    fn a_timeout_restarts_towards_the_reduced_window() {
        let (mut cubic, mut window) = (cubic(), window(100.0));
        acked(&mut cubic, &mut window, 500);
        let timeout = Timeout {
            now: at(1_000),
            base: 100.0,
            keep_ssthresh: false,
            sent: 0,
        };
        cubic.on_timeout(&timeout, &mut window);
        assert_eq!((window.cwnd(), window.ssthresh()), (1.0, 87.5));
        window.set_cwnd(87.5);
        assert!((acked(&mut cubic, &mut window, 2_000) - 87.5).abs() < 1e-9);
    }
}
