//! Tests of algorithms that use marks, delays or probes, except high-speed algorithms.

use longhaul_congestion::rounds::Path;
use longhaul_congestion::{Cause, Phase, Variant};
use longhaul_units::Span;

use crate::sender::{Sender, assert_near};
use crate::{controller, flow, slow_start};

fn sender(kind: &str, cwnd: f64) -> Sender {
    Sender::new(&controller(kind, Variant::Paper, &[]), cwnd, 1e6)
}

/// Returns the windows after single acknowledgements, each with or without a mark. The transport reports an echoed mark
/// in a phase without growth.
fn marked(sender: &mut Sender, marks: &[bool]) -> Vec<f64> {
    let acknowledge = |&mark: &bool| {
        let phase = if mark {
            Phase::NoGrowth
        } else {
            Phase::Avoidance
        };
        sender.acknowledge_in(phase, |ack| ack.ecn_echo = mark)
    };
    marks.iter().map(acknowledge).collect()
}

/// Returns a path of 1000 segments per second and 100 ms, which holds 100 segments.
fn path() -> Path {
    Path {
        rate: Some(1000.0),
        ..Path::clean(Span::from_millis(100))
    }
}

/// Checks that DECbit changes the window only after acknowledgements of two windows: the previous and the current.
#[test]
fn decbit_waits_for_two_windows() {
    let mut sender = sender("decbit", 2.0);
    let windows = marked(&mut sender, &[false; 14]);
    // The first window of 2 has no previous one. The next changes come 2 + 3 and 3 + 4 acknowledgements later.
    for (acks, expected) in [(1, 2.0), (2, 3.0), (6, 3.0), (7, 4.0), (13, 4.0), (14, 5.0)] {
        assert_eq!(windows[acks - 1], expected, "{acks}");
    }
}

/// Checks that DECbit counts the marks of the current window only, and reduces the window if at least half of the
/// segments are marked.
#[test]
fn decbit_counts_the_marks_of_the_current_window() {
    let mut sender = sender("decbit", 8.0);
    let half = [true, false, true, false, true, false, true, false];
    assert_eq!(marked(&mut sender, &half)[7], 7.0);
    // The marks of eight segments sent before the reduction do not count.
    assert_eq!(marked(&mut sender, &[true; 8])[7], 7.0);
    let fewer = [true, true, true, false, false, false, false];
    // Three marks among seven segments are too few.
    assert_eq!(marked(&mut sender, &fewer)[6], 8.0);
    // A congestion signal for marks has no effect, since every mark has been counted already.
    assert_eq!(sender.signal(Cause::Ecn), 8.0);
    assert_eq!(sender.signal(Cause::Loss), 4.0);
}

/// Checks that the delay-gradient algorithm reduces the window at the knee. The window grows by one segment every
/// second round trip, until the delay rises at 101 segments. Two decreases follow: the first since window and delay
/// have both risen, the second since both have fallen.
#[test]
fn delay_gradient_turns_at_the_knee() {
    let spec = controller("delay-gradient", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 98.0, 1e6);
    let rounds = flow.run(&path(), 13);
    for (round, expected) in [
        (1, 98.0),
        (2, 99.0),
        (4, 100.0),
        (6, 101.0),
        (7, 101.0),
        (8, 101.0 * 0.875),
        (10, 101.0 * 0.875 * 0.875),
        (12, 101.0 * 0.875 * 0.875 + 1.0),
    ] {
        assert_eq!(rounds[round].cwnd, expected, "round {round}");
    }
}

/// Checks that packet pair sets the window to the capacity of the path, plus one segment in the queue. The path of 100
/// ms holds 100 segments of 1 ms each. A second pair, with a spacing of 2 ms and a weight of 1/8, raises the mean
/// spacing from 1 to 1.125 ms.
#[test]
fn packet_pair_fills_the_path_and_queues_one() {
    let mut sender = sender("packet-pair", 2.0);
    assert!(sender.state.needs().pairs);
    assert_eq!(sender.acknowledge(|_| ()), 3.0, "slow start");
    let mut pair = |ms| {
        sender.acknowledge(|ack| ack.pair_spacing = Some(Span::from_millis(ms)));
        sender.cwnd()
    };
    assert_near(pair(1), 101.0);
    assert_near(pair(2), 100.0 / 1.125 + 1.0);
    let before = sender.cwnd();
    assert_eq!(sender.signal(Cause::Loss), before);
    sender.time_out();
    assert_eq!(sender.cwnd(), 1.0);
    assert_near(sender.acknowledge(|_| ()), before);
}

/// Checks that Santa Cruz stops at 100 segments on the path and four in the queue. On an empty queue, its window grows
/// by one segment each round trip.
#[test]
fn santa_cruz_settles_at_its_operating_point() {
    for operating_point in [3.0, 5.0] {
        let given = [("operating_point", operating_point)];
        let spec = controller("santa-cruz", Variant::Paper, &given);
        let mut flow = flow(&spec, slow_start("standard", None), 90.0, 2.0);
        let rounds = flow.run(&path(), 100);
        assert_eq!(rounds[8].cwnd, 97.0);
        for round in &rounds[20..] {
            let queued = round.cwnd - 100.0;
            assert!((queued - operating_point).abs() <= 0.5, "{queued}");
        }
    }
}

/// Checks that Santa Cruz's slow start ends when the queue grows. The path holds 100 segments; slow start ends a few
/// segments after the first queued segment is acknowledged.
#[test]
fn santa_cruz_leaves_slow_start_when_its_queue_grows() {
    let spec = controller("santa-cruz", Variant::Paper, &[]);
    let mut flow = flow(&spec, slow_start("standard", None), 2.0, 1e6);
    let rounds = flow.run(&path(), 8);
    assert_eq!(rounds[6].cwnd, 128.0);
    assert_eq!(rounds[6].ssthresh, 1e6);
    // The 128 segments of the last round trip were sent while the window grew evenly from 65 to 128.
    let when_queueing = 128.0 + 71.0;
    let after = rounds[7].ssthresh - when_queueing;
    assert!((1.0..10.0).contains(&after), "{after}");
}

/// Checks that TCP Peach starts with dummies: at a receive window of 64 segments, it sends a data segment and 63
/// dummies in a round trip. Each acknowledged dummy increases the window by a segment (ToN 9(3), 2001).
#[test]
fn peach_starts_with_a_window_of_dummies() {
    let mut sender = sender("peach", 1.0);
    let rtt = Span::from_millis(640);
    let dummies = sender.state.take_dummies(rtt, 64).unwrap();
    assert_eq!(
        (dummies.count, dummies.spacing),
        (63, Span::from_millis(10))
    );
    assert!(sender.state.take_dummies(rtt, 64).is_none());
    for _ in 0..63 {
        sender.state.on_dummy_ack();
    }
    assert_eq!(sender.cwnd(), 64.0);
    assert_near(sender.acknowledge(|_| ()), 64.0 + 1.0 / 64.0);
    let mut full = self::sender("peach", 1.0);
    assert!(
        full.state.take_dummies(rtt, 1).is_none(),
        "the first segment fills the receive window"
    );
    assert_eq!(full.state.take_dummies(rtt, 2), None, "it was answered");
    let mut nearly = self::sender("peach", 1.0);
    assert_eq!(nearly.state.take_dummies(rtt, 2).unwrap().count, 1);
}

/// Checks that TCP Peach restores its window with dummies. A loss reduces the window from 64 to 32 segments, and 64
/// dummies are sent. Acknowledgements of the last 32 dummies then add a segment each.
#[test]
fn peach_recovers_with_dummies() {
    let mut sender = sender("peach", 64.0);
    let rtt = Span::from_millis(640);
    sender.state.take_dummies(rtt, 64);
    assert_eq!(sender.signal(Cause::Loss), 32.0);
    let dummies = sender.state.take_dummies(rtt, 64).unwrap();
    assert_eq!(
        (dummies.count, dummies.spacing),
        (64, Span::from_millis(10))
    );
    for (acknowledged, expected) in [(32, 32.0), (20, 52.0), (12, 64.0)] {
        for _ in 0..acknowledged {
            sender.state.on_dummy_ack();
        }
        assert_eq!(sender.cwnd(), expected);
    }
    sender.time_out();
    assert_eq!(sender.state.take_dummies(rtt, 64).unwrap().count, 63);
}
