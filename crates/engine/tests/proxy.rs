//! Tests of proxies that split connections.

mod common;

use std::sync::Arc;

use common::disciplines;
use common::proxies::split;
use common::{AT_ONCE, add_flows, delayed_ack, drop_tail, dumbbell, run, serve_explicitly, tcp};
use longhaul_engine::config::{ProxyChange, Recovery, Start, Tcp};
use longhaul_engine::measure::{EventKind, NoRecorder, ProxySample, Totals};
use longhaul_engine::queue::{Capacity, DISCIPLINES};
use longhaul_engine::{Config, Loss, simulation};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;

const RATE: Rate = Rate::from_bps(10_000_000);
const DELAY: Span = Span::from_millis(50);
const MSS: u64 = 1460;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Returns a network with `count` transfers in each direction.
fn transfers(count: usize, bytes: u64, seconds: u64) -> Config {
    let mut config = dumbbell(RATE, DELAY, drop_tail(60), seconds);
    let tcp = Tcp {
        transfer: Some(bytes),
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "there", count, AT_ONCE, tcp.clone());
    add_flows(&mut config, "back", count, AT_ONCE, tcp);
    for flow in &mut config.flows[count..] {
        (flow.from, flow.to) = (1, 0);
    }
    split(&mut config);
    config
}

/// Returns a network with an unlimited flow from left to right.
fn greedy(seconds: u64) -> Config {
    let mut config = dumbbell(RATE, DELAY, drop_tail(60), seconds);
    add_flows(&mut config, "bulk", 1, AT_ONCE, tcp(Recovery::Sack));
    split(&mut config);
    config
}

fn totals(config: &Config) -> Totals {
    simulation::run(config, &mut NoRecorder).expect("the configuration is sound")
}

/// Asserts that the counters at the end of the run are consistent and that no data was delivered twice.
fn assert_conserved(config: &Config, totals: &Totals) {
    for (number, proxy) in totals.proxies.iter().enumerate() {
        let total = proxy.total;
        let delivered = config.flows.iter().zip(&totals.flows);
        let delivered = delivered.filter(|(flow, _)| flow.via == Some(number));
        let delivered: u64 = delivered.map(|(_, flow)| flow.total.delivered_bytes).sum();
        assert!(delivered <= total.forwarded_bytes);
        assert_eq!(total.forwarded_bytes, total.carrier.delivered_bytes);
        assert!(total.forwarded_bytes <= total.admitted_bytes);
        let queue = total.queue;
        assert!(queue.departed_pkts + queue.dropped_pkts() <= queue.arrived_pkts);
    }
    for link in &totals.links {
        let total = link.total;
        assert!(total.departed_pkts + total.dropped_pkts() <= total.arrived_pkts);
    }
}

/// Returns the names of the disciplines that a local queue may have.
fn local_disciplines() -> Vec<&'static str> {
    let outside = DISCIPLINES.iter().filter(|known| known.outside_links);
    outside.map(|known| known.kind).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// With any losses, every flow gets its own bytes exactly once, in both directions.
    #[test]
    fn every_byte_arrives_once(
        flows in 1usize..5,
        bytes in 1u64..400_000,
        split_loss in 0.0f64..0.05,
        access_loss in 0.0f64..0.02,
        queue in 2u64..60,
        discipline in prop::sample::select(local_disciplines()),
        credit in 1u64..80,
        seed in 1u64..1000,
        delayed in any::<bool>(),
        recovery in prop::sample::select(vec![
            Recovery::NewReno, Recovery::Sack, Recovery::RackTlpPrr, Recovery::Ns2Sack,
        ]),
    ) {
        let mut config = transfers(flows, bytes, 600);
        config.seed = seed;
        for (number, link) in config.links.iter_mut().enumerate() {
            let loss = if number < 2 { split_loss } else { access_loss };
            link.direction.loss = Loss::Bernoulli(loss);
        }
        for proxy in &mut config.proxies {
            let discipline = disciplines::of(discipline);
            proxy.queue = discipline.config(Capacity::Packets(queue), false, RATE, DELAY);
            proxy.credit_bytes = credit * MSS;
            let delayed_ack = delayed.then_some(delayed_ack(Span::from_millis(100)));
            proxy.tcp = Arc::new(Tcp { recovery, delayed_ack, ..tcp(recovery) });
        }
        let totals = totals(&config);
        assert_conserved(&config, &totals);
        for flow in &totals.flows {
            prop_assert_eq!(flow.total.delivered_bytes, bytes);
            prop_assert!(flow.finish.is_some());
        }
        for proxy in &totals.proxies {
            let all = flows as u64 * bytes;
            prop_assert_eq!(proxy.total.admitted_bytes, all);
            prop_assert_eq!(proxy.total.forwarded_bytes, all);
        }
    }
}

/// Checks that lookahead does not change the results of a proxy: they equal the results with explicit service, which
/// excludes lookahead.
#[test]
fn looking_ahead_changes_nothing() {
    let mut config = transfers(3, 2_000_000, 20);
    config.links[0].direction.loss = Loss::Bernoulli(0.005);
    let (ahead, records) = run(&config);
    serve_explicitly(&mut config);
    let (explicit, explicit_records) = run(&config);
    // The records are not printed if they differ.
    assert!(records == explicit_records);
    assert_eq!(ahead.proxies, explicit.proxies);
    assert!(ahead.events < explicit.events);
}

/// A segment is delayed by the access link, the wait for the proxy's next check, the split link and the second access
/// link, and by nothing else.
#[test]
fn a_segment_waits_for_a_check_only() {
    let mut config = greedy(2);
    config.measure.every = Some(Span::from_millis(1));
    let (_, records) = run(&config);
    let proxy = |has_come: &dyn Fn(&ProxySample) -> bool| {
        let sample = records.proxies.iter().find(|&sample| has_come(sample));
        sample.map(|sample| sample.queue.time)
    };
    // The SYN arrives at 2.032 ms and is answered at 10 ms. The data is sent at 12.032 ms, arrives at 15.232 ms and is
    // taken at 20 ms.
    assert_eq!(
        proxy(&|sample| sample.queue.departed_pkts == 1),
        Some(at(10))
    );
    let data_waits =
        |sample: &ProxySample| sample.queue.departed_pkts == 1 && sample.queue.queue_pkts > 0;
    assert_eq!(proxy(&data_waits), Some(at(16)));
    assert_eq!(
        proxy(&|sample| sample.queue.departed_pkts > 1),
        Some(at(20))
    );
    // The connection between the nodes is opened for this data, which takes two times 50.032 ms.
    assert_eq!(proxy(&|sample| sample.carrier.sent_pkts > 0), Some(at(121)));
    // The data takes 51.2 ms. The same steps follow on the second leg: 4.064 ms for the handshake and 3.2 ms for the
    // data.
    let mut flows = records.flows.iter();
    let arrived = flows.find(|sample| sample.delivered_bytes > 0);
    assert_eq!(arrived.map(|sample| sample.time), Some(at(179)));
}

/// A proxy admits exactly as much data as its credit while the connection between its nodes cannot send.
#[test]
fn credit_is_what_may_wait_unsent() {
    for credit in [1, 7, 50] {
        let mut config = greedy(20);
        config.links[0].direction.loss = Loss::Bernoulli(1.0);
        config.proxies[0].credit_bytes = credit * MSS;
        let totals = totals(&config);
        assert_eq!(totals.proxies[0].total.admitted_bytes, credit * MSS);
        assert_eq!(totals.proxies[0].total.carrier.sent_pkts, 0);
    }
}

/// Without losses, the payload that waits unsent in the connection between the nodes never exceeds the credit.
#[test]
fn credit_bounds_the_backlog() {
    for seconds in 1..12 {
        let mut config = greedy(seconds);
        config.links[0].queue = drop_tail(100_000);
        config.proxies[0].tcp = Arc::new(Tcp {
            receive_window: 40,
            ..tcp(Recovery::Sack)
        });
        let total = totals(&config).proxies[0].total;
        let unsent = total.admitted_bytes - total.carrier.sent_pkts * MSS;
        assert!(unsent <= 50 * MSS, "{unsent}");
        // The window of 40 segments is less than the path can hold, so that the credit is used up.
        assert!(seconds < 3 || unsent > 40 * MSS, "{unsent}");
    }
}

/// Retransmissions increase the credit only if this is configured.
#[test]
fn credit_grows_with_retransmissions_if_it_is_to() {
    let unsent = |credit_for_retransmissions| {
        let mut config = greedy(60);
        config.links[0].direction.loss = Loss::Bernoulli(0.01);
        config.proxies[0].credit_for_retransmissions = credit_for_retransmissions;
        let total = totals(&config).proxies[0].total;
        let sent = total.carrier.sent_pkts - total.carrier.retransmitted_pkts;
        assert!(total.carrier.retransmitted_pkts > 20);
        let drift = total.carrier.retransmitted_pkts * MSS;
        (total.admitted_bytes - sent * MSS, drift)
    };
    let (without, _) = unsent(false);
    assert!(without <= 50 * MSS);
    let (with, drift) = unsent(true);
    assert!(with > 50 * MSS && with <= 50 * MSS + drift);
}

/// Checks that all data arrives even if the link between a proxy's nodes loses twenty packets in a row.
#[test]
fn a_pause_of_the_link_strands_nothing() {
    let mut config = transfers(2, 3_000_000, 300);
    config.links[0].direction.loss = Loss::List((500..520).collect());
    let totals = totals(&config);
    assert_conserved(&config, &totals);
    for flow in &totals.flows {
        assert_eq!(flow.total.delivered_bytes, 3_000_000);
    }
}

#[test]
fn each_direction_has_its_own_proxy() {
    let both = totals(&transfers(2, 1_000_000, 60));
    let mut config = transfers(2, 1_000_000, 60);
    for flow in &mut config.flows[2..] {
        flow.start = Start::At(at(50_000));
    }
    let one = totals(&config);
    // The opposite direction adds acknowledgements to the link, but no packets to the proxy.
    let admitted = |totals: &Totals| totals.proxies[0].total.admitted_bytes;
    assert_eq!(admitted(&both), admitted(&one));
    assert_eq!(both.proxies[1].total.forwarded_bytes, 2_000_000);
}

#[test]
fn a_flow_that_stops_ends_behind_the_proxy_too() {
    let mut config = greedy(60);
    config.flows[0].stop = Some(at(5_003));
    let (totals, _) = run(&config);
    let flow = &totals.flows[0];
    assert!(flow.finish.is_some());
    assert!(flow.total.delivered_bytes > 1_000_000);
    assert_eq!(
        flow.total.delivered_bytes,
        totals.proxies[0].total.admitted_bytes
    );
}

/// Credit, interval and queue of a proxy change at the configured times.
#[test]
fn parameters_change_at_their_time() {
    let mut config = greedy(20);
    let change = ProxyChange {
        at: at(10_000),
        credit_bytes: Some(5 * MSS),
        check_interval: Some(Span::from_millis(40)),
        queue: Some(drop_tail(20)),
    };
    config.proxies[0].changes = vec![change];
    // The path can hold this window, so that the local queue is always full.
    config.proxies[0].tcp = Arc::new(Tcp {
        receive_window: 20,
        ..tcp(Recovery::Sack)
    });
    let (_, records) = run(&config);
    let most = |from: Time, to: Time| {
        let within = records.proxies.iter().filter(|sample| {
            sample.queue.link == 0 && sample.queue.time > from && sample.queue.time < to
        });
        within.map(|sample| sample.queue.queue_pkts).max()
    };
    assert!(most(at(5_000), at(10_000)) > Some(60));
    assert!(most(at(13_000), at(20_000)) <= Some(20));
}

/// Checks that the connection between the nodes of a proxy is numbered after the flows. Events of the sender at the
/// proxy's end node are not recorded.
#[test]
fn the_connection_between_the_nodes_has_a_number_of_its_own() {
    let mut config = greedy(5);
    config.links[0].captured = true;
    let (_, records) = run(&config);
    let starts = records.events.iter();
    let starts = starts.filter(|event| event.kind == EventKind::Start);
    let flows: Vec<u32> = starts.map(|event| event.flow).collect();
    assert_eq!(flows, [0, 1]);
    assert!(records.packets.len() > 1000);
    assert!(
        records
            .packets
            .iter()
            .all(|packet| packet.flow == 1 && !packet.reverse)
    );
}

/// Checks the utilisation of one flow without a proxy against the closed form for a sawtooth.
#[test]
fn without_a_proxy_one_flow_uses_what_its_saw_tooth_says() {
    for queue in [300, 150, 100, 60, 30] {
        let tcp = Tcp {
            mss_bytes: 1000,
            initial_ssthresh: Some(600.0),
            ..tcp(Recovery::Sack)
        };
        let delay = Span::from_millis(260);
        let mut config = dumbbell(RATE, delay, drop_tail(queue), 6000);
        config.measure.from = at(600_000);
        add_flows(&mut config, "bulk", 1, AT_ONCE, tcp);
        let totals = totals(&config);
        let seconds = totals.end.since(config.measure.from).as_secs_f64();
        let bits = totals.links[0].window.departed_bytes as f64 * 8.0;
        let used = bits / seconds / RATE.as_bps() as f64;
        // The closed form is also that of several flows that lose packets together. The rate and the bandwidth-delay
        // product are a tenth of those in the thesis.
        let b = queue as f64 / 625.0;
        let expected = 0.75 * (1.0 + b) * (1.0 + b) / (1.0 + b + b * b);
        assert!(
            (used / expected - 1.0).abs() < 0.03,
            "{queue}: {used} {expected}"
        );
    }
}
