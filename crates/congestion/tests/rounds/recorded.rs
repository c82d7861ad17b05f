//! Tests of the values that algorithms record. Tests of the algorithms' variants for Linux and ns-2: at the start of a
//! connection, at timeouts, and at first reductions.

use std::collections::BTreeMap;

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, CongestionState, Phase, Rounding, Timeout,
    Variant, Window,
};
use longhaul_units::{Span, Time};

use crate::pipe::{Bottleneck, Pipe};
use crate::{controller, flow, slow_start};

/// Returns a flow in congestion avoidance.
fn avoiding(kind: &str, variant: Variant, cwnd: f64) -> CongestionState {
    let spec = controller(kind, variant, &[]);
    flow(&spec, slow_start("standard", None), cwnd, 2.0).state
}

fn recorded(state: &CongestionState) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    state.probe(&mut |name, value| {
        values.insert(name, value);
    });
    values
}

fn loss(base: f64) -> Congestion {
    Congestion {
        now: Time::ZERO,
        cause: Cause::Loss,
        base,
        in_flight: base as u64,
        in_slow_start: false,
        first: true,
    }
}

/// Checks the increase `a` and the decrease `b` that HighSpeed TCP records, at windows of 38, 221, 1058 and 3778
/// segments (RFC 3649 appendix B).
#[test]
fn hstcp_records_the_row_of_its_window() {
    for (cwnd, a, b) in [
        (38.0, 1.0, 0.5),
        (221.0, 3.0, 0.41),
        (1058.0, 8.0, 0.33),
        (3778.0, 17.0, 0.26),
    ] {
        let values = recorded(&avoiding("hstcp", Variant::Paper, cwnd));
        assert!((values["a"] - a).abs() <= 0.5, "{cwnd}: {values:?}");
        assert!((values["b"] - b).abs() <= 0.006, "{cwnd}: {values:?}");
    }
}

/// Checks that CUBIC records the window before the first reduction as `W_max` (RFC 9438 section 4.6), without fast
/// convergence.
#[test]
fn cubic_records_the_window_before_a_reduction() {
    let mut state = avoiding("cubic", Variant::Paper, 400.0);
    state.on_congestion(&loss(400.0));
    assert_eq!(recorded(&state)["peak"], 400.0);
}

/// Checks that TCP Prague records the average share of marked segments. All segments are marked for 20 s, far
/// longer than the 16 round trips over which the share is averaged.
#[test]
fn prague_records_the_share_of_marks() {
    let all = Bottleneck {
        mark_from: 0.0,
        ..Bottleneck::endless(1000.0, Span::from_millis(100))
    };
    let mut pipe = Pipe::single(all, avoiding("prague", Variant::Paper, 64.0));
    pipe.run(20.0);
    let alpha = recorded(&pipe.senders[0].state)["alpha"];
    assert!((0.9..=1.0).contains(&alpha), "{alpha}");
    // With a standing queue at the threshold, some round trips have marks, and most segments have
    // none.
    let some = Bottleneck {
        mark_from: 20.0,
        ..all
    };
    let mut pipe = Pipe::single(some, avoiding("prague", Variant::Paper, 64.0));
    pipe.run(100.0);
    let alpha = recorded(&pipe.senders[0].state)["alpha"];
    assert!((0.01..0.9).contains(&alpha), "{alpha}");
}

/// A timeout resets the number of segments that count towards the next increase (Linux, `tcp_enter_loss`: `snd_cwnd_cnt
/// = 0`). After a timeout, a window of five segments grows after five acknowledged segments.
#[test]
fn a_timeout_forgets_the_segments_counted_towards_an_increase() {
    let spec = controller("reno", Variant::Linux6_18, &[]);
    let mut algorithm = spec.build().expect("reno");
    let mut window = Window::new(10.0, 5.0, 1e6, Rounding::Real);
    assert_eq!(algorithm.increment(9.0, 10.0), Some(0.0));
    let timeout = Timeout {
        now: Time::ZERO,
        base: 10.0,
        keep_ssthresh: false,
        sent: 10,
    };
    algorithm.on_timeout(&timeout, &mut window);
    for acknowledged in 1..5 {
        assert_eq!(algorithm.increment(1.0, 5.0), Some(0.0), "{acknowledged}");
    }
    assert_eq!(algorithm.increment(1.0, 5.0), Some(1.0));
}

/// Checks that Linux's Hybla starts with a window of `rho` segments (`hybla_init`). `rho` is the round-trip time of the
/// handshake divided by 25 ms, at least one. Without a handshake, it starts with the transport's window.
#[test]
fn hybla_of_linux_begins_with_rho_segments() {
    let begins = |handshake: Option<u64>| {
        let mut algorithm = controller("hybla", Variant::Linux6_18, &[])
            .build()
            .expect("hybla");
        let mut window = Window::new(10.0, 1e6, 1e6, Rounding::Real);
        if let Some(ms) = handshake {
            let ack = AckSample {
                srtt: Span::from_millis(ms),
                ..AckSample::ONE_SEGMENT
            };
            algorithm.on_handshake(&ack, &mut window);
        }
        algorithm.first_window(10.0)
    };
    let found = [None, Some(100), Some(60), Some(10)].map(begins);
    assert_eq!(found, [10.0, 4.0, 2.0, 1.0]);
}

/// Checks that Linux's Westwood measures from the beginning of the connection (`tcp_westwood_init`, `rtt_win_sx`). The
/// first bandwidth sample therefore does not include earlier time.
#[test]
fn westwood_of_linux_measures_from_the_handshake_on() {
    let reduced = |start_s| {
        let spec = controller("westwood", Variant::Linux6_18, &[]);
        let mut algorithm = spec.build().expect("westwood");
        let mut window = Window::new(50.0, 2.0, 1e6, Rounding::Real);
        let ack = |ms, delivered| AckSample {
            now: Time::ZERO + Span::from_secs(start_s) + Span::from_millis(ms),
            acked: 1,
            delivered,
            rtt: Some(Span::from_millis(100)),
            srtt: Span::from_millis(100),
            ..AckSample::ONE_SEGMENT
        };
        algorithm.on_handshake(&ack(0, 0), &mut window);
        for number in 1..100 {
            let ack = ack(95 + 5 * number, number);
            algorithm.on_ack(&ack, Phase::Avoidance, &mut window);
        }
        algorithm.on_congestion(&loss(50.0), &mut window);
        window.cwnd()
    };
    let expected = reduced(0);
    assert!((5.0..50.0).contains(&expected), "{expected}");
    assert_eq!(reduced(40), expected);
}

/// Checks that Linux's H-TCP counts the time without congestion from the beginning of the connection (`tcp_htcp.c`,
/// `htcp_init`). An application's wait before its first data is included. Without a handshake, the first segment begins
/// the connection.
#[test]
fn htcp_of_linux_counts_from_the_handshake_on() {
    let departs = |handshake| {
        let spec = controller("htcp", Variant::Linux6_18, &[]);
        let mut algorithm = spec.build().expect("htcp");
        let mut window = Window::new(50.0, 2.0, 1e6, Rounding::Real);
        let ack = |s| AckSample {
            now: Time::ZERO + Span::from_secs(s),
            rtt: Some(Span::from_millis(100)),
            ..AckSample::ONE_SEGMENT
        };
        if handshake {
            algorithm.on_handshake(&ack(40), &mut window);
        }
        algorithm.on_ack(&ack(45), Phase::Avoidance, &mut window);
        algorithm.departs_from_standard(ack(45).now, &window)
    };
    assert_eq!([true, false].map(departs), [true, false]);
}

/// Checks that ns-2 halves the window at the first reduction of a connection, and at any reduction in slow start. The
/// factor of the algorithm does not matter (`tcp.cc`, `slowdown`).
#[test]
fn ns2_halves_at_a_first_reduction_and_in_slow_start() {
    for (first, in_slow_start, left) in [
        (true, false, 50.0),
        (false, true, 50.0),
        (true, true, 50.0),
        (false, false, 80.0),
    ] {
        let spec = controller("reno", Variant::Ns2, &[("decrease", 0.2)]);
        let mut state = flow(&spec, slow_start("standard", None), 100.0, 2.0).state;
        state.on_congestion(&Congestion {
            first,
            in_slow_start,
            ..loss(100.0)
        });
        assert_eq!(
            state.window.cwnd(),
            left,
            "first {first}, in slow start {in_slow_start}"
        );
    }
}
