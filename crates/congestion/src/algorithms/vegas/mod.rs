//! Vegas: keeps a few of the flow's segments in the queue of the bottleneck.
//!
//! Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", JSAC 13(8), 1995. Once per
//! round trip, the number of the flow's segments in the queue is computed: the window times the fraction of the
//! round-trip time that is queueing delay (variant linux-6.18 divides by the smallest round-trip time). The paper's
//! slow start, which doubles the window only every second round trip, is not included, since the slow start of a flow
//! is chosen separately.

mod kernel;

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use self::kernel::KernelVegas;
use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, SpecError, Variant};
use crate::quantity;
use crate::queue_estimate::QueueEstimate;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Vegas> = Entry {
    kind: "vegas",
    title: "Vegas",
    description: "Estimates once a round trip how many segments the flow holds in the queue, from the smallest and \
        the current round-trip time, and adds or removes one segment to keep them between alpha and beta; leaves \
        slow start when they exceed gamma. Halves its window at a congestion signal. Variant linux-2.6.22 adds or \
        removes the segment from the window at the start of the previous round trip, so that the window changes \
        every second round trip only, and does not go below ssthresh of the last loss; linux-6.18 is the form of a \
        current kernel, with a slow start of its own.",
    law: &[
        "queued = cwnd * (rtt - min_rtt) / rtt",
        "each round trip: cwnd += 1 where queued < alpha, cwnd -= 1 where queued > beta",
        "slow start ends where queued > gamma",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Brakmo and Peterson, JSAC 13(8), 1995",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::QUEUED],
    variants: &[Variant::Paper, Variant::Linux2_6_22, Variant::Linux6_18],
    parameters: &PARAMETERS,
    build: Vegas::new,
};

static PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "beta",
        unit: "segments",
        default: DefaultValue::Derived {
            rule: "3; variants linux-2.6.22 and linux-6.18: 4",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 4.0,
                _ => 3.0,
            },
        },
        allowed: Range::closed(0.0, 1e6),
        help: "Queued segments above which the window shrinks.",
        source: "JSAC 1995 section III.B",
    },
    Parameter {
        name: "alpha",
        unit: "segments",
        default: DefaultValue::Derived {
            rule: "1; variants linux-2.6.22 and linux-6.18: 2",
            value: |settings| match settings.variant() {
                Variant::Linux2_6_22 | Variant::Linux6_18 => 2.0,
                _ => 1.0,
            },
        },
        allowed: Range::closed(0.0, 1e6),
        help: "Queued segments below which the window grows.",
        source: "JSAC 1995 section III.B",
    },
    Parameter {
        name: "gamma",
        unit: "segments",
        default: DefaultValue::Fixed(1.0),
        allowed: Range::closed(0.0, 1e6),
        help: "Queued segments above which slow start ends.",
        source: "JSAC 1995 section III.C",
    },
];

/// Slow start threshold that Linux 2.6.22 sets when slow start ends, in segments (tcp_vegas.c).
const LINUX_SSTHRESH: f64 = 2.0;

/// State of Vegas for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    estimate: QueueEstimate,
    /// Number of segments found in the queue at the end of the last round.
    queued: f64,
    linux: bool,
    /// Window at the end of the last round, before its change; `None` if there was no round since the start or the last
    /// congestion signal.
    last_cwnd: Option<f64>,
    kernel: Option<Box<KernelVegas>>,
}

impl Vegas {
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        settings.require_below("alpha", "beta")?;
        Ok(Self {
            alpha: settings.get("alpha"),
            beta: settings.get("beta"),
            gamma: settings.get("gamma"),
            estimate: QueueEstimate::default(),
            queued: 0.0,
            linux: settings.variant() == Variant::Linux2_6_22,
            last_cwnd: None,
            kernel: (settings.variant() == Variant::Linux6_18).then(|| {
                let [alpha, beta, gamma] =
                    ["alpha", "beta", "gamma"].map(|name| settings.get(name));
                Box::new(KernelVegas::new(alpha, beta, gamma))
            }),
        })
    }

    fn slow_start_round(&self, flight: f64, window: &mut Window) {
        if self.queued > self.gamma {
            // This is the number of segments that fill the path without a queue, plus one (as in Linux).
            let filling = flight - self.queued + 1.0;
            window.set_cwnd(filling.min(window.cwnd()));
            if self.linux {
                window.set_ssthresh(LINUX_SSTHRESH);
            } else {
                window.exit_slow_start();
            }
        }
    }

    /// Reduces the window by one segment. In Linux, the threshold does not change, so that a window below the threshold
    /// grows again in slow start.
    fn give_up_one(&self, window: &mut Window) {
        if self.linux {
            window.set_cwnd(window.cwnd() - 1.0);
        } else {
            window.shrink(1.0);
        }
    }

    fn avoidance_round(&self, flight: f64, window: &mut Window) {
        let target = if self.queued > self.beta {
            flight - 1.0
        } else if self.queued < self.alpha {
            flight + 1.0
        } else {
            flight
        };
        if target < window.cwnd() {
            self.give_up_one(window);
        } else if target > window.cwnd() {
            window.grow(1.0);
        }
    }

    /// Returns the window from which the number of queued segments is computed: `cwnd`, the window at the end of the
    /// round. Linux uses the window at the start of the round instead (`old_wnd`, `beg_snd_cwnd`).
    fn flight(&mut self, cwnd: f64) -> f64 {
        let before = self.last_cwnd.replace(cwnd).unwrap_or(cwnd);
        if self.linux { before } else { cwnd }
    }

    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        let flight = self.flight(window.cwnd());
        let Some(queued) = self.estimate.end_round(ack, flight) else {
            return;
        };
        self.queued = queued;
        if window.in_slow_start() {
            self.slow_start_round(flight, window);
        } else {
            self.avoidance_round(flight, window);
        }
    }
}

impl CongestionControl for Vegas {
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

    /// Processes an acknowledgement. In slow start, Linux uses the smallest round-trip time of each round; the paper's
    /// variant uses the round-trip time with which the next round begins.
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_ack(ack, phase, window);
        }
        if ack.round_start {
            self.end_round(ack, window);
        }
        let counts = if window.in_slow_start() {
            self.linux
        } else {
            phase.may_grow()
        };
        if counts {
            self.estimate.on_ack(ack);
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        if self.kernel.is_none() {
            self.end_round(ack, window);
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        match &mut self.kernel {
            Some(kernel) => kernel.on_timeout(event, window),
            None => {
                self.estimate.restart();
                self.last_cwnd = None;
                restart(event, window);
            }
        }
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

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        self.estimate.restart();
        self.last_cwnd = None;
        window.reduce_to(event.base / 2.0);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("queued", self.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    /// Checks that Linux 2.6.22 changes the window only in every second round trip.
    #[test]
    fn linux_moves_every_second_round_trip() {
        // Linux's target is `beg_snd_cwnd + 1`, where `beg_snd_cwnd` is the window before the last change. In the round
        // trip after a change, the window already equals the target.
        for (variant, expected) in [(Variant::Paper, 110.0), (Variant::Linux2_6_22, 105.0)] {
            let mut vegas = Vegas::new(&ENTRY.settings(variant, &[]).unwrap()).unwrap();
            let mut window = Window::new(100.0, 50.0, 1e6, Rounding::Real);
            for _ in 0..10 {
                let flight = vegas.flight(window.cwnd());
                vegas.avoidance_round(flight, &mut window);
            }
            assert_eq!(window.cwnd(), expected, "{variant}");
        }
    }

    #[test]
    fn linux_does_not_go_below_its_threshold() {
        for (variant, in_slow_start) in [(Variant::Paper, false), (Variant::Linux2_6_22, true)] {
            let vegas = Vegas::new(&ENTRY.settings(variant, &[]).unwrap()).unwrap();
            let mut window = Window::new(430.0, 430.0, 1e6, Rounding::Real);
            vegas.give_up_one(&mut window);
            assert_eq!(window.cwnd(), 429.0);
            assert_eq!(window.in_slow_start(), in_slow_start, "{variant}");
        }
    }
}
