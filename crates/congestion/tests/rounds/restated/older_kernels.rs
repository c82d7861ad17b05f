//! Laws of algorithms in Linux 2.6.22 that differ from the papers, and the law of H-TCP in NIST's study.

use longhaul_congestion::{AckSample, Phase, Variant, Window};
use longhaul_units::{Span, Time};

use super::{
    Event, Law, answer_as_standard, assert_follows, assert_variant, grow_as_standard, restart_below,
};
use crate::controller;

/// Law of Vegas by `tcp_vegas.c`. The number of queued segments is computed from the window at the beginning of the
/// round (`beg_snd_cwnd`), also in slow start. The end of slow start sets a threshold of two segments.
#[derive(Default)]
struct Vegas {
    rtt: Option<Span>,
    queued: f64,
    cwnd_before: Option<f64>,
}

impl Vegas {
    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        let cwnd = window.cwnd();
        let flight = self.cwnd_before.replace(cwnd).unwrap_or(cwnd);
        let Some(rtt) = self.rtt.take().or(ack.rtt) else {
            return;
        };
        self.queued = flight * (1.0 - ack.min_rtt.as_secs_f64() / rtt.as_secs_f64());
        if window.in_slow_start() {
            if self.queued > 1.0 {
                window.set_cwnd((flight - self.queued + 1.0).min(cwnd));
                window.set_ssthresh(2.0);
            }
            return;
        }
        let target = if self.queued > 4.0 {
            flight - 1.0
        } else if self.queued < 2.0 {
            flight + 1.0
        } else {
            flight
        };
        if target < cwnd {
            window.set_cwnd(cwnd - 1.0);
        } else if target > cwnd {
            window.grow(1.0);
        }
    }
}

impl Law for Vegas {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start {
                    self.end_round(ack, window);
                }
                if window.in_slow_start() || phase.may_grow() {
                    self.rtt = self.rtt.into_iter().chain(ack.rtt).min();
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                (self.rtt, self.cwnd_before) = (None, None);
                answer_as_standard(event, window);
            }
            _ => answer_as_standard(event, window),
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.queued)]
    }
}

#[test]
fn vegas() {
    let given = [("alpha", 2.0), ("beta", 4.0), ("gamma", 1.0)];
    assert_variant(
        "vegas",
        Variant::Linux2_6_22,
        &given,
        Vegas::default,
        &[30.0, 4.0, 9.0],
    );
}

/// Law of Veno by `tcp_veno.c`. It compares the round-trip time of each acknowledgement with the smallest one of the
/// connection.
#[derive(Default)]
struct Veno {
    queued: Option<f64>,
}

impl Law for Veno {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if let Some(rtt) = ack.rtt {
                    let share = 1.0 - ack.min_rtt.as_secs_f64() / rtt.as_secs_f64();
                    self.queued = Some(window.cwnd() * share.max(0.0));
                }
                if *phase == Phase::Avoidance {
                    let full = self.queued.is_some_and(|queued| queued >= 3.0);
                    window.grow(if full { 0.5 } else { 1.0 } * ack.credit / window.cwnd());
                }
            }
            Event::Signal(signal) => {
                let random = self.queued.is_some_and(|queued| queued < 3.0);
                window.reduce_to(signal.base * if random { 0.8 } else { 0.5 });
            }
            _ => answer_as_standard(event, window),
        }
    }
}

#[test]
fn veno() {
    assert_variant(
        "veno",
        Variant::Linux2_6_22,
        &[],
        Veno::default,
        &[30.0, 15.0, 9.0],
    );
}

/// Law of Westwood+ by `tcp_westwood.c`: two filters with a factor of 7/8, samples of at least 50 ms, and timeouts that
/// reset the smallest round-trip time.
#[derive(Default)]
struct Westwood {
    since: Option<(Time, u64)>,
    rtt: Span,
    min_rtt: Option<Span>,
    filters: Option<(f64, f64)>,
}

impl Westwood {
    fn carried(&self) -> Option<f64> {
        Some(self.filters?.1 * self.min_rtt?.as_secs_f64())
    }
}

impl Law for Westwood {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if let Some(rtt) = ack.rtt {
                    self.rtt = rtt;
                    self.min_rtt = self.min_rtt.into_iter().chain([rtt]).min();
                }
                let (since, before) = *self.since.get_or_insert((ack.now, ack.delivered));
                let time = ack.now.since(since);
                if time > Span::ZERO && time >= self.rtt.max(Span::from_millis(50)) {
                    let rate = (ack.delivered - before) as f64 / time.as_secs_f64();
                    let (first, last) = self.filters.unwrap_or((rate, rate));
                    let first = (7.0 * first + rate) / 8.0;
                    self.filters = Some((first, (7.0 * last + first) / 8.0));
                    self.since = Some((ack.now, ack.delivered));
                }
                if *phase == Phase::Avoidance {
                    grow_as_standard(ack, window);
                }
            }
            Event::Signal(signal) => {
                let threshold = self.carried().unwrap_or(signal.base / 2.0);
                window.reduce_to(threshold.min(signal.base));
                window.set_ssthresh(threshold);
            }
            Event::Timeout(timeout) => {
                let threshold = self.carried().unwrap_or(timeout.base / 2.0);
                restart_below(timeout, threshold, window);
                self.min_rtt = None;
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("carried", self.carried().unwrap_or(f64::NAN))]
    }
}

#[test]
fn westwood() {
    assert_variant(
        "westwood",
        Variant::Linux2_6_22,
        &[],
        Westwood::default,
        &[30.0, 15.0, 9.0],
    );
}

/// `delayed_ack` of `tcp_bic.c` and `tcp_cubic.c`: the number of segments per acknowledgement, in units of 1/16.
#[derive(Clone, Copy)]
struct DelayedAck(u64);

impl DelayedAck {
    const NEW: Self = Self(2 << 4);

    fn observe(&mut self, acked: u64) -> f64 {
        self.0 = self.0 + acked - (self.0 >> 4);
        self.0 as f64 / 16.0
    }
}

/// Law of BIC by `tcp_bic.c`. Below the peak, the window grows by a quarter of its distance to the peak in each round
/// trip. Beyond the peak, it grows by a third of the distance. The distance is computed from whole segments.
struct Bic {
    peak: f64,
    ratio: DelayedAck,
}

impl Bic {
    const NEW: Self = Self {
        peak: 0.0,
        ratio: DelayedAck::NEW,
    };

    fn increase(&self, cwnd: f64) -> f64 {
        let beyond = cwnd.floor() - self.peak;
        let step = if beyond < 0.0 {
            match (-beyond / 4.0).floor() {
                part if part > 1.0 => part.min(16.0),
                _ => 0.2,
            }
        } else if beyond < 4.0 {
            0.2
        } else {
            (beyond / 3.0).min(16.0)
        };
        if self.peak == 0.0 {
            step.max(cwnd / 20.0)
        } else {
            step
        }
    }

    fn ssthresh(&mut self, base: f64) -> f64 {
        self.peak = if base < self.peak {
            (base * 0.9).floor()
        } else {
            base.floor()
        };
        base * if base <= 14.0 { 0.5 } else { 0.8 }
    }
}

impl Law for Bic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let (cwnd, ratio) = (window.cwnd(), self.ratio.observe(ack.acked));
                window.grow(if cwnd <= 14.0 {
                    1.0 / cwnd
                } else {
                    (self.increase(cwnd) * ratio / cwnd).min(1.0)
                });
            }
            Event::Signal(signal) => {
                let left = self.ssthresh(signal.base);
                window.reduce_to(left);
            }
            Event::Timeout(timeout) => {
                let left = self.ssthresh(timeout.base);
                *self = Self::NEW;
                restart_below(timeout, left, window);
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
        ("max_increment", 16.0),
        ("min_increment", 0.2),
    ];
    assert_variant(
        "bic",
        Variant::Linux2_6_22,
        &given,
        || Bic::NEW,
        &[100.0, 14.0, 400.0],
    );
}

/// Law of CUBIC by `tcp_cubic.c`. The target is the cubic function one round trip ahead. Beyond the plateau, the window
/// grows by at most 16 segments per tenth of a second. The window is at least that of an AIMD flow, which grows by 8/23
/// of a segment per window of acknowledgements.
struct Cubic {
    peak: f64,
    /// Start time, plateau, time to the plateau (K) and window of the AIMD flow; `None` outside an epoch.
    epoch: Option<(Time, f64, f64, f64)>,
    ratio: DelayedAck,
}

impl Cubic {
    const NEW: Self = Self {
        peak: 0.0,
        epoch: None,
        ratio: DelayedAck::NEW,
    };

    fn grow(&mut self, ack: &AckSample, window: &mut Window) {
        let cwnd = window.cwnd();
        let origin = self.peak.max(cwnd);
        let k = ((origin - cwnd) * 1024.0 / 410.0).cbrt();
        let epoch = self.epoch.get_or_insert((ack.now, origin, k, cwnd));
        epoch.3 += 8.0 / 23.0 / cwnd;
        let (start, origin, k, standard) = *epoch;
        let ratio = self.ratio.observe(ack.acked);
        let step = if self.peak == 0.0 {
            ratio / 50.0
        } else {
            let ahead = ack.min_rtt.as_secs_f64();
            let t = ack.now.since(start).as_secs_f64() + ahead;
            let mut growth = (origin + 410.0 / 1024.0 * (t - k).powi(3) - cwnd).max(0.01);
            if ahead > 0.0 && t >= k {
                growth = growth.min(160.0 * ahead);
            }
            (growth * ratio / cwnd).min(1.0)
        };
        window.set_cwnd((cwnd + step).max(standard));
    }

    fn ssthresh(&mut self, base: f64) -> f64 {
        let kept = 819.0 / 1024.0;
        self.peak = if base < self.peak {
            base * (1.0 + kept) / 2.0
        } else {
            base
        };
        self.epoch = None;
        base * kept
    }
}

impl Law for Cubic {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => self.grow(ack, window),
            Event::Signal(signal) => {
                let left = self.ssthresh(signal.base);
                window.reduce_to(left);
            }
            Event::Timeout(timeout) => {
                let left = self.ssthresh(timeout.base);
                *self = Self::NEW;
                restart_below(timeout, left, window);
            }
            Event::Idle(idle) => {
                if let Some((start, ..)) = &mut self.epoch {
                    *start += idle.time;
                }
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("peak", self.peak)]
    }
}

#[test]
fn cubic() {
    assert_variant(
        "cubic",
        Variant::Linux2_6_22,
        &[],
        || Cubic::NEW,
        &[100.0, 14.0, 400.0],
    );
}

/// Scalable TCP by `tcp_scalable.c`: the window grows by one segment for every fifty acknowledged segments. Reductions,
/// including those after timeouts, subtract a whole number of segments.
#[test]
fn scalable() {
    let left = |base: f64| base.floor() - (base.floor() / 8.0).floor();
    let law = || {
        move |event: &Event, window: &mut Window| match event {
            Event::Ack(ack, Phase::Avoidance) => {
                window.grow((1.0 / window.cwnd()).max(0.02) * ack.credit);
            }
            Event::Signal(signal) => window.reduce_to(left(signal.base)),
            Event::Timeout(timeout) => restart_below(timeout, left(timeout.base), window),
            _ => {}
        }
    };
    assert_variant(
        "scalable",
        Variant::Linux2_6_22,
        &[],
        law,
        &[30.0, 99.0, 400.0],
    );
}

/// Law of H-TCP by NIST SP 500-282, equations 30 to 37. A second after a congestion event, the increase begins to scale
/// with the round-trip time. The average throughput starts at zero. The largest round-trip time is never reset.
struct Htcp {
    kept: f64,
    since: Option<Time>,
    max_rtt: Span,
    min_rtt: Span,
    period: Option<Time>,
    delivered: u64,
    mean: f64,
    last_mean: f64,
}

impl Law for Htcp {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.min_rtt = ack.min_rtt;
                self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or_default());
                let time = ack.now.since(*self.period.get_or_insert(ack.now));
                if time >= Span::from_millis(250) {
                    let rate = (ack.delivered - self.delivered) as f64 / time.as_secs_f64();
                    self.mean = f64::midpoint(self.mean, rate);
                    (self.period, self.delivered) = (Some(ack.now), ack.delivered);
                }
                if *phase == Phase::Avoidance {
                    let since = *self.since.get_or_insert(ack.now);
                    let fast = ack.now.since(since).as_secs_f64() - 1.0;
                    let alpha = if fast > 0.0 {
                        (1.0 + 10.0 * fast + fast * fast / 4.0) * ack.min_rtt.as_secs_f64()
                    } else {
                        1.0
                    };
                    let alpha = 2.0 * (1.0 - self.kept) * alpha.max(1.0);
                    window.grow(alpha * ack.credit / window.cwnd());
                }
            }
            Event::Signal(signal) => {
                let (last, now) = (self.last_mean, self.mean);
                let ratio = self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64();
                let steady = last > 0.0 && (now - last).abs() <= 0.2 * last && ratio.is_finite();
                self.kept = if steady { ratio.clamp(0.5, 0.8) } else { 0.5 };
                (self.last_mean, self.since) = (now, Some(signal.now));
                window.reduce_to(signal.base * self.kept);
            }
            Event::Timeout(timeout) => {
                (self.kept, self.since, self.last_mean) = (0.5, Some(timeout.now), self.mean);
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
fn htcp_of_nist() {
    let algorithm = controller("htcp", Variant::Nist, &[]).build().unwrap();
    let law = || Htcp {
        kept: 0.5,
        since: None,
        max_rtt: Span::ZERO,
        min_rtt: Span::ZERO,
        period: None,
        delivered: 0,
        mean: 0.0,
        last_mean: 0.0,
    };
    assert_follows(&algorithm, law, &[100.0, 14.0, 400.0]);
}
