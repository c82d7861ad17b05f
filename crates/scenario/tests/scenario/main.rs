//! Behaviour towards the user: messages, composition, resolved values, and the resulting
//! configuration.

mod algorithms;
mod catalogue;
mod composition;
mod distributions;
mod errors;
mod examples;
mod fuzz;
mod layout;
mod links;
mod mesonet;
mod modules;
mod names;
mod profiles;
mod proxies;
mod queues;
mod quic;
mod resolved;
mod schema;
mod traffic;
mod warnings;

use longhaul_scenario::{Scenario, parse};

/// A small valid scenario that tests change with overrides.
const BASE: &str = r#"
duration = "10 s"

[topology.dumbbell]
bottleneck = { rate = "1 Gbps", delay = "50 ms", queue = { kind = "droptail", limit = "1 BDP" } }

[[flows]]
congestion = { kind = "reno" }
"#;

/// Reads [`BASE`] with overrides.
fn with(overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    parse(BASE, "base.toml", None, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error message for an invalid scenario.
fn refusal(text: &str) -> String {
    match parse(text, "wrong.toml", None, &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the resolved value at a JSON pointer, written as JSON.
fn value(scenario: &Scenario, pointer: &str) -> String {
    let json = scenario.resolved_json();
    json.pointer(pointer)
        .unwrap_or_else(|| panic!("no {pointer} in {json:#}"))
        .to_string()
}

/// Returns the origin of the value at `path`.
fn origin(scenario: &Scenario, path: &str) -> String {
    let rows = scenario.explain();
    let row = rows.iter().find(|row| row.path == path);
    row.unwrap_or_else(|| panic!("no {path} in {rows:#?}"))
        .origin
        .clone()
}
