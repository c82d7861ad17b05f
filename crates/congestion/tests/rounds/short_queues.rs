//! Tests of algorithms that keep the queue short, on a path of 10000 segments per second and 100 ms, which holds 1000
//! segments.

use longhaul_congestion::Variant;
use longhaul_congestion::rounds::Path;
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

/// On an empty queue, YeAH grows as Scalable TCP: by 0.01 segments per acknowledgement, which is 1 % per round trip.
#[test]
fn yeah_grows_geometrically_on_an_empty_queue() {
    let spec = controller("yeah", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 1000.0, 2.0);
    let rounds = flow.run(&Path::clean(RTT), 70);
    let ratio = rounds[69].cwnd / rounds[0].cwnd;
    assert!((ratio / 1.01_f64.powi(69) - 1.0).abs() < 0.01, "{ratio}");
}

/// Checks that YeAH's queue stays below 115 segments: the bound of 80 segments, plus the growth in three round trips,
/// each of 11 segments (1 % of the window).
#[test]
fn yeah_keeps_its_queue_below_the_largest() {
    let spec = controller("yeah", Variant::Paper, &[]);
    for start in [500.0, 1400.0] {
        let flow = flow(&spec, slow_start("standard", None), start, 2.0);
        let mut pipe = Pipe::single(Bottleneck::endless(10_000.0, RTT), flow.state);
        pipe.run(15.0);
        let seen = pipe.run(15.0)[0];
        // The window grows by 1 % per round trip. YeAH detects a long queue two round trips late, since the smallest
        // delay of a round trip shows the queue at the beginning of the round trip.
        assert!(seen.max_queue < 115.0, "from {start}: {}", seen.max_queue);
        assert!(seen.rate > 9_750.0, "from {start}: {}", seen.rate);
        assert_eq!(seen.signals, 0);
    }
}
