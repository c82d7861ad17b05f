//! Congestion control in a scenario: algorithms of the registry, given by a table, and custom
//! algorithms.

use std::cell::RefCell;
use std::fs;
use std::sync::Arc;

use longhaul_congestion::{
    AckSample, Congestion, CongestionControl, Factory, Phase, Window, registry::algorithms,
};
use longhaul_engine::config::Transport;
use longhaul_scenario::{Algorithms, CustomAlgorithm, load_with, parse_with};

use crate::{BASE, refusal, value, with};

const TABLE: &str = r#"flows.0.congestion={kind="table", increase=[[38, 1], [83000, 72.5]]}"#;

/// Returns the scenario [`BASE`] with the congestion control `congestion`.
fn replaced(congestion: &str) -> String {
    BASE.replace("{ kind = \"reno\" }", congestion)
}

#[test]
fn points_reach_the_engine_and_the_resolved_scenario() {
    let scenario = with(&[TABLE, "flows.0.congestion.decrease=0.25"]);
    let Transport::Tcp(tcp) = &scenario.config().flows[0].transport else {
        panic!("no TCP");
    };
    let points = vec![(38.0, 1.0), (83000.0, 72.5)];
    assert_eq!(tcp.congestion.functions, [("increase".to_string(), points)]);
    let congestion = "/flows/0/congestion";
    assert_eq!(
        value(&scenario, &format!("{congestion}/increase")),
        "[[38,1],[83000,72.5]]"
    );
    assert_eq!(value(&scenario, &format!("{congestion}/decrease")), "0.25");
    // Parameters that are not given are standard TCP's.
    let scenario = with(&[TABLE]);
    assert_eq!(
        value(&scenario, &format!("{congestion}/decrease")),
        "[[1,0.5]]"
    );
}

#[test]
fn choices_are_written_by_name() {
    let scenario = with(&["flows.0.congestion={kind=\"sync\", detector=\"trend\"}"]);
    let Transport::Tcp(tcp) = &scenario.config().flows[0].transport else {
        panic!("no TCP");
    };
    let chosen = |name: &str| {
        let mut found = tcp.congestion.parameters.iter();
        found
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    };
    assert_eq!(chosen("detector"), Some(2.0));
    assert_eq!(chosen("reaction"), Some(0.0));
    let written = |name: &str| value(&scenario, &format!("/flows/0/congestion/{name}"));
    assert_eq!(written("detector"), "\"trend\"");
    assert_eq!(written("reaction"), "\"none\"");
    let message = |detector: &str| {
        refusal(&replaced(&format!(
            "{{ kind = \"sync\", detector = {detector} }}"
        )))
    };
    let unknown = message("\"trent\"");
    assert!(unknown.contains("flows.0.congestion.detector"), "{unknown}");
    assert!(unknown.contains("`trend`"), "{unknown}");
    let number = message("2");
    assert!(
        number.contains("pqlen, pminott, trend, avg, mix"),
        "{number}"
    );
}

#[test]
fn points_that_cannot_be_are_refused_where_they_stand() {
    let message = |points: &str| refusal(&replaced(&format!("{{ kind = \"table\", {points} }}")));
    let falling = message("increase = [[38, 1], [30, 2]]");
    assert!(falling.contains("wrong.toml:8:"), "{falling}");
    assert!(
        falling.contains("flows.0.congestion.increase.1: expected a window above 38, found 30"),
        "{falling}"
    );
    let steep = message("decrease = [[1, 0.5], [10, 1.5]]");
    assert!(
        steep.contains("expected a value above 0 and below 1"),
        "{steep}"
    );
    let single = message("increase = [[38], [30, 2]]");
    assert!(single.contains("such as [100, 2.5]"), "{single}");
    assert!(message("increase = []").contains("at least one"));
    assert!(message("increase = \"fast\"").contains("or a list of points"));
    assert!(message("increasse = 1").contains("did you mean `increase`"));
}

#[derive(Clone, Debug)]
struct Still;

impl CongestionControl for Still {
    fn on_ack(&mut self, _: &AckSample, _: Phase, _: &mut Window) {}
    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}
}

impl Factory for Still {
    fn make(&self) -> Box<dyn CongestionControl> {
        Box::new(Self)
    }
}

/// A maker of algorithms that records the requests it gets.
#[derive(Default)]
struct Notes(RefCell<Vec<String>>);

impl Algorithms for Notes {
    fn make(&self, wanted: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        let (class, parameters) = (wanted.class, &wanted.parameters);
        let (file, text) = wanted.file.unwrap_or(("nowhere", "handed over"));
        let note = format!("{class} of {file}: {text} with {parameters}");
        self.0.borrow_mut().push(note);
        Ok((Arc::new(Still), text.to_string()))
    }
}

fn parsed(text: &str, overrides: &[&str]) -> (longhaul_scenario::Scenario, Vec<String>) {
    let notes = Notes::default();
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let scenario = parse_with(text, "base.toml", None, &overrides, &notes);
    (
        scenario.unwrap_or_else(|error| panic!("{error}")),
        notes.0.into_inner(),
    )
}

#[test]
fn a_file_is_found_beside_the_scenario_and_kept_in_the_resolved_one() {
    let directory = std::env::temp_dir().join(format!("longhaul-custom-{}", std::process::id()));
    fs::create_dir_all(directory.join("below")).unwrap();
    fs::write(directory.join("below/my.py"), "text").unwrap();
    let scenario = replaced("{ python = \"below/my.py:Mine\", gain = 2.0, name = \"x\" }");
    let path = directory.join("scenario.toml");
    fs::write(&path, scenario).unwrap();
    let notes = Notes::default();
    let scenario = load_with(&path, &[], &notes).unwrap();
    fs::remove_dir_all(&directory).unwrap();

    let file = directory.join("below/my.py");
    let expected = format!(
        "Mine of {}: text with {{\"gain\":2,\"name\":\"x\"}}",
        file.display()
    );
    assert_eq!(notes.0.take(), [expected]);
    assert_eq!(
        value(&scenario, "/flows/0/congestion/python"),
        "\"my.py:Mine\""
    );
    assert_eq!(value(&scenario, "/flows/0/label"), "\"Mine\"");

    // The resolved scenario needs no file, and describes the same simulation.
    let (again, asked) = parsed(&scenario.resolved_json().to_string(), &[]);
    assert_eq!(
        asked,
        ["Mine of my.py: text with {\"gain\":2,\"name\":\"x\"}"]
    );
    assert_eq!(again.hash(), scenario.hash());
    let changed = ["flows.0.congestion.source=other"];
    let (other, _) = parsed(&scenario.resolved_json().to_string(), &changed);
    assert_ne!(other.hash(), scenario.hash());
}

/// Checks that a constructor gets numbers as they are written: integers without a fraction, also within lists and
/// tables. Infinite numbers are refused, since JSON cannot represent them.
#[test]
fn numbers_reach_the_constructor_as_they_were_written() {
    let (_, asked) = parsed(
        &replaced(
            "{ python = \"Mine\", a = 2.5, b = 3.0, c = 1e16, d = [4.0, 0.25], e = { f = -5.0 } }",
        ),
        &[],
    );
    assert_eq!(
        asked,
        [
            "Mine of nowhere: handed over with {\"a\":2.5,\"b\":3,\"c\":1e+16,\"d\":[4,0.25],\"e\":{\"f\":-5}}"
        ]
    );
    for (number, found) in [("inf", "inf"), ("-inf", "-inf"), ("nan", "NaN")] {
        let message = refusal(&replaced(&format!(
            "{{ python = \"Mine\", e = {{ f = {number} }} }}"
        )));
        let expected = format!("flows.0.congestion.e.f: expected a finite number, found {found}");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn an_override_replaces_a_known_algorithm_by_a_users_and_back() {
    let hstcp = replaced("{ kind = \"hstcp\", low_window = 31 }");
    // Other keys in the table stay.
    let (_, asked) = parsed(&hstcp, &["flows.0.congestion.python=Mine"]);
    assert_eq!(
        asked,
        ["Mine of nowhere: handed over with {\"low_window\":31}"]
    );
    // The text of a file goes with its name.
    let with_text = replaced("{ python = \"my.py:Mine\", source = \"text\" }");
    let (scenario, _) = parsed(&with_text, &["flows.0.congestion.kind=hstcp"]);
    assert_eq!(value(&scenario, "/flows/0/label"), "\"hstcp\"");
    let mine = replaced("{ python = \"Mine\" }");
    let (scenario, asked) = parsed(&mine, &["flows.0.congestion.kind=hstcp"]);
    assert!(asked.is_empty());
    assert_eq!(value(&scenario, "/flows/0/congestion/low_window"), "38");
}

#[test]
fn an_override_replaces_another_process_by_a_known_algorithm_and_back() {
    let there = replaced("{ external = \"unix:a.sock\", version = \"2\" }");
    let (scenario, _) = parsed(&there, &["flows.0.congestion.kind=hstcp"]);
    assert_eq!(value(&scenario, "/flows/0/label"), "\"hstcp\"");
    let back = ["flows.0.congestion.external=tcp:localhost:9".to_string()];
    let hstcp = replaced("{ kind = \"hstcp\" }");
    let error = parse_with(&hstcp, "base.toml", None, &back, &Notes::default()).unwrap_err();
    let expected = "controllers in another process run from Python only";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn what_names_no_class_is_refused() {
    let message = |congestion: &str| refusal(&replaced(congestion));
    let both = message("{ python = \"my.py:Mine\", kind = \"reno\" }");
    assert!(
        both.contains("flows.0.congestion.kind: an algorithm in Python has no kind"),
        "{both}"
    );
    for wrong in ["3", "\"my.py\"", "\"my.py:\"", "\"my.py:2nd\""] {
        let message = message(&format!("{{ python = {wrong} }}"));
        assert!(
            message.contains("as in python = \"my_cc.py:MyCC\""),
            "{message}"
        );
    }
    let missing = message("{ python = \"nowhere/my.py:Mine\" }");
    assert!(missing.contains("cannot read nowhere/my.py"), "{missing}");
    let alone = message("{ python = \"Mine\" }");
    assert!(alone.contains("run from Python only"), "{alone}");
    assert!(algorithms().iter().all(|entry| entry.kind != "python"));
}

/// Checks the warning about algorithms that mistake queues of their own bursts for congestion. It is given only on fast
/// paths, where these bursts cause queues.
#[test]
fn who_gives_way_to_its_own_bursts_is_told_so() {
    let told = |kind: &str, more: &[&str]| {
        let kind = format!("flows.0.congestion.kind={kind}");
        let scenario = with(&[&[kind.as_str()], more].concat());
        let warnings = scenario.warnings().iter();
        warnings
            .filter(|text| text.contains("its own bursts"))
            .count()
    };
    let slow = "topology.dumbbell.bottleneck.rate=10 Mbps";
    let smooth = "flows.0.tcp.pacing={ slow_start = 1.0, avoidance = 1.0 }";
    for (kind, paced) in [("delay-gradient", 0), ("sync-mixreact", 1), ("reno", 0)] {
        let alone = usize::from(kind != "reno");
        assert_eq!(told(kind, &[]), alone, "{kind}");
        assert_eq!(told(kind, &[smooth]), paced, "{kind}");
        assert_eq!(told(kind, &[slow]), 0, "{kind}");
    }
}
