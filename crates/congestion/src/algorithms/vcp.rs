//! VCP at the sender: routers report in two bits low load, high load or overload.
//!
//! Xia, Subramanian, Stoica and Kalyanaraman, "One more bit is enough", SIGCOMM 2005: multiplicative increase on low
//! load, additive increase on high load, and one multiplicative decrease on overload. Both increases are scaled so that
//! flows with different round-trip times grow equally fast. As in the authors' ns-2 module, overload does not change
//! the window for an interval after a decrease. In the round trip that follows, the window grows even on overload.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Congestion, Load, Phase, RouterFeedback, RouterRequest};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::window::Window;

pub(crate) static ENTRY: Entry<Vcp> = Entry {
    kind: "vcp",
    title: "VCP",
    description: "Multiplies the window by 1 + xi each interval while the routers' load is low, adds alpha segments \
        while it is high, and removes an eighth of the window when they are overloaded, once in an interval and a \
        round trip. It has no slow start. Without VCP routers the load counts as low. At a loss it reacts as standard \
        TCP.",
    law: &[
        "each ACK, load low: cwnd += ((1 + xi)^(srtt / interval) - 1) * acked",
        "each ACK, load high: cwnd += alpha * (srtt / interval)^2 * acked / cwnd",
        "overload, once: cwnd = (1 - decrease) * cwnd",
        "loss: cwnd = cwnd / 2",
    ],
    source: "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Router],
    needs_path: PathNeeds::router(
        "vcp",
        "the sender takes the network for idle, and its window grows until packets are lost",
    ),
    state: &[],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "xi",
            unit: "fraction of the window per interval",
            default: DefaultValue::Fixed(0.0625),
            allowed: Range::above(0.0, 1.0),
            help: "Multiplicative increase.",
            source: "SIGCOMM 2005, xi",
        },
        Parameter {
            name: "alpha",
            unit: "segments per round trip",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::above(0.0, 1e6),
            help: "Additive increase at a round-trip time of one interval.",
            source: "SIGCOMM 2005, alpha",
        },
        Parameter {
            name: "decrease",
            unit: "fraction of the window",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::open(0.0, 1.0),
            help: "Part of the window removed on overload; the paper's beta is the part kept.",
            source: "SIGCOMM 2005, beta 0.875",
        },
        Parameter {
            name: "interval",
            unit: "seconds",
            default: DefaultValue::Fixed(0.2),
            allowed: Range::above(0.0, 1e3),
            help: "Time over which routers measure their load.",
            source: "SIGCOMM 2005, t_rho",
        },
    ],
    build: |settings| Ok(Vcp::new(settings)),
};

/// Maximum multiplicative increase per round trip, as a fraction of the window: no faster than slow start (SIGCOMM
/// 2005).
const MAX_INCREASE: f64 = 1.0;

/// State of VCP's sender for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vcp {
    xi: f64,
    alpha: f64,
    decrease: f64,
    interval_s: f64,
    /// End of the interval after a decrease, in which an overload does not change the window.
    rests_until: Time,
    /// End of the round trip after `rests_until`, in which the window grows even if routers are overloaded.
    grows_until: Time,
}

impl Vcp {
    fn new(settings: &Settings) -> Self {
        Self {
            xi: settings.get("xi"),
            alpha: settings.get("alpha"),
            decrease: settings.get("decrease"),
            interval_s: settings.get("interval"),
            rests_until: Time::ZERO,
            grows_until: Time::ZERO,
        }
    }

    /// Returns the growth per acknowledged segment on low load, in segments: `(1 + xi)^(rtt / interval) - 1`, at most
    /// [`MAX_INCREASE`].
    fn multiplicative(&self, ack: &AckSample) -> f64 {
        let intervals = ack.srtt.as_secs_f64() / self.interval_s;
        f64::min(libm::pow(1.0 + self.xi, intervals) - 1.0, MAX_INCREASE)
    }

    /// Returns the growth per acknowledged segment at high load, in segments. Over a round trip, the window grows by
    /// `alpha (rtt / interval)^2`.
    fn additive(&self, ack: &AckSample, window: &Window) -> f64 {
        let intervals = ack.srtt.as_secs_f64() / self.interval_s;
        self.alpha * intervals * intervals / window.cwnd()
    }

    fn on_overload(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if ack.now < self.rests_until {
            return;
        }
        if ack.now < self.grows_until {
            if phase.may_grow() {
                let step = self.additive(ack, window);
                window.grow(step * ack.credit);
            }
            return;
        }
        self.rests_until = ack.now + Span::from_secs_f64(self.interval_s);
        self.grows_until = self.rests_until + ack.srtt;
        window.set_cwnd(window.cwnd() * (1.0 - self.decrease));
    }
}

impl CongestionControl for Vcp {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        // Feedback on duplicate acknowledgements is not counted.
        if phase == Phase::Recovery || ack.acked == 0 {
            return;
        }
        let Some(RouterFeedback::Vcp(load)) = ack.router else {
            return;
        };
        // A window that is not used follows the feedback of routers only downwards.
        let step = match load {
            Load::Low | Load::High if !phase.may_grow() => return,
            Load::Low => self.multiplicative(ack),
            Load::High => self.additive(ack, window),
            Load::Over => return self.on_overload(ack, phase, window),
        };
        window.grow(step * ack.credit);
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

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Vcp {
    fn router_request(&self, _window: &Window, _srtt: Span) -> Option<RouterRequest> {
        Some(RouterRequest::Vcp)
    }
}
