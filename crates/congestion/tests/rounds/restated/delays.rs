//! Laws that follow round-trip times.

use longhaul_congestion::{AckSample, Phase, Phases, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_follows, grow_as_standard, restart_below};
use crate::controller;
use crate::sender::Sender;

/// Checks an algorithm of a paper, with some parameters.
#[track_caller]
fn assert_paper<L: Law>(kind: &str, given: &[(&str, f64)], law: impl Fn() -> L, windows: &[f64]) {
    let algorithm = controller(kind, Variant::Paper, given).build().unwrap();
    assert_follows(&algorithm, law, windows);
}

fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// A procedure that runs with the first acknowledgement a period after its last run, the first period beginning with the first
/// acknowledgement.
#[derive(Clone, Copy, Default)]
struct Every(Option<Time>);

impl Every {
    fn is_due(&mut self, now: Time, period: Span) -> bool {
        let since = *self.0.get_or_insert(now);
        let due = now > since && now.since(since) >= period;
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// Segments queued by the smallest round-trip time of a round: `cwnd (1 - base / rtt)` (Brakmo and Peterson, JSAC 13(8), 1995).
fn queued(flight: f64, base: Span, rtt: Span) -> f64 {
    flight * (1.0 - seconds(base) / seconds(rtt))
}

/// Tan and others, INFOCOM 2006, equations 1 to 5: the sum of both windows, and the delay window in it.
struct Compound {
    low_window: f64,
    delay: f64,
    change: f64,
    signalled: bool,
    rounds: Every,
}

const LOW_WINDOW: f64 = 41.0;

impl Compound {
    fn new(low_window: f64) -> Self {
        Self {
            low_window,
            delay: 0.0,
            change: 0.0,
            signalled: false,
            rounds: Every::default(),
        }
    }

    fn next(&self, sum: f64, ack: &AckSample) -> f64 {
        let delay = self.delay + self.change;
        let queued = queued(sum, ack.min_rtt, ack.srtt);
        let next = if queued < 30.0 {
            delay + (0.125 * sum.powf(0.75) - 1.0).max(0.0)
        } else {
            delay - queued
        };
        next.max(0.0)
    }
}

impl Law for Compound {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        let sum = window.cwnd();
        match event {
            Event::Ack(ack, phase) => {
                if ack.srtt > Span::ZERO && self.rounds.is_due(ack.now, ack.srtt) {
                    let signalled = std::mem::take(&mut self.signalled);
                    if !signalled && !window.in_slow_start() && sum >= self.low_window {
                        self.change = self.next(sum, ack) - self.delay;
                    }
                }
                if *phase == Phase::Avoidance {
                    window.grow(self.change);
                    self.delay = (self.delay + window.cwnd() - sum).max(0.0);
                    self.change = 0.0;
                    grow_as_standard(ack, window);
                }
            }
            Event::Signal(signal) => {
                let loss_window = (signal.base - self.delay).max(0.0) / 2.0;
                let kept = if signal.base < self.low_window {
                    0.5
                } else {
                    0.7
                };
                let sum = (signal.base * kept).max(loss_window);
                (self.delay, self.change, self.signalled) = (sum - loss_window, 0.0, true);
                window.reduce_to(sum);
            }
            Event::Timeout(_) => {
                (self.delay, self.change, self.signalled) = (0.0, 0.0, true);
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("delay_window", self.delay)]
    }
}

#[test]
fn compound_tcp() {
    for low_window in [LOW_WINDOW, 10.0] {
        let given = [("decrease", 0.3), ("low_window", low_window)];
        let law = || Compound::new(low_window);
        assert_paper("ctcp", &given, law, &[100.0, 41.0, 600.0, 12.0]);
    }
}

/// The delay window moves from the low window itself on.
#[test]
fn compound_tcp_at_its_low_window() {
    for (low_window, moves) in [(100.0, true), (100.5, false)] {
        let spec = controller("ctcp", Variant::Paper, &[("low_window", low_window)]);
        let mut sender = Sender::new(&spec, 100.0, 2.0);
        for _ in 0..12 {
            sender.acknowledge_in(Phase::NoGrowth, |_| {});
        }
        sender.acknowledge(|_| {});
        let delay_window = sender.probe("delay_window").expect("it is recorded");
        assert_eq!(delay_window > 0.0, moves, "{low_window}");
    }
}

/// NIST SP 500-282, equations 14 to 17, as printed.
#[derive(Default)]
struct CompoundAsPrinted {
    delay: f64,
    pending: f64,
    signalled: bool,
    rounds: Every,
}

impl Law for CompoundAsPrinted {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        let cwnd = window.cwnd();
        match event {
            Event::Ack(ack, phase) => {
                let due = ack.srtt > Span::ZERO && self.rounds.is_due(ack.now, ack.srtt);
                if due && !window.in_slow_start() && cwnd >= LOW_WINDOW {
                    let queued = queued(cwnd, ack.min_rtt, ack.srtt);
                    let change = if queued < 30.0 {
                        (0.125 * cwnd.powf(0.8) - 1.0).max(0.0)
                    } else {
                        -0.1 * queued
                    };
                    if std::mem::take(&mut self.signalled) {
                        self.delay = 0.0;
                    } else {
                        self.delay = (self.delay + change).max(0.0);
                        self.pending = self.delay;
                    }
                }
                if *phase == Phase::Avoidance {
                    window.grow(std::mem::take(&mut self.pending));
                    let cwnd = window.cwnd();
                    let delay = if cwnd < LOW_WINDOW { 0.0 } else { self.delay };
                    window.grow(ack.credit / (cwnd + delay));
                }
            }
            Event::Signal(signal) => {
                let delay = if signal.base < LOW_WINDOW {
                    0.0
                } else {
                    self.delay
                };
                window.reduce_to((signal.base / 2.0 + delay).min(signal.base));
                (self.pending, self.signalled) = (0.0, true);
            }
            Event::Timeout(_) => {
                (self.delay, self.pending, self.signalled) = (0.0, 0.0, true);
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("delay_window", self.delay)]
    }
}

#[test]
fn compound_tcp_as_printed_by_nist() {
    assert_paper(
        "ctcp-nist",
        &[],
        CompoundAsPrinted::default,
        &[100.0, 41.0, 60.0],
    );
}

/// Wei and others, ToN 14(6), 2006; NIST SP 500-282, equations 18 and 21.
#[derive(Default)]
struct Fast {
    target: Option<f64>,
    updates: Every,
    flights: Every,
    begin: u64,
    flight: u64,
}

impl Law for Fast {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        let cwnd = window.cwnd();
        match event {
            Event::Ack(ack, phase) => {
                if self.flights.is_due(ack.now, ack.srtt) {
                    (self.flight, self.begin) = (ack.delivered - self.begin, ack.delivered);
                }
                if !window.in_slow_start() {
                    self.target.get_or_insert(cwnd);
                }
                if self.updates.is_due(ack.now, Span::from_millis(20))
                    && let Some(target) = &mut self.target
                    && ack.srtt > Span::ZERO
                {
                    let carried = cwnd * seconds(ack.min_rtt) / seconds(ack.srtt);
                    *target = (0.4 * cwnd + 0.6 * (carried + 15.0)).min(2.0 * cwnd);
                }
                if *phase == Phase::Avoidance {
                    let distance = self.target.expect("it is outside slow start") - cwnd;
                    if distance < 0.0 {
                        window.shrink(-distance);
                    } else if self.flight > 0 {
                        window.grow(distance * (ack.credit / self.flight as f64).min(1.0));
                    }
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                answer_as_standard(event, window);
                self.target = Some(window.cwnd());
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("alpha", 15.0), ("target", self.target.unwrap_or(f64::NAN))]
    }
}

#[test]
fn fast() {
    let given = [("alpha", 15.0), ("gain", 0.6), ("update_period", 0.02)];
    assert_paper("fast", &given, Fast::default, &[100.0, 4.0, 30.0]);
}

/// Brakmo and Peterson, JSAC 13(8), 1995: alpha 1, beta 3 and gamma 1 segments in the queue.
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
            Event::Signal(_) => {
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
    assert_paper("vegas", &given, Vegas::default, &[30.0, 4.0, 9.0]);
}

/// Fu and Liew, JSAC 21(2), 2003: half the growth from three segments in the queue on, and a fifth off for a loss below.
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
    assert_paper("veno", &[], Veno::default, &[30.0, 15.0, 9.0]);
}

/// Liu, Basar and Srikant, VALUETOOLS 2006, section 3: increase and decrease by the mean queueing delay of a round, in parts of the
/// largest; theta, eight rounds on an empty queue, before the largest increase comes back.
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
    assert_paper(
        "illinois",
        &[("low_window", 15.0)],
        Illinois::new,
        &[15.0, 4.0, 30.0],
    );
}

/// Mascolo and others, MobiCom 2001: the threshold is the rate of arrival, averaged, times the smallest round-trip time.
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
    assert_paper("westwood", &[], Westwood::default, &[30.0, 15.0, 9.0]);
}

/// Caini and Firrincieli, IJSCN 22, 2004, equation 6, with a reference of 40 ms: `rho` by the smallest round-trip time.
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
    assert_paper(
        "hybla",
        &[("reference_rtt", 0.04)],
        Hybla::default,
        &[1.0, 30.0, 9.0],
    );
}

/// Jain, CCR 19(5), 1989: every other round trip, by the sign of the normalised delay gradient since the last decision.
#[derive(Default)]
struct DelayGradient {
    rtts_ps: Vec<u64>,
    settled: bool,
    last: Option<(f64, f64)>,
    gradient: f64,
}

impl Law for DelayGradient {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start {
                    let rtts = std::mem::take(&mut self.rtts_ps);
                    if self.settled && !rtts.is_empty() {
                        let mean_ps = rtts.iter().sum::<u64>() / rtts.len() as u64;
                        let (delay, cwnd) = (seconds(Span::from_ps(mean_ps)), window.cwnd());
                        self.gradient = self.last.map_or(0.0, |(before, earlier)| {
                            let rise = (delay - before) / (delay + before);
                            if cwnd == earlier {
                                rise
                            } else {
                                rise * (cwnd + earlier) / (cwnd - earlier)
                            }
                        });
                        self.last = Some((delay, cwnd));
                        if self.gradient > 0.0 {
                            window.shrink(cwnd / 8.0);
                        } else {
                            window.grow(1.0);
                        }
                    }
                    self.settled = !self.settled;
                }
                if phase.may_grow() {
                    self.rtts_ps.extend(ack.rtt.map(Span::as_ps));
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                (self.last, self.settled) = (None, false);
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("gradient", self.gradient)]
    }
}

#[test]
fn delay_gradient() {
    assert_paper(
        "delay-gradient",
        &[],
        DelayGradient::default,
        &[1.0, 30.0, 9.0],
    );
}

/// Parsa and Garcia-Luna-Aceves, ICNP 1999: segments in the queue of the forward path, from the delay relative to the first
/// segment and the time between arrivals in a round.
#[derive(Default)]
struct SantaCruz {
    first: Option<Span>,
    /// Arrival and number of the segment that began the round.
    began: Option<(f64, u64)>,
    queued: f64,
}

impl SantaCruz {
    fn arrival(ack: &AckSample) -> Option<(f64, f64)> {
        let transit = seconds(ack.one_way_delay?);
        Some((ack.now.as_secs_f64() - seconds(ack.rtt?) + transit, transit))
    }

    fn queued(&self, ack: &AckSample) -> Option<f64> {
        let (at, transit) = Self::arrival(ack)?;
        let (began, number) = self.began?;
        let segments = ack.delivered - number;
        let service = (at - began) / segments as f64;
        let relative = transit - seconds(self.first?);
        (segments > 0 && service > 0.0).then_some(relative / service)
    }
}

impl Law for SantaCruz {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start
                    && let Some((at, _)) = Self::arrival(ack)
                {
                    self.first = self.first.or(ack.one_way_delay);
                    if let Some(queued) = self.queued(ack) {
                        self.queued = queued;
                        if !window.in_slow_start() && queued > 4.5 {
                            window.shrink(1.0);
                        } else if !window.in_slow_start() && queued < 3.5 {
                            window.grow(1.0);
                        }
                    }
                    self.began = Some((at, ack.delivered));
                }
                if phase.may_grow() && window.in_slow_start() {
                    window.grow(ack.credit);
                    if self.queued(ack).is_some_and(|queued| queued > 2.0) {
                        window.exit_slow_start();
                    }
                }
            }
            Event::Timeout(_) => {
                self.began = None;
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
fn santa_cruz() {
    assert_paper("santa-cruz", &[], SantaCruz::default, &[2.0, 30.0, 9.0]);
}

/// Zhang, thesis, Osaka University, 2006, chapters 2 and 4: HighSpeed TCP's growth, and standard TCP's while round-trip times rise in
/// a window's samples.
struct Gentle {
    refined: bool,
    gentle: bool,
    size: usize,
    /// Departures and round-trip times of the cycle.
    samples: Vec<(f64, f64)>,
    least_mean: f64,
}

impl Gentle {
    fn new(refined: bool) -> Self {
        Self {
            refined,
            gentle: false,
            size: 0,
            samples: Vec::new(),
            least_mean: f64::INFINITY,
        }
    }

    fn judge(&mut self) -> bool {
        let n = self.samples.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| self.samples.iter().map(of).sum::<f64>() / n;
        let (departure, rtt) = (mean(|sample| sample.0), mean(|sample| sample.1));
        let moment = |of: &dyn Fn(f64, f64) -> f64| {
            let terms = self
                .samples
                .iter()
                .map(|&(at, took)| of(at - departure, took - rtt));
            terms.sum::<f64>()
        };
        let (xx, yy, xy) = (
            moment(&|x, _| x * x),
            moment(&|_, y| y * y),
            moment(&|x, y| x * y),
        );
        let spread = (xx * yy).sqrt();
        let correlation = if yy > 1e-20 && spread > 0.0 {
            xy / spread
        } else {
            0.0
        };
        let z = if n < 4.0 {
            0.0
        } else {
            correlation.clamp(-1.0 + 1e-12, 1.0 - 1e-12).atanh() * (n - 3.0).sqrt()
        };
        let rising = z > 1.0;
        if !self.refined {
            return rising;
        }
        self.least_mean = self.least_mean.min(rtt);
        let deviation = (yy / (n - 1.0)).sqrt().max(1e-6);
        let above = rtt - self.least_mean;
        above > 2.0 * deviation && (rising || above >= 4.0 * deviation)
    }
}

impl Law for Gentle {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, Phase::Avoidance) => {
                let cwnd = window.cwnd();
                if self.gentle {
                    grow_as_standard(ack, window);
                } else {
                    window.grow(high_speed_increase(cwnd) * ack.credit / cwnd);
                }
                if let Some(rtt) = ack.rtt
                    && cwnd > 20.0
                {
                    if self.samples.is_empty() {
                        self.size = cwnd as usize;
                    }
                    let departure = ack.now.since(Time::ZERO).saturating_sub(rtt);
                    self.samples.push((seconds(departure), seconds(rtt)));
                    if self.samples.len() >= self.size {
                        self.gentle = self.judge();
                        self.samples.clear();
                    }
                }
            }
            Event::Signal(_) | Event::Timeout(_) => {
                *self = Self::new(self.refined);
                answer_high_speed(event, window);
            }
            _ => {}
        }
    }

    /// The increase of HighSpeed TCP is tabulated: in longer lives a window may be whole in one and just below that in the other.
    const TOLERANCE: f64 = 1e-6;
    const EVENTS: usize = 300;

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("gentle", f64::from(self.gentle))]
    }
}

/// Part of the way from a low window of 20 to a high one of 2000 segments, on a logarithmic scale.
fn high_speed_part(w: f64) -> f64 {
    ((w / 20.0).ln() / 100.0_f64.ln()).max(0.0)
}

/// RFC 3649 section 5, with loss probabilities of 1e-2 and 1e-5.
fn high_speed_increase(w: f64) -> f64 {
    let b = 0.5 - 0.4 * high_speed_part(w);
    let p = 1e-2 * 1e-3_f64.powf(high_speed_part(w));
    if w <= 20.0 {
        return 1.0;
    }
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

fn answer_high_speed(event: &Event, window: &mut Window) {
    match event {
        Event::Signal(signal) => {
            window.reduce_to(signal.base * (0.5 + 0.4 * high_speed_part(signal.base)));
        }
        _ => answer_as_standard(event, window),
    }
}

#[test]
fn gentle_high_speed_tcp() {
    for refined in [false, true] {
        let given = [
            ("low_window", 20.0),
            ("high_window", 2000.0),
            ("low_p", 1e-2),
            ("high_p", 1e-5),
            ("trend", 1.0),
            ("refined", f64::from(u8::from(refined))),
        ];
        assert_paper(
            "ghstcp",
            &given,
            || Gentle::new(refined),
            &[30.0, 60.0, 20.0],
        );
    }
}
