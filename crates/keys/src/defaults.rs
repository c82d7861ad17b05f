//! Defaults: from their texts to values.

use longhaul_units::Quantity;

use crate::{Key, Kind, Profile, Value, Values};

impl Values {
    /// The defaults of a profile, those of tables among them.
    ///
    /// # Panics
    ///
    /// If a default is none that its key allows: a mistake in the declaration.
    pub fn defaults(keys: &[Key], profile: Profile) -> Self {
        let value = |key: &Key| {
            let text = key.default_in(profile)?;
            let value = key.kind.parse(text);
            let value = value.unwrap_or_else(|| panic!("`{}` cannot be {text}", key.name));
            Some((key.name.to_string(), complete(value, key.kind, profile)))
        };
        keys.iter().filter_map(value).collect()
    }
}

/// A table with the defaults of what it leaves out; `true` may stand for one.
fn complete(value: Value, kind: Kind, profile: Profile) -> Value {
    let keys = match kind {
        Kind::Table(keys) => Some(keys),
        Kind::OneOf(kinds) => kinds.iter().find_map(|kind| match kind {
            Kind::Table(keys) => Some(*keys),
            _ => None,
        }),
        _ => None,
    };
    let given = match (value, keys) {
        (Value::Table(given), Some(_)) => given,
        (Value::Flag(true), Some(_)) => Values::default(),
        (value, _) => return value,
    };
    let mut values = Values::defaults(keys.unwrap_or_default(), profile);
    for (key, value) in given.iter() {
        values.insert(key, value.clone());
    }
    Value::Table(values)
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
