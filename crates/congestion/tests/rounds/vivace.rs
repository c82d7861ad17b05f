//! Tests of PCC Vivace on paths of 100 and 10 Mbit/s. Expected values are from the paper: section 4.4 for friendliness,
//! and section 5.

use longhaul_congestion::{CongestionState, Variant};
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe, Seen};
use crate::{controller, flow, slow_start};

/// Rate of the path in segments per second, 100 Mbit/s.
const RATE: f64 = 8333.0;
const RTT: Span = Span::from_millis(30);

fn state(kind: &str, given: &[(&str, f64)]) -> CongestionState {
    let spec = controller(kind, Variant::Paper, given);
    flow(&spec, slow_start("standard", None), 10.0, 1e6).state
}

fn vivace() -> CongestionState {
    state("vivace", &[])
}

fn path(rate: f64, buffer: f64) -> Bottleneck {
    Bottleneck {
        buffer,
        ..Bottleneck::endless(rate, RTT)
    }
}

fn share(seen: &[Seen]) -> f64 {
    seen[0].rate / seen.iter().map(|each| each.rate).sum::<f64>()
}

/// Checks that Vivace uses about 95 % of the path, with any buffer and a nearly empty queue. It tests rates of 5 %
/// above and below its current rate, and stays where the higher rate just begins to fill the queue.
#[test]
fn it_uses_the_path_without_a_queue() {
    for (rate, buffer) in [(RATE, 50.0), (RATE, 5000.0), (RATE / 10.0, 100.0)] {
        let mut pipe = Pipe::single(path(rate, buffer), vivace());
        pipe.run(10.0);
        let seen = pipe.run(50.0)[0];
        let used = seen.rate / rate;
        assert!((0.90..0.97).contains(&used), "{rate}, {buffer}: {used}");
        assert!(seen.mean_queue < 2.0 && seen.lost == 0, "{rate}: {seen:?}");
    }
}

/// Checks that two flows share the path equally, although one starts later.
#[test]
fn two_flows_share_equally() {
    let mut pipe = Pipe::single(path(RATE, 500.0), vivace());
    pipe.run(20.0);
    pipe.add(vivace());
    pipe.run(20.0);
    let seen = pipe.run(100.0);
    let first = share(&seen);
    assert!((0.45..0.55).contains(&first), "{first}");
    let used = (seen[0].rate + seen[1].rate) / RATE;
    assert!(used > 0.9 && seen[0].mean_queue < 25.0, "{seen:?}");
}

/// Checks that Vivace gets less than a fifth of the throughput beside CUBIC, since the queue that CUBIC builds lowers
/// Vivace's utility. If Vivace responds only to losses, it gets more than half.
#[test]
fn it_yields_to_a_sender_that_fills_the_queue_because_of_latency() {
    let beside_cubic = |latency: f64| {
        let mut pipe = Pipe::single(path(RATE, 250.0), state("vivace", &[("latency", latency)]));
        pipe.add(state("cubic", &[]));
        pipe.run(50.0);
        share(&pipe.run(100.0))
    };
    let (with, without) = (beside_cubic(900.0), beside_cubic(0.0));
    assert!(with < 0.2, "{with}");
    assert!(without > 0.5, "{without}");
}
