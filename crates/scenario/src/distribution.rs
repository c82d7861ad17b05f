//! Distributions: of delays, of rates, of probabilities, of sizes and counts.

use longhaul_engine::config::{Distribution, Quantiles};
use longhaul_units::Quantity;

use crate::document::{Node, Table, Value};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::Typed;

/// Checks the distribution that a key of a table gives, if it gives one.
pub(crate) fn check(holder: &Table, key: &str, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(table) = holder.get(key).and_then(Node::table) else {
        return;
    };
    let wrong = match table.word("kind") {
        "uniform" if value(table, "min") > value(table, "max") => Some(("min", "min is above max")),
        "bounded-pareto" if value(table, "min") >= value(table, "max") => {
            Some(("min", "min has to be less than max"))
        }
        "empirical" => check_quantiles(table),
        _ => None,
    };
    if let Some((part, message)) = wrong {
        let path = join(&join(path, key), part);
        out.push(Diagnostic::new(&path, &table.node(part).origin, message));
    }
}

/// The key of measured quantiles that is wrong, and what is.
fn check_quantiles(table: &Table) -> Option<(&'static str, &'static str)> {
    let (probabilities, values) = (numbers(table, "probabilities"), numbers(table, "values"));
    if probabilities.len() < 2 || probabilities.len() != values.len() {
        return Some((
            "values",
            "write as many values as probabilities, at least two",
        ));
    }
    if !values.is_sorted() {
        return Some(("values", "write values that do not fall"));
    }
    let (first, last) = (probabilities[0], probabilities[probabilities.len() - 1]);
    let ascending = probabilities.is_sorted_by(|a, b| a < b) && first == 0.0;
    let complete = (last == 1.0) != table.contains_key("root");
    let message = "write probabilities that ascend from 0 to 1, or to less than 1 with `root`";
    (!ascending || !complete).then_some(("probabilities", message))
}

fn numbers(table: &Table, key: &str) -> Vec<f64> {
    table.list(key).iter().map(number).collect()
}

fn value(table: &Table, key: &str) -> f64 {
    number(table.node(key))
}

/// Whether all draws are nothing.
pub(crate) fn is_nothing(node: &Node) -> bool {
    match node.table() {
        None => number(node) == 0.0,
        Some(table) if table.word("kind") == "empirical" => {
            numbers(table, "values").iter().all(|&value| value == 0.0)
        }
        Some(_) => false,
    }
}

/// A number in the engine's unit: seconds, bits per second, bytes, or none.
fn number(node: &Node) -> f64 {
    match node.value {
        Value::Number(number) => number,
        Value::Quantity(Quantity::Span(span)) => span.as_secs_f64(),
        Value::Quantity(Quantity::Bytes(bytes)) => bytes.0 as f64,
        Value::Quantity(Quantity::Rate(rate)) => rate.as_bps() as f64,
        ref other => unreachable!("{other:?} is not drawn"),
    }
}

/// The engine's form of a checked distribution.
pub(crate) fn config(node: &Node) -> Distribution {
    let Some(table) = node.table() else {
        return Distribution::Constant(number(node));
    };
    let value = |key| value(table, key);
    let distribution = match table.word("kind") {
        "uniform" => Distribution::Uniform(value("min"), value("max")),
        "exponential" => Distribution::Exponential {
            mean: value("mean"),
        },
        "pareto" => Distribution::Pareto {
            mean: value("mean"),
            shape: value("shape"),
        },
        "pareto-ii" => Distribution::ParetoII {
            mean: value("mean"),
            shape: value("shape"),
        },
        "bounded-pareto" => Distribution::BoundedPareto {
            min: value("min"),
            max: value("max"),
            shape: value("shape"),
        },
        "weibull" => Distribution::Weibull {
            shape: value("shape"),
            scale: value("scale"),
        },
        "log-normal" => Distribution::LogNormal {
            median: value("median"),
            sigma: value("sigma"),
        },
        _ => {
            let probabilities = numbers(table, "probabilities").into_iter();
            let quantiles: Vec<_> = probabilities.zip(numbers(table, "values")).collect();
            let root = table.get("root").map(number);
            Distribution::Empirical(Quantiles::new(&quantiles, root))
        }
    };
    match table.get("limit") {
        Some(limit) => Distribution::Limited {
            of: Box::new(distribution),
            max: number(limit),
        },
        None => distribution,
    }
}
