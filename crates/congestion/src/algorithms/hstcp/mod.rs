//! HighSpeed TCP: additive increase and multiplicative decrease that depend on the window.
//!
//! RFC 3649 section 5. Up to `low_window`, it is standard TCP. Above, a response function determines the increase
//! `a(w)` and the decrease `b(w)`. It is a line on logarithmic scales from (`low_p`, `low_window`) to (`high_p`,
//! `high_window`). Variant nist is the form of NIST SP 500-282. Variant linux-2.6.22 is that of Linux 2.6.22, with the
//! table of the RFC's appendix B.

mod kernel;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelCount;
use super::reno::mean_window;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{Congestion, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::quantity;
use crate::response_table::ResponseTable;
use crate::whole_windows::reduce;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Hstcp> = Entry {
    kind: "hstcp",
    title: "HighSpeed TCP",
    description: "Standard TCP up to a window of low_window segments; above it, the larger the window, the more \
        segments it adds per round trip and the smaller the fraction that it removes at a congestion signal. Variant \
        ns2 starts the response function at a loss probability of 1.5 / low_window^2, halves the window at the first \
        reduction of a connection and in slow start, and removes below low_window the fraction that the last \
        reduction above low_window removed. Variant nist rounds the increase to whole segments, has a low_window of \
        31, and sets ssthresh at a timeout by the same fraction as at a loss. Variant linux-2.6.22 rounds the \
        increase up, as the RFC's table does, sets ssthresh at a timeout by the same fraction, too, and halves the \
        sending rate during recovery, whatever the fraction. Variant linux-6.18 also has that table, and whole \
        segments; each ACK counts once, however many segments it covers.",
    law: &[
        "p(w) = low_p * (w / low_window)^(ln(high_p / low_p) / ln(high_window / low_window))",
        "b(w) = 0.5 + (high_decrease - 0.5) * ln(w / low_window) / ln(high_window / low_window)",
        "a(w) = w^2 * p(w) * 2 * b(w) / (2 - b(w)); up to low_window a = 1 and b = 0.5",
        "each ACK: cwnd += a(cwnd) * acked / cwnd",
        "congestion: cwnd = (1 - b(cwnd)) * cwnd",
    ],
    source: "RFC 3649",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[quantity::INCREASE, quantity::DECREASE],
    variants: &[
        Variant::Paper,
        Variant::Ns2,
        Variant::Linux2_6_22,
        Variant::Linux6_18,
        Variant::Nist,
    ],
    parameters: &PARAMETERS,
    build: Hstcp::new,
};

static PARAMETERS: [Parameter; 7] = [
    LOW_WINDOW,
    HIGH_WINDOW,
    rounded(DefaultValue::Derived {
        rule: "0; variants linux-2.6.22, linux-6.18 and nist: 1",
        value: |settings| {
            f64::from(matches!(
                settings.variant(),
                Variant::Linux2_6_22 | Variant::Linux6_18 | Variant::Nist
            ))
        },
    }),
    HIGH_P,
    HIGH_DECREASE,
    LOW_P,
    MIN_DECREASE,
];

pub(crate) const LOW_WINDOW: Parameter = Parameter {
    name: "low_window",
    unit: "segments",
    default: DefaultValue::Derived {
        rule: "38; variant nist: 31",
        value: |settings| match settings.variant() {
            Variant::Nist => 31.0,
            _ => 38.0,
        },
    },
    allowed: Range::closed(1.0, 1e9),
    help: "Largest window at which the flow is standard TCP.",
    source: "RFC 3649 section 5, Low_Window; NIST SP 500-282, equation 27",
};

pub(crate) const HIGH_WINDOW: Parameter = Parameter {
    name: "high_window",
    unit: "segments",
    default: DefaultValue::Fixed(83000.0),
    allowed: Range::above(1.0, 1e9),
    help: "Window at the upper point of the response function.",
    source: "RFC 3649 section 5, High_Window",
};

pub(crate) const fn rounded(default: DefaultValue) -> Parameter {
    Parameter {
        name: "rounded",
        unit: "0 or 1",
        default,
        allowed: Range::closed(0.0, 1.0),
        help: "1 takes the defaults of low_p and high_p from p(w) = 0.078 / w^1.2, the RFC's rounded form of its \
            response function.",
        source: "RFC 3649 section 5; thesis, Osaka 2006, chapter 2",
    }
}

pub(crate) const HIGH_P: Parameter = Parameter {
    name: "high_p",
    unit: "probability",
    default: DefaultValue::Derived {
        rule: "1e-7; with rounded: 0.078 / high_window^1.2",
        value: |settings| rounded_p(settings, "high_window").unwrap_or(1e-7),
    },
    allowed: Range::open(0.0, 1.0),
    help: "Loss probability at which the mean window is high_window.",
    source: "RFC 3649 section 5, High_P",
};

pub(crate) const HIGH_DECREASE: Parameter = Parameter {
    name: "high_decrease",
    unit: "fraction of the window",
    default: DefaultValue::Fixed(0.1),
    allowed: Range::above(0.0, 0.5),
    help: "Part of the window removed at a congestion signal when it is high_window.",
    source: "RFC 3649 section 5, High_Decrease",
};

pub(crate) const LOW_P: Parameter = Parameter {
    name: "low_p",
    unit: "probability",
    default: DefaultValue::Derived {
        rule: "0.001 * (38 / low_window)^2; variant ns2: 1.5 / low_window^2; with rounded: 0.078 / \
            low_window^1.2",
        value: default_low_p,
    },
    allowed: Range::open(0.0, 1.0),
    help: "Loss probability at which the mean window is low_window.",
    source: "RFC 3649 section 5, Low_P",
};

pub(crate) const MIN_DECREASE: Parameter = Parameter {
    name: "min_decrease",
    unit: "fraction of the window",
    default: DefaultValue::Derived {
        rule: "0.01, or high_decrease where that is less; variant nist: high_decrease",
        value: |settings| match settings.variant() {
            Variant::Nist => settings.get("high_decrease"),
            _ => settings.get("high_decrease").min(0.01),
        },
    },
    allowed: Range::above(0.0, 0.5),
    help: "Smallest part of the window removed at a congestion signal. The RFC's b(w), which has no such bound, \
        reaches zero at a window of 568,000 segments.",
    source: "Longhaul",
};

/// Returns the loss probability `0.078 / w^1.2` of RFC 3649's rounded response function; the window `w` is the value of
/// the parameter `name`. `None` if the parameter `rounded` is 0.
fn rounded_p(settings: &Settings, name: &str) -> Option<f64> {
    let rounded = settings.get("rounded") >= 0.5;
    rounded.then(|| 0.078 / libm::pow(settings.get(name), 1.2))
}

/// Returns the default of `low_p`, the loss probability at the low window: with `rounded`, the result of [`rounded_p`].
/// Otherwise it is proportional to the inverse square of the window, as in standard TCP: 1e-3 at 38 segments in the
/// RFC, and `1.5 / low_window^2` in ns-2.
fn default_low_p(settings: &Settings) -> f64 {
    let low_window = settings.get("low_window");
    rounded_p(settings, "low_window").unwrap_or_else(|| match settings.variant() {
        Variant::Ns2 => 1.5 / (low_window * low_window),
        _ => 1e-3 * (38.0 / low_window) * (38.0 / low_window),
    })
}

/// State of HighSpeed TCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hstcp {
    #[serde(skip)]
    response: Arc<Response>,
    ns2: Option<Ns2Factor>,
    /// True if a timeout sets `ssthresh` with the decrease of HighSpeed TCP (NIST SP 500-282, equation 29).
    own_threshold: bool,
    /// Additional state of variant linux-6.18; `None` in other variants.
    kernel: Option<KernelCount>,
}

/// Fraction of the window that ns-2 keeps in a reduction at or below `low_window`. It is one half at first; each
/// reduction or timeout at a larger window `w` sets it to `b(w)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ns2Factor(f64);

impl Hstcp {
    /// Creates the algorithm from the settings of any algorithm that has the parameters of HighSpeed TCP.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("low_window", "high_window")?;
        settings.require_below("high_p", "low_p")?;
        let ns2 = (settings.variant() == Variant::Ns2).then_some(Ns2Factor(0.5));
        Ok(Self {
            response: Arc::new(Response::new(settings)),
            ns2,
            own_threshold: !matches!(settings.variant(), Variant::Paper | Variant::Ns2),
            kernel: (settings.variant() == Variant::Linux6_18).then_some(KernelCount::NEW),
        })
    }
}

impl CongestionControl for Hstcp {
    /// Returns the number of segments by which `credit` acknowledged segments enlarge the window `cwnd` (RFC 3649
    /// equation 2: `a(w)` segments per round trip). In variant linux-6.18, an acknowledgement counts once, whatever its
    /// `credit`. Never returns `None`.
    #[inline]
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        if let Some(kernel) = &mut self.kernel {
            return Some(kernel.increment(&self.response, cwnd));
        }
        Some(self.response.increase(cwnd) * credit / cwnd)
    }

    /// Reduces the window by the fraction `b(w)` (RFC 3649 equation 1).
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.counted = 0;
            return reduce(window, kernel.reduced(event.base));
        }
        let target = match &mut self.ns2 {
            None => self.response.reduced(event.base),
            Some(factor) => factor.target(&self.response, event, window.cwnd()),
        };
        window.reduce_to(target);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(factor) = &mut self.ns2 {
            factor.update(&self.response, window.cwnd());
        }
        if !self.own_threshold {
            restart(event, window);
            return;
        }
        if !event.keep_ssthresh {
            window.set_ssthresh(match &self.kernel {
                Some(kernel) => kernel.reduced(event.base),
                None => self.response.reduced(event.base),
            });
        }
        if let Some(kernel) = &mut self.kernel {
            kernel.counted = 0;
        }
        window.restart();
    }

    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        Some(self.response.curve.mean_window(loss))
    }

    fn departs_from_standard(&self, _now: Time, window: &Window) -> bool {
        !self.response.is_standard(window.cwnd())
    }

    fn probe(&self, window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("a", self.response.increase(window.cwnd()));
        out("b", self.response.decrease(window.cwnd()));
    }

    fn share_tables(&mut self, like: &Self) {
        self.response = Arc::clone(&like.response);
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Hstcp {
    /// Returns half of the threshold in Linux 2.6.22, as for standard TCP (`tcp_reno_min_cwnd`); otherwise `None`.
    fn recovery_floor(&self, window: &Window) -> Option<f64> {
        let halves = self.response.linux && self.kernel.is_none();
        halves.then(|| window.ssthresh() / 2.0)
    }
}

impl Ns2Factor {
    /// Returns the window after a reduction from `event.base` segments, as in ns-2. The first reduction, and any in
    /// slow start, keeps half of the segments. Other reductions keep the fraction `1 - b(cwnd)` if `cwnd` is above
    /// `low_window`. If not, they keep the fraction that [`Self::update`] stored last.
    fn target(&mut self, response: &Response, event: &Congestion, cwnd: f64) -> f64 {
        self.update(response, cwnd);
        if event.first || event.in_slow_start {
            event.base / 2.0
        } else if cwnd > response.curve.low_window {
            event.base - self.0 * event.base
        } else {
            self.0 * event.base
        }
    }

    /// Stores `b(cwnd)` for a reduction or a timeout at a window of `cwnd` segments above `low_window`.
    fn update(&mut self, response: &Response, cwnd: f64) {
        if cwnd > response.curve.low_window {
            self.0 = response.decrease(cwnd);
        }
    }
}

/// The increase and the decrease as functions of the window.
#[derive(Debug, Default)]
struct Response {
    curve: Curve,
    /// Table of `a(w)`, for the windows that it covers.
    table: ResponseTable,
    /// Rounding of `a(w)` to whole segments; `None` without rounding.
    rounding: Option<fn(f64) -> f64>,
    linux: bool,
    nist: bool,
    /// Rows of a current kernel's table: the largest window of each row, and its decrease in 256ths.
    rows: Vec<(u64, u64)>,
}

impl Response {
    fn new(settings: &Settings) -> Self {
        let curve = Curve::new(settings);
        let table = ResponseTable::new(curve.low_window, curve.table_end(), |w| curve.increase(w));
        Self {
            curve,
            table,
            rounding: match settings.variant() {
                // NIST SP 500-282, equation 26, is rounded here, as in the published results.
                Variant::Nist => Some(|increase| libm::floor(increase + 0.5)),
                // RFC 3649 appendix B gives the largest window of each increase.
                Variant::Linux2_6_22 | Variant::Linux6_18 => Some(libm::ceil),
                _ => None,
            },
            linux: matches!(
                settings.variant(),
                Variant::Linux2_6_22 | Variant::Linux6_18
            ),
            nist: settings.variant() == Variant::Nist,
            rows: kernel::rows(settings),
        }
    }

    /// Returns the increase and the decrease (in 256ths) at window `w` in variant linux-6.18: from the kernel's table
    /// for the RFC's parameters, from the RFC's formula for other parameters.
    fn row(&self, w: u64) -> (u64, u64) {
        if self.rows.is_empty() {
            let decrease = 256.0 * self.decrease(w as f64);
            return (self.increase(w as f64) as u64, decrease as u64);
        }
        let larger = self.rows.partition_point(|&(largest, _)| largest < w);
        let at = larger.min(self.rows.len() - 1);
        (at as u64 + 1, self.rows[at].1)
    }

    /// Returns true if the flow behaves like standard TCP at window `w`: up to and including `low_window` (RFC 3649
    /// section 5). NIST's variant excludes `low_window` (SP 500-282, equations 25 to 28).
    #[inline]
    fn is_standard(&self, w: f64) -> bool {
        w < self.curve.low_window || w == self.curve.low_window && !self.nist
    }

    /// Returns the growth at window `w`, in segments per round trip. The lower bound is standard TCP's one segment:
    /// with the RFC's `low_p` of 1e-3, the formula starts at 0.96.
    #[inline]
    fn increase(&self, w: f64) -> f64 {
        let w = if self.linux { libm::floor(w) } else { w };
        if self.is_standard(w) {
            return 1.0;
        }
        let increase = self.table.at(w).unwrap_or_else(|| self.curve.increase(w));
        self.rounding
            .map_or(increase, |round| round(increase))
            .max(1.0)
    }

    /// Returns the window after a reduction of window `w`. In Linux, the window and the number of removed segments are
    /// whole numbers.
    fn reduced(&self, w: f64) -> f64 {
        if self.linux {
            let whole = libm::floor(w);
            return whole - libm::floor(whole * self.decrease(whole));
        }
        w * (1.0 - self.decrease(w))
    }

    /// Returns the fraction of a window `w` that a reduction removes.
    fn decrease(&self, w: f64) -> f64 {
        if self.is_standard(w) {
            0.5
        } else if self.linux {
            libm::floor(256.0 * self.curve.decrease(self.largest_alike(w))) / 256.0
        } else {
            self.curve.decrease(w)
        }
    }

    /// Returns the largest window in the row of Linux's table that contains window `w`. All windows in a row have the
    /// same increase. They also have the same decrease, computed for the largest window. Returns `w` if the increase
    /// does not grow with the window.
    fn largest_alike(&self, w: f64) -> f64 {
        /// Upper limit of the windows to search: successive doubles above it differ by more than half a segment.
        const LARGEST: f64 = (1_u64 << 52) as f64;
        let increase = self.increase(w);
        let (mut from, mut to) = (w, 2.0 * w);
        while self.curve.increase(to) <= increase {
            to *= 2.0;
            if to > LARGEST {
                return w;
            }
        }
        while to - from > 0.5 {
            let middle = (from + to) / 2.0;
            if self.curve.increase(middle) <= increase {
                from = middle;
            } else {
                to = middle;
            }
        }
        from
    }
}

/// Formulas of the RFC for windows above `low_window`.
#[derive(Debug, Default)]
struct Curve {
    low_window: f64,
    low_p: f64,
    min_decrease: f64,
    /// Slope of `ln p` as a function of `ln w`: the reciprocal of the RFC's `S`.
    loss_slope: f64,
    /// Slope of `b` as a function of `ln w`.
    decrease_slope: f64,
}

impl Curve {
    fn new(settings: &Settings) -> Self {
        let (low_window, low_p) = (settings.get("low_window"), settings.get("low_p"));
        let width = libm::log(settings.get("high_window") / low_window);
        Self {
            low_window,
            low_p,
            min_decrease: settings.get("min_decrease"),
            loss_slope: libm::log(settings.get("high_p") / low_p) / width,
            decrease_slope: (settings.get("high_decrease") - 0.5) / width,
        }
    }

    /// Returns `a(w) = w^2 p(w) 2 b(w) / (2 - b(w))`.
    fn increase(&self, w: f64) -> f64 {
        let b = self.decrease(w);
        let p = self.low_p * libm::exp(self.loss_slope * libm::log(w / self.low_window));
        w * w * p * 2.0 * b / (2.0 - b)
    }

    /// Returns `b(w)`, the fraction of a window `w` that a reduction removes: linear in the logarithm of `w`, one half
    /// at `low_window`, `high_decrease` at `high_window`, and not below `min_decrease`.
    fn decrease(&self, w: f64) -> f64 {
        let line = 0.5 + self.decrease_slope * libm::log(w / self.low_window);
        line.max(self.min_decrease)
    }

    /// Returns the largest window in the table of `a(w)`: the window where `b(w)` has fallen to `min_decrease` or to
    /// 0.01, but at most four million segments.
    fn table_end(&self) -> f64 {
        // Beyond that window, `a(w)` is too curved for the table, or has a kink.
        let x = (self.min_decrease.max(0.01) - 0.5) / self.decrease_slope;
        (self.low_window * libm::exp(x))
            .min(4e6)
            .max(self.low_window)
    }

    /// Returns the mean window with evenly spaced losses of probability `loss`, or the mean window of standard TCP if
    /// `loss` is at least `low_p`.
    fn mean_window(&self, loss: f64) -> f64 {
        if loss >= self.low_p {
            return mean_window(1.0, 0.5, loss);
        }
        self.low_window * libm::exp(libm::log(loss / self.low_p) / self.loss_slope)
    }
}
