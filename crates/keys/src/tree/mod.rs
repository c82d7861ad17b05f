//! A document as a tree of values, each with its origin.
//!
//! Values are read as they are written, converted to their types when they are checked, and completed by defaults
//! and derived values. The tables of a document have keys; those that are declared have a [`Field`].

mod read;

use std::collections::BTreeMap;

use longhaul_units::Quantity;

pub use self::read::Read;
use crate::{Field, Origin};

/// A value with its origin.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Origin of the value.
    pub origin: Origin,
    /// Origin of its key, if it is another.
    pub key: Option<Origin>,
}

/// A value as written, converted to its type once it is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text or word.
    Text(String),
    /// A quantity with its unit.
    Quantity(Quantity),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// Keys and values. Declared keys are reached by their [`Field`], so that a wrong name does not compile; code for
/// any table, whatever it declares, uses the entries by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Keys and values in alphabetical order.
    pub entries: BTreeMap<String, Node>,
}

/// Reason why values cannot go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key that is wrong.
    pub key: &'static str,
    /// The value found, and the allowed values.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal of the value of a key.
    pub fn of<T>(field: Field<T>, message: impl Into<String>) -> Self {
        Self {
            key: field.name(),
            message: message.into(),
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Value {
    /// Returns a text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_string())
    }

    /// Returns the text; none if the value is no text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Node {
    /// Returns a value, and everything in it that has no other, with an origin.
    pub fn new(value: Value, origin: Origin) -> Self {
        Self {
            value,
            origin,
            key: None,
        }
    }

    /// Returns a text with an origin.
    pub fn text(text: &str, origin: Origin) -> Self {
        Self::new(Value::text(text), origin)
    }

    /// Returns the position that messages about the key show.
    pub fn key_origin(&self) -> &Origin {
        self.key.as_ref().unwrap_or(&self.origin)
    }

    /// Returns the table; none if the value is no table.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the table, to be changed; none if the value is no table.
    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the value as the type that its key's declaration is read as.
    ///
    /// # Panics
    ///
    /// If it is of another type: the checker has converted every value to that of its declaration.
    pub fn read<T: Read>(&self) -> T {
        let value = T::read(Some(&self.value));
        value.unwrap_or_else(|| panic!("declared as another type: {:?}", self.value))
    }

    /// Returns the text of a checked word or text.
    ///
    /// # Panics
    ///
    /// If it is something else.
    pub fn word(&self) -> &str {
        let text = self.value.as_text();
        text.unwrap_or_else(|| panic!("{:?} is no text", self.value))
    }

    /// Gives the value, and everything in it, one origin.
    pub fn attribute(&mut self, origin: &Origin) {
        self.origin = origin.clone();
        self.key = None;
        match &mut self.value {
            Value::Table(table) => table.attribute(origin),
            Value::List(items) => items.iter_mut().for_each(|item| item.attribute(origin)),
            _ => {}
        }
    }
}

impl Table {
    /// Returns a table without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives all values one origin.
    pub fn attribute(&mut self, origin: &Origin) {
        let nodes = self.entries.values_mut();
        nodes.for_each(|node| node.attribute(origin));
    }

    /// Returns the value of a key with its origin, if there is one.
    pub fn get<T>(&self, field: Field<T>) -> Option<&Node> {
        self.entries.get(field.name())
    }

    /// Returns the node of a key, to be changed.
    pub fn get_mut<T>(&mut self, field: Field<T>) -> Option<&mut Node> {
        self.entries.get_mut(field.name())
    }

    /// Returns true if a key has a value.
    pub fn has<T>(&self, field: Field<T>) -> bool {
        self.entries.contains_key(field.name())
    }

    /// Returns the value of a key that has one.
    ///
    /// # Panics
    ///
    /// If it has none: it is required, or its default has not been filled in.
    pub fn node<T>(&self, field: Field<T>) -> &Node {
        let node = self.get(field);
        node.unwrap_or_else(|| panic!("{field} has no value"))
    }

    /// Returns the value of a key, or its absence, as the type that its declaration is read as.
    ///
    /// # Panics
    ///
    /// If the declaration and the type of the field do not fit each other.
    pub fn read<T: Read>(&self, field: Field<T>) -> T {
        let value = self.get(field).map(|node| &node.value);
        T::read(value).unwrap_or_else(|| panic!("{field} is declared as another type: {value:?}"))
    }

    /// Returns the table of a key; none if the key has no table.
    pub fn table<T>(&self, field: Field<T>) -> Option<&Self> {
        self.get(field)?.table()
    }

    /// Returns the table of a key for changes; none if the key has no table.
    pub fn table_mut<T>(&mut self, field: Field<T>) -> Option<&mut Self> {
        self.get_mut(field)?.table_mut()
    }

    /// Returns the table of a key that has one.
    ///
    /// # Panics
    ///
    /// Panics if the key has no table.
    pub fn sub<T>(&self, field: Field<T>) -> &Self {
        let table = self.table(field);
        table.unwrap_or_else(|| panic!("{field} is no table"))
    }

    /// Returns the table of a key for changes.
    ///
    /// # Panics
    ///
    /// Panics if the key has no table.
    pub fn sub_mut<T>(&mut self, field: Field<T>) -> &mut Self {
        let table = self.table_mut(field);
        table.unwrap_or_else(|| panic!("{field} is no table"))
    }

    /// Returns the entries of a list; none if the key has no value.
    ///
    /// # Panics
    ///
    /// If it is something else.
    pub fn list<T>(&self, field: Field<T>) -> &[Node] {
        match self.get(field).map(|node| &node.value) {
            None => &[],
            Some(Value::List(items)) => items,
            Some(other) => panic!("{field} is {other:?}"),
        }
    }

    /// Returns the list of a key, to be changed.
    ///
    /// # Panics
    ///
    /// If it is something else.
    pub fn list_mut<T>(&mut self, field: Field<T>) -> &mut [Node] {
        match self.get_mut(field).map(|node| &mut node.value) {
            None => &mut [],
            Some(Value::List(items)) => items,
            Some(other) => panic!("{field} is {other:?}"),
        }
    }

    /// Returns the tables in a list.
    pub fn tables<T>(&self, field: Field<T>) -> impl Iterator<Item = &Self> + Clone {
        self.list(field).iter().filter_map(Node::table)
    }

    /// Returns the tables in the list of a key, to be changed.
    pub fn tables_mut<T>(&mut self, field: Field<T>) -> impl Iterator<Item = &mut Self> {
        self.list_mut(field).iter_mut().filter_map(Node::table_mut)
    }

    /// Returns the word or text of a key that has one.
    pub fn word<T>(&self, field: Field<T>) -> &str {
        self.node(field).word()
    }

    /// Returns true if the value of a key is this word.
    pub fn is_word<T>(&self, field: Field<T>, word: &str) -> bool {
        self.get(field).and_then(|node| node.value.as_text()) == Some(word)
    }

    /// Sets a value.
    pub fn insert<T>(&mut self, field: Field<T>, node: Node) {
        self.entries.insert(field.name().to_string(), node);
    }

    /// Takes out a value.
    pub fn remove<T>(&mut self, field: Field<T>) -> Option<Node> {
        self.entries.remove(field.name())
    }

    /// Adds a value with an origin unless there is one.
    pub fn or_insert<T>(&mut self, field: Field<T>, value: Value, origin: Origin) {
        let entry = self.entries.entry(field.name().to_string());
        entry.or_insert_with(|| Node::new(value, origin));
    }

    /// Adds the same default in every profile unless there is a value.
    pub fn or_default<T>(&mut self, field: Field<T>, value: Value) {
        self.or_insert(field, value, Origin::Default);
    }

    /// Sets a value that follows from others, by a rule in words which `longhaul explain` shows.
    pub fn derive<T>(&mut self, field: Field<T>, value: Value, rule: impl Into<String>) {
        self.insert(field, Node::new(value, Origin::Derived(rule.into())));
    }

    /// Returns the table with another value of one key.
    pub fn with<T>(mut self, field: Field<T>, value: Value) -> Self {
        self.insert(field, Node::new(value, Origin::Default));
        self
    }
}

impl FromIterator<(String, Node)> for Table {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(entries: I) -> Self {
        Self {
            entries: entries.into_iter().collect(),
        }
    }
}
