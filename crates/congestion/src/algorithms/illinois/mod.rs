//! Illinois: losses decide when the window is reduced. The delay decides by how much it is reduced, and how fast it
//! grows.
//!
//! Liu, Basar and Srikant, "TCP-Illinois: a loss and delay-based congestion control algorithm for high-speed networks",
//! VALUETOOLS 2006 and Performance Evaluation 65, 2008. Thresholds of the delay are fractions of the largest queueing
//! delay so far. Points that the paper does not define are as in Linux.

mod kernel;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelIllinois;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Illinois> = Entry {
    kind: "illinois",
    title: "Illinois",
    description: "Additive increase and multiplicative decrease whose amounts follow the mean queueing delay of the \
        last round trip: max_increase and min_decrease on an empty queue, min_increase and max_decrease on a full \
        one. Standard TCP below low_window segments. Variant linux-2.6.22 has that kernel's error, which keeps at a \
        loss the part of the window that should be removed, and halves the sending rate during recovery; linux-6.18 \
        is the form of a current kernel, in whole segments, with increases in parts of 128 and decreases in parts \
        of 64.",
    law: &[
        "d = (mean rtt of a round - min_rtt) / (max_rtt - min_rtt)",
        "a(d): max_increase on a short queue, then falling as a hyperbola to min_increase at d = 1",
        "b(d): min_decrease on a short queue, a line to max_decrease on a long one",
        "each ACK: cwnd += a * acked / cwnd",
        "congestion: cwnd = (1 - b) * cwnd",
        "below low_window: a = 1, b = 0.5",
    ],
    source: "Liu, Basar and Srikant, Performance Evaluation 65, 2008",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        Quantity::new(
            "increase",
            "segments",
            "increase of the window in a round trip",
        ),
        Quantity::new("decrease", "", "part of the window that a loss removes"),
    ],
    variants: &[Variant::Paper, Variant::Linux2_6_22, Variant::Linux6_18],
    parameters: &PARAMETERS,
    build: Illinois::new,
};

static PARAMETERS: [Parameter; 6] = [
    Parameter {
        name: "max_increase",
        unit: "segments per round trip",
        default: DefaultValue::Fixed(10.0),
        allowed: Range::above(0.0, 1e6),
        help: "Increase on an empty queue.",
        source: "2008, alpha_max",
    },
    Parameter {
        name: "min_increase",
        unit: "segments per round trip",
        default: DefaultValue::Fixed(0.3),
        allowed: Range::above(0.0, 1e6),
        help: "Increase at the largest queueing delay.",
        source: "2008, alpha_min",
    },
    Parameter {
        name: "max_decrease",
        unit: "fraction of the window",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::open(0.0, 1.0),
        help: "Part removed at a congestion signal from 80 % of the largest queueing delay on.",
        source: "2008, beta_max",
    },
    Parameter {
        name: "min_decrease",
        unit: "fraction of the window",
        default: DefaultValue::Fixed(0.125),
        allowed: Range::open(0.0, 1.0),
        help: "Part removed at a congestion signal up to 10 % of the largest queueing delay.",
        source: "2008, beta_min",
    },
    Parameter {
        name: "low_window",
        unit: "segments",
        default: DefaultValue::Fixed(15.0),
        allowed: Range::closed(0.0, 1e6),
        help: "Smallest window at which the flow is not standard TCP.",
        source: "Linux, win_thresh",
    },
    Parameter {
        name: "patience",
        unit: "round trips",
        default: DefaultValue::Fixed(5.0),
        allowed: Range::closed(1.0, 1e6),
        help: "Round trips with an empty queue that follow a longer queue before the increase is the largest again.",
        source: "2008, theta",
    },
];

/// Queueing delay up to which the increase is at its maximum, as a fraction of the largest queueing delay so far.
const EMPTY: f64 = 0.01;
/// Queueing delay up to which the decrease is at its minimum, as a fraction of the largest queueing delay so far.
const DECREASE_FROM: f64 = 0.1;
/// Queueing delay from which on the decrease is at its maximum, as a fraction of the largest queueing delay so far.
const DECREASE_TO: f64 = 0.8;

/// State of Illinois for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Illinois {
    max_increase: f64,
    min_increase: f64,
    max_decrease: f64,
    min_decrease: f64,
    low_window: f64,
    patience: f64,
    linux: bool,
    increase: f64,
    decrease: f64,
    /// Number of round trips with an empty queue since the last round trip with a queue. `None` before the first queue,
    /// after `patience` round trips with an empty queue, and after a timeout.
    patient: Option<f64>,
    max_rtt: Span,
    /// Sum of the round-trip samples of the current round, in seconds.
    rtt_sum_s: f64,
    /// Number of round-trip samples of the current round.
    rtt_count: f64,
    kernel: Option<Box<KernelIllinois>>,
}

impl Illinois {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("min_increase", "max_increase")?;
        settings.require_below("min_decrease", "max_decrease")?;
        Ok(Self {
            max_increase: settings.get("max_increase"),
            min_increase: settings.get("min_increase"),
            max_decrease: settings.get("max_decrease"),
            min_decrease: settings.get("min_decrease"),
            low_window: settings.get("low_window"),
            patience: settings.get("patience"),
            linux: settings.variant() == Variant::Linux2_6_22,
            increase: settings.get("max_increase"),
            decrease: 0.5,
            patient: None,
            max_rtt: Span::ZERO,
            rtt_sum_s: 0.0,
            rtt_count: 0.0,
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelIllinois::new(settings))),
        })
    }

    /// Sets the increase for `delay`, the queueing delay as a fraction of the largest one: by equation 3, a hyperbola,
    /// or to the maximum if the queue is empty. After a queue, the increase stays for `patience - 1` such round trips.
    fn adapt_increase(&mut self, delay: f64) {
        if delay > EMPTY {
            self.patient = Some(0.0);
            let steepness = (self.max_increase - self.min_increase) / self.min_increase;
            let above = (delay - EMPTY) / (1.0 - EMPTY);
            self.increase = self.max_increase / (1.0 + above * steepness);
            return;
        }
        if let Some(rounds) = &mut self.patient {
            *rounds += 1.0;
            if *rounds < self.patience {
                return;
            }
            self.patient = None;
        }
        self.increase = self.max_increase;
    }

    /// Returns the decrease for `delay`, the queueing delay as a fraction of the largest one. The decrease is constant
    /// for small and for large delays, and rises linearly between them.
    fn decrease_at(&self, delay: f64) -> f64 {
        let place = (delay - DECREASE_FROM) / (DECREASE_TO - DECREASE_FROM);
        let rise = self.max_decrease - self.min_decrease;
        self.min_decrease + rise * place.clamp(0.0, 1.0)
    }

    /// Returns the window after a congestion signal at a window of `base` segments. Linux 2.6.22 keeps the fraction
    /// `decrease` of the window (tcp_illinois.c, `tcp_illinois_ssthresh`); other variants remove this fraction.
    fn reduced(&self, base: f64) -> f64 {
        base * if self.linux {
            self.decrease
        } else {
            1.0 - self.decrease
        }
    }

    fn be_standard(&mut self) {
        (self.increase, self.decrease) = (1.0, 0.5);
    }

    fn end_round(&mut self, ack: &AckSample, window: &Window) {
        let mean_s = self.rtt_sum_s / self.rtt_count;
        let measured = self.rtt_count > 0.0;
        (self.rtt_sum_s, self.rtt_count) = (0.0, 0.0);
        if window.cwnd() < self.low_window {
            self.be_standard();
        } else if measured {
            let largest_s = self.max_rtt.saturating_sub(ack.min_rtt).as_secs_f64();
            let delay_s = mean_s - ack.min_rtt.as_secs_f64();
            let delay = if largest_s > 0.0 {
                (delay_s / largest_s).clamp(0.0, 1.0)
            } else {
                0.0
            };
            self.adapt_increase(delay);
            self.decrease = self.decrease_at(delay);
        }
    }
}

impl CongestionControl for Illinois {
    fn needs(&self) -> Needs {
        Needs::RTT
    }

    /// Processes an acknowledgement. Delays in slow start also count, since the largest delay usually occurs there.
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        if ack.round_start {
            self.end_round(ack, window);
        }
        if let Some(rtt) = ack.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
            self.rtt_sum_s += rtt.as_secs_f64();
            self.rtt_count += 1.0;
        }
        if phase == Phase::Avoidance {
            let step = self.increase * ack.credit / window.cwnd();
            window.grow(step);
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        self.end_round(ack, window);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        window.reduce_to(self.reduced(event.base));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_timeout(event, window);
        }
        self.be_standard();
        self.patient = None;
        (self.rtt_sum_s, self.rtt_count) = (0.0, 0.0);
        restart(event, window);
    }

    fn on_recovery_exit(&mut self, now: Time, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.on_recovery_exit(now);
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("increase", self.increase);
        out("decrease", self.decrease);
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Illinois {
    /// Returns Linux's lower bound of the window in a recovery: that of standard TCP (`tcp_reno_min_cwnd`).
    fn recovery_floor(&self, window: &Window) -> Option<f64> {
        self.linux.then(|| window.ssthresh() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn illinois() -> Illinois {
        of(Variant::Paper)
    }

    fn of(variant: Variant) -> Illinois {
        Illinois::new(&ENTRY.settings(variant, &[]).unwrap()).unwrap()
    }

    /// Checks that the increase is `alpha = k1 / (k2 + d)`, where `d` is the queueing delay as a fraction of the
    /// largest one, `k1 = 0.99 * 3 / 9.7` and `k2 = 0.99 * 0.3 / 9.7 - 0.01`.
    #[test]
    fn the_increase_is_the_paper_s_hyperbola() {
        let (k1, k2) = (0.99 * 3.0 / 9.7, 0.99 * 0.3 / 9.7 - 0.01);
        let mut illinois = illinois();
        for delay in [0.011, 0.1, 0.5, 1.0] {
            illinois.adapt_increase(delay);
            let expected = k1 / (k2 + delay);
            assert!((illinois.increase - expected).abs() < 1e-9, "{delay}");
        }
        assert!((illinois.increase - 0.3).abs() < 1e-9);
    }

    #[test]
    fn the_decrease_is_a_line_between_an_eighth_and_a_half() {
        for (delay, expected) in [(0.0, 0.125), (0.1, 0.125), (0.45, 0.3125), (0.9, 0.5)] {
            assert!((illinois().decrease_at(delay) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn linux_mistakes_what_to_remove_for_what_to_keep() {
        for (variant, expected) in [(Variant::Paper, 700.0), (Variant::Linux2_6_22, 100.0)] {
            let mut illinois = of(variant);
            illinois.decrease = 0.125;
            assert_eq!(illinois.reduced(800.0), expected);
            illinois.decrease = 0.5;
            assert_eq!(illinois.reduced(800.0), 400.0);
        }
    }

    #[test]
    fn one_empty_round_trip_does_not_bring_the_largest_increase() {
        let mut illinois = illinois();
        illinois.adapt_increase(0.0);
        assert_eq!(illinois.increase, 10.0);
        illinois.adapt_increase(1.0);
        for _ in 0..4 {
            illinois.adapt_increase(0.0);
            assert!((illinois.increase - 0.3).abs() < 1e-9);
        }
        illinois.adapt_increase(0.0);
        assert_eq!(illinois.increase, 10.0);
    }
}
