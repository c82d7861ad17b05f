//! Veno: standard TCP that tells random losses from congestion by the queue it has built.
//!
//! Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", JSAC
//! 21(2), 2003. The queue is Vegas' estimate from the smallest and the current round-trip time.

use crate::controller::{CongestionControl, Controller};
use crate::facts::{AckSample, Congestion};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::queue_estimate::QueueEstimate;
use crate::registry::Entry;
use crate::window::{Change, Window};

pub(crate) static ENTRY: Entry<Controller> = Entry {
    kind: "veno",
    title: "Veno",
    description: "Estimates how many segments the flow holds in the queue. Below beta of them it \
        is standard TCP and removes a fifth of the window only at a loss, which it takes for a \
        random one; from beta on it grows half as fast and halves the window.",
    source: "Fu and Liew, JSAC 21(2), 2003",
    used_by: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "beta",
            unit: "segments",
            default: DefaultValue::Fixed(3.0),
            allowed: Range::closed(0.0, 1e6),
            help: "Queued segments from which the path counts as congested.",
            source: "JSAC 2003 section III.A",
        },
        Parameter {
            name: "random_decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.2),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed at a loss without congestion.",
            source: "JSAC 2003 section III.A",
        },
    ],
    build: |settings| Ok(Controller::Veno(Veno::new(settings))),
};

/// Veno.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: f64,
    random_decrease: f64,
    estimate: QueueEstimate,
    /// Segments found in the queue at the end of the last round; none before the first.
    queued: Option<f64>,
}

impl Veno {
    fn new(settings: &Settings) -> Self {
        Self {
            beta: settings.get("beta"),
            random_decrease: settings.get("random_decrease"),
            estimate: QueueEstimate::default(),
            queued: None,
        }
    }

    fn is_congested(&self) -> bool {
        self.queued.is_none_or(|queued| queued >= self.beta)
    }
}

impl CongestionControl for Veno {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.estimate.on_ack(ack);
        // Once for every second acknowledgement while the path is congested.
        let share = match self.queued {
            Some(queued) if queued >= self.beta => 0.5,
            _ => 1.0,
        };
        window.grow(share * ack.credit / window.cwnd(), Change::Avoidance);
    }

    fn on_round(&mut self, ack: &AckSample, window: &mut Window) {
        self.queued = self.estimate.end_round(ack, window).or(self.queued);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let decrease = if self.is_congested() {
            0.5
        } else {
            self.random_decrease
        };
        window.reduce_to(event.base * (1.0 - decrease));
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.queued.unwrap_or(f64::NAN));
    }
}
