//! Distributions: of delays, of rates, of probabilities.

use longhaul_engine::{Distribution, Family, Quantiles};
use longhaul_units::Quantity;

use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::read::join;
use crate::typed::Typed;

/// Checks the distribution that a key of a table gives, if it gives one.
pub(super) fn check(holder: &Table, key: &str, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(Node {
        value: Value::Table(table),
        origin,
        ..
    }) = holder.get(key)
    else {
        return;
    };
    let path = join(path, key);
    let mut families = table.iter().filter(|(key, _)| *key != "max");
    let (Some((family, node)), None) = (families.next(), families.next()) else {
        let message =
            "give one of `uniform`, `exponential`, `pareto`, `log_normal` and `quantiles`";
        return out.push(Diagnostic::new(&path, origin, message));
    };
    let path = join(&path, family);
    let problem = match &node.value {
        Value::List(bounds) => check_bounds(bounds).map(|message| (&node.origin, message)),
        Value::Table(quantiles) if family == "quantiles" => check_quantiles(quantiles),
        _ => None,
    };
    if let Some((origin, message)) = problem {
        out.push(Diagnostic::new(&path, origin, message));
    }
}

fn check_bounds(bounds: &[Node]) -> Option<&'static str> {
    match bounds {
        [from, to] if number(from) <= number(to) => None,
        [_, _] => Some("the first value is above the second; write the smaller one first"),
        _ => Some("write two values, the smallest and the largest"),
    }
}

/// What is wrong with measured quantiles, and where.
fn check_quantiles(table: &Table) -> Option<(&Origin, &'static str)> {
    let node = table.node("points");
    let points = table.list("points");
    let mut last: Option<(f64, f64)> = None;
    for point in points {
        let Some((probability, value)) = pair(point) else {
            let message =
                "this is no point; write a probability and a value, such as [0.5, \"80 ms\"]";
            return Some((&point.origin, message));
        };
        let rises = match last {
            None => probability == 0.0,
            Some(last) => probability > last.0 && value >= last.1,
        };
        if !rises {
            let message = "probabilities begin with 0 and ascend, and values do not fall";
            return Some((&point.origin, message));
        }
        last = Some((probability, value));
    }
    let complete = match last {
        Some((end, _)) if points.len() > 1 => (end == 1.0) != table.contains_key("root"),
        _ => false,
    };
    let message = "write two points or more, the last with probability 1, or below 1 with `root`";
    (!complete).then_some((&node.origin, message))
}

/// A probability and a value.
fn pair(point: &Node) -> Option<(f64, f64)> {
    let Value::List(pair) = &point.value else {
        return None;
    };
    let [probability, value] = pair.as_slice() else {
        return None;
    };
    let Value::Number(probability) = probability.value else {
        return None;
    };
    Some((probability, number(value)))
}

/// A number in the engine's unit: seconds, bits per second, or none.
fn number(node: &Node) -> f64 {
    match node.value {
        Value::Number(number) => number,
        Value::Quantity(Quantity::Span(span)) => span.as_secs_f64(),
        Value::Quantity(Quantity::Rate(rate)) => rate.as_bps() as f64,
        ref other => unreachable!("{other:?} is not drawn"),
    }
}

/// The engine's form of a checked distribution.
pub(super) fn config(node: &Node) -> Distribution {
    let Some(table) = node.table() else {
        return Distribution::constant(number(node));
    };
    let families = table.iter().find(|(key, _)| *key != "max");
    let (family, node) = families.expect("checked when resolved");
    Distribution {
        family: self::family(family, node),
        max: table.get("max").map_or(f64::INFINITY, number),
    }
}

fn family(name: &str, node: &Node) -> Family {
    match &node.value {
        Value::List(bounds) => Family::Uniform {
            from: number(&bounds[0]),
            to: number(&bounds[1]),
        },
        Value::Table(table) => match name {
            "pareto" => Family::Pareto {
                mean: number(table.node("mean")),
                shape: table.number("shape"),
            },
            "log_normal" => Family::LogNormal {
                median: number(table.node("median")),
                sigma: table.number("sigma"),
            },
            _ => {
                let points: Vec<_> = table.list("points").iter().filter_map(pair).collect();
                Family::Quantiles(Quantiles::new(&points, table.get("root").map(number)))
            }
        },
        _ => Family::Exponential { mean: number(node) },
    }
}
