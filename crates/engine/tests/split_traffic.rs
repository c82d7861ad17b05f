//! Tests of proxies that split connections opened by traffic sources during the run.

mod common;

use std::sync::Arc;

use common::proxies::split;
use common::{
    Records, add_flows, add_source, drop_tail, dumbbell, results, run, serve_explicitly, tcp,
};
use longhaul_engine::config::{
    Binding, Bursts, Distribution, Messages, Process, Recovery, Requests, Source, Start, Tcp,
    TraceEntry, Transport, Web,
};
use longhaul_engine::measure::Totals;
use longhaul_engine::{Config, DelayBox, Loss};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;

const RATE: Rate = Rate::from_bps(10_000_000);
const DELAY: Span = Span::from_millis(50);
const RECOVERY: Recovery = Recovery::Sack;

/// Returns a network with access links and a proxy for each direction. Responses of the sources go from left to right.
fn split_sources(sources: &[Source], tcp: &Tcp, seconds: u64) -> Config {
    let mut config = dumbbell(RATE, DELAY, drop_tail(60), seconds);
    for (number, source) in sources.iter().enumerate() {
        let name = format!("source-{number}");
        add_source(&mut config, &name, source.clone(), tcp.clone());
    }
    split(&mut config);
    config
}

/// Asserts that each proxy has forwarded exactly the payload that the connection between its nodes has delivered, and
/// not more than was given to this connection.
fn assert_carried(totals: &Totals) {
    for proxy in &totals.proxies {
        let total = proxy.total;
        assert_eq!(total.forwarded_bytes, total.carrier.delivered_bytes);
        assert!(total.forwarded_bytes <= total.admitted_bytes);
    }
}

fn assert_all_arrived(totals: &Totals, records: &Records) {
    assert_carried(totals);
    assert!(records.exchanges.iter().all(|one| one.end.is_some()));
    let asked = records.exchanges.iter().map(|one| one.request_bytes);
    let answered = records
        .exchanges
        .iter()
        .filter_map(|one| one.response_bytes);
    let (asked, answered): (u64, u64) = (asked.sum(), answered.sum());
    let [there, back] = [0, 1].map(|proxy: usize| totals.proxies[proxy].total.forwarded_bytes);
    assert_eq!((there, back), (answered, asked));
    let delivered = totals.flows.iter().map(|flow| flow.total.delivered_bytes);
    assert_eq!(delivered.sum::<u64>(), asked + answered);
}

/// Checks that an exchange through proxies takes the sum of the times of its legs. Each leg has a separate handshake. A
/// proxy checks its local queue every 10 ms; segments wait for the next check.
#[test]
fn an_exchange_takes_what_its_legs_take() {
    let entry = TraceEntry {
        after: None,
        time: Time::from_secs_f64(1.0),
        request_bytes: 460,
        response_bytes: Some(960),
        server_delay: Span::ZERO,
    };
    let source = Source::Trace([entry].into());
    let (totals, records) = run(&split_sources(&[source], &tcp(RECOVERY), 3));
    let [exchange] = records.exchanges[..] else {
        panic!("{:?}", records.exchanges);
    };
    let close = |time: Option<Time>, expected_ms: f64| {
        let difference = time.expect("it happened").as_secs_f64() * 1000.0 - expected_ms;
        assert!(difference.abs() < 1e-6, "{difference} ms off {expected_ms}");
    };
    // One access link takes 2 ms, the path between the nodes 50 ms, a packet of 40 B 0.032 ms and one of 500 B 0.4 ms.
    // The SYN arrives at 1002.032 ms and is answered at 1010 ms. The request is sent at 1012.032 ms and taken at 1020
    // ms. The connection between the nodes opens in two transit times, and so does the second leg.
    let requested = 1020.0 + 2.0 * 50.032 + 50.4 + 2.0 * 2.032 + 2.4;
    close(exchange.requested, requested);
    // The server's SYN is sent at 1176.928 ms and answered at 1180 ms; the response is taken at 1190 ms.
    let end = 1190.0 + 2.0 * 50.032 + 50.8 + 2.0 * 2.032 + 2.8;
    close(exchange.answered, end);
    close(exchange.end, end);
    assert_all_arrived(&totals, &records);
}

/// Checks that captures show both legs of a split connection under the number of its flow. On both legs, requests have
/// one connection number, and responses another. A proxy's connection between the legs has another flow number.
#[test]
fn captures_tell_the_legs_of_a_connection() {
    let entry = TraceEntry {
        after: None,
        time: Time::from_secs_f64(1.0),
        request_bytes: 3000,
        response_bytes: Some(5000),
        server_delay: Span::ZERO,
    };
    let mut config = split_sources(&[Source::Trace([entry].into())], &tcp(RECOVERY), 5);
    for link in &mut config.links {
        link.captured = true;
    }
    let (_, records) = run(&config);
    let payload = |flow: u32, connection: u32, reverse: bool| -> u32 {
        let packets = records.packets.iter();
        let packets = packets.filter(|packet| {
            (packet.flow, packet.connection, packet.reverse) == (flow, connection, reverse)
        });
        packets.map(|packet| packet.payload_bytes).sum()
    };
    // Requests are sent on connection 0 and responses on connection 1, over two links each.
    assert_eq!(
        (payload(0, 0, true), payload(0, 1, false)),
        (2 * 3000, 2 * 5000)
    );
    assert_eq!((payload(1, 0, false), payload(2, 0, false)), (5000, 3000));
    let all = records.packets.iter().map(|packet| packet.payload_bytes);
    assert_eq!(all.sum::<u32>(), 3 * 8000);
    // Each leg opens with a SYN, so that there are four SYNs in addition to those of the proxies.
    let syns = records.packets.iter();
    let syns = syns.filter(|packet| packet.syn && !packet.ack);
    assert_eq!(syns.filter(|packet| packet.flow == 0).count(), 4);
}

fn requests(per_connection: u32, round_trip_s: f64) -> Requests {
    Requests {
        arrivals: Process::Independent(Distribution::Exponential { mean: 0.3 }),
        request: Process::Independent(Distribution::Uniform(100.0, 5000.0)),
        response: Process::Independent(Distribution::BoundedPareto {
            min: 700.0,
            max: 200_000.0,
            shape: 1.1,
        }),
        binding: Binding::OnArrival,
        server_delay: Distribution::Uniform(0.0, 0.02),
        round_trip: Process::Independent(Distribution::Constant(round_trip_s)),
        per_connection: Distribution::Constant(f64::from(per_connection)),
        think: Distribution::Exponential { mean: 0.1 },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Checks that every exchange gets its own bytes exactly once, in both directions and with any losses, even if
    /// segments of many exchanges wait in one queue.
    #[test]
    fn every_exchange_is_complete_in_the_end(
        per_connection in 1u32..4,
        round_trip_s in prop_oneof![Just(0.0), Just(0.03)],
        split_loss in 0.0f64..0.05,
        access_loss in 0.0f64..0.02,
        queue in 5u64..60,
        credit in 1u64..80,
        seed in 1u64..1000,
        one_way in any::<bool>(),
        recovery in prop::sample::select(vec![
            Recovery::NewReno, Recovery::Sack, Recovery::RackTlpPrr, Recovery::Ns2Sack,
        ]),
    ) {
        let source = Source::Requests(requests(per_connection, round_trip_s));
        let mut config = split_sources(&[source.clone(), source], &tcp(recovery), 900);
        config.seed = seed;
        for (number, link) in config.links.iter_mut().enumerate() {
            let loss = if number < 2 { split_loss } else { access_loss };
            link.direction.loss = Loss::Bernoulli(loss);
        }
        for proxy in &mut config.proxies {
            proxy.queue = drop_tail(queue);
            proxy.credit_bytes = credit * 1460;
        }
        for flow in &mut config.flows {
            flow.stop = Some(Time::from_secs_f64(20.0));
            if one_way {
                flow.via_back = None;
            }
        }
        let (totals, records) = run(&config);
        prop_assert!(records.exchanges.len() > 20);
        if one_way {
            prop_assert!(records.exchanges.iter().all(|one| one.end.is_some()));
            prop_assert_eq!(totals.proxies[1].total.admitted_bytes, 0);
        } else {
            assert_all_arrived(&totals, &records);
        }
    }
}

/// Lookahead does not change the results of traffic through a proxy.
#[test]
fn looking_ahead_changes_nothing() {
    let source = Source::Requests(requests(2, 0.0));
    let mut config = split_sources(&[source.clone(), source], &tcp(RECOVERY), 30);
    config.links[0].direction.loss = Loss::Bernoulli(0.005);
    let ahead = results(&config);
    serve_explicitly(&mut config);
    // The records are not printed if they differ.
    assert!(ahead == results(&config));
    assert!(ahead.exchanges.len() > 100);
}

/// Checks that the pages of a session follow one another behind a proxy. Objects have separate connections, or use the
/// connection of their request.
#[test]
fn sessions_go_on_behind_a_proxy() {
    for separate in [false, true] {
        let web = Web {
            pages: 10,
            inter_page: Distribution::Constant(0.2),
            objects: Distribution::Constant(3.0),
            inter_object: Distribution::Constant(0.01),
            object: Distribution::Uniform(1000.0, 40_000.0),
            whole_units_of: Some(1460),
            request_bytes: 1460,
            separate,
        };
        let (totals, records) = run(&split_sources(&[Source::Web(web)], &tcp(RECOVERY), 60));
        assert_eq!(records.exchanges.len(), 30);
        assert_all_arrived(&totals, &records);
    }
}

/// Checks that data left in a proxy by a cut-off connection has no effect on other connections.
#[test]
fn what_is_cut_off_leaves_the_proxy_as_it_was() {
    let cut_off = Source::CutOff(Span::from_millis(900));
    let mut config = split_sources(&[cut_off.clone(), cut_off], &tcp(RECOVERY), 60);
    config.flows[1].start = Start::At(Time::from_secs_f64(7.0));
    let transfer = Tcp {
        transfer: Some(3_000_000),
        ..tcp(RECOVERY)
    };
    let mut all = dumbbell(RATE, DELAY, drop_tail(60), 60);
    add_flows(
        &mut all,
        "bulk",
        1,
        Start::At(Time::from_secs_f64(0.5)),
        transfer,
    );
    split(&mut all);
    let bulk = all.flows.remove(0);
    // These flows have the same nodes as the first source.
    let (from, to) = (config.flows[0].from, config.flows[0].to);
    config
        .flows
        .push(longhaul_engine::config::Flow { from, to, ..bulk });
    let (totals, records) = run(&config);
    assert_carried(&totals);
    assert_eq!(totals.flows[2].total.delivered_bytes, 3_000_000);
    assert!(records.exchanges.is_empty());
    let cut = totals.proxies[0].total.forwarded_bytes - 3_000_000;
    assert!(cut > 100_000, "{cut}");
    // All data that was admitted has been forwarded, the last of it for connections that no longer exist.
    assert_eq!(
        totals.proxies[0].total.admitted_bytes,
        totals.proxies[0].total.forwarded_bytes
    );
}

/// Messages sent in bursts go through a proxy, over connections that exist from the start. All data that the
/// application has passed to the transport arrives.
#[test]
fn bursts_go_by_a_proxy() {
    let mut config = dumbbell(RATE, DELAY, drop_tail(60), 100);
    add_flows(
        &mut config,
        "bursts",
        3,
        Start::At(Time::ZERO),
        tcp(RECOVERY),
    );
    let messages = Messages {
        rate: Rate::from_bps(64_000),
        message_bytes: 210,
        bursts: Bursts {
            on: Distribution::Constant(0.5),
            off: Distribution::Constant(0.5),
        },
        whole_segments: true,
    };
    for flow in &mut config.flows {
        flow.transport = Transport::Messages(Arc::new(tcp(RECOVERY)), messages.clone());
        flow.stop = Some(Time::from_secs_f64(90.0));
    }
    split(&mut config);
    let (totals, _) = run(&config);
    assert_carried(&totals);
    // 19 messages are sent in every 0.99875 s.
    for flow in &totals.flows {
        let bursts = (90.0_f64 / (0.5 + 19.0 * 0.02625)).floor();
        let given = flow.total.delivered_bytes / 1460;
        assert!((given as f64 - 19.0 * bursts).abs() <= 19.0, "{given}");
    }
    let delivered = totals.flows.iter().map(|flow| flow.total.delivered_bytes);
    assert_eq!(
        delivered.sum::<u64>(),
        totals.proxies[0].total.forwarded_bytes
    );
}

/// A delay box delays both legs of a connection by the values that were drawn for the connection.
#[test]
fn delay_boxes_know_both_legs() {
    let entry = TraceEntry {
        after: None,
        time: Time::from_secs_f64(1.0),
        request_bytes: 460,
        response_bytes: None,
        server_delay: Span::ZERO,
    };
    let took = |delayed: bool| {
        let mut config = split_sources(&[Source::Trace([entry].into())], &tcp(RECOVERY), 5);
        // These are the links between the proxy's end node and the receiver, in both directions.
        for link in config.links.iter_mut().filter(|_| delayed) {
            if link.from == config.flows[0].to || link.to == config.flows[0].to {
                link.forward_name = "box".to_string();
                link.delay_box = Some(DelayBox {
                    delay: Some(Distribution::Uniform(0.02, 0.2)),
                    symmetric: true,
                    ..DelayBox::default()
                });
            }
        }
        let (_, records) = run(&config);
        let [exchange] = records.exchanges[..] else {
            panic!("{:?}", records.exchanges);
        };
        let end = exchange.end.expect("it is complete");
        end.since(exchange.start).as_secs_f64()
    };
    // The SYN of the second leg, its answer and the data are delayed by the same value each.
    let more = took(true) - took(false);
    assert!((0.06..0.6).contains(&more), "{more}");
}
