//! Worked examples of the study by NIST, SP 500-282, chapter 5.

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{
    Cause, Congestion, CongestionState, ControllerSpec, Rounding, SlowStart, Variant, Window,
};
use longhaul_units::{Span, Time};

use crate::{controller, flow, slow_start};

/// Returns the time in seconds until the window of a flow without losses reaches the bandwidth-delay product. The
/// host's link carries 80 segments per millisecond; slow start goes from 2 to 100 segments.
fn lag(spec: &ControllerSpec, rtt_us: u64) -> f64 {
    let rtt = Span::from_micros(rtt_us);
    let path = Path {
        link_rate: Some(80_000.0),
        ..Path::clean(rtt)
    };
    let mut flow = flow(spec, slow_start("standard", None), 2.0, 100.0);
    let full = 80_000.0 * rtt.as_secs_f64();
    loop {
        let round = flow.run(&path, 1)[0];
        if round.cwnd >= full {
            return round.start.as_secs_f64();
        }
    }
}

/// Checks that [`lag`] returns the times `expected` for round-trip times of 79.25, 38.25 and 20.25 ms.
fn assert_lags(spec: &ControllerSpec, expected: [f64; 3], tolerance: f64) {
    for (rtt_us, expected) in [79_250, 38_250, 20_250].into_iter().zip(expected) {
        let found = lag(spec, rtt_us);
        assert!(
            (found - expected).abs() <= tolerance,
            "{} at {rtt_us} us: {found}, expected {expected}",
            spec.kind
        );
    }
}

#[test]
fn scalable_tcp_fills_the_host_s_link_when_published() {
    let spec = controller("scalable", Variant::Nist, &[]);
    assert_lags(&spec, [33.6, 13.4, 5.8], 0.1);
}

#[test]
fn h_tcp_fills_the_host_s_link_when_published() {
    let spec = controller("htcp", Variant::Nist, &[]);
    assert_lags(&spec, [30.4, 22.0, 15.9], 0.1);
}

#[test]
fn fast_fills_the_host_s_link_sooner_than_published() {
    let spec = controller("fast", Variant::Paper, &[]);
    assert_lags(&spec, [6.8, 1.8, 0.6], 0.1);
    let late = controller("fast", Variant::Paper, &[("srtt_timer_slack", 0.005)]);
    assert_lags(&late, [7.4, 2.0, 0.6], 0.1);
}

#[test]
fn bic_fills_the_host_s_link_when_published() {
    let spec = controller("bic", Variant::Nist, &[]);
    assert_lags(&spec, [39.2, 12.4, 4.2], 0.1);
}

#[test]
fn high_speed_tcp_fills_the_host_s_link_when_published() {
    let spec = controller("hstcp", Variant::Nist, &[]);
    assert_lags(&spec, [45.7, 15.3, 5.8], 0.1);
}

/// Checks that Compound TCP fills the host's link sooner than published. If each update of its delay window is 5 ms
/// late, it fills the link at the published times.
#[test]
fn compound_tcp_fills_the_host_s_link_sooner_than_published() {
    let spec = controller("ctcp", Variant::Nist, &[]);
    assert_lags(&spec, [10.9, 4.1, 1.6], 0.1);
    // A late timer misses every second one of the short bursts of acknowledgements that small windows cause.
    let late = controller("ctcp", Variant::Nist, &[("srtt_timer_slack", 0.005)]);
    assert_lags(&late, [14.7, 5.8, 2.5], 0.3);
}

#[test]
fn compound_tcp_as_printed_grows_far_too_fast() {
    let spec = controller("ctcp-nist", Variant::Paper, &[]);
    assert_lags(&spec, [2.6, 1.1, 0.5], 0.1);
}

/// Runs the flow of Figures 5-4 and 5-5 in NIST SP 500-282: standard TCP with a loss at 150 segments and a timeout at
/// 100 segments. Checks that the window reaches 128, 150 and then 100 segments at the times `landmarks`, in seconds.
/// Returns the threshold after the timeout, about 51 segments, and the windows after the timeout, from two segments on.
fn schematic(slow_start: SlowStart, landmarks: [f64; 3]) -> (f64, Vec<f64>) {
    let spec = controller("reno", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start, 2.0, 128.0);
    let path = Path::clean(Span::from_millis(1000));
    let reach = |flow: &mut Flow, target: f64, expected_s: f64| loop {
        let round = flow.run(&path, 1)[0];
        if round.cwnd >= target {
            let found = round.start.as_secs_f64();
            assert!((found - expected_s).abs() <= 2.5, "{target}: {found} s");
            return;
        }
    };
    reach(&mut flow, 128.0, landmarks[0]);
    reach(&mut flow, 150.0, landmarks[1]);
    let lossy = Path {
        loss: Loss::Every(1),
        ..path.clone()
    };
    flow.run(&lossy, 1);
    let window = flow.state.window;
    assert!((window.cwnd() - 75.5).abs() < 1.0 && window.ssthresh() == window.cwnd());
    reach(&mut flow, 100.0, landmarks[2]);
    let interrupted = Path {
        timeouts: vec![0],
        ..path.clone()
    };
    flow.run(&interrupted, 1);
    flow.state.window.set_cwnd(2.0);
    let ssthresh = flow.state.window.ssthresh();
    assert!((ssthresh - 51.0).abs() < 1.0, "{ssthresh}");
    let rounds = flow.run(&path, 16);
    (ssthresh, rounds.iter().map(|round| round.cwnd).collect())
}

/// Asserts that congestion avoidance adds at most one segment per round trip.
fn assert_linear(cwnd: &[f64]) {
    assert!(cwnd.len() > 3);
    for pair in cwnd.windows(2) {
        assert!((0.97..=1.0).contains(&(pair[1] - pair[0])), "{pair:?}");
    }
}

/// Standard slow start has the windows of NIST SP 500-282, Figure 5-4: 128 segments after six round trips, 150 segments
/// after about 30 s and 100 segments after 55 s.
#[test]
fn standard_slow_start_passes_the_landmarks_of_the_schematic() {
    let (ssthresh, cwnd) = schematic(slow_start("standard", None), [6.0, 30.0, 55.0]);
    assert_eq!(cwnd[..5], [2.0, 4.0, 8.0, 16.0, 32.0]);
    // In the round trip that crosses the threshold, the rest of the acknowledgements adds a part of a segment.
    assert!(
        (ssthresh..=ssthresh + 1.0).contains(&cwnd[5]),
        "{}",
        cwnd[5]
    );
    assert_linear(&cwnd[5..]);
}

/// Checks the windows of limited slow start against NIST SP 500-282, Figure 5-5. With a `max_ssthresh` of 16 segments,
/// the window grows by 8 segments per round trip. It is 128 segments after about 17 s and 150 after about 42 s; then a
/// loss halves it, and it is 100 after about 67 s.
#[test]
fn limited_slow_start_passes_the_landmarks_of_the_schematic() {
    let (_, cwnd) = schematic(slow_start("nist-limited", Some(16.0)), [17.0, 40.0, 66.0]);
    assert_eq!(cwnd[..4], [2.0, 4.0, 8.0, 16.0]);
    // Each acknowledgement adds 8 divided by the window, so that the square of the window grows by 16.
    for pair in cwnd[3..8].windows(2) {
        let expected = (pair[0].powi(2) + 16.0 * pair[0].floor()).sqrt();
        assert!((pair[1] - expected).abs() < 0.2, "{pair:?}: {expected}");
    }
    assert_linear(&cwnd[9..]);
}

/// Checks the smallest windows at which algorithms differ from standard TCP (NIST SP 500-282, chapter 5). For H-TCP the
/// difference depends on time instead of the window.
#[test]
fn algorithms_depart_from_standard_tcp_where_the_study_has_them() {
    let state = |kind, variant, cwnd, ssthresh| {
        let window = Window::new(cwnd, ssthresh, 1e6, Rounding::Real);
        let controller = controller(kind, variant, &[]).build().expect("known");
        CongestionState::new(window, slow_start("standard", None), controller)
    };
    for (kind, variant, low_window) in [
        ("bic", Variant::Nist, 14.0),
        ("ctcp", Variant::Paper, 41.0),
        ("ctcp-nist", Variant::Paper, 41.0),
        ("hstcp", Variant::Nist, 31.0),
        ("scalable", Variant::Nist, 16.0),
    ] {
        let departs = |cwnd| state(kind, variant, cwnd, 2.0).departs_from_standard(Time::ZERO);
        assert!(!departs(low_window - 0.5), "{kind}");
        assert!(departs(low_window), "{kind}");
        assert!(departs(low_window + 0.5), "{kind}");
    }
    let departs = |kind, ssthresh| {
        state(kind, Variant::Paper, 1000.0, ssthresh).departs_from_standard(Time::ZERO)
    };
    assert!(!departs("reno", 2.0));
    assert!(departs("fast", 2.0) && !departs("fast", 2000.0));
    // Linux counts the time in clock ticks.
    for (variant, later_ms) in [(Variant::Nist, 1001), (Variant::Linux6_18, 1010)] {
        let mut htcp = state("htcp", variant, 1000.0, 2.0);
        htcp.on_congestion(&Congestion {
            now: Time::ZERO,
            cause: Cause::Nak,
            base: 1000.0,
            in_flight: 1000,
            in_slow_start: false,
            first: true,
        });
        let after = |ms| htcp.departs_from_standard(Time::ZERO + Span::from_millis(ms));
        assert!(!after(1000) && after(later_ms), "{variant}");
    }
}
