//! Reading of JSON into a tree of values, each with its position in the text.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::document::{Node, Origin, Source, Table, Value};
use crate::error::Diagnostic;

/// Parses the text of a JSON file. A document that is not an object has no keys.
pub(crate) fn parse(source: &Arc<Source>) -> Result<Table, Diagnostic> {
    let whole: &RawValue = serde_json::from_str(&source.text).map_err(|error| {
        let offset = source
            .text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1));
        let start = offset.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        Diagnostic::new(
            "",
            &Origin::File(Arc::clone(source), start..start + 1),
            error.to_string(),
        )
    })?;
    match from_json(whole, source, 0)?.value {
        Value::Table(table) => Ok(table),
        _ => Ok(Table::new()),
    }
}

/// Maximum depth of tables and lists in a JSON scenario, so that a file cannot exhaust the stack. A resolved scenario has
/// less than ten levels.
const MAX_DEPTH: usize = 100;

/// Entries of a JSON object. Unlike a map of serde, it refuses a key that appears twice, as TOML does.
struct Entries<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if entries.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            entries.insert(key, value);
        }
        Ok(Entries(entries))
    }
}

/// Converts a raw JSON value inside `depth` others. `raw` is a part of the source's text: its address in memory gives
/// its position in the text.
fn from_json(raw: &RawValue, source: &Arc<Source>, depth: usize) -> Result<Node, Diagnostic> {
    let start = raw.get().as_ptr() as usize - source.text.as_ptr() as usize;
    let here = Origin::File(Arc::clone(source), start..start + raw.get().len());
    if depth > MAX_DEPTH {
        let message = format!("expected at most {MAX_DEPTH} levels of tables and lists");
        return Err(Diagnostic::new("", &here, message));
    }
    let refuse = |error: serde_json::Error| Diagnostic::new("", &here, error.to_string());
    let value = match raw.get().as_bytes()[0] {
        b'{' => {
            let Entries(entries) = serde_json::from_str(raw.get()).map_err(refuse)?;
            let entry = |(key, raw)| Ok((key, from_json(raw, source, depth + 1)?));
            Value::Table(entries.into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(refuse)?;
            let item = |raw| from_json(raw, source, depth + 1);
            Value::List(items.into_iter().map(item).collect::<Result<_, _>>()?)
        }
        b'"' => Value::Text(serde_json::from_str(raw.get()).map_err(refuse)?),
        b't' | b'f' => Value::Flag(serde_json::from_str(raw.get()).map_err(refuse)?),
        b'n' => {
            return Err(Diagnostic::new(
                "",
                &here,
                "null is not a value; leave the key out",
            ));
        }
        _ => match serde_json::from_str(raw.get()) {
            Ok(whole) => Value::Whole(whole),
            Err(_) => Value::Number(serde_json::from_str(raw.get()).map_err(refuse)?),
        },
    };
    Ok(Node::new(value, here))
}
