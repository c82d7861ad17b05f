//! Keys of QUIC flows: their effect, and values that are refused.

use longhaul_engine::measure::EventKind;

use crate::{first_flow, refusal, run, with};

fn value(overrides: &[&str], pointer: &str) -> String {
    let json = with(overrides).resolved_json();
    let value = json.pointer(pointer);
    value.unwrap_or_else(|| panic!("no {pointer}")).to_string()
}

#[test]
fn the_stack_and_its_version_are_part_of_the_scenario() {
    assert_eq!(value(&[], "/flows/0/stack/kind"), r#""quinn""#);
    assert_eq!(value(&[], "/flows/0/stack/congestion"), r#""cubic""#);
    assert_eq!(value(&[], "/flows/0/label"), r#""quinn""#);
    // The version matches the lock file.
    let lock = include_str!("../../../../Cargo.lock");
    let (_, entry) = lock.split_once("name = \"quinn-proto\"\n").expect("locked");
    let version = entry.lines().next().expect("a version");
    let version = version.trim_start_matches("version = ").trim_matches('"');
    let known = value(&[], "/flows/0/stack/version");
    assert_eq!(known, format!("\"quinn-proto {version}\""));
    let other = refusal(&[r#"flows.0.stack.version="quinn-proto 0.1""#]);
    assert!(
        other.contains(&format!("this build has quinn-proto {version}")),
        "{other}"
    );
    let bbr = [r#"flows.0.stack.congestion="bbr""#];
    assert_eq!(value(&bbr, "/flows/0/label"), r#""quinn-bbr""#);
    assert_ne!(with(&bbr).hash(), with(&[]).hash());
}

/// A resolved scenario can be read as a scenario, and gives the same results.
#[test]
fn a_resolved_scenario_resolves_to_itself() {
    for overrides in [&[][..], &[r#"flows.0.congestion={ kind = "cubic" }"#]] {
        let scenario = with(overrides);
        let text = scenario.resolved_json().to_string();
        let again = longhaul_scenario::parse_with(&text, "again.json", None, &[], &crate::Program);
        assert_eq!(again.expect("it is valid").hash(), scenario.hash());
    }
}

#[test]
fn windows_are_in_bytes() {
    let window = "/flows/0/stack/window";
    // 10 Mbit/s times 40 ms are 50 kB, and another 50 kB wait in the queue.
    assert_eq!(
        value(&[r#"flows.0.stack.window="8 BDP""#], window),
        r#""400 kB""#
    );
    assert_eq!(value(&[], window), r#""1250 kB""#);
    let fat = r#"topology.dumbbell.bottleneck.rate="1 Gbps""#;
    assert_eq!(value(&[fat], window), r#""39998 kB""#);
    // A window of a quarter of the bandwidth-delay product limits the flow.
    let (totals, _) = run(&with(&[
        r#"topology.dumbbell.bottleneck.rate="50 Mbps""#,
        r#"flows.0.stack.window="0.25 BDP""#,
        r#"measure.from="2 s""#,
    ]));
    let goodput = totals.flows[0].window.delivered_bytes as f64 * 8.0 / 8.0 / 50e6;
    assert!((0.18..0.26).contains(&goodput), "{goodput}");
}

#[test]
fn what_a_stack_does_not_have_is_refused() {
    let cases = [
        (
            r#"flows.0.tcp={ ecn = "accecn" }"#,
            "a QUIC flow has no tcp",
        ),
        (
            r#"flows.0.recovery="sack""#,
            "the stack detects losses itself",
        ),
        (
            r#"flows.0.slow_start={ kind = "hystart" }"#,
            "and the flow names none",
        ),
        (
            r#"flows.0.rate="1 Mbps""#,
            "the stack's congestion control sets the rate",
        ),
        (r#"flows.0.streams=2"#, "a QUIC flow has no streams"),
        (
            r#"flows.0.traffic={ kind = "on-off", on = "1 s", off = "1 s" }"#,
            "it has one connection",
        ),
        (
            r#"flows.0.stack.kind="quin""#,
            "unknown QUIC stack `quin`; this build has quinn",
        ),
        (
            r#"flows.0.stack.congestion="bbr3""#,
            "quinn has no congestion control `bbr3`; allowed: cubic, newreno, bbr",
        ),
        (
            r#"flows.0.stack.mtu="1500 B""#,
            "1500 B is out of range; expected from 1200 B",
        ),
        (
            r#"flows.0.stack.max_ack_delay="5 ms""#,
            "only together with ack_frequency",
        ),
    ];
    for (wrong, reason) in cases {
        let message = refusal(&[wrong]);
        assert!(message.contains(reason), "{wrong}: {message}");
    }
    let both = refusal(&[
        r#"flows.0.congestion={ kind = "cubic" }"#,
        r#"flows.0.stack.congestion="bbr""#,
    ]);
    assert!(
        both.contains("give either `congestion` of the flow"),
        "{both}"
    );
    let tcp = refusal(&[r#"flows=[{ stack = { kind = "quinn" } }]"#]);
    assert!(tcp.contains(r#"write protocol = "quic""#), "{tcp}");
    let bare = longhaul_scenario::parse(crate::BASE, "base.toml", None, &[]);
    let bare = bare.expect_err("no stacks").to_string();
    assert!(bare.contains("built without QUIC stacks"), "{bare}");
}

/// Checks that algorithms of Longhaul fill most of a path in a QUIC stack. An algorithm that paces causes a warning. An
/// algorithm is refused if it needs information or packets that the stack does not provide.
#[test]
fn algorithms_of_longhaul_run_in_the_stack() {
    let own = |kind: &str| format!(r#"flows.0.congestion={{ kind = "{kind}" }}"#);
    for (kind, least) in [("reno", 0.7), ("cubic", 0.7), ("hstcp", 0.7), ("bbr3", 0.5)] {
        let (totals, _) = run(&with(&[&own(kind), r#"measure.from="3 s""#]));
        assert!(totals.run_warnings.is_empty(), "{:?}", totals.run_warnings);
        let flow = &totals.flows[0];
        let share = flow.window.delivered_bytes as f64 * 8.0 / 7.0 / 10e6;
        assert!((least..0.96).contains(&share), "{kind}: {share}");
        assert!(flow.total.cwnd_integral > 100.0, "{kind}");
    }
    assert_eq!(value(&[&own("bbr3")], "/flows/0/label"), r#""quinn-bbr3""#);
    let bbr = with(&[&own("bbr3")]);
    let warning = "flows `quinn-bbr3`: `bbr3` paces, but quinn paces";
    let warnings = bbr.warnings();
    assert!(
        warnings.iter().any(|text| text.starts_with(warning)),
        "{warnings:?}"
    );
    for (kind, what) in [
        ("prague", "the number of marked packets"),
        ("xcp", "answers of routers"),
        ("peach", "low-priority packets"),
        ("packet-pair", "packet pairs"),
    ] {
        let message = refusal(&[&own(kind)]);
        let reason = format!("flows.0.congestion: `{kind}` needs {what}");
        assert!(message.contains(&reason), "{message}");
    }
}

/// A receiver sends fewer acknowledgements if the sender requests that.
#[test]
fn the_receiver_acknowledges_as_often_as_it_is_asked_to() {
    let answers = |overrides: &[&str]| run(&with(overrides)).0.links[1].total.arrived_pkts;
    let usual = answers(&[]);
    let rare = answers(&["flows.0.stack.ack_frequency=10"]);
    assert!(4 * rare < usual, "{rare} {usual}");
}

/// The sender responds to marks at most once a round trip, and nothing is lost.
#[test]
fn marks_reduce_the_window() {
    let (totals, records) = run(&with(&[
        r#"topology.dumbbell.bottleneck.queue={ kind = "codel", ecn = true }"#,
    ]));
    let flow = first_flow(&totals);
    assert!(
        flow.cuts_ecn > 3 && flow.cuts_ecn <= flow.marked_pkts,
        "{flow:?}"
    );
    let cuts = records.events.iter();
    let cuts = cuts.filter(|event| matches!(event.kind, EventKind::Cut(_)));
    assert_eq!(cuts.clone().count() as u64, flow.cuts_ecn + flow.cuts_loss);
    assert!(
        cuts.clone()
            .all(|event| event.cwnd_after < event.cwnd_before)
    );
}

/// A traced flow has a row for each acknowledgement, with the window.
#[test]
fn a_traced_flow_has_rows_for_its_acknowledgements() {
    let (_, records) = run(&with(&["flows.0.trace_acks=true", r#"duration="2 s""#]));
    let windows = records.traces.iter();
    let windows: Vec<f64> = windows
        .filter(|trace| trace.quantity == "cwnd")
        .map(|trace| trace.value)
        .collect();
    assert!(windows.len() > 500);
    let largest = records.flows.iter().filter_map(|sample| sample.cwnd);
    let largest = largest.fold(0.0, f64::max);
    assert!(windows.iter().any(|&window| window >= largest));
}
