//! Laws of YeAH and TCP-LP, which reduce the window because of queues.

use longhaul_congestion::{AckSample, Phase, Phases, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_follows, grow_as_standard};
use crate::controller;

/// Law of YeAH by Baiocchi, Castellani and Vacirca, PFLDnet 2007, section 3. With a short queue, the window grows as in
/// Scalable TCP. With a longer queue, it grows as in standard TCP, with precautionary decongestion.
struct Yeah {
    rtt: Option<Span>,
    round_end: Option<u64>,
    queued: f64,
    slow_rounds: u32,
    fast_rounds: u32,
    standard: f64,
}

impl Yeah {
    fn new() -> Self {
        Self {
            rtt: None,
            round_end: None,
            queued: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            standard: 2.0,
        }
    }

    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        if let Some(rtt) = self.rtt.take().or(ack.rtt) {
            let cwnd = window.cwnd();
            let share = 1.0 - ack.min_rtt.as_secs_f64() / rtt.as_secs_f64();
            self.queued = cwnd * share;
            // The condition is Q > Q_max or L > 1 / phi, where L is the queueing delay divided by
            // the rest of the round-trip time.
            if self.queued > 20.0 || share > 0.125 * (1.0 - share) {
                if self.queued > 20.0 && cwnd > self.standard {
                    window.set_cwnd((cwnd - self.queued.min(0.25 * cwnd)).max(self.standard));
                    window.exit_slow_start();
                }
                self.standard = if self.standard == 2.0 {
                    (window.cwnd() / 2.0).max(2.0)
                } else {
                    self.standard + 1.0
                };
                self.slow_rounds += 1;
            } else {
                self.slow_rounds = 0;
                self.fast_rounds += 1;
                if self.fast_rounds > 3 {
                    (self.standard, self.fast_rounds) = (2.0, 0);
                }
            }
        }
        self.round_end = Some(ack.delivered + ack.in_flight);
    }
}

impl Law for Yeah {
    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                if ack.round_start && window.in_slow_start() {
                    self.end_round(ack, window);
                }
                self.rtt = self.rtt.into_iter().chain(ack.rtt).min();
                if !phase.may_grow() || *phase == Phase::SlowStart && window.in_slow_start() {
                    return;
                }
                let standard = 1.0 / window.cwnd();
                let step = if self.slow_rounds > 0 {
                    standard
                } else {
                    standard.max(0.01)
                };
                window.grow(step * ack.credit);
                match self.round_end {
                    Some(end) if ack.delivered > end => self.end_round(ack, window),
                    Some(_) => {}
                    None => {
                        self.rtt = None;
                        self.round_end = Some(ack.delivered + ack.in_flight);
                    }
                }
            }
            Event::Signal(signal) => {
                let half = signal.base / 2.0;
                let taken = if self.slow_rounds < 4 {
                    self.queued.min(half).max(signal.base / 8.0)
                } else {
                    half
                };
                window.reduce_to(signal.base - taken);
                self.fast_rounds = 0;
                self.standard = (self.standard / 2.0).max(2.0);
                self.round_end = None;
            }
            _ => answer_as_standard(event, window),
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("queued", self.queued), ("standard_window", self.standard)]
    }
}

#[test]
fn yeah() {
    let given = [
        ("max_queued", 20.0),
        ("max_delay", 0.125),
        ("max_taken_back", 0.25),
        ("competing", 4.0),
        ("alone", 3.0),
    ];
    let algorithm = controller("yeah", Variant::Paper, &given).build().unwrap();
    assert_follows(&algorithm, Yeah::new, &[30.0, 150.0, 9.0]);
}

/// Law of TCP-LP by Kuzmanovic and Knightly, INFOCOM 2003, section IV. An early indication of congestion is a smoothed
/// delay that exceeds the smallest delay by 15 % of the range of delays. Linux 2.6.22 (`tcp_lp.c`) measures the range
/// anew after each indication.
struct Lp {
    linux: bool,
    range: Option<(f64, f64)>,
    smoothed: Option<f64>,
    range_known: bool,
    srtt: Span,
    answered: u64,
    deaf_until: u64,
    still_until: Time,
}

impl Lp {
    fn new(linux: bool) -> Self {
        Self {
            linux,
            range: None,
            smoothed: None,
            range_known: linux,
            srtt: Span::ZERO,
            answered: 0,
            deaf_until: 0,
            still_until: Time::ZERO,
        }
    }

    fn measure(&mut self, ack: &AckSample) {
        (self.srtt, self.answered) = (ack.srtt, ack.delivered + ack.lost);
        let Some(delay) = ack.one_way_delay.or(ack.rtt).map(Span::as_secs_f64) else {
            return;
        };
        let (min, max) = self.range.unwrap_or((delay, delay));
        self.range = Some((min.min(delay), max.max(delay)));
        if self.answered > self.deaf_until {
            let mean = self.smoothed.unwrap_or(delay);
            self.smoothed = Some(mean + (delay - mean) / 8.0);
        }
    }

    fn restart(&mut self, in_flight: u64) {
        self.deaf_until = self.answered + in_flight;
        self.smoothed = None;
    }
}

impl Law for Lp {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => {
                self.measure(ack);
                if !phase.may_grow() {
                    return;
                }
                self.range_known |= !window.in_slow_start();
                let level = self.range.map(|(min, max)| min + 0.15 * (max - min));
                let early =
                    self.range_known && self.smoothed.zip(level).is_some_and(|(s, l)| s > l);
                if early {
                    let in_inference = ack.now < self.still_until;
                    window.reduce_to(if in_inference {
                        1.0
                    } else {
                        window.cwnd() / 2.0
                    });
                    self.still_until = ack.now + Span::from_secs_f64(3.0 * self.srtt.as_secs_f64());
                    if self.linux {
                        self.range = self.smoothed.map(|smoothed| (smoothed, 2.0 * smoothed));
                    }
                    self.restart(ack.in_flight);
                } else if ack.now >= self.still_until && window.in_slow_start() {
                    window.grow(ack.credit);
                } else if ack.now >= self.still_until {
                    grow_as_standard(ack, window);
                }
            }
            Event::Signal(signal) => {
                self.range_known = true;
                self.restart(signal.in_flight);
                answer_as_standard(event, window);
            }
            Event::Timeout(timeout) => {
                self.range_known = true;
                self.still_until = timeout.now;
                answer_as_standard(event, window);
            }
            _ => {}
        }
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("delay_s", self.smoothed.unwrap_or(f64::NAN)),
            ("min_delay_s", self.range.map_or(f64::NAN, |(min, _)| min)),
        ]
    }
}

#[test]
fn lp() {
    for (variant, linux) in [(Variant::Paper, false), (Variant::Linux2_6_22, true)] {
        let algorithm = controller("lp", variant, &[]).build().unwrap();
        assert_follows(&algorithm, || Lp::new(linux), &[30.0, 150.0, 9.0]);
    }
}
