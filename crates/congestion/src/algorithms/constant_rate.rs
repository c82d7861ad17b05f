//! Constant-rate increase: the growth of the rate does not depend on the round-trip time.
//!
//! Floyd, "Connections with multiple congested gateways in packet-switched networks, part 1", CCR 21(5), 1991. The
//! window of standard TCP grows by one segment per round trip. The growth of its rate is therefore proportional to the
//! inverse square of the round-trip time. Here, the rates of all flows grow equally fast, unless `max_step` limits the
//! growth.

use serde::{Deserialize, Serialize};

use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<ConstantRate> = Entry {
    kind: "constant-rate",
    title: "Constant-rate increase",
    description: "Adds c * rtt^2 segments each round trip, so that the sending rate grows by c \
        segments per second each second whatever the round-trip time; halves the window at a \
        congestion signal. With max_step 1 an acknowledged segment adds at most one segment (the \
        modified form); a large max_step gives the original.",
    law: &[
        "each ACK: cwnd += min(c * srtt^2 / cwnd, max_step) * acked",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Floyd, CCR 21(5), 1991",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "c",
            unit: "segments per second per second",
            default: DefaultValue::Fixed(25.0),
            allowed: Range::above(0.0, 1e6),
            help: "Growth of the rate; 25 is standard TCP at a round trip of 200 ms.",
            source: "Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "max_step",
            unit: "segments per acknowledgement",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e9),
            help: "Largest increase of the window by one acknowledged segment.",
            source: "Weigle, dissertation, UNC 2003, chapter 2, MCR",
        },
    ],
    build: |settings| Ok(ConstantRate::new(settings)),
};

/// State of constant-rate increase for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConstantRate {
    c: f64,
    max_step: f64,
}

impl ConstantRate {
    fn new(settings: &Settings) -> Self {
        Self {
            c: settings.get("c"),
            max_step: settings.get("max_step"),
        }
    }
}

impl CongestionControl for ConstantRate {
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if phase != Phase::Avoidance {
            return;
        }
        let rtt = ack.srtt.as_secs_f64();
        let step = f64::min(self.c * rtt * rtt / window.cwnd(), self.max_step);
        window.grow(step * ack.credit);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base / 2.0);
    }
}
