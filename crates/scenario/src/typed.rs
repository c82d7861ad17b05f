//! Typed reading of checked tables.
//!
//! The checker has made every value what the model says it is, so a mismatch here is a defect of
//! the model and stops the program.

use longhaul_units::{Bytes, Quantity, Rate, Span};

use crate::document::{Node, Origin, Table, Value};

/// Typed reading and writing of a checked table.
pub(crate) trait Typed {
    fn node(&self, key: &str) -> &Node;
    fn span(&self, key: &str) -> Span;
    fn rate(&self, key: &str) -> Rate;
    fn bytes(&self, key: &str) -> Bytes;
    fn number(&self, key: &str) -> f64;
    fn whole(&self, key: &str) -> u64;
    fn flag(&self, key: &str) -> bool;
    fn word(&self, key: &str) -> &str;
    fn list(&self, key: &str) -> &[Node];
    fn list_mut(&mut self, key: &str) -> &mut Vec<Node>;
    fn sub(&self, key: &str) -> &Table;
    fn sub_mut(&mut self, key: &str) -> &mut Table;
    /// Adds a value unless there is one.
    fn default(&mut self, key: &str, value: Value, origin: Origin);
    /// Replaces a value by what follows from it.
    fn derive(&mut self, key: &str, value: Value, rule: &str);
}

macro_rules! read {
    ($table:expr, $key:expr, $pattern:pat => $value:expr) => {
        match &$table.node($key).value {
            $pattern => $value,
            other => unreachable!("{} is {other:?}", $key),
        }
    };
}

impl Typed for Table {
    fn node(&self, key: &str) -> &Node {
        self.get(key)
            .unwrap_or_else(|| unreachable!("{key} has no value"))
    }

    fn span(&self, key: &str) -> Span {
        read!(self, key, Value::Quantity(Quantity::Span(span)) => *span)
    }

    fn rate(&self, key: &str) -> Rate {
        read!(self, key, Value::Quantity(Quantity::Rate(rate)) => *rate)
    }

    fn bytes(&self, key: &str) -> Bytes {
        read!(self, key, Value::Quantity(Quantity::Bytes(bytes)) => *bytes)
    }

    fn number(&self, key: &str) -> f64 {
        read!(self, key, Value::Number(number) => *number)
    }

    fn whole(&self, key: &str) -> u64 {
        read!(self, key, Value::Whole(whole) => whole.unsigned_abs())
    }

    fn flag(&self, key: &str) -> bool {
        read!(self, key, Value::Flag(flag) => *flag)
    }

    fn word(&self, key: &str) -> &str {
        read!(self, key, Value::Text(text) => text)
    }

    fn list(&self, key: &str) -> &[Node] {
        read!(self, key, Value::List(items) => items)
    }

    fn list_mut(&mut self, key: &str) -> &mut Vec<Node> {
        match self.get_mut(key).map(|node| &mut node.value) {
            Some(Value::List(items)) => items,
            other => unreachable!("{key} is {other:?}"),
        }
    }

    fn sub(&self, key: &str) -> &Table {
        read!(self, key, Value::Table(table) => table)
    }

    fn sub_mut(&mut self, key: &str) -> &mut Table {
        let node = self.get_mut(key).and_then(Node::table_mut);
        node.unwrap_or_else(|| unreachable!("{key} is no table"))
    }

    fn default(&mut self, key: &str, value: Value, origin: Origin) {
        self.entry(key.to_string())
            .or_insert_with(|| Node::new(value, origin));
    }

    fn derive(&mut self, key: &str, value: Value, rule: &str) {
        self.insert(
            key.to_string(),
            Node::new(value, Origin::Derived(rule.to_string())),
        );
    }
}

/// A span as a value.
pub(crate) fn span(span: Span) -> Value {
    Value::Quantity(Quantity::Span(span))
}

/// The time in a checked list of times.
pub(crate) fn span_of(node: &Node) -> Span {
    match node.value {
        Value::Quantity(Quantity::Span(span)) => span,
        ref other => unreachable!("{other:?} is no time"),
    }
}

/// The text in a checked list of texts.
pub(crate) fn text_of(node: &Node) -> &str {
    match &node.value {
        Value::Text(text) => text,
        other => unreachable!("{other:?} is no text"),
    }
}

/// The number of a checked value.
pub(crate) fn number_of(node: &Node) -> f64 {
    match node.value {
        Value::Number(number) => number,
        ref other => unreachable!("{other:?} is no number"),
    }
}

/// The number in a checked list of whole numbers.
pub(crate) fn whole_of(node: &Node) -> u64 {
    match node.value {
        Value::Whole(whole) => whole.unsigned_abs(),
        ref other => unreachable!("{other:?} is no whole number"),
    }
}
