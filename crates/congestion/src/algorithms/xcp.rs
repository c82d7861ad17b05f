//! XCP at the sender: routers report by how much the sender may change its throughput.
//!
//! Katabi, Handley and Rohrs, "Congestion control for high bandwidth-delay product networks", SIGCOMM 2002, section
//! 3.3; and draft-falk-xcp-spec-03. Every packet requests a part of the desired change of the throughput; its
//! acknowledgement returns the granted amount.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Phase, RouterFeedback, RouterRequest};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Xcp> = Entry {
    kind: "xcp",
    title: "XCP",
    description: "Asks the routers for the desired rate and changes the window by the granted change of throughput \
        times the smoothed round-trip time. It has no slow start, and without XCP routers the window does not \
        change. At a loss it reacts as standard TCP.",
    law: &[
        "each packet asks for its share of desired_rate - rate; routers lower it to what they have to give",
        "each ACK: cwnd += feedback * srtt",
        "loss: cwnd = cwnd / 2",
    ],
    source: "Katabi, Handley and Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Router],
    needs_path: PathNeeds::router("xcp", "no router answers, and the window does not grow"),
    state: &[Quantity::new(
        "granted",
        "segments/s",
        "last change of the rate that routers granted",
    )],
    variants: &[Variant::Paper],
    parameters: &[Parameter {
        name: "desired_rate",
        unit: "segments per second",
        default: DefaultValue::Fixed(1e12),
        allowed: Range::above(0.0, 1e12),
        help: "Rate to ask for; the default asks for all of the spare capacity.",
        source: "SIGCOMM 2002 section 3.3; ns-2.35 asks for more than any path has",
    }],
    build: |settings| Ok(Xcp::new(settings)),
};

/// State of XCP's sender for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Xcp {
    desired_rate: f64,
    /// Change of the throughput that routers granted last, in segments per second.
    granted: f64,
}

impl Xcp {
    fn new(settings: &Settings) -> Self {
        Self {
            desired_rate: settings.get("desired_rate"),
            granted: 0.0,
        }
    }
}

impl CongestionControl for Xcp {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        // Feedback in a recovery or in duplicate ACKs is not counted.
        if phase == Phase::Recovery || ack.acked == 0 {
            return;
        }
        if let Some(RouterFeedback::Xcp { change }) = ack.router {
            self.granted = change;
            // A window that must not grow follows negative feedback only.
            let change = if phase.may_grow() {
                change
            } else {
                change.min(0.0)
            };
            window.grow(change * ack.srtt.as_secs_f64());
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            routers: true,
            ..Needs::default()
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base / 2.0);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("granted", self.granted);
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Xcp {
    /// Returns the desired change of the throughput, divided among the packets of a round trip. Without a round-trip
    /// time, the change is zero, since the throughput is unknown.
    fn router_request(&self, window: &Window, srtt: Span) -> Option<RouterRequest> {
        let (cwnd, rtt_s) = (window.cwnd(), srtt.as_secs_f64());
        let change = if rtt_s > 0.0 {
            (self.desired_rate - cwnd / rtt_s) / cwnd
        } else {
            0.0
        };
        Some(RouterRequest::Xcp {
            cwnd,
            rtt: srtt,
            change,
        })
    }
}
