//! Santa Cruz: keeps a few segments in the queue, and computes their number from one-way delays.
//!
//! Parsa and Garcia-Luna-Aceves, "Improving TCP congestion control over internets with heterogeneous transmission
//! media", ICNP 1999. The relative delay of two segments is their spacing at arrival less their spacing at departure.
//! It is the growth of the queue on the forward path. A segment's arrival time is computed as its departure time plus
//! its one-way delay; the departure is a round-trip time before the acknowledgement.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<SantaCruz> = Entry {
    kind: "santa-cruz",
    title: "TCP Santa Cruz",
    description: "Sums the relative one-way delays of segments from the start on, derives from the sum how many \
        segments are in the bottleneck's queue, and adds or removes one segment each round trip to keep their number \
        at the operating point. Slow start ends at half of the operating point.",
    law: &[
        "queued = segments in the forward queue, from relative one-way delays",
        "each round trip: cwnd += 1 where queued < operating_point - tolerance",
        "each round trip: cwnd -= 1 where queued > operating_point + tolerance",
        "slow start ends where queued > operating_point / 2",
        "congestion: cwnd = cwnd / 2",
    ],
    source: "Parsa and Garcia-Luna-Aceves, ICNP 1999",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[quantity::QUEUED],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "operating_point",
            unit: "segments",
            default: DefaultValue::Fixed(4.0),
            allowed: Range::above(0.0, 1e6),
            help: "Segments kept in the bottleneck's queue; 3 to 5 gave high utilisation.",
            source: "Weigle, dissertation, UNC 2003, chapter 2",
        },
        Parameter {
            name: "tolerance",
            unit: "segments",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::closed(0.0, 1e6),
            help: "Distance from the operating point up to which the window does not change.",
            source: "chosen here: delta has no printed value in Weigle, dissertation, UNC 2003, chapter 2",
        },
    ],
    build: |settings| Ok(SantaCruz::new(settings)),
};

/// Arrival of a segment at the receiver.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Arrival {
    at_s: f64,
    transit: Span,
    delivered: u64,
}

impl Arrival {
    fn of(ack: &AckSample) -> Option<Self> {
        let transit = ack.one_way_delay?;
        Some(Self {
            at_s: ack.now.as_secs_f64() - ack.rtt?.as_secs_f64() + transit.as_secs_f64(),
            transit,
            delivered: ack.delivered,
        })
    }

    /// Returns the mean time between arrivals, from the arrival `earlier` to `self`, in seconds: an estimate of a
    /// segment's service time. Returns `None` if the time or the number of delivered segments has not increased.
    fn service_s(self, earlier: Self) -> Option<f64> {
        let segments = self.delivered.checked_sub(earlier.delivered)? as f64;
        let service_s = (self.at_s - earlier.at_s) / segments;
        (segments > 0.0 && service_s > 0.0).then_some(service_s)
    }
}

/// State of TCP Santa Cruz for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SantaCruz {
    operating_point: f64,
    tolerance: f64,
    /// Number of segments in the queue at the start of the current round.
    queued: f64,
    /// First transit time that was measured at the beginning of a round.
    first: Option<Span>,
    /// The arrival that began the current round.
    began: Option<Arrival>,
}

impl SantaCruz {
    fn new(settings: &Settings) -> Self {
        Self {
            operating_point: settings.get("operating_point"),
            tolerance: settings.get("tolerance"),
            queued: 0.0,
            first: None,
            began: None,
        }
    }

    /// Returns the number of segments in the queue at an acknowledgement: the increase of the transit time since the
    /// first one, divided by the service time of a segment in this round. Returns `None` if there is no service time.
    fn queued_at(&self, arrival: Arrival) -> Option<f64> {
        // With a sum of delays that are divided one by one, a burst would count after its queue has drained.
        let relative_s = arrival.transit.as_secs_f64() - self.first?.as_secs_f64();
        Some(relative_s / arrival.service_s(self.began?)?)
    }

    fn avoidance_round(&self, window: &mut Window) {
        if self.queued > self.operating_point + self.tolerance {
            window.shrink(1.0);
        } else if self.queued < self.operating_point - self.tolerance {
            window.grow(1.0);
        }
    }

    fn begin_round(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(arrival) = Arrival::of(ack) else {
            return;
        };
        self.first.get_or_insert(arrival.transit);
        if let Some(queued) = self.queued_at(arrival) {
            self.queued = queued;
            if !window.in_slow_start() {
                self.avoidance_round(window);
            }
        }
        self.began = Some(arrival);
    }
}

impl CongestionControl for SantaCruz {
    fn phases(&self) -> Phases {
        Phases::SlowStart
    }

    fn needs(&self) -> Needs {
        Needs {
            one_way_delay: true,
            ..Needs::RTT
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if ack.round_start {
            self.begin_round(ack, window);
        }
        if !phase.may_grow() || !window.in_slow_start() {
            return;
        }
        window.grow(ack.credit);
        let queued = Arrival::of(ack).and_then(|arrival| self.queued_at(arrival));
        if queued.is_some_and(|queued| queued > self.operating_point / 2.0) {
            window.exit_slow_start();
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        self.begin_round(ack, window);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        window.reduce_to(event.base / 2.0);
    }

    /// Restarts the measurement of spacings, since the pause of a timeout is not a spacing of arrivals.
    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.began = None;
        restart(event, window);
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queued", self.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(at_ms: u64, transit_ms: u64, delivered: u64) -> Arrival {
        Arrival {
            at_s: at_ms as f64 / 1e3,
            transit: Span::from_millis(transit_ms),
            delivered,
        }
    }

    fn began(first: Arrival) -> SantaCruz {
        let mut santa_cruz = SantaCruz::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        (santa_cruz.first, santa_cruz.began) = (Some(first.transit), Some(first));
        santa_cruz
    }

    /// Checks that relative delay divided by service time is the number of segments in the queue. Ten segments that
    /// departed 1 ms apart and arrive 2 ms apart are 10 ms late in total: five segments are in the queue.
    #[test]
    fn relative_delay_over_service_time_counts_segments() {
        let santa_cruz = began(arrival(100, 50, 7));
        let queued = santa_cruz.queued_at(arrival(120, 60, 17)).unwrap();
        assert!((queued - 5.0).abs() < 1e-9);
        assert_eq!(santa_cruz.queued_at(arrival(120, 60, 7)), None);
    }

    /// Checks that the estimated queue is empty after the queue of a burst has drained. The burst left five segments in
    /// the queue; 200 ms later, the transit time is as before the burst.
    #[test]
    fn what_a_burst_queues_is_gone_when_it_has_drained() {
        let mut santa_cruz = began(arrival(100, 50, 7));
        let burst = arrival(120, 60, 17);
        santa_cruz.queued = santa_cruz.queued_at(burst).unwrap();
        santa_cruz.began = Some(burst);
        assert_eq!(santa_cruz.queued_at(arrival(320, 50, 19)), Some(0.0));
    }
}
