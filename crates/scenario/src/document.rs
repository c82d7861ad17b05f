//! A document as a tree of values, each with its origin.
//!
//! Reading records the position of every key and value. `extends`, `--set` and profiles merge trees, and
//! every value keeps its origin.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use longhaul_units::Quantity;

/// A text that values were read from.
#[derive(Debug)]
pub(crate) struct Source {
    /// Name in messages: a path as the user wrote it.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A place in a file.
    File(Arc<Source>, Range<usize>),
    /// An override, as written after `--set`.
    Set(Arc<str>),
    /// The profile of this name.
    Profile(&'static str),
    /// The same default in every profile.
    Default,
    /// Computed from other values, by this rule.
    Derived(String),
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    /// Where the value is written.
    pub origin: Origin,
    /// Where its key is written, if elsewhere.
    pub key: Option<Origin>,
}

/// A value as written, converted to its type once it is checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Quantity(Quantity),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in alphabetical order.
pub(crate) type Table = BTreeMap<String, Node>;

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Node {
    pub fn new(value: Value, origin: Origin) -> Self {
        Self {
            value,
            origin,
            key: None,
        }
    }

    pub fn text(text: &str, origin: Origin) -> Self {
        Self::new(Value::Text(text.to_string()), origin)
    }

    /// The position that messages about the key show.
    pub fn key_origin(&self) -> &Origin {
        self.key.as_ref().unwrap_or(&self.origin)
    }

    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value {
            Some(table)
        } else {
            None
        }
    }

    pub fn table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value {
            Some(table)
        } else {
            None
        }
    }
}

impl Origin {
    /// Position in the file, to sort messages by.
    pub fn offset(&self) -> usize {
        if let Self::File(_, span) = self {
            span.start
        } else {
            0
        }
    }

    /// Whether both are in one text: the same file, or the same override.
    pub fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one, _), Self::File(other, _)) => Arc::ptr_eq(one, other),
            (Self::Set(one), Self::Set(other)) => one == other,
            _ => false,
        }
    }

    /// Where it is, for the head of a message: `name:line:column`.
    pub fn place(&self) -> String {
        match self {
            Self::File(source, span) => {
                let (line, column) = source.position(span.start);
                format!("{}:{line}:{column}", source.name)
            }
            other => other.to_string(),
        }
    }

    /// The line with the value underlined, or the part of it around the value if it is long; nothing
    /// for a whole file.
    pub fn snippet(&self) -> Option<String> {
        let Self::File(source, span) = self else {
            return None;
        };
        if span.is_empty() {
            return None;
        }
        let (number, column) = source.position(span.start);
        let line = source.text.lines().nth(number - 1)?;
        let length = source
            .text
            .get(span.clone())
            .map_or(1, |text| text.chars().count());
        let (text, indent) = around(line, column - 1);
        let rest = text.chars().count().saturating_sub(indent).max(1);
        let marks = "^".repeat(length.clamp(1, rest));
        let (gutter, indent) = (" ".repeat(number.to_string().len()), " ".repeat(indent));
        Some(format!(" {number} | {text}\n {gutter} | {indent}{marks}"))
    }
}

/// Characters of a line that are shown, and how many of them before the value: programs write whole
/// scenarios in one line.
const SHOWN: usize = 100;
const SHOWN_BEFORE: usize = 40;

/// The part of a line around a place, and the place in it.
fn around(line: &str, place: usize) -> (String, usize) {
    let skipped = if line.chars().count() <= SHOWN {
        0
    } else {
        place.saturating_sub(SHOWN_BEFORE)
    };
    let mut rest = line.chars().skip(skipped);
    let mut text: String = rest.by_ref().take(SHOWN).collect();
    if rest.next().is_some() {
        text.push_str(" ...");
    }
    if skipped == 0 {
        return (text, place);
    }
    let before = "... ";
    (format!("{before}{text}"), before.len() + place - skipped)
}

impl fmt::Display for Origin {
    /// What `longhaul explain` shows.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(source, span) => {
                write!(out, "{}:{}", source.name, source.position(span.start).0)
            }
            Self::Set(text) => write!(out, "--set {text}"),
            Self::Profile(name) => write!(out, "profile {name}"),
            Self::Default => out.write_str("default"),
            Self::Derived(rule) => write!(out, "derived: {rule}"),
        }
    }
}

impl Source {
    /// Line and column of a byte, both counted from one.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

/// Keys that name what a table describes: a built-in kind, or the file of a custom one, whose text goes with it.
const NAMES: [&str; 2] = ["kind", "python"];
const TEXT: &str = "source";

/// Takes out the name of what a table describes, before another one comes.
fn forget_name(table: &mut Table) {
    if table.remove("python").is_some() {
        table.remove(TEXT);
    }
    table.remove("kind");
}

/// Sets one key of a table as if it were written there instead of what it had. The other keys stay, whatever kind
/// it names: one that the new kind does not have is refused by the checker.
pub(crate) fn put(table: &mut Table, key: String, node: Node) {
    if NAMES.contains(&key.as_str()) {
        forget_name(table);
    }
    table.insert(key, node);
}

/// Merges `upper` into `lower`, whose values it overrides: tables are merged, other values replaced.
pub(crate) fn overlay(lower: &mut Table, upper: Table) {
    if NAMES.iter().any(|key| upper.contains_key(*key)) {
        forget_name(lower);
    }
    for (key, node) in upper {
        // Another kind of network, or other routers: links and routes of the lower one do not apply to them.
        let replaces = key == "topology"
            && lower.get("topology").is_some_and(|below| {
                let kinds =
                    |node: &Node| node.table().and_then(|table| table.keys().next().cloned());
                let routers = node
                    .table()
                    .is_some_and(|table| table.contains_key("backbone"));
                routers || kinds(below) != kinds(&node)
            });
        match (lower.get_mut(&key), node.value) {
            (
                Some(Node {
                    value: Value::Table(below),
                    ..
                }),
                Value::Table(above),
            ) if !replaces => overlay(below, above),
            (_, value) => drop(lower.insert(key, Node { value, ..node })),
        }
    }
}

/// Merges defaults into a table, whose own values hold: the opposite of [`overlay`].
pub(crate) fn fill(upper: &mut Table, lower: &Table) {
    for (key, node) in lower {
        match (upper.get_mut(key), &node.value) {
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
            (None, _) => drop(upper.insert(key.clone(), node.clone())),
        }
    }
}

/// A dotted path extended by a key.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_string()
    } else {
        format!("{path}.{key}")
    }
}
