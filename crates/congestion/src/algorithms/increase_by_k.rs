//! Increase by K: standard TCP that grows by K segments per round trip.
//!
//! Henderson, Sahouria, McCanne and Katz, "On improving the fairness of TCP congestion avoidance", GLOBECOM 1998. The
//! algorithm is intended for connections with long round-trip times that compete with shorter ones.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use super::reno::mean_window;
use crate::congestion_control::CongestionControl;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::Congestion;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<IncreaseByK> = Entry {
    kind: "increase-by-k",
    title: "Increase by K",
    description: "Adds k segments each round trip, but no more than one for an acknowledged segment; \
        halves the window at a congestion signal.",
    law: &[
        "each ACK: cwnd += min(k / cwnd, 1) * acked",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Henderson et al., GLOBECOM 1998",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[Parameter {
        name: "k",
        unit: "segments per round trip",
        default: DefaultValue::Fixed(2.0),
        allowed: Range::above(0.0, 1e6),
        help: "Additive increase; 2 to 4 is recommended, 1 is standard TCP.",
        source: "Weigle, dissertation, UNC 2003, chapter 2",
    }],
    build: |settings| Ok(IncreaseByK::new(settings)),
};

/// State of increase by K for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IncreaseByK {
    k: f64,
}

impl IncreaseByK {
    fn new(settings: &Settings) -> Self {
        Self {
            k: settings.get("k"),
        }
    }
}

impl CongestionControl for IncreaseByK {
    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        Some(f64::min(self.k / cwnd, 1.0) * credit)
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base / 2.0);
    }

    fn response(&self, loss: f64, _rtt: Span) -> Option<f64> {
        Some(mean_window(self.k, 0.5, loss))
    }
}
