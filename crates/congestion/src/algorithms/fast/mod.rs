//! FAST: keeps a fixed number of the flow's segments in the queue of the bottleneck.
//!
//! Wei, Jin, Low and Hegde, "FAST TCP: motivation, architecture, algorithms, performance", ToN 14(6), 2006. Procedures
//! that the paper leaves open are those of NIST SP 500-282, equations 18 to 23. At a fixed interval, the target
//! window is moved towards the window that would leave `alpha` segments in the queue. Acknowledgements then move the
//! window towards the target.

pub(crate) mod tuning;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::tuning::Tuning;
use crate::congestion_control::{CongestionControl, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::periodic::Periodic;
use crate::quantity::Quantity;
use crate::window::Window;

pub(super) const ALPHA: Quantity = Quantity::new(
    "alpha",
    "segments",
    "segments that the flow aims to keep in the queue",
);
pub(super) const TARGET: Quantity = Quantity::new("target", "segments", "target of the window");

pub(crate) static ENTRY: Entry<Fast> = Entry {
    kind: "fast",
    title: "FAST TCP",
    description: "Aims to keep alpha segments of the flow in the queue: every update_period it sets a target between \
        the current window and the window that would keep them there, at most twice the current one. Halves its \
        window at a congestion signal.",
    law: &[
        "each update_period: target = min(2 * cwnd, (1 - gain) * cwnd + gain * (cwnd * min_rtt / srtt + alpha))",
        "over the next round trip: cwnd moves to target",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Wei, Jin, Low and Hegde, ToN 14(6), 2006",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[ALPHA, TARGET],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "segments",
            default: DefaultValue::Fixed(200.0),
            allowed: Range::above(0.0, 1e6),
            help: "Segments of the flow in the queue in equilibrium.",
            source: "ToN 2006, window control; NIST SP 500-282, chapter 5",
        },
        GAIN,
        UPDATE_PERIOD,
        SRTT_TIMER_SLACK,
    ],
    build: |settings| {
        let alpha = settings.get("alpha");
        Ok(Fast::new(settings, alpha, None))
    },
};

pub(crate) const GAIN: Parameter = Parameter {
    name: "gain",
    unit: "fraction of the distance",
    default: DefaultValue::Fixed(0.5),
    allowed: Range::above(0.0, 1.0),
    help: "Part of the distance to the equilibrium window that one update covers.",
    source: "ToN 2006, gamma; NIST SP 500-282, equation 21",
};

pub(crate) const UPDATE_PERIOD: Parameter = Parameter {
    name: "update_period",
    unit: "seconds",
    default: DefaultValue::Fixed(0.02),
    allowed: Range::closed(0.0, 1e3),
    help: "Interval between two updates of the target window.",
    source: "ToN 2006, window control; NIST SP 500-282, chapter 5, UW",
};

pub(crate) const SRTT_TIMER_SLACK: Parameter = Parameter {
    name: "srtt_timer_slack",
    unit: "seconds",
    default: DefaultValue::Fixed(0.0),
    allowed: Range::closed(0.0, 1e3),
    help: "Delay of the procedures that run once per round trip. 0.005 matches NIST's results for a loss-free flow.",
    source: "NIST SP 500-282, chapter 5, loss-free flows",
};

/// State of FAST for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fast {
    alpha: f64,
    gain: f64,
    update_period: Span,
    tuning: Option<Tuning>,
    /// Target window; `None` until the first slow start is over.
    target: Option<f64>,
    updates: Periodic,
    flights: Flights,
}

impl Fast {
    pub(crate) fn new(settings: &Settings, alpha: f64, tuning: Option<Tuning>) -> Self {
        Self {
            alpha,
            gain: settings.get("gain"),
            update_period: Span::from_secs_f64(settings.get("update_period")),
            tuning,
            target: None,
            updates: Periodic::NEW,
            flights: Flights {
                slack: Span::from_secs_f64(settings.get("srtt_timer_slack")),
                timer: Periodic::NEW,
                begin: 0,
                last: 0,
            },
        }
    }

    /// Returns the next target window (NIST SP 500-282, equation 21).
    fn next_target(&self, cwnd: f64, min_rtt: Span, srtt: Span) -> f64 {
        let on_the_way = cwnd * min_rtt.as_secs_f64() / srtt.as_secs_f64();
        let aim = (1.0 - self.gain) * cwnd + self.gain * (on_the_way + self.alpha);
        aim.min(2.0 * cwnd)
    }

    fn tune(&mut self, ack: &AckSample, rate: Option<f64>) {
        if let Some(tuning) = &mut self.tuning {
            if let Some(rate) = rate {
                tuning.measure(rate);
            }
            self.alpha = tuning.alpha_at(ack.now);
        }
    }
}

impl CongestionControl for Fast {
    /// Moves the window towards its target in congestion avoidance (NIST SP 500-282, equation 18): down at once, or up
    /// by a fraction of the remaining distance, which is the acknowledged fraction of the last flight. Updates
    /// throughput, alpha and target in every phase.
    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        let rate = self.flights.observe(ack);
        self.tune(ack, rate);
        if self.target.is_none() && !window.in_slow_start() {
            self.target = Some(window.cwnd());
        }
        let due = self.updates.elapsed(ack.now, self.update_period).is_some();
        if due && self.target.is_some() && ack.srtt > Span::ZERO {
            self.target = Some(self.next_target(window.cwnd(), ack.min_rtt, ack.srtt));
        }
        if phase != Phase::Avoidance {
            return;
        }
        let Some(target) = self.target else { return };
        let distance = target - window.cwnd();
        if distance < 0.0 {
            window.shrink(-distance);
        } else if self.flights.last > 0 {
            let share = (ack.credit / self.flights.last as f64).min(1.0);
            window.grow(distance * share);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base / 2.0);
        self.target = Some(window.cwnd());
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        restart(event, window);
        self.target = Some(window.cwnd());
    }

    fn departs_from_standard(&self, _now: Time, _window: &Window) -> bool {
        true
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
        out("target", self.target.unwrap_or(f64::NAN));
        if let Some(tuning) = &self.tuning {
            out("throughput", tuning.throughput());
        }
    }
}

/// Counter of the segments delivered per smoothed round-trip time (a flight).
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flights {
    slack: Span,
    timer: Periodic,
    /// Number of the connection's segments delivered when the current flight began.
    begin: u64,
    /// Number of segments delivered in the last complete flight; zero before the first.
    last: u64,
}

impl Flights {
    /// Counts an acknowledgement. If it ends a flight, returns the rate of the flight in segments per second: the
    /// number of its segments divided by the smoothed round-trip time (NIST SP 500-282, equation 23).
    fn observe(&mut self, ack: &AckSample) -> Option<f64> {
        self.timer.elapsed(ack.now, ack.srtt + self.slack)?;
        self.last = ack.delivered - self.begin;
        self.begin = ack.delivered;
        let srtt = ack.srtt.as_secs_f64();
        (srtt > 0.0).then(|| self.last as f64 / srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::fast_at;
    use crate::window::Rounding;

    /// Checks the average throughput against NIST SP 500-282, equation 23. The throughput of a flight is the number of
    /// its segments divided by the smoothed round-trip time, here 50 ms: flights of 2, 10 and 10 segments have 40, 200
    /// and 200 segments per second. The new average is the mean of the old one and this throughput: 20, 110 and 155.
    #[test]
    fn the_throughput_is_that_of_the_equation() {
        let settings = fast_at::ENTRY.settings(Variant::Paper, &[]).unwrap();
        let tuning = Tuning::new(&settings).unwrap();
        let mut fast = Fast::new(&settings, 200.0, Some(tuning));
        let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
        let mut means = Vec::new();
        // Every second acknowledgement ends a flight, since 60 ms exceed the smoothed round-trip time.
        for (delivered, step) in [0, 1, 2, 7, 12, 17, 22].into_iter().zip(0..) {
            let ack = AckSample {
                now: Time::ZERO + Span::from_millis(30 * step),
                delivered,
                srtt: Span::from_millis(50),
                min_rtt: Span::from_millis(50),
                ..AckSample::ONE_SEGMENT
            };
            fast.on_ack(&ack, Phase::SlowStart, &mut window);
            means.push(fast.tuning.as_ref().unwrap().throughput());
        }
        assert_eq!(means, [0.0, 0.0, 20.0, 20.0, 110.0, 110.0, 155.0]);
    }

    #[test]
    fn the_target_follows_the_equation() {
        // Values computed with NIST SP 500-282, equation 21: (window, smallest and smoothed round-trip time in ms,
        // alpha, target).
        let cases = [
            (441.0, 42, 50, 80.0, 445.72),
            (1701.0, 162, 170, 200.0, 1_760.976_470_6),
            (2000.0, 162, 162, 200.0, 2100.0),
            (100.0, 42, 42, 200.0, 200.0),
            (50.0, 42, 42, 200.0, 100.0),
        ];
        for (cwnd, min_ms, srtt_ms, alpha, expected) in cases {
            let given = [("alpha".to_string(), alpha)];
            let settings = ENTRY.settings(Variant::Paper, &given).unwrap();
            let (min_rtt, srtt) = (Span::from_millis(min_ms), Span::from_millis(srtt_ms));
            let found = Fast::new(&settings, alpha, None).next_target(cwnd, min_rtt, srtt);
            assert!((found - expected).abs() < 1e-6, "{cwnd}: {found}");
        }
    }
}
