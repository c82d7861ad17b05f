//! Typed reading of checked tables.
//!
//! The checker has converted every value to the type that its key declares, so that a mismatch is a defect of
//! the program, which stops it.

use longhaul_keys::Read;
use longhaul_units::{Quantity, Span};

use crate::defaults;
use crate::document::{Node, Origin, Table, Value};

/// Typed reading and writing of a checked table.
pub(crate) trait Typed {
    fn node(&self, key: &str) -> &Node;
    /// A value as the type that its key's declaration is read as.
    fn read<T: Read>(&self, key: &str) -> T;
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

impl Typed for Table {
    fn node(&self, key: &str) -> &Node {
        self.get(key)
            .unwrap_or_else(|| unreachable!("{key} has no value"))
    }

    fn read<T: Read>(&self, key: &str) -> T {
        self.node(key).read()
    }

    fn word(&self, key: &str) -> &str {
        text_of(self.node(key))
    }

    fn list(&self, key: &str) -> &[Node] {
        match &self.node(key).value {
            Value::List(items) => items,
            other => unreachable!("{key} is {other:?}"),
        }
    }

    fn list_mut(&mut self, key: &str) -> &mut Vec<Node> {
        match self.get_mut(key).map(|node| &mut node.value) {
            Some(Value::List(items)) => items,
            other => unreachable!("{key} is {other:?}"),
        }
    }

    fn sub(&self, key: &str) -> &Table {
        let table = self.get(key).and_then(Node::table);
        table.unwrap_or_else(|| unreachable!("{key} is no table"))
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

impl Node {
    /// The value as the type that its key's declaration is read as.
    pub(crate) fn read<T: Read>(&self) -> T {
        let value = defaults::plain(&self.value);
        T::read(Some(&value)).unwrap_or_else(|| unreachable!("{value:?} is of another type"))
    }
}

/// The text in a checked list of texts.
pub(crate) fn text_of(node: &Node) -> &str {
    match &node.value {
        Value::Text(text) => text,
        other => unreachable!("{other:?} is no text"),
    }
}
