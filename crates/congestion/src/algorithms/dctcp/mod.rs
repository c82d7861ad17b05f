//! DCTCP: reduces the window in proportion to the fraction of marked segments.
//!
//! RFC 8257 section 3.3. The RFC's observation window is a round trip as the transport counts it. If an acknowledgement
//! echoes a mark, all segments that it covers count as marked: the receiver sends an acknowledgement whenever the mark
//! changes (section 3.2). If acknowledgements count marks, that count is used (RFC 9768).

mod kernel;

use serde::{Deserialize, Serialize};

use self::kernel::KernelDctcp;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::marked_share::MarkedShare;
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Dctcp> = Entry {
    kind: "dctcp",
    title: "DCTCP",
    description: "Standard TCP that estimates the share of marked segments, alpha, and at a mark removes alpha / 2 \
        of the window, once a round trip. Losses halve it. Variant linux-6.18, the form of a current kernel, stores \
        alpha in parts of 1024; fewer than 16 parts decay to zero at once.",
    law: &[
        "each round trip: alpha += gain * (share of marked segments - alpha)",
        "each ACK: cwnd += acked / cwnd",
        "mark, once a round trip: cwnd = (1 - alpha / 2) * cwnd",
        "loss: cwnd = cwnd / 2",
    ],
    source: "RFC 8257",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::queue("threshold"),
    state: &[quantity::ALPHA_MARKED],
    variants: &[Variant::Paper, Variant::Linux6_18],
    parameters: &[
        Parameter {
            name: "gain",
            unit: "fraction of the estimate",
            default: DefaultValue::Fixed(0.0625),
            allowed: Range::above(0.0, 1.0),
            help: "Weight of the last window's share in the estimate.",
            source: "RFC 8257 section 4.2, g",
        },
        Parameter {
            name: "initial_alpha",
            unit: "fraction of the segments",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::closed(0.0, 1.0),
            help: "Estimate before the first window.",
            source: "RFC 8257 section 3.3",
        },
    ],
    build: |settings| Ok(Dctcp::new(settings)),
};

/// State of DCTCP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dctcp {
    gain: f64,
    alpha: f64,
    marks: MarkedShare,
    kernel: Option<Box<KernelDctcp>>,
}

impl Dctcp {
    fn new(settings: &Settings) -> Self {
        Self {
            gain: settings.get("gain"),
            alpha: settings.get("initial_alpha"),
            marks: MarkedShare::default(),
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelDctcp::new(settings))),
        }
    }

    /// Updates the estimated fraction of marked segments at the end of an observation window (steps 5 and 6).
    fn end_window(&mut self) {
        if let Some(share) = self.marks.end_round() {
            self.alpha += self.gain * (share - self.alpha);
        }
    }
}

impl CongestionControl for Dctcp {
    fn needs(&self) -> Needs {
        Needs {
            every_mark: true,
            ..Needs::default()
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        if ack.round_start {
            self.end_window();
        }
        self.marks.take(ack);
        if phase == Phase::Avoidance {
            window.grow(ack.credit / window.cwnd());
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        let decrease = match event.cause {
            Cause::Ecn => self.alpha / 2.0,
            Cause::Loss | Cause::Nak => 0.5,
        };
        window.reduce_to(event.base * (1.0 - decrease));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        match &mut self.kernel {
            Some(kernel) => kernel.on_timeout(event, window),
            None => restart(event, window),
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("alpha", self.alpha);
    }
}
