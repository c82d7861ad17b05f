//! Veno: standard TCP that distinguishes random losses from congestion, by the number of the flow's segments in the
//! queue.
//!
//! Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", JSAC 21(2), 2003. The
//! number of segments in the queue is the window times the fraction of the smoothed round-trip time that is queueing
//! delay. The round-trip time without queueing is the smallest since the last loss (section III.A).

mod kernel;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelVeno;
use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Veno> = Entry {
    kind: "veno",
    title: "Veno",
    description: "Estimates how many segments the flow holds in the queue. Below beta of them it grows as standard \
        TCP, takes a loss for a random one and removes only a fifth of the window; from beta on it grows half as \
        fast and halves the window at a loss. Variant linux-2.6.22 estimates from the round-trip time of the last \
        ACK and the smallest one of the connection; linux-6.18, the form of a current kernel, does the same in whole \
        segments, and grows from beta on by one segment every second window.",
    law: &[
        "queued = cwnd * (srtt - min_rtt) / srtt, with min_rtt since the last loss",
        "each ACK: cwnd += acked / cwnd; half as much where queued >= beta",
        "loss: cwnd = (1 - random_decrease) * cwnd where queued < beta, else cwnd / 2",
    ],
    source: "Fu and Liew, JSAC 21(2), 2003",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::QUEUED],
    variants: &[Variant::Paper, Variant::Linux2_6_22, Variant::Linux6_18],
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
    build: |settings| Ok(Veno::new(settings)),
};

/// State of Veno for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Veno {
    beta: f64,
    random_decrease: f64,
    linux: bool,
    /// Smallest round-trip time since the last loss, mark or timeout; `None` before a sample.
    base_rtt: Option<Span>,
    /// Estimated number of segments in the queue at the last round-trip sample; `None` before the first one.
    queued: Option<f64>,
    kernel: Option<Box<KernelVeno>>,
}

impl Veno {
    fn new(settings: &Settings) -> Self {
        Self {
            beta: settings.get("beta"),
            random_decrease: settings.get("random_decrease"),
            linux: settings.variant() == Variant::Linux2_6_22,
            base_rtt: None,
            queued: None,
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelVeno::new(settings))),
        }
    }

    fn is_congested(&self) -> bool {
        self.queued.is_none_or(|queued| queued >= self.beta)
    }

    /// Updates `base_rtt` and `queued`, if the acknowledgement has a round-trip sample.
    fn estimate(&mut self, ack: &AckSample, cwnd: f64) {
        let Some(sample) = ack.rtt else {
            return;
        };
        let recent = self.base_rtt.map_or(sample, |base| base.min(sample));
        self.base_rtt = Some(recent);
        let (base, rtt) = if self.linux {
            (ack.min_rtt, sample)
        } else {
            (recent, ack.srtt)
        };
        let queueing = 1.0 - base.as_secs_f64() / rtt.as_secs_f64();
        self.queued = Some(cwnd * queueing.max(0.0));
    }
}

impl CongestionControl for Veno {
    fn phases(&self) -> Phases {
        if self.kernel.is_some() {
            Phases::SlowStart
        } else {
            Phases::Avoidance
        }
    }

    fn needs(&self) -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        self.estimate(ack, window.cwnd());
        if phase != Phase::Avoidance {
            return;
        }
        // The paper's window grows with every second acknowledgement while the path is congested; here, each one adds
        // half as much.
        let share = match self.queued {
            Some(queued) if queued >= self.beta => 0.5,
            _ => 1.0,
        };
        window.grow(share * ack.credit / window.cwnd());
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        let decrease = if self.is_congested() {
            0.5
        } else {
            self.random_decrease
        };
        self.base_rtt = None;
        window.reduce_to(event.base * (1.0 - decrease));
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_timeout(event, window);
        }
        self.base_rtt = None;
        restart(event, window);
    }

    fn on_recovery_exit(&mut self, now: Time, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.on_recovery_exit(now);
        }
    }

    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.forget();
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("queued", self.queued.unwrap_or(f64::NAN));
    }
}
