//! Tests of the facts that a transport measures on request: an algorithm uses exactly the facts that it requests.

use std::collections::BTreeSet;

use longhaul_congestion::registry::algorithms;
use longhaul_congestion::{
    AckSample, Cause, CongestionControl, CongestionState, ControllerSpec, Load, Needs, RateSample,
    Rounding, RouterFeedback, Variant, Window,
};
use longhaul_units::Span;

use crate::controller;
use crate::sender::Sender;
use crate::state::specs;

/// A fact that a transport may measure. `give` adds the fact to the acknowledgement with the given number.
/// `is_asked_for` returns true if an algorithm's needs include the fact.
struct Fact {
    name: &'static str,
    is_asked_for: fn(Needs) -> bool,
    give: fn(&mut AckSample, u64),
}

const FACTS: [Fact; 5] = [
    Fact {
        name: "delivery rate",
        is_asked_for: |needs| needs.delivery_rate,
        give: |ack, number| {
            let segments = 10.0 + (number / 20) as f64;
            ack.delivery_rate = Some(RateSample::new(segments, Span::from_millis(100)));
        },
    },
    Fact {
        name: "one-way delay",
        is_asked_for: |needs| needs.one_way_delay,
        give: |ack, number| ack.one_way_delay = Some(Span::from_millis(50 + number)),
    },
    Fact {
        name: "spacing of pairs",
        is_asked_for: |needs| needs.pairs,
        give: |ack, number| ack.pair_spacing = Some(Span::from_micros(1000 + number)),
    },
    Fact {
        name: "XCP's feedback",
        is_asked_for: |needs| needs.routers,
        give: |ack, _| ack.router = Some(RouterFeedback::Xcp { change: 1.0 }),
    },
    Fact {
        name: "VCP's feedback",
        is_asked_for: |needs| needs.routers,
        give: |ack, _| ack.router = Some(RouterFeedback::Vcp(Load::Over)),
    },
];

/// Returns the windows and the pacing rates of a flow with a loss. The acknowledgements contain `fact`, if given.
fn course(spec: &ControllerSpec, fact: Option<&Fact>) -> Vec<(u64, Option<u64>)> {
    let mut sender = Sender::new(spec, 20.0, 2.0);
    let acknowledge = |number| {
        if number == 100 {
            sender.signal(Cause::Loss);
        }
        let cwnd = sender.acknowledge(|ack| {
            ack.rtt = Some(Span::from_micros(100_000 + 100 * number));
            ack.round_start = number % 10 == 0;
            if let Some(fact) = fact {
                (fact.give)(ack, number);
            }
        });
        let rate = sender.state.pacing_rate();
        (cwnd.to_bits(), rate.map(|rate| rate.as_bps()))
    };
    (0..200).map(acknowledge).collect()
}

#[test]
fn what_is_used_is_asked_for() {
    for entry in algorithms() {
        for spec in specs(entry) {
            let needs = Sender::new(&spec, 20.0, 2.0).state.needs();
            let without = course(&spec, None);
            for fact in FACTS.iter().filter(|fact| !(fact.is_asked_for)(needs)) {
                assert_eq!(
                    course(&spec, Some(fact)),
                    without,
                    "{}: {spec:?}",
                    fact.name
                );
            }
        }
    }
}

#[test]
fn what_is_asked_for_is_used() {
    for entry in algorithms() {
        let specs = specs(entry);
        let uses = |fact: &Fact| {
            let mut courses = specs
                .iter()
                .map(|spec| (course(spec, Some(fact)), course(spec, None)));
            courses.any(|(with, without)| with != without)
        };
        let asks = |is_asked_for: fn(Needs) -> bool| {
            let mut needs = specs
                .iter()
                .map(|spec| Sender::new(spec, 20.0, 2.0).state.needs());
            needs.any(is_asked_for)
        };
        for fact in &FACTS[..3] {
            let used = !asks(fact.is_asked_for) || uses(fact);
            assert!(used, "{} does not use the {}", entry.kind, fact.name);
        }
        let routers = !asks(|needs| needs.routers) || FACTS[3..].iter().any(uses);
        assert!(routers, "{} does not use feedback of routers", entry.kind);
    }
}

/// Checks that an algorithm requires pacing, dummy segments and requests to routers exactly if it uses them.
#[test]
fn what_is_sent_is_asked_for() {
    for entry in algorithms() {
        let mut asks_and_paces = (false, false);
        for spec in specs(entry) {
            let mut state = Sender::new(&spec, 20.0, 2.0).state;
            let needs = state.needs();
            let rates = FACTS.iter().flat_map(|fact| course(&spec, Some(fact)));
            let paces = rates.into_iter().any(|(_, rate)| rate.is_some());
            assert!(needs.paces || !paces, "{spec:?}");
            let rtt = Span::from_millis(100);
            let dummies = state.take_dummies(rtt, 100);
            assert_eq!(dummies.is_some(), needs.dummies, "{spec:?}");
            asks_and_paces = (asks_and_paces.0 || needs.paces, asks_and_paces.1 || paces);
            assert_eq!(
                state.router_request(rtt).is_some(),
                needs.routers,
                "{spec:?}"
            );
        }
        assert_eq!(asks_and_paces.0, asks_and_paces.1, "{} paces", entry.kind);
    }
}

/// Returns a flow's windows and recorded state at round trips of 100 ms, optionally after a handshake of 60 ms.
fn after_handshake(spec: &ControllerSpec, handshake: bool) -> Vec<Vec<u64>> {
    let mut sender = Sender::new(spec, 20.0, 2.0);
    let facts = |ack: &mut AckSample, rtt_ms| {
        ack.rtt = Some(Span::from_millis(rtt_ms));
        ack.one_way_delay = Some(Span::from_millis(rtt_ms / 2));
        ack.delivery_rate = Some(RateSample::new(20.0, Span::from_millis(100)));
    };
    if handshake {
        sender.shake_hands(|ack| facts(ack, 60));
    }
    let acknowledge = |number: u64| {
        let cwnd = sender.acknowledge(|ack| {
            facts(ack, 100);
            ack.round_start = number.is_multiple_of(10);
        });
        let mut seen = vec![cwnd.to_bits()];
        sender
            .state
            .probe(&mut |_, value| seen.push(value.to_bits()));
        seen
    };
    (0..100).map(acknowledge).collect()
}

/// Checks that the handshake's round-trip time affects only some algorithms: those that keep the smallest round-trip
/// time (BBR, C4), compare transit times with the first one (Santa Cruz), measure complete round trips from the
/// beginning (delay gradient, Vegas, YeAH), or pace with it until data gives samples (Vivace).
#[test]
fn the_handshake_counts_where_round_trips_do() {
    for (kind, variant) in [
        ("bbr", Variant::Linux6_18),
        ("c4", Variant::Paper),
        ("c4", Variant::Picoquic),
        ("delay-gradient", Variant::Paper),
        ("santa-cruz", Variant::Paper),
        ("vegas", Variant::Paper),
        ("vivace", Variant::Paper),
        ("yeah", Variant::Paper),
    ] {
        let spec = controller(kind, variant, &[]);
        let courses = [true, false].map(|handshake| after_handshake(&spec, handshake));
        assert_ne!(courses[0], courses[1], "{kind} {variant}");
    }
}

/// Checks which algorithms declare each of ten needs.
#[test]
fn needs_follow_from_the_signals_that_algorithms_answer() {
    type Of = fn(&Needs) -> bool;
    let rates: &[&str] = &["copa", "vivace", "prague", "bbr", "bbr3", "c4"];
    let cases: [(&str, Of, &[&str]); 10] = [
        // The share of marked segments is computed from every mark (RFC 8257 section 3.2; TOCS 8(2), 1990, section 3).
        (
            "every_mark",
            |needs| needs.every_mark,
            &["dctcp", "prague", "decbit"],
        ),
        ("exact_marks", |needs| needs.exact_marks, &["bbr3", "c4"]),
        ("l4s", |needs| needs.l4s, &["prague"]), // RFC 9331.
        // An algorithm that ignores marks must not send ECN-capable segments (RFC 3168 section 6.1.2).
        ("no_ecn", |needs| needs.no_ecn, &["copa", "vivace", "bbr"]),
        ("rack_tlp", |needs| needs.rack_tlp, rates),
        ("paces", |needs| needs.paces, rates),
        (
            "delivery_rate",
            |needs| needs.delivery_rate,
            &["bbr", "bbr3", "c4"],
        ),
        ("pairs", |needs| needs.pairs, &["packet-pair"]),
        ("dummies", |needs| needs.dummies, &["peach"]),
        ("routers", |needs| needs.routers, &["xcp", "vcp"]),
    ];
    for (need, has, kinds) in cases {
        let with: BTreeSet<&str> = algorithms()
            .iter()
            .filter(|entry| {
                let spec = controller(entry.kind, Variant::Paper, &[]);
                has(&spec.build().unwrap().needs())
            })
            .map(|entry| entry.kind)
            .collect();
        assert_eq!(with, kinds.iter().copied().collect(), "{need}");
    }
}

/// Checks that TCP-LP needs one-way delays and round-trip times, except as standard TCP (variant linux-6.18).
#[test]
fn a_form_that_is_standard_tcp_asks_for_nothing() {
    for (variant, asks) in [
        (Variant::Paper, true),
        (Variant::Linux2_6_22, true),
        (Variant::Linux6_18, false),
    ] {
        let needs = controller("lp", variant, &[]).build().unwrap().needs();
        assert_eq!((needs.one_way_delay, needs.rtt), (asks, asks), "{variant}");
    }
}

/// Segments of BBR v3 are not ECN-capable if the factor of its response to marks is zero.
#[test]
fn bbr3_without_a_factor_for_marks_is_not_ecn_capable() {
    let spec = controller("bbr3", Variant::Paper, &[("ecn_factor", 0.0)]);
    let needs = spec.build().unwrap().needs();
    assert_eq!((needs.no_ecn, needs.exact_marks), (true, false));
}

/// Checks the lower bound of the window in recoveries of Linux 2.6.22: half of the threshold (`tcp_reno_min_cwnd`),
/// even for algorithms that reduce the window less. The papers' variants have no such bound.
#[test]
fn recoveries_of_linux_go_down_to_half_of_the_threshold() {
    for kind in ["hstcp", "scalable", "illinois"] {
        for (variant, floor) in [(Variant::Paper, None), (Variant::Linux2_6_22, Some(35.0))] {
            let mut algorithm = controller(kind, variant, &[]).build().unwrap();
            let window = Window::new(100.0, 70.0, 1e6, Rounding::Real);
            let found = algorithm
                .extension()
                .and_then(|own| own.recovery_floor(&window));
            assert_eq!(found, floor, "{kind} {variant}");
        }
    }
}

/// Checks that a flow can adopt the tables of another flow with the same algorithm. Flows from a checkpoint need this,
/// since checkpoints do not include tables.
#[test]
fn tables_are_taken_from_a_flow_of_the_kind() {
    let points = |value: f64| vec![("increase".to_string(), vec![(1.0, value)])];
    let table = |value| ControllerSpec {
        functions: points(value),
        ..controller("table", Variant::Paper, &[])
    };
    let steeper = [("low_window", 20.0)];
    let pairs = [
        (table(1.0), table(3.0)),
        (
            controller("hstcp", Variant::Paper, &[]),
            controller("hstcp", Variant::Paper, &steeper),
        ),
        (
            controller("ghstcp", Variant::Paper, &[]),
            controller("ghstcp", Variant::Paper, &steeper),
        ),
    ];
    for (own, other) in pairs {
        let states = [&own, &other].map(|spec| Sender::new(spec, 100.0, 2.0).state);
        let [mut own, other] = states;
        let growth = |state: &CongestionState| {
            let mut state = state.clone();
            state.on_ack(&AckSample::ONE_SEGMENT);
            state.window.cwnd() - 100.0
        };
        assert_ne!(growth(&own), growth(&other));
        own.share_tables(&other);
        assert_eq!(growth(&own), growth(&other));
    }
}
