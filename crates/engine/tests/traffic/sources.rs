//! Tests of sources other than requests: one-way data, messages, datagrams, web pages and perturbations.

use crate::common::{AT_ONCE, add_datagrams, add_flows, drop_tail, dumbbell, run, tcp};
use crate::{DELAY, entry, ms, trace, way, with};
use longhaul_engine::config::{
    Bursts, Distribution, Messages, Recovery, Source, Start, Tcp, Transport, Web,
};
use longhaul_units::{Rate, Span, Time};

#[test]
fn data_one_way_needs_no_answer() {
    let source = trace(&[entry(ms(50.0), 100_000, None), entry(ms(60.0), 10, None)]);
    let (totals, records) = run(&with(source, 3));
    assert_eq!(records.exchanges.len(), 2);
    // The small exchange ends before the large one and is recorded first.
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
    // The data is sent in the direction of the flow.
    assert!(totals.links[0].total.departed_bytes > 100_000);
}

/// Checks the rate of 500 sources that send messages of 210 bytes at 64 kbit/s for half of the time (the web flows of a
/// master's thesis, University of Innsbruck, 2009). A source offers 32 kbit/s or, with each message rounded up to a
/// segment of 1000 bytes, 152.4 kbit/s.
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
    // Both runs draw the same bursts. The rate of 500 sources over 35 s has a standard deviation of half a per cent.
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
    // The rate is a hundred packets of 1000 bytes every 400 ms.
    assert_eq!(totals.flows[0].total.sent_pkts, 50_000);
}

/// Returns a web session with pages of three objects. If `separate`, the server opens a connection for each object when
/// the request is acknowledged, as in ns-2's WebTraf.
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
    // The acknowledgement of the request, the SYN and its answer come before the data. Without separate connections,
    // the data directly follows the acknowledgement of the request. One-way agents do not send the end of the
    // handshake, which is before the request here.
    let longer = first(true) - first(false);
    assert!(
        (longer - (3.0 * way(40) - 2.0 * 0.032)).abs() < 1e-6,
        "{longer}"
    );
}

/// Checks that nothing is sent after the end of a perturbation, a connection that is aborted in slow start after 1.6
/// seconds (LBNL-52549, 2003).
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
    // Nothing is retransmitted, although the queue has dropped many packets.
    assert_eq!(sent(2700.0), totals.flows[0].total.sent_pkts);
    assert!(totals.links[0].total.dropped_overflow_pkts > 0);
    let last = records.flows.last().expect("samples");
    assert_eq!((last.in_flight, last.sent_pkts), (0, sent(2700.0)));
    let link = totals.links[0].total;
    assert_eq!(link.arrived_pkts, link.departed_pkts + link.dropped_pkts());
}
