//! Every mistake in a scenario gives one message with file, line, key, the value found, and the
//! remedy.

use longhaul_scenario::parse;

use crate::{BASE, refusal};

/// Replaces `from` by `to` in the scenario [`BASE`], and returns the error message about the result.
fn replaced(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "{from} is not in the base scenario");
    refusal(&BASE.replacen(from, to, 1))
}

/// Checks that `message` contains exactly one diagnosis, begins with `head`, and contains all `parts`.
fn assert_one(message: &str, head: &str, parts: &[&str]) {
    let heads = message
        .lines()
        .filter(|line| line.starts_with("wrong.toml"))
        .count();
    assert_eq!(heads, 1, "{message}");
    assert!(message.starts_with(head), "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn an_unknown_key_is_underlined_with_the_nearest_name() {
    let message = replaced("rate =", "rat =");
    let line = "bottleneck = { rat = \"1 Gbps\", delay = \"50 ms\", queue = { kind = \"droptail\", \
                limit = \"1 BDP\" } }";
    let head = "wrong.toml:5:16: topology.dumbbell.bottleneck.rat: unknown key `rat` (did you mean \
                `rate`?); `longhaul list keys bottleneck` shows all ";
    let marked = format!("\n 5 | {line}\n   | {}^^^", " ".repeat(15));
    assert!(message.starts_with(head), "{message}");
    assert!(message.ends_with(&marked), "{message}");
}

#[test]
fn the_words_of_other_tools_lead_to_keys() {
    let path = "topology.dumbbell.bottleneck";
    for (from, to, head) in [
        (
            "delay =",
            "latency =",
            "5:33: topology.dumbbell.bottleneck.latency",
        ),
        (
            "rate =",
            "bandwidth =",
            "5:16: topology.dumbbell.bottleneck.bandwidth",
        ),
    ] {
        let (key, word) = (from.trim_end_matches(" ="), to.trim_end_matches(" ="));
        let message = replaced(from, to);
        let meant = format!("unknown key `{word}` (did you mean `{key}`?)");
        assert_one(&message, &format!("wrong.toml:{head}"), &[&meant, path]);
    }
    // The hint is given only if the table has the key that is meant.
    let elsewhere = refusal(&format!("latency = 1\n{BASE}"));
    assert!(!elsewhere.contains("did you mean"), "{elsewhere}");
}

/// Checks that a message shows only the part of a long line around the wrong value. A program may write a scenario in
/// one line, with the same mistake in each of its flows.
#[test]
fn of_a_long_line_the_part_around_the_value_is_shown() {
    let flows = vec![r#"{"label": "one of many", "cuont": 1}"#; 30].join(", ");
    let bottleneck = r#"{"rate": "1 Gbps", "delay": "50 ms"}"#;
    let text = format!(
        r#"{{"duration": "10 s", "topology": {{"dumbbell": {{"bottleneck": {bottleneck}}}}}, "flows": [{flows}]}}"#
    );
    let message = refusal(&text);
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].contains("did you mean `count`?"), "{message}");
    // The line is shortened around the mark, which stays below the marked text.
    let mark = lines[2].find('^').expect("something is marked");
    assert!(lines[1][..=mark].ends_with("\"cuont\": 1"), "{message}");
    assert!(
        lines[1].starts_with(" 1 | ... ") && lines[1].ends_with(" ..."),
        "{message}"
    );
    assert!(lines[1].len() < 120, "{message}");
    assert_eq!(lines.last(), Some(&"... and 10 more"), "{message}");
}

#[test]
fn a_default_that_does_not_fit_names_the_file_and_the_key() {
    let short = "duration = \"1 s\"\ntopology.dumbbell.bottleneck = { rate = \"1 Mbps\", \
                 delay = \"1 ms\" }\nflows = [{}]\n";
    assert_one(
        &refusal(short),
        "wrong.toml",
        &["bottleneck.queue.limit", "less than one packet", "default"],
    );
}

#[test]
fn quantities_need_their_unit() {
    let message = replaced("\"10 s\"", "10");
    assert_one(
        &message,
        "wrong.toml:2:12: duration: ",
        &["unit is missing", "\"50 ms\"", "min"],
    );
    let message = replaced("\"1 Gbps\"", "\"1 Gb\"");
    assert_one(
        &message,
        "wrong.toml:5:23: topology.dumbbell.bottleneck.rate: ",
        &["\"Gb\"", "Gbps"],
    );
    let message = replaced("\"50 ms\"", "\"50 Mbps\"");
    assert_one(
        &message,
        "wrong.toml:5:41: ",
        &["not a unit of time but of rate"],
    );
}

#[test]
fn impossible_values_are_refused() {
    let bottleneck = "wrong.toml:5:23: topology.dumbbell.bottleneck.rate: ";
    assert_one(
        &replaced("\"1 Gbps\"", "\"-1 Gbps\""),
        bottleneck,
        &["negative"],
    );
    assert_one(
        &replaced("\"1 Gbps\"", "\"0 bps\""),
        bottleneck,
        &["must be greater than 0"],
    );
    let zero = replaced("\"1 BDP\"", "\"0 packets\"");
    assert_one(
        &zero,
        "wrong.toml:5:87: topology.dumbbell.bottleneck.queue.limit: ",
        &["must be greater than 0"],
    );
    let tiny = replaced("\"1 BDP\"", "\"0.0001 BDP\"");
    assert_one(
        &tiny,
        "wrong.toml:5:87: ",
        &["less than one packet", "expected a limit in packets"],
    );
    let tiny = replaced("\"1 BDP\"", "\"100 B\"");
    assert_one(&tiny, "wrong.toml:5:87: ", &["expected at least 1500 B"]);
    let loss = replaced("delay =", "loss = { bernoulli = 1.5 }, delay =");
    let path = "topology.dumbbell.bottleneck.loss.bernoulli: ";
    assert_one(
        &loss,
        &format!("wrong.toml:5:54: {path}"),
        &["1.5", "from 0 to 1"],
    );
}

#[test]
fn acknowledgements_report_transit_times_or_delays() {
    let both = "tcp = { rtt_sample = \"reported\", timestamps = \"one-way\" }";
    let message = replaced("[[flows]]", &format!("[[flows]]\n{both}"));
    assert!(message.contains("flows.0.tcp.rtt_sample: "), "{message}");
    assert!(
        message.contains("not how long they were delayed"),
        "{message}"
    );
}

/// A timer has a granularity or a tick, whichever table sets them, and ns-2's clock needs echoed timestamps.
#[test]
fn a_timer_has_one_clock() {
    let rto = "rto = { granularity = \"3 ms\", tick = \"5 ms\" }";
    let in_flow = replaced("[[flows]]", &format!("[[flows]]\ntcp.{rto}"));
    let in_file = replaced("[[flows]]", &format!("[tcp]\n{rto}\n[[flows]]"));
    for message in [in_flow, in_file] {
        assert!(message.contains("give either granularity"), "{message}");
    }
    let ticks = "tcp = { rto.tick = \"5 ms\", rtt_sample = \"last\" }";
    let message = replaced("[[flows]]", &format!("[[flows]]\n{ticks}"));
    assert!(message.contains("needs rtt_sample = \"echo\""), "{message}");
}

#[test]
fn deep_json_is_refused() {
    let text = format!("{{\"a\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let message = refusal(&text);
    assert!(message.contains("at most 100 levels"), "{message}");
}

#[test]
fn a_key_that_appears_twice_is_refused_in_json_too() {
    let message =
        refusal("{\"duration\": \"10 s\",\n \"measure\": {\"from\": \"1 s\", \"from\": \"2 s\"}}");
    assert!(
        message.contains("wrong.toml:2:13: the key \"from\" appears twice"),
        "{message}"
    );
}

#[test]
fn zero_switches_off_limited_slow_start_only() {
    let other = "slow_start = { kind = \"hystart\", max_ssthresh = 0, foo = 3 }";
    let message = replaced("[[flows]]", &format!("[[flows]]\n{other}"));
    assert!(message.contains("max_ssthresh"), "{message}");
    assert!(message.contains("foo"), "{message}");
}

#[test]
fn a_file_that_is_not_there_is_named_once_and_without_a_position() {
    let missing = longhaul_scenario::load(std::path::Path::new("nowhere/none.toml"), &[]);
    let message = missing.unwrap_err().to_string();
    assert_eq!(message, "nowhere/none.toml: no such file");
}

#[test]
fn a_table_in_place_of_a_list_is_explained_as_its_entry() {
    let message = replaced("[[flows]]", "[flows]");
    let said = "expected a list, found a table; each entry of a list begins with [[flows]]";
    assert!(message.contains(said), "{message}");
}

#[test]
fn a_table_that_stands_twice_is_explained_as_a_list() {
    let message = replaced("[[flows]]", "[flows]\n[flows]");
    assert!(message.starts_with("wrong.toml:8:"), "{message}");
    assert!(
        message.contains("each entry of a list begins with [[flows]]"),
        "{message}"
    );
    let message = replaced("duration =", "duration = \"1 s\"\nduration =");
    assert!(message.contains("duplicate key"), "{message}");
    assert!(!message.contains("[["), "{message}");
}

#[test]
fn the_whole_path_of_an_override_is_suggested() {
    let overrides = ["bottleneck.rate=5 Mbps".to_string()];
    let refused = parse(BASE, "base.toml", None, &overrides);
    let message = refused.unwrap_err().to_string();
    let path = "There is `topology.dumbbell.bottleneck`: write the whole path";
    assert!(message.contains(path), "{message}");
}

#[test]
fn unknown_names_are_listed() {
    let message = replaced("\"reno\"", "\"hstpc\"");
    let parts = [
        "`hstpc`",
        "did you mean `hstcp`?",
        "`longhaul list algorithms` shows all",
    ];
    assert_one(
        &message,
        "wrong.toml:8:23: flows.0.congestion.kind: unknown congestion control",
        &parts,
    );
    let message = replaced(
        "{ kind = \"reno\" }",
        "{ kind = \"hstcp\", low_windw = 31 }",
    );
    assert_one(
        &message,
        "wrong.toml:8:32: flows.0.congestion.low_windw: ",
        &["`low_window`"],
    );
    let message = replaced("\"droptail\"", "\"drop-tail\"");
    assert_one(
        &message,
        "wrong.toml:5:67: ",
        &[
            "did you mean `droptail`?",
            "`longhaul list queues` shows all",
        ],
    );
    let message = replaced("duration", "profile = \"ns2\"\nduration");
    assert_one(
        &message,
        "wrong.toml:2:11: profile: ",
        &["`ns2`", "rfc, linux, ns2-2.35, ns2-2003"],
    );
    let message = replaced("[[flows]]", "[[flows]]\nrecovery = \"sck\"");
    assert_one(
        &message,
        "wrong.toml:8:12: flows.0.recovery: ",
        &["did you mean `sack`?"],
    );
    let message = replaced("[[flows]]", "[[flows]]\ntcp = { sack_blocks = false }");
    assert_one(
        &message,
        "wrong.toml:8:23: flows.0.tcp.sack_blocks: ",
        &["this recovery needs SACK blocks", "newreno", "ns2-sack"],
    );
    let message = replaced(
        "duration",
        "measure = { capture = [\"bottlenek\"] }\nduration",
    );
    assert_one(
        &message,
        "wrong.toml:2:24: measure.capture.0: ",
        &["did you mean `bottleneck`?"],
    );
}

#[test]
fn times_have_to_lie_inside_the_run() {
    let message = replaced("[[flows]]", "[[flows]]\nstart = \"11 s\"");
    assert_one(
        &message,
        "wrong.toml:8:9: flows.0.start: 11 s is not before the end",
        &["10 s"],
    );
    let message = replaced(
        "[[flows]]",
        "[[flows]]\nstart = { uniform = [\"0 s\", \"11 s\"] }",
    );
    assert_one(
        &message,
        "wrong.toml:8:29: flows.0.start: ",
        &["11 s is not before the end"],
    );
    let message = replaced("duration", "measure = { from = \"10 s\" }\nduration");
    assert_one(
        &message,
        "wrong.toml:2:20: measure.from: ",
        &["not before the end of the run"],
    );
    let message = replaced(
        "[[flows]]",
        "[[flows]]\ncount = 3\nstart = [\"0 s\", \"1 s\"]",
    );
    assert_one(
        &message,
        "wrong.toml:9:9: flows.0.start: ",
        &["one start time for each of 3 flows, found 2"],
    );
    let message = replaced("[[flows]]", "[[flows]]\nstart = \"5 s\"\nstop = \"4 s\"");
    assert_one(
        &message,
        "wrong.toml:9:8: flows.0.stop: ",
        &["not after the start at 5 s"],
    );
}

#[test]
fn seeds_of_ns2_have_31_bits() {
    for seed in ["0", "2147483647"] {
        let head = format!("profile = \"ns2-2.35\"\nseed = {seed}\nduration");
        assert_one(
            &replaced("duration", &head),
            "wrong.toml:3:8: seed: ",
            &["from 1 to 2147483646", seed, "random = \"streams\""],
        );
    }
}

#[test]
fn groups_have_a_sensible_size() {
    let none = replaced("[[flows]]", "[[flows]]\ncount = 0");
    assert_one(
        &none,
        "wrong.toml:8:9: flows.0.count: ",
        &["from 1 to 100000"],
    );
    let absurd = replaced("[[flows]]", "[[flows]]\ncount = 1000000000");
    assert_one(
        &absurd,
        "wrong.toml:8:9: flows.0.count: ",
        &["from 1 to 100000"],
    );
    let packet = replaced("[[flows]]", "[[flows]]\npacket = \"40 B\"");
    assert_one(
        &packet,
        "wrong.toml:8:10: flows.0.packet: ",
        &["no room for data after the headers"],
    );
}

#[test]
fn flows_need_nodes_that_exist_and_are_joined() {
    let graph = |flow: &str| {
        refusal(&format!(
            "duration = \"1 s\"\n[topology.graph]\nnodes = [\"a\", \"b\", \"c\"]\nlinks = [{{ from = \
             \"a\", to = \"b\", rate = \"1 Mbps\", delay = \"10 ms\" }}]\n[[flows]]\n{flow}\n"
        ))
    };
    let message = graph("from = \"a\"\nto = \"d\"");
    assert_one(
        &message,
        "wrong.toml:7:6: flows.0.to: unknown node `d`",
        &["allowed: a, b, c"],
    );
    let message = graph("from = \"a\"\nto = \"c\"");
    assert_one(
        &message,
        "wrong.toml:7:6: flows.0: no route leads from `a` to `c`",
        &[],
    );
    let message = graph("from = \"a\"\nto = \"b\"\nrtt = \"1 s\"");
    assert_one(
        &message,
        "wrong.toml:8:1: flows.0: a graph has no access links",
        &[],
    );
    let message = replaced("[[flows]]", "[[flows]]\npath = [0, 1]");
    assert_one(
        &message,
        "wrong.toml:8:1: flows.0.path: ",
        &["by direction, not by path"],
    );
    let message = replaced("[[flows]]", "[[flows]]\nrtt = \"99 ms\"");
    assert_one(
        &message,
        "wrong.toml:8:7: flows.0.rtt: 99 ms is less than the 100 ms",
        &[],
    );
}

#[test]
fn several_mistakes_are_reported_together_in_the_order_of_the_file() {
    let text = BASE
        .replace("\"10 s\"", "\"10\"")
        .replace("\"reno\"", "\"nero\"");
    let message = refusal(&text);
    let heads: Vec<&str> = message
        .lines()
        .filter(|line| line.starts_with("wrong.toml"))
        .collect();
    assert_eq!(heads.len(), 2, "{message}");
    assert!(heads[0].starts_with("wrong.toml:2:12: duration"));
    assert!(heads[1].starts_with("wrong.toml:8:23: flows.0.congestion.kind"));
}

#[test]
fn missing_keys_are_named_with_what_they_hold() {
    let message = replaced("delay = \"50 ms\", ", "");
    assert_one(
        &message,
        "wrong.toml:5:14: topology.dumbbell.bottleneck: ",
        &["`delay` is missing"],
    );
    let message = replaced("[[flows]]\ncongestion = { kind = \"reno\" }", "");
    assert_one(
        &message,
        "wrong.toml:1:1: the key `flows` is missing",
        &["a list"],
    );
    let message = replaced("duration = \"10 s\"", "");
    assert_one(
        &message,
        "wrong.toml:1:1: the key `duration` is missing",
        &["\"50 ms\""],
    );
}

#[test]
fn syntax_errors_have_a_place() {
    let message = refusal("duration = \"10 s\nseed = 1");
    assert!(message.starts_with("wrong.toml:1:"), "{message}");
    let message = refusal("{\"duration\": }");
    assert!(message.starts_with("wrong.toml:1:"), "{message}");
    let message = refusal("{\n  \"seed\": 1,\n  \"duration\": }");
    assert!(message.starts_with("wrong.toml:3:15:"), "{message}");
}

#[test]
fn a_scenario_without_a_topology_is_told_of_all() {
    let flows = "[[flows]]\ncongestion = { kind = \"reno\" }\n";
    let message = refusal(&format!("duration = \"1 s\"\n[topology]\n{flows}"));
    assert!(
        message.contains("give one of [topology.dumbbell], "),
        "{message}"
    );
    let links = "links = [{ from = \"a\", to = \"b\", rate = \"9 Mbps\", delay = \"9 ms\" }]";
    let two = format!("{BASE}\n[topology.graph]\nnodes = [\"a\", \"b\"]\n{links}\n");
    let message = refusal(&two);
    assert!(
        message.contains("give one of [topology.dumbbell], "),
        "{message}"
    );
}

#[test]
fn json_values_have_a_place_too() {
    let text = "{\n  \"duration\": \"10\",\n  \"topology\": {},\n  \"flows\": []\n}";
    let message = refusal(text);
    assert!(
        message.starts_with("wrong.toml:2:15: duration: "),
        "{message}"
    );
}

#[test]
fn overrides_are_named_in_messages() {
    let overrides = ["flows.0.congestion.kind=nero".to_string()];
    let message = parse(BASE, "base.toml", None, &overrides)
        .unwrap_err()
        .to_string();
    let head = "--set flows.0.congestion.kind=nero: flows.0.congestion.kind: unknown congestion";
    assert!(message.starts_with(head), "{message}");
    let overrides = ["flows.3.count=2".to_string()];
    let message = parse(BASE, "base.toml", None, &overrides)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("flows has 1 entry, from 0; none has a label: use flows.0; there is no 3"),
        "{message}"
    );
}

#[test]
fn overrides_find_flows_by_label_as_campaigns_do() {
    let text = BASE.replace(
        "[[flows]]",
        "[[flows]]\nlabel = \"1\"\n\n[[flows]]\nlabel = \"old\"",
    );
    let count = |key: &str| {
        let overrides = [format!("flows.{key}.count=7")];
        parse(&text, "base.toml", None, &overrides).map(|scenario| {
            let flows = &scenario.resolved_json()["flows"];
            [0, 1].map(|group| flows[group]["count"].as_u64())
        })
    };
    assert_eq!(count("old").unwrap(), [Some(1), Some(7)]);
    // A label takes precedence over an index.
    assert_eq!(count("1").unwrap(), [Some(7), Some(1)]);
    assert_eq!(count("0").unwrap(), [Some(7), Some(1)]);
    let message = count("odl").unwrap_err().to_string();
    let text = "flows has 2 entries, from 0; labels: 1, old; there is no odl";
    assert!(message.contains(text), "{message}");
}

#[test]
fn streams_share_a_transfer_of_at_least_a_byte_each() {
    let message = replaced("[[flows]]", "[[flows]]\nstreams = 9\ntransfer = \"8 B\"");
    assert_one(&message, "wrong.toml:8:11: flows.0.streams: ", &["8 B"]);
}

#[test]
fn udp_flows_take_no_tcp_keys() {
    let message = replaced("congestion = { kind = \"reno\" }", "protocol = \"udp\"");
    assert_one(&message, "wrong.toml:8:12: flows.0: ", &["needs a rate"]);
    let message = replaced(
        "congestion",
        "protocol = \"udp\"\nrate = \"1 Mbps\"\ncongestion",
    );
    assert_one(
        &message,
        "wrong.toml:10:1: flows.0.congestion: ",
        &["UDP flow has no congestion"],
    );
    let message = replaced("[[flows]]", "[[flows]]\nrate = \"1 Mbps\"");
    assert_one(
        &message,
        "wrong.toml:8:1: flows.0.rate: ",
        &["protocol = \"udp\""],
    );
}

/// Checks that an error about an invalid default points to the table in which the key is left out.
#[test]
fn a_default_that_does_not_fit_points_to_its_table() {
    let text = r#"duration = "1 s"
[topology.graph]
nodes = ["a", "b"]
links = [
    { from = "a", to = "b", duplex = true, rate = "1 Mbps", delay = "0 ms" },
]
[[flows]]
from = "a"
to = "b"
"#;
    let refused = parse(text, "graph.toml", None, &[])
        .unwrap_err()
        .to_string();
    assert!(
        refused.starts_with("graph.toml:5:5: topology.graph.links.0.queue.limit: "),
        "{refused}"
    );
}

#[test]
fn a_renamed_key_is_refused_with_its_new_name() {
    let message = replaced("rate =", "host_noise = \"50 us\", rate =");
    assert_one(
        &message,
        "wrong.toml:5:16: topology.dumbbell.bottleneck.host_noise: `host_noise` is called \
         `host_processing_delay` now",
        &[],
    );
    // The hint is given only where the new name is allowed.
    let message = replaced("[[flows]]", "[[flows]]\nhost_noise = \"50 us\"");
    assert_one(
        &message,
        "wrong.toml:8:1: flows.0.host_noise: unknown key",
        &["`longhaul list keys flows` shows all"],
    );
}

/// Packets that are larger than IPv4's length field allows (64 KB, RFC 791) are refused.
#[test]
fn packets_larger_than_ip_s_are_refused() {
    let message = replaced("[[flows]]", "[[flows]]\npacket = \"70 kB\"");
    assert_one(
        &message,
        "wrong.toml:8:10: flows.0.packet: ",
        &["70 kB is more than the largest packet"],
    );
    parse(
        &BASE.replacen("[[flows]]", "[[flows]]\npacket = \"9 kB\"", 1),
        "right.toml",
        None,
        &[],
    )
    .unwrap_or_else(|error| panic!("{error}"));
}

/// Checks that a flow with keys of another topology gets one message about them, and none about their consequences.
#[test]
fn places_of_another_topology_are_refused_once() {
    let message = replaced("[[flows]]", "[[flows]]\nfrom = \"a\"");
    assert_one(
        &message,
        "wrong.toml:8:1: flows.0.from: ",
        &["this topology places flows by ", "not by from"],
    );
}
