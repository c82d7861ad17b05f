//! Errors in a scenario and their positions: rendered as `file:line:column: key: message` with the line
//! itself below.

use std::collections::BTreeMap;
use std::fmt;

use longhaul_keys::{Field, printable};

use crate::document::{Node, Origin, Table, Value, join};

/// One error in a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    /// Dotted path of the key; empty for the whole file.
    pub path: String,
    /// Text of the error: the value found, the allowed values, and the value probably meant.
    pub message: String,
    /// Origin of the value.
    pub origin: Origin,
}

impl Diagnostic {
    pub fn new(path: &str, origin: &Origin, message: impl Into<String>) -> Self {
        Self {
            path: path.to_string(),
            message: message.into(),
            origin: origin.clone(),
        }
    }

    /// Creates an error about the value of a table's key. `path` is the path of the table.
    pub fn at<T>(table: &Table, key: Field<T>, path: &str, message: impl Into<String>) -> Self {
        Self::new(&join(path, key.name()), &table.node(key).origin, message)
    }

    /// Creates an error about a key that a table contains. `path` is the path of the table.
    pub fn of_key<T>(table: &Table, key: Field<T>, path: &str, message: impl Into<String>) -> Self {
        let origin = table.node(key).key_origin();
        Self::new(&join(path, key.name()), origin, message)
    }

    /// Returns the error with a position in the file or in an override. If the wrong value is a
    /// default, is derived, or comes from the profile, the error gets the position of the innermost
    /// table in the file that contains the key, and its message names the value's origin.
    fn in_file(self, places: &Places) -> Self {
        match &self.origin {
            Origin::File(..) | Origin::Set(_) => self,
            other => Self {
                message: format!("{} (this value: {other})", self.message),
                origin: places.nearest(&self.path),
                path: self.path,
            },
        }
    }
}

/// Positions of the keys that a file or an override contains.
#[derive(Debug)]
pub(crate) struct Places {
    /// Origin of the whole file or override, for errors without a more exact position.
    whole: Origin,
    /// Origin of each key in the document, by its dotted path.
    written: BTreeMap<String, Origin>,
}

impl Places {
    /// Returns the positions of all keys of a document as the user wrote it, before defaults are
    /// added. `whole` is the origin of the document.
    pub(crate) fn of(root: &Table, whole: &Origin) -> Self {
        let mut places = Self {
            whole: whole.clone(),
            written: BTreeMap::new(),
        };
        places.add_table(root, "");
        places
    }

    fn add_table(&mut self, table: &Table, above: &str) {
        for (key, node) in &table.entries {
            self.add(node, node.key_origin(), join(above, key));
        }
    }

    fn add(&mut self, node: &Node, place: &Origin, path: String) {
        match &node.value {
            Value::Table(table) => self.add_table(table, &path),
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(item, &item.origin, join(&path, &index.to_string()));
                }
            }
            _ => {}
        }
        self.written.insert(path, place.clone());
    }

    /// Returns the position of the innermost table or list in the file around the key at `path`; without one, that of
    /// the whole file. The key's own position is not used.
    fn nearest(&self, path: &str) -> Origin {
        let mut path = path;
        while let Some((above, _)) = path.rsplit_once('.') {
            path = above;
            if let Some(place) = self.written.get(path) {
                return place.clone();
            }
        }
        self.whole.clone()
    }
}

/// Reason for refusing a scenario: all errors in it, in the order of the file.
#[derive(Clone, Debug)]
pub struct ScenarioError {
    diagnostics: Vec<Diagnostic>,
}

impl ScenarioError {
    /// Creates an error from all diagnostics, sorted by their position in the file. Those in
    /// overrides come first. Equal messages about the same key, one after the other, appear once.
    pub(crate) fn new(mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|diagnostic| diagnostic.origin.offset());
        diagnostics.dedup_by(|b, a| a.path == b.path && a.message == b.message);
        Self { diagnostics }
    }

    /// Creates an error from all diagnostics. Each gets a position in the file or in an override.
    pub(crate) fn in_file(diagnostics: Vec<Diagnostic>, places: &Places) -> Self {
        let placed = diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.in_file(places));
        Self::new(placed.collect())
    }

    /// Returns the dotted paths of the keys with errors.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.diagnostics
            .iter()
            .map(|diagnostic| diagnostic.path.as_str())
    }
}

impl From<Diagnostic> for ScenarioError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(vec![diagnostic])
    }
}

impl std::error::Error for ScenarioError {}

/// Maximum number of messages that are shown. An error in a list of flows is often the same in all
/// of them.
const SHOWN: usize = 20;

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().take(SHOWN).enumerate() {
            if index > 0 {
                out.write_str("\n")?;
            }
            diagnostic.fmt(out)?;
        }
        match self.diagnostics.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(out, "\n... and {more} more"),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.origin.place())?;
        if !self.path.is_empty() {
            write!(out, ": {}", printable(&self.path))?;
        }
        write!(out, ": {}", printable(&self.message))?;
        let snippet = self.origin.snippet();
        snippet.map_or(Ok(()), |snippet| write!(out, "\n{}", printable(&snippet)))
    }
}
