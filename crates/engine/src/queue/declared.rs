//! Tests of disciplines by their names in scenario files: declared properties, values derived from the link, and bounds
//! of values. At each bound, the nearest valid value is accepted, and a value beyond the bound is refused.

use longhaul_keys::{Field, Origin, Profile, Refusal, Table};
use longhaul_units::{Bytes, Rate, Span};

use super::{
    BufferedQueue, Capacity, DISCIPLINES, DelayEstimate, Discipline, Draws, LinkContext,
    PacketQueue, Queue, QueueConfig,
};
use crate::random::Stream;

const RATE: Rate = Rate::from_bps(12_000_000);

/// Returns a link with a round trip of 50 ms. A packet of 1500 B takes a millisecond.
fn link() -> LinkContext {
    LinkContext::new(RATE, Span::from_millis(25), Bytes(1500))
}

fn discipline(kind: &str) -> &'static Discipline {
    let mut known = DISCIPLINES.iter();
    known.find(|known| known.kind == kind).expect("a kind")
}

/// Returns the values of all keys of a discipline at a link: those `given` in a scenario file, defaults for the others.
fn complete(
    (kind, profile): (&str, Profile),
    link: &LinkContext,
    given: &[(&'static str, &str)],
) -> Result<Table, Refusal> {
    let discipline = discipline(kind);
    let mut values = Table::defaults(discipline.keys, profile);
    for &(key, text) in given {
        let mut keys = discipline.keys.iter();
        let kind = keys.find(|known| known.name == key).expect("a key").kind;
        values = values.with(Field::<()>::new(key), kind.parse(text).expect("a value"));
    }
    discipline.complete(&mut values, link).map(|()| values)
}

fn config(of: (&str, Profile), given: &[(&'static str, &str)]) -> QueueConfig {
    let values = complete(of, &link(), given).expect("sound values");
    discipline(of.0).config(&values, RATE)
}

fn stream() -> Stream {
    Stream::new(1, 0, "declared")
}

/// Declared properties of a discipline, to compare with its source.
#[derive(Debug, PartialEq)]
struct Statements {
    draws: Draws,
    is_random: bool,
    /// Two flags, true if the discipline marks packets: with its default values, and with its key `ecn` set to true.
    marks: (bool, bool),
    /// Time between updates, in microseconds.
    update_us: Option<u64>,
    /// True if a packet bypasses the discipline when it finds no other packet.
    passes: bool,
    on_arrival: bool,
    per_flow: bool,
}

fn statements(kind: &str, profile: Profile) -> Statements {
    let of = (kind, profile);
    let config = config(of, &[]);
    let has_ecn = discipline(kind).keys.iter().any(|key| key.name == "ecn");
    let with_ecn = self::config(of, if has_ecn { &[("ecn", "true")] } else { &[] });
    let queue = config.buffered(stream());
    Statements {
        draws: config.draws(),
        is_random: config.is_random(),
        marks: (config.marks(), with_ecn.marks()),
        update_us: queue.update_interval().map(|span| span.as_ps() / 1_000_000),
        passes: queue.passes(),
        on_arrival: config.decides_on_arrival(),
        per_flow: discipline(kind).per_flow,
    }
}

/// Properties of a first-in first-out queue without random numbers, marks and updates.
const PLAIN: Statements = Statements {
    draws: Draws::Never,
    is_random: false,
    marks: (false, false),
    update_us: None,
    passes: false,
    on_arrival: false,
    per_flow: false,
};
/// Properties of random active queue management.
const RANDOM: Statements = Statements {
    draws: Draws::InCongestion,
    is_random: true,
    marks: (false, true),
    ..PLAIN
};

/// Checks each discipline's declared properties against its source. PIE, for example, draws no random number while at
/// most two packets wait (RFC 8033 section 4.1). In FQ-CoDel, only the hash is random (RFC 8290 section 4.1).
#[test]
fn disciplines_are_as_their_sources_have_them() {
    let rows = [
        (
            "droptail",
            Statements {
                passes: true,
                on_arrival: true,
                ..PLAIN
            },
        ),
        (
            "red",
            Statements {
                on_arrival: true,
                ..RANDOM
            },
        ),
        (
            "codel",
            Statements {
                marks: (false, true),
                passes: true,
                ..PLAIN
            },
        ),
        (
            "fq-codel",
            Statements {
                draws: Draws::Never,
                marks: (true, true),
                per_flow: true,
                ..RANDOM
            },
        ),
        (
            "cobalt",
            Statements {
                marks: (true, true),
                ..RANDOM
            },
        ),
        (
            "cake",
            Statements {
                marks: (true, true),
                per_flow: true,
                ..RANDOM
            },
        ),
        (
            "pie",
            Statements {
                update_us: Some(15_000),
                passes: true,
                ..RANDOM
            },
        ),
        (
            "fq-pie",
            Statements {
                update_us: Some(15_000),
                per_flow: true,
                ..RANDOM
            },
        ),
        (
            "pi",
            Statements {
                draws: Draws::ForAnyPacket,
                update_us: Some(5882),
                ..RANDOM
            },
        ),
        (
            "rem",
            Statements {
                draws: Draws::ForAnyPacket,
                update_us: Some(2000),
                ..RANDOM
            },
        ),
        (
            "decbit",
            Statements {
                marks: (true, true),
                ..PLAIN
            },
        ),
        (
            "threshold",
            Statements {
                marks: (true, true),
                ..PLAIN
            },
        ),
        (
            "dualpi2",
            Statements {
                marks: (true, true),
                update_us: Some(16_000),
                ..RANDOM
            },
        ),
        (
            "round-robin",
            Statements {
                per_flow: true,
                ..PLAIN
            },
        ),
        (
            "drr",
            Statements {
                per_flow: true,
                ..PLAIN
            },
        ),
        (
            "vcp",
            Statements {
                update_us: Some(10_000),
                ..PLAIN
            },
        ),
        (
            "xcp",
            Statements {
                update_us: Some(50_000),
                ..PLAIN
            },
        ),
    ];
    for (kind, expected) in rows {
        assert_eq!(statements(kind, Profile::Rfc), expected, "{kind}");
    }
    // In Linux, PIE and FQ-PIE have a timer with a period of whole ticks. Packets may bypass FQ-CoDel, but not PIE.
    let update_us = Some(16_000);
    for (kind, expected) in [
        (
            "pie",
            Statements {
                update_us,
                ..RANDOM
            },
        ),
        (
            "fq-pie",
            Statements {
                update_us,
                per_flow: true,
                ..RANDOM
            },
        ),
        (
            "fq-codel",
            Statements {
                draws: Draws::Never,
                marks: (true, true),
                passes: true,
                per_flow: true,
                ..RANDOM
            },
        ),
    ] {
        assert_eq!(statements(kind, Profile::Linux), expected, "{kind}");
    }
}

/// A queue returns the state and the update interval of its discipline, even if the queue also handles low-priority
/// packets or filters ACKs.
#[test]
fn queues_show_the_state_of_their_discipline() {
    let of = |kind| Queue::new(&config((kind, Profile::Rfc), &[]), stream());
    let average = |queue: Queue| queue.state().average_pkts;
    assert_eq!(average(of("red")), Some(0.0));
    assert_eq!(average(of("red").prioritised()), Some(0.0));
    assert_eq!(average(of("droptail")), None);
    assert_eq!(average(of("decbit").filtering_acks()), Some(0.0));
    let updates = |queue: Queue| queue.update_interval();
    assert_eq!(updates(of("red")), None);
    let interval = Some(Span::from_millis(16));
    assert_eq!(updates(of("dualpi2")), interval);
    assert_eq!(updates(of("dualpi2").filtering_acks()), interval);
    let BufferedQueue::FilteringAcks(_) = of("dualpi2").filtering_acks().as_buffered() else {
        panic!("ACK filtering is around the discipline");
    };
}

/// Values that contradict each other, or the link, are refused. For each refused value, the nearest valid value is
/// accepted.
#[test]
fn values_are_refused_beyond_their_bounds() {
    for (kind, given, key, message) in [
        (
            "vcp",
            [("interval", "25 ms"), ("sample", "10 ms")],
            "interval",
            "interval (25 ms) is not a multiple of sample (10 ms)",
        ),
        (
            "vcp",
            [("interval", "9.999 us"), ("sample", "9.999 us")],
            "sample",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "pi",
            [("a", "0.25"), ("b", "0.25")],
            "a",
            "expected a above b (0.25), found 0.25",
        ),
        (
            "pi",
            [("a", "0.5"), ("update", "9.999 us")],
            "update",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "rem",
            [("ecn", "true"), ("update", "9.999 us")],
            "update",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "pie",
            [("ecn", "true"), ("update", "9.999 us")],
            "update",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "fq-pie",
            [("ecn", "true"), ("update", "9.999 us")],
            "update",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "dualpi2",
            [("mtu", "9 kB"), ("update", "9.999 us")],
            "update",
            "9.999 us is too short; expected at least 10 us",
        ),
        (
            "pie",
            [("variant", "linux-6.18"), ("delay_estimate", "rate")],
            "delay_estimate",
            "rate is not for variant linux-6.18; expected auto or timestamps, or variant = \"rfc8033\"",
        ),
        (
            "red",
            [("min_th", "9 packets"), ("max_th", "8 packets")],
            "min_th",
            "min_th (9 packets) is above max_th (8 packets)",
        ),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "50 packets")],
            "threshold",
            "is not more than one packet below the limit, so that nothing would be marked",
        ),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "75000 B")],
            "threshold",
            "is not more than one packet below the limit, so that nothing would be marked",
        ),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "49 packets")],
            "threshold",
            "is not more than one packet below the limit, so that nothing would be marked",
        ),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "1.5 packets")],
            "threshold",
            "expected a whole number of packets, found 1.5",
        ),
    ] {
        let refusal = complete((kind, Profile::Rfc), &link(), &given).expect_err(message);
        assert_eq!(
            (refusal.key, refusal.message.as_str()),
            (key, message),
            "{kind}"
        );
    }
    for (kind, given) in [
        ("vcp", [("interval", "20 ms"), ("sample", "10 ms")]),
        ("vcp", [("interval", "10 us"), ("sample", "10 us")]),
        ("pi", [("a", "0.5"), ("b", "0.25")]),
        ("pi", [("a", "0.5"), ("update", "10 us")]),
        ("rem", [("ecn", "true"), ("update", "10 us")]),
        ("pie", [("ecn", "true"), ("update", "10 us")]),
        ("fq-pie", [("ecn", "true"), ("update", "10 us")]),
        ("dualpi2", [("mtu", "9 kB"), ("update", "10 us")]),
        (
            "pie",
            [("variant", "linux-6.18"), ("delay_estimate", "timestamps")],
        ),
        ("pie", [("variant", "rfc8033"), ("delay_estimate", "rate")]),
        ("red", [("min_th", "8 packets"), ("max_th", "8 packets")]),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "48 packets")],
        ),
        (
            "threshold",
            [("limit", "50 packets"), ("threshold", "73499 B")],
        ),
    ] {
        let accepted = complete((kind, Profile::Rfc), &link(), &given);
        assert!(accepted.is_ok(), "{kind} {given:?}: {accepted:?}");
    }
}

/// PIE measures the delay by timestamps on links of varying rate, and always in Linux (`pie_change` of `sch_pie.c`:
/// without `dq_rate_estimator`).
#[test]
fn pie_measures_its_delay_where_the_rate_is_not_known() {
    let estimate = |profile, varies| {
        let link = LinkContext { varies, ..link() };
        let values = complete(("pie", profile), &link, &[]).expect("sound values");
        let QueueConfig::Pie(pie) = discipline("pie").config(&values, RATE) else {
            panic!("it is PIE");
        };
        pie.delay_estimate
    };
    assert_eq!(estimate(Profile::Rfc, false), DelayEstimate::Rate);
    assert_eq!(estimate(Profile::Rfc, true), DelayEstimate::Timestamps);
    assert_eq!(estimate(Profile::Linux, false), DelayEstimate::Timestamps);
    assert_eq!(estimate(Profile::Linux, true), DelayEstimate::Timestamps);
}

/// Checks keys whose default is the size of the largest packet of a flow. Explicit sizes stay unchanged.
#[test]
fn automatic_sizes_are_the_largest_packet() {
    for (kind, key) in [
        ("codel", "max_packet"),
        ("fq-codel", "max_packet"),
        ("fq-codel", "quantum"),
        ("fq-pie", "quantum"),
        ("fq-pie", "mean_packet"),
        ("pie", "mean_packet"),
        ("rem", "mean_packet"),
        ("red", "mean_packet"),
        ("dualpi2", "mtu"),
        ("drr", "quantum"),
    ] {
        let size = |given: &[(&'static str, &str)]| -> Bytes {
            let values = complete((kind, Profile::Rfc), &link(), given).expect("sound values");
            values.read(Field::new(key))
        };
        assert_eq!(size(&[]), Bytes(1500), "{kind}");
        assert_eq!(size(&[(key, "9 kB")]), Bytes(9000), "{kind}");
    }
}

/// Checks that each limit is converted to a capacity. A limit is refused if it is less than one packet, a fraction of
/// packets, or more than 1e12 packets. A time or a multiple of the BDP that is taken over from the link's opposite
/// direction is not refused, but raised to one packet.
#[test]
fn limits_follow_from_the_link_and_hold_a_packet() {
    let packets = |packets| Ok(Capacity::Packets(packets));
    let bytes = |bytes| Ok(Capacity::Bytes(bytes));
    let less = "0.01 BDP is less than one packet here (12 Mbps x 50 ms, packets of 1500 B); expected a limit in packets";
    let short = "12 Mbps sends 1499 B in 999.9 us, less than one packet of 1500 B; expected a longer time, or a limit in \
                 packets";
    for (text, expected, taken_over) in [
        ("1 packet", packets(1), packets(1)),
        (
            "1.5 packets",
            Err("expected a whole number of packets, found 1.5"),
            Err("expected a whole number of packets, found 1.5"),
        ),
        (
            "1000000000000 packets",
            packets(1_000_000_000_000),
            packets(1_000_000_000_000),
        ),
        (
            "1000000000001 packets",
            Err("expected at most 1000000000000 packets, found 1000000000001"),
            Err("expected at most 1000000000000 packets, found 1000000000001"),
        ),
        ("1500 B", bytes(1500), bytes(1500)),
        (
            "1499 B",
            Err("1499 B is less than one packet of 1500 B; expected at least 1500 B"),
            Err("1499 B is less than one packet of 1500 B; expected at least 1500 B"),
        ),
        ("1 ms", bytes(1500), bytes(1500)),
        ("999.9 us", Err(short), packets(1)),
        ("1 BDP", packets(50), packets(50)),
        ("0.05 BDP", packets(2), packets(2)),
        ("0.02 BDP", packets(1), packets(1)),
        ("0.01 BDP", Err(less), packets(1)),
    ] {
        for (taken_over, expected) in [(false, expected), (true, taken_over)] {
            let link = LinkContext {
                taken_over,
                ..link()
            };
            let found = complete(("droptail", Profile::Rfc), &link, &[("limit", text)]);
            let limit = match &found {
                Ok(values) => Ok(values.read(Capacity::FIELD)),
                Err(refusal) => Err(refusal.message.as_str()),
            };
            assert_eq!(limit, expected, "{text}");
        }
    }
}

/// Checks the defaults of [`LinkContext::new`]: the rate does not change, the round-trip time is twice the link's
/// delay, and the queue's configuration is not taken over from the opposite direction.
#[test]
fn a_link_alone_has_a_constant_rate() {
    let link = link();
    assert_eq!(link.rtt, Span::from_millis(50));
    assert!(!link.varies && !link.taken_over);
}

/// A limit that depends on the link, such as `1 BDP`, is stored with its calculation, for the report of a run.
#[test]
fn derived_limits_give_their_rule() {
    let rule = |text: &str, taken_over| {
        let link = LinkContext {
            taken_over,
            ..link()
        };
        let values = complete(("droptail", Profile::Rfc), &link, &[("limit", text)]);
        match &values.expect("sound values").node(Capacity::FIELD).origin {
            Origin::Derived(rule) => rule.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(rule("1 BDP", false), "1 BDP: 12 Mbps x 50 ms / 1500 B");
    assert_eq!(rule("2 ms", false), "2 ms at 12 Mbps");
    assert_eq!(rule("0.02 BDP", true), "0.02 BDP: 12 Mbps x 50 ms / 1500 B");
    assert_eq!(
        rule("0.5 ms", true),
        "500 us at 12 Mbps, but at least one packet"
    );
    assert_eq!(
        rule("0.01 BDP", true),
        "0.01 BDP: 12 Mbps x 50 ms / 1500 B, but at least one packet"
    );
}
