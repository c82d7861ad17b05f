//! TCP-LP: takes only what standard flows leave, by giving way to delay before losses come.
//!
//! Kuzmanovic and Knightly, "TCP-LP: low-priority service via end-point congestion control",
//! INFOCOM 2003 and IEEE/ACM ToN 14(4), 2006. One-way delays where the transport measures them,
//! else round-trip times.

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::controller::{CongestionControl, Controller, Needs, Phases, restart};
use crate::facts::{AckSample, Congestion, Timeout};
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::registry::Entry;
use crate::window::{Change, Window};

pub(crate) static ENTRY: Entry<Controller> = Entry {
    kind: "lp",
    title: "TCP-LP",
    description: "Low priority: standard TCP that halves its window as soon as the smoothed delay \
        exceeds the smallest by threshold of the range seen, then holds it for inference round \
        trips; a delay as large within that time takes the window down to one segment. Brings its \
        own, standard, slow start. Variant linux starts the range anew at each such indication.",
    source: "Kuzmanovic and Knightly, INFOCOM 2003",
    used_by: &[],
    variants: &[Variant::Paper, Variant::Linux],
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
    build: |settings| Ok(Controller::Lp(Lp::new(settings))),
};

/// TCP-LP.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lp {
    threshold: f64,
    weight: f64,
    inference: f64,
    linux: bool,
    delays: Option<Delays>,
    srtt: Span,
    /// Segments delivered or lost so far, and as many as were sent at the last reaction, to an
    /// indication or a loss: delays of those do not count, so that it reacts once a round trip.
    answered: u64,
    deaf_until: u64,
    /// End of the inference phase.
    still_until: Time,
}

/// One-way delays in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Delays {
    /// None while no segment sent since the last reaction has told its delay.
    smoothed: Option<f64>,
    min: f64,
    max: f64,
}

impl Lp {
    fn new(settings: &Settings) -> Self {
        Self {
            threshold: settings.get("threshold"),
            weight: settings.get("weight"),
            inference: settings.get("inference"),
            linux: settings.variant() == Variant::Linux,
            delays: None,
            srtt: Span::ZERO,
            answered: 0,
            deaf_until: 0,
            still_until: Time::ZERO,
        }
    }

    /// Whether the smoothed delay is beyond the threshold.
    fn is_congested(&self) -> bool {
        self.delays.is_some_and(|delays| {
            let level = delays.min + self.threshold * (delays.max - delays.min);
            delays.smoothed.is_some_and(|smoothed| smoothed > level)
        })
    }

    /// Begins to smooth anew with segments sent from now on.
    fn deaf(&mut self, in_flight: u64) {
        self.deaf_until = self.answered + in_flight;
        if let Some(delays) = &mut self.delays {
            delays.smoothed = None;
        }
    }

    /// An early congestion indication (section IV.B).
    fn give_way(&mut self, ack: &AckSample, window: &mut Window) {
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
        self.deaf(ack.in_flight);
    }
}

impl CongestionControl for Lp {
    /// Indications come in slow start too.
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn needs(&self) -> Needs {
        Needs {
            one_way_delay: true,
            ..Needs::RTT
        }
    }

    fn observe(&mut self, ack: &AckSample, _window: &Window) {
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

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if self.is_congested() {
            self.give_way(ack, window);
        } else if ack.now >= self.still_until {
            let (step, change) = if window.in_slow_start() {
                (1.0, Change::SlowStart)
            } else {
                (1.0 / window.cwnd(), Change::Avoidance)
            };
            window.grow(step * ack.credit, change);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.deaf(event.in_flight);
        window.reduce_to(event.base / 2.0);
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
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
