//! BIC of NIST's study: a search between two windows. Its steps are from the comparison of Li, Leith and Shorten (ToN
//! 15(5), 2007), who took them from Linux.
//!
//! NIST SP 500-282, equations 9 to 12. Probing beyond the peak ends when the step reaches its maximum, as in the
//! published algorithm; NIST's report has a different condition.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, restart};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::window::Window;

/// Divisor of the distance from the window to its target (B in the study); the quotient is the growth per round trip.
const DIVISOR: f64 = 4.0;

/// State of BIC for one flow, in the variant of NIST's study.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BicNist {
    low_window: f64,
    max_increment: f64,
    min_increment: f64,
    decrease: f64,
    fast_convergence: bool,
    /// Upper end of the search for the window, in segments.
    max: f64,
    /// Lower end of the search for the window, in segments.
    min: f64,
    /// Window that the search aims at.
    target: f64,
    /// Value of `max` that the last congestion signal or timeout set, in segments.
    last_max: f64,
    /// State of probing beyond the peak; `None` during the search.
    probe: Option<Probe>,
}

/// Step of the probing beyond the peak, and the window at which the step grows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Probe {
    step: f64,
    until: f64,
}

impl BicNist {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            low_window: settings.get("low_window"),
            max_increment: settings.get("max_increment"),
            min_increment: settings.get("min_increment"),
            decrease: settings.get("decrease"),
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            max: 0.0,
            min: 0.0,
            target: 0.0,
            last_max: 0.0,
            probe: None,
        }
    }

    /// Returns the growth of the window by BIC's search, in segments per round trip (equation 10).
    fn increase(&self, cwnd: f64) -> f64 {
        let below = self.target - cwnd;
        let delta = below / DIVISOR;
        if (below > 0.0 && delta < 1.0) || (below <= 0.0 && -below < DIVISOR) {
            self.min_increment
        } else if below > 0.0 && delta < self.max_increment {
            delta
        } else if -below > DIVISOR && -below < self.max_increment * (DIVISOR - 1.0) {
            self.target / (DIVISOR - 1.0)
        } else {
            self.max_increment
        }
    }

    /// Grows a window of at least `low_window` for an acknowledgement of `credit` segments (equation 9).
    fn search(&mut self, credit: f64, window: &mut Window) {
        let cwnd = window.cwnd();
        let Some(mut probe) = self.probe else {
            window.grow(self.increase(cwnd) * credit / cwnd);
            let cwnd = window.cwnd();
            if cwnd < self.max {
                self.min = cwnd;
                self.target = (self.max + self.min) / 2.0;
            } else {
                self.max = 2.0 * cwnd;
                self.probe = Some(Probe {
                    step: 1.0,
                    until: cwnd + 1.0,
                });
            }
            return;
        };
        window.grow(probe.step * credit / cwnd);
        if window.cwnd() >= probe.until {
            probe.step *= DIVISOR / (DIVISOR - 1.0);
            probe.until = window.cwnd() + probe.step;
        }
        if probe.step >= self.max_increment {
            self.probe = None;
            self.target = (self.max + self.min) / 2.0;
        } else {
            self.probe = Some(probe);
        }
    }

    /// Restarts the search after a congestion signal at `base` segments, and sets its upper end (equation 11).
    fn end_epoch(&mut self, base: f64) {
        let lower = self.fast_convergence && base < self.last_max;
        self.max = if lower {
            base * (2.0 - self.decrease) / 2.0
        } else {
            base
        };
        self.last_max = self.max;
        self.target = 0.0;
        self.probe = None;
    }
}

impl CongestionControl for BicNist {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase != Phase::Avoidance {
            return;
        }
        let cwnd = window.cwnd();
        if cwnd < self.low_window {
            window.grow(ack.credit / cwnd);
        } else {
            self.search(ack.credit, window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.end_epoch(event.base);
        let decrease = if event.base < self.low_window {
            0.5
        } else {
            self.decrease
        };
        window.reduce_to(event.base * (1.0 - decrease));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.end_epoch(event.base);
        restart(event, window);
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        window.cwnd() >= self.low_window
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("peak", self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bic::ENTRY;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    fn bic() -> BicNist {
        BicNist::new(&ENTRY.settings(Variant::Nist, &[]).unwrap())
    }

    /// Compares steps at a window of 900 segments with equation 10 of NIST SP 500-282, for various targets.
    #[test]
    fn the_step_follows_the_distance_from_the_target() {
        for (target, expected) in [
            (902.0, 0.2),
            (920.0, 5.0),
            (1000.0, 25.0),
            (1100.0, 32.0),
            (900.0, 0.2),
            (899.0, 0.2),
            // The next case of the equation begins more than 4 segments beyond the target, the last one at
            // 32 (4 - 1) = 96 segments.
            (896.0, 32.0),
            (840.0, 280.0),
            (804.0, 32.0),
            (0.0, 32.0),
        ] {
            let bic = BicNist { target, ..bic() };
            assert_eq!(bic.increase(900.0), expected, "{target}");
        }
    }

    /// Checks that each step beyond the peak is a third larger than the step before, up to the maximum of 32 segments
    /// (equation 9).
    #[test]
    fn steps_beyond_the_peak_grow_by_a_third() {
        let mut bic = bic();
        let mut window = Window::new(200.0, 2.0, 1e6, Rounding::Real);
        // The first target is zero, so that the first acknowledgement adds 32 / 200 segments.
        bic.search(1.0, &mut window);
        assert_eq!(window.cwnd(), 200.16);
        let mut steps = Vec::new();
        while let Some(probe) = bic.probe {
            if steps.last() != Some(&probe.step) {
                steps.push(probe.step);
            }
            bic.search(1.0, &mut window);
        }
        // The last step is 31.57 segments; the next one would exceed 32.
        assert_eq!(steps.len(), 13);
        for (number, step) in steps.into_iter().enumerate() {
            assert!((step - libm::pow(4.0 / 3.0, number as f64)).abs() < 1e-9);
        }
        assert_eq!(bic.target, (2.0 * 200.16 + 0.0) / 2.0);
    }

    /// Checks that the peak becomes the window at a congestion signal, or nine tenths of the window if the window is
    /// below the last peak (equation 11).
    #[test]
    fn a_flow_that_loses_ground_aims_lower() {
        for (cwnd, before, after) in [(1058.0, 1000.0, 1058.0), (1000.0, 1058.0, 900.0)] {
            let mut bic = bic();
            bic.last_max = before;
            bic.end_epoch(cwnd);
            assert_eq!((bic.max, bic.last_max, bic.target), (after, after, 0.0));
        }
    }
}
