//! Known answers from ns-2.35: recorded runs of single flows.
//!
//! `make validate` runs the whole comparison, with more cases and plots.

mod common;

use common::disciplines::queue;
use common::{AT_ONCE, add_equal_access, add_flows, controller, drop_tail, dumbbell, ns2_tcp, run};
use longhaul_congestion::{SlowStart, Variant};
use longhaul_engine::Config;
use longhaul_engine::config::{Clock, Ecn, Randomness, Recovery, Start, Tcp};
use longhaul_engine::measure::EventKind;
use longhaul_engine::queue::Capacity;
use longhaul_keys::{Profile, Value};
use longhaul_units::{Bytes, Quantity, Rate, Span, Time};

/// Values recorded in ns-2: the times of reductions in seconds (including timeouts), and the numbers of timeouts,
/// dropped packets and acknowledged packets.
struct Recorded {
    cuts: &'static [f64],
    timeouts: u64,
    drops: u64,
    acked: u64,
}

/// Returns a path of 100 Mbit/s with a round-trip time of 100 ms for the SACK, NewReno or Reno agent.
fn path_100m(limit: u64, seconds: u64, recovery: Recovery) -> Config {
    let rate = Rate::from_bps(100_000_000);
    let mut config = dumbbell(rate, Span::from_millis(50), drop_tail(limit), seconds);
    config.clock = Clock::Ns2;
    add_flows(&mut config, "flow", 1, AT_ONCE, ns2_tcp(recovery));
    config
}

fn assert_matches(config: &Config, recorded: &Recorded) {
    let (totals, records) = run(config);
    let round_trip = 0.1;
    let cut = |kind| matches!(kind, EventKind::Cut(_) | EventKind::Timeout);
    let cuts = records.events.iter().filter(|event| cut(event.kind));
    let cuts: Vec<f64> = cuts.map(|event| event.time.as_secs_f64()).collect();
    assert_eq!(cuts.len(), recorded.cuts.len(), "cuts at {cuts:?}");
    for (ours, theirs) in cuts.iter().zip(recorded.cuts) {
        assert!((ours - theirs).abs() <= round_trip, "cuts at {cuts:?}");
    }
    let flow = &totals.flows[0].total;
    assert_eq!(flow.timeouts, recorded.timeouts);
    assert_eq!(totals.links[0].total.dropped_pkts(), recorded.drops);
    // ns-2 also counts the SYN.
    let acked = (flow.delivered_pkts + 1) as f64;
    let error = acked / recorded.acked as f64 - 1.0;
    assert!(
        error.abs() < 0.005,
        "acknowledged {acked}: {:+.2} %",
        100.0 * error
    );
}

#[test]
fn sack_with_a_buffer_of_one_bdp() {
    let recorded = Recorded {
        cuts: &[1.378_56, 3.057_26],
        timeouts: 0,
        drops: 1668,
        acked: 483_689,
    };
    assert_matches(&path_100m(833, 60, Recovery::Ns2Sack), &recorded);
}

#[test]
fn sack_with_a_buffer_of_a_fifth_bdp() {
    let recorded = Recorded {
        cuts: &[1.04, 1.44],
        timeouts: 0,
        drops: 258,
        acked: 294_843,
    };
    assert_matches(&path_100m(167, 60, Recovery::Ns2Sack), &recorded);
}

/// Checks that only the timer recovers losses if the sender is `Sack1` and the receiver a plain `TCPSink`:
/// acknowledgements without a SACK block do not count as duplicates.
#[test]
fn sack_with_a_receiver_that_reports_no_blocks() {
    let recorded = Recorded {
        cuts: &[1.5782, 3.82505],
        timeouts: 2,
        drops: 1668,
        acked: 469_960,
    };
    let mut config = path_100m(833, 60, Recovery::Ns2Sack);
    config.flows.clear();
    let tcp = Tcp {
        sack_blocks: false,
        ..ns2_tcp(Recovery::Ns2Sack)
    };
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp);
    assert_matches(&config, &recorded);
}

#[test]
fn newreno() {
    let recorded = Recorded {
        cuts: &[1.38, 1.78],
        timeouts: 1,
        drops: 1667,
        acked: 477_845,
    };
    assert_matches(&path_100m(833, 60, Recovery::Ns2NewReno), &recorded);
}

#[test]
fn reno() {
    let recorded = Recorded {
        cuts: &[1.38, 1.78],
        timeouts: 1,
        drops: 1667,
        acked: 476_722,
    };
    assert_matches(&path_100m(833, 60, Recovery::Ns2Reno), &recorded);
}

#[test]
fn hstcp_with_limited_slow_start() {
    let rate = Rate::from_bps(1_000_000_000);
    let mut config = dumbbell(rate, Span::from_millis(50), drop_tail(1667), 30);
    config.clock = Clock::Ns2;
    let tcp = Tcp {
        congestion: controller("hstcp", Variant::Ns2, &[("low_window", 31.0)]),
        slow_start: SlowStart::Ns2Limited {
            max_ssthresh: 100.0,
        },
        ..ns2_tcp(Recovery::Ns2Sack)
    };
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp);
    // The number of acknowledged packets follows from the utilisation of 0.61991 over 30 s with packets of 1500 bytes.
    let recorded = Recorded {
        cuts: &[21.019_88],
        timeouts: 0,
        drops: 50,
        acked: 1_549_000,
    };
    assert_matches(&config, &recorded);
}

/// Checks that the first two marks of case `A3_hstcp_red_auto` are at the same packets as in ns-2. RED's average, curve
/// and random numbers must equal ns-2's for a million packets before the first mark, and for three million before the
/// second.
#[test]
fn adaptive_red_marks_the_packets_that_ns2_marks() {
    let (rate, delay) = (Rate::from_bps(1_000_000_000), Span::from_millis(50));
    let mean_packet = Value::Quantity(Quantity::Bytes(Bytes(1500)));
    let given = [
        ("adaptive", Value::Flag(true)),
        ("ecn", Value::Flag(true)),
        ("mark_p", Value::Text("always".to_string())),
        ("mean_packet", mean_packet),
    ];
    let limit = Capacity::Packets(8333);
    let queue = queue(("red", Profile::Ns2_35), limit, (rate, delay), given);
    let mut config = dumbbell(rate, delay, queue, 38);
    config.clock = Clock::Ns2;
    config.randomness = Randomness::Ns2;
    let tcp = Tcp {
        ecn: Ecn::Classic,
        congestion: controller("hstcp", Variant::Ns2, &[("low_window", 31.0)]),
        slow_start: SlowStart::Ns2Limited {
            max_ssthresh: 100.0,
        },
        ..ns2_tcp(Recovery::Ns2Sack)
    };
    // The script draws a random number for the start, although the start is zero.
    let at_once = Start::Uniform(Time::ZERO, Time::ZERO);
    add_flows(&mut config, "flow", 1, at_once, tcp);
    let (_, records) = run(&config);
    let cuts = records
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Cut(_)));
    let cuts: Vec<f64> = cuts.map(|event| event.time.as_secs_f64()).collect();
    assert_eq!(cuts.len(), 2, "{cuts:?}");
    // The times were recorded with a resolution of 10 us; a packet takes 12 us. The second time differs by a few
    // packets.
    assert!((cuts[0] - 18.736_38).abs() < 6e-6, "{cuts:?}");
    assert!((cuts[1] - 37.158_71).abs() < 100e-6, "{cuts:?}");
}

/// Checks that packets that arrive at the same time are processed in the order in which ns-2 enters their arrivals into
/// its event list. Access links have the bottleneck's rate, 100 Mbit/s. Several packets therefore arrive together at
/// the full queue, and their order decides which flow loses a packet. Ten Reno flows start 100 ms apart, each with
/// separate links of 1 ms at both ends. The expected values are packets acknowledged after 20 s.
#[test]
fn simultaneous_arrivals_are_taken_in_the_order_of_their_entry() {
    const ACKED: [u64; 10] = [
        16_760, 14_216, 14_463, 14_482, 14_399, 20_052, 18_080, 12_765, 13_842, 13_644,
    ];
    let rate = Rate::from_bps(100_000_000);
    let mut config = dumbbell(rate, Span::from_millis(18), drop_tail(200), 20);
    config.links[1].queue = drop_tail(1_000_000);
    config.clock = Clock::Ns2;
    for number in 0..10 {
        let start = Start::At(Time::ZERO + Span::from_millis(100 * number));
        let label = format!("flow-{number}");
        add_flows(&mut config, &label, 1, start, ns2_tcp(Recovery::Ns2Reno));
    }
    add_equal_access(&mut config, Span::from_millis(1));
    let (totals, _) = run(&config);
    for (flow, acked) in totals.flows.iter().zip(ACKED) {
        // In addition to the acknowledged packets, 167 packets of all flows together have been delivered whose
        // acknowledgements are in flight.
        let delivered = flow.total.delivered_pkts;
        let ahead = delivered.checked_sub(acked);
        assert!(
            ahead.is_some_and(|ahead| ahead < 100),
            "{delivered}, ns-2 {acked}"
        );
    }
}
