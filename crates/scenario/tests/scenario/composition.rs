//! Composition of scenarios: the precedence of `extends`, `--set` and profiles, and the origin of
//! every value.

use std::fs;
use std::path::PathBuf;

use longhaul_engine::queue::DISCIPLINES;
use longhaul_scenario::{load, parse};

use crate::{BASE, origin, value, with};

/// Creates a directory for one test, with these files, and returns its path.
fn directory(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("a writable directory");
    for (file, text) in files {
        fs::write(path.join(file), text).expect("a writable file");
    }
    path
}

#[test]
fn a_child_changes_what_it_names_and_inherits_the_rest() {
    let middle = "extends = \"base.toml\"\nseed = 7\n[topology.dumbbell.bottleneck]\nrate = \
                  \"622 Mbps\"\n";
    let child = "extends = \"middle.toml\"\nduration = \"20 s\"\n";
    let files = [
        ("base.toml", BASE),
        ("middle.toml", middle),
        ("child.toml", child),
    ];
    let path = directory("inherits", &files).join("child.toml");
    let scenario = load(&path, &["seed=9".to_string()]).expect("valid");
    assert_eq!(value(&scenario, "/duration"), "\"20 s\"");
    assert_eq!(value(&scenario, "/seed"), "9");
    assert_eq!(
        value(&scenario, "/topology/dumbbell/bottleneck/rate"),
        "\"622 Mbps\""
    );
    assert_eq!(
        value(&scenario, "/topology/dumbbell/bottleneck/delay"),
        "\"50 ms\""
    );
    assert!(origin(&scenario, "duration").ends_with("child.toml:2"));
    assert!(origin(&scenario, "topology.dumbbell.bottleneck.rate").ends_with("middle.toml:4"));
    assert!(origin(&scenario, "topology.dumbbell.bottleneck.delay").ends_with("base.toml:5"));
    assert_eq!(origin(&scenario, "seed"), "--set seed=9");
    assert_eq!(origin(&scenario, "flows.0.tcp.rto.min"), "profile rfc");
    assert_eq!(origin(&scenario, "replication"), "default");
    let queue = origin(&scenario, "topology.dumbbell.bottleneck.queue.limit");
    assert!(
        queue.starts_with("derived: 1 BDP: ") && queue.contains("base.toml:5"),
        "{queue}"
    );
}

#[test]
fn another_topology_replaces_the_inherited_one() {
    let child = "extends = \"base.toml\"\n[topology.parking-lot]\nhops = [{ rate = \"1 Mbps\", \
                 delay = \"10 ms\" }]\n";
    let path = directory("topology", &[("base.toml", BASE), ("child.toml", child)]);
    let scenario = load(&path.join("child.toml"), &[]).expect("valid");
    assert_eq!(scenario.config().nodes, ["router-0", "router-1"]);
}

#[test]
fn circles_and_missing_files_are_refused_where_they_are_named() {
    let files = [
        ("a.toml", "extends = \"b.toml\"\n"),
        ("b.toml", "\nextends = \"a.toml\"\n"),
    ];
    let path = directory("circle", &files);
    let message = load(&path.join("a.toml"), &[]).unwrap_err().to_string();
    assert!(message.contains("b.toml:2:11: extends: "), "{message}");
    assert!(message.contains("extends itself"), "{message}");
    let message = parse("extends = \"nowhere.toml\"", "x.toml", Some(&path), &[]).unwrap_err();
    assert!(
        message
            .to_string()
            .starts_with("x.toml:1:11: extends: cannot read "),
        "{message}"
    );
    let message = load(&path.join("nowhere.toml"), &[])
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("nowhere.toml: no such file"), "{message}");
}

#[test]
fn overrides_reach_into_tables_and_lists_without_quotes() {
    let scenario = with(&[
        "flows.0.congestion.kind=hstcp",
        "flows.0.congestion.low_window=31",
        "flows.0.tcp.ecn=false",
        "flows.0.start={ uniform = [\"0 s\", \"1 s\"] }",
        "topology.dumbbell.bottleneck.rate=622 Mbps",
        "measure.from=5 s",
    ]);
    assert_eq!(value(&scenario, "/flows/0/congestion/kind"), "\"hstcp\"");
    assert_eq!(value(&scenario, "/flows/0/congestion/low_window"), "31");
    assert_eq!(value(&scenario, "/flows/0/tcp/ecn"), "false");
    assert_eq!(
        value(&scenario, "/topology/dumbbell/bottleneck/rate"),
        "\"622 Mbps\""
    );
    let row = origin(&scenario, "topology.dumbbell.bottleneck.rate");
    assert_eq!(row, "--set topology.dumbbell.bottleneck.rate=622 Mbps");
}

const QUEUE: &str = "topology.dumbbell.bottleneck.queue";

/// Checks that an override of the `kind` of a queue, an algorithm or a distribution keeps the table's other keys.
#[test]
fn a_new_kind_keeps_what_is_given_beside_it() {
    let given = format!("{QUEUE}={{ kind = \"droptail\", limit = \"100 packets\" }}");
    for discipline in DISCIPLINES {
        let kind = format!("{QUEUE}.kind={}", discipline.kind);
        let scenario = with(&[&given, &kind]);
        let queue = "/topology/dumbbell/bottleneck/queue";
        let limit = value(&scenario, &format!("{queue}/limit"));
        assert_eq!(limit, "\"100 packets\"", "{}", discipline.kind);
        assert_eq!(
            origin(&scenario, &format!("{QUEUE}.limit")),
            format!("--set {given}")
        );
    }
    // These are a parameter of another algorithm and one of another distribution.
    let scenario = with(&[
        "flows.0.congestion={ kind = \"vegas\", alpha = 3 }",
        "flows.0.congestion.kind=fast",
    ]);
    assert_eq!(value(&scenario, "/flows/0/congestion/alpha"), "3");
    let exponential = "flows.0.traffic={ kind = \"requests\", response = \"1 kB\", interval = \
                       { kind = \"exponential\", mean = \"20 ms\" } }";
    let scenario = with(&[
        exponential,
        "flows.0.traffic.interval.kind=pareto",
        "flows.0.traffic.interval.shape=1.5",
    ]);
    assert_eq!(
        value(&scenario, "/flows/0/traffic/interval/mean"),
        "\"20 ms\""
    );
}

#[test]
fn what_a_new_kind_does_not_have_is_refused_by_name() {
    let refusal = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        parse(BASE, "base.toml", None, &overrides)
            .expect_err("a key too many")
            .to_string()
    };
    let red =
        format!("{QUEUE}={{ kind = \"red\", limit = \"500 packets\", min_th = \"100 packets\" }}");
    let kind = format!("{QUEUE}.kind=droptail");
    let message = refusal(&[&red, &kind]);
    for part in [
        format!("{QUEUE}.min_th: unknown key `min_th`; allowed: limit, drop, counting"),
        format!("`kind = \"droptail\"` is from --set {kind}"),
        format!("--set '{QUEUE}={{ kind = \"droptail\" }}'"),
    ] {
        assert!(message.contains(&part), "{message}");
    }
    let message = refusal(&[
        "flows.0.congestion={ kind = \"hstcp\", low_window = 31 }",
        "flows.0.congestion.kind=cubic",
    ]);
    assert!(message.contains("unknown key `low_window`"), "{message}");
    assert!(
        message.contains("--set 'flows.0.congestion={ kind = \"cubic\" }'"),
        "{message}"
    );
    let message = refusal(&[
        "flows.0.slow_start={ kind = \"limited\", max_ssthresh = 100 }",
        "flows.0.slow_start.kind=standard",
    ]);
    assert!(message.contains("unknown key `max_ssthresh`"), "{message}");
}

#[test]
fn files_follow_the_same_rule() {
    let base = BASE.replacen(
        "kind = \"droptail\", limit = \"1 BDP\"",
        "kind = \"red\", limit = \"100 packets\"",
        1,
    );
    let child = |name: &str, base: &str| {
        let child =
            "extends = \"base.toml\"\n[topology.dumbbell.bottleneck.queue]\nkind = \"drr\"\n";
        let files = [("base.toml", base), ("child.toml", child)];
        load(&directory(name, &files).join("child.toml"), &[])
    };
    let scenario = child("kind-kept", &base).expect("valid");
    let limit = value(&scenario, "/topology/dumbbell/bottleneck/queue/limit");
    assert_eq!(limit, "\"100 packets\"");
    let gentle = base.replacen("kind = \"red\"", "kind = \"red\", gentle = false", 1);
    let message = child("kind-refused", &gentle)
        .expect_err("a key too many")
        .to_string();
    assert!(
        message.contains("queue.gentle: unknown key `gentle`"),
        "{message}"
    );
    assert!(message.contains("`kind = \"drr\"` is from"), "{message}");
    assert!(message.contains("child.toml:3"), "{message}");
}

#[test]
fn options_of_the_flow_come_before_the_files_and_the_profiles() {
    let scenario = with(&[
        "tcp.initial_window=4",
        "tcp.rto.min=300 ms",
        "flows.0.tcp.rto.min=2 s",
    ]);
    assert_eq!(value(&scenario, "/flows/0/tcp/initial_window"), "4");
    assert_eq!(value(&scenario, "/flows/0/tcp/rto/min"), "\"2 s\"");
    assert_eq!(value(&scenario, "/flows/0/tcp/rto/max"), "\"60 s\"");
    // The override selects ns-2's clock instead of the profile's exact one.
    let scenario = with(&["tcp.rto.tick=10 ms"]);
    let rto = "{\"initial\":\"1 s\",\"max\":\"60 s\",\"min\":\"1 s\",\"tick\":\"10 ms\"}";
    assert_eq!(value(&scenario, "/flows/0/tcp/rto"), rto);
}

#[test]
fn json_is_read_like_toml() {
    let text = "{\"duration\": \"10 s\", \"topology\": {\"dumbbell\": {\"bottleneck\": {\"rate\": \
                \"1 Gbps\", \"delay\": \"50 ms\", \"queue\": {\"kind\": \"droptail\", \"limit\": \
                \"1 BDP\"}}}}, \"flows\": [{\"congestion\": {\"kind\": \"reno\"}}]}";
    let json = parse(text, "base.json", None, &[]).expect("valid");
    assert_eq!(json.hash(), with(&[]).hash());
}
