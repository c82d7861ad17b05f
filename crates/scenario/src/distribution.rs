//! Checks of distributions of delays, rates, probabilities, sizes or counts.

use longhaul_engine::config::in_base_unit;

use crate::defaults::plain;
use crate::document::{Node, Table, join};
use crate::error::Diagnostic;
use crate::typed::Typed;

/// Checks the distribution that a key of a table gives, if it gives one.
pub(crate) fn check(holder: &Table, key: &str, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(table) = holder.get(key).and_then(Node::table) else {
        return;
    };
    let value = |key| table.get(key).and_then(number);
    let wrong = match table.word("kind") {
        "uniform" if value("min") > value("max") => Some(("min", "min must not exceed max")),
        "bounded-pareto" if value("min") >= value("max") => {
            Some(("min", "min must be less than max"))
        }
        "empirical" => check_quantiles(table),
        _ => None,
    };
    if let Some((part, message)) = wrong {
        let path = join(&join(path, key), part);
        out.push(Diagnostic::new(&path, &table.node(part).origin, message));
    }
}

/// The invalid key of measured quantiles, and the message about it.
fn check_quantiles(table: &Table) -> Option<(&'static str, &'static str)> {
    let (probabilities, values) = (numbers(table, "probabilities"), numbers(table, "values"));
    if probabilities.len() < 2 || probabilities.len() != values.len() {
        return Some((
            "values",
            "expected as many values as probabilities, at least two",
        ));
    }
    if !values.is_sorted() {
        return Some(("values", "expected non-decreasing values"));
    }
    let (first, last) = (probabilities[0], probabilities[probabilities.len() - 1]);
    let ascending = probabilities.is_sorted_by(|a, b| a < b) && first == 0.0;
    let complete = (last == 1.0) != table.contains_key("root");
    let message = "expected probabilities that ascend from 0 to 1, or to less than 1 with `root`";
    (!ascending || !complete).then_some(("probabilities", message))
}

/// Whether all draws are 0.
pub(crate) fn is_zero(node: &Node) -> bool {
    match node.table() {
        None => number(node) == Some(0.0),
        Some(table) if table.word("kind") == "empirical" => {
            numbers(table, "values").iter().all(|&value| value == 0.0)
        }
        Some(_) => false,
    }
}

fn numbers(table: &Table, key: &str) -> Vec<f64> {
    table.list(key).iter().filter_map(number).collect()
}

/// A number in the engine's unit: seconds, bits per second, bytes, or none.
fn number(node: &Node) -> Option<f64> {
    in_base_unit(&plain(&node.value))
}
