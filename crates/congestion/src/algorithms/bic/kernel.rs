//! BIC of a current kernel (Linux 6.18, `tcp_bic.c`). Windows are whole segments: the window grows by one after a
//! number of acknowledged segments. The kernel divides this number by its estimate for delayed acknowledgements,
//! although it already counts all segments that an acknowledgement covers. The window therefore grows nearly twice as
//! fast as intended, with or without delayed acknowledgements.

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use crate::ack_ratio::AckRatio;
use crate::congestion_control::CongestionControl;
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::Settings;
use crate::whole_windows::{Counted, HZ, Reducing, reduce, ticks};
use crate::window::Window;

/// Denominator of fractions (`BICTCP_BETA_SCALE`).
const UNIT: u64 = 1024;

/// Divisor of the distance to the peak; the quotient is the growth per round trip (`BICTCP_B`).
const DIVISOR: u64 = 4;

/// Maximum number of acknowledged segments per segment of growth while the peak is unknown: until the first loss, and
/// after a timeout. The estimate for delayed acknowledgements divides this number, too.
const UNKNOWN_PEAK: u64 = 20;

/// State of the kernel's BIC for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelBic {
    low_window: u64,
    max_increment: u64,
    /// Number of round trips in which a window close to the peak grows by `DIVISOR` segments (`smooth_part`).
    smooth_part: u64,
    /// Fraction of the window that is kept after a loss, in 1024ths.
    kept: u64,
    fast_convergence: bool,
    peak: u64,
    per_segment: u64,
    counted: Counted,
    /// Window and clock tick for which `update` last computed its result.
    computed: (u64, u64),
    ack_ratio: AckRatio,
    reducing: Reducing,
}

impl KernelBic {
    pub(super) fn new(settings: &Settings) -> Self {
        let kept = libm::round((1.0 - settings.get("decrease")) * UNIT as f64) as u64;
        let least = settings.get("min_increment");
        Self {
            low_window: settings.get("low_window") as u64,
            max_increment: (settings.get("max_increment") as u64).max(1),
            smooth_part: (libm::round(DIVISOR as f64 / least) as u64).max(1),
            kept: kept.clamp(1, UNIT - 1),
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            peak: 0,
            per_segment: 0,
            counted: Counted::default(),
            computed: (0, 0),
            ack_ratio: AckRatio::NEW,
            reducing: Reducing::default(),
        }
    }

    /// Updates the number of segments that must be acknowledged before the window grows by one (`bictcp_update`).
    fn update(&mut self, cwnd: u64, now: u64) {
        let (window, at) = self.computed;
        if window == cwnd && now - at <= HZ / 32 {
            return;
        }
        self.computed = (cwnd, now);
        if cwnd <= self.low_window {
            self.per_segment = cwnd;
            return;
        }
        let mut per_segment = self.searched(cwnd);
        if self.peak == 0 {
            per_segment = per_segment.min(UNKNOWN_PEAK);
        }
        self.per_segment = self.ack_ratio.divide(per_segment).max(1);
    }

    /// Returns the number of segments that must be acknowledged before the window grows by one. It follows from the
    /// distance of the window to the peak.
    fn searched(&self, cwnd: u64) -> u64 {
        let slowly = cwnd * self.smooth_part / DIVISOR;
        if cwnd < self.peak {
            return match (self.peak - cwnd) / DIVISOR {
                0 | 1 => slowly,
                part => cwnd / part.min(self.max_increment),
            };
        }
        let beyond = cwnd - self.peak;
        if beyond < DIVISOR {
            slowly
        } else if beyond < self.max_increment * (DIVISOR - 1) {
            cwnd * (DIVISOR - 1) / beyond
        } else {
            cwnd / self.max_increment
        }
    }

    /// Returns the window after a reduction, and stores the peak (`bictcp_recalc_ssthresh`).
    fn reduced(&mut self, base: f64) -> f64 {
        let cwnd = base as u64;
        let lower = self.fast_convergence && cwnd < self.peak;
        self.peak = if lower {
            cwnd * (UNIT + self.kept) / (2 * UNIT)
        } else {
            cwnd
        };
        let left = if cwnd <= self.low_window {
            cwnd / 2
        } else {
            cwnd * self.kept / UNIT
        };
        left.max(2) as f64
    }
}

impl CongestionControl for KernelBic {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if self.reducing.is_open() {
            self.ack_ratio.observe(ack.acked);
        }
        self.reducing.on_ack(ack);
        if phase != Phase::Avoidance {
            return;
        }
        self.update(window.cwnd() as u64, ticks(ack.now));
        let more = self.counted.add(self.per_segment, ack.credit as u64);
        if more > 0 {
            window.grow(more as f64);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.reducing.begin(event);
        self.counted = Counted::default();
        let target = self.reduced(event.base);
        reduce(window, target);
    }

    /// Discards everything learnt about the path (`bictcp_state`).
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.reducing.begin_recovery();
        let target = self.reduced(event.base);
        if !event.keep_ssthresh {
            window.set_ssthresh(target);
        }
        (self.peak, self.per_segment, self.computed) = (0, 0, (0, 0));
        self.counted = Counted::default();
        self.ack_ratio = AckRatio::NEW;
        window.restart();
    }

    fn on_recovery_exit(&mut self, now: Time, _window: &mut Window) {
        self.reducing.end_recovery(now);
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        window.cwnd() as u64 > self.low_window
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("peak", self.peak as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::parameter::Variant;

    fn bic() -> KernelBic {
        KernelBic::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap())
    }

    /// Checks BIC's growth and reductions by the rules of tcp_bic.c. A loss leaves 819/1024 of the window, in whole
    /// segments. A round trip adds a quarter of the distance to the peak, at most sixteen segments.
    #[test]
    fn segments_for_one_more_follow_from_the_distance_to_the_peak() {
        let mut bic = bic();
        assert_eq!(bic.reduced(1000.0), 799.0);
        assert_eq!((bic.kept, bic.smooth_part, bic.peak), (819, 20, 1000));
        let cases = [
            (799, 49),
            (960, 96),
            (992, 496),
            (993, 4965),
            (1003, 5015),
            (1012, 253),
            (1100, 68),
        ];
        for (cwnd, expected) in cases {
            assert_eq!(bic.searched(cwnd), expected, "{cwnd}");
        }
        assert_eq!((bic.reduced(900.0), bic.peak), (719.0, 809));
        assert_eq!(bic.reduced(14.0), 7.0);
    }

    /// Checks that an estimate of two segments per acknowledgement halves the number of acknowledged segments after
    /// which the window grows by one, from 96 to 48.
    #[test]
    fn the_estimate_of_delayed_acknowledgements_divides() {
        let mut bic = bic();
        bic.peak = 1000;
        bic.update(960, 0);
        assert_eq!(bic.per_segment, 96 * 16 / 32);
        bic.update(960, HZ / 32);
        assert_eq!(bic.computed, (960, 0), "not computed again so soon");
    }
}
