//! TCP-LP: uses only the capacity that standard flows leave, and reduces the window on delay before losses occur.
//!
//! Kuzmanovic and Knightly, "TCP-LP: low-priority service via end-point congestion control", INFOCOM 2003 and IEEE/ACM
//! ToN 14(4), 2006. TCP-LP uses one-way delays if the transport measures them, and round-trip times otherwise.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Lp> = Entry {
    kind: "lp",
    title: "TCP-LP",
    description: "Low priority: standard TCP that halves its window as soon as the smoothed delay exceeds the \
        smallest delay by a part, threshold, of the range seen, and then does not grow for inference round trips; \
        another delay as large in that time reduces the window to one segment. It has a slow start of its own, the \
        standard one, which measures the range of delays and ends with the first loss. Variant linux-2.6.22 reacts \
        to delays in slow start, too, and restarts the range at each indication. Variant linux-6.18 behaves as \
        standard TCP: since Linux 4.10 the timestamps of a connection begin at a random number, and the smoothed \
        delay, stored in 32 bits as eight times the delay by timestamps, overflows in seven of eight connections, so \
        that it never exceeds the smallest.",
    law: &[
        "congested = smoothed delay > min_delay + threshold * (max_delay - min_delay)",
        "each ACK: cwnd += acked / cwnd",
        "congested: cwnd = cwnd / 2, no growth for inference * srtt; congested again in that time: cwnd = 1",
        "loss: cwnd = cwnd / 2",
    ],
    source: "Kuzmanovic and Knightly, INFOCOM 2003",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        Quantity::new("delay_s", "s", "smoothed one-way delay"),
        Quantity::new("min_delay_s", "s", "smallest one-way delay"),
    ],
    variants: &[Variant::Paper, Variant::Linux2_6_22, Variant::Linux6_18],
    parameters: &[
        Parameter {
            name: "threshold",
            unit: "fraction of the range of delays",
            default: DefaultValue::Fixed(0.15),
            allowed: Range::open(0.0, 1.0),
            help: "Delay above the smallest that indicates congestion.",
            source: "INFOCOM 2003, delta",
        },
        Parameter {
            name: "weight",
            unit: "fraction of the smoothed delay",
            default: DefaultValue::Fixed(0.125),
            allowed: Range::above(0.0, 1.0),
            help: "Weight of a new delay in the smoothed one.",
            source: "INFOCOM 2003, gamma",
        },
        Parameter {
            name: "inference",
            unit: "round trips",
            default: DefaultValue::Fixed(3.0),
            allowed: Range::closed(1.0, 1e3),
            help: "Time without growth after an indication.",
            source: "INFOCOM 2003, itt; Linux, inference",
        },
    ],
    build: |settings| Ok(Lp::new(settings)),
};

/// State of TCP-LP for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lp {
    threshold: f64,
    weight: f64,
    inference: f64,
    linux: bool,
    delays: Option<Delays>,
    /// True once the slow start that measures the range of delays is over; in variant linux-2.6.22, always.
    range_known: bool,
    srtt: Span,
    /// Number of segments known to be delivered or lost so far.
    answered: u64,
    /// Number of segments sent until the last reaction to an early congestion indication or a loss. Delays of these
    /// segments are not smoothed, so the algorithm reacts once per round trip.
    deaf_until: u64,
    /// End of the inference phase.
    still_until: Time,
    /// State of standard TCP in the variant of a current kernel, where TCP-LP is standard TCP; otherwise `None`.
    standard: Option<Reno>,
}

/// One-way delays in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Delays {
    /// Smoothed delay; `None` until a segment sent after the last reaction is acknowledged.
    smoothed: Option<f64>,
    min: f64,
    max: f64,
}

impl Lp {
    fn new(settings: &Settings) -> Self {
        let linux = settings.variant() == Variant::Linux2_6_22;
        Self {
            threshold: settings.get("threshold"),
            weight: settings.get("weight"),
            inference: settings.get("inference"),
            linux,
            delays: None,
            range_known: linux,
            srtt: Span::ZERO,
            answered: 0,
            deaf_until: 0,
            still_until: Time::ZERO,
            standard: (settings.variant() == Variant::Linux6_18).then(Reno::of_linux),
        }
    }

    /// Returns true if the smoothed delay exceeds the threshold.
    fn is_congested(&self) -> bool {
        self.delays.is_some_and(|delays| {
            let level = delays.min + self.threshold * (delays.max - delays.min);
            delays.smoothed.is_some_and(|smoothed| smoothed > level)
        })
    }

    /// Restarts the smoothing; only segments sent from now on count.
    fn restart_smoothing(&mut self, in_flight: u64) {
        self.deaf_until = self.answered + in_flight;
        if let Some(delays) = &mut self.delays {
            delays.smoothed = None;
        }
    }

    /// Reduces the window for an early congestion indication: to half, or to one segment in an inference phase. Begins
    /// a new inference phase (section IV.B).
    fn on_early_indication(&mut self, ack: &AckSample, window: &mut Window) {
        let left = if ack.now < self.still_until {
            1.0
        } else {
            window.cwnd() / 2.0
        };
        window.reduce_to(left);
        let still = Span::from_secs_f64(self.inference * self.srtt.as_secs_f64());
        self.still_until = ack.now + still;
        if let Some(delays) = &mut self.delays
            && let Some(smoothed) = delays.smoothed
            && self.linux
        {
            (delays.min, delays.max) = (smoothed, 2.0 * smoothed);
        }
        self.restart_smoothing(ack.in_flight);
    }

    /// Adds the delay of an acknowledgement, if it has one.
    fn measure(&mut self, ack: &AckSample) {
        (self.srtt, self.answered) = (ack.srtt, ack.delivered + ack.lost);
        let Some(delay) = ack.one_way_delay.or(ack.rtt) else {
            return;
        };
        let delay = delay.as_secs_f64();
        let delays = self.delays.get_or_insert(Delays {
            smoothed: None,
            min: delay,
            max: delay,
        });
        delays.min = delays.min.min(delay);
        delays.max = delays.max.max(delay);
        if self.answered > self.deaf_until {
            let smoothed = delays.smoothed.unwrap_or(delay);
            delays.smoothed = Some(smoothed + self.weight * (delay - smoothed));
        }
    }
}

impl CongestionControl for Lp {
    /// Declares that the algorithm replaces the flow's slow start, except in variant linux-6.18. Delays may reduce the
    /// window in every slow start but the first, and in Linux 2.6.22 in every one.
    fn phases(&self) -> Phases {
        if self.standard.is_some() {
            Phases::Avoidance
        } else {
            Phases::SlowStart
        }
    }

    fn increment(&mut self, credit: f64, cwnd: f64) -> Option<f64> {
        self.standard.as_mut()?.increment(credit, cwnd)
    }

    fn needs(&self) -> Needs {
        if self.standard.is_some() {
            return Needs::NOTHING;
        }
        Needs {
            one_way_delay: true,
            ..Needs::RTT
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if let Some(standard) = &mut self.standard {
            return standard.on_ack(ack, phase, window);
        }
        self.measure(ack);
        if !phase.may_grow() {
            return;
        }
        // The smallest and the largest delay are estimated in the first slow start, and used from its end on, which is
        // usually the first loss. Until then, the largest delay is caused by the flow's own bursts, and any jitter
        // would count as congestion.
        self.range_known |= !window.in_slow_start();
        if self.range_known && self.is_congested() {
            self.on_early_indication(ack, window);
        } else if ack.now >= self.still_until {
            let step = if window.in_slow_start() {
                1.0
            } else {
                1.0 / window.cwnd()
            };
            window.grow(step * ack.credit);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if let Some(standard) = &mut self.standard {
            return standard.on_congestion(event, window);
        }
        self.range_known = true;
        self.restart_smoothing(event.in_flight);
        window.reduce_to(event.base / 2.0);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        if let Some(standard) = &mut self.standard {
            return standard.on_timeout(event, window);
        }
        self.range_known = true;
        self.still_until = event.now;
        restart(event, window);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        let delays = self.delays;
        let smoothed = delays.and_then(|delays| delays.smoothed);
        out("delay_s", smoothed.unwrap_or(f64::NAN));
        out("min_delay_s", delays.map_or(f64::NAN, |delays| delays.min));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Cause;
    use crate::window::Rounding;

    /// Returns the acknowledgement of segment `number` with a one-way delay of `delay_us` microseconds.
    fn ack(number: u64, delay_us: u64) -> AckSample {
        AckSample {
            now: Time::ZERO + Span::from_millis(number),
            delivered: number,
            srtt: Span::from_millis(40),
            min_rtt: Span::from_millis(40),
            one_way_delay: Some(Span::from_micros(delay_us)),
            in_flight: 40,
            ..AckSample::ONE_SEGMENT
        }
    }

    /// Checks that delays do not reduce the window before the first loss. Afterwards, a delay reduces the window if it
    /// lies beyond the first 15 % of the range of delays so far, here 20 to 60 ms: delays around 20 ms are below this
    /// threshold, and 30 ms is above it. In Linux, delays reduce the window from the beginning.
    #[test]
    fn the_range_of_delays_is_used_after_the_first_loss() {
        for (variant, doubles) in [(Variant::Paper, true), (Variant::Linux2_6_22, false)] {
            let mut lp = Lp::new(&ENTRY.settings(variant, &[]).unwrap());
            let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
            let take = |lp: &mut Lp, window: &mut Window, number: u64, delay_us: u64| {
                let ack = ack(number, delay_us);
                lp.on_ack(&ack, Phase::Avoidance, window);
            };
            for number in 1..200 {
                take(&mut lp, &mut window, number, 20_000 + number % 2 * 60);
            }
            assert_eq!(window.cwnd() == 209.0, doubles, "{variant}");
            if !doubles {
                continue;
            }
            take(&mut lp, &mut window, 200, 60_000);
            lp.on_congestion(
                &Congestion {
                    now: Time::ZERO + Span::from_millis(200),
                    cause: Cause::Loss,
                    base: window.cwnd(),
                    in_flight: 40,
                    in_slow_start: true,
                    first: true,
                },
                &mut window,
            );
            let cut = window.cwnd();
            for number in 201..400 {
                take(&mut lp, &mut window, number, 20_000 + number % 2 * 60);
            }
            assert!(window.cwnd() > cut, "{}", window.cwnd());
            for number in 400..500 {
                take(&mut lp, &mut window, number, 30_000);
            }
            assert!(window.cwnd() < cut, "{}", window.cwnd());
        }
    }

    /// Checks that delays of segments sent before a reduction have no effect (section IV.B). The first segment sent
    /// after the loss is acknowledged at 141 ms; its large delay halves the window. The window then does not change for
    /// the inference phase of 120 ms.
    #[test]
    fn a_reduction_is_judged_by_segments_sent_after_it() {
        let mut lp = Lp::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        assert_eq!(lp.inference * 40.0, 120.0);
        let mut window = Window::new(40.0, 2.0, 1e6, Rounding::Real);
        let mut cwnd_after = |lp: &mut Lp, number, delay_us| {
            lp.on_ack(&ack(number, delay_us), Phase::Avoidance, &mut window);
            if number == 100 {
                let loss = Congestion {
                    now: Time::ZERO + Span::from_millis(100),
                    cause: Cause::Loss,
                    base: window.cwnd(),
                    in_flight: 40,
                    in_slow_start: false,
                    first: true,
                };
                lp.on_congestion(&loss, &mut window);
            }
            window.cwnd()
        };
        let mut cwnd = 0.0;
        for number in 1..=100 {
            cwnd = cwnd_after(&mut lp, number, 20_000);
        }
        for number in 101..=140 {
            let next = cwnd_after(&mut lp, number, 60_000);
            assert!(next > cwnd, "segment {number} was sent before the loss");
            cwnd = next;
        }
        assert_eq!(cwnd_after(&mut lp, 141, 60_000), cwnd / 2.0);
        for number in 142..261 {
            assert_eq!(
                cwnd_after(&mut lp, number, 20_000),
                cwnd / 2.0,
                "{number} ms"
            );
        }
        assert!(cwnd_after(&mut lp, 261, 20_000) > cwnd / 2.0);
    }

    /// A timeout ends the inference phase: the first acknowledgement after the timeout enlarges the window.
    #[test]
    fn no_inference_phase_outlives_a_timeout() {
        let mut lp = Lp::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        let mut window = Window::new(40.0, 2.0, 1e6, Rounding::Real);
        for (number, delay_us) in [(1, 20_000), (2, 80_000), (3, 80_000)] {
            lp.on_ack(&ack(number, delay_us), Phase::Avoidance, &mut window);
        }
        let now = Time::ZERO + Span::from_millis(3);
        assert!(lp.still_until > now, "an early indication");
        let timeout = Timeout {
            now,
            base: window.cwnd(),
            keep_ssthresh: false,
            sent: 50,
        };
        lp.on_timeout(&timeout, &mut window);
        lp.on_ack(&ack(4, 20_000), Phase::SlowStart, &mut window);
        assert_eq!(window.cwnd(), 2.0);
    }
}
