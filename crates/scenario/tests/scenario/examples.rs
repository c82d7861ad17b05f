//! The example scenarios are valid, cause no warnings, and match the published schema.

use std::path::PathBuf;

use longhaul_congestion::registry;
use longhaul_scenario::{keys, load, parse, schema, traffic};
use serde_json::Value as Json;

/// Returns the paths of the example scenarios, except those with real QUIC stacks; these tests do not have the stacks.
fn examples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).expect("the folder of examples");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .filter(|path| {
            let text = std::fs::read_to_string(path).expect("a text");
            !text.contains("\"quic\"")
        })
        .collect()
}

#[test]
fn examples_are_valid_and_unsuspicious() {
    assert!(examples().len() >= 5);
    for path in examples() {
        let scenario = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            scenario.warnings().is_empty(),
            "{path:?}: {:?}",
            scenario.warnings()
        );
        assert!(!scenario.title().is_empty(), "{path:?} has no title");
    }
}

/// Returns the values of the arguments `--set KEY=VALUE` in a comment line.
fn suggested(line: &str) -> Vec<String> {
    let parts = line.split("--set ").skip(1);
    let value = |part: &str| match part.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next().unwrap_or(quoted).to_string(),
        None => part.split_whitespace().next().unwrap_or("").to_string(),
    };
    parts.map(value).collect()
}

/// Checks that all overrides suggested in comments of the examples are valid.
#[test]
fn what_examples_suggest_is_valid() {
    let mut tried = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example");
        for line in text.lines().filter(|line| line.starts_with("#   ")) {
            let overrides = suggested(line);
            tried += overrides.len();
            load(&path, &overrides).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Returns true if the schema allows the keys and the JSON types of a resolved scenario. Ranges of
/// values are not checked.
fn allows(schema: &Json, value: &Json) -> bool {
    if let Some(choices) = schema["anyOf"]
        .as_array()
        .filter(|_| schema.get("type").is_none())
    {
        return choices.iter().any(|choice| allows(choice, value));
    }
    match value {
        Json::Object(entries) => {
            schema["type"] == "object"
                && entries.iter().all(|(key, value)| {
                    schema["properties"]
                        .get(key)
                        .is_some_and(|schema| allows(schema, value))
                })
        }
        Json::Array(items) => {
            schema["type"] == "array" && items.iter().all(|item| allows(&schema["items"], item))
        }
        Json::String(_) => {
            let text = schema["type"] == "string" || schema["const"] == *value;
            text || schema["enum"]
                .as_array()
                .is_some_and(|words| words.contains(value))
        }
        Json::Bool(_) => schema["type"] == "boolean",
        Json::Number(_) => schema["type"] == "number" || schema["type"] == "integer",
        Json::Null => false,
    }
}

/// A resolved scenario gives the same simulation as its source, and resolves to itself.
#[test]
fn resolved_examples_give_the_same_simulations() {
    for path in examples() {
        let scenario = load(&path, &[]).expect("valid");
        let text = scenario.resolved_json().to_string();
        let again = parse(&text, "resolved.json", None, &[]);
        let again = again.unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(scenario.resolved_json(), again.resolved_json(), "{path:?}");
        let simulations = [scenario.simulation(), again.simulation()];
        let [first, second] = simulations.map(|simulation| format!("{simulation:?}"));
        assert_eq!(first, second, "{path:?}");
    }
}

/// Returns true if the keys of every object are sorted.
fn is_sorted(value: &Json) -> bool {
    match value {
        Json::Object(entries) => entries.keys().is_sorted() && entries.values().all(is_sorted),
        Json::Array(items) => items.iter().all(is_sorted),
        _ => true,
    }
}

/// Checks that keys of resolved scenarios and of the schema are sorted. A scenario's hash depends on their order.
/// `serde_json` does not sort keys if another crate, such as quinn's qlog, enables its feature `preserve_order`.
#[test]
fn keys_of_resolved_examples_and_of_the_schema_are_sorted() {
    for path in examples() {
        let resolved = load(&path, &[]).expect("valid").resolved_json();
        assert!(is_sorted(&resolved), "{path:?}");
    }
    assert!(is_sorted(&schema()));
}

#[test]
fn the_schema_allows_every_resolved_example() {
    let schema = schema();
    for path in examples() {
        let resolved = load(&path, &[]).expect("valid").resolved_json();
        assert!(allows(&schema, &resolved), "{path:?}");
    }
    assert!(!allows(&schema, &serde_json::json!({ "durration": "1 s" })));
}

/// Checks that the schema has a title, and contains the registry's descriptions of algorithms, slow starts and
/// parameters.
#[test]
fn the_schema_describes_algorithms_and_slow_starts() {
    assert_eq!(schema()["title"], "Longhaul scenario");
    assert_eq!(
        schema()["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let text = schema().to_string();
    let algorithms = registry::algorithms().iter().map(|entry| entry.description);
    let slow_starts = registry::slow_starts()
        .iter()
        .map(|entry| entry.description);
    let units = registry::algorithms()
        .iter()
        .flat_map(|entry| entry.parameters)
        .map(|parameter| format!("{} ({})", parameter.help, parameter.unit));
    for described in units {
        let written = serde_json::to_string(&described).unwrap();
        assert!(
            text.contains(&format!("\"description\":{written}")),
            "{described}"
        );
    }
    for description in algorithms.chain(slow_starts) {
        let written = serde_json::to_string(description).unwrap();
        assert!(
            text.contains(&format!("\"description\":{written}")),
            "{description}"
        );
    }
}

/// Checks that the list of all keys contains the keys of each kind of traffic.
#[test]
fn keys_of_each_kind_are_listed() {
    let listed = keys();
    let paths: Vec<&str> = listed.iter().map(|key| key.path.as_str()).collect();
    let kinds = traffic();
    assert!(kinds.len() > 3);
    for kind in kinds {
        let of_kind = format!("flows.*.traffic[{}].", kind.kind);
        let count = paths
            .iter()
            .filter(|path| path.starts_with(&of_kind))
            .count();
        assert_eq!(count, kind.keys.len(), "{}: {paths:?}", kind.kind);
    }
}
