//! Messages about unknown keys and names, with the name that was probably meant and the list of all
//! names.

use longhaul_units::{nearest, suggestion};

use crate::document::{Node, Table, Value, join};
use crate::error::Diagnostic;
use crate::renamed;

/// Names that keys have in other tools, each with Longhaul's key.
const OTHER_WORDS: [(&str, &str); 8] = [
    ("algorithm", "congestion"),
    ("bandwidth", "rate"),
    ("buffer", "queue"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("cc", "congestion"),
    ("cca", "congestion"),
    ("latency", "delay"),
];

/// Returns the key that was probably meant by the unknown key `key`: its new name if it was renamed, or else a similar
/// key in `known`. `None` if no key is similar.
pub(crate) fn meant_key<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    renamed::new_name(key, known).or_else(|| nearest(as_meant(key, known), known.iter().copied()))
}

/// Returns the key in `known` that other tools call `key`; `key` itself if there is none.
fn as_meant<'a>(key: &'a str, known: &[&str]) -> &'a str {
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == key);
    other.map_or(
        key,
        |(_, name)| if known.contains(name) { name } else { key },
    )
}

/// Reports the unknown keys of a table. `kind` is the value of the table's key `kind`; `None` if the table lacks this
/// key.
pub(crate) fn refuse_unknown_keys(
    table: &Table,
    kind: Option<&Node>,
    path: &str,
    known: impl Fn(&str) -> bool,
    out: &mut Vec<Diagnostic>,
    all: impl Fn() -> Vec<&'static str>,
) {
    for (key, node) in table.entries.iter().filter(|(key, _)| !known(key)) {
        let known = all();
        let mut message = match renamed::new_name(key, &known) {
            Some(new) => format!("`{key}` is called `{new}` now"),
            None => message_about(path, key, &known),
        };
        if path.is_empty()
            && let Some(whole) = path_below(table, key)
        {
            message += &format!(". There is `{whole}`: write the whole path");
        }
        if let Some(kind) = kind.filter(|kind| !kind.origin.is_beside(&node.origin)) {
            message += &of_another_kind(kind, path);
        }
        out.push(Diagnostic::new(
            &join(path, key),
            node.key_origin(),
            message,
        ));
    }
}

/// Returns the path of a table named `key` that is nested at any depth in the tables of `table`;
/// `None` without such a table.
fn path_below(table: &Table, key: &str) -> Option<String> {
    table.entries.iter().find_map(|(name, node)| {
        let inner = node.table()?;
        match inner.entries.get(key) {
            Some(found) if found.table().is_some() => Some(join(name, key)),
            _ => path_below(inner, key).map(|path| join(name, &path)),
        }
    })
}

/// Returns a hint about an unknown key of the table at `path`. The key and the table's `kind` were given in different
/// files or overrides, so the key may have been meant for another kind.
fn of_another_kind(kind: &Node, path: &str) -> String {
    let (Value::Text(name), place) = (&kind.value, kind.origin.place()) else {
        return String::new();
    };
    format!(
        ". It is given for another kind: `kind = {name:?}` is from {place} and keeps the keys beside it; \
         a whole table replaces them: --set '{path}={{ kind = {name:?} }}'"
    )
}

/// Kinds of names, each with the argument of `longhaul list` for a list of the names of that kind.
const LISTS: [(&str, &str); 4] = [
    ("congestion control", "algorithms"),
    ("slow start", "slow-starts"),
    ("queue discipline", "queues"),
    ("kind of traffic", "traffic"),
];

/// Returns the message about a name that is not in `known`.
pub(crate) fn unknown_name<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let list = LISTS.iter().find(|(listed, _)| *listed == what);
    let command = list.map(|(_, list)| format!("longhaul list {list}"));
    let end = suggestion(name, &known, command.as_deref());
    format!("unknown {what} `{name}`{end}")
}

/// Returns the message about an unknown key of the table at `path`.
fn message_about(path: &str, key: &str, known: &[&str]) -> String {
    let command = match path
        .rsplit('.')
        .find(|part| !part.is_empty() && part.parse::<usize>().is_err())
    {
        Some("queue") => "longhaul list queues".to_string(),
        Some("traffic") => "longhaul list traffic".to_string(),
        _ if path.starts_with("mesonet") => "longhaul list mesonet".to_string(),
        Some("congestion") => "longhaul list algorithms".to_string(),
        Some("slow_start") => "longhaul list slow-starts".to_string(),
        Some(table) => format!("longhaul list keys {table}"),
        None => "longhaul list keys".to_string(),
    };
    let end = suggestion(as_meant(key, known), known, Some(&command));
    format!("unknown key `{key}`{end}")
}
