//! Checks of distributions of delays, rates, probabilities, sizes or counts.

use longhaul_engine::config::{Drawn, in_base_unit};
use longhaul_keys::{Field, KIND};

use crate::document::{Node, Table, join};
use crate::error::Diagnostic;

/// Checks the distribution at a key of a table, if it is given.
pub(crate) fn check<T>(holder: &Table, key: Field<T>, path: &str, out: &mut Vec<Diagnostic>) {
    if let Some(node) = holder.get(key) {
        check_node(node, &join(path, key.name()), out);
    }
}

/// Checks the distribution in `node`, the value of the key at `path`.
pub(crate) fn check_node(node: &Node, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(table) = node.table() else {
        return;
    };
    let value = |key: Field<f64>| table.get(key).and_then(number);
    let (min, max) = (value(Drawn::min), value(Drawn::max));
    let wrong = match table.word(KIND) {
        "uniform" if min > max => Some((Drawn::min.name(), "min must not exceed max")),
        "bounded-pareto" if min >= max => Some((Drawn::min.name(), "min must be less than max")),
        "empirical" => check_quantiles(table),
        _ => None,
    };
    if let Some((part, message)) = wrong {
        out.push(Diagnostic::at(table, Field::<()>::new(part), path, message));
    }
}

/// Returns the key of a wrong list of quantiles, with a message about it; `None` if the quantiles
/// are right.
fn check_quantiles(table: &Table) -> Option<(&'static str, &'static str)> {
    let (probabilities, values) = (
        numbers(table, Drawn::probabilities),
        numbers(table, Drawn::values),
    );
    if probabilities.len() < 2 || probabilities.len() != values.len() {
        let message = "expected as many values as probabilities, at least two";
        return Some((Drawn::values.name(), message));
    }
    if !values.is_sorted() {
        return Some((Drawn::values.name(), "expected non-decreasing values"));
    }
    let (first, last) = (probabilities[0], probabilities[probabilities.len() - 1]);
    let ascending = probabilities.is_sorted_by(|a, b| a < b) && first == 0.0;
    let complete = (last == 1.0) != table.has(Drawn::root);
    let message = "expected probabilities that ascend from 0 to 1, or to less than 1 with `root`";
    (!ascending || !complete).then_some((Drawn::probabilities.name(), message))
}

/// Returns true if all values drawn from a distribution are 0.
pub(crate) fn is_zero(node: &Node) -> bool {
    match node.table() {
        None => number(node) == Some(0.0),
        Some(table) if table.word(KIND) == "empirical" => {
            let values = numbers(table, Drawn::values);
            values.iter().all(|&value| value == 0.0)
        }
        Some(_) => false,
    }
}

fn numbers(table: &Table, key: Field<Vec<f64>>) -> Vec<f64> {
    table.list(key).iter().filter_map(number).collect()
}

/// Returns a value as a number in seconds, bits per second or bytes, or without a unit; `None` if it is not a number.
fn number(node: &Node) -> Option<f64> {
    in_base_unit(&node.value)
}
