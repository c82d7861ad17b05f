//! Connections that open and close on behalf of applications.

mod common;

use common::disciplines;
use common::{
    AT_ONCE, add_access, add_datagrams, add_equal_access, add_flows, add_own_access, add_source,
    delayed_ack, drop_tail, dumbbell, results, run, serve_explicitly, tcp,
};
use longhaul_engine::config::{
    Binding, Bursts, Distribution, Link, Messages, Process, Recovery, Requests, Source, Start,
    StopRule, Tcp, Timestamps, TraceEntry, Transport, Web,
};
use longhaul_engine::measure::{Exchange, NoRecorder};
use longhaul_engine::queue::Capacity;
use longhaul_engine::{Config, DelayBox, Loss, simulation};
use longhaul_units::{Rate, Span, Time};

const RATE: Rate = Rate::from_bps(10_000_000);
const DELAY: Span = Span::from_millis(10);

fn ms(ms: f64) -> Time {
    Time::from_secs_f64(ms / 1000.0)
}

/// Returns the transit time of a packet of this many bytes, in milliseconds.
fn way(bytes: u64) -> f64 {
    10.0 + bytes as f64 * 8.0 / 10_000.0
}

fn entry(time: Time, request_bytes: u64, response_bytes: Option<u64>) -> TraceEntry {
    TraceEntry {
        after: None,
        time,
        request_bytes,
        response_bytes,
        server_delay: Span::from_millis(3),
    }
}

fn trace(entries: &[TraceEntry]) -> Source {
    Source::Trace(entries.into())
}

/// Returns connections that begin every `every_ms` on average, with small requests and responses of half a segment
/// to many.
fn requests(every_ms: f64) -> Requests {
    Requests {
        arrivals: Process::Independent(Distribution::Exponential {
            mean: every_ms / 1000.0,
        }),
        request: Process::Independent(Distribution::Uniform(100.0, 3000.0)),
        response: Process::Independent(Distribution::BoundedPareto {
            min: 700.0,
            max: 200_000.0,
            shape: 1.1,
        }),
        binding: Binding::WithRequest,
        server_delay: Distribution::Uniform(0.0, 0.02),
        round_trip: Process::Independent(Distribution::Constant(0.0)),
        per_connection: Distribution::Constant(1.0),
        think: Distribution::Constant(0.0),
    }
}

fn with(source: Source, seconds: u64) -> Config {
    let mut config = dumbbell(RATE, DELAY, drop_tail(50), seconds);
    add_source(&mut config, "web", source, tcp(Recovery::Sack));
    config
}

#[test]
fn an_exchange_takes_what_its_packets_take() {
    let source = trace(&[entry(ms(100.0), 500, Some(1000))]);
    let (totals, records) = run(&with(source, 2));
    let [exchange] = records.exchanges[..] else {
        panic!("{:?}", records.exchanges);
    };
    // The SYN, its answer and its acknowledgement, directly followed by the request; three milliseconds, the
    // response.
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
    // Forward: the answer to the SYN, the acknowledgement of the request, the response with the server's FIN, the
    // acknowledgement of the client's.
    let forward = totals.links[0].total;
    assert_eq!(
        (forward.departed_pkts, forward.departed_bytes),
        (4, 40 + 40 + 1040 + 40)
    );
    // Back: the SYN, the end of the handshake, the request, the acknowledgement of the response, the FIN.
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
    // There is no separate acknowledgement of the request; the sender needs none, and does not repeat it.
    assert_eq!(totals.links[0].total.departed_bytes, 40 + 1040 + 40);
    assert_eq!(
        totals.links[1].total.departed_bytes,
        40 + 40 + 540 + 40 + 40
    );
    assert_eq!(records.exchanges[0].timeouts, 0);
}

/// Exchanges of several kinds on one connection, as in Tmix: with a response, without one twice in a row, a
/// response of many segments to one byte, and another with one. Each begins its pause after the end of the one
/// before.
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
        // From the second node to the first, also without a response.
        assert_eq!(
            totals.flows[0].total.delivered_bytes,
            500 + 3000 + 40 + 1 + 700 + 60 + 26_000
        );
    }
}

/// A probe comes to the server while its response is in flight, and does not change the request's round trip: the
/// response echoes the timestamp that the server had when it left (RFC 7323 section 4.3).
#[test]
fn a_response_echoes_what_had_come_when_it_left() {
    let tcp = Tcp {
        timestamps: Timestamps::Standard(12),
        delayed_ack: Some(delayed_ack(Span::from_millis(100))),
        ..tcp(Recovery::RackTlp)
    };
    let mut config = dumbbell(RATE, DELAY, drop_tail(50), 2);
    // The response takes 280 ms, and the probe leaves after two round trips and the ACK delay.
    config.links[0].rate = Rate::from_bps(30_000);
    let slow_server = TraceEntry {
        server_delay: Span::from_millis(20),
        ..entry(ms(100.0), 500, Some(1000))
    };
    add_source(&mut config, "web", trace(&[slow_server]), tcp);
    let (totals, records) = run(&config);
    let exchange = records.exchanges[0];
    assert!(exchange.retransmitted_pkts > 0, "{exchange:?}");
    // The request left right behind the last packet of the handshake.
    let left = exchange.requested.expect("it has come").as_secs_f64() - way(52 + 552) / 1000.0;
    let answered = exchange.answered.expect("it has come").as_secs_f64();
    let largest = totals.flows[0].total.rtt_max.as_secs_f64();
    assert!((largest - (answered - left)).abs() < 1e-9, "{largest}");
}

fn add_delay_box(config: &mut Config, delay: &Distribution) {
    for link in &mut config.links {
        link.forward_name = "box".to_string();
        link.delay_box = Some(DelayBox {
            delay: Some(delay.clone()),
            symmetric: true,
            ..DelayBox::default()
        });
    }
}

/// Connections far apart, of which each crosses the link four times: the handshake, the request, the response. The
/// engine itself checks at the end that its boxes have forgotten them.
#[test]
fn every_connection_has_its_own_delay_of_a_box() {
    let entries: Vec<_> = (0..40)
        .map(|number| entry(ms(2000.0 * f64::from(number)), 500, Some(1000)))
        .collect();
    let durations_ms = |delay: Option<Distribution>| {
        let mut config = with(trace(&entries), 82);
        if let Some(delay) = delay {
            add_delay_box(&mut config, &delay);
        }
        let (_, records) = run(&config);
        let durations = records.exchanges.iter().map(|exchange| {
            let end = exchange.end.expect("it is over");
            end.since(exchange.start).as_secs_f64() * 1000.0
        });
        let durations: Vec<f64> = durations.collect();
        assert_eq!(durations.len(), 40);
        durations
    };
    let plain = durations_ms(None)[0];
    let constant = Distribution::Constant(0.05);
    for duration in durations_ms(Some(constant)) {
        assert!((duration - plain - 200.0).abs() < 1e-6, "{duration}");
    }
    let (from, to) = (0.0, 0.1);
    let uniform = Distribution::Uniform(from, to);
    let mut drawn_ms: Vec<f64> = durations_ms(Some(uniform));
    drawn_ms.iter_mut().for_each(|ms| *ms = (*ms - plain) / 4.0);
    drawn_ms.sort_by(f64::total_cmp);
    assert!(drawn_ms[0] >= -1e-6 && drawn_ms[39] < 100.0, "{drawn_ms:?}");
    assert!(
        drawn_ms.windows(2).all(|pair| pair[1] > pair[0]),
        "{drawn_ms:?}"
    );
    // The standard error of the mean is 100/sqrt(12 * 40) = 4.6 ms.
    let mean = drawn_ms.iter().sum::<f64>() / 40.0;
    assert!((mean - 50.0).abs() < 14.0, "{mean}");
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
    // A round trip for the handshake, one for request and response.
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

/// All requested data arrives with any losses, and all packets are accounted for.
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

/// Ids of short connections are reused many times, in every queue.
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

/// The ends of these connections are not known beforehand; lookahead must not skip them. Explicit service does not
/// look ahead.
#[test]
fn looking_ahead_changes_nothing() {
    let mut config = dumbbell(RATE, DELAY, drop_tail(30), 20);
    let bulk = Tcp {
        receive_window: 12,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "bulk", 2, AT_ONCE, bulk);
    add_source(
        &mut config,
        "web",
        Source::Requests(requests(50.0)),
        tcp(Recovery::Sack),
    );
    add_access(&mut config, Span::from_millis(2));
    let ahead = results(&config);
    serve_explicitly(&mut config);
    // The records are not printed if they differ.
    assert!(ahead == results(&config));
    assert!(ahead.exchanges.len() > 300);
}

/// The number of progress reports that count packets depends on the wall clock. With windows that grow by
/// fractions, sums over other intervals would show.
#[test]
fn whether_progress_is_asked_for_changes_nothing() {
    let config = with(trace(&[entry(Time::ZERO, 100, Some(20_000_000))]), 20);
    let (asked, records) = run(&config);
    assert!(records.data_packets > 10_000);
    assert_eq!(simulation::run(&config, &mut NoRecorder).unwrap(), asked);
}

/// Equal seeds give the same requests on any network; unless the server draws its responses, so that congestion
/// decides which request gets which.
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
fn data_one_way_needs_no_answer() {
    let source = trace(&[entry(ms(50.0), 100_000, None), entry(ms(60.0), 10, None)]);
    let (totals, records) = run(&with(source, 3));
    assert_eq!(records.exchanges.len(), 2);
    // The small exchange overtakes the large one, and is recorded first.
    assert_eq!(
        records
            .exchanges
            .iter()
            .map(|e| e.connection)
            .collect::<Vec<_>>(),
        [1, 0]
    );
    assert!(
        records
            .exchanges
            .iter()
            .all(|e| e.end.is_some() && e.response_bytes.is_none())
    );
    assert_eq!(totals.flows[0].total.delivered_bytes, 100_010);
    // The data goes in the flow's direction.
    assert!(totals.links[0].total.departed_bytes > 100_000);
}

/// The web flows of a master thesis (University of Innsbruck, 2009): 500 sources offer 64 kbit/s half the time. As
/// a stream of bytes that is 32 kbit/s each; rounded up to whole segments of 1000 bytes it is 152.4.
#[test]
fn messages_offer_what_their_bursts_do() {
    let delivered = |whole_segments| {
        let mut config = dumbbell(Rate::from_bps(1_000_000_000), DELAY, drop_tail(10_000), 40);
        config.measure.every = None;
        config.measure.from = Time::ZERO + Span::from_secs(5);
        let tcp = Tcp {
            mss_bytes: 1000,
            ..tcp(Recovery::Sack)
        };
        add_flows(&mut config, "bursts", 500, AT_ONCE, tcp);
        let mean = Distribution::Exponential { mean: 0.5 };
        let messages = Messages {
            rate: Rate::from_bps(64_000),
            message_bytes: 210,
            bursts: Bursts {
                on: mean.clone(),
                off: mean,
            },
            whole_segments,
        };
        for flow in &mut config.flows {
            let Transport::Tcp(tcp) = flow.transport.clone() else {
                unreachable!("these flows are TCP");
            };
            flow.transport = Transport::Messages(tcp, messages.clone());
        }
        let (totals, _) = run(&config);
        let bytes = totals.flows.iter().map(|flow| flow.window.delivered_bytes);
        bytes.sum::<u64>() as f64 * 8.0 / 35.0
    };
    // Both draw the same bursts; the rate of 500 sources over 35 s has a deviation of half a percent.
    let (stream, whole) = (delivered(false), delivered(true));
    assert!((stream / (500.0 * 32_000.0) - 1.0).abs() < 0.02, "{stream}");
    assert!(
        (whole / stream / (1000.0 / 210.0) - 1.0).abs() < 0.001,
        "{whole} for {stream}"
    );
}

#[test]
fn datagrams_come_in_bursts() {
    let mut config = dumbbell(Rate::from_bps(1_000_000_000), DELAY, drop_tail(10_000), 200);
    config.measure.every = None;
    add_datagrams(&mut config, Rate::from_bps(8_000_000));
    let Transport::Udp(udp) = &mut config.flows[0].transport else {
        unreachable!("datagrams are UDP");
    };
    udp.bursts = Some(Bursts {
        on: Distribution::Constant(0.1),
        off: Distribution::Constant(0.3),
    });
    let (totals, _) = run(&config);
    // A hundred packets of 1000 bytes every 400 ms.
    assert_eq!(totals.flows[0].total.sent_pkts, 50_000);
}

/// Returns a session as in ns-2's WebTraf: pages of objects, each over a connection of its own that the server
/// opens when the request is acknowledged.
fn session(separate: bool) -> Web {
    Web {
        pages: 20,
        inter_page: Distribution::Constant(0.2),
        objects: Distribution::Constant(3.0),
        inter_object: Distribution::Constant(0.01),
        object: Distribution::Uniform(1000.0, 40_000.0),
        whole_units_of: Some(1460),
        request_bytes: 1460,
        separate,
    }
}

#[test]
fn a_session_asks_for_pages_of_objects() {
    for separate in [false, true] {
        let (totals, records) = run(&with(Source::Web(session(separate)), 60));
        assert_eq!(records.exchanges.len(), 60);
        assert!(records.exchanges.iter().all(|object| object.end.is_some()));
        let sizes = records
            .exchanges
            .iter()
            .filter_map(|object| object.response_bytes);
        assert!(sizes.clone().all(|bytes| bytes % 1460 == 0));
        let bytes = 60 * 1460 + sizes.sum::<u64>();
        assert_eq!(totals.flows[0].total.delivered_bytes, bytes);
        // A page follows the last object of the one before it.
        let mut by_start = records.exchanges.clone();
        by_start.sort_by_key(|object| object.start);
        for pages in by_start.chunks(3).collect::<Vec<_>>().windows(2) {
            let ends = pages[0].iter().filter_map(|object| object.end);
            let pause = pages[1][0].start.since(ends.max().expect("three objects"));
            assert_eq!(pause, Span::from_millis(200));
        }
    }
}

#[test]
fn an_object_over_a_connection_of_its_own_takes_another_handshake() {
    let first = |separate| {
        let (_, records) = run(&with(Source::Web(session(separate)), 60));
        let first = records
            .exchanges
            .iter()
            .min_by_key(|object| object.start)
            .expect("objects");
        first
            .answered
            .expect("it has come")
            .since(first.start)
            .as_secs_f64()
            * 1000.0
    };
    // The acknowledgement of the request, the SYN and its answer come first, then data; without separate
    // connections, data follows that acknowledgement at once. One-way agents have no end of the handshake, which
    // here comes before the request.
    let longer = first(true) - first(false);
    assert!(
        (longer - (3.0 * way(40) - 2.0 * 0.032)).abs() < 1e-6,
        "{longer}"
    );
}

/// 1.6 seconds of slow start, and nothing after (LBNL-52549, 2003: the perturbations of its experiments).
#[test]
fn a_perturbation_leaves_no_trace() {
    let mut config = with(Source::CutOff(Span::from_millis(1600)), 10);
    config.flows[0].start = Start::At(ms(1000.0));
    let (totals, records) = run(&config);
    assert_eq!(records.exchanges, []);
    let sent = |at: f64| {
        let sample = records.flows.iter().find(|sample| sample.time == ms(at));
        sample.expect("a sample").sent_pkts
    };
    assert_eq!(sent(1000.0), 0);
    assert!(sent(2600.0) > 500);
    // Nothing is retransmitted, although the queue has dropped much.
    assert_eq!(sent(2700.0), totals.flows[0].total.sent_pkts);
    assert!(totals.links[0].total.dropped_overflow_pkts > 0);
    let last = records.flows.last().expect("samples");
    assert_eq!((last.in_flight, last.sent_pkts), (0, sent(2700.0)));
    let link = totals.links[0].total;
    assert_eq!(link.arrived_pkts, link.departed_pkts + link.dropped_pkts());
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
    // The run stops with the last of them, although other exchanges continue.
    assert_eq!(totals.end, *ends.last().expect("500 of them"));
    assert!(totals.end < ms(20_000.0) && !totals.stopped);
    assert_eq!(totals.run_warnings, Vec::<String>::new());
    // No response is longer than 200 kB.
    let (totals, _) = with_rule(150_000, 200_000);
    assert_eq!(totals.run_warnings.len(), 2);
    assert!(totals.run_warnings[0].contains("99th percentile"));
    assert!(totals.run_warnings[1].contains("no response above 200000 B"));
}

/// Packets are forwarded without events if nothing can interfere, to connections that hold them back and, until it
/// is known that a run may end, also beyond that. Links whose packets are recorded do not look ahead.
#[test]
fn working_ahead_changes_nothing_however_a_run_ends() {
    for (seed, (stops, boxed)) in
        (1..7).zip([(false, false), (true, false), (true, true)].repeat(2))
    {
        let far = Requests {
            round_trip: Process::Independent(Distribution::Exponential { mean: 0.03 }),
            ..requests(15.0)
        };
        let near = Requests {
            per_connection: Distribution::Constant(3.0),
            think: Distribution::Uniform(0.0, 0.05),
            ..requests(40.0)
        };
        let mut config = with(Source::Requests(far), 12);
        add_source(
            &mut config,
            "near",
            Source::Requests(near),
            tcp(Recovery::Sack),
        );
        add_own_access(&mut config, Span::from_millis(3));
        config.seed = seed;
        config.measure.from = ms(2000.0);
        config.measure.every = Some(Span::from_millis(70));
        if stops {
            config.measure.stop = Some(StopRule {
                exchanges: 900 + 31 * seed,
                flows: vec![0, 1],
                p99_above: None,
                longest_above: None,
                start_within: None,
            });
        }
        if boxed {
            config.links[0].delay_box = Some(DelayBox {
                delay: Some(Distribution::Uniform(0.0, 0.02)),
                loss: Some(Distribution::Uniform(0.0, 0.02)),
                ..DelayBox::default()
            });
        }
        let mut on_time = config.clone();
        on_time
            .links
            .iter_mut()
            .for_each(|link| link.captured = true);
        let ((mut one, _), (mut two, _)) = (run(&config), run(&on_time));
        assert!(
            one.events < two.events * 3 / 4,
            "{} {}",
            one.events,
            two.events
        );
        assert_eq!(one.end < ms(12_000.0), stops);
        for totals in [&mut one, &mut two] {
            totals.events = 0;
            totals.events_pending_max = 0;
        }
        assert_eq!(one, two);
        let (one, mut two) = (results(&config), results(&on_time));
        two.packets.clear();
        assert_eq!(one, two);
    }
}

/// Packets go into boxes that only delay them ahead of time, with the same results as at their own turn; they go
/// at their turn as soon as ACKs have processing delays, which are zero here. Connections close while their
/// packets are on their way to a box; and if all links have the same rate and no delay, at the very time at which
/// the packets come.
#[test]
fn delay_boxes_that_are_entered_ahead_change_nothing() {
    for seed in 1..5 {
        let outcome = |processing_delay: Option<Distribution>| {
            let mut config = dumbbell(RATE, Span::ZERO, drop_tail(8), 60);
            for (name, every_ms) in [("there", 7.0), ("back", 9.0)] {
                let source = Source::Requests(requests(every_ms));
                add_source(&mut config, name, source, tcp(Recovery::Reno));
            }
            let back = &mut config.flows[1];
            (back.from, back.to) = (back.to, back.from);
            add_equal_access(&mut config, Span::ZERO);
            let delay = Distribution::Uniform(0.0, 0.05);
            add_delay_box(&mut config, &delay);
            for link in &mut config.links[2..] {
                link.delay_box = None;
            }
            for link in &mut config.links[..2] {
                link.host_processing_delay.clone_from(&processing_delay);
            }
            config.seed = seed;
            config.measure.every = Some(Span::from_millis(130));
            let (totals, records) = run(&config);
            assert!(totals.links[0].total.dropped_overflow_pkts > 100);
            (totals, records)
        };
        let (mut ahead, records_ahead) = outcome(None);
        let (mut in_turn, records_in_turn) = outcome(Some(Distribution::Constant(0.0)));
        let events = [ahead.events, in_turn.events];
        assert!(events[0] < events[1] * 4 / 5, "{events:?}");
        for totals in [&mut ahead, &mut in_turn] {
            (totals.events, totals.events_pending_max) = (0, 0);
        }
        assert_eq!(ahead, in_turn, "seed {seed}");
        assert_eq!(records_ahead, records_in_turn, "seed {seed}");
    }
}

/// Packets that ends will delay go to those ends ahead of time, but only these packets: a packet that passes the
/// ends' node on its way to another competes there, at its turn, with packets that start there.
#[test]
fn packets_that_pass_ends_with_delays_keep_their_turn() {
    let delayed = |every_ms| {
        Source::Requests(Requests {
            round_trip: Process::Independent(Distribution::Uniform(0.01, 0.1)),
            ..requests(every_ms)
        })
    };
    let mut config = with(delayed(60.0), 8);
    add_source(&mut config, "passing", delayed(60.0), tcp(Recovery::Sack));
    add_flows(&mut config, "beside", 2, AT_ONCE, tcp(Recovery::Sack));
    let far = config.nodes.len();
    config.nodes.push("far".to_string());
    for (name, from, to) in [("on", 1, far), ("from far", far, 1)] {
        let link = Link {
            name: name.to_string(),
            from,
            to,
            rate: RATE,
            ..config.links[0].clone()
        };
        config.links.push(link);
    }
    for (flow, from) in [(1, 0), (2, 1), (3, 1)] {
        (config.flows[flow].from, config.flows[flow].to) = (from, far);
    }
    let mut on_time = config.clone();
    on_time
        .links
        .iter_mut()
        .for_each(|link| link.captured = true);
    let (ahead, mut on_time) = (results(&config), results(&on_time));
    on_time.packets.clear();
    assert_eq!(ahead, on_time);
}

/// The answering side of a connection counts from the moment it joins: what limited it is the same however late in the
/// run the connection opens.
#[test]
fn times_limited_do_not_depend_on_when_a_connection_opens() {
    let limited = |open_ms| {
        let source = trace(&[entry(ms(open_ms), 500, Some(100_000))]);
        run(&with(source, 4)).0.flows[0].total.limited
    };
    let early = limited(100.0);
    assert!(early.network > Span::ZERO);
    assert_eq!(limited(2100.0), early);
}

/// A traced connection of a source, and no other, records its window and its segments in flight at each
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
