//! A document as a tree of values. Each value has an origin.
//!
//! Values are first read as written. Checking converts them to their types; defaults and derived
//! values are then added. Code accesses the declared keys of a table with a [`Field`].

mod read;

use std::collections::BTreeMap;

use longhaul_units::Quantity;

pub use self::read::Read;
use crate::{Field, Origin};

/// A value in a document, with its origin. Two nodes are equal if their values are.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value itself.
    pub value: Value,
    /// Origin of the value.
    pub origin: Origin,
    /// Origin of the value's key; `None` if it equals the origin of the value, or is unknown (JSON).
    pub key: Option<Origin>,
}

/// Value of a key. Before the check it has the type as written, afterwards the type that its key declares.
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

/// A table of keys and values. Code that needs a certain key uses its [`Field`], so that a wrong name does not compile.
/// Code that handles all tables alike uses names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Keys and values in alphabetical order.
    pub entries: BTreeMap<String, Node>,
}

/// Reason why a combination of values is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the key with the refused value.
    pub key: &'static str,
    /// Message with the value found and the allowed values.
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
    /// Returns a value with the given text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_string())
    }

    /// Returns the text; `None` if the value is not a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Node {
    /// Creates a node. Nodes inside a list or table keep their own origins.
    pub fn new(value: Value, origin: Origin) -> Self {
        Self {
            value,
            origin,
            key: None,
        }
    }

    /// Creates a node with a text and an origin.
    pub fn text(text: &str, origin: Origin) -> Self {
        Self::new(Value::text(text), origin)
    }

    /// Returns the origin to show in messages about the key.
    pub fn key_origin(&self) -> &Origin {
        self.key.as_ref().unwrap_or(&self.origin)
    }

    /// Returns the table; `None` if the value is not a table.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns a mutable reference to the table; `None` if the value is not a table.
    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the value as a `T`, the type that its key declares.
    ///
    /// # Panics
    ///
    /// Panics if the value has another type. The checker has converted every value to its declared
    /// type.
    pub fn read<T: Read>(&self) -> T {
        let value = T::read(Some(&self.value));
        value.unwrap_or_else(|| panic!("declared as another type: {:?}", self.value))
    }

    /// Returns the text of a value that is a word or a text.
    ///
    /// # Panics
    ///
    /// Panics if the value is neither.
    pub fn word(&self) -> &str {
        let text = self.value.as_text();
        text.unwrap_or_else(|| panic!("{:?} is no text", self.value))
    }

    /// Sets the origin of the node's key and value, and of all keys and values in it.
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
    /// Returns an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the origin of all keys and values, also in nested tables and lists.
    pub fn attribute(&mut self, origin: &Origin) {
        let nodes = self.entries.values_mut();
        nodes.for_each(|node| node.attribute(origin));
    }

    /// Returns the value of a key with its origin; `None` if the key has no value.
    pub fn get<T>(&self, field: Field<T>) -> Option<&Node> {
        self.entries.get(field.name())
    }

    /// Returns a mutable reference to the node of a key; `None` if the key has no value.
    pub fn get_mut<T>(&mut self, field: Field<T>) -> Option<&mut Node> {
        self.entries.get_mut(field.name())
    }

    /// Returns true if a key has a value.
    pub fn has<T>(&self, field: Field<T>) -> bool {
        self.entries.contains_key(field.name())
    }

    /// Returns the node of a key.
    ///
    /// # Panics
    ///
    /// Panics if the key has no value: the key must be required, or its default filled in.
    pub fn node<T>(&self, field: Field<T>) -> &Node {
        let node = self.get(field);
        node.unwrap_or_else(|| panic!("{field} has no value"))
    }

    /// Returns the value of a key with its declared type. A missing value is passed to the type;
    /// the type may accept it.
    ///
    /// # Panics
    ///
    /// Panics if the type refuses the value, or refuses a missing value.
    pub fn read<T: Read>(&self, field: Field<T>) -> T {
        let value = self.get(field).map(|node| &node.value);
        T::read(value).unwrap_or_else(|| panic!("{field} is declared as another type: {value:?}"))
    }

    /// Returns the table of a key; `None` if the key has no table.
    pub fn table<T>(&self, field: Field<T>) -> Option<&Self> {
        self.get(field)?.table()
    }

    /// Returns a mutable reference to the table of a key; `None` if the key has no table.
    pub fn table_mut<T>(&mut self, field: Field<T>) -> Option<&mut Self> {
        self.get_mut(field)?.table_mut()
    }

    /// Returns the table of a key.
    ///
    /// # Panics
    ///
    /// Panics if the key has no table.
    pub fn sub<T>(&self, field: Field<T>) -> &Self {
        let table = self.table(field);
        table.unwrap_or_else(|| panic!("{field} is no table"))
    }

    /// Returns a mutable reference to the table of a key.
    ///
    /// # Panics
    ///
    /// Panics if the key has no table.
    pub fn sub_mut<T>(&mut self, field: Field<T>) -> &mut Self {
        let table = self.table_mut(field);
        table.unwrap_or_else(|| panic!("{field} is no table"))
    }

    /// Returns the entries of a key's list; empty if the key has no value.
    ///
    /// # Panics
    ///
    /// Panics if the value is not a list.
    pub fn list<T>(&self, field: Field<T>) -> &[Node] {
        match self.get(field).map(|node| &node.value) {
            None => &[],
            Some(Value::List(items)) => items,
            Some(other) => panic!("{field} is {other:?}"),
        }
    }

    /// Returns the entries of a key's list mutably; empty if the key has no value.
    ///
    /// # Panics
    ///
    /// Panics if the value is not a list.
    pub fn list_mut<T>(&mut self, field: Field<T>) -> &mut [Node] {
        match self.get_mut(field).map(|node| &mut node.value) {
            None => &mut [],
            Some(Value::List(items)) => items,
            Some(other) => panic!("{field} is {other:?}"),
        }
    }

    /// Returns the tables in a key's list; entries of other types are left out.
    ///
    /// # Panics
    ///
    /// Panics if the value is not a list.
    pub fn tables<T>(&self, field: Field<T>) -> impl Iterator<Item = &Self> + Clone {
        self.list(field).iter().filter_map(Node::table)
    }

    /// Returns mutable references to the tables in a key's list; entries of other types are left out.
    ///
    /// # Panics
    ///
    /// Panics if the value is not a list.
    pub fn tables_mut<T>(&mut self, field: Field<T>) -> impl Iterator<Item = &mut Self> {
        self.list_mut(field).iter_mut().filter_map(Node::table_mut)
    }

    /// Returns the word or text of a key.
    ///
    /// # Panics
    ///
    /// Panics if the key has no value, or one of another type.
    pub fn word<T>(&self, field: Field<T>) -> &str {
        self.node(field).word()
    }

    /// Returns true if the value of a key is the word `word`.
    pub fn is_word<T>(&self, field: Field<T>, word: &str) -> bool {
        self.get(field).and_then(|node| node.value.as_text()) == Some(word)
    }

    /// Sets the value of a key.
    pub fn insert<T>(&mut self, field: Field<T>, node: Node) {
        self.entries.insert(field.name().to_string(), node);
    }

    /// Removes a key and returns its value; `None` if it had none.
    pub fn remove<T>(&mut self, field: Field<T>) -> Option<Node> {
        self.entries.remove(field.name())
    }

    /// Sets the value of a key, with an origin, unless the key has a value.
    pub fn or_insert<T>(&mut self, field: Field<T>, value: Value, origin: Origin) {
        let entry = self.entries.entry(field.name().to_string());
        entry.or_insert_with(|| Node::new(value, origin));
    }

    /// Sets a key to `value`, a default in all profiles, unless the key has a value.
    pub fn or_default<T>(&mut self, field: Field<T>, value: Value) {
        self.or_insert(field, value, Origin::Default);
    }

    /// Sets a value that is computed from other values. `rule` is a text about the computation,
    /// which `longhaul explain` shows.
    pub fn derive<T>(&mut self, field: Field<T>, value: Value, rule: impl Into<String>) {
        self.insert(field, Node::new(value, Origin::Derived(rule.into())));
    }

    /// Returns the table with the value of one key set or replaced. The origin is [`Origin::Default`].
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
