//! CUBIC: the window is a cubic function of the time since the last congestion event.
//!
//! RFC 9438. Variant linux-6.18 is the integer implementation of a current kernel. Variant linux-2.6.22 is an earlier
//! implementation, which keeps four fifths of the window and adds at most 16 segments per 100 ms beyond the plateau.
//! Variant picoquic is the implementation of a QUIC stack, which tolerates some losses.

mod kernel;
mod losses;
mod picoquic;
mod real;

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use super::reno::mean_window;
use crate::backoff::ECN_DECREASE;
use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::{self, Quantity};
use crate::window::Window;
use kernel::KernelCubic;
use losses::SmoothedLosses;
use picoquic::PicoquicCubic;
use real::RealCubic;

pub(crate) static ENTRY: Entry<Cubic> = Entry {
    kind: "cubic",
    title: "CUBIC",
    description: "Grows along a cubic function of the time since the last reduction: fast at first, flat around the \
        window at which congestion occurred, then faster and faster; never slower than the AIMD flow with the same \
        mean window as standard TCP. Variant linux-6.18 is the form of a current kernel, in whole segments and clock \
        ticks; its AIMD flow never takes standard TCP's increase. Variant linux-2.6.22 is the form of an earlier \
        kernel. Variant picoquic is the form of a QUIC implementation, which keeps 7/8 of the window and responds to \
        several losses close together, not to a single one.",
    law: &[
        "K = ((peak - cwnd at the reduction) / scale)^(1/3)",
        "W(t) = scale * (t - K)^3 + peak, with t the time since the reduction ended",
        "each ACK: cwnd += (min(W(t + rtt), 1.5 * cwnd) - cwnd) * acked / cwnd, or the AIMD estimate if it is larger",
        "congestion: peak = cwnd, or (1 - decrease / 2) * cwnd if below the last peak; cwnd = (1 - decrease) * cwnd",
        "mark in congestion avoidance: the same peak; cwnd = (1 - ecn_decrease) * cwnd",
        "loss_threshold above 0: rate = 15/16 * rate for each segment, + 1/16 if it is lost; congestion if rate > loss_threshold",
    ],
    source: "RFC 9438; RFC 8511",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::PEAK,
        quantity::STANDARD_WINDOW,
        Quantity::new("smoothed_losses", "", "smoothed share of lost segments"),
    ],
    variants: &[
        Variant::Paper,
        Variant::Linux2_6_22,
        Variant::Linux6_18,
        Variant::Picoquic,
    ],
    parameters: &PARAMETERS,
    build: |settings| Ok(Cubic::new(settings)),
};

static PARAMETERS: [Parameter; 6] = [
    Parameter {
        name: "scale",
        unit: "segments per cubic second",
        default: DefaultValue::Derived {
            rule: "0.4; variants linux-2.6.22 and linux-6.18: 410/1024",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 410.0 / 1024.0,
                _ => 0.4,
            },
        },
        allowed: Range::above(0.0, 1e3),
        help: "Steepness of the cubic.",
        source: "RFC 9438 section 5, C",
    },
    Parameter {
        name: "decrease",
        unit: "fraction of the window",
        default: DefaultValue::Derived {
            rule: "0.3; variant linux-2.6.22: 205/1024; variant linux-6.18: 307/1024; variant picoquic: 0.125",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 => 205.0 / 1024.0,
                Variant::Linux6_18 => 307.0 / 1024.0,
                Variant::Picoquic => 0.125,
                _ => 0.3,
            },
        },
        allowed: Range::open(0.0, 1.0),
        help: "Part of the window removed at a congestion signal.",
        source: "RFC 9438 section 4.6, one minus beta; picoquic, August 2026: cubic.c, 1 - PICOQUIC_CUBIC_BETA_ECN",
    },
    ECN_DECREASE,
    Parameter {
        name: "fast_convergence",
        unit: "0 or 1",
        default: DefaultValue::Fixed(1.0),
        allowed: Range::closed(0.0, 1.0),
        help: "1 turns on fast convergence: a flow that is reduced below its last peak sets the next peak below the \
            window that it had.",
        source: "RFC 9438 section 4.7",
    },
    Parameter {
        name: "timestamps",
        unit: "0 or 1",
        default: DefaultValue::Fixed(1.0),
        allowed: Range::closed(0.0, 1.0),
        help: "Variant linux-2.6.22: 1 if timestamps give it the round-trip time, which its growth limit and its \
            look-ahead need.",
        source: "Linux 2.6.22, which takes it from the timestamp option alone",
    },
    Parameter {
        name: "loss_threshold",
        unit: "fraction of the segments",
        default: DefaultValue::Derived {
            rule: "0; variant picoquic: 0.15",
            value: |settings| match settings.variant() {
                Variant::Picoquic => 0.15,
                _ => 0.0,
            },
        },
        allowed: Range::closed(0.0, 0.9),
        help: "Smoothed share of lost segments above which losses reduce the window; 0: every loss does, once for \
            each window of data. With 0.15, three losses among three to five consecutive segments do. Timeouts \
            reduce the window in any case.",
        source: "picoquic, August 2026: cc_common.c (picoquic_cc_hystart_loss_test), PICOQUIC_SMOOTHED_LOSS_THRESHOLD",
    },
];

/// State of CUBIC for one flow, in one of its variants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cubic {
    form: Form,
    /// Smoothed fraction of lost segments, which decides if losses count as congestion; `None` if `loss_threshold` is
    /// zero, since every loss then counts.
    losses: Option<Box<SmoothedLosses>>,
}

/// Implementation of the cubic: in real numbers, of a current kernel, or of picoquic.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Form {
    Real(RealCubic),
    Kernel(KernelCubic),
    Picoquic(PicoquicCubic),
}

/// Calls a method of the implementation in `$form`.
macro_rules! with_form {
    ($form:expr, $cubic:ident => $call:expr) => {
        match $form {
            Form::Real($cubic) => $call,
            Form::Kernel($cubic) => $call,
            Form::Picoquic($cubic) => $call,
        }
    };
}

impl Cubic {
    fn new(settings: &Settings) -> Self {
        let form = match settings.variant() {
            Variant::Linux6_18 => Form::Kernel(KernelCubic::new(settings)),
            Variant::Picoquic => Form::Picoquic(PicoquicCubic::new(settings)),
            _ => Form::Real(RealCubic::new(settings)),
        };
        let threshold = settings.get("loss_threshold");
        let losses = (threshold > 0.0).then(|| Box::new(SmoothedLosses::new(threshold)));
        Self { form, losses }
    }
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        with_form!(&mut self.form, cubic => cubic.on_ack(ack, phase, window));
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        with_form!(&mut self.form, cubic => cubic.on_congestion(event, window));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        with_form!(&mut self.form, cubic => cubic.on_timeout(event, window));
    }

    /// Excludes an idle time from the cubic function's time, which counts only while there is data to send (RFC 9438
    /// section 4.2). The kernel's variant excludes the time since the last sent segment (`cubictcp_cwnd_event`). In
    /// picoquic's variant, the cubic function's time begins again at zero.
    fn on_idle(&mut self, idle: &Idle, _window: &mut Window) {
        match &mut self.form {
            Form::Real(real) => real.on_idle(idle.time),
            Form::Kernel(kernel) => kernel.on_idle(idle),
            Form::Picoquic(picoquic) => picoquic.on_idle(idle.now),
        }
    }

    fn response(&self, loss: f64, rtt: Span) -> Option<f64> {
        if self.losses.is_some() {
            return None;
        }
        let (scale, decrease) = with_form!(&self.form, cubic => cubic.constants());
        Some(response(scale, decrease, loss, rtt))
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        with_form!(&self.form, cubic => cubic.probe(out));
        if let Some(losses) = &self.losses {
            out("smoothed_losses", losses.share());
        }
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Cubic {
    fn answers_losses(&mut self, delivered: u64, lost: u64) -> bool {
        let Some(losses) = &mut self.losses else {
            return true;
        };
        match &self.form {
            Form::Picoquic(cubic) if cubic.ignores_losses(delivered + lost) => {
                losses.ignore(lost);
                false
            }
            _ => losses.exceed(delivered, lost),
        }
    }
}

/// Returns the mean window by RFC 9438 equation 5, for the constants `scale` and `decrease`; at least that of standard
/// TCP.
///
/// The equation assumes that all losses occur exactly on the plateau. The actual mean can differ from it in two ways.
/// If the first peak is too high, later peaks approach the right one slowly, since the cubic is flat there: after 100
/// losses, a first peak that was 50 % too high still raises the mean by 10 %. Fast convergence, which the equation
/// neglects, lowers the mean by some 10 %.
fn response(scale: f64, decrease: f64, loss: f64, rtt: Span) -> f64 {
    let kept = 1.0 - decrease;
    let factor = scale * (3.0 + kept) / (4.0 * decrease);
    let cubic = libm::pow(factor, 0.25) * libm::pow(rtt.as_secs_f64() / loss, 0.75);
    cubic.max(mean_window(1.0, 0.5, loss))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_function_has_the_rfc_s_table() {
        // RFC 9438 section 5.1: C = 0.4 at round-trip times of 100 and 10 ms.
        let cases = [
            (100, 1e-2, 12.0),
            (100, 1e-4, 187.0),
            (100, 1e-5, 1054.0),
            (100, 1e-6, 5926.0),
            (10, 1e-6, 1200.0),
            (10, 1e-8, 33325.0),
        ];
        for variant in [Variant::Paper, Variant::Linux6_18] {
            let cubic = Cubic::new(&ENTRY.settings(variant, &[]).unwrap());
            for (rtt_ms, p, expected) in cases {
                let found = cubic.response(p, Span::from_millis(rtt_ms)).unwrap();
                assert!((found / expected - 1.0).abs() < 0.025, "p = {p}: {found}");
            }
        }
    }
}
