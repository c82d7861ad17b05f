//! Tests of the congestion avoidance of single algorithms over time, with expected values from their papers.

use longhaul_congestion::Variant;
use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

/// Returns a flow whose window of `before` segments has just been reduced.
fn after_a_cut(kind: &str, variant: Variant, given: &[(&str, f64)], before: f64) -> Flow {
    let spec = controller(kind, variant, given);
    let mut flow = flow(&spec, slow_start("standard", None), before, 2.0);
    let lossy = Path {
        loss: Loss::Every(1),
        ..Path::clean(RTT)
    };
    flow.run(&lossy, 1);
    flow
}

const RTT: Span = Span::from_millis(100);

/// Checks CUBIC's window against equations 1 and 2 of RFC 9438. A reduction takes it from 1000 to 700 segments. It
/// regains half of the difference in 1.9 s, and reaches 1000 segments after 9.09 s. After 5 more seconds, it is 50
/// segments larger.
#[test]
fn cubic_follows_its_cubic() {
    let mut flow = after_a_cut("cubic", Variant::Paper, &[], 1000.0);
    assert!((flow.state.window.cwnd() - 700.0).abs() < 1e-9);
    let rounds = flow.run(&Path::clean(RTT), 160);
    for (second, expected) in [(2.0, 857.7), (5.0, 972.7), (9.0, 1000.0), (14.0, 1047.5)] {
        let found = rounds[(second * 10.0) as usize].cwnd;
        assert!(
            (found - expected).abs() < 4.0,
            "{second} s: {found}, expected {expected}"
        );
    }
}

/// Checks H-TCP's growth after a reduction (draft-leith-tcp-htcp). A round trip of 100 ms adds one segment in the first
/// second after the reduction, and `1 + 10 x + x^2 / 4` segments `x` seconds after that. The round trip of the
/// reduction adds none.
#[test]
fn htcp_grows_with_the_square_of_the_time() {
    let mut flow = after_a_cut("htcp", Variant::Paper, &[], 1000.0);
    let start = flow.state.window.cwnd();
    assert!((start - 500.0).abs() < 1e-9);
    let rounds = flow.run(&Path::clean(RTT), 52);
    for seconds in [1.0, 2.0, 3.0, 5.0] {
        let x: f64 = seconds - 1.0;
        let expected = 10.0 * (seconds + 5.0 * x * x + x * x * x / 12.0) - 1.0;
        let found = rounds[(seconds * 10.0) as usize - 1].cwnd - start;
        // The growth in a round trip is at most 50 segments here, and it starts within a round trip.
        assert!(
            (found - expected).abs() < 0.06 * expected + 1.0,
            "{seconds} s: {found}, {expected}"
        );
    }
}

/// Checks that Vegas keeps between alpha and beta segments in the queue, on a path of 1000 segments per second and 100
/// ms, which holds 100 segments.
#[test]
fn vegas_settles_between_alpha_and_beta() {
    for (variant, from, to) in [
        (Variant::Paper, 101.0, 103.0),
        (Variant::Linux2_6_22, 102.0, 104.0),
    ] {
        let spec = controller("vegas", variant, &[]);
        for start in [10.0, 90.0, 130.0] {
            let mut flow = flow(&spec, slow_start("standard", None), start, 1000.0);
            let path = Path {
                rate: Some(1000.0),
                ..Path::clean(RTT)
            };
            flow.run(&path, 300);
            let cwnd = flow.state.window.cwnd();
            assert!(
                (from - 1.0..=to + 1.0).contains(&cwnd),
                "{variant} from {start}: {cwnd}"
            );
        }
    }
}

/// The rate of the constant-rate algorithm grows by `c` segments per second in each second, at any round-trip time. The
/// rate of standard TCP grows in proportion to the inverse square of the round-trip time.
#[test]
fn constant_rate_grows_alike_at_all_round_trips() {
    for rtt_ms in [50, 100, 400] {
        let spec = controller("constant-rate", Variant::Paper, &[]);
        let path = Path::clean(Span::from_millis(rtt_ms));
        let mut flow = flow(&spec, slow_start("standard", None), 20.0, 2.0);
        let rtt_s = rtt_ms as f64 / 1000.0;
        let rounds = (20.0 / rtt_s) as u64;
        flow.run(&path, rounds);
        let growth = (flow.state.window.cwnd() - 20.0) / rtt_s / 20.0;
        assert!((growth / 25.0 - 1.0).abs() < 0.03, "{rtt_ms} ms: {growth}");
    }
}

#[test]
fn increase_by_k_adds_k_but_no_more_than_one_per_acknowledgement() {
    let spec = controller("increase-by-k", Variant::Paper, &[("k", 4.0)]);
    let mut flow = flow(&spec, slow_start("standard", None), 2.0, 2.0);
    let rounds = flow.run(&Path::clean(RTT), 30);
    // Each of the two acknowledgements adds one segment.
    assert!((rounds[1].cwnd - 4.0).abs() < 1e-9, "{}", rounds[1].cwnd);
    let growth = rounds[29].cwnd - rounds[28].cwnd;
    // The window also grows within the round trip, so that the growth is slightly less than 4.
    assert!((growth - 4.0).abs() < 0.2, "{growth}");
}

/// Checks that Veno treats a loss with an empty queue as random. The path has 1000 segments per second and 100 ms, so
/// it holds 100 segments. A window of up to 100 leaves the queue empty, a window of 110 does not. The flow knows the
/// round-trip time of the empty path.
#[test]
fn veno_takes_losses_on_an_empty_queue_for_random_ones() {
    let path = Path {
        rate: Some(1000.0),
        ..Path::clean(RTT)
    };
    let lossy = Path {
        loss: Loss::Every(1),
        ..path.clone()
    };
    for variant in [Variant::Paper, Variant::Linux2_6_22] {
        for (start, growth, kept) in [(97.0, 1.0, 0.8), (110.0, 0.5, 0.5)] {
            let spec = controller("veno", variant, &[]);
            let mut flow = flow(&spec, slow_start("standard", None), start, 2.0);
            flow.run(&Path::clean(RTT), 1);
            let rounds = flow.run(&path, 2);
            let grown = flow.state.window.cwnd() - rounds[1].cwnd;
            assert!(
                (grown - growth).abs() < 0.02,
                "{variant} from {start}: {grown}"
            );
            let before = flow.state.window.cwnd();
            flow.run(&lossy, 1);
            let after = flow.state.window.cwnd();
            assert!(
                (after - kept * before).abs() < 1e-9,
                "{variant} from {start}: {after} of {before}"
            );
        }
    }
}

/// Checks that Veno measures the smallest round-trip time anew after a loss (JSAC 2003, section III.A). Otherwise, a
/// path that has become longer would permanently count as congested.
#[test]
fn veno_forgets_the_smallest_round_trip_time_at_a_loss() {
    let longer = Path::clean(Span::from_millis(150));
    let lossy = Path {
        loss: Loss::Every(1),
        ..longer.clone()
    };
    let mut flow = flow(
        &controller("veno", Variant::Paper, &[]),
        slow_start("standard", None),
        90.0,
        2.0,
    );
    flow.run(&Path::clean(RTT), 1);
    flow.run(&longer, 1);
    for kept in [0.5, 0.8] {
        let before = flow.state.window.cwnd();
        flow.run(&lossy, 1);
        let after = flow.state.window.cwnd();
        assert!((after - kept * before).abs() < 1e-9, "{after} of {before}");
        flow.run(&longer, 1);
    }
}

/// Checks increase and decrease of Illinois. The increase is 10 segments per round trip on an empty path. At half of
/// the largest delay, it is `10 / (1 + 0.49 / 0.99 * 9.7 / 0.3)`, and the decrease is `0.125 + 0.4 / 0.7 * 0.375`. The
/// window is so large that its growth does not change the delay.
#[test]
fn illinois_follows_the_queueing_delay() {
    let spec = controller("illinois", Variant::Paper, &[]);
    let path = |rate| Path {
        rate,
        ..Path::clean(RTT)
    };
    let mut flow = flow(&spec, slow_start("standard", None), 15_000.0, 2.0);
    let rounds = flow.run(&path(None), 4);
    assert!((rounds[3].cwnd - rounds[2].cwnd - 10.0).abs() < 0.4);
    let cwnd = flow.state.window.cwnd();
    // The queueing delays are one half, and then one quarter, of the round-trip time.
    flow.run(&path(Some(cwnd / 0.15)), 1);
    flow.run(&path(Some(cwnd / 0.125)), 3);
    let mut seen = Vec::new();
    flow.state
        .probe(&mut |name, value| seen.push((name, value)));
    let increase = 10.0 / (1.0 + 0.49 / 0.99 * 9.7 / 0.3);
    let decrease = 0.125 + 0.4 / 0.7 * 0.375;
    for ((name, value), expected) in seen.into_iter().zip([increase, decrease]) {
        assert!(
            (value / expected - 1.0).abs() < 0.02,
            "{name}: {value}, expected {expected}"
        );
    }
}

/// Checks that Linux's BIC grows by one segment per round trip up to `low_window`. BIC compensates for delayed
/// acknowledgements only above `low_window` (`bictcp_update`, Linux 2.6.22).
#[test]
fn bic_of_linux_is_standard_up_to_its_low_window() {
    let mut flow = after_a_cut("bic", Variant::Linux2_6_22, &[], 8.0);
    let start = flow.state.window.cwnd();
    assert!((start - 4.0).abs() < 1e-9, "{start}");
    let rounds = flow.run(&Path::clean(RTT), 9);
    let grown = rounds[8].cwnd - start;
    assert!((6.5..=8.0).contains(&grown), "{grown}");
}
