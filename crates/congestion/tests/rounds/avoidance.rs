//! Congestion avoidance of single algorithms over time, against their papers.

use longhaul_congestion::Variant;
use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

/// A flow that has just been cut from a window of `before` segments.
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

/// RFC 9438 equations 1 and 2: 300 of 1000 segments are won back in 9.09 s, half of them in the
/// first 1.9 s; 5 s later the window is 50 segments above.
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

/// draft-leith-tcp-htcp: the window `t` seconds after a cut has grown by the increase of every
/// round trip: 10 in the first second, `10 (1 + 10 x + x^2 / 4)` summed over the next. The round
/// trip of the cut, of one segment, grows nothing.
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
        // Growth per round trip is at most 50 segments here, and starts within one.
        assert!(
            (found - expected).abs() < 0.06 * expected + 1.0,
            "{seconds} s: {found}, {expected}"
        );
    }
}

/// A path of 1000 segments per second and 100 ms holds 100 segments.
#[test]
fn vegas_settles_between_alpha_and_beta() {
    for (variant, from, to) in [
        (Variant::Paper, 101.0, 103.0),
        (Variant::Linux, 102.0, 104.0),
    ] {
        let spec = controller("vegas", variant, &[]);
        for start in [10.0, 90.0, 130.0] {
            let mut flow = flow(&spec, slow_start("standard", None), start, 1000.0);
            let path = Path {
                rate: Some(1000.0),
                ..Path::clean(RTT)
            };
            flow.run(&path, 200);
            let cwnd = flow.state.window.cwnd();
            assert!(
                (from - 1.0..=to + 1.0).contains(&cwnd),
                "{variant} from {start}: {cwnd}"
            );
        }
    }
}
