//! CUBIC of a current kernel (Linux 6.18, tcp_cubic.c), with whole segments and whole clock ticks: the window grows by
//! one after a number of acknowledged segments.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::backoff::Backoff;
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::parameter::Settings;
use crate::window::Window;

/// Number of the kernel's clock ticks per second (`CONFIG_HZ`): the default of its configuration.
const HZ: u64 = 250;

/// Number of time units per second (`BICTCP_HZ`); also the denominator of constants.
const UNIT: u64 = 1024;

/// Maximum of `per_segment` until the first loss, and from a timeout to the next loss: the window grows by at least 5 %
/// per round trip.
const UNKNOWN_PEAK: u64 = 20;

/// Minimum of `per_segment`. At this value, the window grows by half of itself per round trip.
const LEAST: u64 = 2;

/// State of the kernel's CUBIC for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelCubic {
    /// The constant C of the cubic, in 1024ths (scale).
    scale: u64,
    /// Fraction of the window that is kept after a loss, in 1024ths.
    kept: u64,
    backoff: Backoff,
    fast_convergence: bool,
    /// Number of segments that must be acknowledged for the AIMD flow's window to grow by one segment, in eighths of
    /// the window (8: one whole window). The AIMD flow is an imagined flow, on average as fast as standard TCP.
    standard_windows: u64,
    /// Window at the last reduction, lowered by fast convergence; zero before the first reduction and after a timeout.
    peak: u64,
    /// Number of segments that must be acknowledged for the window to grow by one.
    per_segment: u64,
    /// Number of segments acknowledged since the window last grew. When it reaches `per_segment`, the window grows.
    counted: u64,
    /// Tick at which `per_segment` was last computed from the cubic.
    computed: u64,
    /// Window for which `per_segment` was last computed.
    computed_for: u64,
    epoch: Option<Epoch>,
}

/// An epoch of congestion avoidance, which begins with its first acknowledgement.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Epoch {
    /// Tick of the epoch's first acknowledgement.
    start: u64,
    /// Window at which the cubic is flat.
    plateau: u64,
    /// Time from `start` to the plateau, in 1024ths of a second.
    until_plateau: u64,
    /// Window of the AIMD flow, for comparison with the cubic.
    standard: u64,
    /// Number of acknowledged segments that have not enlarged `standard` yet.
    acknowledged: u64,
}

impl KernelCubic {
    pub(super) fn new(settings: &Settings) -> Self {
        let in_units = |name| libm::round(settings.get(name) * UNIT as f64) as u64;
        let backoff = Backoff::new(settings);
        let kept = kept(backoff.loss);
        Self {
            scale: in_units("scale").max(1),
            kept,
            backoff,
            fast_convergence: settings.get("fast_convergence") >= 0.5,
            standard_windows: 8 * (UNIT + kept) / 3 / (UNIT - kept),
            peak: 0,
            per_segment: 0,
            counted: 0,
            computed: 0,
            computed_for: 0,
            epoch: None,
        }
    }

    pub(super) fn constants(&self) -> (f64, f64) {
        let units = UNIT as f64;
        (self.scale as f64 / units, 1.0 - self.kept as f64 / units)
    }

    /// Processes an acknowledgement (`cubictcp_cong_avoid` and `tcp_cong_avoid_ai`).
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase != Phase::Avoidance {
            return;
        }
        let (cwnd, acked) = (window.cwnd() as u64, ack.credit as u64);
        self.update(ticks(ack.now.since(Time::ZERO)), cwnd, acked, ack.min_rtt);
        let whole = u64::from(self.counted >= self.per_segment);
        self.counted = if whole > 0 {
            acked
        } else {
            self.counted + acked
        };
        let more = self.counted / self.per_segment;
        self.counted %= self.per_segment;
        if whole + more > 0 {
            window.grow((whole + more) as f64);
        }
    }

    /// Updates the number of segments that must be acknowledged for the window to grow by one (`cnt` in
    /// `bictcp_update`).
    fn update(&mut self, now: u64, cwnd: u64, acked: u64, min_rtt: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acknowledged += acked;
            if self.computed_for == cwnd && now - self.computed <= HZ / 32 {
                return;
            }
        }
        // The cubic function is computed at most once in each clock tick.
        if self.epoch.is_none() || now != self.computed {
            self.per_segment = self.follow_cubic(now, cwnd, acked, min_rtt);
        }
        self.keep_up_with_standard(cwnd);
        self.per_segment = self.per_segment.max(LEAST);
    }

    fn follow_cubic(&mut self, now: u64, cwnd: u64, acked: u64, min_rtt: Span) -> u64 {
        (self.computed, self.computed_for) = (now, cwnd);
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(now, cwnd, acked),
        };
        self.epoch = Some(epoch);
        // The target is one round trip ahead, in ticks, rounded up.
        let ahead = min_rtt.as_ps().div_ceil(Span::from_secs(1).as_ps() / HZ);
        let time = (now.saturating_sub(epoch.start) + ahead) * UNIT / HZ;
        let target = self.window_at(&epoch, time);
        let per_segment = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if self.peak == 0 {
            per_segment.min(UNKNOWN_PEAK)
        } else {
            per_segment
        }
    }

    fn begin(&self, now: u64, cwnd: u64, acked: u64) -> Epoch {
        let plateau = self.peak.max(cwnd);
        // The cube root is exact here; the kernel's is off by 0.2 % on average.
        let cube = u128::from((1u64 << 40) / self.scale) * u128::from(plateau - cwnd);
        Epoch {
            start: now,
            plateau,
            until_plateau: libm::cbrt(cube as f64) as u64,
            standard: cwnd,
            acknowledged: acked,
        }
    }

    /// Returns the window of the cubic, `time` / 1024 seconds after the start of the epoch. The window's distance to
    /// the plateau is rounded down to whole segments.
    fn window_at(&self, epoch: &Epoch, time: u64) -> u64 {
        let away = u128::from(time.abs_diff(epoch.until_plateau));
        let distance = (u128::from(self.scale) * away * away * away) >> 40;
        let distance = u64::try_from(distance).unwrap_or(u64::MAX);
        if time < epoch.until_plateau {
            epoch.plateau.saturating_sub(distance)
        } else {
            epoch.plateau.saturating_add(distance)
        }
    }

    /// Speeds up the growth of a window that is smaller than that of an AIMD flow; the AIMD flow is, on average, as
    /// fast as standard TCP. Unlike in RFC 9438 (section 4.3), the AIMD flow does not grow faster beyond the last peak.
    fn keep_up_with_standard(&mut self, cwnd: u64) {
        let Some(epoch) = &mut self.epoch else { return };
        let for_one = (cwnd * self.standard_windows / 8).max(1);
        if epoch.acknowledged > for_one {
            let more = (epoch.acknowledged - 1) / for_one;
            epoch.acknowledged -= more * for_one;
            epoch.standard += more;
        }
        if epoch.standard > cwnd {
            let limit = cwnd / (epoch.standard - cwnd);
            self.per_segment = self.per_segment.min(limit);
        }
    }

    /// Stores the window at the congestion event, and returns the window after a loss (`cubictcp_recalc_ssthresh`).
    /// [`Window`] applies the lower bound.
    fn reduce_cwnd(&mut self, base: f64) -> f64 {
        self.remember(base);
        part(base, self.kept)
    }

    fn remember(&mut self, base: f64) {
        let cwnd = base as u64;
        self.peak = if cwnd < self.peak && self.fast_convergence {
            cwnd * (UNIT + self.kept) / (2 * UNIT)
        } else {
            cwnd
        };
        self.epoch = None;
        self.counted = 0;
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.remember(event.base);
        window.reduce_to(part(event.base, kept(self.backoff.at(event))));
    }

    /// Reduces the threshold as after a loss, restarts the window, and discards the peak and the epoch
    /// (`cubictcp_state`).
    pub(super) fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        let target = self.reduce_cwnd(event.base);
        self.peak = 0;
        self.per_segment = 0;
        (self.computed, self.computed_for) = (0, 0);
        if !event.keep_ssthresh {
            window.set_ssthresh(target);
        }
        window.restart();
    }

    pub(super) fn on_idle(&mut self, idle: &Idle) {
        if let Some(epoch) = &mut self.epoch {
            let now = ticks(idle.now.since(Time::ZERO));
            epoch.start = now.min(epoch.start + ticks(idle.since_sent));
        }
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("peak", self.peak as f64);
        if let Some(epoch) = &self.epoch {
            out("standard_window", epoch.standard as f64);
        }
    }
}

/// Returns the fraction `kept` (in 1024ths) of a window, in whole segments.
fn part(base: f64, kept: u64) -> f64 {
    (base as u64 * kept / UNIT) as f64
}

/// Returns the fraction of the window that is kept, in 1024ths, for a decrease by the fraction `decrease`.
fn kept(decrease: f64) -> u64 {
    let removed = libm::round(decrease * UNIT as f64) as u64;
    UNIT - removed.clamp(1, UNIT - 1)
}

/// Returns a time in whole clock ticks.
fn ticks(time: Span) -> u64 {
    time.as_ps() / (Span::from_secs(1).as_ps() / HZ)
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::parameter::Variant;
    use crate::window::Rounding;

    const RTT: Span = Span::from_millis(100);

    fn kernel() -> KernelCubic {
        KernelCubic::new(&ENTRY.settings(Variant::Linux6_18, &[]).unwrap())
    }

    fn window(cwnd: f64) -> Window {
        Window::new(cwnd, 2.0, 1e6, Rounding::Real)
    }

    /// Returns the window at the end of each second, for `rate` evenly spaced acknowledgements per second of one
    /// segment each.
    fn seconds(cubic: &mut KernelCubic, window: &mut Window, rate: u64, count: u64) -> Vec<f64> {
        let second = |number| {
            for place in number * rate..(number + 1) * rate {
                let ack = AckSample {
                    now: Time::ZERO + Span::from_secs(1) * place / rate,
                    min_rtt: RTT,
                    ..AckSample::ONE_SEGMENT
                };
                cubic.on_ack(&ack, Phase::Avoidance, window);
            }
            window.cwnd()
        };
        (0..count).map(second).collect()
    }

    /// Checks the integer constants. A loss keeps 717/1024 of the window, in whole segments. Fast convergence sets the
    /// peak to 1741/2048 of the window. `standard_windows` is 8 x 1741 / 3 / 307, truncated.
    #[test]
    fn constants_are_fractions_of_1024_and_windows_whole() {
        let mut cubic = kernel();
        assert_eq!(
            (cubic.scale, cubic.kept, cubic.standard_windows),
            (410, 717, 15)
        );
        assert_eq!((cubic.reduce_cwnd(100.0), cubic.peak), (70.0, 100));
        assert_eq!((cubic.reduce_cwnd(80.0), cubic.peak), (56.0, 68));
        assert_eq!((cubic.reduce_cwnd(68.0), cubic.peak), (47.0, 68));
    }

    /// The window grows from 70 to its plateau of 100 in K = cbrt(30 / (410/1024)) = 4.2157 s.
    #[test]
    fn the_cubic_is_flat_after_k() {
        let mut cubic = kernel();
        let left = cubic.reduce_cwnd(100.0) as u64;
        let epoch = cubic.begin(0, left, 1);
        assert_eq!(epoch.until_plateau, 4316);
        assert_eq!(
            cubic.window_at(&epoch, 0),
            71,
            "29.99 segments below, cut off"
        );
        assert_eq!(cubic.window_at(&epoch, 4316), 100);
        // The cubic function is 0.4 segments higher after one second, which is less than a whole segment, and 10.8
        // segments higher after three seconds.
        assert_eq!(cubic.window_at(&epoch, 4316 + 1024), 100);
        assert_eq!(cubic.window_at(&epoch, 4316 + 3 * 1024), 110);
    }

    /// Compares windows with those of a separate program for the kernel's rules. The kernel aims at the cubic's value
    /// 100 ms ahead. It recomputes the growth once per tick or, while the window does not change, once in eight ticks.
    #[test]
    fn windows_follow_the_rules_step_by_step() {
        let cases: [(f64, u64, &[f64]); 3] = [
            (20.0, 200, &TWENTY),
            (100.0, 1_000, &HUNDRED),
            (1_000.0, 10_000, &THOUSAND),
        ];
        for (peak, rate, expected) in cases {
            let (mut cubic, mut window) = (kernel(), window(peak));
            let left = cubic.reduce_cwnd(peak);
            window.reduce_to(left);
            let found = seconds(&mut cubic, &mut window, rate, expected.len() as u64);
            assert_eq!(found, expected, "{peak}");
        }
    }

    /// Windows at the end of each second after a reduction at a peak of 20 segments. In the first seconds, the window
    /// follows the Reno-friendly window: it grows by one segment whenever 15/8 of the window have been acknowledged.
    const TWENTY: [f64; 10] = [20.0, 24.0, 28.0, 32.0, 35.0, 38.0, 54.0, 80.0, 115.0, 161.0];
    const HUNDRED: [f64; 10] = [
        87.0, 97.0, 100.0, 100.0, 100.0, 103.0, 109.0, 121.0, 143.0, 174.0,
    ];
    const THOUSAND: [f64; 14] = [
        790.0, 858.0, 910.0, 948.0, 973.0, 989.0, 997.0, 1000.0, 1000.0, 1000.0, 1003.0, 1010.0,
        1024.0, 1048.0,
    ];

    /// Checks that the window grows by a segment per twenty acknowledged segments before the first loss, as long as the
    /// cubic is slower. A timeout makes the peak unknown again.
    #[test]
    fn an_unknown_peak_is_looked_for_by_five_per_cent_a_round_trip() {
        let (mut cubic, mut window) = (kernel(), window(10.0));
        let found = seconds(&mut cubic, &mut window, 200, 6);
        assert_eq!(found, [20.0, 30.0, 40.0, 50.0, 60.0, 86.0]);
        let timeout = Timeout {
            now: Time::ZERO + Span::from_secs(6),
            base: 86.0,
            keep_ssthresh: false,
            sent: 0,
        };
        cubic.on_timeout(&timeout, &mut window);
        assert_eq!(
            (window.cwnd(), window.ssthresh(), cubic.peak),
            (1.0, 60.0, 0)
        );
    }

    /// Checks that an acknowledgement of several segments has the effect of several acknowledgements of one segment.
    #[test]
    fn an_acknowledgement_of_many_grows_by_whole_segments() {
        let (mut cubic, mut window) = (kernel(), window(100.0));
        let ack = AckSample {
            acked: 45,
            credit: 45.0,
            min_rtt: RTT,
            ..AckSample::ONE_SEGMENT
        };
        cubic.on_ack(&ack, Phase::Avoidance, &mut window);
        assert_eq!((window.cwnd(), cubic.counted), (102.0, 5));
        cubic.on_ack(&ack, Phase::NoGrowth, &mut window);
        assert_eq!((window.cwnd(), cubic.counted), (102.0, 5));
    }

    /// The clock of the epoch stands still while nothing is in flight.
    #[test]
    fn idle_time_does_not_count() {
        let (mut cubic, mut window) = (kernel(), window(100.0));
        seconds(&mut cubic, &mut window, 100, 1);
        let second = Span::from_secs(1);
        let idle = |since_sent| Idle {
            now: Time::ZERO + second * 4,
            time: second * 3,
            since_sent,
        };
        cubic.on_idle(&idle(second * 3));
        assert_eq!(cubic.epoch.unwrap().start, 3 * HZ);
        cubic.on_idle(&idle(second * 3));
        assert_eq!(cubic.epoch.unwrap().start, 4 * HZ, "now at the latest");
    }
}
