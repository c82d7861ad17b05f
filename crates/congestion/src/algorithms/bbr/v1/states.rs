//! Tests of the state machine of version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3). The path
//! delivers 1000 segments per second, and 100 segments fill it without a queue.

use longhaul_units::Span;

use super::*;
use crate::algorithms::bbr::flow::{Flow, RTT};
use crate::facts::{Idle, Limit};

fn flow(variant: Variant) -> Flow<Bbr> {
    Flow::new(Bbr::new(&ENTRY.settings(variant, &[]).unwrap()))
}

/// Returns a flow in its gain cycle, at the first acknowledgement after the queue was drained.
fn cycling() -> Flow<Bbr> {
    let mut flow = flow(Variant::Paper);
    flow.round(500.0, 200);
    flow.rounds(4, 1000.0, 200);
    flow.round(1000.0, 80);
    assert_eq!(flow.bbr.state, State::ProbeBw);
    flow
}

/// Checks the ends of Startup and Drain (sections 4.3.2 and 4.3.3). Startup ends after three rounds that increase the
/// bandwidth by less than a quarter. Drain ends when no more segments are in flight than the path holds.
#[test]
fn startup_ends_on_a_plateau_and_drain_with_the_queue() {
    for variant in [Variant::Paper, Variant::Linux6_18] {
        let mut flow = flow(variant);
        for rate in [250.0, 500.0, 1000.0, 1200.0, 1240.0] {
            flow.round(rate, 300);
            assert_eq!(flow.bbr.state, State::Startup, "at {rate}");
            assert_eq!(
                (flow.bbr.pacing_gain(), flow.bbr.window_gain()),
                (2.885, 2.885)
            );
        }
        flow.round(1240.0, 300);
        assert_eq!(flow.bbr.state, State::Drain);
        assert_eq!(
            (flow.bbr.pacing_gain(), flow.bbr.window_gain()),
            (1.0 / 2.885, 2.885)
        );
        flow.round(1000.0, 140);
        assert_eq!(flow.bbr.state, State::Drain);
        flow.round(1000.0, 120);
        assert_eq!(flow.bbr.state, State::ProbeBw);
        assert_eq!(flow.bbr.window_gain(), 2.0);
        assert_ne!(
            flow.bbr.pacing_gain(),
            0.75,
            "the cycle does not begin with that"
        );
    }
}

/// Checks that rounds limited by the application do not end Startup.
#[test]
fn an_application_does_not_end_startup() {
    let mut flow = flow(Variant::Paper);
    flow.limit_by(Limit::Application);
    flow.rounds(50, 100.0, 20);
    assert_eq!(flow.bbr.state, State::Startup);
}

/// Checks the phases of the gain cycle (section 4.3.4): a probe, a phase that drains the queue, and six round trips of
/// cruising. The probe lasts until a round trip is over and the queue has grown.
#[test]
fn the_cycle_has_eight_phases() {
    let mut flow = cycling();
    (flow.bbr.phase, flow.bbr.phase_start) = (0, flow.ack.now);
    let mut gains = Vec::new();
    let later = RTT + Span::from_millis(1);
    flow.acked(1, 0, 1000.0, 130, later);
    gains.push(flow.bbr.pacing_gain());
    for _ in 0..7 {
        flow.acked(110, 0, 1000.0, 110, later);
        gains.push(flow.bbr.pacing_gain());
    }
    assert_eq!(gains, [0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
    // The probe continues until a quarter more than the bandwidth-delay product is in flight.
    flow.acked(110, 0, 1000.0, 5, later);
    assert_eq!(flow.bbr.pacing_gain(), 1.25);
    // A loss ends the probe.
    flow.acked(50, 1, 1000.0, 5, later);
    assert_eq!(flow.bbr.pacing_gain(), 0.75);
    // The segments in flight are not more than the path carries, so that the drain phase ends before a round trip is
    // over.
    flow.acked(50, 0, 1000.0, 40, Span::from_millis(1));
    assert_eq!(flow.bbr.pacing_gain(), 1.0);
}

/// Checks that, after ten seconds without a smaller round-trip time, four segments are in flight for 200 ms and a round
/// trip (section 4.3.5). The window is then restored.
#[test]
fn the_round_trip_time_is_measured_with_four_segments() {
    let mut flow = cycling();
    let before = flow.window.cwnd();
    flow.ack.rtt = Some(RTT * 2);
    flow.rounds(99, 1000.0, 100);
    assert_eq!(flow.bbr.state, State::ProbeBw);
    flow.rounds(3, 1000.0, 100);
    assert!(flow.bbr.is_probing_rtt());
    assert_eq!((flow.bbr.pacing_gain(), flow.bbr.window_gain()), (1.0, 1.0));
    assert_eq!(flow.window.cwnd(), 4.0);
    flow.round(1000.0, 4);
    flow.rounds(2, 40.0, 4);
    assert!(flow.bbr.is_probing_rtt(), "200 ms");
    flow.round(40.0, 4);
    assert_eq!(flow.bbr.state, State::ProbeBw);
    assert!(flow.window.cwnd() >= before);
    assert_eq!(flow.bbr.bandwidth.get(), 1000.0, "rates in it are limited");
}

#[test]
fn an_idle_time_does_for_a_measurement() {
    let mut flow = cycling();
    flow.ack.rtt = Some(RTT * 2);
    flow.bbr
        .on_idle(&Idle::of(Span::from_secs(11)), &mut flow.window);
    flow.acked(1, 0, 1000.0, 10, Span::from_secs(11));
    assert_eq!(flow.bbr.state, State::ProbeBw);
}

#[test]
fn a_measurement_in_startup_leads_back_to_it() {
    let mut flow = flow(Variant::Paper);
    flow.limit_by(Limit::Application);
    flow.round(100.0, 20);
    flow.ack.rtt = Some(RTT * 2);
    flow.rounds(102, 100.0, 20);
    assert!(flow.bbr.is_probing_rtt());
    flow.rounds(4, 100.0, 4);
    assert_eq!(flow.bbr.state, State::Startup);
}

/// Checks that the first round of a recovery sends one segment for each delivered one (section 4.2.3.4), and that the
/// end of the recovery restores the window. A timeout sets the window to one segment; the end of its recovery restores
/// the window, too.
#[test]
fn a_recovery_conserves_packets_for_a_round() {
    let mut flow = cycling();
    flow.round(1000.0, 100);
    let before = flow.window.cwnd();
    flow.lose();
    flow.acked(1, 1, 1000.0, 98, Span::from_millis(1));
    assert_eq!(flow.window.cwnd(), 99.0);
    flow.acked(1, 0, 1000.0, 98, Span::from_millis(1));
    assert_eq!(flow.window.cwnd(), 99.0);
    flow.bbr.on_recovery_exit(flow.ack.now, &mut flow.window);
    assert_eq!(flow.window.cwnd(), before);
    let timeout = Timeout {
        now: flow.ack.now,
        base: before,
        keep_ssthresh: false,
        sent: flow.ack.delivered + 98,
    };
    flow.bbr.on_timeout(&timeout, &mut flow.window);
    assert_eq!(flow.window.cwnd(), 1.0);
    flow.bbr.on_recovery_exit(flow.ack.now, &mut flow.window);
    assert_eq!(flow.window.cwnd(), before);
}
