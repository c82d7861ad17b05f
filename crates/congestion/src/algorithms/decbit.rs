//! DECbit: the window grows until half of the packets are marked.
//!
//! Ramakrishnan and Jain, "A binary feedback scheme for congestion avoidance in computer networks", TOCS 8(2), 1990.
//! Routers mark packets while their average queue is at least one packet. The receiver must echo the mark of each
//! packet. (By RFC 3168, the receiver repeats the echo until the sender confirms it.)

use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<DecBit> = Entry {
    kind: "decbit",
    title: "DECbit",
    description: "When the ACKs of the previous and of the current window have arrived, adds a segment, or removes \
        an eighth of the window if at least half of the ACKs of the current window carry a mark. It has no slow \
        start. At a loss it reacts as standard TCP.",
    law: &[
        "every second window: cwnd = (1 - decrease) * cwnd where the share of marked is at least marked, else cwnd += increase",
        "loss: cwnd = cwnd / 2",
    ],
    source: "Ramakrishnan and Jain, TOCS 8(2), 1990",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::queue("decbit"),
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "increase",
            unit: "segments per decision",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Additive increase.",
            source: "TOCS 1990; Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed where marks prevail.",
            source: "TOCS 1990; Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "marked",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::above(0.0, 1.0),
            help: "Share of marked segments in the current window from which on the window decreases.",
            source: "TOCS 1990; Weigle, dissertation, UNC 2003, chapter 2",
        },
    ],
    build: |settings| Ok(DecBit::new(settings)),
};

/// State of DECbit's sender for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecBit {
    increase: f64,
    decrease: f64,
    threshold: f64,
    /// Number of segments in the window before its last change; zero before the first change and after a timeout. Marks
    /// of these segments are not counted in `marked`.
    previous: u64,
    /// Number of segments acknowledged since the last change of the window.
    seen: u64,
    /// Number of marked segments that were sent and acknowledged after the last change of the window.
    marked: u64,
}

impl DecBit {
    fn new(settings: &Settings) -> Self {
        Self {
            increase: settings.get("increase"),
            decrease: settings.get("decrease"),
            threshold: settings.get("marked"),
            previous: 0,
            seen: 0,
            marked: 0,
        }
    }

    /// Discards all marks after the window has changed from `previous` segments to another size.
    fn begin(&mut self, previous: u64) {
        (self.previous, self.seen, self.marked) = (previous, 0, 0);
    }
}

impl CongestionControl for DecBit {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn needs(&self) -> Needs {
        Needs {
            every_mark: true,
            ..Needs::default()
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        // An acknowledgement that echoes a mark does not itself let the window grow.
        let counts = phase.may_grow() || phase == Phase::NoGrowth && ack.ecn_echo;
        if !counts {
            return;
        }
        self.seen += ack.acked;
        let sent_since = self.seen.saturating_sub(self.previous);
        if ack.ecn_echo {
            self.marked += ack.acked.min(sent_since);
        }
        let current = window.cwnd() as u64;
        if sent_since < current {
            return;
        }
        if self.marked as f64 >= self.threshold * sent_since as f64 {
            window.shrink(window.cwnd() * self.decrease);
        } else if phase.may_grow() {
            window.grow(self.increase);
        } else {
            return;
        }
        self.begin(current);
    }

    /// Responds to losses only: marks are counted with each acknowledgement instead.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if event.cause != Cause::Ecn {
            self.begin(event.base as u64);
            window.reduce_to(event.base / 2.0);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.begin(0);
        restart(event, window);
    }
}
