//! Documents: scenarios as trees of values, each with its origin.

pub(crate) use longhaul_keys::{Node, Origin, Source, Table, Value};
use longhaul_units::{Quantity, Span};

/// Returns a time span as a value of a document.
pub(crate) fn span(span: Span) -> Value {
    Value::Quantity(Quantity::Span(span))
}

/// Adds to `upper` the values of `lower` that `upper` does not have, the opposite of
/// `merge::overlay`.
pub(crate) fn fill(upper: &mut Table, lower: &Table) {
    for (key, node) in &lower.entries {
        match (upper.entries.get_mut(key), &node.value) {
            (
                Some(Node {
                    value: Value::Table(above),
                    ..
                }),
                Value::Table(below),
            ) => {
                fill(above, below);
            }
            (Some(_), _) => {}
            (None, _) => drop(upper.entries.insert(key.clone(), node.clone())),
        }
    }
}

/// Returns a dotted path extended by a key.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_string()
    } else {
        format!("{path}.{key}")
    }
}

/// Returns a value as text for messages.
pub(crate) fn describe_value(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(whole) => whole.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Quantity(quantity) => quantity.to_string(),
        Value::List(_) => "a list".to_string(),
        Value::Table(_) => "a table".to_string(),
    }
}
