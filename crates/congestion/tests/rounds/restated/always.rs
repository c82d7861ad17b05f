//! Laws of algorithms that control the window and the pacing rate at all times.

use longhaul_congestion::{AckSample, Cause, Limit, Phase, Phases, Variant, Window};
use longhaul_units::{Span, Time};

use super::{Event, Law, answer_as_standard, assert_follows};
use crate::controller;

/// Law of TCP Prague by draft-briscoe-iccrg-prague-congestion-control-04, section 2.4, and the authors' `tcp_prague.c`.
/// The window approaches a fractional target by at most one segment per acknowledgement. From the fourth round trip
/// after slow start on, the rate grows equally fast with all round-trip times below 120 ms.
struct Prague {
    alpha: f64,
    target: f64,
    marks_seen: bool,
    in_loss: bool,
    reduced: Time,
    estimated: Time,
    delivered: u64,
    /// Numbers of segments delivered and marked in the round.
    counts: (u64, u64),
    round_end: u64,
    rounds: u64,
    pacing: Option<(u64, u64)>,
}

const RTT_TARGET: Span = Span::from_millis(120);

impl Prague {
    fn new() -> Self {
        Self {
            alpha: 1.0,
            target: 0.0,
            marks_seen: false,
            in_loss: false,
            reduced: Time::ZERO,
            estimated: Time::ZERO,
            delivered: 0,
            counts: (0, 0),
            round_end: 0,
            rounds: 0,
            pacing: None,
        }
    }

    fn scales(&self, window: &Window) -> bool {
        self.rounds >= 3 && !window.in_slow_start()
    }

    fn grow(&mut self, segments: f64, srtt: Span, window: &mut Window) {
        let mut left = segments;
        if window.in_slow_start() {
            left -= segments.min(window.ssthresh() - window.cwnd());
            window.grow(segments - left);
            self.target = window.cwnd();
        }
        let ratio = srtt.as_secs_f64() / RTT_TARGET.as_secs_f64();
        let scaled = srtt > Span::ZERO && self.scales(window);
        let increase = if scaled {
            (ratio * ratio).min(1.0)
        } else {
            1.0
        };
        self.target += left * increase / self.target.ceil();
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if self.target == 0.0 {
            self.target = window.cwnd();
        }
        let newly = ack.delivered - self.delivered;
        self.delivered = ack.delivered;
        let marked = if ack.ecn_echo { newly } else { 0 };
        self.counts = (self.counts.0 + newly, self.counts.1 + marked);
        self.marks_seen |= marked > 0;
        let may_grow = phase != Phase::Recovery && !self.in_loss && ack.limit == Limit::Network;
        if may_grow && newly > marked {
            self.grow((newly - marked) as f64, ack.srtt, window);
        }
        if !window.in_slow_start() {
            let step = (self.target.ceil() - window.cwnd()).clamp(-1.0, 1.0);
            window.set_cwnd(window.cwnd() + step);
        }
        let waited = ack.now.since(self.estimated) >= RTT_TARGET || !self.scales(window);
        if ack.delivered >= self.round_end && waited {
            let (delivered, marked) = std::mem::take(&mut self.counts);
            if self.marks_seen {
                let share = marked as f64 / delivered.max(1) as f64;
                self.alpha += (share - self.alpha) / 16.0;
                self.estimated = ack.now;
            }
            self.round_end = ack.delivered + ack.in_flight;
            self.rounds += u64::from(!window.in_slow_start());
        }
        if ack.srtt > Span::ZERO {
            let gain = if window.cwnd() < window.ssthresh() / 2.0 {
                2.0
            } else {
                1.0
            };
            let per_s = gain * self.target / ack.srtt.as_secs_f64();
            let burst = (per_s / 4096.0) as u64;
            self.pacing = Some(((per_s * 8.0 * 1500.0) as u64, burst.max(2)));
        }
    }
}

impl Law for Prague {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, phase) => self.on_ack(ack, *phase, window),
            Event::Signal(signal) => {
                if signal.in_slow_start || self.target == 0.0 {
                    self.target = window.cwnd();
                }
                let kept = if signal.cause == Cause::Ecn {
                    if self.scales(window) && signal.now.since(self.reduced) < RTT_TARGET {
                        return;
                    }
                    self.reduced = signal.now;
                    1.0 - self.alpha / 2.0
                } else {
                    self.in_loss = true;
                    0.5
                };
                self.target = (self.target * kept).max(2.0);
                window.set_ssthresh(self.target);
            }
            Event::Timeout(_) => {
                answer_as_standard(event, window);
                (self.target, self.in_loss) = (1.0, false);
            }
            Event::Exit(_) => self.in_loss = false,
            Event::Idle(_) => {}
        }
    }

    fn pacing(&self) -> Option<(u64, u64)> {
        self.pacing
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha)]
    }
}

#[test]
fn prague() {
    let given = [("rtt_target", 0.12), ("rtt_transition", 3.0)];
    let algorithm = controller("prague", Variant::Paper, &given)
        .build()
        .unwrap();
    assert_follows(&algorithm, Prague::new, &[20.0, 60.0, 2000.0]);
}

/// Maximum in a sliding window of time: Kathleen Nichols' filter (Linux, `lib/win_minmax.c`). The maximum of inverse
/// round-trip times gives the smallest round-trip time.
#[derive(Clone, Copy, Default)]
struct RunningMax([(u64, f64); 3]);

impl RunningMax {
    fn add(&mut self, at: u64, value: f64, length: u64) -> f64 {
        let (new, [first, second, third]) = ((at, value), self.0);
        if value >= first.1 || at - third.0 > length {
            self.0 = [new; 3];
            return value;
        }
        if value >= second.1 {
            self.0 = [first, new, new];
        } else if value >= third.1 {
            self.0[2] = new;
        }
        let [first, second, third] = self.0;
        let age = at - first.0;
        if age > length {
            self.0 = [second, third, new];
            if at - second.0 > length {
                self.0 = [third, new, new];
            }
        } else if second.0 == first.0 && age > length / 4 {
            self.0 = [first, new, new];
        } else if third.0 == second.0 && age > length / 2 {
            self.0[2] = new;
        }
        self.0[0].1
    }
}

/// Law of Copa by Arun and Balakrishnan, NSDI 2018, sections 2.1 and 2.2, and by the authors' genericCC
/// (`markoviancc.cc`).
struct Copa {
    delta: f64,
    competes: bool,
    slow_start: bool,
    velocity: f64,
    grew: bool,
    same_direction: u32,
    cwnd_before: f64,
    lost: bool,
    /// Smallest and largest round-trip times of the last round trips, the current round trip last; `None` for a round
    /// trip without a sample.
    rounds: Vec<Option<(f64, f64)>>,
    filters: [RunningMax; 2],
    delivered: u64,
    counted: (Time, u64, u64),
    pacing: Option<(u64, u64)>,
}

/// Smallest round-trip times, in seconds. `least` is the minimum over the last ten seconds or more; `standing` is the
/// minimum over the last half of a round trip.
#[derive(Clone, Copy)]
struct Delays {
    least: f64,
    standing: f64,
}

impl Copa {
    fn new() -> Self {
        Self {
            delta: 0.25,
            competes: false,
            slow_start: true,
            velocity: 1.0,
            grew: true,
            same_direction: 0,
            cwnd_before: 0.0,
            lost: false,
            rounds: vec![None],
            filters: [RunningMax::default(); 2],
            delivered: 0,
            counted: (Time::ZERO, 0, 0),
            pacing: None,
        }
    }

    fn delays(&self) -> Delays {
        let [least, standing] = self.filters.map(|filter| 1.0 / filter.0[0].1);
        Delays { least, standing }
    }

    fn measure(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt.map(Span::as_secs_f64) else {
            return;
        };
        let long = Span::from_secs(10).max(ack.srtt * 20);
        self.filters[0].add(ack.now.as_ps(), 1.0 / rtt, long.as_ps());
        self.filters[1].add(ack.now.as_ps(), 1.0 / rtt, ack.srtt.as_ps() / 2);
        let current = self.rounds.last_mut().expect("there is one");
        let (least, most) = current.unwrap_or((rtt, rtt));
        *current = Some((least.min(rtt), most.max(rtt)));
    }

    /// Chooses the mode (section 2.2 of the paper). If the queue has not been nearly empty in five round trips, other
    /// flows fill it.
    fn choose_mode(&mut self) {
        let recent = &self.rounds[self.rounds.len().saturating_sub(5)..];
        let seen = recent.iter().flatten();
        let (least, most) = seen.fold((f64::INFINITY, 0.0_f64), |(a, b), &(least, most)| {
            (a.min(least), b.max(most))
        });
        let known = recent.len() == 5 && recent[0].is_some() && !self.slow_start;
        let base = self.delays().least;
        let competes = known && least - base > 0.1 * (most - base);
        if !competes {
            self.delta = 0.25;
        } else if self.competes && !self.lost {
            self.delta = self.delta / (1.0 + self.delta);
        }
        self.competes = competes;
    }

    fn begin_round(&mut self, cwnd: f64) {
        self.choose_mode();
        let grew = cwnd > self.cwnd_before;
        self.same_direction = if grew == self.grew && !self.slow_start {
            self.same_direction + 1
        } else {
            0
        };
        self.velocity = if self.same_direction >= 3 {
            2.0 * self.velocity
        } else {
            1.0
        };
        (self.grew, self.cwnd_before, self.lost) = (grew, cwnd, false);
        self.rounds.push(None);
    }

    fn step(&mut self, acked: f64, may_grow: bool, window: &mut Window) {
        let (cwnd, delays) = (window.cwnd(), self.delays());
        let queueing = (delays.standing - delays.least).max(0.0);
        let below = cwnd * self.delta * queueing <= delays.standing;
        self.slow_start &= below;
        if self.slow_start {
            if may_grow {
                window.set_cwnd(cwnd + acked);
            }
            return;
        }
        if below != self.grew && self.velocity > 1.0 {
            (self.velocity, self.same_direction, self.grew) = (1.0, 0, below);
        }
        while self.velocity > 1.0 && self.velocity > self.delta * cwnd {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
        let step = self.velocity * acked / (self.delta * cwnd);
        if below && may_grow {
            window.set_cwnd((cwnd + step).max(2.0));
        } else if !below {
            window.set_cwnd((cwnd - step).max(2.0));
        }
    }

    fn limit_losses(&mut self, ack: &AckSample, window: &mut Window) {
        let (since, lost, delivered) = self.counted;
        let (lost, delivered) = (ack.lost - lost, ack.delivered - delivered);
        if ack.now.since(since) > ack.srtt * 2 && lost + delivered > 20 {
            self.counted = (ack.now, ack.lost, ack.delivered);
            if lost as f64 > 0.3 * (lost + delivered) as f64 {
                self.slow_start = false;
                window.set_cwnd((0.7 * window.cwnd()).max(2.0));
            }
        }
    }
}

impl Law for Copa {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn apply(&mut self, event: &Event, window: &mut Window) {
        match event {
            Event::Ack(ack, _) => {
                self.measure(ack);
                let acked = ack.delivered - self.delivered;
                self.delivered = ack.delivered;
                if self.filters[0].0[0].1 == 0.0 {
                    return;
                }
                if ack.round_start {
                    self.begin_round(window.cwnd());
                }
                self.step(acked as f64, ack.limit == Limit::Network, window);
                self.limit_losses(ack, window);
                let bits = 8.0 * 1500.0 * 2.0 * window.cwnd();
                self.pacing = Some(((bits / self.delays().standing) as u64, 1));
            }
            Event::Signal(_) => {
                if self.competes && !self.lost {
                    self.delta = (2.0 * self.delta).min(0.25);
                }
                self.lost = true;
            }
            Event::Timeout(_) => {
                (self.slow_start, self.velocity, self.same_direction) = (true, 1.0, 0);
                window.set_cwnd(1.0);
            }
            Event::Exit(_) | Event::Idle(_) => {}
        }
    }

    fn pacing(&self) -> Option<(u64, u64)> {
        self.pacing
    }

    fn state(&self, _window: &Window) -> Vec<(&'static str, f64)> {
        vec![
            ("delta", self.delta),
            ("velocity", self.velocity),
            ("competes", f64::from(u8::from(self.competes))),
        ]
    }
}

#[test]
fn copa() {
    let algorithm = controller("copa", Variant::Paper, &[("delta", 0.25)])
        .build()
        .unwrap();
    assert_follows(&algorithm, Copa::new, &[20.0, 60.0, 4.0]);
}
