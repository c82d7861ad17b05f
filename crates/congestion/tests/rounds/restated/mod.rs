//! Differential tests: on random events, each algorithm is compared with its law, a second implementation written from
//! the algorithm's source. After each event, the window, the threshold and the recorded state must be equal.

mod always;
mod compound;
mod curves;
mod delays;
mod kernels;
mod kernels_of_curves;
mod kernels_of_queues;
mod kernels_of_rates;
mod models;
mod older_kernels;
mod queues;
mod slow_starts;
mod sync;
mod trends;
mod vivace;

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, Controller, Idle, Limit, Load, Phase, Phases,
    RateSample, Rounding, RouterFeedback, Timeout, Variant, Window,
};
use longhaul_units::{Span, Time};

use crate::controller;

/// Call of a transport to an algorithm.
#[derive(Clone, Debug)]
pub enum Event {
    Ack(AckSample, Phase),
    Signal(Congestion),
    Timeout(Timeout),
    Exit(Time),
    Idle(Idle),
}

/// Law of the window: an algorithm's rules, restated from its paper, RFC or source code.
pub trait Law {
    /// Largest relative difference allowed between a value of the algorithm and that of the law, because of rounding.
    const TOLERANCE: f64 = 1e-9;

    const EVENTS: usize = 1500;

    /// Changes the window for an event. Slow start is left to the caller if [`Self::phases`] is [`Phases::Avoidance`].
    fn apply(&mut self, event: &Event, window: &mut Window);

    fn phases(&self) -> Phases {
        Phases::Avoidance
    }

    /// Returns the pacing rate in bits per second and the number of segments in a burst; `None` without pacing.
    fn pacing(&self) -> Option<(u64, u64)> {
        None
    }

    /// Returns the names and values of the recorded state.
    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

impl<F: FnMut(&Event, &mut Window)> Law for F {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        self(event, window);
    }
}

/// Changes the window in response to losses, marks and timeouts as standard TCP does (RFC 5681 equation 4 and section
/// 3.1; RFC 3168 section 6.1.2).
pub fn answer_as_standard(event: &Event, window: &mut Window) {
    match event {
        Event::Signal(signal) => window.reduce_to(signal.base / 2.0),
        Event::Timeout(timeout) => restart_below(timeout, timeout.base / 2.0, window),
        Event::Ack(..) | Event::Exit(_) | Event::Idle(_) => {}
    }
}

/// Sets the window to one segment after a timeout, and the threshold to `threshold` if the timeout may change it.
pub fn restart_below(timeout: &Timeout, threshold: f64, window: &mut Window) {
    if !timeout.keep_ssthresh {
        window.set_ssthresh(threshold);
    }
    window.set_cwnd(1.0);
}

/// Increases the window as standard TCP does (RFC 5681 equation 3).
pub fn grow_as_standard(ack: &AckSample, window: &mut Window) {
    window.grow(ack.credit / window.cwnd());
}

/// Possible round-trip times of the path in milliseconds.
const RTTS_MS: [u64; 8] = [100, 100, 104, 112, 125, 150, 200, 100];

/// Generator of random events of a flow, with the flow's clock and counters.
struct Life {
    random: u64,
    now: Time,
    delivered: u64,
    lost: u64,
    /// Number of segments sent so far.
    sent: u64,
    /// Number of segments that are neither delivered nor lost.
    in_flight: u64,
    round: u64,
    round_end: u64,
    srtt: Span,
    min_rtt: Span,
    /// Current round-trip time, drawn again at one in twelve acknowledgements on average.
    rtt: Span,
    reduced: bool,
    /// Window at the last congestion signal, in segments.
    base: f64,
    /// Number of acknowledgements until the end of the recovery.
    recovering: u64,
}

impl Life {
    fn new(seed: u64) -> Self {
        Self {
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            now: Time::ZERO,
            delivered: 0,
            lost: 0,
            sent: 0,
            in_flight: 0,
            round: 0,
            round_end: 0,
            srtt: Span::ZERO,
            min_rtt: Span::ZERO,
            rtt: Span::from_millis(100),
            reduced: false,
            base: 1.0,
            recovering: 0,
        }
    }

    /// Returns a random number below `n` (xorshift64).
    fn below(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) % n
    }

    fn next(&mut self, window: &Window) -> Event {
        if self.recovering > 0 {
            self.recovering -= 1;
            if self.recovering == 0 {
                let later = self.below(2);
                self.now += Span::from_millis(later);
                return Event::Exit(self.now);
            }
            return self.ack(window, Some(Phase::Recovery));
        }
        match self.below(400) {
            0..3 => self.signal(window),
            3 => self.time_out(window),
            4 => self.idle(),
            5..25 => self.ack(window, Some(Phase::NoGrowth)),
            _ => self.ack(window, None),
        }
    }

    fn ack(&mut self, window: &Window, phase: Option<Phase>) -> Event {
        let gap = [0, 1, 2, 5, 10][self.below(5) as usize];
        self.now += Span::from_millis(gap);
        if self.below(12) == 0 {
            self.rtt = Span::from_millis(RTTS_MS[self.below(8) as usize]);
        }
        let measured = self.below(10) > 0;
        if measured {
            self.min_rtt = if self.min_rtt == Span::ZERO {
                self.rtt
            } else {
                self.min_rtt.min(self.rtt)
            };
            self.srtt = self.rtt;
        }
        let duplicate = phase == Some(Phase::NoGrowth) && self.below(2) == 0;
        let acked = if duplicate { 0 } else { 1 + self.below(8) / 7 };
        self.delivered += acked.max(1);
        let unsent = self.below(3) / 2 * self.below(40);
        let fill = (window.cwnd() as u64).saturating_sub(unsent);
        let known = self.delivered + self.lost;
        self.sent = self.sent.max(known + fill);
        self.in_flight = self.sent - known;
        let round_start = self.delivered > self.round_end;
        if round_start {
            self.round += 1;
            self.round_end = self.delivered + self.in_flight;
        }
        let unused = self.below(if phase == Some(Phase::NoGrowth) { 2 } else { 9 }) == 0;
        let ack = AckSample {
            now: self.now,
            acked,
            delivered: self.delivered,
            lost: self.lost,
            credit: acked as f64,
            rtt: measured.then_some(self.rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            one_way_delay: (self.below(3) > 0)
                .then_some(self.rtt.saturating_sub(Span::from_millis(50))),
            router: Some(self.feedback()),
            pair_spacing: Some(Span::from_micros(500 * self.below(9))),
            ecn_echo: self.below(9) == 0,
            in_flight: self.in_flight,
            delivery_rate: Some(RateSample::new(window.cwnd(), self.rtt)),
            limit: [Limit::Network, Limit::Application][usize::from(unused)],
            round: self.round,
            round_start,
            ..AckSample::ONE_SEGMENT
        };
        let growing = if window.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        Event::Ack(ack, phase.unwrap_or(growing))
    }

    /// Returns random feedback of a router with XCP or VCP.
    fn feedback(&mut self) -> RouterFeedback {
        match self.below(8) {
            0 => RouterFeedback::Vcp(Load::Low),
            1 | 2 => RouterFeedback::Vcp(Load::High),
            3 => RouterFeedback::Vcp(Load::Over),
            _ => RouterFeedback::Xcp {
                change: self.below(60) as f64 - 30.0,
            },
        }
    }

    fn signal(&mut self, window: &Window) -> Event {
        let cause = [Cause::Loss, Cause::Loss, Cause::Nak, Cause::Ecn][self.below(4) as usize];
        if cause != Cause::Ecn {
            self.lost += 1 + self.below(4) / 3 * self.below(40);
        }
        self.recovering = 1 + self.below(12);
        let first = !std::mem::replace(&mut self.reduced, true);
        // In a quarter of the cases, the window in use is the same as at the last signal.
        if first || self.below(4) > 0 {
            self.base = window.cwnd();
        }
        Event::Signal(Congestion {
            now: self.now,
            cause,
            base: self.base,
            in_flight: self.in_flight,
            in_slow_start: window.in_slow_start(),
            first,
        })
    }

    fn time_out(&mut self, window: &Window) -> Event {
        self.now += Span::from_millis(300);
        let keep_ssthresh = self.below(4) == 0;
        self.reduced = true;
        Event::Timeout(Timeout {
            now: self.now,
            base: window.cwnd(),
            keep_ssthresh,
            sent: self.delivered + self.lost + self.in_flight,
        })
    }

    fn idle(&mut self) -> Event {
        let time = Span::from_millis(50 + self.below(400));
        self.now += time;
        Event::Idle(Idle {
            now: self.now,
            time,
            since_sent: time + self.srtt,
        })
    }
}

/// Passes an event to an algorithm.
fn tell(controller: &mut Controller, event: &Event, window: &mut Window) {
    match event {
        Event::Ack(ack, phase) => controller.on_ack(ack, *phase, window),
        Event::Signal(event) => controller.on_congestion(event, window),
        Event::Timeout(event) => controller.on_timeout(event, window),
        Event::Exit(now) => controller.on_recovery_exit(*now, window),
        Event::Idle(idle) => controller.on_idle(idle, window),
    }
}

/// Increases the window as standard slow start does, for an acknowledgement in slow start.
fn slow_start(event: &Event, window: &mut Window) {
    if let Event::Ack(ack, Phase::SlowStart) = event {
        window.set_cwnd((window.cwnd() + ack.credit).min(window.ssthresh().max(window.cwnd())));
    }
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    let apart = (found - expected).abs();
    apart <= tolerance * expected.abs().max(1.0) || found.is_nan() && expected.is_nan()
}

/// Asserts that an algorithm changes the window as `law` does, in flows with the initial windows `windows` (segments).
#[track_caller]
pub fn assert_follows<L: Law>(controller: &Controller, law: impl Fn() -> L, windows: &[f64]) {
    for seed in 0..24 {
        let cwnd = windows[seed as usize % windows.len()];
        let ssthresh = if seed % 3 == 0 { 1e5 } else { 2.0 };
        let mut life = Life::new(seed + 1);
        let (mut algorithm, mut law) = (controller.clone(), law());
        let mut window = Window::new(cwnd, ssthresh, 1e5, Rounding::Real);
        let mut expected = window;
        for number in 0..L::EVENTS {
            let event = life.next(&window);
            tell(&mut algorithm, &event, &mut window);
            law.apply(&event, &mut expected);
            assert_eq!(algorithm.phases(), law.phases(), "{number}: {event:?}");
            if law.phases() == Phases::Avoidance {
                slow_start(&event, &mut window);
                slow_start(&event, &mut expected);
            }
            let paced = algorithm.pacing_rate();
            let pacing = paced.map(|rate| (rate.as_bps(), algorithm.send_quantum()));
            assert_eq!(pacing, law.pacing(), "{number}: {event:?}");
            let mut found = vec![("cwnd", window.cwnd()), ("ssthresh", window.ssthresh())];
            let mut wanted = vec![("cwnd", expected.cwnd()), ("ssthresh", expected.ssthresh())];
            wanted.extend(law.state(&expected));
            algorithm.probe(&window, &mut |name, value| {
                if wanted.iter().any(|&(known, _)| known == name) {
                    found.push((name, value));
                }
            });
            let same = found.len() == wanted.len()
                && wanted.iter().all(|&(name, value)| {
                    found
                        .iter()
                        .any(|&(known, found)| known == name && near(found, value, L::TOLERANCE))
                });
            assert!(
                same,
                "seed {seed}, event {number}: {found:?}, expected {wanted:?} after {event:?}"
            );
        }
    }
}

/// Asserts that the algorithm `kind` follows `law` ([`assert_follows`]), in `variant` and with parameters `given`.
#[track_caller]
pub fn assert_variant<L: Law>(
    kind: &str,
    variant: Variant,
    given: &[(&str, f64)],
    law: impl Fn() -> L,
    windows: &[f64],
) {
    let algorithm = controller(kind, variant, given).build().unwrap();
    assert_follows(&algorithm, law, windows);
}

/// Converts a duration to seconds.
pub fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

/// Timer of a procedure that runs at an acknowledgement if at least one period has passed since its last run. The first
/// period begins with the first acknowledgement.
#[derive(Clone, Copy, Default)]
pub struct Every(Option<Time>);

impl Every {
    pub fn is_due(&mut self, now: Time, period: Span) -> bool {
        let since = *self.0.get_or_insert(now);
        let due = now > since && now.since(since) >= period;
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// Returns the number of segments in the queue, out of `flight` segments, at the round-trip time `rtt`; `base` is the
/// smallest round-trip time (Brakmo and Peterson, JSAC 13(8), 1995).
pub fn queued(flight: f64, base: Span, rtt: Span) -> f64 {
    flight * (1.0 - seconds(base) / seconds(rtt))
}
