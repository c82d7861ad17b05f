//! Laws of growth along a curve: a function of the window or of time.

use longhaul_congestion::{AckSample, Cause, Phase, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_variant, grow_as_standard, restart_below};

/// Law of BIC by Xu, Harfoush and Rhee, INFOCOM 2004, section III. The window grows by binary search up to the window
/// of the last loss, and by steps as in slow start beyond it. It includes fast convergence. Below low_window, the
/// window grows as in standard TCP.
#[derive(Default)]
struct Bic {
    peak: f64,
    /// Step in segments beyond the peak, and the window at which this step doubles; `None` below the peak.
    probe: Option<(f64, f64)>,
}

impl Bic {
    fn increase(&mut self, cwnd: f64) -> f64 {
        if cwnd < 14.0 {
            1.0
        } else if cwnd < self.peak {
            ((self.peak - cwnd) / 2.0).clamp(0.01, 32.0)
        } else {
            let (mut step, mut until) = self.probe.unwrap_or((1.0, cwnd + 1.0));
            if cwnd >= until {
                step = (2.0 * step).min(32.0);
                until = cwnd + step;
            }
            self.probe = Some((step, until));
            step
        }
    }

    fn remember(&mut self, base: f64) {
        self.peak = if base < self.peak { base * 0.9 } else { base };
        self.probe = None;
    }
}

impl Law for Bic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let cwnd = window.cwnd();
                window.grow(self.increase(cwnd) * ack.credit / cwnd);
            }
            Event::Signal(signal) => {
                self.remember(signal.base);
                let kept = if signal.base < 14.0 { 0.5 } else { 0.8 };
                window.reduce_to(signal.base * kept);
            }
            Event::Timeout(_) => {
                *self = Self::default();
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("peak", self.peak)]
    }
}

#[test]
fn bic() {
    let given = [
        ("decrease", 0.2),
        ("low_window", 14.0),
        ("max_increment", 32.0),
        ("min_increment", 0.01),
    ];
    assert_variant(
        "bic",
        Variant::Paper,
        &given,
        Bic::default,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of CUBIC by RFC 9438 section 4. A mark reduces the window less than a loss does (RFC 8511).
struct Cubic {
    peak: f64,
    prior: f64,
    epoch: Option<CubicEpoch>,
    heard: Time,
    decrease: f64,
}

#[derive(Clone, Copy)]
struct CubicEpoch {
    start: Time,
    grown: Time,
    plateau: f64,
    k: f64,
    estimate: f64,
}

impl Cubic {
    fn new() -> Self {
        Self {
            peak: 0.0,
            prior: 0.0,
            epoch: None,
            heard: Time::ZERO,
            decrease: 0.3,
        }
    }

    fn remember(&mut self, base: f64) {
        // Fast convergence (section 4.7).
        self.peak = if base < self.peak {
            base * (2.0 - self.decrease) / 2.0
        } else {
            base
        };
        (self.prior, self.epoch) = (base, None);
    }

    fn grow(&mut self, ack: &AckSample, heard_before: Time, window: &mut Window) {
        let cwnd = window.cwnd();
        let peak = self.peak.max(cwnd);
        let epoch = self.epoch.get_or_insert(CubicEpoch {
            start: ack.now,
            grown: ack.now,
            plateau: peak,
            k: ((peak - cwnd) / 0.4).cbrt(),
            estimate: cwnd,
        });
        // Time in which the window does not grow does not count (section 5.8).
        epoch.start += heard_before.since(epoch.grown);
        epoch.grown = ack.now;
        // The window of standard TCP (section 4.3).
        let alpha = if epoch.estimate < self.prior {
            3.0 * self.decrease / (2.0 - self.decrease)
        } else {
            1.0
        };
        epoch.estimate += alpha * ack.credit / cwnd;
        let t = ack.now.since(epoch.start).as_secs_f64() + ack.srtt.as_secs_f64();
        let target = epoch.plateau + 0.4 * (t - epoch.k).powi(3);
        let step = (target.clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd * ack.credit;
        window.set_cwnd((cwnd + step).max(epoch.estimate));
    }
}

impl Law for Cubic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                let before = std::mem::replace(&mut self.heard, ack.now);
                if *phase == Phase::Avoidance {
                    self.grow(ack, before, window);
                }
            }
            Event::Signal(signal) => {
                self.remember(signal.base);
                let gentle = signal.cause == Cause::Ecn && !signal.in_slow_start;
                window.reduce_to(signal.base * if gentle { 0.85 } else { 0.7 });
            }
            Event::Timeout(timeout) => {
                self.remember(timeout.base);
                self.peak = 0.0;
                restart_below(timeout, timeout.base * 0.7, window);
            }
            Event::Idle(idle) => {
                if let Some(epoch) = &mut self.epoch {
                    epoch.start += idle.time;
                }
            }
            Event::Exit(_) => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        let mut state = vec![("peak", self.peak)];
        state.extend(self.epoch.map(|epoch| ("standard_window", epoch.estimate)));
        state
    }
}

#[test]
fn cubic() {
    assert_variant(
        "cubic",
        Variant::Paper,
        &[("ecn_decrease", 0.15)],
        Cubic::new,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of H-TCP by draft-leith-tcp-htcp-06: the increase is `alpha = 1 + 10 (t - 1) + ((t - 1) / 2)^2` times `2 (1 -
/// beta)`. While the throughput is steady, beta is the ratio of the smallest to the largest round-trip time.
struct Htcp {
    kept: f64,
    since: Option<Time>,
    max_rtt: Span,
    min_rtt: Span,
    rounds: Option<Time>,
    delivered: u64,
    mean: f64,
    largest: f64,
    last_largest: f64,
}

impl Htcp {
    fn new() -> Self {
        Self {
            kept: 0.5,
            since: None,
            max_rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            rounds: None,
            delivered: 0,
            mean: 0.0,
            largest: 0.0,
            last_largest: 0.0,
        }
    }

    fn measure(&mut self, ack: &AckSample) {
        self.min_rtt = ack.min_rtt;
        self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or_default());
        let since = *self.rounds.get_or_insert(ack.now);
        let time = ack.now.since(since);
        if time >= ack.srtt && time > Span::ZERO {
            let rate = (ack.delivered - self.delivered) as f64 / time.as_secs_f64();
            let gain = if self.mean == 0.0 { 1.0 } else { 0.25 };
            self.mean += gain * (rate - self.mean);
            self.largest = self.largest.max(self.mean);
            (self.rounds, self.delivered) = (Some(ack.now), ack.delivered);
        }
    }

    fn adapt(&mut self) {
        let (last, now) = (self.last_largest, self.largest);
        (self.last_largest, self.largest) = (now, 0.0);
        let ratio = self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64();
        let steady = last > 0.0 && (now - last).abs() <= 0.2 * last && ratio.is_finite();
        self.kept = if steady { ratio.clamp(0.5, 0.8) } else { 0.5 };
        let queueing = self.max_rtt.saturating_sub(self.min_rtt).as_secs_f64();
        self.max_rtt = self.min_rtt + Span::from_secs_f64(0.95 * queueing);
    }
}

impl Law for Htcp {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.measure(ack);
                if *phase == Phase::Avoidance {
                    let since = *self.since.get_or_insert(ack.now);
                    let fast = (ack.now.since(since).as_secs_f64() - 1.0).max(0.0);
                    let alpha = 1.0 + 10.0 * fast + (fast / 2.0).powi(2);
                    window.grow(2.0 * (1.0 - self.kept) * alpha * ack.credit / window.cwnd());
                }
            }
            Event::Signal(signal) => {
                self.adapt();
                self.since = Some(signal.now);
                window.reduce_to(signal.base * self.kept);
            }
            Event::Timeout(timeout) => {
                (self.kept, self.since) = (0.5, Some(timeout.now));
                (self.last_largest, self.largest) = (self.largest, 0.0);
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("kept", self.kept),
            ("max_rtt_s", self.max_rtt.as_secs_f64()),
        ]
    }
}

#[test]
fn htcp() {
    assert_variant(
        "htcp",
        Variant::Paper,
        &[],
        Htcp::new,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of HighSpeed TCP by RFC 3649 section 5: `b(w)` and the logarithm of `p(w)` are linear in the logarithm of the
/// window.
struct HighSpeed;

impl HighSpeed {
    const LOW: f64 = 38.0;

    /// Returns the position of window `w` between the low window (0) and the high window (1), on a logarithmic scale.
    fn part(w: f64) -> f64 {
        (w / Self::LOW).ln() / (83_000.0 / Self::LOW).ln()
    }

    fn decrease(w: f64) -> f64 {
        0.5 - 0.4 * Self::part(w).max(0.0)
    }

    fn increase(w: f64) -> f64 {
        let p = 1e-3 * 1e-4_f64.powf(Self::part(w));
        let b = Self::decrease(w);
        (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

impl Law for HighSpeed {
    /// Tolerance for the increase, which the algorithm takes from a table.
    const TOLERANCE: f64 = 1e-6;

    fn apply(&mut self, event: &Event, window: &mut Window) {
        let cwnd = window.cwnd();
        match event {
            Event::Ack(ack, Phase::Avoidance) if cwnd > Self::LOW => {
                window.grow(Self::increase(cwnd) * ack.credit / cwnd);
            }
            Event::Ack(ack, Phase::Avoidance) => grow_as_standard(ack, window),
            Event::Signal(signal) => {
                window.reduce_to(signal.base * (1.0 - Self::decrease(signal.base)));
            }
            _ => answer_as_standard(event, window),
        }
    }
}

#[test]
fn high_speed_tcp() {
    let given = [("rounded", 0.0), ("low_p", 1e-3), ("high_p", 1e-7)];
    assert_variant(
        "hstcp",
        Variant::Paper,
        &given,
        || HighSpeed,
        &[38.0, 100.0, 4000.0],
    );
}
