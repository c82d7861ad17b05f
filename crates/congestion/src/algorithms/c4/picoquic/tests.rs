//! Tests of the rules of picoquic's C4.

use super::super::made_up_path::{self, RTT_MS, near};
use super::*;

type Path = made_up_path::Path<PicoquicC4>;

impl made_up_path::Form for PicoquicC4 {
    type State = State;

    const CRUISING: State = State::Cruising { eras: 0 };

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.on_ack(ack, window);
    }

    fn era(&self) -> (State, u64) {
        (self.state, self.era.end)
    }
}

fn probing() -> Path {
    let mut path = Path::cruising();
    path.era(1000.0, RTT_MS);
    assert_eq!(path.era(1000.0, RTT_MS), State::Probing);
    path
}

/// Checks that Recovery paces at 7/8 of the nominal rate after Initial, and after an era with round-trip times below
/// the nominal maximum. Otherwise, it paces at 15/16.
#[test]
fn recovery_drains_what_initial_and_longer_round_trips_left() {
    let mut path = Path::new();
    while path.era(1000.0, RTT_MS) == State::Initial {}
    near(path.c4.alpha, 7.0 / 8.0);
    let mut path = probing();
    path.c4.draining = false;
    assert_eq!(path.era(1000.0, RTT_MS), State::Recovery);
    near(path.c4.alpha, 15.0 / 16.0);
    let mut path = Path::cruising();
    path.c4.max_rtt_s = 0.2;
    path.era(1000.0, RTT_MS);
    path.era(1000.0, RTT_MS);
    assert_eq!(path.era(1000.0, RTT_MS), State::Recovery);
    near(path.c4.alpha, 7.0 / 8.0);
}

/// Checks the states after successful probes: Pushing and Recovery in turn, and Initial after the third success.
#[test]
fn successes_lead_to_pushes_and_then_to_initial() {
    let mut path = probing();
    assert_eq!(path.era(1000.0, RTT_MS), State::Recovery);
    assert_eq!(path.era(1060.0, RTT_MS), State::Pushing);
    // A push sends 22.7 % faster than the rate, and ends when the rate grows by less than three quarters of this in an
    // era. It is a success if the rate has grown by at least a quarter of this.
    near(path.c4.alpha, 1256.0 / 1024.0);
    assert_eq!(path.era(1060.0, RTT_MS), State::Recovery);
    let quarter = 1060.0 * (1.0 + 232.0 / 1024.0 / 4.0) + 0.1;
    assert_eq!(path.era(quarter, RTT_MS), State::Pushing);
    assert_eq!(path.era(quarter, RTT_MS), State::Recovery);
    assert_eq!(path.era(1.1 * quarter, RTT_MS), State::Initial);
}

/// Checks that losses end Initial only after more than twenty acknowledgements and losses in total, since losses in the
/// first flight say little about the path.
#[test]
fn losses_end_initial_after_twenty_events() {
    for (acks, lost, ends) in [(16, 4, false), (17, 4, true), (1, 19, false), (1, 20, true)] {
        let mut path = Path::new();
        path.ack.in_flight = 1_000;
        for _ in 0..acks {
            path.ack.delivered += 1;
            path.ack(1000.0, RTT_MS);
        }
        path.ack.lost += lost;
        path.ack.delivered += 1;
        path.ack(1000.0, RTT_MS);
        assert_eq!(path.c4.state != State::Initial, ends, "{acks} {lost}");
    }
}

/// A loss removes between an eighth and a quarter of the rate, depending on the sensitivity (here 0.9222), and the same
/// fraction of the nominal round-trip time. Losses in Recovery, and losses assumed at a timeout, do not count.
#[test]
fn a_loss_while_cruising_takes_a_part_of_rate_and_round_trip() {
    let mut path = Path::cruising();
    let max_rtt_s = path.c4.max_rtt_s;
    path.ack.lost += 1;
    path.ack(1000.0, RTT_MS);
    let kept = 1.0 - 0.25 * (1.0 + 0.92 + 0.02 / 9.0) / 2.0;
    assert_eq!(path.c4.state, State::Recovery);
    near(path.c4.rate, 1000.0 * kept);
    near(path.c4.max_rtt_s, max_rtt_s * kept);
    path.ack.lost += 1;
    let alpha = path.c4.alpha;
    path.ack(1000.0, RTT_MS);
    near(path.c4.alpha, alpha);

    let mut path = Path::cruising();
    path.c4.on_timeout(&mut path.window);
    path.ack.lost += 100;
    path.ack(1000.0, RTT_MS);
    near(path.c4.rate, 1000.0);
}

/// Checks that an excessive round-trip time ends a probe, but has no effect while cruising. A round-trip time of 150 ms
/// exceeds the nominal maximum of 100 ms by more than the delay threshold, which is at most 25 ms.
#[test]
fn delays_count_in_probes_only() {
    let mut path = Path::cruising();
    path.era(1000.0, RTT_MS);
    path.c4.max_rtt_s = 0.1;
    path.ack.delivered += 1;
    path.ack(1000.0, 150);
    assert!(path.c4.excess_s > 0.0);
    assert!(matches!(path.c4.state, State::Cruising { .. }));
    near(path.c4.rate, 1000.0);
    let mut path = probing();
    path.c4.max_rtt_s = 0.1;
    path.ack.delivered += 1;
    path.ack(1000.0, 150);
    assert_eq!(path.c4.state, State::Recovery);
    near(path.c4.rate, 1000.0);
}

/// Checks that a flow at 2 Mbit/s with round-trip times of 5 and 130 ms returns to Initial, and can do so repeatedly.
#[test]
fn jitter_of_a_slow_flow_leads_back_to_initial() {
    let mut path = Path::new();
    path.ack.in_flight = 10;
    while path.era(200.0, 50) != (State::Cruising { eras: 0 }) {}
    for _ in 0..2 {
        path.c4.running_min_s = 0.005;
        path.c4.max_rtt_s = 0.13;
        assert_eq!(path.era(200.0, 50), State::Initial);
        while path.era(200.0, 50) == State::Initial {}
    }
}

/// Checks that a nominal rate of 1000, of which at most 600 was measured, falls to 800 after a cycle without
/// congestion. After two successive cycles with congestion, it falls to 600.
#[test]
fn a_rate_that_was_not_reached_is_lowered() {
    let lowered = |used, largest, congested: &[bool]| {
        let mut c4 = PicoquicC4 {
            rate: 1000.0,
            ..PicoquicC4::default()
        };
        for &congested in congested {
            (c4.attempt.used, c4.attempt.congested, c4.largest) = (used, congested, largest);
            c4.lower_rate();
        }
        c4.rate
    };
    assert_eq!(lowered(true, 600.0, &[false]), 800.0);
    // The rate stays if the network was not the limit, or without a sample.
    assert_eq!(lowered(false, 600.0, &[false]), 1000.0);
    assert_eq!(lowered(true, 0.0, &[false]), 1000.0);
    for used in [true, false] {
        assert_eq!(lowered(used, 600.0, &[true]), 1000.0);
        assert_eq!(lowered(used, 600.0, &[true, true]), 600.0);
        assert_eq!(lowered(used, 1200.0, &[true, true]), 1000.0);
        assert_eq!(lowered(used, 0.0, &[true, true]), 1000.0);
    }
    assert_eq!(lowered(false, 600.0, &[true, false, true]), 1000.0);
}

/// Checks that the window is rounded up to whole segments, and that a probe adds at least one segment. A window of 3.67
/// segments becomes 5.
#[test]
fn small_windows_probe_by_a_segment() {
    let mut path = probing();
    path.c4.rate = 30.0;
    path.c4.max_rtt_s = 0.1;
    path.c4.set_window(&path.ack.clone(), &mut path.window);
    // 17/16 * 30 * 0.115 is 3.67. Adding 1 - 0.1875 segments gives 4.48.
    near(path.window.cwnd(), 5.0);
}
