//! What a key may hold.

use longhaul_units::{Dimension, Quantity};

use crate::{Key, Range, Value, Values};

/// A time.
pub const TIME: &[Dimension] = &[Dimension::Time];
/// A rate.
pub const RATE: &[Dimension] = &[Dimension::Rate];
/// A size in bytes.
pub const SIZE: &[Dimension] = &[Dimension::Size];
/// A probability.
pub const PROBABILITY: Kind = Kind::Number(Range::closed(0.0, 1.0));
/// Counts of segments, packets or bytes beyond this are a mistake.
pub const COUNT_MAX: i64 = 1_000_000_000_000;

/// What a key may hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// A whole number.
    Whole {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A number without a unit.
    Number(Range),
    /// A quantity greater than 0, of one of these dimensions.
    Positive(&'static [Dimension]),
    /// A quantity, 0 included.
    Quantity(&'static [Dimension]),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of one kind of things.
    List(&'static Kind),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table whose keys depend on its key `kind`.
    Tagged(&'static [(&'static str, &'static [Key])]),
    /// A congestion control algorithm with its parameters, from the registry of the congestion crate.
    Congestion,
    /// A slow start with its parameters, from the same registry.
    SlowStart,
    /// Any of these. If a flag and a table are among them, `true` stands for the table with its defaults.
    OneOf(&'static [Kind]),
}

impl Kind {
    /// The value that a text stands for, as after `--set KEY=`, if this kind allows it. It is for defaults:
    /// the text of a list or table may hold no quotes, commas in values, or lists and tables within.
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Self::Flag => text.parse().ok().map(Value::Flag),
            Self::Text => Some(Value::Text(text.to_string())),
            Self::Whole { min, max } => {
                let whole = text.parse().ok()?;
                (*min..=*max)
                    .contains(&whole)
                    .then_some(Value::Whole(whole))
            }
            Self::Number(range) => {
                let number = text.parse().ok()?;
                range.contains(number).then_some(Value::Number(number))
            }
            Self::Positive(dimensions) | Self::Quantity(dimensions) => {
                Quantity::parse(text, dimensions).ok().map(Value::Quantity)
            }
            Self::Word(words) => words.contains(&text).then(|| Value::Text(text.to_string())),
            Self::List(item) => {
                let items = inside(text, '[', ']')?.map(|text| item.parse(text));
                items.collect::<Option<_>>().map(Value::List)
            }
            Self::Table(keys) => table(keys, pairs(text)?).map(Value::Table),
            Self::Tagged(kinds) => {
                let mut pairs = pairs(text)?;
                let place = pairs.iter().position(|(name, _)| *name == "kind")?;
                let (_, tag) = pairs.remove(place);
                let (_, keys) = kinds.iter().find(|(kind, _)| *kind == tag)?;
                let mut values = table(keys, pairs)?;
                values.insert("kind", Value::Text(tag.to_string()));
                Some(Value::Table(values))
            }
            Self::Congestion | Self::SlowStart => {
                let pairs = pairs(text)?.into_iter();
                let entry =
                    |(name, text): (&str, &str)| (name.to_string(), Value::Text(text.into()));
                Some(Value::Table(pairs.map(entry).collect()))
            }
            Self::OneOf(kinds) => kinds.iter().find_map(|kind| kind.parse(text)),
        }
    }
}

/// The parts of a text between brackets, which commas separate.
fn inside(text: &str, open: char, close: char) -> Option<impl Iterator<Item = &str>> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    Some(
        inner
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty()),
    )
}

/// Names and values of `{ name = value, ... }`.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let split = inside(text, '{', '}')?.map(|part| part.split_once('='));
    split
        .map(|pair| pair.map(|(name, value)| (name.trim(), value.trim())))
        .collect()
}

fn table(keys: &[Key], pairs: Vec<(&str, &str)>) -> Option<Values> {
    let value = |(name, text): (&str, &str)| {
        let key = keys.iter().find(|key| key.name == name)?;
        Some((name.to_string(), key.kind.parse(text)?))
    };
    pairs.into_iter().map(value).collect()
}
