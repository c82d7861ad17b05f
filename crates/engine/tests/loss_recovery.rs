//! Tests of connections from slow start to the recovery of their losses, with and without competing connections.

mod common;

use common::disciplines;
use common::{
    AT_ONCE, RECOVERIES, Records, add_equal_access, add_flows, delayed_ack, drop_tail, dumbbell,
    run, tcp,
};
use longhaul_engine::Loss;
use longhaul_engine::config::{Ecn, Recovery, Start, Tcp, Timestamps};
use longhaul_engine::measure::Totals;
use longhaul_engine::queue::Capacity;
use longhaul_units::{Rate, Span, Time};

#[test]
fn slow_start_doubles_each_round_trip() {
    let mut config = dumbbell(
        Rate::from_bps(1_000_000_000),
        Span::from_millis(50),
        drop_tail(100_000),
        1,
    );
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp(Recovery::Sack));
    let (_, records) = run(&config);
    // The SYN is answered at 0.1 s. Then 2, 4, 8, ... segments follow. The window is sampled in the middle of each
    // round trip (samples are at multiples of 100 ms, just before the acknowledgements of the round).
    let windows: Vec<f64> = records
        .flows
        .iter()
        .filter_map(|sample| sample.cwnd)
        .collect();
    assert_eq!(windows[2..8], [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
}

#[test]
fn a_single_loss_is_repaired_in_one_round_trip_without_timeout() {
    for recovery in RECOVERIES {
        let mut config = dumbbell(
            Rate::from_bps(50_000_000),
            Span::from_millis(20),
            drop_tail(1000),
            3,
        );
        // Packet 300 of the first link is lost, in the middle of slow start.
        config.links[0].direction.loss = Loss::List(vec![300]);
        let transfer = Some(4_000_000);
        add_flows(
            &mut config,
            "flow",
            1,
            AT_ONCE,
            Tcp {
                transfer,
                ..tcp(recovery)
            },
        );
        let (totals, _) = run(&config);
        let flow = &totals.flows[0].total;
        assert_eq!((flow.cuts_loss, flow.timeouts), (1, 0), "{recovery:?}");
        assert!(totals.flows[0].finish.is_some());
        // The acknowledgement of the retransmission covers all segments that arrived meanwhile.
        assert_eq!(flow.retransmitted_pkts, 1, "{recovery:?}");
    }
}

#[test]
fn sack_repairs_half_a_window_without_timeout() {
    let mut config = dumbbell(
        Rate::from_bps(100_000_000),
        Span::from_millis(50),
        drop_tail(833),
        2,
    );
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp(Recovery::Sack));
    let (totals, records) = run(&config);
    let flow = &totals.flows[0].total;
    // Slow start exceeds the window that the path can hold: it sends the bandwidth-delay product, the buffer and one
    // segment too many (README of the recorded runs: 1667).
    assert_eq!(totals.links[0].total.dropped_pkts(), 1667);
    assert_eq!((flow.cuts_loss, flow.timeouts), (1, 0));
    assert_eq!(flow.retransmitted_pkts, 1667);
    let first = records
        .events
        .iter()
        .find(|event| event.cwnd_after < event.cwnd_before);
    let first = first.expect("a cut");
    assert!((first.time.as_secs_f64() - 1.378).abs() < 0.01);
}

/// Checks that echoes of congestion do not delay the retransmissions after a timeout. Only new data carries CWR, which
/// ends the echoes (RFC 3168 section 6.1.2). The echoes therefore continue until everything is retransmitted.
#[test]
fn echoes_of_congestion_do_not_hold_back_the_repair_of_a_timeout() {
    let (rate, delay) = (Rate::from_bps(100_000_000), Span::from_millis(50));
    let red = disciplines::of("red").config(Capacity::Packets(833), true, rate, delay);
    let mut config = dumbbell(rate, delay, red, 30);
    let ecn = Tcp {
        ecn: Ecn::Classic,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "flow", 1, AT_ONCE, ecn);
    let (totals, _) = run(&config);
    let flow = &totals.flows[0].total;
    assert!(flow.timeouts > 0, "the case needs a timeout");
    let capacity_pkts = 30 * 100_000_000 / (8 * 1500);
    assert!(
        flow.delivered_pkts > capacity_pkts / 2,
        "{} packets",
        flow.delivered_pkts
    );
}

/// Checks that flows get similar shares if their packets arrive at a full queue at the same time, behind access links
/// as fast as the bottleneck.
#[test]
fn flows_whose_packets_arrive_together_share_alike() {
    let mut config = dumbbell(
        Rate::from_bps(100_000_000),
        Span::from_millis(18),
        drop_tail(200),
        30,
    );
    config.measure.from = Time::ZERO + Span::from_secs(10);
    let start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1));
    add_flows(&mut config, "reno", 10, start, tcp(Recovery::Sack));
    add_equal_access(&mut config, Span::from_millis(1));
    let (totals, _) = run(&config);
    let delivered = totals
        .flows
        .iter()
        .map(|flow| flow.window.delivered_pkts as f64);
    let shares: Vec<f64> = delivered.collect();
    let (sum, squares): (f64, f64) = (shares.iter().sum(), shares.iter().map(|x| x * x).sum());
    let jain = sum * sum / squares / shares.len() as f64;
    assert!(jain > 0.85, "Jain's index {jain}: {shares:?}");
}

/// Runs a transfer of 20 segments over a round trip of 162 ms, and loses the packets `lost`. The SYN is packet 0, so
/// packets and segments have the same numbers until a retransmission. The timeout is at least a second.
fn transfer_of_20_segments(lost: Vec<u64>, flow: Tcp) -> (Totals, Records) {
    let (rate, delay) = (Rate::from_bps(1_000_000_000), Span::from_millis(81));
    let mut config = dumbbell(rate, delay, drop_tail(1000), 20);
    config.links[0].direction.loss = Loss::List(lost);
    let mut flow = Tcp {
        transfer: Some(20 * 1460),
        initial_window: 10.0,
        ..flow
    };
    flow.rto.min = Span::from_secs(1);
    add_flows(&mut config, "flow", 1, AT_ONCE, flow);
    run(&config)
}

/// Returns connections with all combinations of timestamps and acknowledgement settings.
fn receivers(recovery: Recovery) -> Vec<Tcp> {
    let mut all = Vec::new();
    for timestamps in [Timestamps::Off, Timestamps::Standard(12)] {
        for delay in [None, Some(delayed_ack(Span::from_millis(40)))] {
            all.push(Tcp {
                timestamps,
                delayed_ack: delay,
                ..tcp(recovery)
            });
        }
    }
    all
}

/// Checks that losses at the end of the data are repaired without a timeout (RFC 8985 section 7). The last segment is
/// retransmitted as a probe. If other segments are lost, too, the SACK for the probe begins fast recovery.
#[test]
fn a_lost_tail_is_repaired_by_what_its_probe_shows() {
    for recovery in [Recovery::RackTlp, Recovery::RackTlpPrr] {
        for flow in receivers(recovery) {
            for tail in 1..=5 {
                let (totals, _) = transfer_of_20_segments((21 - tail..=20).collect(), flow.clone());
                let what = format!(
                    "{recovery:?}, {tail} lost, {:?}",
                    (flow.timestamps, flow.delayed_ack)
                );
                let total = &totals.flows[0].total;
                assert_eq!(
                    (total.timeouts, total.cuts_loss),
                    (0, u64::from(tail > 1)),
                    "{what}"
                );
                assert_eq!(total.retransmitted_pkts, tail, "{what}");
                // The last of the ten segments of the second round trip is sent at 0.486 s. The probe is sent two round
                // trips later. Its answer takes a third round trip, and the repair of the losses that it reports takes
                // a fourth: for four and five losses, two segments at a time.
                let trips = [3.0, 4.0, 4.0, 5.0, 5.0][tail as usize - 1];
                let finish = totals.flows[0].finish.expect("it ends").as_secs_f64();
                let more = finish - 0.162 * (3.0 + trips);
                assert!((-0.001..0.15).contains(&more), "{what}: {finish} s");
            }
        }
    }
}

/// Checks that the loss of a tail and of its probe causes one timeout, and no earlier recovery. All lost segments are
/// then retransmitted.
#[test]
fn a_lost_probe_leaves_its_tail_to_the_timeout() {
    for flow in receivers(Recovery::RackTlp) {
        for tail in 1..=5 {
            // The packet after the twenty segments is the probe.
            let (totals, _) = transfer_of_20_segments((21 - tail..=21).collect(), flow.clone());
            let total = &totals.flows[0].total;
            assert_eq!((total.timeouts, total.cuts_loss), (1, 0), "{tail} lost");
            assert_eq!(total.retransmitted_pkts, tail + 1, "{tail} lost");
            assert!(totals.flows[0].finish.is_some());
        }
    }
}

/// Checks that the window is not reduced if only the acknowledgements of the tail are lost: the D-SACK for the probe
/// shows this (RFC 8985 section 7.4.2).
#[test]
fn a_probe_that_was_not_needed_reduces_nothing() {
    for flow in receivers(Recovery::RackTlp) {
        let (rate, delay) = (Rate::from_bps(1_000_000_000), Span::from_millis(81));
        let mut config = dumbbell(rate, delay, drop_tail(1000), 20);
        // The acknowledgements of segments 19 and 20 are lost.
        let lost = if flow.delayed_ack.is_some() {
            vec![10]
        } else {
            vec![19, 20]
        };
        config.links[1].direction.loss = Loss::List(lost);
        let transfer = Some(20 * 1460);
        let mut flow = Tcp {
            transfer,
            initial_window: 10.0,
            ..flow
        };
        flow.rto.min = Span::from_secs(1);
        add_flows(&mut config, "flow", 1, AT_ONCE, flow);
        let (totals, _) = run(&config);
        let total = &totals.flows[0].total;
        assert_eq!((total.timeouts, total.cuts_loss), (0, 0));
    }
}
