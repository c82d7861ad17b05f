//! Congestion control of sources, and long-lived flows.

use longhaul_mesonet::config::{Algorithm, LongLived};

use super::clock::Clock;
use super::layout::{Layout, find};
use crate::check::{DEFAULT_CONGESTION, unknown};
use crate::custom::{self, Algorithms};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::flow::resolve_congestion;
use crate::typed::{Typed, text_of};

/// The default variant of algorithms that have one of this name (NIST SP 500-282, chapter 5).
const VARIANT: &str = "nist";

/// Tolerance of the sum of shares.
const SHARE_TOLERANCE: f64 = 1e-6;

/// Resolves the list in place; Reno alone without one.
pub(crate) fn algorithms(
    mesonet: &mut Table,
    makers: &dyn Algorithms,
    out: &mut Vec<Diagnostic>,
) -> Vec<Algorithm> {
    let alone = Node::new(Value::Table(Table::new()), Origin::Default);
    mesonet.default("algorithms", Value::List(vec![alone]), Origin::Default);
    let node = mesonet.get_mut("algorithms").expect("just made");
    let origin = node.origin.clone();
    let Value::List(entries) = &mut node.value else {
        unreachable!("the checker knows a list")
    };
    fill_shares(entries);
    let variant = Node::text(VARIANT, Origin::Default);
    let mut found: Vec<Algorithm> = Vec::new();
    for (index, table) in entries.iter_mut().filter_map(Node::table_mut).enumerate() {
        let path = format!("mesonet.algorithms.{index}");
        let spec = resolve_congestion(table, &path, &variant, makers, out);
        resolve_entry(table);
        let label = table.word("label").to_string();
        if found.iter().any(|other| other.label == label) {
            let message = format!("there are two algorithms `{label}`; give them labels");
            let origin = &table.node("label").origin;
            out.push(Diagnostic::new(&join(&path, "label"), origin, message));
        }
        found.extend(spec.map(|congestion| Algorithm {
            label,
            congestion,
            share: table.read("share"),
            alternate: table.read("alternate"),
        }));
    }
    let sum: f64 = entries
        .iter()
        .filter_map(Node::table)
        .map(|table| table.read::<f64>("share"))
        .sum();
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        let message =
            format!("the shares of the algorithms add up to {sum}; they have to add up to 1");
        out.push(Diagnostic::new("mesonet.algorithms", &origin, message));
    }
    for algorithm in &mut found {
        algorithm.share /= sum;
    }
    found
}

/// Algorithms without a share have equal parts of what the others leave.
fn fill_shares(entries: &mut [Node]) {
    let tables = || entries.iter().filter_map(Node::table);
    let given: f64 = tables()
        .filter_map(|table| table.get("share"))
        .map(Node::read::<f64>)
        .sum();
    let without = tables()
        .filter(|table| !table.contains_key("share"))
        .count();
    let share = (1.0 - given).max(0.0) / without.max(1) as f64;
    for table in entries.iter_mut().filter_map(Node::table_mut) {
        if !table.contains_key("share") {
            table.derive(
                "share",
                Value::Number(share),
                "what the others leave, in equal parts",
            );
        }
    }
}

/// Label and role of an algorithm.
fn resolve_entry(table: &mut Table) {
    let congestion = table.sub("congestion");
    let name = match congestion.get("python") {
        Some(python) => custom::class(text_of(python)),
        None => congestion.get("kind").map_or(DEFAULT_CONGESTION, text_of),
    };
    let (name, alternate) = (name.to_string(), name != DEFAULT_CONGESTION);
    if !table.contains_key("label") {
        table.derive("label", Value::Text(name), "the algorithm's name");
    }
    if !table.contains_key("alternate") {
        table.derive("alternate", Value::Flag(alternate), "all but Reno");
    }
}

/// Resolves the list of long-lived flows.
pub(crate) fn long_lived(
    mesonet: &mut Table,
    layout: &Layout,
    algorithms: &[Algorithm],
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Vec<LongLived> {
    let rate = mesonet.sub("hosts").node("fast_rate").clone();
    mesonet.default("long_lived", Value::List(Vec::new()), Origin::Default);
    let Some(Value::List(flows)) = mesonet.get_mut("long_lived").map(|node| &mut node.value) else {
        unreachable!("the checker knows a list")
    };
    let labels: Vec<&str> = algorithms.iter().map(|one| one.label.as_str()).collect();
    let mut found: Vec<LongLived> = Vec::new();
    for (index, table) in flows.iter_mut().filter_map(Node::table_mut).enumerate() {
        let path = format!("mesonet.long_lived.{index}");
        if !table.contains_key("label") {
            let label = Value::Text(format!("L{}", index + 1));
            table.derive("label", label, "its number");
        }
        table.default("start", Value::Number(0.0), Origin::Default);
        table.default("stop", Value::Number(1.0), Origin::Default);
        if !table.contains_key("rate") {
            table.derive("rate", rate.value.clone(), "hosts.fast_rate");
        }
        check_flow(table, &path, &found, clock, out);
        let ends = ["from", "to"].map(|key| {
            let names = layout
                .access
                .iter()
                .map(|access| access.router.name.as_str());
            find(
                table.node(key),
                "access router",
                names,
                &join(&path, key),
                out,
            )
        });
        if ends[0].is_some() && ends[0] == ends[1] {
            let origin = &table.node("to").origin;
            let message = "source and receiver are below the same access router";
            out.push(Diagnostic::new(&join(&path, "to"), origin, message));
        }
        let algorithm = table.get("algorithm").map(|node| {
            let position = labels.iter().position(|label| *label == text_of(node));
            if position.is_none() {
                let message = unknown("algorithm", text_of(node), labels.iter().copied());
                out.push(Diagnostic::new(
                    &join(&path, "algorithm"),
                    &node.origin,
                    message,
                ));
            }
            position.unwrap_or(0)
        });
        found.push(LongLived {
            label: table.word("label").to_string(),
            from: ends[0].unwrap_or(0),
            to: ends[1].unwrap_or(0),
            start: clock.moment(table.node("start")),
            stop: clock.moment(table.node("stop")),
            algorithm,
            speed: clock.rate(table.read::<f64>("rate")),
        });
    }
    found
}

fn check_flow(
    table: &Table,
    path: &str,
    before: &[LongLived],
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) {
    let label = table.node("label");
    if before.iter().any(|other| other.label == text_of(label)) {
        let message = format!("there are two long-lived flows `{}`", text_of(label));
        out.push(Diagnostic::new(
            &join(path, "label"),
            &label.origin,
            message,
        ));
    }
    let [start, stop] = ["start", "stop"].map(|key| clock.moment(table.node(key)));
    // The time at which a flow stops that never starts does not matter.
    if stop <= start && start < clock.end() {
        let message = "the flow stops before it starts; write a later time";
        let origin = &table.node("stop").origin;
        out.push(Diagnostic::new(&join(path, "stop"), origin, message));
    }
}
