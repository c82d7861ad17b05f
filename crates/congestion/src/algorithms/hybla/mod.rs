//! Hybla: a flow with a long round-trip time grows as fast, in segments per second, as a flow with a short one.
//!
//! Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of Satellite
//! Communications and Networking 22, 2004. `rho` is the round-trip time divided by a reference round-trip time, at
//! least one. Each acknowledged segment adds `2^rho - 1` segments in slow start, and `rho^2 / cwnd` segments afterwards
//! (equation 6). As in Linux, `rho` is computed from the smallest round-trip time, and the exponent is bounded.

mod kernel;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::kernel::KernelHybla;
use super::reno::mean_window;
use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Hybla> = Entry {
    kind: "hybla",
    title: "Hybla",
    description: "Grows, in slow start and after it, such that a flow with a long round-trip time gets the \
        throughput of a flow whose round-trip time is reference_rtt; with a shorter one it is standard TCP. It \
        starts with at least rho segments, the ratio of its round-trip time to reference_rtt, and has a slow start \
        of its own. Variant linux-6.18 counts an ACK once, however many segments it covers, starts with exactly rho \
        segments, and has a window of at most 65,535.",
    law: &[
        "rho = max(min_rtt / reference_rtt, 1)",
        "each ACK in slow start: cwnd += (2^min(rho, 16) - 1) * acked",
        "each ACK: cwnd += rho^2 * acked / cwnd",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Caini and Firrincieli, IJSCN 22, 2004",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::NONE,
    state: &[Quantity::new(
        "rho",
        "",
        "round-trip time over that of the reference connection",
    )],
    variants: &[Variant::Paper, Variant::Linux6_18],
    parameters: &[Parameter {
        name: "reference_rtt",
        unit: "seconds",
        default: DefaultValue::Fixed(0.025),
        allowed: Range::above(0.0, 10.0),
        help: "Round-trip time of the flow to be equalled.",
        source: "IJSCN 2004, RTT_0; Linux, rtt0",
    }],
    build: |settings| Ok(Hybla::new(settings)),
};

/// Upper bound of the exponent in slow start's increment `2^rho - 1` (Linux, `hybla_cong_avoid`). Without it, each
/// acknowledged segment of the first window would add 2^24 segments on a path of 600 ms.
const MAX_EXPONENT: f64 = 16.0;

/// State of Hybla for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hybla {
    reference_s: f64,
    /// Round-trip time divided by the reference round-trip time; zero before the first sample.
    rho: f64,
    kernel: Option<KernelHybla>,
}

impl Hybla {
    fn new(settings: &Settings) -> Self {
        Self {
            reference_s: settings.get("reference_rtt"),
            rho: 0.0,
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| KernelHybla::new(settings.get("reference_rtt"))),
        }
    }

    fn rho_at(&self, rtt: Span) -> f64 {
        (rtt.as_secs_f64() / self.reference_s).max(1.0)
    }

    fn slow_start(&self, ack: &AckSample, window: &mut Window) {
        let step = (libm::exp2(self.rho.min(MAX_EXPONENT)) - 1.0) * ack.credit;
        let grown = f64::min(window.cwnd() + step, window.ssthresh());
        window.set_cwnd(grown);
    }
}

impl CongestionControl for Hybla {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn on_handshake(&mut self, ack: &AckSample, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.first_window(ack.srtt);
        }
    }

    fn first_window(&mut self, initial: f64) -> f64 {
        self.kernel
            .as_ref()
            .map_or(initial, |kernel| kernel.initial(initial))
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.on_ack(ack, phase, window);
            self.rho = kernel.rho();
            return;
        }
        if !phase.may_grow() {
            return;
        }
        let first = self.rho == 0.0;
        self.rho = self.rho_at(ack.min_rtt);
        if first && window.cwnd() < self.rho {
            window.set_cwnd(self.rho);
        }
        if window.in_slow_start() {
            self.slow_start(ack, window);
        } else {
            let step = self.rho * self.rho / window.cwnd();
            window.grow(step * ack.credit);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        match &mut self.kernel {
            Some(kernel) => kernel.on_congestion(event, window),
            None => window.reduce_to(event.base / 2.0),
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        match &mut self.kernel {
            Some(kernel) => kernel.on_timeout(event, window),
            None => restart(event, window),
        }
    }

    fn on_recovery_exit(&mut self, now: Time, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.on_recovery_exit(now);
        }
    }

    /// Returns `rho` times standard TCP's mean window.
    fn response(&self, loss: f64, rtt: Span) -> Option<f64> {
        let rho = self.rho_at(rtt);
        Some(mean_window(rho * rho, 0.5, loss))
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    /// Checks that an acknowledgement in slow start adds at most `2^16 - 1` segments, here for `rho = 24` (600 ms).
    #[test]
    fn a_step_of_slow_start_is_bounded() {
        let mut hybla = Hybla::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        let mut window = Window::new(24.0, 1e9, f64::INFINITY, Rounding::Real);
        let ack = AckSample {
            min_rtt: Span::from_millis(600),
            ..AckSample::ONE_SEGMENT
        };
        hybla.on_ack(&ack, Phase::SlowStart, &mut window);
        assert_eq!(window.cwnd(), 24.0 + 65_535.0);
        window.exit_slow_start();
        let cwnd = window.cwnd();
        hybla.on_ack(&ack, Phase::Avoidance, &mut window);
        assert_eq!(window.cwnd(), cwnd + 24.0 * 24.0 / cwnd);
    }
}
