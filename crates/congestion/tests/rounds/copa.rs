//! Tests of Copa on a path of 1000 segments per second and 100 ms, which holds 100 segments.

use longhaul_congestion::{CongestionState, Variant};
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

fn state(kind: &str, given: &[(&str, f64)]) -> CongestionState {
    let spec = controller(kind, Variant::Paper, given);
    flow(&spec, slow_start("standard", None), 10.0, 1e6).state
}

fn copa(delta: f64) -> CongestionState {
    state("copa", &[("delta", delta)])
}

/// Checks that the queue oscillates between zero and 2.5 / delta segments, with a mean of 1.25 / delta and a period of
/// five round trips, and that the link is fully used (section 2.2 of the paper). This holds for every link rate, if the
/// bandwidth-delay product is much larger than 1 / delta segments.
#[test]
fn the_queue_oscillates_around_one_over_delta() {
    for rate in [1000.0, 3000.0, 10_000.0] {
        let mut pipe = Pipe::single(Bottleneck::endless(rate, RTT), copa(0.5));
        pipe.run(60.0);
        let steps: Vec<_> = (0..600).map(|_| pipe.run(0.05)[0]).collect();
        let queues: Vec<f64> = steps.iter().map(|seen| seen.mean_queue).collect();
        let mean = queues.iter().sum::<f64>() / 600.0;
        assert!((mean - 2.5).abs() < 0.3, "{rate}: {mean}");
        let mut low = false;
        let mut rises = 0;
        for queue in queues {
            rises += u32::from(low && queue > 3.2);
            low = queue < 1.8 || (low && queue <= 3.2);
        }
        let period = 30.0 / f64::from(rises);
        assert!((period - 0.5).abs() < 0.1, "{rate}: {period} s");
        let used = steps.iter().map(|seen| seen.rate).sum::<f64>() / 600.0;
        assert!(used > 0.995 * rate, "{rate}: {used}");
    }
}

/// Checks that Copa's slow start ends at Copa's target rate and not at a loss.
#[test]
fn slow_start_ends_with_a_short_queue() {
    let mut pipe = Pipe::single(Bottleneck::endless(1000.0, RTT), copa(0.5));
    let seen = pipe.run(5.0)[0];
    assert!(seen.max_queue < 150.0, "{seen:?}");
    pipe.run(10.0);
    let later = pipe.run(5.0)[0];
    assert!(later.max_queue < 20.0, "{later:?}");
}

/// Checks that flows with the same delta share the path equally, including a flow that starts later.
#[test]
fn flows_of_one_delta_share_equally() {
    let mut pipe = Pipe::single(Bottleneck::endless(1000.0, RTT), copa(0.5));
    pipe.run(10.0);
    pipe.add(copa(0.5));
    pipe.run(40.0);
    let seen = pipe.run(60.0);
    let share = seen[0].rate / (seen[0].rate + seen[1].rate);
    assert!((0.4..0.6).contains(&share), "{seen:?}");
    assert!(seen[0].mean_queue < 20.0, "{seen:?}");
}

/// Checks that Copa gets its share against a sender that fills the queue, but only in the competitive mode; otherwise
/// it gets almost nothing.
#[test]
fn it_takes_its_part_beside_reno_in_the_competitive_mode_only() {
    let share = |competitive: f64| {
        let path = Bottleneck {
            buffer: 100.0,
            ..Bottleneck::endless(1000.0, RTT)
        };
        let mut pipe = Pipe::single(path, state("copa", &[("competitive", competitive)]));
        pipe.add(state("reno", &[]));
        pipe.run(100.0);
        let seen = pipe.run(300.0);
        seen[0].rate / (seen[0].rate + seen[1].rate)
    };
    let (competitive, plain) = (share(1.0), share(0.0));
    assert!(plain < 0.15, "{plain}");
    assert!((0.25..0.75).contains(&competitive), "{competitive}");
}

/// Losses without congestion have no effect (section 2.2 of the paper).
#[test]
fn losses_do_nothing_alone() {
    let mut shallow = Pipe::single(
        Bottleneck {
            buffer: 12.0,
            ..Bottleneck::endless(1000.0, RTT)
        },
        copa(0.5),
    );
    shallow.run(30.0);
    let seen = shallow.run(30.0)[0];
    assert!(seen.rate > 980.0, "{seen:?}");
}
