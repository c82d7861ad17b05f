//! Scalable TCP: multiplicative increase, multiplicative decrease.
//!
//! Kelly, "Scalable TCP: improving performance in highspeed wide area networks", CCR 33(2), 2003. Each acknowledged
//! segment adds a fixed fraction of a segment; each congestion signal removes a fixed fraction of the window. While the
//! window is small, the flow is standard TCP; in the Linux variants, only its growth is. Variant nist is the form of
//! NIST SP 500-282, equations 37 to 40.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::reno::mean_window;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{Congestion, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::whole_windows::Counted;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Scalable> = Entry {
    kind: "scalable",
    title: "Scalable TCP",
    description: "Adds a fixed part of a segment per segment acknowledged and removes a fixed part of the window at \
        a congestion signal, so that the time to recover does not depend on the window; up to low_window it is \
        standard TCP. Variant linux-2.6.22 removes that part at small windows too; variants linux-2.6.22 and nist \
        also set ssthresh by it at a timeout. Variant linux-2.6.22 halves the sending rate during recovery and then \
        returns to ssthresh in slow start. Variant linux-6.18 counts whole segments: it adds one for every 100 \
        segments acknowledged, or for every window of them if that is smaller.",
    law: &[
        "each ACK: cwnd += increase * acked; below low_window cwnd += acked / cwnd",
        "congestion: cwnd = (1 - decrease) * cwnd; below low_window cwnd = cwnd / 2",
    ],
    source: "Kelly, CCR 33(2), 2003",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[
        Variant::Paper,
        Variant::Linux2_6_22,
        Variant::Linux6_18,
        Variant::Nist,
    ],
    parameters: &[
        Parameter {
            name: "increase",
            unit: "segments per segment acknowledged",
            default: DefaultValue::Derived {
                rule: "0.01; variant linux-2.6.22: 0.02, to allow for delayed acknowledgements",
                value: |settings| {
                    if settings.variant() == Variant::Linux2_6_22 {
                        0.02
                    } else {
                        0.01
                    }
                },
            },
            allowed: Range::above(0.0, 1.0),
            help: "Growth above low_window.",
            source: "Kelly 2003 section 3.1, a",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a congestion signal.",
            source: "Kelly 2003 section 3.1, b",
        },
        Parameter {
            name: "low_window",
            unit: "segments",
            default: DefaultValue::Derived {
                rule: "16; variants linux-2.6.22 and linux-6.18: 1 / increase",
                value: |settings| match settings.variant() {
                    Variant::Linux2_6_22 | Variant::Linux6_18 => 1.0 / settings.get("increase"),
                    _ => 16.0,
                },
            },
            allowed: Range::closed(1.0, 1e9),
            help: "Smallest window at which the flow is not standard TCP.",
            source: "Kelly 2003 section 3.2, legacy window",
        },
    ],
    build: |settings| Ok(Scalable::new(settings)),
};

/// State of Scalable TCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scalable {
    increase: f64,
    decrease: f64,
    low_window: f64,
    variant: Variant,
    /// Number of segments counted towards the next increase, in the variant of a current kernel.
    counted: Counted,
}

impl Scalable {
    fn new(settings: &Settings) -> Self {
        Self {
            increase: settings.get("increase"),
            decrease: settings.get("decrease"),
            low_window: settings.get("low_window"),
            variant: settings.variant(),
            counted: Counted::default(),
        }
    }

    /// Returns the window after a reduction from `base` segments. Linux rounds the number of removed segments down, so
    /// small windows lose a smaller fraction.
    fn reduced(&self, base: f64) -> f64 {
        if matches!(self.variant, Variant::Linux2_6_22 | Variant::Linux6_18) {
            let whole = libm::floor(base);
            return whole - libm::floor(whole * self.decrease);
        }
        let standard = base < self.low_window;
        base * (1.0 - if standard { 0.5 } else { self.decrease })
    }
}

impl CongestionControl for Scalable {
    #[inline]
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        if self.variant == Variant::Linux6_18 {
            // As in `tcp_scalable_cong_avoid`.
            let per_segment = cwnd.min(1.0 / self.increase) as u64;
            return Some(self.counted.add(per_segment, credit as u64) as f64);
        }
        let increase = if cwnd < self.low_window {
            1.0 / cwnd
        } else {
            self.increase
        };
        Some(increase * credit)
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.counted = Counted::default();
        window.reduce_to(self.reduced(event.base));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        // As in `tcp_enter_loss`.
        self.counted = Counted::default();
        if self.variant == Variant::Paper {
            restart(event, window);
            return;
        }
        if !event.keep_ssthresh {
            window.set_ssthresh(self.reduced(event.base));
        }
        window.restart();
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        window.cwnd() >= self.low_window
    }

    /// Returns the mean window, or the mean window of standard TCP if the latter is below `low_window`.
    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        // Between two reductions, the window grows exponentially by `increase / loss` segments in total.
        let mean = self.increase / (loss * -libm::log(1.0 - self.decrease));
        let standard = mean_window(1.0, 0.5, loss);
        Some(if standard < self.low_window {
            standard
        } else {
            mean
        })
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Scalable {
    /// Returns Linux's lower bound of the window in a recovery: half of the threshold, as for standard TCP
    /// (`tcp_reno_min_cwnd`).
    fn recovery_floor(&self, window: &Window) -> Option<f64> {
        (self.variant == Variant::Linux2_6_22).then(|| window.ssthresh() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    fn scalable(variant: Variant) -> Scalable {
        Scalable::new(&ENTRY.settings(variant, &[]).unwrap())
    }

    /// Returns the threshold after a timeout at `cwnd` segments.
    fn threshold_after_timeout(variant: Variant, cwnd: f64) -> f64 {
        let mut window = Window::new(cwnd, 2.0, 1e6, Rounding::Real);
        let event = Timeout {
            now: Time::ZERO,
            base: cwnd,
            keep_ssthresh: false,
            sent: 0,
        };
        scalable(variant).on_timeout(&event, &mut window);
        assert_eq!(window.cwnd(), 1.0);
        window.ssthresh()
    }

    #[test]
    fn a_cut_leaves_seven_eighths_of_a_large_window() {
        assert_eq!(scalable(Variant::Paper).reduced(1000.0), 875.0);
        assert_eq!(scalable(Variant::Paper).reduced(15.0), 7.5);
        assert_eq!(scalable(Variant::Nist).reduced(15.0), 7.5);
        assert_eq!(scalable(Variant::Linux2_6_22).reduced(16.0), 14.0);
        assert_eq!(scalable(Variant::Linux2_6_22).reduced(111.9), 98.0);
    }

    #[test]
    fn timeouts_halve_or_use_the_algorithm_s_own_fraction() {
        assert_eq!(threshold_after_timeout(Variant::Paper, 1000.0), 500.0);
        assert_eq!(threshold_after_timeout(Variant::Nist, 1000.0), 875.0);
        assert_eq!(threshold_after_timeout(Variant::Linux2_6_22, 1000.0), 875.0);
    }
}
