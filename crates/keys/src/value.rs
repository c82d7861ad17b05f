//! Checked values, and typed reading of them.

use std::collections::BTreeMap;

use longhaul_units::{Bytes, Quantity, Rate, Span, Time};

/// A value that its key's [`Kind`](crate::Kind) allows.
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
    List(Vec<Value>),
    /// A table.
    Table(Values),
}

/// The values of a table. All that the table's keys declare are there once defaults have been filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    entries: BTreeMap<String, Value>,
    /// Rules, in words, of values that follow from others.
    derived: BTreeMap<String, String>,
}

/// Why values cannot go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key that is wrong.
    pub key: &'static str,
    /// What was found and what is allowed.
    pub message: String,
}

impl Values {
    /// The same with another value of one key.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.insert(key, value);
        self
    }

    /// Sets a value.
    pub fn insert(&mut self, key: &str, value: Value) {
        self.entries.insert(key.to_string(), value);
    }

    /// Sets a value that follows from others, by a rule in words which `longhaul explain` shows.
    pub fn derive(&mut self, key: &str, value: Value, rule: &str) {
        self.insert(key, value);
        self.derived.insert(key.to_string(), rule.to_string());
    }

    /// Takes out a value that says nothing beside the others.
    pub fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// The value of a key, if there is one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    /// Whether a key has the word as its value.
    pub fn is_word(&self, key: &str, word: &str) -> bool {
        matches!(self.get(key), Some(Value::Text(text)) if text == word)
    }

    /// Every key with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The rules of the values that follow from others, by key.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.derived
            .iter()
            .map(|(key, rule)| (key.as_str(), rule.as_str()))
    }

    /// The value of a key as the type that its kind is read as.
    ///
    /// # Panics
    ///
    /// If the declaration and the type of the field do not fit each other.
    pub fn read<T: Read>(&self, key: &str) -> T {
        let value = self.get(key);
        T::read(value).unwrap_or_else(|| panic!("`{key}` is declared as another type: {value:?}"))
    }
}

impl FromIterator<(String, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            derived: BTreeMap::new(),
        }
    }
}

/// A type that a key's value can be read as.
pub trait Read: Sized {
    /// Reads a value, or the absence of one; none if it is of another type.
    fn read(value: Option<&Value>) -> Option<Self>;
}

/// Nothing, a word such as `auto` or `unlimited`, and `false` are read as none.
impl<T: Read> Read for Option<T> {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None | Some(Value::Text(_) | Value::Flag(false)) => Some(None),
            given => T::read(given).map(Some),
        }
    }
}

/// Nothing is read as no entries.
impl<T: Read> Read for Vec<T> {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None => Some(Self::new()),
            Some(Value::List(items)) => items.iter().map(|item| T::read(Some(item))).collect(),
            Some(_) => None,
        }
    }
}

macro_rules! read {
    ($($type:ty: $($pattern:pat => $value:expr),+;)+) => {
        $(impl Read for $type {
            fn read(value: Option<&Value>) -> Option<Self> {
                match value? {
                    $($pattern => $value,)+
                    _ => None,
                }
            }
        })+
    };
}

read! {
    bool: Value::Flag(flag) => Some(*flag);
    f64: Value::Number(number) => Some(*number),
        Value::Quantity(Quantity::Packets(number)) => Some(*number);
    u64: Value::Whole(whole) => u64::try_from(*whole).ok(),
        Value::Quantity(Quantity::Bytes(bytes)) => Some(bytes.0);
    u32: Value::Whole(whole) => u32::try_from(*whole).ok(),
        Value::Quantity(Quantity::Bytes(bytes)) => u32::try_from(bytes.0).ok();
    u8: Value::Whole(whole) => u8::try_from(*whole).ok();
    String: Value::Text(text) => Some(text.clone());
    Span: Value::Quantity(Quantity::Span(span)) => Some(*span);
    Time: Value::Quantity(Quantity::Span(span)) => Some(Time::ZERO + *span);
    Rate: Value::Quantity(Quantity::Rate(rate)) => Some(*rate);
    Bytes: Value::Quantity(Quantity::Bytes(bytes)) => Some(*bytes);
    Quantity: Value::Quantity(quantity) => Some(*quantity);
    Values: Value::Table(values) => Some(values.clone());
}
