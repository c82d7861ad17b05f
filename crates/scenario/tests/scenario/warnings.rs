//! Warnings about values that are allowed but probably not intended.

use longhaul_scenario::{Simulation, parse};
use longhaul_units::{Span, Time};

use crate::{BASE, with};

/// Returns the warnings about [`BASE`] with overrides, if they contain `text`. [`BASE`] has 1
/// Gbit/s and a base round trip of 100 ms.
fn told(text: &str, overrides: &[&str]) -> Vec<String> {
    let warnings = with(overrides).warnings().to_vec();
    let about = |warning: &String| warning.contains(text);
    warnings.into_iter().filter(about).collect()
}

/// Checks that exactly one warning contains `text` if `expected`, and none otherwise.
#[track_caller]
fn assert_told(text: &str, overrides: &[&str], expected: bool) {
    let found = told(text, overrides);
    assert_eq!(
        found.len(),
        usize::from(expected),
        "{overrides:?}: {found:?}"
    );
}

/// Checks that timers shorter than the base round trip cause a warning: they would expire before an
/// answer can arrive, and every SYN or segment would be sent again.
#[test]
fn timers_shorter_than_the_base_round_trip() {
    let timer = |initial: u64, max: u64| {
        format!(
            "flows.0.tcp.rto={{ min = \"10 ms\", initial = \"{initial} ms\", max = \"{max} ms\" }}"
        )
    };
    let (syn, all) = ("send each SYN again", "time out before any acknowledgement");
    for (initial, max, again, out) in [
        (100, 1000, true, false),
        (101, 1000, false, false),
        (50, 100, false, true),
        (50, 101, true, false),
    ] {
        let overrides = [timer(initial, max)];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        assert_told(syn, &overrides, again);
        assert_told(all, &overrides, out);
    }
    let found = told(syn, &[&timer(60, 1000)]);
    assert!(
        found[0].contains("their base round trip of 100 ms is not below"),
        "{found:?}"
    );
}

/// Checks the warning about an automatic marking threshold of a seventh of 12.5 MB behind a short limit.
#[test]
fn an_automatic_threshold_above_the_limit() {
    let queue = |limit: &str| {
        let place = "topology.dumbbell.bottleneck.queue";
        format!("{place}={{ kind = \"threshold\", limit = \"{limit}\" }}")
    };
    assert_told("marks nothing", &[&queue("1190 packets")], true);
    assert_told("marks nothing", &[&queue("1200 packets")], false);
    assert_told("marks nothing", &[&queue("1 BDP")], false);
}

/// Checks the warning about access links that are as slow as the bottleneck. Packets then queue at
/// the hosts, but the default limit of the hosts' queues is meant for fast links.
#[test]
fn queues_at_a_flow_s_own_hosts() {
    let text = "queue up at their own hosts";
    let access = |more: &str| format!("flows.0.access={{ rate = {more}, delay = \"1 ms\" }}");
    assert_told(text, &[&access("\"1 Gbps\"")], true);
    assert_told(text, &[&access("\"1100 Mbps\"")], false);
    let limited = "\"1 Gbps\", queue = { kind = \"droptail\", limit = \"50 packets\" }";
    assert_told(text, &[&access(limited)], false);
    assert_told(text, &[], false);
}

/// Checks the warning if full windows of all flows need more than 2 GB: 13.3 million segments of 150 B.
#[test]
fn windows_larger_than_memory() {
    let text = "full windows would take some";
    let window = |segments: u64| format!("flows.0.tcp.receive_window={segments}");
    assert_told(text, &[&window(13_000_000)], false);
    assert_told(text, &[&window(14_000_000)], true);
    assert_told(text, &[&window(7_000_000), "flows.0.count=2"], true);
    assert_told(text, &[&window(14_000_000), "flows.0.transfer=1 MB"], false);
    let found = told(text, &[&window(20_000_000)]);
    assert!(
        found[0].contains("some 3.0 GB of memory: 2.00e7 segments"),
        "{found:?}"
    );
}

#[test]
fn replications_that_are_all_the_same() {
    let text = "replication 1 changes nothing";
    let start = "flows.0.start={ uniform = [\"0 s\", \"1 s\"] }";
    assert_told(text, &["replication=1"], true);
    assert_told(text, &["replication=0"], false);
    assert_told(text, &["replication=1", start], false);
}

/// Checks that DECbit's queue causes a warning if other senders use it with ECN. The queue marks packets from an
/// average length of one packet on (Ramakrishnan and Jain 1990); senders of RFC 3168 halve their windows for a mark.
#[test]
fn decbit_s_queue_with_other_senders() {
    let text = "it is made for `decbit` senders";
    let queue = "topology.dumbbell.bottleneck.queue={ kind = \"decbit\" }";
    assert_told(text, &[queue, "flows.0.tcp.ecn=true"], true);
    assert_told(text, &[queue, "flows.0.tcp.ecn=false"], false);
    assert_told(
        text,
        &[queue, "flows.0.congestion={ kind = \"decbit\" }"],
        false,
    );
}

/// Checks the expected size of the output: at least 4 bytes for each sample, and 100 bytes for each captured packet of
/// a full link.
#[test]
fn the_output_s_size_is_expected() {
    let every = "measure.every=100 ms";
    let bytes = |overrides: &[&str]| with(&[&[every], overrides].concat()).expected_bytes();
    let alone = bytes(&[]);
    assert!((bytes(&["flows.0.count=3"]) - alone - 2.0 * 100.0 * 4.0).abs() < 1e-6);
    assert_eq!(bytes(&["measure.every=200 ms"]), alone / 2.0);
    let links = with(&[]).config().links.clone();
    let capture = |count: usize| {
        let names: Vec<String> = links[..count]
            .iter()
            .map(|link| format!("{:?}", link.name))
            .collect();
        format!("measure.capture=[{}]", names.join(", "))
    };
    // The link carries 10^10 bits in packets of 1500 bytes. The reverse direction, which carries ACKs, adds nothing,
    // nor do finite transfers, which may be short.
    let packets = 1e10 / 12_000.0;
    for count in [1, 2] {
        let more = bytes(&[&capture(count)]) - alone;
        assert!((more - 100.0 * packets).abs() < 1.0, "{count}: {more}");
    }
    assert_eq!(bytes(&[&capture(1), "flows.0.transfer=1 GB"]), alone);
    let udp = "flows=[{ protocol = \"udp\", rate = \"12 Mbps\" }]";
    let datagrams = bytes(&[udp, &capture(1)]) - bytes(&[udp]);
    assert!((datagrams - 100.0 * 10_000.0).abs() < 1.0, "{datagrams}");
}

#[test]
fn a_simulation_knows_its_end() {
    assert_eq!(with(&[]).duration(), Time::ZERO + Span::from_secs(10));
    let mesonet = parse(
        "title = \"Users\"\n[mesonet]\nintervals = 100\n",
        "m.toml",
        None,
        &[],
    );
    let mesonet = mesonet.unwrap_or_else(|error| panic!("{error}"));
    let Simulation::MesoNet(run) = mesonet.simulation() else {
        panic!("no MesoNet")
    };
    assert_eq!(mesonet.duration(), run.config.duration);
    assert!(mesonet.duration() > Time::ZERO);
    assert_eq!(mesonet.expected_bytes(), 0.0);
    assert_eq!(
        (mesonet.title().as_str(), with(&[]).title().as_str()),
        ("Users", "")
    );
}

/// Checks the message about a key that fits its table's `kind` in the file, but not the `kind` set by an override.
#[test]
fn keys_of_the_kind_before_an_override_are_told_of() {
    let text = BASE.replacen(
        "{ kind = \"reno\" }",
        "{ kind = \"hstcp\", low_window = 31 }",
        1,
    );
    let overrides = ["flows.0.congestion.kind=cubic".to_string()];
    let error = parse(&text, "base.toml", None, &overrides).expect_err("a key too many");
    let message = error.to_string();
    assert!(
        message.contains("It is given for another kind: `kind = \"cubic\"` is from --set"),
        "{message}"
    );
    let beside = BASE.replacen(
        "{ kind = \"reno\" }",
        "{ kind = \"cubic\", low_window = 31 }",
        1,
    );
    let beside = parse(&beside, "base.toml", None, &[]).expect_err("a key too many");
    assert!(!beside.to_string().contains("another kind"), "{beside}");
}

/// Checks that an error lists the paths of the wrong keys, each once, in the order of the file.
#[test]
fn an_error_names_its_keys() {
    let text = BASE
        .replacen("\"10 s\"", "\"-10 s\"", 1)
        .replacen("\"1 Gbps\"", "\"0 bps\"", 1);
    let error = parse(&text, "base.toml", None, &[]).expect_err("two mistakes");
    let paths: Vec<&str> = error.paths().collect();
    assert_eq!(paths, ["duration", "topology.dumbbell.bottleneck.rate"]);
}

/// Checks that a CoDel target below the transmission time of a full packet causes a warning (RFC
/// 8290 section 5.2.2). The packet has 1500 bytes, and the link 1 Mbit/s.
#[test]
fn targets_shorter_than_a_packet() {
    let queue = |target: &str| {
        format!("topology.dumbbell.bottleneck.queue={{ kind = \"codel\", target = {target:?} }}")
    };
    let slow = "topology.dumbbell.bottleneck.rate=1 Mbps";
    let text = "a packet of 1500 B takes 12 ms there";
    assert_told(text, &[&queue("11.99 ms"), slow], true);
    assert_told(text, &[&queue("12 ms"), slow], false);
}
