//! Tests of connections that are limited by pauses of the application or by the receive window, not by the network.

mod common;

use common::proxies::split;
use common::{AT_ONCE, Records, add_flows, add_source, controller, drop_tail, dumbbell, run, tcp};
use longhaul_congestion::{SlowStart, SlowStartSpec, Variant};
use longhaul_engine::Config;
use longhaul_engine::config::{
    Binding, Bursts, Distribution, IdleRestart, Messages, Pacing, Process, Recovery, Requests,
    Source, Start, Tcp, Transport,
};
use longhaul_units::{Rate, Span, Time};

const CONSTANT: fn(f64) -> Process = |value| Process::Independent(Distribution::Constant(value));

/// Pacing at a rate slightly above the window divided by the round-trip time.
const PACING: Option<Pacing> = Some(Pacing {
    slow_start: 1.25,
    avoidance: 1.25,
    min_burst: 1,
    burst_time: Span::ZERO,
    after: 0,
});

const RECOVERIES: [Recovery; 8] = [
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
    Recovery::SackPrr,
    Recovery::Fack,
    Recovery::RackTlp,
    Recovery::RackTlpPrr,
];

/// Returns a path of 10 Gbit/s and 100 ms. Each connection has two exchanges, with a pause of 12 s between them.
fn two_exchanges(request: f64, response: f64, tcp: Tcp) -> Config {
    let (rate, delay) = (Rate::from_bps(10_000_000_000), Span::from_millis(50));
    let mut config = dumbbell(rate, delay, drop_tail(100_000), 30);
    let requests = Requests {
        arrivals: CONSTANT(15.0),
        request: CONSTANT(request),
        response: CONSTANT(response),
        binding: Binding::WithRequest,
        server_delay: Distribution::Constant(0.0),
        round_trip: CONSTANT(0.0),
        per_connection: Distribution::Constant(2.0),
        think: Distribution::Constant(12.0),
    };
    add_source(&mut config, "web", Source::Requests(requests), tcp);
    config
}

/// Returns the durations of the two exchanges of the first connection, in seconds from the request.
fn durations(records: &Records) -> [f64; 2] {
    let of_first: Vec<f64> = records
        .exchanges
        .iter()
        .filter(|exchange| exchange.connection == 0)
        .map(|exchange| {
            exchange
                .end
                .expect("it ends")
                .since(exchange.start)
                .as_secs_f64()
        })
        .collect();
    of_first.try_into().expect("two exchanges")
}

/// Checks that the window is reset when the sender has sent nothing for a retransmission timeout (RFC 5681 section 4.1,
/// last paragraph). Packets that arrive at the sender in this time make no difference: neither requests at the server
/// nor responses at the client.
#[test]
fn a_second_exchange_starts_over_after_an_idle_timeout() {
    for (request, response) in [(400.0, 1e6), (1e6, 400.0)] {
        for recovery in RECOVERIES {
            let at = |idle_restart| {
                let tcp = Tcp {
                    initial_window: 10.0,
                    idle_restart,
                    ..tcp(recovery)
                };
                let (_, records) = run(&two_exchanges(request, response, tcp));
                let [first, second] = durations(&records);
                first - second
            };
            let handshake = 0.1;
            let what = format!("{recovery:?}, {request} bytes");
            for restarts in [IdleRestart::InitialWindow, IdleRestart::Halved] {
                let saved = at(restarts) - handshake;
                assert!(saved.abs() < 0.005, "{what}, {restarts:?}: {saved} s");
            }
            // Slow start takes six round trips for 685 segments.
            let saved = at(IdleRestart::None) - handshake;
            assert!((saved - 0.5).abs() < 0.11, "{what}: {saved} s");
        }
    }
}

/// Checks that the connection between the nodes of a proxy resets its window after an idle time, as other connections
/// do.
#[test]
fn a_proxy_starts_over_after_an_idle_timeout() {
    let tcp = Tcp {
        initial_window: 10.0,
        ..tcp(Recovery::Sack)
    };
    let mut config = two_exchanges(400.0, 1e6, tcp);
    split(&mut config);
    let times = |idle_restart| {
        let mut config = config.clone();
        for proxy in &mut config.proxies {
            let tcp = (*proxy.tcp).clone();
            proxy.tcp = Tcp {
                idle_restart,
                ..tcp
            }
            .into();
        }
        durations(&run(&config).1)
    };
    let (kept, restarted) = (times(IdleRestart::None), times(IdleRestart::InitialWindow));
    assert!(restarted[1] > kept[1] + 0.2, "{restarted:?} s, {kept:?} s");
}

/// Returns a network of 50 Mbit/s with a round-trip time of 100 ms and one flow, which uses Careful Resume.
fn resumed(saved_cwnd: f64, queue: u64, receive_window: u64, ssthresh: Option<f64>) -> Config {
    let (rate, delay) = (Rate::from_bps(50_000_000), Span::from_millis(50));
    let mut config = dumbbell(rate, delay, drop_tail(queue), 6);
    let spec = SlowStartSpec {
        kind: "careful-resume".to_string(),
        parameters: vec![
            ("saved_cwnd".to_string(), saved_cwnd),
            ("saved_rtt".to_string(), 0.1),
        ],
    };
    let tcp = Tcp {
        initial_window: 10.0,
        receive_window,
        initial_ssthresh: ssthresh,
        congestion: controller("cubic", Variant::Paper, &[]),
        slow_start: spec.build().expect("a registered slow start"),
        pacing: PACING,
        ..tcp(Recovery::Sack)
    };
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp);
    config
}

/// Checks that, if a jump of Careful Resume (RFC 9959) leads to a loss, the window is then half of the data
/// acknowledged since the jump. The slow start threshold makes no difference.
#[test]
fn a_jump_above_the_threshold_retreats_to_half_of_what_fitted() {
    // The jump is to 1668 segments, but the path holds 417 segments, and its queue another 417.
    let retreat = |receive_window, ssthresh| {
        let (totals, records) = run(&resumed(3336.0, 417, receive_window, ssthresh));
        let cut = records
            .events
            .iter()
            .find(|event| event.cwnd_after < event.cwnd_before);
        let cut = cut.expect("the jump does not fit");
        (cut.cwnd_after, totals.flows[0].total.delivered_bytes)
    };
    let (unlimited, delivered) = retreat(100_000, None);
    assert!((250.0..300.0).contains(&unlimited), "{unlimited} segments");
    // The default slow start threshold is the receive window.
    for (receive_window, ssthresh) in [(1666, None), (100_000, Some(50.0))] {
        let (limited, bytes) = retreat(receive_window, ssthresh);
        assert!((limited - unlimited).abs() < 5.0, "{limited} segments");
        assert!(
            bytes as f64 > 0.9 * delivered as f64,
            "{bytes} of {delivered} bytes"
        );
    }
}

/// In RFC 9959's Validating phase, the window becomes the number of segments in flight, which the receive window
/// limits.
#[test]
fn a_jump_beyond_the_receive_window_becomes_what_is_in_flight() {
    let (totals, records) = run(&resumed(4000.0, 2085, 900, None));
    assert_eq!(totals.flows[0].total.retransmitted_pkts, 0);
    let later = records
        .flows
        .iter()
        .filter(|sample| sample.time > Time::ZERO + Span::from_secs(1));
    for sample in later {
        assert_eq!((sample.cwnd, sample.in_flight), (Some(900.0), 900));
    }
}

/// Returns a network with a pausing application. It passes `segments` segments to its transport every `pause_s`
/// seconds, over 1 Gbit/s and 100 ms.
fn pausing_application(slow_start: SlowStart, segments: u64, pause_s: f64) -> Config {
    let (rate, delay) = (Rate::from_bps(1_000_000_000), Span::from_millis(50));
    let mut config = dumbbell(rate, delay, drop_tail(10_000), 30);
    let tcp = Tcp {
        initial_window: 10.0,
        slow_start,
        pacing: PACING,
        ..tcp(Recovery::Sack)
    };
    let message_bytes = segments * 1460;
    let messages = Messages {
        rate: Rate::from_bps((message_bytes as f64 * 8.0 / pause_s) as u64),
        message_bytes,
        bursts: Bursts {
            on: Distribution::Constant(1000.0),
            off: Distribution::Constant(0.5),
        },
        whole_segments: false,
    };
    add_flows(&mut config, "flow", 1, AT_ONCE, tcp.clone());
    config.flows[0].transport = Transport::Messages(tcp.into(), messages);
    config
}

/// Checks that pauses of an application neither end slow start nor let an unused window grow. With pauses of a tenth of
/// a round trip, the window stays constant. With pauses longer than a timeout, the window is at most 80 segments, twice
/// the 40 segments of a message.
#[test]
fn an_application_that_pauses_neither_ends_slow_start_nor_enlarges_the_window_without_use() {
    let saved = ("saved_cwnd".to_string(), 1000.0);
    for (kind, parameters) in [
        ("standard", vec![]),
        ("hystart++", vec![]),
        ("search", vec![]),
        ("rapid-start", vec![]),
        ("careful-resume", vec![saved]),
    ] {
        let kind = kind.to_string();
        let spec = SlowStartSpec { kind, parameters };
        let slow_start = spec.build().expect("a registered slow start");
        for (segments, pause_s) in [(8, 0.01), (40, 3.0)] {
            let (_, records) = run(&pausing_application(slow_start.clone(), segments, pause_s));
            let settled = Time::ZERO + Span::from_secs(5);
            let mut later = records.flows.iter().filter(|sample| sample.time > settled);
            let first = later
                .next()
                .and_then(|sample| sample.cwnd)
                .expect("a window");
            for sample in later {
                let what = format!("{}, {pause_s} s, {:?}", spec.kind, sample.time);
                let cwnd = sample.cwnd.expect("a window");
                if pause_s < 1.0 {
                    assert_eq!(cwnd, first, "{what}");
                } else {
                    assert!(cwnd <= 80.0, "{what}: {cwnd} segments");
                }
                assert_eq!(sample.ssthresh, Some(100_000.0), "{what}");
            }
        }
    }
}

/// Checks that slow start does not raise a window of more than twice the segments in flight, however large its step is
/// (as in Linux).
#[test]
fn a_fast_slow_start_does_not_enlarge_a_window_that_is_not_used() {
    // Hybla begins with 24 segments at a round-trip time of 600 ms, and its first step is 2^16 - 1. No second step may
    // follow, since only the 690 segments of the receive window are in flight.
    for (algorithm, slow_start, largest) in [
        ("hybla", "standard", 24.0 + 65_535.0 + 1.0),
        ("cubic", "rapid-start", 2.0 * 690.0 + 2.0),
    ] {
        let (rate, delay) = (Rate::from_bps(1_000_000_000), Span::from_millis(300));
        let mut config = dumbbell(rate, delay, drop_tail(10_000), 30);
        let spec = SlowStartSpec {
            kind: slow_start.to_string(),
            parameters: Vec::new(),
        };
        let tcp = Tcp {
            initial_window: 10.0,
            initial_ssthresh: Some(1e9),
            receive_window: 690,
            growth_beyond_use: true,
            congestion: controller(algorithm, Variant::Paper, &[]),
            slow_start: spec.build().expect("a registered slow start"),
            ..tcp(Recovery::RackTlp)
        };
        add_flows(&mut config, "flow", 1, AT_ONCE, tcp);
        let (_, records) = run(&config);
        let windows = records.flows.iter().filter_map(|sample| sample.cwnd);
        let found = windows.fold(0.0, f64::max);
        assert!(
            (690.0..=largest).contains(&found),
            "{algorithm}: {found} segments"
        );
    }
}

/// Checks that the times for which a flow is limited by the network, by the receive window and by the application add
/// up to the duration of the flow.
#[test]
fn times_limited_sum_to_the_life_of_a_flow() {
    for recovery in RECOVERIES {
        let mut config = dumbbell(
            Rate::from_bps(10_000_000),
            Span::from_millis(10),
            drop_tail(20),
            20,
        );
        let transfer = Tcp {
            transfer: Some(300_000),
            ..tcp(recovery)
        };
        let narrow = Tcp {
            receive_window: 4,
            ..tcp(recovery)
        };
        let late = Start::At(Time::from_secs_f64(1.5));
        for (number, tcp) in [tcp(recovery), transfer, narrow].into_iter().enumerate() {
            add_flows(&mut config, &format!("{number}"), 1, late, tcp);
        }
        for flow in run(&config).0.flows {
            let limited = flow.total.limited;
            let sum = limited.network + limited.receive_window + limited.application;
            let end = flow.finish.unwrap_or(config.duration);
            assert_eq!(sum, end.since(flow.start), "{recovery:?}: {limited:?}");
        }
    }
}
