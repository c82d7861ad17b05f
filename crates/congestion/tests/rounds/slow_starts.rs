//! Tests of slow starts with expected values from RFC 5681, RFC 3742 and ns-2.

use longhaul_congestion::rounds::{Flow, Loss, Path, Round};
use longhaul_congestion::{SlowStart, Variant};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

/// Returns the windows of a flow without losses at the beginning of each of `rounds` round trips of 100 ms.
fn windows(kind: &str, variant: Variant, slow_start: SlowStart, rounds: u64) -> Vec<f64> {
    let spec = if kind == "hstcp" {
        controller(kind, variant, &[("low_window", 31.0)])
    } else {
        controller(kind, variant, &[])
    };
    let mut flow = flow(&spec, slow_start, 2.0, 100_000.0);
    let path = Path::clean(Span::from_millis(100));
    flow.run(&path, rounds)
        .iter()
        .map(|round: &Round| round.cwnd)
        .collect()
}

#[test]
fn standard_slow_start_doubles_up_to_the_threshold() {
    let spec = controller("reno", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 2.0, 64.0);
    let path = Path::clean(Span::from_millis(100));
    let cwnd: Vec<f64> = flow.run(&path, 8).iter().map(|round| round.cwnd).collect();
    assert_eq!(cwnd[..6], [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    // RFC 5681 equation 3: the window grows by at most one segment per round trip. It grows by less, since the fraction
    // of a segment in the window is not sent.
    for pair in cwnd[5..].windows(2) {
        let growth = pair[1] - pair[0];
        assert!((0.97..=1.0).contains(&growth), "{growth}");
    }
}

/// Checks that limited slow start reaches `max_ssthresh` in `log2(max_ssthresh)` round trips. The window then grows by
/// `max_ssthresh / 2` segments per round trip (RFC 3742 section 2).
#[test]
fn limited_slow_start_takes_the_rfc_s_number_of_round_trips() {
    for max_ssthresh in [20.0, 100.0, 1000.0] {
        let slow_start = slow_start("limited", Some(max_ssthresh));
        let cwnd = windows("reno", Variant::Paper, slow_start, 400);
        for target in [2.0 * max_ssthresh, 5.0 * max_ssthresh, 50.0 * max_ssthresh] {
            let taken = cwnd.iter().position(|&w| w >= target).unwrap() as f64;
            // An initial window of two segments saves one round trip of slow start.
            let rfc = max_ssthresh.log2() - 1.0 + (target - max_ssthresh) / (max_ssthresh / 2.0);
            assert!(
                (taken - rfc).abs() <= 1.5,
                "{max_ssthresh} to {target}: {taken}, RFC {rfc}"
            );
        }
    }
}

/// Compares windows with those of ns-2.35 at 1, 2, 5, 10 and 20 s after the SYN, just before the acknowledgements that
/// arrive then. Windows above the path's 8333 segments are excluded: there, ns-2's round trips become longer.
#[test]
fn ns2_limited_slow_start_follows_ns2() {
    let cases = [
        (10.0, [37.5, 87.2, 237.1, 491.7, 1256.4].as_slice()),
        (100.0, [214.0, 714.0, 2214.0, 4714.0].as_slice()),
        (1000.0, [512.0, 5511.4].as_slice()),
    ];
    for (max_ssthresh, expected) in cases {
        let slow_start = slow_start("ns2-limited", Some(max_ssthresh));
        let cwnd = windows("hstcp", Variant::Ns2, slow_start, 200);
        for (&ns2, second) in expected.iter().zip([1, 2, 5, 10, 20]) {
            // A round trip lasts 100 ms, and the handshake takes the first one.
            let found = cwnd[second * 10 - 2];
            assert!(
                (found - ns2).abs() <= 0.05 + 1e-4 * ns2,
                "{second} s: {found}, ns-2 {ns2}"
            );
        }
    }
}

#[test]
fn ns2_s_form_ends_with_the_first_cut_and_returns_after_a_timeout() {
    let spec = controller("reno", Variant::Ns2, &[]);
    let mut flow = flow(&spec, slow_start("ns2-limited", Some(10.0)), 2.0, 100_000.0);
    let mut path = Path::clean(Span::from_millis(100));
    let growth = |rounds: &[Round]| rounds[rounds.len() - 1].cwnd - rounds[rounds.len() - 2].cwnd;
    assert!(growth(&flow.run(&path, 12)) > 4.9, "limited slow start");
    path.loss = Loss::Every(30);
    assert!(flow.run(&path, 1)[0].congestion);
    path.loss = Loss::Never;
    assert!(growth(&flow.run(&path, 3)) <= 1.0, "congestion avoidance");
    path.timeouts = vec![0];
    flow.run(&path, 1);
    assert_eq!(flow.state.window.cwnd(), 1.0);
    path.timeouts.clear();
    assert!(
        growth(&flow.run(&path, 12)) > 4.0,
        "limited slow start again"
    );
}

/// Checks that HyStart++ first slows the growth down and then ends slow start.
#[test]
fn hystart_slows_down_and_then_ends_slow_start() {
    let mut flow = hystart();
    let path = Path {
        rate: Some(1000.0),
        ..Path::clean(Span::from_millis(100))
    };
    let rounds = flow.run(&path, 14);
    let windows: Vec<f64> = rounds.iter().map(|round| round.cwnd).collect();
    // In the round from 256 segments on, round-trip times exceed 100 + 12.5 ms. Its first eight acknowledgements add a
    // segment each, the other 248 a quarter. In the four rounds after that, all acknowledgements add a quarter.
    let expected = [
        2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 326.0, 407.5, 509.25, 636.5, 795.5,
    ];
    assert_eq!(windows[..13], expected);
    assert_eq!(rounds[13].ssthresh, 795.5);
    // After slow start, the window grows as in congestion avoidance of standard TCP.
    assert!((windows[13] - 796.5).abs() < 0.01, "{}", windows[13]);
}

/// Checks that HyStart++ returns from conservative slow start to slow start if the round-trip time falls again, as
/// after the end of another flow.
#[test]
fn hystart_goes_on_when_the_round_trip_time_falls_again() {
    let mut flow = hystart();
    let clean = Path::clean(Span::from_millis(100));
    let path = Path {
        rate: Some(1000.0),
        ..clean.clone()
    };
    flow.run(&path, 8);
    assert_eq!(flow.state.window.cwnd(), 326.0);
    let rounds = flow.run(&clean, 2);
    // Eight acknowledgements add 2 segments and end conservative slow start; each of the other 318 adds a segment.
    assert_eq!(rounds[1].cwnd, 326.0 + 2.0 + 318.0);
    assert_eq!(flow.state.window.cwnd(), 1292.0);
}

#[test]
fn hystart_is_for_the_first_slow_start_only() {
    let mut flow = hystart();
    let path = Path {
        rate: Some(1000.0),
        ..Path::clean(Span::from_millis(100))
    };
    let late = Path {
        timeouts: vec![7],
        ..path.clone()
    };
    flow.run(&late, 8);
    // The window doubles until the threshold, which is half of 326 segments.
    let windows: Vec<f64> = flow.run(&path, 9).iter().map(|round| round.cwnd).collect();
    assert_eq!(windows[..8], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
    assert!((163.0..164.5).contains(&windows[8]), "{}", windows[8]);
}

/// Checks that Linux's HyStart ends slow start when an acknowledgement train is longer than 50.5 ms, half of the sum of
/// the round-trip time and a millisecond. In the round of 64 segments, acknowledgements are 1.5625 ms apart and form a
/// train. The 34th arrives 51.5625 ms after the first and ends slow start; the 33 before it have enlarged the window.
#[test]
fn linux_s_hystart_ends_slow_start_with_a_train_of_acknowledgements() {
    let spec = controller("reno", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("hystart", None), 2.0, 100_000.0);
    let rounds = flow.run(&Path::clean(Span::from_millis(100)), 8);
    let windows: Vec<f64> = rounds.iter().map(|round| round.cwnd).collect();
    assert_eq!(windows[..6], [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    assert_eq!(rounds[6].ssthresh, 97.0);
    // Each of the 31 other acknowledgements of the round adds 1 / cwnd.
    assert!(
        (windows[6] - (97.0 + 31.0 / 97.0)).abs() < 0.01,
        "{}",
        windows[6]
    );
}

fn hystart() -> Flow {
    let spec = controller("reno", Variant::Paper, &[]);
    flow(&spec, slow_start("hystart++", None), 2.0, 100_000.0)
}
