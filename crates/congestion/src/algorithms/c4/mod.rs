//! C4, Christian's Congestion Control Code: draft-huitema-ccwg-c4-spec (editor's copy of August 2026, which follows
//! version 04; section numbers refer to this copy).
//!
//! The text contradicts itself in places, and is read as follows. A larger sample raises the nominal rate (section 3.1
//! compares the other way round). The margin, which is a time, is added to the nominal maximum round-trip time, not to
//! a rate (section 4.1). The reduction after a delay is the excess divided by the threshold (section 5.5.1). Draining
//! paces at 7/8 (section 5.7; the table of section 4.1 has 3/4). Cruising lasts two eras (section 4.5; section 4 has
//! four).
//!
//! In Initial and after a push, the nominal rate counts as grown if it has risen by at least a quarter of the attempted
//! increase (version 00, section 4.3). After a probe without congestion, any rise counts. Three rules are from picoquic
//! (c4.c, August 2026), with which the draft's authors tested. Recovery drains if congestion occurs again in Recovery.
//! Outside Initial, delays indicate congestion only in Probing, in Pushing, and in the Recovery after them or after
//! Initial; delays therefore never reduce the nominal rate. High jitter causes a return to Initial only below 1 MB/s
//! and above 50 ms. Variant picoquic follows all rules of picoquic.
//!
//! Not implemented: Resuming (section 4.3), which needs a window remembered from an earlier connection; the pacing of
//! paths below 1 ms (section 6.2); and draining after Initial, after Pushing, and when the round-trip time of the path
//! decreases. Section 5.7 names these three cases of draining without saying how they are detected. Variant picoquic
//! drains after Initial, and in the next Recovery after an era of Cruising whose largest round-trip time was below the
//! nominal maximum.

mod flow;
mod laws;
#[cfg(test)]
mod made_up_path;
mod measuring;
mod picoquic;
mod states;

use longhaul_units::{Rate, Time};
use serde::{Deserialize, Serialize};

use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::facts::{AckSample, Congestion, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{Settings, Variant};
use crate::quantity::Quantity;
use crate::window::Window;
use flow::{DraftC4, State};
use laws::{MIN_INITIAL_BPS, MIN_SEGMENTS, margin_s, pacing, show};
use picoquic::PicoquicC4;

/// State of C4. It is boxed, so that the enum of all controllers stays small.
pub type BoxedC4 = Box<C4>;

pub(crate) static ENTRY: Entry<BoxedC4> = Entry {
    kind: "c4",
    title: "C4 (Christian's Congestion Control Code)",
    description: "Paces at the nominal rate, the largest delivery rate since the last congestion, and keeps in \
        flight what this rate sends in the longest round trip without a queue of the flow's own. After two round \
        trips it probes for one at a rate that is higher by a sixteenth, or by a quarter as long as that finds more \
        bandwidth. Losses and marks above thresholds, which are lower for fast flows, reduce the rate by up to a \
        quarter; delays above a threshold end a probe. C4 always paces, and needs the transport's delivery rate \
        samples. Variant picoquic is the implementation with which C4 was tested: it drains the queue after Initial \
        and when round trips become shorter, and in Initial also paces by the largest rate over a millisecond or \
        more.",
    law: &[
        "rate = largest delivery rate since the last reduction; max_rtt = longest round trip at no more than \
            it, forgotten by 1/8 per round trip",
        "pacing rate = alpha * rate; cwnd = alpha * rate * (max_rtt + min(max_rtt / 4, 15 ms))",
        "alpha: Initial 2, Recovery 15/16 or 7/8, Cruising 1 (two round trips), Probing 17/16 (one), Pushing 5/4",
        "delay above max_rtt + min(25 ms, (1/16 + 3/16 (1 - s)) max_rtt) in a probe: Recovery",
        "loss rate above 0.02 + (1 - s) / 2 while cruising: rate = 3/4 rate; s from 0 (50 kB/s) to 1 (10 MB/s)",
    ],
    source: "draft-huitema-ccwg-c4-spec (editor's copy after version 04); picoquic, August 2026: c4.c; papers of private-octopus/c4",
    listens_to: &[Signal::Loss, Signal::Ecn, Signal::Delay, Signal::Rate],
    needs_path: PathNeeds::NONE,
    state: &[
        Quantity::new("nominal_segments_per_s", "segments/s", "nominal rate"),
        Quantity::new("nominal_max_rtt_s", "s", "nominal largest round-trip time"),
        Quantity::new("running_min_rtt_s", "s", "running smallest round-trip time"),
        Quantity::new("alpha", "", "pacing rate over nominal rate"),
    ],
    variants: &[Variant::Paper, Variant::Picoquic],
    parameters: &[],
    build: |settings| Ok(Box::new(C4::new(settings))),
};

/// State of C4 for one flow, in one of its variants.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum C4 {
    /// The rules of the draft.
    Draft(DraftC4),
    /// The rules of picoquic.
    Picoquic(PicoquicC4),
}

/// Calls a method of the selected variant.
macro_rules! with_form {
    ($form:expr, $c4:ident => $call:expr) => {
        match $form {
            C4::Draft($c4) => $call,
            C4::Picoquic($c4) => $call,
        }
    };
}

impl C4 {
    fn new(settings: &Settings) -> Self {
        match settings.variant() {
            Variant::Picoquic => Self::Picoquic(PicoquicC4::default()),
            _ => Self::Draft(DraftC4::default()),
        }
    }
}

impl DraftC4 {
    /// Sets the window, the pacing rate and the quantum (section 4.1).
    fn set_window(&mut self, window: &mut Window) {
        if self.rate == 0.0 || self.max_rtt_s == 0.0 {
            return;
        }
        let initial = self.state == State::Initial;
        let margin_s = if initial {
            0.0
        } else {
            margin_s(self.max_rtt_s)
        };
        let mut per_s = self.alpha() * self.rate;
        let mut cwnd = (per_s * (self.max_rtt_s + margin_s)).max(MIN_SEGMENTS);
        if initial {
            cwnd = cwnd.max(self.initial_cwnd);
            per_s = per_s.max(MIN_INITIAL_BPS / 8.0 / self.segment_bytes);
            self.initial_cwnd = cwnd;
        }
        window.set_cwnd(cwnd);
        (self.pacing, self.quantum) = pacing(per_s, self.segment_bytes);
    }

    fn on_handshake(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.note_rtt(rtt);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = window.cwnd();
        }
        self.segment_bytes = ack.segment_bytes as f64;
        let delivered = self.count(ack);
        if let Some(rtt) = ack.rtt {
            self.note_rtt(rtt);
        }
        self.note_rate(ack);
        if self.state == State::Initial {
            if self.advance_initial(ack, delivered) {
                self.leave_initial(ack, window);
            }
        } else {
            if let Some(beta) = self.congestion(ack) {
                self.answer_congestion(beta, ack);
            }
            if self.is_era_over(ack) {
                self.end_era(ack, window);
            }
        }
        self.set_window(window);
    }

    fn on_timeout(&mut self, window: &mut Window) {
        self.timed_out = true;
        window.restart();
    }

    fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let Self {
            rate,
            max_rtt_s,
            running_min_s,
            ..
        } = *self;
        show([rate, max_rtt_s, running_min_s, self.alpha()], out);
    }
}

impl CongestionControl for C4 {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn on_handshake(&mut self, ack: &AckSample, _window: &mut Window) {
        with_form!(self, c4 => c4.on_handshake(ack));
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        with_form!(self, c4 => c4.on_ack(ack, window));
    }

    /// Does nothing: losses are processed with the acknowledgements that report them.
    fn on_congestion(&mut self, _event: &Congestion, _window: &mut Window) {}

    /// Sets the window to one segment. The next acknowledgement restores the window, since a timeout is no sign of
    /// congestion (section 5.3.1).
    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        with_form!(self, c4 => c4.on_timeout(window));
    }

    fn on_recovery_exit(&mut self, _now: Time, _window: &mut Window) {}

    fn pacing_rate(&self) -> Option<Rate> {
        with_form!(self, c4 => c4.pacing)
    }

    fn send_quantum(&self) -> u64 {
        with_form!(self, c4 => c4.quantum)
    }

    /// Declares that RACK-TLP is needed: without it, only the retransmission timer would detect lost retransmissions.
    fn needs(&self) -> Needs {
        Needs {
            delivery_rate: true,
            paces: true,
            exact_marks: true,
            rack_tlp: true,
            ..Needs::RTT
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        with_form!(self, c4 => c4.probe(out));
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Span;

    use super::flow::Era;
    use super::made_up_path::{BYTES, FLIGHT, RTT_MS, near};
    use super::measuring::sensitivity;
    use super::*;

    type Path = made_up_path::Path<DraftC4>;

    impl made_up_path::Form for DraftC4 {
        type State = State;

        const CRUISING: State = State::Cruising { eras: 0 };

        fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
            self.on_ack(ack, window);
        }

        fn era(&self) -> (State, u64) {
            (self.state, self.era.end)
        }
    }

    /// Checks that a fast flow is more sensitive to congestion (section 5.1): its thresholds are lower (5.2 to 5.4).
    #[test]
    fn fast_flows_are_more_sensitive() {
        for (bytes_per_s, expected) in [
            (4e4, 0.0),
            (5e4, 0.0),
            (5.25e5, 0.46),
            (1e6, 0.92),
            (5.5e6, 0.96),
            (1e7, 1.0),
            (1e9, 1.0),
        ] {
            near(sensitivity(bytes_per_s), expected);
        }
        let at = |bytes_per_s: f64| DraftC4 {
            rate: bytes_per_s / BYTES as f64,
            segment_bytes: BYTES as f64,
            max_rtt_s: 0.08,
            ..DraftC4::default()
        };
        let (slow, fast) = (at(5e4), at(1e7));
        near(slow.delay_threshold_s(), 0.08 / 4.0);
        near(fast.delay_threshold_s(), 0.08 / 16.0);
        near(slow.loss_threshold(), 0.52);
        near(fast.loss_threshold(), 0.02);
        near(slow.mark_threshold(), 6.0 / 32.0);
        near(fast.mark_threshold(), 3.0 / 32.0);
        let long = DraftC4 {
            max_rtt_s: 1.0,
            ..fast
        };
        near(long.delay_threshold_s(), 0.025);
    }

    /// Checks the test for high jitter (section 4.4.1), with picoquic's bounds (c4.c): the rate must be below 1 MB/s,
    /// and the largest round-trip time must exceed both 50 ms and 5/2 of the smallest one.
    #[test]
    fn slow_flows_with_long_round_trips_are_jittery() {
        for (bytes_per_s, min_rtt_s, max_rtt_s, jittery) in [
            (999_999.0, 0.04, 0.125, true),
            (1_000_000.0, 0.04, 0.125, false),
            (10_000.0, 0.05, 0.125, false),
            (10_000.0, 0.0, 0.05, false),
            (10_000.0, 0.0, 0.0625, true),
        ] {
            let flow = DraftC4 {
                rate: bytes_per_s / BYTES as f64,
                segment_bytes: BYTES as f64,
                running_min_s: min_rtt_s,
                max_rtt_s,
                ..DraftC4::default()
            };
            let found = flow.is_jittery();
            assert_eq!(found, jittery, "{bytes_per_s} {min_rtt_s} {max_rtt_s}");
        }
    }

    /// Checks that three eras end Initial if the rate grows by less than a quarter in each (section 4.2). C4 then
    /// takes half of its window as the capacity of the path.
    #[test]
    fn initial_ends_when_the_rate_stops_growing() {
        let mut path = Path::new();
        for rate in [100.0, 200.0, 400.0, 800.0, 990.0, 990.0] {
            assert_eq!(path.era(rate, RTT_MS), State::Initial, "{rate}");
        }
        assert_eq!(path.era(990.0, RTT_MS), State::Recovery);
        near(path.c4.max_rtt_s, path.c4.initial_cwnd / 2.0 / 990.0);
        near(
            path.window.cwnd(),
            15.0 / 16.0 * 990.0 * (path.c4.max_rtt_s + 0.015),
        );
    }

    /// Section 4: Recovery is followed by two eras of Cruising, one of Probing, and Recovery again.
    #[test]
    fn it_probes_after_two_eras() {
        let mut path = Path::cruising();
        let states = [
            State::Cruising { eras: 1 },
            State::Probing,
            State::Recovery,
            State::Cruising { eras: 0 },
        ];
        for state in states {
            assert_eq!(path.era(1000.0, RTT_MS), state);
        }
        near(path.c4.rate, 1000.0);
    }

    /// Checks that a flow sends a quarter faster (Pushing) after a probe that raised the rate (sections 4.4 and 4.7).
    /// Pushing lasts at least two eras, and continues while the rate grows by 3/16 in an era.
    #[test]
    fn it_pushes_after_a_probe_that_brought_more() {
        let mut path = Path::cruising();
        path.era(1000.0, RTT_MS);
        assert_eq!(path.era(1000.0, RTT_MS), State::Probing);
        assert_eq!(path.era(1000.0, RTT_MS), State::Recovery);
        assert_eq!(path.era(1060.0, RTT_MS), State::Pushing { eras: 0 });
        near(path.c4.alpha(), 1.25);
        assert_eq!(path.era(1060.0, RTT_MS), State::Pushing { eras: 1 });
        assert_eq!(path.era(1325.0, RTT_MS), State::Pushing { eras: 2 });
        assert_eq!(path.era(1400.0, RTT_MS), State::Recovery);
    }

    /// Checks that a nominal rate is lowered by half of its difference to the maximum rate sample, if the flow did not
    /// reach the nominal rate although the application had enough data (section 5.6).
    #[test]
    fn a_rate_that_was_not_reached_is_trimmed() {
        let mut path = Path::cruising();
        for _ in 0..3 {
            path.era(900.0, RTT_MS);
        }
        assert_eq!(path.era(900.0, RTT_MS), State::Cruising { eras: 0 });
        near(path.c4.rate, 950.0);
    }

    /// Checks that a high round-trip time ends a probe without a change of the nominal rate (section 5.5.1). A high
    /// round-trip time in Recovery starts draining.
    #[test]
    fn delays_end_a_probe() {
        let mut path = Path::cruising();
        path.c4.max_rtt_s = 0.1;
        path.c4.delay_excess_s = 0.1 * path.c4.delay_threshold_s();
        path.ack.rtt = Some(Span::from_millis(RTT_MS));
        assert!(path.c4.congestion(&path.ack).is_none());
        path.c4.state = State::Probing;
        // The reduction is the excess divided by the delay threshold, at most a quarter.
        near(path.c4.congestion(&path.ack).unwrap(), 0.1);
        path.c4.delay_excess_s = 0.9 * path.c4.delay_threshold_s();
        near(path.c4.congestion(&path.ack).unwrap(), 0.25);
        path.ack(1000.0, 200);
        assert_eq!(path.c4.state, State::Recovery);
        near(path.c4.alpha(), 15.0 / 16.0);
        path.ack(1100.0, 200);
        near(path.c4.rate, 1000.0);
        near(path.c4.alpha(), 7.0 / 8.0);
    }

    /// Checks that losses above the threshold lower the rate by a quarter (section 5.3). A single loss is above it:
    /// each packet has a weight of a sixteenth in the smoothed loss rate. Losses assumed at a timeout do not count
    /// (section 5.3.1).
    #[test]
    fn losses_above_the_threshold_take_a_quarter() {
        let mut path = Path::cruising();
        // The value is 0.02 + 0.5 (1 - s) at 1.25 MB/s, where s is 0.9222.
        near(path.c4.loss_threshold(), 0.02 + 0.5 * (0.08 - 0.02 / 9.0));
        path.ack.lost += 1;
        path.ack(1000.0, RTT_MS);
        assert_eq!(path.c4.state, State::Recovery);
        near(path.c4.rate, 750.0);

        let mut path = Path::cruising();
        path.c4.on_timeout(&mut path.window);
        path.ack.lost += FLIGHT;
        path.ack(1000.0, RTT_MS);
        assert!(matches!(path.c4.state, State::Cruising { .. }));
        near(path.c4.rate, 1000.0);
    }

    /// Checks the estimate of the maximum round-trip time at the end of an era (section 3.2). It rises at once, but at
    /// most to 250 ms above the running minimum of the round-trip time. It falls by an eighth of its distance to the
    /// era's maximum. Eras of packets sent faster than the nominal rate do not count.
    #[test]
    fn the_longest_round_trip_is_forgotten_slowly() {
        let mut c4 = DraftC4 {
            running_min_s: 0.1,
            max_rtt_s: 0.12,
            ..DraftC4::default()
        };
        let mut end = |alpha_before, min_rtt_s, max_rtt_s| {
            c4.era = Era {
                end: 0,
                min_rtt_s,
                max_rtt_s,
                alpha_before,
            };
            c4.end_era_rtts();
            (c4.running_min_s, c4.max_rtt_s)
        };
        assert_eq!(end(17.0 / 16.0, 0.1, 0.3), (0.1, 0.12));
        assert_eq!(end(1.0, 0.1, 0.3), (0.1, 0.3));
        assert_eq!(end(1.0, 0.1, 0.9), (0.1, 0.35));
        let (min, max) = end(15.0 / 16.0, 0.18, 0.19);
        near(min, (7.0 * 0.1 + 0.18) / 8.0);
        near(max, (7.0 * 0.35 + 0.19) / 8.0);
    }
}
