//! Copa: steers the rate to a target that is computed from the queueing delay.
//!
//! Arun and Balakrishnan, NSDI 2018. Points that the paper does not define are as in its authors' implementation
//! (genericCC, markoviancc.cc). The velocity at most doubles the window in a round trip. The smallest round-trip time
//! is taken over the last ten seconds or twenty round trips, whichever is longer. If more than 30 % of the segments are
//! lost over two round trips, the window is multiplied by 0.7. Without this rule, a flow on a path with a very small
//! buffer would lose a third of all segments permanently.

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Limit, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity::{self, Quantity};
use crate::window::Window;
use crate::windowed_max::WindowedMax;

/// State of Copa. It is boxed, so that the enum of all controllers stays small.
pub type BoxedCopa = Box<Copa>;

pub(crate) static ENTRY: Entry<BoxedCopa> = Entry {
    kind: "copa",
    title: "Copa",
    description: "Moves the window towards the one at which 1 / delta segments of the flow wait in the queue, by \
        velocity / (delta * cwnd) per segment acknowledged, up or down; the velocity doubles each round trip from \
        the third in one direction on. If the queue does not empty within five round trips, other flows fill it, and \
        Copa competes with them: 1 / delta then grows by one per round trip and is halved at a loss, as standard \
        TCP's window is. Apart from that, losses reduce the window, by 0.3 of it, only if they exceed 30 % of the \
        segments of two round trips. Paces at twice the window per round trip.",
    law: &[
        "queueing = smallest rtt of the last srtt / 2 - smallest rtt of 10 s",
        "target rate = 1 / (delta * queueing); current rate = cwnd / smallest rtt of the last srtt / 2",
        "slow start until the current rate is above the target",
        "each ACK: cwnd +- velocity * acked / (delta * cwnd), towards the target",
        "competitive if queueing was above a tenth of its largest value throughout five round trips: 1 / delta += 1 \
            per round trip, halved at a loss",
    ],
    source: "Arun and Balakrishnan, NSDI 2018",
    listens_to: &[Signal::Loss, Signal::Delay],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::QUEUEING_S,
        Quantity::new(
            "delta",
            "",
            "delta: the inverse of the segments that the flow aims to keep in the queue",
        ),
        Quantity::new(
            "velocity",
            "",
            "velocity: the factor on steps in one direction",
        ),
        Quantity::new(
            "competes",
            "",
            "1 while it competes with flows that fill queues",
        ),
    ],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "delta",
            unit: "per segment",
            default: DefaultValue::Fixed(0.5),
            allowed: Range::above(0.0, 1e3),
            help: "One over the segments that the flow keeps in the queue.",
            source: "NSDI 2018, section 2.2 (default mode)",
        },
        Parameter {
            name: "competitive",
            unit: "0 or 1",
            default: DefaultValue::Fixed(1.0),
            allowed: Range::closed(0.0, 1.0),
            help: "1 turns on competitive mode, which keeps a share of the link against flows that fill the queue.",
            source: "NSDI 2018, section 2.2 (competitive mode)",
        },
    ],
    build: |settings| Ok(Box::new(Copa::new(settings))),
};

/// Minimum time over which the smallest round-trip time is taken.
const MIN_RTT: Span = Span::from_secs(10);
/// Minimum number of round trips over which the smallest round-trip time is taken.
const MIN_RTT_ROUNDS: u64 = 20;
/// Number of round trips that are examined for an empty queue, in addition to the last one. If the queue was empty in
/// none of them, loss-based senders fill it.
const ROUNDS: usize = 4;
/// Maximum queueing delay that counts as an empty queue, as a fraction of the largest queueing delay in the last
/// `ROUNDS` + 1 round trips.
const EMPTY: f64 = 0.1;
/// Minimum number of successive round trips without a change of direction for the velocity to double.
const STEADY: u32 = 3;
/// Pacing rate, in windows per standing round-trip time.
const PACING: f64 = 2.0;
/// Number of round trips over which losses are counted.
const LOSS_ROUNDS: u64 = 2;
/// Losses are evaluated only after more than this number of segments has been delivered or lost.
const LOSS_SAMPLES: u64 = 20;
/// Maximum fraction of segments that may be lost without a reduction of the window.
const MOST_LOST: f64 = 0.3;
/// Fraction of the window that is kept if more than the fraction `MOST_LOST` of the segments is lost.
const KEPT: f64 = 0.7;
/// Minimum window in segments.
const MIN_CWND: f64 = 2.0;

/// Smallest and largest round-trip time within one round trip, in seconds.
type Extremes = (f64, f64);
const NONE: Extremes = (f64::INFINITY, 0.0);

/// State of Copa for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Copa {
    default_delta: f64,
    may_compete: bool,
    delta: f64,
    competes: bool,
    slow_start: bool,
    velocity: f64,
    /// True if the window grew in the last round trip. A change of direction at a velocity above 1 changes it at once.
    grows: bool,
    /// Number of successive round trips in which the window moved in the same direction as in the one before.
    steady: u32,
    /// Window at the beginning of the round trip.
    cwnd_before: f64,
    /// True if a loss has been reported in this round trip, in either mode.
    lost: bool,
    /// Smallest and largest round-trip times of the last round trips; the current one is first.
    rounds: [Extremes; ROUNDS + 1],
    /// Maximum of recent inverse round-trip times; its inverse is the smallest round-trip time.
    per_min_rtt: WindowedMax,
    per_standing_rtt: WindowedMax,
    delivered: u64,
    losses: Losses,
    rate: Option<Rate>,
}

/// Start of the current interval for counting losses: its time, and the connection's counters at this time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Losses {
    since: Time,
    lost: u64,
    delivered: u64,
}

impl Copa {
    fn new(settings: &Settings) -> Self {
        let delta = settings.get("delta");
        Self {
            default_delta: delta,
            may_compete: settings.get("competitive") >= 0.5,
            delta,
            competes: false,
            slow_start: true,
            velocity: 1.0,
            grows: true,
            steady: 0,
            cwnd_before: 0.0,
            lost: false,
            rounds: [NONE; ROUNDS + 1],
            per_min_rtt: WindowedMax::new(),
            per_standing_rtt: WindowedMax::new(),
            delivered: 0,
            losses: Losses::default(),
            rate: None,
        }
    }

    fn min_rtt_s(&self) -> f64 {
        1.0 / self.per_min_rtt.get()
    }

    /// Returns the standing round-trip time: the smallest sample of the last half round trip. This excludes delays due
    /// to ACK compression (section 2.1).
    fn standing_rtt_s(&self) -> f64 {
        1.0 / self.per_standing_rtt.get()
    }

    fn queueing_s(&self) -> f64 {
        (self.standing_rtt_s() - self.min_rtt_s()).max(0.0)
    }

    fn add_sample(&mut self, now: Time, rtt: Span, srtt: Span) {
        let (tick, rtt_s) = (now.as_ps(), rtt.as_secs_f64().max(1e-12));
        let long = MIN_RTT.max(srtt * MIN_RTT_ROUNDS);
        self.per_min_rtt.update(tick, 1.0 / rtt_s, long.as_ps());
        self.per_standing_rtt
            .update(tick, 1.0 / rtt_s, srtt.as_ps() / 2);
        let (least, most) = &mut self.rounds[0];
        *least = least.min(rtt_s);
        *most = most.max(rtt_s);
    }

    /// Begins a round trip: chooses the mode and the velocity.
    fn begin_round(&mut self, window: &Window) {
        if self.may_compete {
            self.choose_mode();
        }
        self.choose_velocity(window.cwnd());
        self.rounds.rotate_right(1);
        self.rounds[0] = NONE;
        self.lost = false;
    }

    /// Chooses the velocity (section 2.1). After slow start, it doubles in each round trip, once the direction has
    /// stayed the same for three round trips.
    fn choose_velocity(&mut self, cwnd: f64) {
        let grows = cwnd > self.cwnd_before;
        self.steady = if grows == self.grows && !self.slow_start {
            self.steady + 1
        } else {
            0
        };
        self.velocity = match self.steady {
            STEADY.. => 2.0 * self.velocity,
            _ => 1.0,
        };
        self.grows = grows;
        self.cwnd_before = cwnd;
    }

    /// Chooses the mode (section 2.2): competitive if the queue was never empty in the last `ROUNDS` + 1 round trips,
    /// since other senders then fill it. Also sets delta.
    fn choose_mode(&mut self) {
        let seen = self.rounds.iter().filter(|round| **round != NONE);
        let (least, most) = seen.fold(NONE, |(least, most), round| {
            (least.min(round.0), most.max(round.1))
        });
        let filled = self.rounds[ROUNDS] != NONE && !self.slow_start;
        let competes = filled && least - self.min_rtt_s() > EMPTY * (most - self.min_rtt_s());
        self.delta = match (competes, self.competes) {
            (false, _) => self.default_delta,
            (true, false) => self.delta,
            // In a round trip without losses, 1 / delta grows by one.
            (true, true) if self.lost => self.delta,
            (true, true) => self.delta / (1.0 + self.delta),
        };
        self.competes = competes;
    }

    /// Moves the window towards the target for `acked` segments. The window grows only if `may_grow`.
    fn step(&mut self, acked: f64, may_grow: bool, window: &mut Window) {
        let (cwnd, queueing_s) = (window.cwnd(), self.queueing_s());
        // Without a queue, the target rate is infinite.
        let below = cwnd * self.delta * queueing_s <= self.standing_rtt_s();
        self.slow_start &= below;
        if self.slow_start {
            if may_grow {
                window.set_cwnd(cwnd + acked);
            }
            return;
        }
        // At a change of direction, the velocity starts at one (mvfst, Copa.cpp); otherwise the window would fall as
        // fast as it rose.
        if below != self.grows && self.velocity > 1.0 {
            self.velocity = 1.0;
            self.steady = 0;
            self.grows = below;
        }
        // A velocity of delta * cwnd doubles the window in a round trip.
        while self.velocity > 1.0 && self.velocity > self.delta * cwnd {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
        let step = self.velocity * acked / (self.delta * cwnd);
        let next = if below { cwnd + step } else { cwnd - step };
        if !below || may_grow {
            window.set_cwnd(next.max(MIN_CWND));
        }
    }

    /// Reduces the window and ends slow start if too many segments were lost. Decides every two round trips, or after
    /// `LOSS_SAMPLES` segments if that takes longer.
    fn limit_losses(&mut self, ack: &AckSample, window: &mut Window) {
        let (lost, delivered) = (
            ack.lost.saturating_sub(self.losses.lost),
            ack.delivered - self.losses.delivered,
        );
        let (span, seen) = (ack.now.since(self.losses.since), lost + delivered);
        if span <= ack.srtt * LOSS_ROUNDS || seen <= LOSS_SAMPLES {
            return;
        }
        self.losses = Losses {
            since: ack.now,
            lost: ack.lost,
            delivered: ack.delivered,
        };
        if lost as f64 > MOST_LOST * seen as f64 {
            self.slow_start = false;
            window.set_cwnd((KEPT * window.cwnd()).max(MIN_CWND));
        }
    }

    fn pace(&mut self, segment_bytes: u64, window: &Window) {
        let bits = 8.0 * segment_bytes as f64 * PACING * window.cwnd();
        self.rate = Some(Rate::from_bps((bits / self.standing_rtt_s()) as u64));
    }
}

impl CongestionControl for Copa {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn needs(&self) -> Needs {
        Needs {
            no_ecn: true,
            rack_tlp: true,
            paces: true,
            ..Needs::RTT
        }
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.add_sample(ack.now, rtt, ack.srtt);
        }
        let acked = ack.delivered.saturating_sub(self.delivered);
        self.delivered = ack.delivered;
        if self.per_min_rtt.get() == 0.0 {
            return;
        }
        if ack.round_start {
            self.begin_round(window);
        }
        self.step(acked as f64, ack.limit == Limit::Network, window);
        self.limit_losses(ack, window);
        self.pace(ack.segment_bytes, window);
    }

    /// Doubles delta in competitive mode, up to the default delta and at most once in a round trip. In the default
    /// mode, losses have no effect (section 2.2).
    fn on_congestion(&mut self, _event: &Congestion, _window: &mut Window) {
        if self.competes && !self.lost {
            self.delta = (2.0 * self.delta).min(self.default_delta);
        }
        self.lost = true;
    }

    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        self.slow_start = true;
        self.velocity = 1.0;
        self.steady = 0;
        window.restart();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("queueing_s", self.queueing_s());
        out("delta", self.delta);
        out("velocity", self.velocity);
        out("competes", f64::from(u8::from(self.competes)));
    }
}
