//! Traces of flows against values computed by hand from NIST SP 500-282, chapter 3.

use longhaul_congestion::Variant;
use longhaul_mesonet::config::{Config, PacketRate, Service, Trace};
use longhaul_mesonet::records::{
    Direction, FlowEvent, FlowState, PacketEvent, PacketKind, PacketTraceRecord, RouterId, Totals,
};
use longhaul_mesonet::run;
use longhaul_units::{Span, Time};

use crate::network::{Buffers, Study, long_lived, transport, two_backbone_routers};
use crate::records::Keeper;

const END_S: f64 = 0.06;

/// Expected events of the second acknowledgement, on its way back.
const SECOND_ANSWER: [&str; 6] = [
    "13.7 sent",
    "13.7 b up to 14.7",
    "14.7 far up to 14.8",
    "24.8 near up to 24.9",
    "24.9 a down to 25.9",
    "25.9 delivered",
];

/// Returns a network with one flow from `a` to `b`. Access routers serve one packet per
/// millisecond, backbone routers ten. The link between the backbone routers takes 10 ms, and hosts
/// send two packets per millisecond.
fn line(buffer: u64, initial_cwnd: f64) -> Config {
    let access = [("a", 1.0, buffer), ("b", 1.0, buffer)];
    let topology = two_backbone_routers((10.0, 100), Span::from_millis(10), access);
    let mut config = Study::CONDITION_8.config("reno", Variant::Paper);
    config.long_lived = vec![long_lived(&topology, "a", "b", 0.0)];
    config.long_lived[0].speed = PacketRate::per_ms(2.0);
    config.transport = transport(100.0);
    config.transport.initial_cwnd = initial_cwnd;
    config.duration = Time::from_secs_f64(END_S);
    config.measure.every = Span::from_millis(7);
    config.topology = topology;
    config.trace = Some(Trace {
        long_lived: vec![0],
        sources: Vec::new(),
        from: Time::ZERO,
        until: Time::NEVER,
        max: 1000,
    });
    config
}

fn traced(config: &Config) -> (Keeper, Totals) {
    let mut keeper = Keeper::default();
    let totals = run(config, &mut keeper).expect("valid");
    (keeper, totals)
}

fn ms(time: Time) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 1e4
}

/// Returns the events of a packet, given by its kind and number. Each has its time, the network
/// element, and the time of departure from this element.
fn journey(keeper: &Keeper, kind: PacketKind, number: u64) -> Vec<String> {
    let own = |record: &&PacketTraceRecord| (record.kind, record.number) == (kind, number);
    let step = |record: &PacketTraceRecord| {
        let place = |router, direction| {
            let name = match router {
                RouterId::Access(at) => ["a", "b"][at as usize],
                RouterId::Backbone(at) => ["near", "far"][at as usize],
                RouterId::Pop(_) => "pop",
            };
            let way = match direction {
                Direction::Up => "up",
                Direction::Down => "down",
            };
            format!("{name} {way}")
        };
        let time = ms(record.time);
        match record.event {
            PacketEvent::Sent => format!("{time} sent"),
            PacketEvent::Delivered => format!("{time} delivered"),
            PacketEvent::Dropped { router, direction } => {
                format!("{time} dropped {}", place(router, direction))
            }
            PacketEvent::Queued {
                router,
                direction,
                leaves,
            } => {
                let leaves = leaves.map_or(f64::NAN, ms);
                format!("{time} {} to {leaves}", place(router, direction))
            }
        }
    };
    keeper.records.iter().filter(own).map(step).collect()
}

/// State of a flow: time, event, window, next number, highest number, packets in flight, and
/// packets that may be sent.
type State = (f64, FlowEvent, f64, u64, u64, u64, u64);

fn states(keeper: &Keeper) -> Vec<State> {
    let state = |state: &FlowState| {
        (
            ms(state.time),
            state.event,
            state.cwnd,
            state.next,
            state.highest,
            state.in_flight_pkts,
            state.sendable_pkts,
        )
    };
    keeper.states.iter().map(state).collect()
}

#[test]
fn a_flow_without_losses_is_traced_as_computed_by_hand() {
    use FlowEvent::{Increase, Start};
    let (keeper, totals) = traced(&line(100, 2.0));
    assert_eq!(
        journey(&keeper, PacketKind::Data, 2),
        [
            "0.5 sent",
            "0.5 a up to 2",
            "2 near up to 2.1",
            "12.1 far up to 12.2",
            "12.2 b down to 13.2",
            "13.2 delivered",
        ]
    );
    assert_eq!(journey(&keeper, PacketKind::Ack, 3), SECOND_ANSWER);
    // Answers arrive at 24.9 and 25.9 ms; the packets that they release leave half a millisecond
    // apart.
    assert_eq!(
        states(&keeper)[..3],
        [
            (0.0, Start, 2.0, 2, 1, 1, 1),
            (24.9, Increase, 3.0, 4, 2, 2, 1),
            (25.9, Increase, 4.0, 6, 3, 3, 1),
        ]
    );
    let sent = keeper
        .records
        .iter()
        .filter(|one| one.event == PacketEvent::Sent);
    let data: Vec<f64> = sent
        .filter(|one| one.kind == PacketKind::Data)
        .map(|one| ms(one.time))
        .collect();
    assert_eq!(data[..6], [0.0, 0.5, 24.9, 25.4, 25.9, 26.4]);
    assert!(keeper.records.is_sorted_by_key(|one| one.time));
    assert_eq!(totals.trace_full, None);
}

/// Checks that a loss is followed by a NAK, and that the lost number is not used again. A queue of
/// one packet drops the second of three packets.
#[test]
fn a_loss_is_followed_by_a_negative_answer_and_a_new_number() {
    use FlowEvent::{Ack, Decrease, Increase, Start};
    let (keeper, _) = traced(&line(1, 3.0));
    assert_eq!(
        journey(&keeper, PacketKind::Data, 2),
        ["0.5 sent", "0.5 dropped a up"]
    );
    assert_eq!(journey(&keeper, PacketKind::Nak, 4), SECOND_ANSWER);
    assert_eq!(
        states(&keeper)[..4],
        [
            (0.0, Start, 3.0, 2, 1, 1, 2),
            (24.9, Increase, 4.0, 5, 2, 3, 1),
            // Packet 5 was dropped at 25.4 ms, in the same way.
            (25.9, Decrease, 2.0, 6, 4, 2, 0),
            // This answers packet 4, which was sent before the loss was detected.
            (49.8, Ack, 2.0, 7, 5, 2, 0),
        ]
    );
    assert_eq!(journey(&keeper, PacketKind::Data, 6)[0], "49.8 sent");
    let marks: Vec<_> = keeper.states.iter().map(|state| state.last_nak).collect();
    assert_eq!(marks[..4], [0, 0, 6, 6]);
}

#[test]
fn only_the_chosen_span_is_traced_and_no_more_than_allowed() {
    let mut config = line(100, 2.0);
    let all = traced(&config).0;
    let trace = config.trace.as_mut().expect("it has one");
    trace.from = Time::from_secs_f64(0.0122);
    trace.until = Time::from_secs_f64(0.0259);
    let part = traced(&config).0;
    let (from, until) = (12.2, 25.9);
    let within = |time| (from..=until).contains(&ms(time));
    let records = all.records.iter().filter(|one| within(one.time));
    assert_eq!(part.records, records.copied().collect::<Vec<_>>());
    let states = all.states.iter().filter(|one| within(one.time));
    assert_eq!(part.states, states.copied().collect::<Vec<_>>());
    let trace = config.trace.as_mut().expect("it has one");
    trace.max = 5;
    let (few, totals) = traced(&config);
    assert_eq!(few.records, part.records[..5]);
    assert_eq!(totals.trace_full, Some(few.records[4].time));
}

/// A trace of a congested network with users changes no results and contains all packets, for each
/// kind of service.
#[test]
fn a_trace_changes_nothing_and_leaves_no_packet_out() {
    for service in [Service::Dual, Service::Shared, Service::Alternating] {
        let study = Study {
            r1: 120.0,
            sources_per_router: 20.0,
            buffers: Buffers::RttCOverRootN,
            think_ms: 1000,
            seconds: 3,
            ..Study::CONDITION_8
        };
        let mut config = study.config("reno", Variant::Paper);
        config.long_lived = vec![long_lived(&config.topology, "B0a", "K0a", 0.5)];
        config.topology.service = service;
        config.measure.every = Span::from_millis(50);
        config.measure.flow_log = true;
        let plain = traced(&config);
        config.trace = Some(Trace {
            long_lived: vec![0],
            sources: vec![(0, 399), (1000, 1100)],
            from: Time::ZERO,
            until: Time::NEVER,
            max: u64::MAX,
        });
        let (mut keeper, totals) = traced(&config);
        let records = std::mem::take(&mut keeper.records);
        let states = std::mem::take(&mut keeper.states);
        assert_eq!((&keeper, &totals), (&plain.0, &plain.1));
        let count = |event: fn(&PacketEvent) -> bool| {
            records.iter().filter(|one| event(&one.event)).count()
        };
        let sent = count(|event| *event == PacketEvent::Sent);
        let delivered = count(|event| *event == PacketEvent::Delivered);
        let dropped = count(|event| matches!(event, PacketEvent::Dropped { .. }));
        assert!(dropped > 100 && sent >= delivered + dropped);
        // These packets are in flight at the end; they are fewer than are sent in half a second.
        let late = Time::from_secs_f64(2.5);
        let last = records
            .iter()
            .filter(|one| one.time > late && one.event == PacketEvent::Sent);
        assert!(sent - delivered - dropped < last.count());
        let logged = keeper.flows.iter().filter(|flow| {
            flow.connected.is_some() && (flow.source < 400 || (1000..=1100).contains(&flow.source))
        });
        let ends = states.iter().filter(|state| state.event == FlowEvent::End);
        assert_eq!(ends.count(), logged.count());
        assert!(states.iter().any(|state| state.event == FlowEvent::Timeout));
    }
}
