//! Tests of the single steps of LEDBAT (RFC 6817 section 2.4.2) and LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-06).

use longhaul_congestion::{Cause, Phase, Variant};
use longhaul_units::Span;

use crate::controller;
use crate::sender::{Sender, assert_near};

/// Target queueing delay of LEDBAT and LEDBAT++, and base delay of the path for LEDBAT++. An eighth of a second is
/// exact in binary.
const TARGET: Span = Span::from_millis(125);

fn sender(kind: &str, cwnd: f64, ssthresh: f64) -> Sender {
    let target = [("target", TARGET.as_secs_f64())];
    Sender::new(&controller(kind, Variant::Paper, &target), cwnd, ssthresh)
}

/// Reports the same delay in milliseconds `count` times; returns the window in segments.
fn delayed(sender: &mut Sender, ms: f64, count: u64) -> f64 {
    sender.rtt = Span::from_secs_f64(ms / 1e3);
    sender.acknowledge_all(count)
}

fn queueing(sender: &Sender) -> f64 {
    sender.probe("queueing_s").expect("it is recorded")
}

/// Checks that the queueing delay is the minimum of the last four delays minus the minimum of all delays, and that the
/// window follows `cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd`.
#[test]
fn ledbat_follows_the_least_of_four_delays() {
    let mut sender = sender("ledbat", 20.0, 2.0);
    assert!(queueing(&sender).is_nan());
    let mut cwnd = 20.0;
    // Delays and queueing delays, in milliseconds.
    let delays = [
        (100.0, 0.0),
        (150.0, 0.0),
        (150.0, 0.0),
        (150.0, 0.0),
        (150.0, 50.0),
        (300.0, 50.0),
        (300.0, 50.0),
        (300.0, 50.0),
        (300.0, 200.0),
        (225.0, 125.0),
        (300.0, 125.0),
    ];
    for (delay, expected) in delays {
        cwnd += (125.0 - expected) / 125.0 / cwnd;
        assert_near(delayed(&mut sender, delay, 1), cwnd);
        assert_near(queueing(&sender), expected / 1e3);
    }
    // An acknowledgement of two segments counts twice. A duplicate, the echo of a mark and an acknowledgement in a
    // recovery do not change the window.
    sender.acknowledge(|ack| (ack.acked, ack.credit) = (2, 2.0));
    sender.acknowledge_in(Phase::NoGrowth, |_| {});
    sender.acknowledge_in(Phase::Recovery, |_| {});
    let after = sender.cwnd();
    sender.acknowledge(|ack| ack.one_way_delay = Some(Span::from_millis(20)));
    assert_near(queueing(&sender), 0.0);
    assert_near(sender.cwnd(), after + 1.0 / after);
}

/// Checks the bounds of LEDBAT's window. The upper bound is one segment more than were in flight before the
/// acknowledgement (`max_allowed_cwnd = flightsize + ALLOWED_INCREASE * MSS`). The lower bound is two segments (`cwnd =
/// max(cwnd, MIN_CWND * MSS)`).
#[test]
fn ledbat_s_window_stays_between_two_segments_and_those_in_flight() {
    for (in_flight, acked, expected) in [(9, 1, 11.0), (7, 3, 11.0), (30, 1, 20.05), (0, 0, 2.0)] {
        let mut sender = sender("ledbat", 20.0, 2.0);
        let cwnd = sender.acknowledge(|ack| (ack.in_flight, ack.acked) = (in_flight, acked));
        assert_near(cwnd, expected);
    }
    let mut sender = sender("ledbat", 2.5, 2.0);
    delayed(&mut sender, 100.0, 1);
    assert_eq!(delayed(&mut sender, 1000.0, 4), 2.0);
    assert_eq!(sender.state.window.ssthresh(), 2.0);
}

/// Checks that slow start ends when the queueing delay exceeds the target, not at the target itself. The window is then
/// halved, which undoes its last doubling, but at least two segments remain.
#[test]
fn ledbat_s_slow_start_ends_above_the_target() {
    let mut start = sender("ledbat", 20.0, 1e6);
    delayed(&mut start, 100.0, 1);
    assert_eq!(delayed(&mut start, 225.0, 4), 25.0);
    delayed(&mut start, 226.0, 3);
    start.acknowledge_in(Phase::NoGrowth, |_| {});
    assert_eq!(start.cwnd(), 28.0);
    assert_eq!(delayed(&mut start, 226.0, 1), 14.0);
    assert_eq!(start.state.window.ssthresh(), 14.0);
    let mut small = sender("ledbat", 1.0, 1e6);
    delayed(&mut small, 100.0, 1);
    for number in 0..4 {
        small.acknowledge_in(Phase::NoGrowth, |ack| {
            ack.rtt = Some(Span::from_millis(300 + number));
        });
    }
    assert_eq!(delayed(&mut small, 300.0, 1), 2.0);
}

/// Checks that a timeout discards the current delays, but not the base delay. A loss or mark halves the window, but not
/// below two segments; a smaller window does not change.
#[test]
fn ledbat_keeps_its_base_delay_over_a_timeout() {
    let mut sender = sender("ledbat", 20.0, 2.0);
    delayed(&mut sender, 100.0, 1);
    delayed(&mut sender, 300.0, 4);
    sender.time_out();
    assert!(queueing(&sender).is_nan());
    assert_eq!(sender.cwnd(), 1.0);
    delayed(&mut sender, 130.0, 1);
    assert_near(queueing(&sender), 0.03);
    for (before, after) in [(1.0, 1.0), (2.0, 2.0), (3.0, 2.0), (5.0, 2.5)] {
        let mut sender = self::sender("ledbat", before, 2.0);
        assert_eq!(sender.signal(Cause::Ecn), after);
    }
}

/// Returns a flow in its first slow start on an empty path. The base delay equals the target, so the gain is a half: `1
/// / ceil(2 * TARGET / base)`.
fn plus_plus(cwnd: f64) -> Sender {
    let mut sender = sender("ledbat++", cwnd, 1e6);
    assert_eq!(delayed(&mut sender, 125.0, 4), cwnd + 4.0 * GAIN);
    assert_eq!(sender.probe("gain"), Some(GAIN));
    sender
}

const GAIN: f64 = 0.5;

/// Acknowledges `count` segments 10 ms apart at a queueing delay of 95 ms, below the target. Checks that the window
/// grows by `GAIN` segments per window of acknowledgements, and returns the window.
fn steady(sender: &mut Sender, count: u64) -> f64 {
    for _ in 0..count {
        let before = sender.cwnd();
        assert_near(delayed(sender, 220.0, 1), before + GAIN / before);
    }
    sender.cwnd()
}

/// Simulates a slowdown: two segments per round trip for two round trips of 220 ms, then growth to the former window.
fn slow_down(sender: &mut Sender) {
    let before = sender.cwnd();
    for _ in 0..44 {
        assert_eq!(sender.acknowledge(|_| {}), 2.0);
    }
    let mut cwnd: f64 = 2.0;
    while cwnd < before {
        cwnd = (cwnd + GAIN).min(before);
        assert_near(sender.acknowledge(|_| {}), cwnd);
    }
}

/// Checks the times of slowdowns. The first slowdown begins two round trips after slow start, which ends when the
/// queueing delay is above 3/4 of the target. Each later slowdown begins after nine times the duration of the previous
/// one.
#[test]
fn ledbat_plus_plus_slows_down_in_one_tenth_of_the_time() {
    let mut sender = plus_plus(20.0);
    assert_eq!(delayed(&mut sender, 218.75, 4), 24.0, "3/4 of the target");
    assert_eq!(delayed(&mut sender, 220.0, 3), 25.5);
    steady(&mut sender, 1);
    assert_eq!(sender.state.window.ssthresh(), 25.5);
    steady(&mut sender, 43);
    let began = sender.now() + Span::from_millis(10);
    slow_down(&mut sender);
    let lasted = (sender.now() + Span::from_millis(10)).since(began);
    // The wait is nine times as long as the slowdown, less the first acknowledgement.
    let acknowledgements = 9 * lasted.as_ps() / Span::from_millis(10).as_ps();
    steady(&mut sender, acknowledgements);
    slow_down(&mut sender);
    steady(&mut sender, 10);
}

/// Checks that the window changes by `max(GAIN - W * (delay / target - 1), -W / 2)` per round trip if the queueing
/// delay is above the target: 1.2 times and twice the target. An acknowledgement that must not enlarge the window may
/// still reduce it, down to two segments.
#[test]
fn ledbat_plus_plus_gives_way_in_proportion_to_its_window() {
    let mut sender = plus_plus(18.0);
    // The first loss ends slow start at once, with a slowdown.
    assert_eq!(sender.signal(Cause::Loss), 10.0);
    sender.rtt = Span::from_millis(220);
    slow_down(&mut sender);
    let mut cwnd = 10.0;
    for (delay, queueing) in [(125.0, 0.0), (250.0, 1.0), (275.0, 1.2), (375.0, 2.0)] {
        for number in 1..=4 {
            let before = sender.cwnd();
            cwnd = delayed(&mut sender, delay, 1);
            let change: f64 = if queueing > 1.0 {
                (GAIN - before * (queueing - 1.0)).max(-before / 2.0)
            } else {
                GAIN
            };
            if number == 4 {
                assert_near(cwnd, before + change / before);
            }
        }
    }
    assert!(sender.state.window.ssthresh() <= cwnd);
    assert_eq!(sender.acknowledge_in(Phase::Recovery, |_| {}), cwnd);
    assert_near(sender.acknowledge_in(Phase::NoGrowth, |_| {}), cwnd - 0.5);
    let floor = delayed(&mut sender, 375.0, 40);
    assert_eq!(floor, 2.0);
    for _ in 0..4 {
        assert_eq!(
            sender.acknowledge_in(Phase::NoGrowth, |ack| ack.rtt = Some(TARGET)),
            2.0
        );
    }
}

/// Checks that slow start after a timeout ends at half of the window before the timeout, or earlier at a loss. The next
/// slowdown begins after nine times the duration of this slow start.
#[test]
fn ledbat_plus_plus_starts_again_up_to_the_threshold() {
    for lossy in [false, true] {
        let mut sender = plus_plus(18.0);
        sender.time_out();
        assert!(queueing(&sender).is_nan());
        let mut cwnd: f64 = 1.0;
        let began = sender.now();
        while cwnd < 10.0 {
            cwnd = (cwnd + GAIN).min(10.0);
            assert_near(delayed(&mut sender, 220.0, 1), cwnd);
            if lossy && cwnd == 8.0 {
                assert_eq!(sender.signal(Cause::Loss), 4.0);
                break;
            }
        }
        let ended = if lossy { 0 } else { 10 };
        let lasted = (sender.now() + Span::from_millis(ended)).since(began);
        let until = sender.now() + Span::from_millis(ended) + lasted * 9;
        while sender.now() + Span::from_millis(10) < until {
            steady(&mut sender, 1);
        }
        assert_eq!(sender.acknowledge(|_| {}), 2.0);
    }
}
