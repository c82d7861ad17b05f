//! The 56 parameters under their original names (NIST SP 500-282, chapter 3).

use longhaul_scenario::{keys, parse, schema};

use super::config;
use crate::origin;

/// A complete configuration of MesoNet: chapter 6, condition 1 (NIST SP 500-282, tables 6-3 to
/// 6-8).
const CHAPTER_6: &str = "
[mesonet]
M = 200
MI = 7500
basicTimeUnit = 0.001
MB = 1500
exID = 1
RandOffset = 3
lambdaOFF = 2500
lambdaON = 50
alpha = 1.5
Fp = 0.01
Fx = 10
Jon = 0.6
Joff = 0.8
Jx = 100
deltaX = 1
R1 = 4000
BBspeedup = 2
R2 = 4
R3 = 10
Bfast = 2
Bdirect = 10
QszAlg = 2
Qfactor = 1.0
baseSources = 1000
deltaU = 2
probNs = 0.1
probNsf = 0.6
probNsd = 0.3
probNr = 0.6
probNrf = 0.2
probNrd = 0.2
Hbase = 8
Hfast = 80
FastHostProb = 0.4
prTCP = 0.0
prBICTCP = 0.0
prCTCP = 0.0
prFAST = 0.0
prHSTCP = 1.0
prHTCP = 0.0
prSCALABLE = 0.0
prON = 0.25
prONsecond = 0.08
prONthird = 0.17
maxLongLivedFlows = 3
LL_FLOWS = 3
LL_FLOW_SOURCES = [12, 24, 50]
LL_FLOW_RECEIVERS = [131, 102, 62]
LLon = [0.4, 0.4, 0.4]
SOURCE_TYPE = [2, 2, 2]
INITIAL_TCP_CWND = 2
INITIAL_TCP_SS_THRESHOLD = 1073741824
MAX_SS_THRESHOLD = 100
BB_LINK_TO_MONITOR = 2
POP_LINK_TO_MONITOR = 22
ACCESS_LINK_TO_MONITOR = 139
";

#[test]
fn a_configuration_of_mesonet_is_a_scenario() {
    let scenario =
        parse(CHAPTER_6, "ch6.toml", None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let config = config(&scenario);
    assert_eq!(config.replication, 3);
    let sources: u32 = config.topology.access.iter().map(|one| one.sources).sum();
    assert_eq!(sources, 174_600);
    assert_eq!(config.algorithms.len(), 7);
    let flow = &config.long_lived[0];
    let algorithm = &config.algorithms[flow.algorithm.expect("its own")];
    assert_eq!((algorithm.label.as_str(), algorithm.share), ("hstcp", 1.0));
    assert_eq!(origin(&scenario, "mesonet.users.think"), "ch6.toml:9");
    // The values are also available under the scenario's names.
    let resolved = scenario.resolved_json().to_string();
    let again = parse(&resolved, "resolved.json", None, &[]).expect("resolved");
    assert_eq!(scenario.resolved_json(), again.resolved_json());
    assert_eq!(scenario.hash(), again.hash());
}

#[test]
fn an_override_has_its_way_under_either_name() {
    let overridden = |text: &str| {
        let overrides = [format!("mesonet.{text}")];
        let scenario = parse(CHAPTER_6, "ch6.toml", None, &overrides);
        scenario.unwrap_or_else(|error| panic!("{error}"))
    };
    for text in ["lambdaOFF=5000", "users.think=5000"] {
        let scenario = overridden(text);
        assert_eq!(config(&scenario).users.think.as_secs_f64(), 5.0);
        assert!(origin(&scenario, "mesonet.users.think").starts_with("--set"));
    }
    assert_eq!(
        config(&overridden("QszAlg=3")).topology.backbone[0].buffer,
        163_382
    );
}

#[test]
fn two_names_for_one_thing_are_refused() {
    let text = "[mesonet]\nintervals = 10\nlambdaOFF = 5\nusers = { think = 6 }\n";
    let message = parse(text, "wrong.toml", None, &[])
        .expect_err("two names")
        .to_string();
    assert!(
        message.starts_with("wrong.toml:3:13: mesonet.lambdaOFF: "),
        "{message}"
    );
    assert!(
        message.contains("`users.think`") && message.contains("wrong.toml:4"),
        "{message}"
    );
}

#[test]
fn editors_know_the_names() {
    let properties = &schema()["properties"]["mesonet"]["properties"];
    for line in CHAPTER_6.lines().filter(|line| line.contains('=')) {
        let name = line.split(" =").next().expect("a name");
        assert!(properties.get(name).is_some(), "{name}");
    }
    let helps: Vec<&str> = keys().iter().map(|key| key.help).collect();
    // Parameters that refer to whole lists are named in the help of the list.
    let of_lists = [
        "prTCP",
        "prBICTCP",
        "prCTCP",
        "prFAST",
        "prHSTCP",
        "prHTCP",
        "prSCALABLE",
        "maxLongLivedFlows",
        "LL_FLOWS",
        "RandOffset",
    ];
    for line in CHAPTER_6.lines().filter(|line| line.contains('=')) {
        let name = line.split(" =").next().expect("a name");
        let named = helps.iter().any(|help| help.contains(name));
        assert!(
            named || of_lists.contains(&name) || name.starts_with("pr"),
            "{name}"
        );
    }
    let lines = CHAPTER_6.lines().filter(|line| line.contains('=')).count();
    assert_eq!(lines, 56);
    assert_eq!(
        properties["network"]["properties"]["buffer"]["anyOf"][0]["enum"][0],
        "rtt-capacity"
    );
}
