//! Flows of an external QUIC implementation (a stack): their keys, and the settings that the stack
//! receives. The tests use a dummy stack.

use std::sync::Arc;

use longhaul_congestion::Factory;
use longhaul_engine::config::Transport;
use longhaul_engine::stack::{ForeignStack, Stack, StackFactory, StackSetup};
use longhaul_scenario::{
    Algorithms, CustomAlgorithm, FoundStack, OwnAlgorithm, QuicStack, Scenario, ScenarioError,
    StackError, parse, parse_with,
};

use crate::{origin, value};

/// A scenario with a path that holds 12.5 MB, and a queue of the same size.
const BASE: &str = r#"
duration = "10 s"

[topology.dumbbell]
bottleneck = { rate = "1 Gbps", delay = "50 ms", queue = { kind = "droptail", limit = "1 BDP" } }

[[flows]]
protocol = "quic"
"#;

/// Factory that makes no connection, because scenarios are only checked.
#[derive(Debug)]
struct Checked;

impl StackFactory for Checked {
    fn make(&self, _: &StackSetup) -> Box<dyn Stack> {
        unreachable!("no scenario runs here")
    }
}

/// A program with one QUIC stack, `quinn`. The stack refuses XCP, because XCP needs routers.
struct Program;

impl Algorithms for Program {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("no Python here".to_string())
    }

    fn stack(
        &self,
        settings: &QuicStack,
        own: Option<&OwnAlgorithm>,
    ) -> Result<FoundStack, StackError> {
        let refuse = |key, message: &str| {
            let message = message.to_string();
            Err(StackError { key, message })
        };
        if own.is_some_and(|own| own.controller.kind == "xcp") {
            return refuse("congestion", "no routers");
        }
        if settings.kind != "quinn" {
            return refuse("kind", "no such stack");
        }
        Ok(FoundStack {
            factory: Arc::new(Checked),
            congestion: settings.congestion.clone().unwrap_or("cubic".to_string()),
            version: "quinn 7".to_string(),
            warnings: vec!["slow".to_string()],
        })
    }
}

fn parsed(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    parse_with(text, "base.toml", None, &overrides, &Program)
}

fn with(overrides: &[&str]) -> Scenario {
    parsed(BASE, overrides).unwrap_or_else(|error| panic!("{overrides:?}: {error}"))
}

fn refusal(overrides: &[&str]) -> String {
    match parsed(BASE, overrides) {
        Ok(_) => panic!("accepted: {overrides:?}"),
        Err(error) => error.to_string(),
    }
}

fn transport(scenario: &Scenario) -> &ForeignStack {
    match &scenario.config().flows[0].transport {
        Transport::Stack(stack) => stack,
        other => panic!("no stack: {other:?}"),
    }
}

const OWN: &str = r#"flows.0.congestion={ kind = "reno" }"#;

/// Checks that the resolved scenario contains the QUIC stack, its algorithm and version, and resolves to itself.
#[test]
fn the_stack_its_algorithm_and_its_version_are_written() {
    let scenario = with(&[]);
    assert_eq!(value(&scenario, "/flows/0/stack/kind"), r#""quinn""#);
    assert_eq!(value(&scenario, "/flows/0/stack/congestion"), r#""cubic""#);
    assert_eq!(value(&scenario, "/flows/0/stack/version"), r#""quinn 7""#);
    let from = |key: &str| origin(&scenario, &format!("flows.0.stack.{key}"));
    assert_eq!(from("congestion"), "derived: the stack's default");
    assert_eq!(
        from("version"),
        "derived: version of the stack in this build"
    );
    for overrides in [&[][..], &[OWN], &["flows.0.stack.congestion=bbr"]] {
        let scenario = with(overrides);
        let again = parsed(&scenario.resolved_json().to_string(), &[]).expect("sound");
        assert_eq!(again.hash(), scenario.hash());
        assert_eq!(again.resolved_json(), scenario.resolved_json());
    }
    let other = refusal(&["flows.0.stack.version=quinn 6"]);
    let expected = "flows.0.stack.version: this build has quinn 7, not quinn 6; leave version out";
    assert!(other.contains(expected), "{other}");
}

/// Checks the default label of QUIC flows, and the name of their congestion control in the configuration.
#[test]
fn the_congestion_control_is_the_stack_s_or_one_of_longhaul() {
    for (overrides, label, name) in [
        (&[][..], "quinn", "quinn:cubic"),
        (&["flows.0.stack.congestion=bbr"], "quinn-bbr", "quinn:bbr"),
        (&[OWN], "quinn-reno", "quinn:longhaul-reno"),
    ] {
        let scenario = with(overrides);
        assert_eq!(value(&scenario, "/flows/0/label"), format!("{label:?}"));
        assert_eq!(transport(&scenario).congestion, name);
    }
    let own = with(&[OWN]).resolved_json();
    assert!(own.pointer("/flows/0/stack/congestion").is_none());
    assert!(own.pointer("/flows/0/slow_start").is_some());
}

/// Sizes of transfers and packets reach the configuration, and warnings of the stack reach the
/// user. A datagram has 28 bytes of IP and UDP headers (RFC 791, RFC 768).
#[test]
fn transfers_sizes_and_warnings_reach_the_run() {
    let scenario = with(&["flows.0.transfer=3 MB"]);
    let stack = transport(&scenario);
    assert_eq!(
        (stack.transfer, stack.packet_bytes),
        (Some(3_000_000), 1480)
    );
    let small = with(&["flows.0.stack.mtu=1200 B"]);
    assert_eq!(transport(&small).packet_bytes, 1228);
    assert_eq!(transport(&small).transfer, None);
    let warnings = scenario.warnings();
    assert!(
        warnings.contains(&"flows `quinn`: slow".to_string()),
        "{warnings:?}"
    );
}

/// Checks that flow control windows are converted to bytes. They are given in bytes or in
/// bandwidth-delay products. By default, they are four times the capacity of path and queue, at
/// least quinn's 1250 kB.
#[test]
fn windows_are_in_bytes() {
    let window = |overrides: &[&str]| value(&with(overrides), "/flows/0/stack/window");
    assert_eq!(window(&["flows.0.stack.window=300 kB"]), r#""300 kB""#);
    assert_eq!(window(&["flows.0.stack.window=2 BDP"]), r#""25 MB""#);
    assert_eq!(window(&["flows.0.stack.window=auto"]), window(&[]));
    let slow = "topology.dumbbell.bottleneck.rate=1 Mbps";
    assert_eq!(window(&[slow]), r#""1250 kB""#);
    let packets = "topology.dumbbell.bottleneck.queue.limit=1000 packets";
    // 12.5 MB, and 1000 packets of 1500 bytes.
    assert_eq!(window(&[packets]), r#""56 MB""#);
}

#[test]
fn keys_of_other_transports_are_refused() {
    for (wrong, reason) in [
        (
            r#"flows.0.tcp={ ecn = "accecn" }"#,
            "a QUIC flow has no tcp: its transport is the stack's own",
        ),
        (
            r#"flows.0.recovery="sack""#,
            "no recovery: the stack detects losses itself",
        ),
        ("flows.0.streams=2", "no streams: it is a key of TCP flows"),
        (
            r#"flows.0.rate="1 Mbps""#,
            "no rate: the stack's congestion control sets the rate",
        ),
        (
            r#"flows.0.traffic={ kind = "on-off", on = "1 s", off = "1 s" }"#,
            "no traffic: it has one connection",
        ),
        (
            r#"flows.0.slow_start={ kind = "hystart" }"#,
            "no slow_start: it applies to an algorithm of Longhaul",
        ),
    ] {
        let message = refusal(&[wrong]);
        assert!(message.contains(reason), "{wrong}: {message}");
    }
    with(&[
        OWN,
        r#"flows.0.slow_start={ kind = "hystart" }"#,
        "flows.0.trace_acks=true",
    ]);
    let tcp = refusal(&[r#"flows=[{ stack = { kind = "quinn" } }]"#]);
    assert!(
        tcp.contains(r#"only a QUIC flow has a stack; write protocol = "quic""#),
        "{tcp}"
    );
    let bare = parse(BASE, "base.toml", None, &[]).expect_err("no stacks");
    assert!(
        bare.to_string().contains("built without QUIC stacks"),
        "{bare}"
    );
}

/// Checks that contradictory settings of a stack are refused. A UDP payload has at least 1200 bytes
/// (RFC 9000 section 14), and 1472 bytes fit into a packet of 1500.
#[test]
fn settings_of_a_stack_have_to_fit_together() {
    for mtu in [1200, 1472] {
        with(&[&format!("flows.0.stack.mtu={mtu} B")]);
    }
    for mtu in [1199, 1473] {
        let message = refusal(&[&format!("flows.0.stack.mtu={mtu} B")]);
        let expected = format!("flows.0.stack.mtu: {mtu} B is out of range; expected from 1200 B");
        assert!(message.contains(&expected), "{message}");
    }
    let delay = "flows.0.stack.max_ack_delay=5 ms";
    with(&[delay, "flows.0.stack.ack_frequency=4"]);
    let alone = refusal(&[delay]);
    assert!(
        alone.contains("flows.0.stack.max_ack_delay: the sender requests this delay"),
        "{alone}"
    );
    let both = refusal(&[OWN, "flows.0.stack.congestion=bbr"]);
    assert!(
        both.contains("flows.0.stack.congestion: give either `congestion` of the flow"),
        "{both}"
    );
}

/// Checks that a setting that the stack refuses is reported at its key, or at the key of the flow's
/// algorithm.
#[test]
fn refusals_of_a_stack_have_their_place() {
    let kind = refusal(&["flows.0.stack.kind=other"]);
    assert!(kind.contains("flows.0.stack.kind: no such stack"), "{kind}");
    let own = refusal(&[r#"flows.0.congestion={ kind = "xcp" }"#]);
    assert!(own.contains("flows.0.congestion: no routers"), "{own}");
}
