//! Tests of FAST with a fixed and with a tuned alpha: the queue in equilibrium, losses and timeouts.

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{ControllerSpec, Variant};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

/// Returns a flow in congestion avoidance.
fn started(spec: &ControllerSpec, cwnd: f64) -> Flow {
    flow(spec, slow_start("standard", None), cwnd, 2.0)
}

fn path(rate: f64) -> Path {
    Path {
        rate: Some(rate),
        ..Path::clean(RTT)
    }
}

fn probed(flow: &Flow, name: &str) -> f64 {
    let mut found = None;
    flow.state.probe(&mut |probe, value| {
        if probe == name {
            found = Some(value);
        }
    });
    found.unwrap()
}

/// In equilibrium, alpha segments are in the queue: the target equals the window (NIST SP 500-282, equation 21). The
/// path has 10000 segments per second and 100 ms, and thus holds 1000 segments.
#[test]
fn alpha_segments_are_queued_in_equilibrium() {
    for alpha in [80.0, 200.0] {
        let spec = controller("fast", Variant::Paper, &[("alpha", alpha)]);
        for start in [100.0, 900.0, 1900.0] {
            let mut flow = started(&spec, start);
            flow.run(&path(10_000.0), 60);
            let cwnd = flow.state.window.cwnd();
            // The number of segments sent is the window rounded down.
            assert!(
                (cwnd - 1000.0 - alpha).abs() <= 1.0,
                "alpha {alpha} from {start}: {cwnd}"
            );
        }
    }
}

/// Checks that the window does not fall at the end of slow start, and then grows by 70 to 200 segments per round trip.
#[test]
fn the_window_leaves_slow_start_without_a_step() {
    let spec = controller("fast", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 2.0, 128.0);
    let cwnd: Vec<f64> = flow
        .run(&Path::clean(RTT), 12)
        .iter()
        .map(|r| r.cwnd)
        .collect();
    assert_eq!(cwnd[6], 128.0);
    for pair in cwnd[6..].windows(2) {
        // Every 20 ms, the target is set 100 segments ahead. The acknowledgements of a fifth of the window then move
        // the window by a sixth to two fifths of that.
        let growth = pair[1] - pair[0];
        assert!((70.0..=200.0).contains(&growth), "{growth}");
    }
}

#[test]
fn a_loss_halves_window_and_target() {
    let mut flow = started(&controller("fast", Variant::Paper, &[]), 1000.0);
    let lossy = Path {
        loss: Loss::Every(1),
        ..path(10_000.0)
    };
    flow.run(&lossy, 1);
    assert_eq!(flow.state.window.cwnd(), 500.0);
    assert_eq!(flow.state.window.ssthresh(), 500.0);
    assert_eq!(probed(&flow, "target"), 500.0);
}

#[test]
fn a_timeout_starts_anew_below_half_the_window() {
    let mut flow = started(&controller("fast", Variant::Paper, &[]), 1200.0);
    let interrupted = Path {
        timeouts: vec![0],
        ..path(10_000.0)
    };
    flow.run(&interrupted, 1);
    let window = flow.state.window;
    assert_eq!(window.cwnd(), 1.0);
    assert!(
        (window.ssthresh() - 600.0).abs() < 1.0,
        "{}",
        window.ssthresh()
    );
    assert_eq!(probed(&flow, "target"), 1.0);
}

/// Checks that alpha changes by at most one level every 200 s, towards the level of the current throughput (NIST SP
/// 500-282, equation 22).
#[test]
fn alpha_follows_the_throughput_one_level_at_a_time() {
    let mut flow = started(&controller("fast-at", Variant::Paper, &[]), 10.0);
    // The rates are below 1250 segments per second at first, and later above 1500 and below 15000.
    for (rate, second, alpha) in [
        (1000.0, 190.0, 200.0),
        (1000.0, 210.0, 20.0),
        (1000.0, 390.0, 20.0),
        (1000.0, 410.0, 8.0),
        (1000.0, 590.0, 8.0),
        (2000.0, 610.0, 20.0),
        (2000.0, 810.0, 20.0),
    ] {
        while flow.run(&path(rate), 1)[0].start.as_secs_f64() < second {}
        assert_eq!(probed(&flow, "alpha"), alpha, "{second} s");
    }
    // The path holds 200 segments.
    assert!((flow.state.window.cwnd() - 220.0).abs() <= 1.0);
}
