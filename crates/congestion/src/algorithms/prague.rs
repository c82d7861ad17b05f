//! TCP Prague: a scalable congestion control for the low-latency queue of L4S.
//!
//! This is version 0.6 of the Linux module (L4STeam, `net/ipv4/tcp_prague.c`) with its setting *rate*: after
//! `rtt_transition` round trips, a flow with a round-trip time below `rtt_target` gets the rate of a flow with a
//! round-trip time of `rtt_target`. The detection of classic queues, which is off in the module, is not implemented.
//! Growth and reductions change a fractional target window. Outside slow start, each acknowledgement moves the window
//! by at most one segment towards this target, rounded up. Rationale: draft-briscoe-iccrg-prague-congestion-control.

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases, restart};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Cause, Congestion, Limit, Phase, Timeout};
use crate::marked_share::MarkedShare;
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::window::Window;

pub(crate) static ENTRY: Entry<Prague> = Entry {
    kind: "prague",
    title: "TCP Prague",
    description: "Scalable congestion control for L4S: estimates the share of marked segments, alpha, and at a mark \
        removes alpha / 2 of the window, once a round trip; grows for each segment that is not marked. Round-trip \
        times shorter than rtt_target count as rtt_target. Losses halve the window. It paces its segments.",
    law: &[
        "each round trip of at least rtt_target: alpha += (share of marked segments - alpha) / 16",
        "each ACK: cwnd += (acked - marked) * min(1, srtt / rtt_target)^2 / cwnd",
        "mark, once a round trip of at least rtt_target: cwnd = (1 - alpha / 2) * cwnd",
        "loss: cwnd = cwnd / 2",
        "pacing rate = cwnd / srtt, twice that below half of ssthresh",
    ],
    source: "L4STeam, tcp_prague.c 0.6; draft-briscoe-iccrg-prague-congestion-control",
    listens_to: &[Signal::Loss, Signal::Ecn],
    needs_path: PathNeeds::queue("dualpi2"),
    state: &[quantity::ALPHA_MARKED],
    variants: &[Variant::Paper],
    parameters: &[
        Parameter {
            name: "rtt_target",
            unit: "seconds",
            default: DefaultValue::Fixed(0.025),
            allowed: Range::closed(0.0, 10.0),
            help: "Shorter round-trip times count as this one; 0: they count as they are.",
            source: "tcp_prague.c, prague_rtt_target",
        },
        Parameter {
            name: "rtt_transition",
            unit: "round trips",
            default: DefaultValue::Fixed(500.0),
            allowed: Range::closed(0.0, 1e9),
            help: "Round trips after slow start before short ones are scaled.",
            source: "tcp_prague.c, prague_rtt_transition",
        },
    ],
    build: |settings| Ok(Prague::new(settings)),
};

/// Weight of a round in the estimated fraction of marks (PRAGUE_SHIFT_G).
const GAIN: f64 = 1.0 / 16.0;
/// Minimum window, in segments (MIN_CWND).
const MIN_CWND: f64 = 2.0;
/// Maximum duration of a burst at the pacing rate, in seconds (`prague_burst_shift`). A burst of `MIN_BURST` segments
/// may take longer.
const BURST_S: f64 = 1.0 / 4096.0;
/// Minimum burst in segments (`tcp_min_tso_segs`).
const MIN_BURST: u64 = 2;

/// State of TCP Prague for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prague {
    rtt_target: Span,
    rtt_transition: u64,
    alpha: f64,
    /// Target window (`frac_cwnd`), which may be fractional; zero before the first acknowledgement.
    target: f64,
    /// True once a mark has arrived; before, the fraction of marks is not estimated.
    marks_seen: bool,
    /// True if the window has been reduced for a loss in the current recovery.
    in_loss: bool,
    /// Time of the last reduction for a mark.
    reduced: Time,
    /// Time of the last change of the estimated fraction of marks.
    estimated: Time,
    marks: MarkedShare,
    /// Number of delivered segments at which the round ends.
    round_end: u64,
    /// Number of rounds that ended outside slow start; no event resets it.
    rounds: u64,
    pacing: Option<Rate>,
    quantum: u64,
}

impl Prague {
    fn new(settings: &Settings) -> Self {
        Self {
            rtt_target: Span::from_secs_f64(settings.get("rtt_target")),
            rtt_transition: settings.get("rtt_transition") as u64,
            alpha: 1.0,
            target: 0.0,
            marks_seen: false,
            in_loss: false,
            reduced: Time::ZERO,
            estimated: Time::ZERO,
            marks: MarkedShare::default(),
            round_end: 0,
            rounds: 0,
            pacing: None,
            quantum: MIN_BURST,
        }
    }

    /// Returns true if round-trip times below the target now count as the target. The flow's own one may be longer.
    fn scales(&self, window: &Window) -> bool {
        let old = self.rounds >= self.rtt_transition;
        self.rtt_target > Span::ZERO && old && !window.in_slow_start()
    }

    /// Returns the growth of the window in a round trip without marks, in segments.
    fn increase(&self, srtt: Span, window: &Window) -> f64 {
        if srtt == Span::ZERO || srtt >= self.rtt_target || !self.scales(window) {
            return 1.0;
        }
        let share = srtt.as_secs_f64() / self.rtt_target.as_secs_f64();
        share * share
    }

    /// Grows the target window for `segments` unmarked segments that were acknowledged. In slow start, also grows the
    /// window itself, up to the threshold.
    fn grow(&mut self, segments: f64, srtt: Span, window: &mut Window) {
        let room = window.ssthresh() - window.cwnd();
        let slow = if window.in_slow_start() {
            segments.min(room)
        } else {
            0.0
        };
        if slow > 0.0 {
            window.grow(slow);
            self.target = window.cwnd();
        }
        self.target += (segments - slow) * self.increase(srtt, window) / self.target.ceil();
    }

    /// Moves the window by at most one segment towards its target; the target is rounded up to a whole segment.
    fn follow(&self, window: &mut Window) {
        let target = self.target.ceil();
        let step = (target - window.cwnd()).clamp(-1.0, 1.0);
        if step != 0.0 {
            window.set_cwnd(window.cwnd() + step);
        }
    }

    /// Ends a round: updates the estimate of the fraction of marked segments.
    fn end_round(&mut self, ack: &AckSample, window: &Window) {
        let share = self.marks.end_round().unwrap_or(0.0);
        if self.marks_seen {
            self.alpha += GAIN * (share.min(1.0) - self.alpha);
            self.estimated = ack.now;
        }
        self.round_end = self.marks.delivered() + ack.in_flight;
        self.rounds += u64::from(!window.in_slow_start());
    }

    fn pace(&mut self, ack: &AckSample, window: &Window) {
        if ack.srtt == Span::ZERO {
            return;
        }
        let opens = window.cwnd() < window.ssthresh() / 2.0;
        let gain = if opens { 2.0 } else { 1.0 };
        let segments_per_s = gain * self.target / ack.srtt.as_secs_f64();
        let bits_per_s = segments_per_s * 8.0 * ack.segment_bytes as f64;
        self.pacing = (bits_per_s >= 1.0).then(|| Rate::from_bps(bits_per_s as u64));
        self.quantum = ((segments_per_s * BURST_S) as u64).max(MIN_BURST);
    }
}

impl CongestionControl for Prague {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn needs(&self) -> Needs {
        Needs {
            every_mark: true,
            l4s: true,
            rack_tlp: true,
            paces: true,
            ..Needs::default()
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        if self.target == 0.0 {
            self.target = window.cwnd();
        }
        let (newly, marked) = self.marks.take(ack);
        self.marks_seen |= marked > 0;
        let unmarked = newly.saturating_sub(marked);
        let may_grow = phase != Phase::Recovery && !self.in_loss && ack.limit == Limit::Network;
        if unmarked > 0 && may_grow {
            self.grow(unmarked as f64, ack.srtt, window);
        }
        if !window.in_slow_start() {
            self.follow(window);
        }
        let waited = ack.now.since(self.estimated) >= self.rtt_target || !self.scales(window);
        if ack.delivered >= self.round_end && waited {
            self.end_round(ack, window);
        }
        self.pace(ack, window);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if event.in_slow_start || self.target == 0.0 {
            self.target = window.cwnd();
        }
        let decrease = match event.cause {
            Cause::Ecn
                if self.scales(window) && event.now.since(self.reduced) < self.rtt_target =>
            {
                return;
            }
            Cause::Ecn => {
                self.reduced = event.now;
                self.alpha / 2.0
            }
            Cause::Loss | Cause::Nak => {
                self.in_loss = true;
                0.5
            }
        };
        self.target = (self.target * (1.0 - decrease)).max(MIN_CWND);
        window.set_ssthresh(self.target);
    }

    fn on_recovery_exit(&mut self, _now: Time, _window: &mut Window) {
        self.in_loss = false;
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        restart(event, window);
        self.target = window.cwnd();
        self.in_loss = false;
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }

    fn send_quantum(&self) -> u64 {
        self.quantum
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rounding;

    struct Flow {
        prague: Prague,
        window: Window,
        ack: AckSample,
        /// Number of the last segment sent before the last reduction.
        recover: u64,
        marks: u64,
    }

    impl Flow {
        /// Returns a flow in congestion avoidance. `alpha` is its estimated fraction of marked segments. The flow is
        /// old enough to aim at the rate of a flow with the target round-trip time.
        fn new(cwnd: f64, rtt_ms: u64, alpha: f64) -> Self {
            let settings = ENTRY.settings(Variant::Paper, &[]).expect("defaults");
            let mut prague = Prague::new(&settings);
            (prague.alpha, prague.marks_seen, prague.target) = (alpha, true, cwnd);
            // The flow has had enough round trips for its rate to be scaled.
            prague.rounds = prague.rtt_transition;
            prague.round_end = cwnd as u64;
            let mut window = Window::new(cwnd, cwnd, f64::INFINITY, Rounding::Real);
            window.set_ssthresh(cwnd);
            let rtt = Span::from_millis(rtt_ms);
            Self {
                prague,
                window,
                ack: AckSample {
                    now: Time::ZERO + Span::from_secs(1),
                    delivered: 0,
                    srtt: rtt,
                    min_rtt: rtt,
                    in_flight: cwnd as u64,
                    ..AckSample::ONE_SEGMENT
                },
                recover: 0,
                marks: 0,
            }
        }

        fn cwnd(&self) -> f64 {
            self.window.cwnd()
        }

        /// Acknowledges one segment, `srtt / cwnd` after the previous one.
        fn acknowledge(&mut self, marked: bool) {
            let gap = self.ack.srtt.as_ps() as f64 / self.cwnd();
            self.ack.now += Span::from_ps(gap as u64);
            self.ack.delivered += 1;
            self.ack.in_flight = self.cwnd() as u64;
            self.marks += u64::from(marked);
            (self.ack.marked, self.ack.ecn_echo) = (Some(self.marks), marked);
            if marked && self.ack.delivered > self.recover {
                self.recover = self.ack.delivered + self.ack.in_flight;
                self.congest(Cause::Ecn);
            }
            self.prague
                .on_ack(&self.ack, Phase::Avoidance, &mut self.window);
        }

        fn congest(&mut self, cause: Cause) {
            let event = Congestion {
                now: self.ack.now,
                cause,
                base: self.cwnd(),
                in_flight: self.ack.in_flight,
                in_slow_start: false,
                first: false,
            };
            self.prague.on_congestion(&event, &mut self.window);
        }
    }

    /// Checks that a mark on one of a hundred segments does not reduce the window if the estimate is zero. It sets the
    /// estimate to a sixteenth of the fraction of marks.
    #[test]
    fn the_first_mark_moves_the_estimate_not_the_window() {
        let mut flow = Flow::new(100.0, 25, 0.0);
        (0..100).for_each(|number| flow.acknowledge(number == 50));
        assert!(flow.prague.target > 100.0 && flow.cwnd() == 101.0);
        assert!((flow.prague.alpha - 0.01 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn with_all_segments_marked_the_window_falls_to_two() {
        let mut flow = Flow::new(100.0, 25, 0.0);
        (0..2000).for_each(|_| flow.acknowledge(true));
        assert!(flow.prague.alpha > 0.99);
        assert_eq!(flow.cwnd(), MIN_CWND);
    }

    #[test]
    fn a_loss_halves_the_window_by_a_segment_an_acknowledgement() {
        let mut flow = Flow::new(100.0, 25, 0.0);
        flow.congest(Cause::Loss);
        flow.acknowledge(false);
        assert_eq!(flow.cwnd(), 99.0);
        (0..60).for_each(|_| flow.acknowledge(false));
        assert_eq!(flow.cwnd(), 50.0);
        flow.prague.on_recovery_exit(flow.ack.now, &mut flow.window);
        flow.acknowledge(false);
        assert_eq!((flow.prague.target, flow.cwnd()), (50.0 + 1.0 / 50.0, 51.0));
    }

    /// Checks that the mean number of marks per round trip is 1 + sqrt(3) at any rate. If the round-trip time is below
    /// the target of 25 ms, the mean number per 25 ms is 1 + sqrt(3).
    #[test]
    fn marks_a_round_trip_do_not_depend_on_the_rate() {
        for (rtt_ms, share) in [(25, 0.02), (25, 0.002), (50, 0.02), (5, 0.02)] {
            let rounds = f64::from(u32::min(rtt_ms, 25)) / 25.0;
            // With x marks per round trip, a reduction removes x / 2 segments. They return at one segment per round
            // trip, in a round trip plus the 1 / x round trips until the next mark, so x / 2 = 1 + 1 / x.
            let expected = (1.0 + 3f64.sqrt()) / share * rounds;
            let mut flow = Flow::new(expected, rtt_ms.into(), share);
            let mut random = 1u64;
            let count = (2000.0 / share) as u64;
            let mut sum = 0.0;
            for _ in 0..count {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                flow.acknowledge((random >> 11) as f64 / 2f64.powi(53) < share);
                sum += flow.cwnd();
            }
            let mean = sum / count as f64;
            assert!(
                (mean / expected - 1.0).abs() < 0.05,
                "{rtt_ms} ms, {share}: {mean} for {expected}"
            );
        }
    }

    /// A burst takes a quarter of a millisecond at the pacing rate, here 100 Mbit/s.
    #[test]
    fn bursts_are_short_at_the_pacing_rate() {
        let mut flow = Flow::new(208.0, 25, 0.0);
        flow.acknowledge(false);
        let rate = flow.prague.pacing_rate().expect("paced").as_bps() as f64;
        assert!((rate / 99.84e6 - 1.0).abs() < 0.01, "{rate}");
        assert_eq!(flow.prague.send_quantum(), 2);
    }
}
