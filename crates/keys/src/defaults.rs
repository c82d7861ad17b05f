//! Default values of keys, parsed from the texts in their declarations.

use longhaul_units::Quantity;

use crate::{DefaultText, KIND, Key, Kind, Node, Origin, Profile, Table, Value};

impl Key {
    /// Returns the key's default in `profile`; `None` if it has none, or if it is computed from other
    /// values.
    ///
    /// # Panics
    ///
    /// Panics if the key does not allow the default, which is a mistake in the declaration.
    pub fn default_node(&self, profile: Profile) -> Option<Node> {
        let text = self.default_in(profile)?;
        let value = self.kind.parse(text);
        let value = value.unwrap_or_else(|| panic!("`{}` cannot be {text}", self.name));
        let mut node = Node::new(value, Origin::Default);
        if let DefaultText::ByProfile(_) = self.default {
            node.attribute(&Origin::Profile(profile.name()));
        }
        Some(node)
    }
}

impl Table {
    /// Returns a table with the defaults of `keys` in `profile`, including those of nested tables.
    pub fn defaults(keys: &[Key], profile: Profile) -> Self {
        let mut table = Self::new();
        table.fill(keys, profile);
        table
    }

    /// Adds the defaults of `profile` for keys that have no value, also in nested tables.
    pub fn fill(&mut self, keys: &[Key], profile: Profile) {
        for key in keys {
            if !self.entries.contains_key(key.name)
                && let Some(node) = key.default_node(profile)
            {
                self.entries.insert(key.name.to_string(), node);
            }
            if let Some(node) = self.entries.get_mut(key.name) {
                complete(node, &key.kind, profile);
            }
        }
    }
}

/// Adds the defaults of missing keys to `node` if it is a table, or to its tables if it is a list.
/// The value `true` becomes a table of all defaults if `kind` allows a table as well.
fn complete(node: &mut Node, kind: &Kind, profile: Profile) {
    match (kind, &mut node.value) {
        (Kind::Table(keys), Value::Table(table)) => table.fill(keys, profile),
        (Kind::Tagged(kinds), Value::Table(table)) => {
            let tag = table.get(KIND).and_then(|node| node.value.as_text());
            let known = kinds.iter().find(|(name, _)| tag == Some(name));
            if let Some((_, keys)) = known {
                table.fill(keys, profile);
            }
        }
        (Kind::List(kind), Value::List(items)) => {
            let items = items.iter_mut();
            items.for_each(|item| complete(item, kind, profile));
        }
        (Kind::OneOf(kinds), value) => {
            let has_table = kinds.iter().any(|kind| matches!(kind, Kind::Table(_)));
            if *value == Value::Flag(true) && has_table {
                *value = Value::Table(Table::new());
            }
            let fitting = kinds.iter().find(|kind| match value {
                Value::Table(_) => matches!(kind, Kind::Table(_) | Kind::Tagged(_)),
                Value::List(_) => matches!(kind, Kind::List(_)),
                _ => false,
            });
            if let Some(kind) = fitting {
                complete(node, kind, profile);
            }
        }
        _ => {}
    }
}

impl Kind {
    /// Parses a text as after `--set KEY=`; returns `None` if this kind does not allow the value.
    /// This parser is for defaults only: the text of a list or table may not contain quotes, commas
    /// in values, or nested lists and tables. It allows a quantity of 0 for [`Self::Positive`], and
    /// any characters in texts. The parameters of a congestion control or slow start remain texts.
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Self::Flag => text.parse().ok().map(Value::Flag),
            Self::Text | Self::Name => Some(Value::text(text)),
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
            Self::Word(words) => words.contains(&text).then(|| Value::text(text)),
            Self::List(item) => {
                let items = inside(text, '[', ']')?.map(|text| item.parse(text).map(unattributed));
                items.collect::<Option<_>>().map(Value::List)
            }
            Self::Table(keys) => table(keys, pairs(text)?).map(Value::Table),
            Self::Tagged(kinds) => {
                let mut pairs = pairs(text)?;
                let place = pairs.iter().position(|(name, _)| *name == "kind")?;
                let (_, tag) = pairs.remove(place);
                let (_, keys) = kinds.iter().find(|(kind, _)| *kind == tag)?;
                let table = table(keys, pairs)?;
                Some(Value::Table(table.with(KIND, Value::text(tag))))
            }
            Self::Congestion | Self::SlowStart => {
                let pairs = pairs(text)?.into_iter();
                let entry = |(name, text): (&str, &str)| {
                    (name.to_string(), unattributed(Value::text(text)))
                };
                Some(Value::Table(pairs.map(entry).collect()))
            }
            Self::OneOf(kinds) => kinds.iter().find_map(|kind| kind.parse(text)),
        }
    }
}

/// Returns a node with the origin [`Origin::Default`]. [`Key::default_node`] changes the origin if
/// the default depends on the profile.
fn unattributed(value: Value) -> Node {
    Node::new(value, Origin::Default)
}

/// Returns the comma-separated parts of a text between the brackets `open` and `close`; `None` if
/// the text is not in brackets.
fn inside(text: &str, open: char, close: char) -> Option<impl Iterator<Item = &str>> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    Some(
        inner
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty()),
    )
}

/// Returns the names and values of a text `{ name = value, ... }`; `None` if it has another form.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let split = inside(text, '{', '}')?.map(|part| part.split_once('='));
    split
        .map(|pair| pair.map(|(name, value)| (name.trim(), value.trim())))
        .collect()
}

fn table(keys: &[Key], pairs: Vec<(&str, &str)>) -> Option<Table> {
    let value = |(name, text): (&str, &str)| {
        let key = keys.iter().find(|key| key.name == name)?;
        Some((name.to_string(), unattributed(key.kind.parse(text)?)))
    };
    pairs.into_iter().map(value).collect()
}
