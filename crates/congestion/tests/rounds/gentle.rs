//! Tests of Gentle HighSpeed TCP on a path with and without a queue (thesis, Osaka 2006, chapters 2 and 4).

use longhaul_congestion::rounds::{Flow, Loss, Path};
use longhaul_congestion::{ControllerSpec, Variant};
use longhaul_units::Span;

use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

fn started(spec: &ControllerSpec) -> Flow {
    flow(spec, slow_start("standard", None), 1000.0, 2.0)
}

/// Returns the growth of the window in the fifth of six round trips.
fn growth(flow: &mut Flow, path: &Path) -> f64 {
    let rounds = flow.run(path, 6);
    rounds[5].cwnd - rounds[4].cwnd
}

/// Checks that Gentle HighSpeed TCP grows like HighSpeed TCP while the queue is empty, and like standard TCP while the
/// queue grows.
#[test]
fn it_grows_as_high_speed_tcp_on_an_empty_queue_and_as_standard_tcp_while_one_builds_up() {
    // HighSpeed TCP's increase is 7.74 at 1000 segments (RFC 3649), 7.9 at 1030 and 6.3 at 720. Its decrease at 1060
    // is 0.327.
    for refined in [0.0, 1.0] {
        let spec = controller("ghstcp", Variant::Paper, &[("refined", refined)]);
        let mut flow = started(&spec);
        let empty = Path::clean(RTT);
        let found = growth(&mut flow, &empty);
        assert!((found - 7.9).abs() < 0.25, "refined {refined}: {found}");
        let filling = Path {
            rate: Some(10_000.0),
            ..empty.clone()
        };
        let found = growth(&mut flow, &filling);
        assert!((found - 1.0).abs() < 0.1, "refined {refined}: {found}");
        // A loss reduces the window by HighSpeed TCP's decrease; after it, the growth is again HighSpeed TCP's.
        let before = flow.state.window.cwnd();
        let lossy = Path {
            loss: Loss::Every(1),
            ..filling
        };
        flow.run(&lossy, 1);
        let kept = flow.state.window.cwnd() / before;
        assert!((kept - 0.673).abs() < 0.002, "refined {refined}: {kept}");
        let found = growth(&mut flow, &empty);
        assert!((found - 6.3).abs() < 0.2, "refined {refined}: {found}");
    }
}

#[test]
fn up_to_its_low_window_it_is_standard_tcp() {
    let spec = controller("ghstcp", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 20.0, 2.0);
    let rounds = flow.run(&Path::clean(RTT), 10);
    for pair in rounds.windows(2) {
        let growth = pair[1].cwnd - pair[0].cwnd;
        assert!((0.9..=1.0).contains(&growth), "{growth}");
    }
}
