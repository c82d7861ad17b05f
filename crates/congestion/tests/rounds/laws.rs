//! Tests that the windows of algorithms follow the laws that the algorithms declare and that `longhaul list algorithms`
//! shows.

use longhaul_congestion::registry::algorithms;
use longhaul_congestion::{
    Cause, CongestionControl, Controller, ControllerSpec, Entry, Phases, Variant,
};

use longhaul_units::{Span, Time};

use crate::controller;
use crate::sender::{Sender, assert_near};

/// Returns a flow with the algorithm's default settings, in congestion avoidance with a window of 100 segments.
fn flow(entry: &Entry<Controller>) -> Sender {
    flow_of(entry, entry.variants[0])
}

fn flow_of(entry: &Entry<Controller>, variant: Variant) -> Sender {
    let spec = ControllerSpec {
        kind: entry.kind.to_string(),
        variant,
        ..ControllerSpec::default()
    };
    Sender::new(&spec, 100.0, 2.0)
}

fn default(entry: &Entry<Controller>, name: &str) -> f64 {
    let settings = entry.settings(entry.variants[0], &[]);
    settings.expect("defaults").get(name)
}

/// Returns the algorithms with a declared law that equals one of `beginnings`, or begins with it and adds conditions
/// after a comma or a semicolon.
fn with_law(beginnings: &[&str]) -> Vec<&'static Entry<Controller>> {
    let has = |law: &str| {
        let rests = beginnings
            .iter()
            .filter_map(|beginning| law.strip_prefix(beginning));
        rests
            .into_iter()
            .any(|rest| rest.is_empty() || rest.starts_with([',', ';']))
    };
    let entries = algorithms().iter();
    let found: Vec<_> = entries
        .filter(|entry| entry.law.iter().any(|law| has(law)))
        .collect();
    assert!(!found.is_empty(), "{beginnings:?}");
    found
}

#[test]
fn a_loss_leaves_the_part_of_the_window_that_the_law_states() {
    for entry in with_law(&["congestion: cwnd = cwnd / 2", "loss: cwnd = cwnd / 2"]) {
        // Algorithms that control the window at all times may count losses instead of responding to
        // each.
        if flow(entry).state.controller().phases() != Phases::All {
            assert_eq!(flow(entry).signal(Cause::Loss), 50.0, "{}", entry.kind);
        }
    }
    for entry in with_law(&["congestion: cwnd = (1 - decrease) * cwnd"]) {
        let left = 100.0 * (1.0 - default(entry, "decrease"));
        assert_near(flow(entry).signal(Cause::Loss), left);
    }
}

#[test]
fn an_acknowledgement_adds_what_the_law_states() {
    for entry in with_law(&["each ACK: cwnd += acked / cwnd"]) {
        assert_near(flow(entry).acknowledge(|_| {}), 100.01);
    }
    for entry in with_law(&["each ACK: cwnd += increase * acked / cwnd"]) {
        let step = default(entry, "increase") / 100.0;
        assert_near(flow(entry).acknowledge(|_| {}), 100.0 + step);
    }
}

/// Checks that a round trip adds one segment to the window, also after a loss and its recovery. This holds in all
/// variants, including those that count whole segments.
#[test]
fn a_round_trip_adds_a_segment() {
    for entry in with_law(&["each ACK: cwnd += acked / cwnd"]) {
        for &variant in entry.variants {
            let mut flow = flow_of(entry, variant);
            for _ in 0..2 {
                let before = flow.cwnd();
                let segments = before.ceil();
                (0..segments as u64).for_each(|_| {
                    flow.acknowledge(|_| {});
                });
                // The growth is the sum of 1 / cwnd over the segments, while the window grows at the same time.
                let least = (before * before + 2.0 * segments).sqrt() - before;
                let added = flow.cwnd() - before;
                assert!(
                    (least - 0.01..=1.01).contains(&added),
                    "{} {variant}: {added}",
                    entry.kind
                );
                flow.signal(Cause::Loss);
                flow.recover();
            }
        }
    }
}

/// Checks that a timeout leaves a window of one segment and a threshold of at least two, not larger than before (RFC
/// 5681 section 3.1). Algorithms that control the window at all times have other rules.
#[test]
fn a_timeout_leaves_one_segment() {
    for entry in algorithms() {
        let mut flow = flow(entry);
        if flow.state.controller().phases() != Phases::All {
            flow.time_out();
            assert_near(flow.cwnd(), 1.0);
            let ssthresh = flow.state.window.ssthresh();
            assert!(
                (2.0..100.0).contains(&ssthresh),
                "{}: {ssthresh}",
                entry.kind
            );
        }
    }
}

/// Checks that Linux halves a window of 65 segments to 32, a whole number (Linux 6.18, `tcp_reno_ssthresh`).
#[test]
fn linux_halves_whole_segments() {
    for (variant, half) in [(Variant::Paper, 32.5), (Variant::Linux6_18, 32.0)] {
        for times_out in [false, true] {
            let mut flow = Sender::new(&controller("reno", variant, &[]), 65.0, 2.0);
            if times_out {
                flow.time_out();
            } else {
                flow.signal(Cause::Loss);
            }
            assert_near(flow.state.window.ssthresh(), half);
        }
    }
}

/// Returns the growth of a window of 100 segments while a hundred segments are acknowledged, `at_once` at a time. The
/// segments arrive 10 ms apart.
fn growth(entry: &Entry<Controller>, at_once: u64) -> f64 {
    let mut flow = flow(entry);
    for number in 1..=100 / at_once {
        flow.acknowledge(|ack| {
            ack.acked = at_once;
            ack.credit = at_once as f64;
            ack.delivered = number * at_once;
            ack.now = Time::ZERO + Span::from_millis(10 * ack.delivered);
        });
    }
    flow.cwnd() - 100.0
}

/// Checks that an acknowledgement of two segments adds twice as much as one of a single segment (RFC 3465). Delayed
/// acknowledgements therefore do not slow the growth down.
#[test]
fn an_acknowledgement_of_two_segments_adds_twice_as_much() {
    let differs = |entry: &&Entry<Controller>| {
        let (single, double) = (growth(entry, 1), growth(entry, 2));
        (single - double).abs() > 0.02 * single.abs() + 1e-9
    };
    let counts = |entry: &&Entry<Controller>| entry.law.iter().any(|law| law.contains("acked"));
    let counting = algorithms().iter().filter(counts);
    let differing: Vec<_> = counting.filter(differs).map(|entry| entry.kind).collect();
    assert_eq!(differing, [""; 0]);
}

/// Checks that the delay window of Compound TCP contains only the growth by the delay law (Tan and others, INFOCOM
/// 2006), and not the growth of the loss window.
#[test]
fn the_delay_window_is_what_its_law_has_added() {
    let mut flow = Sender::new(&controller("ctcp", Variant::Paper, &[]), 100.0, 2.0);
    let mut added = 0.0;
    for number in 0..40 {
        let before = flow.cwnd();
        let after = flow.acknowledge(|ack| ack.round_start = number % 10 == 0);
        // An acknowledgement adds 1 to the loss window, divided by the sum of both windows.
        let sum = f64::midpoint(after, (after * after - 4.0).sqrt());
        added += sum - before;
    }
    assert!(added > 5.0, "{added}");
    assert_near(flow.probe("delay_window").expect("it is recorded"), added);
}

/// Windows of Linux's variants are whole numbers, since Linux counts whole segments (`snd_cwnd`).
#[test]
fn windows_of_linux_are_whole() {
    for entry in algorithms() {
        for &variant in entry.variants {
            if variant != Variant::Linux6_18 {
                continue;
            }
            let mut flow = flow_of(entry, variant);
            for number in 1..=200 {
                if number == 50 {
                    flow.signal(Cause::Loss);
                    flow.recover();
                }
                let cwnd = flow.acknowledge(|ack| ack.round_start = number % 10 == 0);
                assert_eq!(cwnd.fract(), 0.0, "{} {variant}: {cwnd}", entry.kind);
            }
        }
    }
}

/// Returns the growth of the window in `segments` acknowledgements of one segment each. The round-trip time is `rtt_us`
/// microseconds.
fn growth_at(flow: &mut Sender, rtt_us: u64, segments: u64) -> f64 {
    let before = flow.cwnd();
    (0..segments).for_each(|_| {
        flow.acknowledge(|ack| ack.rtt = Some(Span::from_micros(rtt_us)));
    });
    flow.cwnd() - before
}

/// Checks that Veno is active only in the open state (Linux 6.18, `tcp_veno_state`). With ten queued segments, Veno
/// then grows by half a segment per round trip. After a mark, it grows as standard TCP until the flight has been
/// acknowledged. After an idle time, it has no smallest round-trip time for comparison (`tcp_veno_cwnd_event`).
#[test]
fn veno_of_linux_is_at_work_while_the_connection_is_open() {
    let mut flow = Sender::new(&controller("veno", Variant::Linux6_18, &[]), 100.0, 2.0);
    growth_at(&mut flow, 99_999, 5);
    let left = flow.signal(Cause::Ecn) as u64;
    assert_eq!(
        growth_at(&mut flow, 110_999, left),
        1.0,
        "answering the mark"
    );
    growth_at(&mut flow, 110_999, 101 - left);
    let four_rounds = 4 * flow.cwnd() as u64;
    let grown = growth_at(&mut flow, 110_999, four_rounds);
    assert!((1.0..=2.0).contains(&grown), "open: {grown}");
    flow.signal(Cause::Loss);
    flow.recover();
    let four_rounds = 4 * flow.cwnd() as u64;
    let grown = growth_at(&mut flow, 110_999, four_rounds);
    assert!((1.0..=2.0).contains(&grown), "open again: {grown}");
    flow.idle();
    let four_rounds = 4 * flow.cwnd() as u64;
    let grown = growth_at(&mut flow, 110_999, four_rounds);
    assert!((3.0..=4.0).contains(&grown), "no queue is known: {grown}");
}
