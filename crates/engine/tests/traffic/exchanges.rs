//! Tests of requests and responses: their times, their connections, and the state that remains after them.

use crate::common::{
    AT_ONCE, add_flows, add_source, delayed_ack, disciplines, drop_tail, dumbbell, results, run,
    tcp,
};
use crate::{DELAY, RATE, entry, ms, requests, trace, way, with};
use longhaul_engine::Loss;
use longhaul_engine::config::{
    Binding, Distribution, Process, Recovery, Requests, Source, StopRule, Tcp, Timestamps,
    TraceEntry,
};
use longhaul_engine::measure::Exchange;
use longhaul_engine::queue::Capacity;
use longhaul_units::{Rate, Span, Time};

#[test]
fn an_exchange_takes_what_its_packets_take() {
    let source = trace(&[entry(ms(100.0), 500, Some(1000))]);
    let (totals, records) = run(&with(source, 2));
    let [exchange] = records.exchanges[..] else {
        panic!("{:?}", records.exchanges);
    };
    // The SYN, its answer and its acknowledgement are directly followed by the request; three milliseconds later, the
    // response is sent.
    let requested = 100.0 + 2.0 * way(40) + 0.032 + way(540);
    let close = |time: Option<Time>, expected: f64| {
        let difference = time.expect("it happened").as_secs_f64() * 1000.0 - expected;
        assert!(difference.abs() < 1e-6, "{difference} ms off {expected}");
    };
    assert_eq!(exchange.start, ms(100.0));
    close(exchange.requested, requested);
    close(exchange.answered, requested + 3.0 + way(1040));
    close(exchange.end, requested + 3.0 + way(1040));
    assert_eq!(
        (exchange.request_bytes, exchange.response_bytes),
        (500, Some(1000))
    );
    let flow = totals.flows[0].total;
    assert_eq!((flow.connections, flow.exchanges), (1, 1));
    assert_eq!((flow.sent_pkts, flow.delivered_bytes), (2, 1500));
    // The packets in the forward direction are: the answer to the SYN, the acknowledgement of the request, the response
    // with the server's FIN, and the acknowledgement of the client's FIN.
    let forward = totals.links[0].total;
    assert_eq!(
        (forward.departed_pkts, forward.departed_bytes),
        (4, 40 + 40 + 1040 + 40)
    );
    // The packets in the opposite direction are: the SYN, the end of the handshake, the request, the acknowledgement of
    // the response, and the FIN.
    let back = totals.links[1].total;
    assert_eq!(
        (back.departed_pkts, back.departed_bytes),
        (5, 40 + 40 + 540 + 40 + 40)
    );
}

#[test]
fn a_response_carries_the_acknowledgement_that_is_held_back() {
    let source = trace(&[entry(ms(100.0), 500, Some(1000))]);
    let mut config = dumbbell(RATE, DELAY, drop_tail(50), 2);
    let delayed = Tcp {
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::Sack)
    };
    add_source(&mut config, "web", source, delayed);
    let (totals, records) = run(&config);
    // The request has no separate acknowledgement. The sender needs none and does not retransmit the request.
    assert_eq!(totals.links[0].total.departed_bytes, 40 + 1040 + 40);
    assert_eq!(
        totals.links[1].total.departed_bytes,
        40 + 40 + 540 + 40 + 40
    );
    assert_eq!(records.exchanges[0].timeouts, 0);
}

/// Checks that one connection can have exchanges of several kinds, as in Tmix: with a response, without a response, and
/// with a response of many segments to a request of one byte. Each exchange begins 5 ms after the end of the preceding
/// exchange.
#[test]
fn a_connection_may_have_exchanges_with_and_without_responses() {
    let kinds = [
        (500, Some(1000)),
        (3000, None),
        (40, None),
        (1, Some(20_000)),
        (700, Some(5000)),
    ];
    let entries = kinds
        .iter()
        .enumerate()
        .map(|(place, &(bytes, response))| TraceEntry {
            after: (place > 0).then_some(Span::from_millis(5)),
            ..entry(ms(100.0), bytes, response)
        });
    let entries: Vec<_> = entries.chain([entry(ms(200.0), 60, None)]).collect();
    for recovery in [Recovery::Sack, Recovery::RackTlp] {
        let mut config = dumbbell(RATE, DELAY, drop_tail(50), 5);
        add_source(
            &mut config,
            "tmix",
            Source::Vectors(entries.as_slice().into()),
            tcp(recovery),
        );
        let (totals, records) = run(&config);
        let told = |connection| {
            let of = records
                .exchanges
                .iter()
                .filter(move |one| one.connection == connection);
            of.map(|one| (one.request_bytes, one.response_bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(0), kinds);
        assert_eq!(told(1), [(60, None)]);
        let first: Vec<_> = records
            .exchanges
            .iter()
            .filter(|one| one.connection == 0)
            .collect();
        for pair in first.windows(2) {
            let ended = pair[0].end.expect("all are complete");
            assert_eq!(pair[1].start, ended + Span::from_millis(5));
        }
        assert!(
            records
                .exchanges
                .iter()
                .all(|one| one.end.is_some() && one.timeouts == 0)
        );
        assert_eq!(totals.flows[0].total.connections, 2);
        // All of this data goes from the second node to the first, including that of exchanges without a response.
        assert_eq!(
            totals.flows[0].total.delivered_bytes,
            500 + 3000 + 40 + 1 + 700 + 60 + 26_000
        );
    }
}

/// Checks that a response echoes a timestamp that arrived before the response left (RFC 7323 section 4.3). A tail loss
/// probe that arrives later does not change the measured round-trip time.
#[test]
fn a_response_echoes_what_had_come_when_it_left() {
    let tcp = Tcp {
        timestamps: Timestamps::Standard(12),
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::RackTlp)
    };
    let mut config = dumbbell(RATE, DELAY, drop_tail(50), 2);
    // The response takes 280 ms; the probe is sent after two round trips and the ACK delay.
    config.links[0].rate = Rate::from_bps(30_000);
    let slow_server = TraceEntry {
        server_delay: Span::from_millis(20),
        ..entry(ms(100.0), 500, Some(1000))
    };
    add_source(&mut config, "web", trace(&[slow_server]), tcp);
    let (totals, records) = run(&config);
    let exchange = records.exchanges[0];
    assert!(exchange.retransmitted_pkts > 0, "{exchange:?}");
    // The request was sent directly after the last packet of the handshake.
    let left = exchange.requested.expect("it has come").as_secs_f64() - way(52 + 552) / 1000.0;
    let answered = exchange.answered.expect("it has come").as_secs_f64();
    let largest = totals.flows[0].total.rtt_max.as_secs_f64();
    assert!((largest - (answered - left)).abs() < 1e-9, "{largest}");
}

#[test]
fn a_round_trip_of_its_own_comes_on_top_of_the_network_s() {
    let with_round_trip = |ms: f64| {
        let source = Requests {
            arrivals: Process::Independent(Distribution::Constant(1.0)),
            request: Process::Independent(Distribution::Constant(500.0)),
            response: Process::Independent(Distribution::Constant(1000.0)),
            server_delay: Distribution::Constant(0.0),
            round_trip: Process::Independent(Distribution::Constant(ms / 1000.0)),
            ..requests(1.0)
        };
        let (_, records) = run(&with(Source::Requests(source), 3));
        let exchange = records.exchanges[0];
        exchange
            .end
            .expect("it is over")
            .since(exchange.start)
            .as_secs_f64()
            * 1000.0
    };
    // The exchange takes one round trip for the handshake and one for the request and the response.
    let longer = with_round_trip(80.0) - with_round_trip(0.0);
    assert!((longer - 160.0).abs() < 1e-6, "{longer}");
}

#[test]
fn several_exchanges_share_a_connection() {
    let source = Requests {
        arrivals: Process::Independent(Distribution::Constant(0.5)),
        per_connection: Distribution::Constant(4.0),
        think: Distribution::Constant(0.1),
        ..requests(1.0)
    };
    let (totals, records) = run(&with(Source::Requests(source), 10));
    let done: Vec<&Exchange> = records
        .exchanges
        .iter()
        .filter(|e| e.end.is_some())
        .collect();
    let first: Vec<_> = done.iter().filter(|e| e.connection == 0).collect();
    assert_eq!(first.len(), 4);
    for pair in first.windows(2) {
        let pause = pair[1].start.since(pair[0].end.expect("it is over"));
        assert_eq!(pause, Span::from_millis(100));
        // On an open connection, the request takes one transit time.
        let asked = pair[1].requested.expect("asked").since(pair[1].start);
        assert!(asked < Span::from_millis(15), "{asked}");
    }
    assert_eq!(totals.flows[0].total.exchanges, done.len() as u64);
    assert_eq!(totals.flows[0].total.connections, 20);
}

/// With any losses, all requested data arrives, and the counters account for all packets.
#[test]
fn exchanges_survive_losses_and_leave_nothing_behind() {
    for recovery in [
        Recovery::NewReno,
        Recovery::Sack,
        Recovery::RackTlpPrr,
        Recovery::Ns2Sack,
    ] {
        let mut config = dumbbell(RATE, DELAY, drop_tail(20), 60);
        config.links[0].direction.loss = Loss::Bernoulli(0.03);
        config.links[1].direction.loss = Loss::Bernoulli(0.03);
        let source = Requests {
            per_connection: Distribution::Constant(3.0),
            think: Distribution::Exponential { mean: 0.5 },
            round_trip: Process::Independent(Distribution::Uniform(0.0, 0.05)),
            ..requests(100.0)
        };
        let timestamps = match recovery {
            Recovery::Sack => Timestamps::Standard(12),
            _ => Timestamps::Off,
        };
        let tcp = Tcp {
            timestamps,
            ..tcp(recovery)
        };
        add_source(&mut config, "web", Source::Requests(source), tcp);
        config.flows[0].stop = Some(Time::ZERO + Span::from_secs(20));
        let (totals, records) = run(&config);
        let flow = totals.flows[0].total;
        let asked = records.exchanges.iter();
        assert!(
            asked.clone().all(|exchange| exchange.end.is_some()),
            "{recovery:?}"
        );
        let bytes = asked.map(|e| e.request_bytes + e.response_bytes.expect("answered"));
        assert_eq!(flow.delivered_bytes, bytes.sum::<u64>(), "{recovery:?}");
        assert!(
            records
                .exchanges
                .iter()
                .any(|exchange| exchange.retransmitted_pkts > 0)
        );
        for link in &totals.links {
            let link = link.total;
            assert_eq!(link.arrived_pkts, link.departed_pkts + link.dropped_pkts());
        }
    }
}

/// All exchanges complete with every queue discipline. The many short connections reuse identifiers.
#[test]
fn connections_come_and_go_through_every_discipline() {
    for discipline in disciplines::all() {
        let mut config = with(Source::Requests(requests(20.0)), 20);
        let limit = Capacity::Packets(50);
        config.links[0].queue = discipline.config(limit, false, RATE, DELAY);
        config.flows[0].stop = Some(Time::ZERO + Span::from_secs(10));
        let (totals, records) = run(&config);
        assert!(records.exchanges.len() > 300, "{discipline:?}");
        let mut asked = records.exchanges.iter();
        assert!(
            asked.all(|exchange| exchange.end.is_some()),
            "{discipline:?}"
        );
        let link = totals.links[0].total;
        assert_eq!(link.arrived_pkts, link.departed_pkts + link.dropped_pkts());
    }
}

/// Checks that sources with the same seed make the same requests on any network. The responses are also the same if
/// their sizes are drawn with the requests. If they are drawn when requests arrive, congestion changes their order.
#[test]
fn the_network_does_not_change_what_is_asked_for() {
    let asked = |binding, rate| {
        let mut config = dumbbell(rate, DELAY, drop_tail(20), 30);
        let source = Requests {
            binding,
            ..requests(30.0)
        };
        add_source(
            &mut config,
            "web",
            Source::Requests(source),
            tcp(Recovery::Sack),
        );
        let (_, mut records) = run(&config);
        records
            .exchanges
            .sort_by_key(|exchange| exchange.connection);
        let sizes = records.exchanges.iter();
        let sizes = sizes.map(|e| (e.start, e.request_bytes, e.response_bytes));
        sizes.take(500).collect::<Vec<_>>()
    };
    let (slow, fast) = (Rate::from_bps(2_000_000), Rate::from_bps(100_000_000));
    let requests = |sizes: &[(Time, u64, Option<u64>)]| -> Vec<_> {
        sizes
            .iter()
            .map(|&(time, request, _)| (time, request))
            .collect()
    };
    let responses = |sizes: &[(Time, u64, Option<u64>)]| -> Vec<_> {
        sizes
            .iter()
            .filter_map(|&(_, _, response)| response)
            .collect()
    };
    let with_request = [slow, fast].map(|rate| asked(Binding::WithRequest, rate));
    let on_arrival = [slow, fast].map(|rate| asked(Binding::OnArrival, rate));
    assert_eq!(requests(&with_request[0]), requests(&with_request[1]));
    assert_eq!(requests(&with_request[0]), requests(&on_arrival[0]));
    assert_eq!(responses(&with_request[1]), {
        let known = responses(&with_request[0]).len();
        responses(&with_request[0])[..known.min(500)].to_vec()
    });
    assert_ne!(responses(&on_arrival[0]), responses(&on_arrival[1]));
}

#[test]
fn a_run_stops_after_enough_exchanges() {
    let with_rule = |p99_above, longest_above| {
        let mut config = with(Source::Requests(requests(20.0)), 100);
        add_flows(
            &mut config,
            "bulk",
            1,
            AT_ONCE,
            Tcp {
                receive_window: 3,
                ..tcp(Recovery::Sack)
            },
        );
        config.measure.from = ms(2000.0);
        config.measure.stop = Some(StopRule {
            exchanges: 500,
            flows: vec![0],
            p99_above: Some(p99_above),
            longest_above: Some(longest_above),
            start_within: None,
        });
        run(&config)
    };
    let (totals, records) = with_rule(20_000, 100_000);
    let counted = records.exchanges.iter().filter(|e| e.start >= ms(2000.0));
    let ends: Vec<Time> = counted.filter_map(|exchange| exchange.end).collect();
    assert_eq!(ends.len(), 500);
    // The run stops with the last of these exchanges, although other exchanges continue.
    assert_eq!(totals.end, *ends.last().expect("500 of them"));
    assert!(totals.end < ms(20_000.0) && !totals.stopped);
    assert_eq!(totals.run_warnings, Vec::<String>::new());
    // No response is longer than 200 kB.
    let (totals, _) = with_rule(150_000, 200_000);
    assert_eq!(totals.run_warnings.len(), 2);
    assert!(totals.run_warnings[0].contains("99th percentile"));
    assert!(totals.run_warnings[1].contains("no response above 200000 B"));
}

/// Checks that the times for which senders are limited, and the integral of their windows, do not depend on when the
/// connection opens. The time before the opening does not count.
#[test]
fn times_limited_do_not_depend_on_when_a_connection_opens() {
    let counted = |open_ms| {
        let source = trace(&[entry(ms(open_ms), 500, Some(100_000))]);
        let total = run(&with(source, 4)).0.flows[0].total;
        (total.limited, total.cwnd_integral)
    };
    let ((early, windows), (late, later_windows)) = (counted(100.0), counted(2100.0));
    assert!(early.network > Span::ZERO && windows > 0.0);
    assert_eq!(late, early);
    assert!(
        (later_windows / windows - 1.0).abs() < 1e-9,
        "{windows} {later_windows}"
    );
}

/// Checks that only the traced connection of a source has records: its window and its segments in flight at each
/// acknowledgement.
#[test]
fn one_connection_of_a_source_is_traced() {
    let entries = [0.0, 300.0, 600.0].map(|at| entry(ms(at), 500, Some(20_000)));
    let mut config = with(trace(&entries), 2);
    config.flows[0].traced = vec![1];
    let traces = results(&config).traces;
    let of = |name| traces.iter().filter(move |trace| trace.quantity == name);
    assert!(traces.iter().all(|trace| trace.connection == 1));
    assert!(of("cwnd").count() > 5);
    assert_eq!(of("cwnd").count(), of("in_flight").count());
    assert!(of("in_flight").any(|trace| trace.value > 1.0));
}
