//! Laws of Compound TCP, which adds a delay window to the window of standard TCP, and of FAST: from the papers and from
//! NIST SP 500-282.

use longhaul_congestion::{AckSample, Phase, Variant, Window};
use longhaul_units::Span;

use super::{
    Event, Every, Law, answer_as_standard, assert_variant, grow_as_standard, queued, seconds,
};
use crate::controller;
use crate::sender::Sender;

/// Law of Compound TCP by Tan and others, INFOCOM 2006, equations 1 to 5. The congestion window is the sum of the
/// window of standard TCP and the delay window, `delay`.
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
        assert_variant(
            "ctcp",
            Variant::Paper,
            &given,
            law,
            &[100.0, 41.0, 600.0, 12.0],
        );
    }
}

/// Checks that the delay window grows if the window is at `low_window`, but not if it is below.
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

/// Law of Compound TCP by NIST SP 500-282, equations 14 to 17, as printed.
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
    assert_variant(
        "ctcp-nist",
        Variant::Paper,
        &[],
        CompoundAsPrinted::default,
        &[100.0, 41.0, 60.0],
    );
}

/// Law of FAST by Wei and others, ToN 14(6), 2006, and by NIST SP 500-282, equations 18 and 21.
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
    assert_variant(
        "fast",
        Variant::Paper,
        &given,
        Fast::default,
        &[100.0, 4.0, 30.0],
    );
}
