//! YeAH: grows fast like Scalable TCP while the queue is short, and like standard TCP otherwise.
//!
//! Baiocchi, Castellani and Vacirca, "YeAH-TCP: yet another highspeed TCP", PFLDnet 2007. Points that the paper does
//! not define, and the values, are as in the Linux code of one of its authors. The number of segments in the queue is
//! estimated as in Vegas.

mod kernel;

use longhaul_units::Time;
use serde::{Deserialize, Serialize};

use self::kernel::KernelYeah;
use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::queue_estimate::QueueEstimate;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Yeah> = Entry {
    kind: "yeah",
    title: "YeAH",
    description: "Grows as Scalable TCP while the flow holds few segments in the queue and the queueing delay is \
        short, else as standard TCP. While it holds more than max_queued segments in the queue, it removes them from \
        the window, unless other flows keep the queue full. At a loss it removes its queued segments, at least an \
        eighth and at most half of the window. Variant linux-6.18 is the form of a current kernel, in whole \
        segments; it estimates the queue once per round trip in slow start, too.",
    law: &[
        "queued = cwnd * (1 - min_rtt / rtt), each round trip",
        "fast while queued <= max_queued and queueing delay <= max_delay * min_rtt; slow otherwise",
        "each ACK, fast: cwnd += max(0.01, 1 / cwnd) * acked",
        "each ACK, slow: cwnd += acked / cwnd",
        "each slow round: gives back what is queued, above a standard TCP's window",
        "loss: cwnd -= max(min(queued, cwnd / 2), min_decrease * cwnd); cwnd / 2 after competing slow rounds",
    ],
    source: "Baiocchi, Castellani and Vacirca, PFLDnet 2007",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::QUEUED, quantity::STANDARD_WINDOW],
    variants: &[Variant::Paper, Variant::Linux6_18],
    parameters: &PARAMETERS,
    build: |settings| Ok(Yeah::new(settings)),
};

static PARAMETERS: [Parameter; 6] = [
    Parameter {
        name: "max_queued",
        unit: "segments",
        default: DefaultValue::Fixed(80.0),
        allowed: Range::closed(1.0, 1e6),
        help: "Number of queued segments above which the flow removes them from the window.",
        source: "2007, Q_max; Linux, TCP_YEAH_ALPHA",
    },
    Parameter {
        name: "max_delay",
        unit: "fraction of the smallest round-trip time",
        default: DefaultValue::Fixed(0.125),
        allowed: Range::above(0.0, 1e3),
        help: "Queueing delay above which it is standard TCP.",
        source: "2007, 1/phi; Linux, TCP_YEAH_PHY",
    },
    Parameter {
        name: "max_taken_back",
        unit: "fraction of the window",
        default: DefaultValue::Fixed(0.5),
        allowed: Range::closed(0.0, 1.0),
        help: "Largest part of the window removed for queued segments in one round trip.",
        source: "2007, epsilon; Linux, TCP_YEAH_EPSILON",
    },
    Parameter {
        name: "min_decrease",
        unit: "fraction of the window",
        default: DefaultValue::Fixed(0.125),
        allowed: Range::closed(0.0, 0.5),
        help: "Smallest part removed at a congestion signal; the largest is one half.",
        source: "2007, delta; Linux, TCP_YEAH_DELTA",
    },
    Parameter {
        name: "competing",
        unit: "round trips",
        default: DefaultValue::Fixed(16.0),
        allowed: Range::closed(1.0, 1e6),
        help: "Round trips as standard TCP after which a congestion signal halves the window.",
        source: "2007, rho; Linux, TCP_YEAH_RHO",
    },
    Parameter {
        name: "alone",
        unit: "round trips",
        default: DefaultValue::Fixed(50.0),
        allowed: Range::closed(1.0, 1e6),
        help: "Round trips of fast growth after which no other flow is assumed to fill the queue.",
        source: "2007; Linux, TCP_YEAH_ZETA",
    },
];

/// Increase of Scalable TCP per acknowledged segment, in segments (Linux, TCP_SCALABLE_AI_CNT).
const FAST_INCREASE: f64 = 0.01;

/// Lower bound of the estimated window of competing standard TCP.
const MIN_STANDARD: f64 = 2.0;

/// State of YeAH for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Yeah {
    max_queued: f64,
    max_delay: f64,
    max_taken_back: f64,
    min_decrease: f64,
    competing: f64,
    alone: f64,
    estimate: QueueEstimate,
    /// Total of delivered segments above which the current round ends. It includes all segments in flight at the
    /// beginning of the round. `None` until a round begins, and after a congestion signal until the window grows.
    round_end: Option<u64>,
    /// Number of segments found in the queue at the end of the last round.
    queued: f64,
    /// Number of successive round trips with the growth of standard TCP.
    slow_rounds: f64,
    /// Number of round trips with fast growth since the last congestion signal; above `alone`, the count restarts.
    fast_rounds: f64,
    /// Window that standard TCP would have; precautionary decongestion does not go below it.
    standard: f64,
    kernel: Option<Box<KernelYeah>>,
}

impl Yeah {
    fn new(settings: &Settings) -> Self {
        Self {
            max_queued: settings.get("max_queued"),
            max_delay: settings.get("max_delay"),
            max_taken_back: settings.get("max_taken_back"),
            min_decrease: settings.get("min_decrease"),
            competing: settings.get("competing"),
            alone: settings.get("alone"),
            estimate: QueueEstimate::default(),
            round_end: None,
            queued: 0.0,
            slow_rounds: 0.0,
            fast_rounds: 0.0,
            standard: MIN_STANDARD,
            kernel: (settings.variant() == Variant::Linux6_18)
                .then(|| Box::new(KernelYeah::new(settings))),
        }
    }

    /// Reduces the window and ends slow start if the queue contains too many of the flow's segments (precautionary
    /// decongestion).
    fn decongest(&self, window: &mut Window) {
        let cwnd = window.cwnd();
        if self.queued > self.max_queued && cwnd > self.standard {
            let excess = self.queued.min(cwnd * self.max_taken_back);
            window.set_cwnd((cwnd - excess).max(self.standard));
            window.exit_slow_start();
        }
    }

    fn slow_round(&mut self, window: &mut Window) {
        self.decongest(window);
        self.standard = if self.standard <= MIN_STANDARD {
            (window.cwnd() / 2.0).max(MIN_STANDARD)
        } else {
            self.standard + 1.0
        };
        self.slow_rounds += 1.0;
    }

    fn fast_round(&mut self) {
        self.slow_rounds = 0.0;
        self.fast_rounds += 1.0;
        if self.fast_rounds > self.alone {
            self.standard = MIN_STANDARD;
            self.fast_rounds = 0.0;
        }
    }

    fn begin_round(&mut self, ack: &AckSample) {
        self.estimate.restart();
        self.round_end = Some(ack.delivered + ack.in_flight);
    }

    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        if let Some(queued) = self.estimate.end_round(ack, window.cwnd()) {
            self.queued = queued;
            // `share / (1 - share)` is the queueing delay divided by the rest of the round-trip time.
            let share = queued / window.cwnd();
            if queued > self.max_queued || share > self.max_delay * (1.0 - share) {
                self.slow_round(window);
            } else {
                self.fast_round();
            }
        }
        self.begin_round(ack);
    }

    /// Returns the reduction of the window for a congestion signal, in segments.
    fn reduction(&self, base: f64) -> f64 {
        let half = base / 2.0;
        if self.slow_rounds < self.competing {
            self.queued.min(half).max(base * self.min_decrease)
        } else {
            half
        }
    }
}

impl CongestionControl for Yeah {
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
        // In slow start, the rounds of the transport are used, and the end of a round may end slow start.
        if ack.round_start && window.in_slow_start() {
            self.end_round(ack, window);
        }
        self.estimate.on_ack(ack);
        let in_slow_start = phase == Phase::SlowStart && window.in_slow_start();
        if in_slow_start || !phase.may_grow() {
            return;
        }
        let standard = 1.0 / window.cwnd();
        let step = if self.slow_rounds > 0.0 {
            standard
        } else {
            standard.max(FAST_INCREASE)
        };
        window.grow(step * ack.credit);
        // A round ends with the first segment that was sent after the preceding round (tcp_yeah.c, `beg_snd_nxt`). This
        // segment finds the queue without the segments by which the window was reduced.
        match self.round_end {
            None => self.begin_round(ack),
            Some(end) if ack.delivered > end => self.end_round(ack, window),
            Some(_) => {}
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        if self.kernel.is_none() {
            self.end_round(ack, window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_congestion(event, window);
        }
        window.reduce_to(event.base - self.reduction(event.base));
        self.fast_rounds = 0.0;
        self.standard = (self.standard / 2.0).max(MIN_STANDARD);
        self.round_end = None;
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

    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {
        if let Some(kernel) = &mut self.kernel {
            kernel.forget();
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(kernel) = &self.kernel {
            return kernel.probe(out);
        }
        out("queued", self.queued);
        out("standard_window", self.standard);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::*;
    use crate::window::Rounding;

    /// PFLDnet 2007, section 3: growth is slow while the queueing delay exceeds an eighth of the round-trip time
    /// without queueing (here 100 ms), even if few segments are in the queue.
    #[test]
    fn a_queueing_delay_of_more_than_an_eighth_slows_growth() {
        for (rtt_ms, slow) in [(112, 0.0), (113, 1.0), (130, 1.0)] {
            let mut yeah = Yeah::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
            let mut window = Window::new(100.0, 2.0, 1e6, Rounding::Real);
            let ack = AckSample {
                rtt: Some(Span::from_millis(rtt_ms)),
                min_rtt: Span::from_millis(100),
                ..AckSample::ONE_SEGMENT
            };
            yeah.estimate.on_ack(&ack);
            yeah.end_round(&ack, &mut window);
            assert_eq!(yeah.slow_rounds, slow, "{rtt_ms} ms");
        }
    }

    /// Checks that a loss at a window of 800 segments reduces the window by the number of queued segments, but by at
    /// least an eighth and at most half. Against competing flows, the loss halves the window.
    #[test]
    fn a_loss_removes_what_is_queued_within_bounds() {
        let mut yeah = Yeah::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        for (queued, expected) in [(20.0, 100.0), (150.0, 150.0), (500.0, 400.0)] {
            yeah.queued = queued;
            assert_eq!(yeah.reduction(800.0), expected);
        }
        yeah.queued = 20.0;
        yeah.slow_rounds = 16.0;
        assert_eq!(yeah.reduction(800.0), 400.0);
    }
}
