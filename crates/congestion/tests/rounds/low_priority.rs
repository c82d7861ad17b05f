//! Tests of algorithms with low priority, on a path of 1000 segments per second and 100 ms, which holds 100 segments.

use longhaul_congestion::{AckSample, CongestionState, Variant};
use longhaul_units::Span;

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

const RTT: Span = Span::from_millis(100);

/// Returns a flow in congestion avoidance.
fn state(kind: &str, variant: Variant, given: &[(&str, f64)], cwnd: f64) -> CongestionState {
    let spec = controller(kind, variant, given);
    flow(&spec, slow_start("standard", None), cwnd, 2.0).state
}

fn buffered(buffer: f64) -> Bottleneck {
    Bottleneck {
        buffer,
        ..Bottleneck::endless(1000.0, RTT)
    }
}

/// Checks that TCP-LP uses an idle path, but does not fill the queue. It backs off at 15 % of the longest queue that it
/// has measured, far below an overflow.
#[test]
fn lp_uses_an_idle_path_without_filling_its_queue() {
    for variant in [Variant::Paper, Variant::Linux2_6_22] {
        let mut pipe = Pipe::single(buffered(100.0), state("lp", variant, &[], 90.0));
        pipe.run(20.0);
        let seen = pipe.run(100.0)[0];
        assert!(seen.rate > 700.0, "{variant}: {}", seen.rate);
        assert_eq!(seen.lost, 0, "{variant}");
        assert!(seen.max_queue < 60.0, "{variant}: {}", seen.max_queue);
    }
}

/// Checks that TCP-LP gets a small share beside a standard flow, while two standard flows share equally.
#[test]
fn lp_leaves_the_path_to_a_standard_flow() {
    let share = |kind: &str, variant: Variant| {
        let mut pipe = Pipe::single(buffered(100.0), state(kind, variant, &[], 90.0));
        pipe.run(20.0);
        pipe.add(state("reno", Variant::Paper, &[], 10.0));
        pipe.run(60.0);
        let seen = pipe.run(200.0);
        seen[0].rate / (seen[0].rate + seen[1].rate)
    };
    let (lp, reno) = (share("lp", Variant::Paper), share("reno", Variant::Paper));
    assert!(lp < 0.15, "{lp}");
    assert!(reno > 0.3, "{reno}");
}

/// Checks that TCP-LP halves its window at the first early indication, and reduces it to one segment at the next one,
/// in the inference phase. The path holds only 17 segments, so the halved window still builds a queue.
#[test]
fn lp_goes_down_to_one_segment_while_the_delay_stays() {
    let mut pipe = Pipe::single(
        Bottleneck::endless(1000.0, RTT),
        state("lp", Variant::Paper, &[], 80.0),
    );
    pipe.run(1.0);
    pipe.path.rate = 170.0;
    let mut windows = Vec::new();
    for _ in 0..60 {
        let cwnd = pipe.senders[0].state.window.cwnd();
        if windows.last() != Some(&cwnd) {
            windows.push(cwnd);
        }
        pipe.run(0.02);
    }
    let cut = windows
        .windows(2)
        .position(|pair| pair[1] < pair[0])
        .unwrap();
    assert!(
        (windows[cut + 1] / windows[cut] - 0.5).abs() < 0.02,
        "{windows:?}"
    );
    assert_eq!(windows[cut + 2], 1.0, "{windows:?}");
}

/// Checks that the queue of LEDBAT settles at the target of 50 ms, which is 50 segments at 1000 segments per second,
/// from a smaller and from a larger window. The path is fully used.
#[test]
fn ledbat_holds_its_target_delay() {
    for start in [20.0, 300.0] {
        let state = state(
            "ledbat",
            Variant::Paper,
            &[("target", 0.05)],
            2.0_f64.max(start),
        );
        let mut pipe = Pipe::single(Bottleneck::endless(1000.0, RTT), state);
        // If it starts above the target, it learns the base delay when the queue is empty for the first time.
        pipe.path.rate = 1e6;
        pipe.run(0.3);
        pipe.path.rate = 1000.0;
        pipe.run(150.0);
        let seen = pipe.run(50.0)[0];
        assert!((seen.mean_queue - 50.0).abs() < 3.0, "{}", seen.mean_queue);
        assert!(seen.max_queue - seen.min_queue < 6.0, "{seen:?}");
        assert!(seen.rate > 999.0, "{}", seen.rate);
    }
}

/// Checks the growth of LEDBAT's window: at most `gain` segments per round trip, on an empty queue. At half of the
/// target delay, it is half as large.
#[test]
fn ledbat_grows_by_its_distance_from_the_target() {
    let state = state("ledbat", Variant::Paper, &[], 20.0);
    let mut pipe = Pipe::single(Bottleneck::endless(1000.0, RTT), state);
    pipe.run(0.1);
    let cwnd = |pipe: &Pipe| pipe.senders[0].state.window.cwnd();
    let before = cwnd(&pipe);
    pipe.run(2.0);
    let growth = (cwnd(&pipe) - before) / 20.0;
    assert!((growth - 1.0).abs() < 0.06, "{growth}");
    // 150 segments include 50 in the queue, which is half of the target, and have round trips of 150 ms.
    while cwnd(&pipe) < 149.0 {
        pipe.run(0.15);
    }
    let before = cwnd(&pipe);
    pipe.run(0.6);
    let growth = (cwnd(&pipe) - before) / 4.0;
    assert!((growth - 0.5).abs() < 0.06, "{growth}");
}

#[test]
fn ledbat_halves_its_window_at_a_loss_but_keeps_two_segments() {
    for (before, after) in [(40.0, 20.0), (3.0, 2.0)] {
        let mut state = state("ledbat", Variant::Paper, &[], before);
        state.on_congestion(&longhaul_congestion::Congestion {
            now: longhaul_units::Time::ZERO,
            cause: longhaul_congestion::Cause::Loss,
            base: before,
            in_flight: before as u64,
            in_slow_start: false,
            first: true,
        });
        assert_eq!(state.window.cwnd(), after);
    }
}

/// Checks that a standard flow gets most of the rate: it fills the queue beyond LEDBAT's target.
#[test]
fn ledbat_yields_to_a_standard_flow() {
    let mut pipe = Pipe::single(
        buffered(200.0),
        state("ledbat", Variant::Paper, &[("target", 0.025)], 90.0),
    );
    pipe.run(30.0);
    pipe.add(state("reno", Variant::Paper, &[], 10.0));
    pipe.run(100.0);
    let seen = pipe.run(200.0);
    let share = seen[0].rate / (seen[0].rate + seen[1].rate);
    assert!(share < 0.15, "{share}");
}

/// Returns a flow in its first slow start.
fn beginner(kind: &str, given: &[(&str, f64)]) -> CongestionState {
    let spec = controller(kind, Variant::Paper, given);
    flow(&spec, slow_start("standard", None), 10.0, 1e6).state
}

/// Checks that the queue stays below 200 segments in LEDBAT's slow start, which ends when the delay exceeds the target.
/// The queue then stays near the target of 50 segments.
#[test]
fn ledbat_leaves_slow_start_at_its_target() {
    let target = [("target", 0.05)];
    let mut pipe = Pipe::single(
        Bottleneck::endless(1000.0, RTT),
        beginner("ledbat", &target),
    );
    let start = pipe.run(1.5)[0];
    assert!(start.max_queue < 4.0 * 50.0, "{start:?}");
    let seen = pipe.run(5.0)[0];
    assert!((seen.mean_queue - 50.0).abs() < 15.0, "{seen:?}");
    assert!(seen.rate > 999.0, "{seen:?}");
}

/// Checks that LEDBAT++ uses nine tenths of an idle path: it fills the path except during slowdowns. On average, the
/// queue is shorter than the target of 50 segments.
#[test]
fn ledbat_plus_plus_uses_nine_tenths_of_an_idle_path_below_its_target() {
    let mut pipe = Pipe::single(
        Bottleneck::endless(1000.0, RTT),
        beginner("ledbat++", &[("target", 0.05)]),
    );
    pipe.run(60.0);
    let seen = pipe.run(240.0)[0];
    assert!((880.0..1000.0).contains(&seen.rate), "{seen:?}");
    assert!(
        seen.mean_queue < 50.0 && seen.max_queue < 1.5 * 50.0,
        "{seen:?}"
    );
    assert_eq!(seen.min_queue, 0.0);
}

/// Checks that a LEDBAT++ flow does not starve an earlier flow, but a LEDBAT flow does: it takes the queueing delay of
/// the earlier flow for part of its base delay.
#[test]
fn ledbat_plus_plus_has_no_late_comers_advantage() {
    let share = |kind: &str| {
        let target = [("target", 0.05)];
        let mut pipe = Pipe::single(Bottleneck::endless(1000.0, RTT), beginner(kind, &target));
        pipe.run(60.0);
        pipe.add(beginner(kind, &target));
        pipe.run(120.0);
        let seen = pipe.run(120.0);
        seen[0].rate / (seen[0].rate + seen[1].rate)
    };
    let (plain, plus_plus) = (share("ledbat"), share("ledbat++"));
    assert!(plain < 0.1, "{plain}");
    assert!((0.35..0.65).contains(&plus_plus), "{plus_plus}");
}

/// Checks the growth of LEDBAT++ below its target of 60 ms: `1 / ceil(2 * 60 ms / rtt)` segments per round trip, but at
/// least 1/16.
#[test]
fn ledbat_plus_plus_grows_more_slowly_than_standard_tcp() {
    for (rtt_ms, gain) in [(200, 1.0), (60, 0.5), (40, 1.0 / 3.0), (5, 1.0 / 16.0)] {
        let rtt = Span::from_millis(rtt_ms);
        let mut state = beginner("ledbat++", &[]);
        let before = state.window.cwnd();
        let ack = AckSample {
            rtt: Some(rtt),
            srtt: rtt,
            credit: 1.0,
            ..AckSample::ONE_SEGMENT
        };
        state.on_ack(&ack);
        let grown = state.window.cwnd() - before;
        assert!((grown - gain).abs() < 1e-9, "{rtt_ms} ms: {grown}");
    }
}

#[test]
fn ledbat_plus_plus_yields_to_a_standard_flow() {
    let mut pipe = Pipe::single(buffered(200.0), beginner("ledbat++", &[("target", 0.025)]));
    pipe.run(30.0);
    pipe.add(state("reno", Variant::Paper, &[], 10.0));
    pipe.run(100.0);
    let seen = pipe.run(200.0);
    let share = seen[0].rate / (seen[0].rate + seen[1].rate);
    assert!(share < 0.1, "{share}");
}
