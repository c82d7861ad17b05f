//! Tests of resolved scenarios: completeness, canonical form, hash, and warnings about resolved
//! values.

use longhaul_engine::queue::DISCIPLINES;
use longhaul_scenario::{Scenario, parse};
use proptest::prelude::*;

use crate::{origin, value, with};

/// Reads the resolved JSON of a scenario again.
fn again(scenario: &Scenario) -> Scenario {
    let text = scenario.resolved_json().to_string();
    parse(&text, "resolved.json", None, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Checks that resolving a resolved scenario changes neither the document nor the simulation.
fn assert_idempotent(scenario: &Scenario) {
    let second = again(scenario);
    assert_eq!(scenario.resolved_json(), second.resolved_json());
    assert_eq!(
        format!("{:?}", scenario.config()),
        format!("{:?}", second.config())
    );
    assert_eq!(scenario.hash(), second.hash());
}

const RED: &str = "topology.dumbbell.bottleneck.queue={ kind = \"red\", limit = \"1 BDP\" }";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn resolving_is_idempotent(
        profile in prop::sample::select(vec!["rfc", "linux", "ns2-2.35", "ns2-2003"]),
        kind in prop::sample::select(DISCIPLINES.iter().map(|known| known.kind).collect::<Vec<_>>()),
        adaptive in any::<bool>(),
        megabits in 1.0..10_000.0f64,
        delay_us in 1_000u64..400_000,
        extra_us in 0u64..100_000,
        count in 1usize..4,
        hstcp in any::<bool>(),
        delayed in any::<bool>(),
    ) {
        let mut overrides = vec![
            format!("profile={profile}"),
            format!("topology.dumbbell.bottleneck.rate={megabits} Mbps"),
            format!("topology.dumbbell.bottleneck.delay={delay_us} us"),
            format!("flows.0.rtt={} us", 2 * delay_us + extra_us),
            format!("flows.0.count={count}"),
            format!("flows.0.congestion.kind={}", if hstcp { "hstcp" } else { "reno" }),
            format!("tcp.delayed_ack={delayed}"),
        ];
        overrides.push(format!("topology.dumbbell.bottleneck.queue={{ kind = \"{kind}\" }}"));
        if kind == "red" {
            overrides.push(format!("topology.dumbbell.bottleneck.queue.adaptive={adaptive}"));
        }
        // A bandwidth-delay product of less than a packet is refused, and so is one too small for a
        // discipline's defaults.
        let scenario = parse(crate::BASE, "base.toml", None, &overrides);
        prop_assume!(scenario.is_ok());
        assert_idempotent(&scenario.expect("accepted"));
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9\\[\\]{}=.\" \n-]{0,80}") {
        let _ = parse(&text, "noise.toml", None, &[]);
    }

    #[test]
    fn no_override_panics(key in "(flows\\.0|tcp|measure|topology\\.dumbbell\\.bottleneck)\\.[a-z_]{1,12}",
                          value in "[a-z0-9\\[\\]{}\" .-]{0,12}") {
        let _ = parse(crate::BASE, "base.toml", None, &[format!("{key}={value}")]);
    }
}

#[test]
fn every_automatic_value_of_red_becomes_a_number() {
    let scenario = with(&[RED, "topology.dumbbell.bottleneck.queue.adaptive=true"]);
    let queue = |key: &str| {
        value(
            &scenario,
            &format!("/topology/dumbbell/bottleneck/queue/{key}"),
        )
    };
    assert_eq!(queue("limit"), "\"8333 packets\"");
    // Half of 5 ms at 1 Gbit/s in packets of 1500 B is 208.33; three times that is 625.
    assert!(
        queue("min_th").starts_with("\"208.33"),
        "{}",
        queue("min_th")
    );
    assert!(queue("max_th").starts_with("\"625"), "{}", queue("max_th"));
    assert_eq!(queue("bottom"), "0.01");
    assert!(queue("weight").parse::<f64>().is_ok());
}

#[test]
fn the_hash_changes_with_the_scenario_and_not_with_its_form() {
    let one = with(&[]);
    assert_eq!(
        one.hash(),
        with(&["topology.dumbbell.bottleneck.rate=1000 Mbit/s"]).hash()
    );
    assert_ne!(one.hash(), with(&["seed=2"]).hash());
    assert_ne!(one.hash(), with(&["replication=1"]).hash());
    assert_eq!(one.hash().len(), 64);
}

#[test]
fn what_is_drawn_at_random_is_explained() {
    let drawn = |overrides: &[&str]| {
        let scenario = with(overrides);
        let rows = scenario.explain();
        let row = rows.into_iter().find(|row| row.path == "drawn at random");
        (scenario.draws(), row.expect("a row").value)
    };
    assert_eq!(drawn(&[]), (false, "nothing".to_string()));
    let start = "flows.0.start={ uniform = [\"0 s\", \"1 s\"] }";
    assert_eq!(drawn(&[start]), (true, "start times".to_string()));
    let changes = "topology.dumbbell.bottleneck.changes=[{ at = \"1 s\", loss = 0.1 }]";
    assert_eq!(drawn(&[start, changes]).1, "start times, losses");
    // The origin is the start, the only value that is drawn.
    assert!(origin(&with(&[]), "drawn at random").contains("start = { uniform"));
}

#[test]
fn suspicious_scenarios_are_run_with_a_warning() {
    let has = |overrides: &[&str], part: &str| {
        let scenario = with(overrides);
        let found = scenario
            .warnings()
            .iter()
            .any(|warning| warning.contains(part));
        assert!(found, "no {part:?} in {:?}", scenario.warnings());
    };
    assert!(
        with(&[]).warnings().is_empty(),
        "{:?}",
        with(&[]).warnings()
    );
    has(&["replication=3"], "replication 3 changes nothing");
    let far = "topology.dumbbell.bottleneck.delay=60 s";
    has(&["duration=1 h", far], "not below tcp.rto.max = 60 s");
    let near = "topology.dumbbell.bottleneck.delay=500 ms";
    has(&[near], "not below tcp.rto.initial = 1 s");
    has(
        &["flows.0.congestion.kind=vcp"],
        "no queue on their path is of the kind `vcp`",
    );
    has(
        &[
            "flows.0.congestion.kind=xcp",
            "topology.dumbbell.bottleneck.queue={ kind = \"vcp\" }",
        ],
        "no queue on their path is of the kind `xcp`",
    );
    let answered = with(&[
        "flows.0.congestion.kind=vcp",
        "topology.dumbbell.bottleneck.queue={ kind = \"vcp\" }",
    ]);
    assert!(answered.warnings().is_empty(), "{:?}", answered.warnings());
    let drawn = with(&[
        "replication=3",
        "flows.0.start={ uniform = [\"0 s\", \"1 s\"] }",
    ]);
    assert!(drawn.warnings().is_empty(), "{:?}", drawn.warnings());
    // 64 KiB are 45 segments of 1448 B on a path that holds 8333 packets.
    has(&["tcp.receive_window=64 KiB"], "can never fill");
    has(&["measure.every=1 us"], "more often than it sends");
    has(
        &[
            RED,
            "topology.dumbbell.bottleneck.queue.ecn=true",
            "tcp.ecn=false",
        ],
        "no flow uses ECN",
    );
    has(
        &["measure.from=1 s", "flows.0.start=5 s"],
        "start after measure.from",
    );
}

/// Checks that a resolved scenario with a receive window of one segment can be read again. The
/// initial slow-start threshold equals the receive window, but is at least two segments (RFC 5681, equation 4).
#[test]
fn a_receive_window_of_one_segment_can_be_read_again() {
    for (window, ssthresh) in [(1, "2"), (2, "2"), (3, "3")] {
        let scenario = with(&[&format!("tcp.receive_window={window}")]);
        assert_idempotent(&scenario);
        assert_eq!(value(&scenario, "/flows/0/tcp/initial_ssthresh"), ssthresh);
    }
}

/// Replications of a scenario without random numbers are the same, and a warning says so;
/// replications of MesoNet always differ.
#[test]
fn replications_without_random_numbers_are_told_of() {
    let start = "flows.0.start={ uniform = [\"0 s\", \"1 s\"] }";
    assert!(with(&[start]).nothing_drawn().is_none());
    let reason = with(&[]).nothing_drawn().expect("nothing is drawn");
    assert!(reason.contains("draw start times"), "{reason}");
    let mesonet = parse("[mesonet]\nintervals = 100\n", "m.toml", None, &[]).expect("valid");
    assert!(mesonet.draws() && mesonet.nothing_drawn().is_none());
}

/// Checks that a `run.json` is read as the scenario of its run. Another document with a key
/// `scenario` is refused.
#[test]
fn the_scenario_of_a_finished_run_is_read() {
    let scenario = with(&["seed=7"]);
    let run = serde_json::json!({
        "results_version": 20,
        "scenario": scenario.resolved_json(),
        "flows": [],
    });
    let again = parse(&run.to_string(), "run.json", None, &[]).expect("valid");
    assert_eq!(again.hash(), scenario.hash());
    assert_eq!(value(&again, "/seed"), "7");
    let other = serde_json::json!({ "scenario": scenario.resolved_json() });
    let refused = parse(&other.to_string(), "other.json", None, &[]).expect_err("no run");
    assert!(
        refused.to_string().contains("unknown key `scenario`"),
        "{refused}"
    );
}

/// Checks that each name in `measure.capture` selects a link or a node. A name of both means the link.
#[test]
fn captures_are_of_links_and_of_nodes() {
    let captured = |names: &str| {
        let config = with(&[&format!("measure.capture=[{names}]")])
            .config()
            .clone();
        let nodes = config.captured_nodes.iter();
        let links = config.links.iter().filter(|link| link.captured);
        (
            nodes
                .map(|&node| config.nodes[node].clone())
                .collect::<Vec<_>>(),
            links.map(|link| link.name.clone()).collect::<Vec<_>>(),
        )
    };
    let config = with(&[]).config().clone();
    let (node, link) = (&config.nodes[0], &config.links[0].name);
    assert_eq!(captured(""), (vec![], vec![]));
    assert_eq!(captured(&format!("{node:?}")), (vec![node.clone()], vec![]));
    assert_eq!(captured(&format!("{link:?}")), (vec![], vec![link.clone()]));
    let graph = r#"
duration = "1 s"
measure = { capture = ["middle"] }
flows = [{ from = "a", to = "b" }]
[topology.graph]
nodes = ["a", "middle", "b"]
[[topology.graph.links]]
name = "middle"
from = "a"
to = "middle"
rate = "100 Mbps"
delay = "5 ms"
[[topology.graph.links]]
from = "middle"
to = "b"
rate = "100 Mbps"
delay = "5 ms"
"#;
    let config = parse(graph, "graph.toml", None, &[]);
    let config = config
        .unwrap_or_else(|error| panic!("{error}"))
        .config()
        .clone();
    assert!(config.captured_nodes.is_empty());
    assert!(
        config
            .links
            .iter()
            .any(|link| link.captured && link.name == "middle")
    );
}
