//! Binomial control: increase and decrease are powers of the window.
//!
//! Bansal and Balakrishnan, "Binomial congestion control algorithms", INFOCOM 2001. Each round trip adds `increase /
//! w^k` segments; a congestion signal removes `decrease w^l`. AIMD has k = 0 and l = 1, MIMD has k = -1 and l = 1, IIAD
//! has k = 1 and l = 0, and SQRT has k = l = 1/2. Algorithms with k + l = 1 and l <= 1 share fairly with standard TCP.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::Congestion;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Binomial> = Entry {
    kind: "binomial",
    title: "Binomial",
    description: "Adds increase / w^k segments each round trip and removes decrease * w^l at a \
        congestion signal. The defaults are SQRT (k = l = 1/2); IIAD has k = 1 and l = 0, MIMD \
        k = -1 and l = 1.",
    law: &[
        "each round trip: cwnd += increase / cwnd^k",
        "congestion: cwnd -= decrease * cwnd^l",
    ],
    source: "Bansal and Balakrishnan, INFOCOM 2001",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "k",
            unit: "exponent",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::closed(-1.0, 3.0),
            help: "The increase per round trip falls with this power of the window.",
            source: "INFOCOM 2001 equation 1",
        },
        Parameter {
            name: "l",
            unit: "exponent",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::closed(0.0, 1.0),
            help: "The decrease grows with this power of the window.",
            source: "INFOCOM 2001 equation 1",
        },
        Parameter {
            name: "increase",
            unit: "segments^(1+k) per round trip",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Increase per round trip at a window of one segment, the paper's alpha.",
            source: "INFOCOM 2001 equation 1",
        },
        Parameter {
            name: "decrease",
            unit: "segments^(1-l)",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::above(0.0, 1e6),
            help: "Decrease at a window of one segment, the paper's beta. At least one segment stays.",
            source: "INFOCOM 2001 equation 1",
        },
    ],
    build: |settings| Ok(Binomial::new(settings)),
};

/// State of binomial control for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Binomial {
    k: f64,
    l: f64,
    increase: f64,
    decrease: f64,
}

impl Binomial {
    fn new(settings: &Settings) -> Self {
        Self {
            k: settings.get("k"),
            l: settings.get("l"),
            increase: settings.get("increase"),
            decrease: settings.get("decrease"),
        }
    }

    fn reduced(&self, window: f64) -> f64 {
        f64::max(window - self.decrease * libm::pow(window, self.l), 1.0)
    }

    /// Returns the number of segments sent, and the number of round trips, while the window grows to `top` after a
    /// reduction: the integrals of `w / growth` and of `1 / growth` over the window.
    fn cycle(&self, top: f64) -> (f64, f64) {
        let bottom = self.reduced(top);
        let between = |power: f64| {
            if power == 0.0 {
                libm::log(top / bottom)
            } else {
                (libm::pow(top, power) - libm::pow(bottom, power)) / power
            }
        };
        let (sent, rounds) = (between(self.k + 2.0), between(self.k + 1.0));
        (sent / self.increase, rounds / self.increase)
    }
}

impl CongestionControl for Binomial {
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        let per_ack = self.increase * libm::pow(cwnd, -self.k - 1.0);
        Some(per_ack * credit)
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(self.reduced(event.base));
    }

    /// Returns the mean window of a saw-tooth with one loss per cycle: `1 / loss` segments are sent in each cycle.
    /// Bisection finds the top of the saw-tooth.
    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        let (mut low, mut high) = (1.0, 1e9);
        for _ in 0..200 {
            let middle = libm::sqrt(low * high);
            if self.cycle(middle).0 < 1.0 / loss {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (sent, rounds) = self.cycle(high);
        Some(sent / rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::reno::mean_window;

    fn binomial(k: f64, l: f64, decrease: f64) -> Binomial {
        Binomial {
            k,
            l,
            increase: 1.0,
            decrease,
        }
    }

    #[test]
    fn reductions_follow_the_power_of_the_window() {
        for (l, decrease, expected) in [(1.0, 0.5, 50.0), (0.5, 0.5, 95.0), (0.0, 1.0, 99.0)] {
            let found = binomial(1.0 - l, l, decrease).reduced(100.0);
            assert!((found - expected).abs() < 1e-9, "l = {l}: {found}");
        }
        assert_eq!(binomial(1.0, 0.0, 5.0).reduced(3.0), 1.0);
    }

    #[test]
    fn aimd_is_among_them() {
        let response = binomial(0.0, 1.0, 0.5).response(1e-4, Span::ZERO).unwrap();
        assert!((response / mean_window(1.0, 0.5, 1e-4) - 1.0).abs() < 0.02);
    }

    /// INFOCOM 2001, section 3: throughput is proportional to `p^(-1 / (k + l + 1))`, where `p` is the loss rate.
    #[test]
    fn the_response_has_the_paper_s_power() {
        for (k, l, decrease) in [(0.5, 0.5, 0.5), (1.0, 0.0, 1.0), (0.0, 1.0, 0.5)] {
            let binomial = binomial(k, l, decrease);
            let at = |loss| binomial.response(loss, Span::ZERO).unwrap();
            let power = libm::log10(at(1e-6) / at(1e-5));
            assert!((power - 1.0 / (k + l + 1.0)).abs() < 0.01, "{power}");
        }
    }
}
