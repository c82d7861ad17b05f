//! TCP-Peach: low-priority dummy segments probe the path, instead of slow start and fast recovery.
//!
//! Akyildiz, Morabito and Palazzo, "TCP-Peach: a new congestion control scheme for satellite IP networks", ToN 9(3),
//! 2001. Routers drop dummies before any other packet. Each acknowledged dummy has therefore found capacity that a data
//! segment may use.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Dummies, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::Variant;
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Peach> = Entry {
    kind: "peach",
    title: "TCP-Peach",
    description: "Standard TCP's congestion avoidance. At the start and after a timeout it fills \
        one round trip with low-priority dummy segments, up to the receive window, and adds a \
        segment for each that is acknowledged (sudden start); after a loss it sends as many as the \
        window held, and adds a segment for each beyond the first half (rapid recovery).",
    law: &[
        "sudden start: a flight of dummy segments; each that is acknowledged adds a segment",
        "each ACK: cwnd += acked / cwnd",
        "loss: cwnd = cwnd / 2, then rapid recovery: cwnd dummy segments, which restore it unless routers drop them",
    ],
    source: "Akyildiz, Morabito and Palazzo, ToN 9(3), 2001",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[Quantity::new(
        "waiting",
        "",
        "dummy segments still to be acknowledged before the window grows",
    )],
    variants: &[Variant::Paper],
    parameters: &[],
    build: |_| Ok(Peach::new()),
};

/// Request to send dummy segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum DummyRequest {
    None,
    /// Sudden start, with one data segment; all other segments of the receive window are dummies.
    SuddenStart,
    /// Rapid recovery. The field is the number of dummy segments to send, which is the window before the loss.
    RapidRecovery(u64),
}

/// State of TCP-Peach for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Peach {
    wanted: DummyRequest,
    /// Number of acknowledged dummies that must be ignored before the window grows (wdsn in the paper).
    waiting: u64,
}

impl Peach {
    fn new() -> Self {
        Self {
            wanted: DummyRequest::SuddenStart,
            waiting: 0,
        }
    }
}

impl CongestionControl for Peach {
    /// Returns [`Phases::SlowStart`]: sudden start replaces the flow's slow start.
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if !phase.may_grow() {
            return;
        }
        window.grow(ack.credit / window.cwnd());
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let half = event.base / 2.0;
        self.wanted = DummyRequest::RapidRecovery(event.base as u64);
        self.waiting = half as u64;
        window.reduce_to(half);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        *self = Self::new();
        restart(event, window);
    }

    fn needs(&self) -> Needs {
        Needs {
            dummies: true,
            ..Needs::default()
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("waiting", self.waiting as f64);
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Peach {
    fn take_dummies(&mut self, rtt: Span, receive_window: u64) -> Option<Dummies> {
        let (count, shares) = match self.wanted {
            DummyRequest::None => return None,
            DummyRequest::SuddenStart => (receive_window.saturating_sub(1), receive_window),
            DummyRequest::RapidRecovery(count) => (count, count),
        };
        self.wanted = DummyRequest::None;
        (count > 0).then(|| Dummies {
            count,
            spacing: rtt / shares,
        })
    }

    fn on_dummy_ack(&mut self, window: &mut Window) {
        if self.waiting > 0 {
            self.waiting -= 1;
        } else {
            window.grow(1.0);
        }
    }
}
