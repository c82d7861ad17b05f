//! Compound TCP: the window is the sum of a window of standard TCP and a window controlled by delay.
//!
//! Tan, Song, Zhang and Sridharan, "A compound TCP approach for high-speed and long distance networks", INFOCOM 2006.
//! While the queue is short, the delay window makes the sum grow by `increase * win^exponent` segments per round trip.
//! When a queue builds up, the delay window shrinks, and the window of standard TCP remains. Variant nist has the
//! values of NIST SP 500-282, equations 14 to 17.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::fast::SRTT_TIMER_SLACK;
use super::reno::mean_window;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::periodic::Periodic;
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Ctcp> = Entry {
    kind: "ctcp",
    title: "Compound TCP",
    description: "Standard TCP's window plus a delay window. While fewer than gamma segments of the flow are queued, \
        the delay window grows with a power of the sum of both; otherwise it shrinks by a part of the queue. \
        Standard TCP below low_window segments. Variant nist has the exponent and zeta of NIST's study.",
    law: &[
        "queued = cwnd * (1 - min_rtt / srtt); cwnd is the loss window plus dwnd",
        "each round trip, queued < gamma: dwnd += max(increase * cwnd^exponent - 1, 0)",
        "each round trip, queued >= gamma: dwnd = max(dwnd - zeta * queued, 0)",
        "each ACK: the loss window grows by acked / cwnd",
        "congestion: cwnd = (1 - decrease) * cwnd, the loss window is halved, dwnd is the rest",
    ],
    source: "Tan, Song, Zhang and Sridharan, INFOCOM 2006",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::DELAY_WINDOW],
    variants: &[Variant::Paper, Variant::Nist],
    parameters: &PARAMETERS,
    build: |settings| Ok(Ctcp::new(settings)),
};

static PARAMETERS: [Parameter; 7] = [
    INCREASE,
    Parameter {
        default: DefaultValue::Derived {
            rule: "0.75; variant nist: 0.8",
            value: |settings| match settings.variant() {
                Variant::Nist => 0.8,
                _ => 0.75,
            },
        },
        ..EXPONENT
    },
    Parameter {
        name: "decrease",
        unit: "fraction of the window",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::open(0.0, 1.0),
        help: "Part of the sum removed at a congestion signal; standard TCP's window is halved.",
        source: "INFOCOM 2006, beta",
    },
    GAMMA,
    Parameter {
        default: DefaultValue::Derived {
            rule: "1; variant nist: 0.1",
            value: |settings| match settings.variant() {
                Variant::Nist => 0.1,
                _ => 1.0,
            },
        },
        ..ZETA
    },
    LOW_WINDOW,
    SRTT_TIMER_SLACK,
];

pub(crate) const INCREASE: Parameter = Parameter {
    name: "increase",
    unit: "segments per round trip",
    default: DefaultValue::Fixed(0.125),
    allowed: Range::above(0.0, 1e6),
    help: "Growth of the sum per round trip at a sum of one segment, on a short queue.",
    source: "INFOCOM 2006, alpha",
};

pub(crate) const EXPONENT: Parameter = Parameter {
    name: "exponent",
    unit: "power of the window",
    default: DefaultValue::Fixed(0.8),
    allowed: Range::closed(0.0, 0.99),
    help: "Exponent of the sum in its growth per round trip.",
    source: "INFOCOM 2006, k; NIST SP 500-282, equation 16",
};

pub(crate) const GAMMA: Parameter = Parameter {
    name: "gamma",
    unit: "segments",
    default: DefaultValue::Fixed(30.0),
    allowed: Range::closed(0.0, 1e6),
    help: "Queued segments from which the delay window shrinks.",
    source: "INFOCOM 2006, gamma",
};

pub(crate) const ZETA: Parameter = Parameter {
    name: "zeta",
    unit: "fraction of the queue",
    default: DefaultValue::Fixed(0.1),
    allowed: Range::closed(0.0, 1e3),
    help: "Decrease of the delay window per round trip.",
    source: "ns-2.35's Linux module (1); NIST SP 500-282, chapter 5 (0.1)",
};

pub(crate) const LOW_WINDOW: Parameter = Parameter {
    name: "low_window",
    unit: "segments",
    default: DefaultValue::Fixed(41.0),
    allowed: Range::closed(1.0, 1e9),
    help: "Smallest sum at which the flow is not standard TCP.",
    source: "NIST SP 500-282, chapter 5",
};

/// Rule for the change of the delay window, applied once per round trip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DelayLaw {
    increase: f64,
    exponent: f64,
    gamma: f64,
    zeta: f64,
    slack: Span,
    timer: Periodic,
}

impl DelayLaw {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            increase: settings.get("increase"),
            exponent: settings.get("exponent"),
            gamma: settings.get("gamma"),
            zeta: settings.get("zeta"),
            slack: Span::from_secs_f64(settings.get("srtt_timer_slack")),
            timer: Periodic::NEW,
        }
    }

    /// Returns true if a round trip and `slack` have passed since it last returned true, and begins the next period.
    pub(crate) fn is_due(&mut self, ack: &AckSample) -> bool {
        let period = ack.srtt + self.slack;
        ack.srtt > Span::ZERO && self.timer.elapsed(ack.now, period).is_some()
    }

    /// Returns the next delay window, in segments. `delay` is the current delay window, and `window` the congestion
    /// window.
    pub(crate) fn next(&self, delay: f64, window: f64, min_rtt: Span, srtt: Span) -> f64 {
        let queued = window * (1.0 - min_rtt.as_secs_f64() / srtt.as_secs_f64());
        let change = if queued < self.gamma {
            (self.increase * libm::pow(window, self.exponent) - 1.0).max(0.0)
        } else {
            -self.zeta * queued
        };
        (delay + change).max(0.0)
    }
}

/// State of Compound TCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ctcp {
    law: DelayLaw,
    decrease: f64,
    low_window: f64,
    /// Delay window in segments. The congestion window is the sum of this window and that of standard TCP.
    delay: f64,
    /// Change of the delay window that is not yet applied to the congestion window.
    change: f64,
    /// True if there was a congestion signal or a timeout since an update of the delay window was last due. The next
    /// update is then omitted.
    signalled: bool,
}

impl Ctcp {
    fn new(settings: &Settings) -> Self {
        Self {
            law: DelayLaw::new(settings),
            decrease: settings.get("decrease"),
            low_window: settings.get("low_window"),
            delay: 0.0,
            change: 0.0,
            signalled: false,
        }
    }

    /// Computes the change of the delay window, once per round trip; [`Self::on_ack`] applies it. The delay window does
    /// not change in slow start, below `low_window`, or in the round trip of a congestion signal.
    fn update_delay_window(&mut self, ack: &AckSample, window: &Window) {
        if !self.law.is_due(ack) || std::mem::take(&mut self.signalled) {
            return;
        }
        let sum = window.cwnd();
        if !window.in_slow_start() && sum >= self.low_window {
            let delay = self.delay + self.change;
            self.change = self.law.next(delay, sum, ack.min_rtt, ack.srtt) - self.delay;
        }
    }
}

impl CongestionControl for Ctcp {
    /// Applies the change of the delay window, an increase or a decrease, and grows the standard window. The delay
    /// window grows less if the sum reaches the maximum window.
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.update_delay_window(ack, window);
        if phase != Phase::Avoidance {
            return;
        }
        let before = window.cwnd();
        window.grow(std::mem::take(&mut self.change));
        self.delay = (self.delay + window.cwnd() - before).max(0.0);
        window.grow(ack.credit / window.cwnd());
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let standard = (event.base - self.delay).max(0.0) / 2.0;
        let decrease = if event.base < self.low_window {
            0.5
        } else {
            self.decrease
        };
        let sum = (event.base * (1.0 - decrease)).max(standard);
        (self.delay, self.change) = (sum - standard, 0.0);
        self.signalled = true;
        window.reduce_to(sum);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        (self.delay, self.change) = (0.0, 0.0);
        self.signalled = true;
        restart(event, window);
    }

    /// Returns the mean window at the loss probability `loss`. The queue is assumed to stay empty, so that the window
    /// `w` grows by `increase * w^exponent` per round trip. Returns standard TCP's mean window if that is below
    /// `low_window`.
    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        let kept = 1.0 - self.decrease;
        // These are integrals over one sawtooth below 1: of w^(1 - k) and of w^-k. For a sawtooth below `top`, the
        // segments sent are `sent` * top^(2 - k) / increase, and the round trips `rounds` * top^(1 - k) / increase.
        let rise = |power: f64| (1.0 - libm::pow(kept, power)) / power;
        let (sent, rounds) = (rise(2.0 - self.law.exponent), rise(1.0 - self.law.exponent));
        let top = libm::pow(
            self.law.increase / (loss * sent),
            1.0 / (2.0 - self.law.exponent),
        );
        let mean = top * sent / rounds;
        let standard = mean_window(1.0, 0.5, loss);
        Some(if standard < self.low_window {
            standard
        } else {
            mean
        })
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        window.cwnd() >= self.low_window
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("delay_window", self.delay);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Time;

    use super::*;
    use crate::facts::Cause;
    use crate::window::Rounding;

    fn ctcp(variant: Variant) -> Ctcp {
        Ctcp::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    /// Compares increases of the delay window with NIST SP 500-282, equation 17.
    #[test]
    fn the_delay_window_grows_with_a_power_of_the_sum() {
        let cases = [
            (41.0, 1.438_580_5),
            (100.0, 3.976_339_6),
            (500.0, 17.033_749),
            (1000.0, 30.398_58),
            (3402.0, 82.617_554),
            (6804.0, 144.586_62),
        ];
        let rtt = Span::from_millis(42);
        for (window, expected) in cases {
            let found = ctcp(Variant::Nist).law.next(10.0, window, rtt, rtt);
            assert!((found - 10.0 - expected).abs() < 1e-5, "{window}: {found}");
        }
        // 1000^0.75 / 8 is 22.228.
        let found = ctcp(Variant::Paper).law.next(0.0, 1000.0, rtt, rtt);
        assert!((found - 21.228).abs() < 1e-3, "{found}");
    }

    /// Checks that NIST's variant removes a tenth of the queued segments from the delay window, and the paper's variant
    /// all. Of 1000 segments, 1000 (1 - `min_rtt` / `srtt`) = 45.4545 are in the queue.
    #[test]
    fn the_delay_window_shrinks_by_a_part_of_the_queue() {
        let (min_rtt, srtt) = (Span::from_millis(42), Span::from_millis(44));
        let next = |variant, delay| ctcp(variant).law.next(delay, 1000.0, min_rtt, srtt);
        assert!((next(Variant::Nist, 600.0) - 595.454_545).abs() < 1e-5);
        assert!((next(Variant::Paper, 600.0) - 554.545_455).abs() < 1e-5);
        assert_eq!(next(Variant::Paper, 45.0), 0.0);
    }

    #[test]
    fn a_loss_halves_the_sum_and_standard_tcp_s_part_of_it() {
        let mut ctcp = ctcp(Variant::Paper);
        ctcp.delay = 600.0;
        let mut window = Window::new(1000.0, 2.0, 1e6, Rounding::Real);
        let event = Congestion {
            now: Time::ZERO,
            cause: Cause::Loss,
            base: 1000.0,
            in_flight: 1000,
            in_slow_start: false,
            first: true,
        };
        ctcp.on_congestion(&event, &mut window);
        assert_eq!((window.cwnd(), ctcp.delay), (500.0, 300.0));
        let event = Timeout {
            now: Time::ZERO,
            base: 500.0,
            keep_ssthresh: false,
            sent: 0,
        };
        ctcp.on_timeout(&event, &mut window);
        assert_eq!((window.ssthresh(), ctcp.delay), (250.0, 0.0));
    }
}
