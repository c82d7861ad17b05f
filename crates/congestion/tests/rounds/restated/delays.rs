//! Laws of algorithms that use round-trip times.

use longhaul_congestion::{AckSample, Phase, Phases, Variant, Window};
use longhaul_units::{Span, Time};

use super::{
    Event, Law, answer_as_standard, assert_variant, grow_as_standard, queued, restart_below,
    seconds,
};

/// Law of Vegas by Brakmo and Peterson, JSAC 13(8), 1995, with alpha 1, beta 3 and gamma 1 segments in the queue.
#[derive(Default)]
struct Vegas {
    rtt: Option<Span>,
    queued: f64,
}

impl Law for Vegas {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start
                    && let Some(rtt) = self.rtt.take().or(ack.rtt)
                {
                    let cwnd = window.cwnd();
                    self.queued = queued(cwnd, ack.min_rtt, rtt);
                    if window.in_slow_start() {
                        if self.queued > 1.0 {
                            window.set_cwnd((cwnd - self.queued + 1.0).min(cwnd));
                            window.exit_slow_start();
                        }
                    } else if self.queued > 3.0 {
                        window.shrink(1.0);
                    } else if self.queued < 1.0 {
                        window.grow(1.0);
                    }
                }
                if !window.in_slow_start() && phase.may_grow() {
                    self.rtt = self.rtt.into_iter().chain(ack.rtt).min();
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                self.rtt = None;
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
    let given = [("alpha", 1.0), ("beta", 3.0), ("gamma", 1.0)];
    assert_variant(
        "vegas",
        Variant::Paper,
        &given,
        Vegas::default,
        &[30.0, 4.0, 9.0],
    );
}

/// Law of Veno by Fu and Liew, JSAC 21(2), 2003. With three or more queued segments, the window grows half as fast as
/// that of standard TCP. With fewer, a loss reduces the window by a fifth.
#[derive(Default)]
struct Veno {
    base: Option<Span>,
    queued: Option<f64>,
}

impl Law for Veno {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if let Some(rtt) = ack.rtt {
                    let base = self.base.map_or(rtt, |base| base.min(rtt));
                    self.base = Some(base);
                    self.queued = Some(queued(window.cwnd(), base, ack.srtt).max(0.0));
                }
                if *phase == Phase::Avoidance {
                    let full = self.queued.is_some_and(|queued| queued >= 3.0);
                    window.grow(if full { 0.5 } else { 1.0 } * ack.credit / window.cwnd());
                }
            }
            Event::Signal(signal) => {
                self.base = None;
                let random = self.queued.is_some_and(|queued| queued < 3.0);
                window.reduce_to(signal.base * if random { 0.8 } else { 0.5 });
            }
            Event::Timeout(_) => {
                self.base = None;
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.queued.unwrap_or(f64::NAN))]
    }
}

#[test]
fn veno() {
    assert_variant(
        "veno",
        Variant::Paper,
        &[],
        Veno::default,
        &[30.0, 15.0, 9.0],
    );
}

/// Law of Illinois by Liu, Basar and Srikant, VALUETOOLS 2006, section 3. The increase and the decrease depend on the
/// mean queueing delay of a round, as a fraction of the largest queueing delay. The increase returns to its maximum
/// only after five rounds (theta) with an empty queue.
struct Illinois {
    increase: f64,
    decrease: f64,
    patient: Option<u32>,
    max_rtt: Span,
    rtts: Vec<f64>,
}

impl Illinois {
    fn new() -> Self {
        Self {
            increase: 10.0,
            decrease: 0.5,
            patient: None,
            max_rtt: Span::ZERO,
            rtts: Vec::new(),
        }
    }

    fn end_round(&mut self, ack: &AckSample, cwnd: f64) {
        let rtts = std::mem::take(&mut self.rtts);
        if cwnd < 15.0 {
            (self.increase, self.decrease) = (1.0, 0.5);
        } else if !rtts.is_empty() {
            let mean = rtts.iter().sum::<f64>() / rtts.len() as f64 - seconds(ack.min_rtt);
            let most = seconds(self.max_rtt.saturating_sub(ack.min_rtt));
            let delay = if most > 0.0 {
                (mean / most).clamp(0.0, 1.0)
            } else {
                0.0
            };
            self.decrease = (0.125 + 0.375 * (delay - 0.1) / 0.7).clamp(0.125, 0.5);
            if delay > 0.01 {
                self.patient = Some(0);
                self.increase = 10.0 / (1.0 + (delay - 0.01) / 0.99 * 9.7 / 0.3);
            } else {
                self.patient = self
                    .patient
                    .map(|rounds| rounds + 1)
                    .filter(|&rounds| rounds < 5);
                if self.patient.is_none() {
                    self.increase = 10.0;
                }
            }
        }
    }
}

impl Law for Illinois {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start {
                    self.end_round(ack, window.cwnd());
                }
                if let Some(rtt) = ack.rtt {
                    self.max_rtt = self.max_rtt.max(rtt);
                    self.rtts.push(seconds(rtt));
                }
                if *phase == Phase::Avoidance {
                    window.grow(self.increase * ack.credit / window.cwnd());
                }
            }
            Event::Signal(signal) => window.reduce_to(signal.base * (1.0 - self.decrease)),
            Event::Timeout(_) => {
                (self.increase, self.decrease, self.patient) = (1.0, 0.5, None);
                self.rtts.clear();
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("increase", self.increase), ("decrease", self.decrease)]
    }
}

#[test]
fn illinois() {
    assert_variant(
        "illinois",
        Variant::Paper,
        &[("low_window", 15.0)],
        Illinois::new,
        &[15.0, 4.0, 30.0],
    );
}

/// Law of Westwood by Mascolo and others, MobiCom 2001. The threshold is the average arrival rate multiplied by the
/// smallest round-trip time.
#[derive(Default)]
struct Westwood {
    since: Option<(Time, u64)>,
    rtt: Span,
    min_rtt: Option<Span>,
    bandwidth: Option<f64>,
}

impl Westwood {
    fn carried(&self) -> Option<f64> {
        Some(self.bandwidth? * seconds(self.min_rtt?))
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
                if time > Span::ZERO && time >= self.rtt {
                    let rate = (ack.delivered - before) as f64 / seconds(time);
                    let mean = self.bandwidth.map_or(rate, |mean| 0.9 * mean + 0.1 * rate);
                    self.bandwidth = Some(mean);
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
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            (
                "bandwidth_segments_per_s",
                self.bandwidth.unwrap_or(f64::NAN),
            ),
            ("carried", self.carried().unwrap_or(f64::NAN)),
        ]
    }
}

#[test]
fn westwood() {
    assert_variant(
        "westwood",
        Variant::Paper,
        &[],
        Westwood::default,
        &[30.0, 15.0, 9.0],
    );
}

/// Law of Hybla by Caini and Firrincieli, IJSCN 22, 2004, equation 6, with a reference of 40 ms. `rho` is computed from
/// the smallest round-trip time.
#[derive(Default)]
struct Hybla {
    rho: f64,
}

impl Law for Hybla {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) if phase.may_grow() => {
                let rho = (seconds(ack.min_rtt) / 0.04).max(1.0);
                if self.rho == 0.0 {
                    window.set_cwnd(window.cwnd().max(rho));
                }
                self.rho = rho;
                if window.in_slow_start() {
                    let step = (rho.min(16.0).exp2() - 1.0) * ack.credit;
                    window.set_cwnd((window.cwnd() + step).min(window.ssthresh()));
                } else {
                    window.grow(rho * rho * ack.credit / window.cwnd());
                }
            }
            _ => answer_as_standard(event, window),
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("rho", self.rho)]
    }
}

#[test]
fn hybla() {
    assert_variant(
        "hybla",
        Variant::Paper,
        &[("reference_rtt", 0.04)],
        Hybla::default,
        &[1.0, 30.0, 9.0],
    );
}
