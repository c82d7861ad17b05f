//! BIC: binary search for the largest window without congestion, between a window that is known to be safe and one at
//! which congestion occurred.
//!
//! Xu, Harfoush and Rhee, "Binary increase congestion control (BIC) for fast long-distance networks", INFOCOM 2004.
//! Variant nist is a different algorithm with the same parameters.

mod kernel;
mod nist;
mod search;

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use self::kernel::KernelBic;
use self::nist::BicNist;
use self::search::BinarySearch;
use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Bic> = Entry {
    kind: "bic",
    title: "BIC",
    description: "Each round trip the window goes half of the way to the window of the last congestion, in steps of \
        at most max_increment segments; beyond that window it probes in steps that grow again. Below low_window it \
        is standard TCP. Variant linux-2.6.22 is the form of Linux 2.6.22, linux-6.18 that of a current kernel, in \
        whole segments, variant nist that of NIST's study.",
    law: &[
        "each round trip below the peak: cwnd += (peak - cwnd) / 2, from min_increment to max_increment",
        "each round trip beyond the peak: cwnd += 1, 2, 4, ... up to max_increment",
        "congestion: peak = cwnd, or (1 - decrease / 2) * cwnd if below the last peak; cwnd = (1 - decrease) * cwnd",
    ],
    source: "Xu, Harfoush and Rhee, INFOCOM 2004",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[quantity::PEAK],
    variants: &[
        Variant::Paper,
        Variant::Linux2_6_22,
        Variant::Linux6_18,
        Variant::Nist,
    ],
    parameters: &PARAMETERS,
    build: |settings| {
        Ok(match settings.variant() {
            Variant::Nist => Bic::Nist(BicNist::new(settings)),
            Variant::Linux6_18 => Bic::Kernel(KernelBic::new(settings)),
            _ => Bic::Search(BinarySearch::new(settings)),
        })
    },
};

static PARAMETERS: [Parameter; 5] = [
    Parameter {
        name: "low_window",
        unit: "segments",
        default: DefaultValue::Fixed(14.0),
        allowed: Range::closed(1.0, 1e9),
        help: "Window below which the flow is standard TCP.",
        source: "INFOCOM 2004, low_window",
    },
    Parameter {
        name: "max_increment",
        unit: "segments per round trip",
        default: DefaultValue::Derived {
            rule: "32; variants linux-2.6.22 and linux-6.18: 16",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 16.0,
                _ => 32.0,
            },
        },
        allowed: Range::above(0.0, 1e6),
        help: "Largest step.",
        source: "INFOCOM 2004, S_max",
    },
    Parameter {
        name: "min_increment",
        unit: "segments per round trip",
        default: DefaultValue::Derived {
            rule: "0.01; variants linux-2.6.22, linux-6.18 and nist: 0.2",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 | Variant::Nist => 0.2,
                _ => 0.01,
            },
        },
        allowed: Range::above(0.0, 1e6),
        help: "Smallest step.",
        source: "INFOCOM 2004, S_min; Linux: four segments in 20 round trips",
    },
    Parameter {
        name: "decrease",
        unit: "fraction of the window",
        default: DefaultValue::Derived {
            rule: "0.125; variants linux-2.6.22 and linux-6.18: 205/1024; variant nist: 0.2",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 205.0 / 1024.0,
                Variant::Nist => 0.2,
                _ => 0.125,
            },
        },
        allowed: Range::open(0.0, 1.0),
        help: "Part of the window removed at a congestion signal.",
        source: "INFOCOM 2004, beta",
    },
    Parameter {
        name: "fast_convergence",
        unit: "0 or 1",
        default: DefaultValue::Fixed(1.0),
        allowed: Range::closed(0.0, 1.0),
        help: "1 turns on fast convergence: a flow that is reduced below its last peak sets the next peak below the \
            window that it had.",
        source: "INFOCOM 2004, fast convergence",
    },
];

/// State of BIC for one flow, in one of its variants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Bic {
    /// The variants of the paper and of Linux 2.6.22.
    Search(BinarySearch),
    /// The variant of a current kernel.
    Kernel(KernelBic),
    /// The variant of NIST's study.
    Nist(BicNist),
}

/// Calls a method of the variant's state in `$bic`.
macro_rules! form {
    ($bic:expr, $form:ident => $call:expr) => {
        match $bic {
            Bic::Search($form) => $call,
            Bic::Kernel($form) => $call,
            Bic::Nist($form) => $call,
        }
    };
}

impl CongestionControl for Bic {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        form!(self, form => form.on_ack(ack, phase, window));
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        form!(self, form => form.on_congestion(event, window));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        form!(self, form => form.on_timeout(event, window));
    }

    fn on_recovery_exit(&mut self, now: Time, window: &mut Window) {
        form!(self, form => form.on_recovery_exit(now, window));
    }

    fn departs_from_standard(&self, now: Time, window: &Window) -> bool {
        form!(self, form => form.departs_from_standard(now, window))
    }

    fn probe(&self, window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        form!(self, form => form.probe(window, out));
    }
}
