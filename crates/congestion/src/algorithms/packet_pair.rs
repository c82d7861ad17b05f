//! Packet pair: computes the window from the service rate, which is measured with pairs of segments.
//!
//! Keshav, "A control-theoretic approach to flow control", SIGCOMM 1991. If routers serve flows round-robin, the
//! bottleneck spaces two back-to-back segments, and thus their acknowledgements, by the flow's service time. The paper
//! keeps a given number of segments in the bottleneck's queue with the pacing rate; this algorithm does it with the
//! window. The paper predicts the service rate with a fuzzy controller; this algorithm averages it.

use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<PacketPair> = Entry {
    kind: "packet-pair",
    title: "Packet pair",
    description: "Sends segments in pairs, takes the spacing of a pair's ACKs for the bottleneck's service time, and \
        keeps a window of the bandwidth-delay product plus queued segments. Losses do not change the window. \
        Designed for routers that serve flows in turn.",
    law: &[
        "spacing = weighted mean of the spacing of ACKs of a pair",
        "each ACK: cwnd = min_rtt / spacing + queued",
        "congestion: no reduction",
    ],
    source: "Keshav, SIGCOMM 1991",
    listens_to: &[Signal::Rate],
    needs_path: PathNeeds::queue("round-robin"),
    state: &[Quantity::new(
        "spacing",
        "s",
        "average spacing of the pairs",
    )],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "queued",
            unit: "segments",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::closed(1.0, 1e6),
            help: "Segments kept in the bottleneck's queue.",
            source: "Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "weight",
            unit: "fraction of the average",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::above(0.0, 1.0),
            help: "Weight of a pair's spacing in the average.",
            source: "that of the round-trip time, RFC 6298 section 2",
        },
    ],
    build: |settings| Ok(PacketPair::new(settings)),
};

/// State of packet pair for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PacketPair {
    queued: f64,
    weight: f64,
    /// Average spacing of the acknowledgements of a pair, in seconds; `None` before the first pair, in slow start.
    spacing_s: Option<f64>,
}

impl PacketPair {
    fn new(settings: &Settings) -> Self {
        Self {
            queued: settings.get("queued"),
            weight: settings.get("weight"),
            spacing_s: None,
        }
    }
}

impl CongestionControl for PacketPair {
    fn phases(&self) -> Phases {
        match self.spacing_s {
            Some(_) => Phases::SlowStart,
            None => Phases::Avoidance,
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        let spacing_s = ack
            .pair_spacing
            .map_or(0.0, |spacing| spacing.as_secs_f64());
        if spacing_s > 0.0 {
            let average_s = self.spacing_s.get_or_insert(spacing_s);
            *average_s += self.weight * (spacing_s - *average_s);
        }
        if phase.may_grow()
            && let Some(spacing_s) = self.spacing_s
        {
            let path = ack.min_rtt.as_secs_f64() / spacing_s;
            window.set_cwnd(path + self.queued);
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            pairs: true,
            ..Needs::default()
        }
    }

    fn on_congestion(&mut self, _event: &Congestion, _window: &mut Window) {}

    /// Reports the measured spacing in seconds; NaN before the first measurement.
    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("spacing", self.spacing_s.unwrap_or(f64::NAN));
    }
}
