//! Output of a resolved document: canonical JSON, and rows with the origin of each value.

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::algorithm::{MODULE, SHA256};
use crate::document::{Node, Table, Value, join};

/// One value of a resolved scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainRow {
    /// Dotted path of the value's key; a description for values that have no key.
    pub path: String,
    /// The value as written in a scenario.
    pub value: String,
    /// Origin of the value: `file:line`, `--set ...`, `profile ...`, `default` or `derived: ...`.
    pub origin: String,
}

/// Returns a table as JSON with sorted keys. Quantities are texts with units, and whole numbers
/// have no fraction.
pub(crate) fn json(table: &Table) -> Json {
    let entry = |(key, node): (&String, &Node)| (key.clone(), json_value(&node.value));
    Json::Object(table.entries.iter().map(entry).collect::<Map<_, _>>())
}

pub(crate) fn json_value(value: &Value) -> Json {
    match value {
        Value::Flag(flag) => Json::from(*flag),
        Value::Whole(whole) => Json::from(*whole),
        // Up to 2^53, a number without a fraction is the same number when it is written without a
        // point.
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9.007e15 => {
            Json::from(*number as i64)
        }
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Quantity(quantity) => Json::from(quantity.to_string()),
        Value::List(items) => items.iter().map(|item| json_value(&item.value)).collect(),
        Value::Table(table) => json(table),
    }
}

/// Returns the SHA-256, in hexadecimal, of the canonical JSON and the results version.
pub(crate) fn hash(canonical: &Json, results_version: u32) -> String {
    let digest = hmac_sha256::Hash::hash(
        format!("{canonical}\nresults-version {results_version}").as_bytes(),
    );
    hexadecimal(&digest)
}

/// Returns the bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the directories from the paths of module files. The SHA-256 of a module file identifies it without them.
pub(crate) fn without_directories(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            if entries.contains_key(SHA256.name())
                && let Some(Json::String(file)) = entries.get_mut(MODULE.name())
                && let Some(name) = Path::new(file.as_str()).file_name()
            {
                *file = name.to_string_lossy().into_owned();
            }
            entries.values_mut().for_each(without_directories);
        }
        Json::Array(items) => items.iter_mut().for_each(without_directories),
        _ => {}
    }
}

/// Returns a row for each value in `table`. A list of plain values has one row.
pub(crate) fn explain(table: &Table) -> Vec<ExplainRow> {
    let mut rows = Vec::new();
    explain_table(table, "", &mut rows);
    rows
}

fn explain_table(table: &Table, path: &str, rows: &mut Vec<ExplainRow>) {
    for (key, node) in &table.entries {
        explain_node(node, &join(path, key), rows);
    }
}

fn explain_node(node: &Node, path: &str, rows: &mut Vec<ExplainRow>) {
    match &node.value {
        Value::Table(table) => explain_table(table, path, rows),
        Value::List(items) if items.iter().any(|item| item.table().is_some()) => {
            for (index, item) in items.iter().enumerate() {
                explain_node(item, &join(path, &index.to_string()), rows);
            }
        }
        value => rows.push(ExplainRow {
            path: path.to_string(),
            value: written(value),
            origin: node.origin.to_string(),
        }),
    }
}

/// Returns a value other than a table as written in a scenario, without quotes. A text is cut after its first line.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => match text.lines().count() {
            0 | 1 => text.clone(),
            lines => format!("{} ... ({lines} lines)", text.lines().next().unwrap_or("")),
        },
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| written(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        other => match json_value(other) {
            Json::String(text) => text,
            json => json.to_string(),
        },
    }
}
