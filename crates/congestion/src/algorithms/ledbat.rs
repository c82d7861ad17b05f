//! LEDBAT: increases or decreases the window to keep a target queueing delay.
//!
//! RFC 6817 section 2.4.2. LEDBAT uses one-way delays if the transport measures them, and round-trip times otherwise.
//! The RFC does not define the start of a flow. As in libutp, the implementation of the RFC's authors, the flow's slow
//! start is used until the target is exceeded.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::delay_history::DelayHistory;
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Ledbat> = Entry {
    kind: "ledbat",
    title: "LEDBAT",
    description: "Background transport: keeps the queueing delay at target. The queueing delay is the smallest of \
        the last four delays less the smallest delay of the last ten minutes. The window changes in proportion to \
        the distance from the target, by at most gain segments per round trip, and is halved at a congestion signal. \
        Slow start ends as soon as the target is exceeded, with the window of one round trip earlier.",
    law: &[
        "off = (target - queueing delay) / target",
        "each ACK: cwnd += gain * off * acked / cwnd",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "RFC 6817",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::QUEUEING_S],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "target",
            unit: "seconds",
            default: DefaultValue::Fixed(0.1),
            allowed: Range::above(0.0, 10.0),
            help: "Target of the queueing delay.",
            source: "RFC 6817 section 2.5, TARGET (at most 0.1)",
        },
        Parameter {
            name: "gain",
            unit: "segments per round trip",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e3),
            help: "Increase on an empty queue.",
            source: "RFC 6817 section 2.5, GAIN (at most 1)",
        },
    ],
    build: |settings| Ok(Ledbat::new(settings)),
};

/// Maximum excess of the window over the segments in flight, in segments (ALLOWED_INCREASE).
const ALLOWED_INCREASE: f64 = 1.0;

/// Minimum window, in segments (MIN_CWND).
const MIN_CWND: f64 = 2.0;

/// State of LEDBAT for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledbat {
    target_s: f64,
    gain: f64,
    delays: DelayHistory,
    /// Queueing delay from the latest samples, in seconds; `None` before the first sample of the connection and before
    /// the first one after a timeout.
    queueing_s: Option<f64>,
}

impl Ledbat {
    fn new(settings: &Settings) -> Self {
        Self {
            target_s: settings.get("target"),
            gain: settings.get("gain"),
            delays: DelayHistory::default(),
            queueing_s: None,
        }
    }

    fn is_above_target(&self) -> bool {
        self.queueing_s.is_some_and(|delay| delay > self.target_s)
    }

    /// Ends slow start and halves the window, which has doubled in the round trip since the segment with the excessive
    /// delay was sent.
    fn leave_slow_start(window: &mut Window) {
        let cwnd = window.cwnd();
        window.shrink(cwnd - (cwnd / 2.0).max(MIN_CWND).min(cwnd));
    }
}

impl CongestionControl for Ledbat {
    /// Returns `SlowStart` while the delay exceeds the target, so that the algorithm can end slow start. Otherwise, the
    /// flow's slow start enlarges the window.
    fn phases(&self) -> Phases {
        if self.is_above_target() {
            Phases::SlowStart
        } else {
            Phases::Avoidance
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            one_way_delay: true,
            ..Needs::RTT
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(delay) = ack.one_way_delay.or(ack.rtt) {
            self.delays.add(ack.now, delay);
            self.queueing_s = self.delays.queueing().map(Span::as_secs_f64);
        }
        let leaves = phase == Phase::SlowStart && self.is_above_target();
        if phase != Phase::Avoidance && !leaves {
            return;
        }
        let Some(queueing_s) = self.queueing_s else {
            return;
        };
        if window.in_slow_start() {
            Self::leave_slow_start(window);
            return;
        }
        let off_target = (self.target_s - queueing_s) / self.target_s;
        let grown = window.cwnd() + self.gain * off_target * ack.credit / window.cwnd();
        // This is the number of segments in flight before this acknowledgement.
        let flight = (ack.in_flight + ack.acked) as f64;
        let bounded = grown.min(flight + ALLOWED_INCREASE).max(MIN_CWND);
        if bounded < window.cwnd() {
            window.shrink(window.cwnd() - bounded);
        } else {
            window.set_cwnd(bounded);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        let half = (event.base / 2.0).max(MIN_CWND);
        window.reduce_to(half.min(event.base));
    }

    /// Discards the latest delays: those from before a timeout say nothing about the queue after it.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.delays.forget_current();
        self.queueing_s = None;
        restart(event, window);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_s", self.queueing_s.unwrap_or(f64::NAN));
    }
}
