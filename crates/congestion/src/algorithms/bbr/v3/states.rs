//! Tests of the state machine of version 3, after the example test cases of draft-ietf-ccwg-bbr (editor's copy of
//! August 2026, appendix A). The path delivers 1000 segments per second, and 100 segments fill it without a queue.

use longhaul_units::Span;

use super::Bbr3;
use super::draft::Draft;
use super::machine::State;
use crate::algorithms::bbr::flow::{Flow, RTT};
use crate::algorithms::bbr3::ENTRY;
use crate::congestion_control::CongestionControl;
use crate::facts::{Idle, Limit};
use crate::parameter::Variant;

const MS: Span = Span::from_millis(1);

fn flow() -> Flow<Bbr3> {
    Flow::new(Bbr3::new(&ENTRY.settings(Variant::Paper, &[]).unwrap()))
}

fn draining() -> Flow<Bbr3> {
    let mut flow = flow();
    flow.round(500.0, 200);
    flow.rounds(4, 1000.0, 200);
    assert!(matches!(flow.bbr.machine.state, State::Drain { .. }));
    flow
}

fn going_down() -> Flow<Bbr3> {
    let mut flow = draining();
    flow.rounds(4, 1000.0, 150);
    assert_eq!(flow.bbr.machine.state, State::Down);
    flow
}

/// Returns a flow at the first acknowledgement of ProbeBW_REFILL.
fn refilling() -> Flow<Bbr3> {
    let mut flow = going_down();
    let wait = flow.bbr.machine.probe.wait;
    flow.acked(1, 0, 1000.0, 100, wait + MS);
    assert_eq!(flow.bbr.machine.state, State::Refill);
    flow
}

fn going_up() -> Flow<Bbr3> {
    let mut flow = refilling();
    flow.round(1000.0, 100);
    assert_eq!(flow.bbr.machine.state, State::Up);
    flow
}

/// Enters fast recovery, and reports `each` lost segments with each of `acks` acknowledgements in one round.
fn losing(flow: &mut Flow<Bbr3>, acks: u64, each: u64) {
    flow.lose();
    (0..acks).for_each(|_| flow.acked(1, each, 1000.0, 200, MS));
    flow.round(1000.0, 200);
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut flow = flow();
    for rate in [500.0, 1000.0, 1000.0, 1000.0] {
        assert_eq!(
            (flow.bbr.machine.state, flow.bbr.machine.gains()),
            (State::Startup, (2.77, 2.0))
        );
        flow.round(rate, 200);
        assert!(!flow.bbr.machine.full_now && !flow.bbr.machine.filled);
    }
    flow.round(1000.0, 200);
    assert!(flow.bbr.machine.full_now && flow.bbr.machine.filled);
    assert_eq!(flow.bbr.machine.max_rate(), 1000.0);
    assert!(matches!(flow.bbr.machine.state, State::Drain { .. }));
}

#[test]
fn exiting_startup_on_loss_when_application_limited() {
    for (acks, each, state) in [(6, 2, true), (5, 2, false)] {
        let mut flow = flow();
        flow.limit_by(Limit::Application);
        flow.rounds(3, 1000.0, 200);
        losing(&mut flow, acks, each);
        assert_eq!(
            matches!(flow.bbr.machine.state, State::Drain { .. }),
            state,
            "{acks}"
        );
        assert_eq!(flow.bbr.machine.filled, state);
    }
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut flow = draining();
    assert_eq!(flow.bbr.machine.gains(), (0.5, 2.0));
    flow.round(1000.0, 101);
    assert!(matches!(flow.bbr.machine.state, State::Drain { .. }));
    flow.round(1000.0, 100);
    // The Drain state leaves nothing for the Down phase, so that it is skipped.
    assert_eq!(flow.bbr.machine.state, State::Cruise);
}

#[test]
fn exiting_drain_based_on_time() {
    let mut flow = draining();
    flow.rounds(3, 900.0, 150);
    assert!(matches!(flow.bbr.machine.state, State::Drain { .. }));
    flow.round(900.0, 150);
    assert_eq!(flow.bbr.machine.state, State::Down);
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut flow = going_up();
    assert_eq!(flow.bbr.machine.gains(), (1.25, 2.25));
    flow.rounds(2, 1000.0, 120);
    assert_eq!(flow.bbr.machine.state, State::Up);
    flow.round(1000.0, 120);
    assert_eq!(flow.bbr.machine.state, State::Down);
}

/// Checks that, in the draft, the long-term bound does not change while the application limits the rate.
#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let mut flow = going_up();
    flow.limit_by(Limit::Application);
    flow.lose();
    flow.acked(1, 3, 1000.0, 150, MS);
    assert_eq!(flow.bbr.machine.state, State::Down);
    assert_eq!(flow.bbr.machine.bounds.long_in_flight, f64::INFINITY);
}

#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    let mut up = going_up();
    up.limit_by(Limit::Application);
    up.rounds(8, 500.0, 40);
    assert_eq!(up.bbr.machine.state, State::Up);
    let mut startup = flow();
    startup.limit_by(Limit::Application);
    startup.rounds(40, 500.0, 40);
    assert_eq!(startup.bbr.machine.state, State::Startup);
}

/// Checks that ProbeBW_DOWN ends when the number of segments in flight exceeds neither the bandwidth-delay product nor
/// 85 % of the long-term bound.
#[test]
fn exiting_probe_down_on_inflight() {
    for (bound, from, to) in [(f64::INFINITY, 101, 100), (100.0, 86, 85)] {
        let mut flow = draining();
        flow.bbr
            .machine
            .start_down(&mut Draft::default(), flow.ack.now);
        flow.bbr.machine.bounds.long_in_flight = bound;
        assert_eq!(flow.bbr.machine.gains(), (0.9, 2.0));
        flow.acked(1, 0, 100.0, from, MS);
        assert_eq!(flow.bbr.machine.state, State::Down);
        flow.acked(1, 0, 100.0, to, MS);
        assert_eq!(
            (flow.bbr.machine.state, flow.bbr.machine.gains()),
            (State::Cruise, (1.0, 2.0))
        );
    }
}

#[test]
fn exiting_probe_down_after_max_time() {
    let mut flow = going_down();
    let wait = flow.bbr.machine.probe.wait;
    assert!((Span::from_secs(2)..=Span::from_secs(3)).contains(&wait));
    flow.acked(1, 0, 900.0, 150, wait);
    assert_eq!(flow.bbr.machine.state, State::Down);
    flow.acked(1, 0, 900.0, 150, MS);
    assert_eq!(
        (flow.bbr.machine.state, flow.bbr.machine.gains()),
        (State::Refill, (1.0, 2.0))
    );
}

#[test]
fn entering_and_exiting_probe_rtt() {
    let mut flow = going_down();
    flow.ack.rtt = Some(RTT * 2);
    flow.bbr.machine.bounds.short_in_flight = 90.0;
    flow.acked(1, 0, 1000.0, 100, Span::from_millis(5001));
    assert!(flow.bbr.machine.is_probing_rtt());
    assert_eq!(flow.bbr.machine.gains(), (1.0, 0.5));
    assert_eq!(flow.window.cwnd(), 50.0);
    flow.round(1000.0, 50);
    flow.rounds(2, 500.0, 50);
    assert!(flow.bbr.machine.is_probing_rtt(), "200 ms");
    flow.round(500.0, 50);
    assert_eq!(flow.bbr.machine.state, State::Cruise);
    assert_eq!(flow.bbr.machine.bounds.short_in_flight, f64::INFINITY);
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let mut flow = going_down();
    flow.ack.rtt = Some(RTT * 2);
    flow.bbr
        .on_idle(&Idle::of(Span::from_secs(6)), &mut flow.window);
    assert!(flow.bbr.machine.was_idle);
    flow.acked(1, 0, 1000.0, 10, Span::from_secs(6));
    assert!(!flow.bbr.machine.is_probing_rtt());
}

#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let mut flow = flow();
    flow.limit_by(Limit::Application);
    flow.round(100.0, 20);
    flow.ack.rtt = Some(RTT * 2);
    flow.rounds(51, 100.0, 20);
    assert!(flow.bbr.machine.is_probing_rtt());
    flow.rounds(4, 100.0, 4);
    assert_eq!(flow.bbr.machine.state, State::Startup);
}

/// Checks that the window is two bandwidth-delay products plus an allowance for ACK aggregation, after fifty segments
/// have been acknowledged in the time of one.
#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut flow = going_down();
    (0..100).for_each(|_| flow.acked(1, 0, 1000.0, 100, MS));
    let before = flow.bbr.machine.aggregation.extra.get();
    flow.acked(50, 0, 1000.0, 100, MS);
    let extra = flow.bbr.machine.aggregation.extra.get();
    assert!(extra >= 49.0 && extra > before, "{extra}");
    (0..200).for_each(|_| flow.acked(1, 0, 1000.0, 100, MS));
    assert_eq!(
        flow.window.cwnd(),
        200.0 + flow.bbr.machine.aggregation.extra.get()
    );
}

#[test]
fn correctly_managing_sub_packet_bdps() {
    let mut flow = flow();
    flow.round(1.0, 4);
    flow.rounds(12, 1.0, 4);
    assert!(flow.bbr.machine.filled);
    assert!(flow.bbr.machine.carried(flow.bbr.machine.bandwidth(), 1.0) < 1.0);
    assert!(flow.window.cwnd() >= 4.0);
}

/// Checks that the long-term bound grows by 1, 2, 4 and 8 segments in successive rounds, while the window is full and
/// equals the bound.
#[test]
fn the_long_term_bound_grows_exponentially() {
    let mut flow = going_up();
    let mut growth = Vec::new();
    for _ in 0..4 {
        let cwnd = flow.window.cwnd();
        flow.bbr.machine.bounds.long_in_flight = cwnd;
        let before = flow.bbr.machine.bounds.long_in_flight;
        flow.ack.in_flight = cwnd as u64;
        flow.acked(cwnd as u64 + 1, 0, 1.0, cwnd as u64, MS);
        growth.push(flow.bbr.machine.bounds.long_in_flight - before);
        flow.bbr.machine.full.rounds = 0;
    }
    assert_eq!(growth, [1.0, 2.0, 4.0, 8.0]);
}

/// Checks that losses outside probes reduce the short-term bounds by at most three tenths per round, and not below the
/// delivery rate and the number of delivered segments of the round. The maximum rate is forgotten after two cycles.
#[test]
fn decreasing_bandwidth_and_ensuring_max_bandwidth_adapts_down() {
    let mut flow = going_down();
    flow.round(1000.0, 90);
    assert_eq!(flow.bbr.machine.state, State::Cruise);
    flow.rounds(2, 100.0, 90);
    let cwnd = flow.window.cwnd();
    flow.lose();
    flow.acked(1, 20, 100.0, 90, MS);
    flow.round(100.0, 90);
    flow.round(100.0, 90);
    assert_eq!(flow.bbr.machine.bounds.short_rate, 700.0);
    let kept = flow.bbr.machine.bounds.short_in_flight / cwnd;
    assert!((0.69..=0.71).contains(&kept), "{kept}");
    for _ in 0..2 {
        flow.bbr
            .machine
            .start_down(&mut Draft::default(), flow.ack.now);
        flow.rounds(2, 100.0, 90);
    }
    assert_eq!(flow.bbr.machine.max_rate(), 100.0);
}

/// Checks that a probe begins without short-term bounds, and that losses in the probe do not set them.
#[test]
fn probes_have_no_short_term_bounds() {
    let mut flow = going_down();
    flow.bbr.machine.bounds.short_in_flight = 70.0;
    flow.bbr.machine.bounds.short_rate = 700.0;
    flow.acked(1, 0, 1000.0, 100, Span::from_secs(4));
    assert_eq!(flow.bbr.machine.state, State::Refill);
    assert_eq!(flow.bbr.machine.bounds.short_in_flight, f64::INFINITY);
    flow.lose();
    flow.acked(1, 1, 1000.0, 100, MS);
    flow.rounds(2, 1000.0, 100);
    assert_eq!(flow.bbr.machine.bounds.short_rate, f64::INFINITY);
}

/// Checks the response to losses of more than 2 % of the segments in flight. The long-term bound becomes the number of
/// segments in flight or seven tenths of the bandwidth-delay product, whichever is larger.
#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut flow = going_up();
    flow.bbr.machine.bounds.long_in_flight = 150.0;
    flow.lose();
    flow.acked(1, 2, 1000.0, 100, MS);
    assert_eq!(flow.bbr.machine.state, State::Up, "not more than 2 %");
    flow.acked(1, 10, 500.0, 100, MS);
    assert_eq!(flow.bbr.machine.state, State::Down);
    assert_eq!(flow.bbr.machine.bounds.long_in_flight, 70.0);
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let mut flow = refilling();
    flow.limit_by(Limit::Application);
    flow.round(50.0, 5);
    assert_eq!(flow.bbr.machine.max_rate(), 1000.0);
    assert_eq!(flow.bbr.machine.state, State::Up);
}

/// Checks that marks lower the short-term bound by a third of the smoothed fraction of marked segments (Linux v3).
/// Marks have no effect if the smallest round-trip time exceeds `ecn_max_rtt_s`.
#[test]
fn marks_lower_the_short_term_bound() {
    for (longest, marked) in [(0.2, true), (0.05, false)] {
        let mut flow = going_down();
        flow.bbr.machine.ecn_max_rtt_s = longest;
        flow.bbr.machine.marks.eligible = false;
        flow.round(1000.0, 90);
        flow.round(1000.0, 90);
        flow.ack.ecn_echo = true;
        let alpha = flow.bbr.machine.marks.alpha;
        flow.acked(45, 0, 1000.0, 90, MS);
        flow.ack.ecn_echo = false;
        flow.acked(45, 0, 1000.0, 90, MS);
        let cwnd = flow.window.cwnd();
        flow.round(1000.0, 90);
        let bound = flow.bbr.machine.bounds.short_in_flight;
        assert_eq!(bound < f64::INFINITY, marked);
        if marked {
            let share = flow.bbr.machine.marks.share;
            // In each round, the smoothed fraction moves by a sixteenth towards the fraction of this round.
            let smoothed = alpha + (share - alpha) / 16.0;
            assert!((flow.bbr.machine.marks.alpha - smoothed).abs() < 1e-12);
            assert!(
                (bound - cwnd * (1.0 - smoothed / 3.0)).abs() < 1e-9,
                "{bound}"
            );
        }
    }
}

/// Startup ends after two successive rounds with half of the segments marked.
#[test]
fn marks_end_startup() {
    let mut flow = flow();
    flow.limit_by(Limit::Application);
    flow.round(1000.0, 200);
    flow.ack.ecn_echo = true;
    flow.round(1000.0, 200);
    assert_eq!(flow.bbr.machine.state, State::Startup);
    flow.round(1000.0, 200);
    assert!(flow.bbr.machine.filled);
}

/// Checks that half of the segments count as marked if each acknowledgement covers two segments and reports one mark.
/// Without reported numbers of marks, all segments of an acknowledgement with ECN-Echo count as marked.
#[test]
fn counted_marks_are_not_those_of_whole_acknowledgements() {
    for (counts, share) in [(true, 0.5), (false, 1.0)] {
        let mut flow = going_down();
        flow.round(1000.0, 90);
        flow.ack.ecn_echo = true;
        for mark in 1..=40 {
            flow.ack.marked = counts.then_some(mark);
            flow.acked(2, 0, 1000.0, 90, MS);
        }
        flow.bbr.machine.marks.end_round();
        let found = flow.bbr.machine.marks.share;
        assert!((found - share).abs() < 0.02, "{found}");
    }
}

/// Checks that a probe begins after a round trip without marks, if no losses have occurred since the last probe (Linux
/// v3).
#[test]
fn a_probe_follows_when_marks_cease() {
    for (reprobe, lost, probes) in [(0.5, 0, true), (0.5, 1, false), (0.0, 0, false)] {
        let mut flow = going_down();
        flow.bbr.machine.bounds.long_in_flight = 100.0;
        flow.bbr.machine.ecn_reprobe = reprobe;
        flow.ack.ecn_echo = true;
        flow.acked(1, lost, 1000.0, 120, MS);
        flow.ack.ecn_echo = false;
        flow.acked(1, 0, 1000.0, 120, MS);
        assert_eq!(
            flow.bbr.machine.state,
            State::Down,
            "marks were in the last round"
        );
        flow.round(1000.0, 120);
        assert_eq!(
            flow.bbr.machine.state == State::Refill,
            probes,
            "{reprobe} {lost}"
        );
        if probes {
            // In its first round, the probe raises the long-term bound by 2^5 segments, the largest power of two below
            // 50 segments (`ecn_reprobe` times the bound).
            assert_eq!(flow.bbr.machine.probe.up_rounds, 5);
        }
    }
}
