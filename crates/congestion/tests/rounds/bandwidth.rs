//! Tests of algorithms that measure the bandwidth, on a path of 1000 segments per second and 100 ms, which holds 100
//! segments.

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{ControllerSpec, Variant};
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

fn pipe(spec: &ControllerSpec, path: Bottleneck, cwnd: f64, ssthresh: f64) -> Pipe {
    let flow = flow(spec, slow_start("standard", None), cwnd, ssthresh);
    Pipe::single(path, flow.state)
}

/// Checks that Westwood+ reduces the window to the capacity of the path, 100 segments. The queue of 50 segments
/// overflows at a window of 150. Standard TCP would reduce it to 75, and leave the path idle for a part of the time.
#[test]
fn westwood_goes_back_to_what_the_path_carries() {
    for (kind, variant, kept) in [
        ("westwood", Variant::Paper, 100.0),
        ("westwood", Variant::Linux2_6_22, 100.0),
        ("reno", Variant::Paper, 75.5),
    ] {
        let path = Bottleneck {
            buffer: 50.0,
            ..Bottleneck::endless(1000.0, RTT)
        };
        let mut pipe = pipe(&controller(kind, variant, &[]), path, 40.0, 2.0);
        let mut steps = 0;
        while pipe.run(0.05)[0].signals == 0 {
            steps += 1;
            assert!(steps < 1000, "{kind}: no loss");
        }
        let cwnd = pipe.senders[0].state.window.cwnd();
        assert!((cwnd - kept).abs() < 3.0, "{kind} {variant}: {cwnd}");
    }
}

/// Checks that Westwood+ keeps its window of 40 segments at losses on a path that it does not fill. A timeout sets the
/// threshold to the estimated rate, 400 segments per second, times 100 ms: 40 segments again.
#[test]
fn westwood_keeps_its_window_at_random_losses_and_its_threshold_at_timeouts() {
    let spec = controller("westwood", Variant::Paper, &[]);
    let mut flow: Flow = flow(&spec, slow_start("standard", None), 40.0, 2.0);
    let path = Path::clean(RTT);
    flow.run(&path, 3);
    let lossy = Path {
        loss: Loss::Every(1),
        ..path.clone()
    };
    flow.run(&lossy, 1);
    let cwnd = flow.state.window.cwnd();
    assert!((cwnd - 40.0).abs() < 1.5, "{cwnd}");
    let late = Path {
        timeouts: vec![0],
        ..path
    };
    flow.run(&late, 1);
    assert_eq!(flow.state.window.cwnd(), 1.0);
    let ssthresh = flow.state.window.ssthresh();
    assert!((ssthresh - 40.0).abs() < 2.5, "{ssthresh}");
}
