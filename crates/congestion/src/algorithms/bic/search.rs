//! BIC of the paper (Xu, Harfoush and Rhee, INFOCOM 2004), and of Linux 2.6.22.
//!
//! In variant linux-2.6.22, the growth depends on the distance to the peak: it slows down towards the peak, and speeds
//! up beyond it. The growth is per acknowledgement; it is multiplied by the estimated number of segments per
//! acknowledgement, since a receiver that delays acknowledgements sends fewer of them.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::ack_ratio::AckRatio;
use crate::congestion_control::{CongestionControl, restart};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{Settings, Variant};
use crate::window::Window;

/// Divisor in Linux: the window grows per round trip by the distance to the peak, divided by this number.
const LINUX_DIVISOR: f64 = 4.0;

/// State of BIC for one flow, in the variants of the paper and of Linux 2.6.22.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BinarySearch {
    low_window: f64,
    max_increment: f64,
    min_increment: f64,
    decrease: f64,
    fast_convergence: bool,
    linux: bool,
    /// Window at the last reduction, lowered by fast convergence. Zero before the first reduction and after a timeout.
    peak: f64,
    /// State of probing beyond the peak; `None` during the search.
    probe: Option<Probe>,
    /// Estimate of the number of segments per acknowledgement; used in the variant of Linux only.
    ack_ratio: AckRatio,
}

/// State of the growth beyond the peak. The step doubles every round trip, as in slow start.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Probe {
    step: f64,
    /// Window at which the step doubles.
    until: f64,
}

impl BinarySearch {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            low_window: settings.get("low_window"),
            max_increment: settings.get("max_increment"),
            min_increment: settings.get("min_increment"),
            decrease: settings.get("decrease"),
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            linux: settings.variant() == Variant::Linux2_6_22,
            peak: 0.0,
            probe: None,
            ack_ratio: AckRatio::NEW,
        }
    }

    /// Returns the growth of the paper's variant, in segments per round trip; `cwnd` is the lower end of the search.
    fn increase(&mut self, cwnd: f64) -> f64 {
        if cwnd < self.peak {
            let half = (self.peak - cwnd) / 2.0;
            return half.max(self.min_increment).min(self.max_increment);
        }
        let mut probe = self.probe.unwrap_or(Probe {
            step: 1.0,
            until: cwnd + 1.0,
        });
        if cwnd >= probe.until {
            probe.step = (2.0 * probe.step).min(self.max_increment);
            probe.until = cwnd + probe.step;
        }
        self.probe = Some(probe);
        probe.step.min(self.max_increment)
    }

    /// Returns the growth in Linux 2.6.22, in segments per round trip. Below the peak, it is a quarter of the distance
    /// to the peak, in whole segments. Beyond the peak, it is a third of the distance from the peak. It is at most
    /// `max_increment`. Less than eight segments below the peak or less than four beyond it, it is `min_increment`.
    fn linux_increase(&self, cwnd: f64) -> f64 {
        let beyond = libm::floor(cwnd) - self.peak;
        let step = if beyond < 0.0 {
            let part = libm::floor(-beyond / LINUX_DIVISOR);
            if part <= 1.0 {
                self.min_increment
            } else {
                part.min(self.max_increment)
            }
        } else if beyond < LINUX_DIVISOR {
            self.min_increment
        } else {
            (beyond / (LINUX_DIVISOR - 1.0)).min(self.max_increment)
        };
        // Before the first loss and after a timeout, the window grows by at least a twentieth per round trip.
        if self.peak == 0.0 {
            step.max(cwnd / 20.0)
        } else {
            step
        }
    }

    /// Returns the number of segments, at most one, that an acknowledgement adds in Linux 2.6.22. Up to `low_window`,
    /// each acknowledgement counts as one segment, even if it covers several (`bictcp_update`).
    fn linux_step(&mut self, ack: &AckSample, cwnd: f64) -> f64 {
        self.ack_ratio.observe(ack.acked);
        if self.is_standard(cwnd) {
            return 1.0 / cwnd;
        }
        (self.linux_increase(cwnd) * self.ack_ratio.segments() / cwnd).min(1.0)
    }

    /// Returns the growth of the window in the paper's variant for `credit` acknowledged segments, in segments.
    fn paper_step(&mut self, credit: f64, cwnd: f64) -> f64 {
        let increase = if self.is_standard(cwnd) {
            1.0
        } else {
            self.increase(cwnd)
        };
        increase * credit / cwnd
    }

    /// Returns true if BIC behaves like standard TCP at this window: below the low window, and in Linux also at the low
    /// window itself.
    fn is_standard(&self, cwnd: f64) -> bool {
        cwnd < self.low_window || self.linux && cwnd == self.low_window
    }

    /// Returns the window after a reduction from `base` segments. Also stores the peak for the next binary search.
    fn reduce_cwnd(&mut self, base: f64) -> f64 {
        let kept = 1.0 - self.decrease;
        let lower = self.fast_convergence && base < self.peak;
        let peak = if lower {
            base * (1.0 + kept) / 2.0
        } else {
            base
        };
        self.peak = if self.linux { libm::floor(peak) } else { peak };
        self.probe = None;
        if self.is_standard(base) {
            base / 2.0
        } else {
            base * kept
        }
    }
}

impl CongestionControl for BinarySearch {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase != Phase::Avoidance {
            return;
        }
        let cwnd = window.cwnd();
        let step = if self.linux {
            self.linux_step(ack, cwnd)
        } else {
            self.paper_step(ack.credit, cwnd)
        };
        window.grow(step);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let target = self.reduce_cwnd(event.base);
        window.reduce_to(target);
    }

    /// Restarts the search. Linux discards everything; the paper does not define this case.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let target = self.reduce_cwnd(event.base);
        self.peak = 0.0;
        self.ack_ratio = AckRatio::NEW;
        if !self.linux {
            restart(event, window);
            return;
        }
        if !event.keep_ssthresh {
            window.set_ssthresh(target);
        }
        window.restart();
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        !self.is_standard(window.cwnd())
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("peak", self.peak);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;

    fn bic(variant: Variant) -> BinarySearch {
        BinarySearch::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    #[test]
    fn the_search_halves_its_distance_to_the_peak_each_round_trip() {
        let mut bic = bic(Variant::Paper);
        let left = bic.reduce_cwnd(800.0);
        assert_eq!(left, 700.0);
        // The middle of 700 and 800 is 50 segments away, which is more than S_max; after that, each step is half of the
        // rest.
        assert_eq!(bic.increase(700.0), 32.0);
        assert_eq!(bic.increase(740.0), 30.0);
        assert_eq!(bic.increase(790.0), 5.0);
        assert_eq!(bic.increase(799.99), 0.01);
    }

    #[test]
    fn beyond_the_peak_the_steps_double_up_to_the_largest() {
        let mut bic = bic(Variant::Paper);
        bic.reduce_cwnd(800.0);
        let steps: Vec<f64> = [800.0, 801.0, 803.0, 807.0, 815.0, 831.0, 863.0, 895.0]
            .into_iter()
            .map(|cwnd| bic.increase(cwnd))
            .collect();
        assert_eq!(steps, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0]);
    }

    #[test]
    fn fast_convergence_lowers_the_peak_of_a_flow_that_loses_ground() {
        let mut bic = bic(Variant::Paper);
        bic.reduce_cwnd(1000.0);
        assert_eq!(bic.reduce_cwnd(800.0), 700.0);
        assert_eq!(bic.peak, 800.0 * (2.0 - 0.125) / 2.0);
    }

    #[test]
    fn linux_steps_follow_its_three_regions() {
        let mut bic = bic(Variant::Linux2_6_22);
        assert_eq!(bic.reduce_cwnd(10.0), 5.0);
        bic.peak = 1000.0;
        let cases = [
            (900.0, 16.0),
            (960.0, 10.0),
            (992.9, 2.0),
            (993.0, 0.2),
            (987.0, 3.0),
            (997.0, 0.2),
            (1003.0, 0.2),
            (1012.0, 4.0),
            (1100.0, 16.0),
        ];
        for (cwnd, expected) in cases {
            assert_eq!(bic.linux_increase(cwnd), expected, "{cwnd}");
        }
    }
}
