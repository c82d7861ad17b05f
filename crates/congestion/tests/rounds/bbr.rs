//! Tests of both versions of BBR on a path of 1000 segments per second and 100 ms, which holds 100 segments.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_congestion::{
    Cause, Congestion, CongestionState, Phase, RateSample, Timeout, Variant,
};
use longhaul_units::{Span, Time};

use crate::pipe::{Bottleneck, Pipe};
use crate::sender::Sender;
use crate::{controller, flow, slow_start};

const RATE: f64 = 1000.0;
const RTT: Span = Span::from_millis(100);
const BOTH: [&str; 2] = ["bbr", "bbr3"];

fn state(kind: &str) -> CongestionState {
    let spec = controller(kind, Variant::Paper, &[]);
    flow(&spec, slow_start("standard", None), 10.0, 100_000.0).state
}

fn pipe(kind: &str, path: Bottleneck) -> Pipe {
    Pipe::single(path, state(kind))
}

fn probe(pipe: &Pipe, name: &str) -> f64 {
    let mut values = BTreeMap::new();
    let mut note = |name, value| {
        values.insert(name, value);
    };
    pipe.senders[0].state.probe(&mut note);
    values[name]
}

/// Returns the smallest and the largest value of the quantity `name` of the algorithm's state during the next
/// `seconds`.
fn range(pipe: &mut Pipe, name: &str, seconds: f64) -> (f64, f64) {
    let steps = (seconds / 0.02) as u64;
    (0..steps).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), _| {
        pipe.run(0.02);
        let value = probe(pipe, name);
        (low.min(value), high.max(value))
    })
}

/// Checks that BBR fills the path and keeps the queue short. From 10 segments, doubling fills the path of 100 segments
/// within a few round trips. BBR then knows the bandwidth and the round-trip time, and uses more than 92 % of the path.
#[test]
fn it_fills_the_pipe_and_keeps_the_queue_short() {
    for kind in BOTH {
        let mut pipe = pipe(kind, Bottleneck::endless(RATE, RTT));
        pipe.run(3.0);
        let bandwidth = probe(&pipe, "bandwidth_segments_per_s");
        assert!((bandwidth / RATE - 1.0).abs() < 0.03, "{kind}: {bandwidth}");
        // The smallest round-trip time includes the service of one segment.
        let min_rtt = probe(&pipe, "min_rtt_s");
        assert!((0.1..0.103).contains(&min_rtt), "{kind}: {min_rtt}");
        let seen = pipe.run(60.0)[0];
        assert!(seen.rate > 0.92 * RATE, "{kind}: {seen:?}");
        assert!(seen.mean_queue < 25.0, "{kind}: {seen:?}");
        assert!(seen.max_queue < 130.0, "{kind}: {seen:?}");
    }
}

/// Checks that Startup doubles the delivery rate each round trip, and that the window follows the rate. With a gain of
/// 2/ln 2, the number of round trips that fill a pipe is logarithmic in its size (draft-00 section 4.3.2.1,
/// draft-ietf-ccwg-bbr-05 section 5.3.1.1).
#[test]
fn startup_doubles_from_round_trip_to_round_trip() {
    for kind in BOTH {
        let mut pipe = pipe(kind, Bottleneck::endless(1e6, RTT));
        let mut before = 10.0;
        for round in 1..=9 {
            pipe.run(0.1);
            let cwnd = pipe.senders[0].state.window.cwnd();
            let slowest = 10.0 * 2.0_f64.powi(round - 2);
            assert!(cwnd >= slowest, "{kind}: {cwnd} after {round} round trips");
            assert!(
                cwnd <= 3.0 * before,
                "{kind}: {before} to {cwnd} in a round trip"
            );
            before = cwnd;
        }
    }
}

/// Checks the smallest and the largest pacing gain and queue in the gain cycle (draft-00, section 4.3.4).
#[test]
fn the_gain_cycle_probes_and_drains_in_turn() {
    let mut pipe = pipe("bbr", Bottleneck::endless(RATE, RTT));
    pipe.run(3.0);
    let (low, high) = range(&mut pipe, "pacing_gain", 1.5);
    assert_eq!((low, high), (0.75, 1.25));
    let seen = pipe.run(4.0)[0];
    // The probe adds a quarter of the bandwidth-delay product, 100 segments, to the queue. Draining leaves three send
    // quanta of two segments in the queue (section 4.2.3).
    assert!((18.0..40.0).contains(&seen.max_queue), "{seen:?}");
    assert!((4.0..7.0).contains(&seen.min_queue), "{seen:?}");
}

/// Checks that version 3 waits two to three seconds between probes. Its other limit, 63 round trips, takes longer on
/// this path.
#[test]
fn version_3_probes_by_time() {
    let mut pipe = pipe("bbr3", Bottleneck::endless(RATE, RTT));
    pipe.run(2.0);
    let mut probes = Vec::new();
    let mut last = 1.0;
    for step in 0..2000 {
        pipe.run(0.01);
        let gain = probe(&pipe, "pacing_gain");
        if gain == 1.25 && last != 1.25 {
            probes.push(f64::from(step) * 0.01);
        }
        last = gain;
    }
    assert!(probes.len() >= 3, "{probes:?}");
    // A probe takes several round trips; a probe for the round-trip time restarts the wait.
    for pair in probes.windows(2) {
        let gap = pair[1] - pair[0];
        assert!((2.0..8.0).contains(&gap), "{probes:?}");
    }
}

/// Checks that BBR reduces its window to four segments, or in version 3 to half of the bandwidth-delay product, for a
/// measurement of the round-trip time.
#[test]
fn it_makes_its_window_small_to_measure_the_round_trip_time() {
    for (kind, least, most) in [("bbr", 4.0, 4.0), ("bbr3", 45.0, 53.0)] {
        let mut pipe = pipe(kind, Bottleneck::endless(RATE, RTT));
        pipe.run(2.0);
        let mut small = 0;
        let mut smallest = f64::INFINITY;
        // A measurement begins after ten seconds (version 3: five seconds), and takes 200 ms and a round trip.
        for _ in 0..1300 {
            pipe.run(0.01);
            let cwnd = pipe.senders[0].state.window.cwnd();
            smallest = smallest.min(cwnd);
            small += u32::from(cwnd < 60.0);
        }
        assert!((least..=most).contains(&smallest), "{kind}: {smallest}");
        let seconds = f64::from(small) * 0.01;
        assert!((0.2..2.0).contains(&seconds), "{kind}: {seconds} s");
    }
}

/// Checks that BBR follows a fall and a rise of the path's rate, each within 25 s.
#[test]
fn it_follows_a_change_of_the_path() {
    for kind in BOTH {
        let mut pipe = pipe(kind, Bottleneck::endless(RATE, RTT));
        pipe.run(4.0);
        pipe.path.rate = 500.0;
        // The old maximum rate expires: in version 1 after ten rounds, in version 3 after two cycles.
        pipe.run(25.0);
        let less = probe(&pipe, "bandwidth_segments_per_s");
        assert!((less / 500.0 - 1.0).abs() < 0.05, "{kind}: {less}");
        pipe.path.rate = 1500.0;
        pipe.run(25.0);
        let more = probe(&pipe, "bandwidth_segments_per_s");
        assert!((more / 1500.0 - 1.0).abs() < 0.08, "{kind}: {more}");
    }
}

/// With a buffer of a twentieth of the bandwidth-delay product, version 1 loses segments at each probe. Version 3
/// learns the limit and loses less than half as many segments. Both versions use at least 80 % of the path.
#[test]
fn version_3_loses_less_on_a_short_buffer() {
    let path = Bottleneck {
        buffer: 5.0,
        ..Bottleneck::endless(RATE, RTT)
    };
    let [one, three] = BOTH.map(|kind| {
        let mut pipe = pipe(kind, path);
        pipe.run(10.0);
        pipe.run(60.0)[0]
    });
    assert!(
        one.rate > 0.85 * RATE && three.rate > 0.8 * RATE,
        "{one:?}, {three:?}"
    );
    assert!(three.lost * 2 < one.lost, "{one:?}, {three:?}");
}

/// Checks that marks give version 3 a short-term bound on the segments in flight. Segments are marked if at least one
/// is in the queue.
#[test]
fn version_3_answers_marks() {
    let path = Bottleneck {
        mark_from: 1.0,
        ..Bottleneck::endless(RATE, RTT)
    };
    let mut pipe = pipe("bbr3", path);
    pipe.run(5.0);
    let (lowest, _) = range(&mut pipe, "short_in_flight", 10.0);
    assert!(lowest.is_finite(), "a short-term bound");
}

/// Checks that version 3 of Linux responds to marks only at round-trip times up to ecn_max_rtt. Its startup ends after
/// two rounds with half of the segments marked.
#[test]
fn version_3_heeds_marks_on_short_paths_and_in_its_startup() {
    let path = Bottleneck {
        mark_from: 1.0,
        ..Bottleneck::endless(RATE, RTT)
    };
    let run = |given: &[(&str, f64)]| {
        let spec = controller("bbr3", Variant::Paper, given);
        let state = flow(&spec, slow_start("standard", None), 10.0, 100_000.0).state;
        let mut pipe = Pipe::single(path, state);
        let mut startup = 0;
        while probe(&pipe, "pacing_gain") > 2.0 && startup < 500 {
            pipe.run(0.01);
            startup += 1;
        }
        let (lowest, _) = range(&mut pipe, "short_in_flight", 10.0);
        (startup, lowest)
    };
    let (heeded, ignored) = (run(&[]), run(&[("ecn_max_rtt", 0.005)]));
    assert!(heeded.0 + 8 < ignored.0, "{heeded:?}, {ignored:?}");
    assert!(heeded.1.is_finite(), "{heeded:?}");
    assert_eq!(ignored.1, f64::INFINITY, "{ignored:?}");
}

/// Checks that the window from before a timeout is restored once all losses have been repaired (draft-05 section
/// 5.6.4.4). It does not have to grow from one segment.
#[test]
fn the_window_before_a_timeout_comes_back() {
    for kind in BOTH {
        let mut pipe = pipe(kind, Bottleneck::endless(RATE, RTT));
        pipe.run(5.0);
        let state = &mut pipe.senders[0].state;
        let before = state.window.cwnd();
        let now = Time::ZERO + Span::from_secs(5);
        state.on_timeout(&Timeout {
            now,
            base: before,
            keep_ssthresh: false,
            sent: 0,
        });
        assert_eq!(state.window.cwnd(), 1.0, "{kind}");
        state.on_recovery_exit(now);
        assert_eq!(state.window.cwnd(), before, "{kind}");
    }
}

/// Checks that version 1 starts a recovery with a window of the segments in flight plus those just delivered (draft-00
/// section 4.2.3.4). Of 150 segments, 10 are lost and 40 have arrived, one of them with this acknowledgement: the
/// window is 101.
#[test]
fn version_1_conserves_packets_from_the_pipe_on() {
    let mut pipe = pipe("bbr", Bottleneck::endless(RATE, RTT));
    pipe.run(5.0);
    let sender = &mut pipe.senders[0];
    let cwnd = sender.state.window.cwnd();
    assert!(cwnd > 150.0, "{cwnd}");
    let mut ack = sender.last_ack();
    ack.now += Span::from_millis(1);
    sender.state.on_congestion(&Congestion {
        now: ack.now,
        cause: Cause::Loss,
        base: cwnd,
        in_flight: 150,
        in_slow_start: false,
        first: true,
    });
    ack.delivered += 1;
    ack.lost += 10;
    ack.in_flight = 100;
    sender.state.on_ack_in(&ack, Phase::Recovery);
    assert_eq!(sender.state.window.cwnd(), 101.0);
}

/// Checks that two flows share the path equally, although one starts later.
#[test]
fn two_flows_share() {
    for kind in BOTH {
        let path = Bottleneck {
            buffer: 200.0,
            ..Bottleneck::endless(RATE, RTT)
        };
        let mut pipe = pipe(kind, path);
        pipe.run(3.0);
        pipe.add(state(kind));
        pipe.run(40.0);
        let seen = pipe.run(60.0);
        let share = seen[1].rate / (seen[0].rate + seen[1].rate);
        assert!((0.3..0.7).contains(&share), "{kind}: {share}");
        assert!(seen[0].rate + seen[1].rate > 0.93 * RATE, "{kind}");
    }
}

/// Checks that version 3 does not raise its long-term bound while pacing limits the flow (C.is_cwnd_limited of draft-05
/// section 2.1). A buffer of one bandwidth-delay product then loses no segments.
#[test]
fn version_3_does_not_raise_its_bound_while_pacing_limits_it() {
    let path = Bottleneck {
        buffer: 100.0,
        ..Bottleneck::endless(RATE, RTT)
    };
    let mut pipe = pipe("bbr3", path);
    pipe.run(5.0);
    let seen = pipe.run(100.0)[0];
    assert_eq!(seen.lost, 0, "{seen:?}");
    assert!(seen.rate > 0.95 * RATE, "{seen:?}");
}

/// Checks that frequent losses at a constant delivery rate indicate a policer, even if each acknowledgement reports at
/// most one loss. BBR then uses the policer's rate without the gain cycle (Linux 6.18, `bbr_lt_bw_sampling`). One loss
/// per four delivered segments indicates a policer; one per ten does not.
#[test]
fn single_losses_show_a_policer() {
    for (gap, cycles) in [(4, false), (10, true)] {
        let mut sender = Sender::new(&controller("bbr", Variant::Linux6_18, &[]), 20.0, 1e5);
        let (mut lost, mut gains) = (0, BTreeSet::new());
        for number in 1..=400 {
            lost += u64::from(number % gap == 0);
            sender.acknowledge(|ack| {
                ack.lost = lost;
                ack.in_flight = 10;
                ack.round_start = number % 10 == 0;
                ack.delivery_rate = Some(RateSample::new(10.0, RTT));
            });
            let gain = sender.probe("pacing_gain").expect("it is recorded");
            if number > 300 {
                gains.insert(gain.to_bits());
            }
        }
        assert_eq!(gains.len() > 1, cycles, "a loss in {gap}");
    }
}
