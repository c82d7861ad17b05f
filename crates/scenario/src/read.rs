//! Reading of files into a tree of values: TOML here, JSON by `json`; application of `extends` and `--set`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_keys::Field;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::document::{Node, Origin, Source, Table, Value, join};
use crate::error::Diagnostic;
use crate::files;
use crate::json;
use crate::merge::{overlay, put};
use crate::model::About;
use crate::model::flow::AnyFlow;

/// Reads a file and all files that it extends. Returns the tree and its origin.
pub(crate) fn read_file(path: &Path) -> Result<(Table, Origin), Diagnostic> {
    read_chain(path, &mut Vec::new(), None)
}

/// Reads a text as if it were a file in the directory `base`, and all files that it extends.
pub(crate) fn read_text(
    text: &str,
    name: &str,
    base: Option<&Path>,
) -> Result<(Table, Origin), Diagnostic> {
    let source = Arc::new(Source::new(name, text));
    let base = base.unwrap_or(Path::new(""));
    extend(&source, base, &mut Vec::new())
}

/// Reads the file at `path` and the files that it extends. `chain` lists the files read so far, each
/// of which extends the next. `extends` is the place where the last of these files names `path`.
fn read_chain(
    path: &Path,
    chain: &mut Vec<PathBuf>,
    extends: Option<&Origin>,
) -> Result<(Table, Origin), Diagnostic> {
    let name = path.display().to_string();
    let refuse = |reason: String| match extends {
        Some(origin) => Diagnostic::new("extends", origin, reason),
        None => {
            let source = Arc::new(Source::new(&name, ""));
            // The name precedes the message.
            let reason = reason
                .strip_prefix(&format!("cannot read {name}: "))
                .unwrap_or(&reason);
            Diagnostic::new("", &Origin::File(source, 0..0), reason)
        }
    };
    let text = files::read_text(path).map_err(refuse)?;
    let identity = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if chain.contains(&identity) {
        return Err(refuse(format!(
            "{name} extends itself, directly or through others"
        )));
    }
    chain.push(identity);
    let source = Arc::new(Source::new(&name, text));
    extend(&source, path.parent().unwrap_or(Path::new("")), chain)
}

/// Parses the text of a scenario file. If the text extends another file, its values replace the other file's.
fn extend(
    source: &Arc<Source>,
    base: &Path,
    chain: &mut Vec<PathBuf>,
) -> Result<(Table, Origin), Diagnostic> {
    let whole = Origin::File(Arc::clone(source), 0..0);
    let mut table = parse(source)?;
    let Some(extends) = table.remove(About::extends) else {
        return Ok((table, whole));
    };
    let Value::Text(parent) = &extends.value else {
        let message = "expected the path of the scenario to extend, in quotes";
        return Err(Diagnostic::new("extends", &extends.origin, message));
    };
    let (mut lower, _) = read_chain(&base.join(parent), chain, Some(&extends.origin))?;
    overlay(&mut lower, table);
    Ok((lower, whole))
}

/// Parses one text: JSON if it begins with a brace, which TOML cannot. The JSON may be a `run.json`, whose scenario is
/// then returned.
pub(crate) fn parse(source: &Arc<Source>) -> Result<Table, Diagnostic> {
    let text = &source.text;
    if text.trim_start().starts_with('{') {
        return json::parse(source).map(of_run);
    }
    let root = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = twice(text, span.start, error.message());
        Diagnostic::new("", &Origin::File(Arc::clone(source), span), message)
    })?;
    let origin = |span| Origin::File(Arc::clone(source), span);
    from_toml_table(root.get_ref(), "", &origin)
}

/// Returns a message for an error of TOML's parser. If a table such as `[flows]` occurs twice, the
/// message shows how to write a list; otherwise it is the parser's `message`.
fn twice(text: &str, at: usize, message: &str) -> String {
    let line = text
        .get(..at)
        .map_or(0, |before| before.matches('\n').count());
    let header = text.lines().nth(line).unwrap_or("").trim();
    let name = header
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    match name {
        Some((name, _)) if message == "duplicate key" && !name.starts_with('[') => {
            format!(
                "the table `[{name}]` stands twice; each entry of a list begins with [[{name}]]"
            )
        }
        _ => message.to_string(),
    }
}

/// Keys of a `run.json` that [`of_run`] reads.
struct RunFile;

#[allow(non_upper_case_globals)]
impl RunFile {
    const scenario: Field<Table> = Field::new("scenario");
    const results_version: Field<u64> = Field::new("results_version");
}

/// Returns the scenario that a `run.json` contains. Any other document is returned unchanged.
fn of_run(mut root: Table) -> Table {
    let scenario = root.table(RunFile::scenario);
    if root.has(RunFile::results_version)
        && let Some(scenario) = scenario.cloned()
    {
        root = scenario;
    }
    root
}

/// Function that returns the origin of a value, given its range of bytes in the text.
type MakeOrigin<'a> = &'a dyn Fn(std::ops::Range<usize>) -> Origin;

fn from_toml_table(
    table: &DeTable<'_>,
    path: &str,
    origin: MakeOrigin<'_>,
) -> Result<Table, Diagnostic> {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        let mut node = from_toml(value, &join(path, name), origin)?;
        node.key = Some(origin(key.span()));
        Ok((name.to_string(), node))
    };
    table.iter().map(entry).collect()
}

fn from_toml(
    value: &Spanned<DeValue<'_>>,
    path: &str,
    origin: MakeOrigin<'_>,
) -> Result<Node, Diagnostic> {
    let here = origin(value.span());
    let refuse = |message: &str| Diagnostic::new(path, &here, message);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map(Value::Whole)
            .map_err(|_| refuse("this number is too large"))?,
        DeValue::Float(float) => float
            .as_str()
            .parse()
            .map(Value::Number)
            .map_err(|_| refuse("this number is too large"))?,
        DeValue::Datetime(_) => return Err(refuse("a scenario has no dates")),
        DeValue::Array(items) => {
            let item = |(index, item): (usize, _)| {
                from_toml(item, &join(path, &index.to_string()), origin)
            };
            Value::List(
                items
                    .iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            )
        }
        DeValue::Table(table) => Value::Table(from_toml_table(table, path, origin)?),
    };
    Ok(Node::new(value, here))
}

/// Applies one override `key=value`. The key is a dotted path, with indices or labels for entries
/// of lists.
///
/// The value is TOML if it can be read as TOML, and a text otherwise; a date is a text. Units and names
/// therefore need no quotes. Tables that are missing on the path are added. A table as value replaces
/// the former table. An override of `kind` keeps the other keys of its table.
pub(crate) fn apply_override(root: &mut Table, text: &str) -> Result<(), Diagnostic> {
    let origin = Origin::Set(text.into());
    let refuse = |message: &str| Diagnostic::new("", &origin, message);
    let Some((path, value)) = text.split_once('=') else {
        return Err(refuse("expected key=value, with a dotted path as key"));
    };
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(refuse(
            "the key is empty; expected key=value, with a dotted path as key",
        ));
    }
    let as_text = || Node::text(value.trim(), origin.clone());
    let node = match DeValue::parse(value.trim()) {
        Ok(parsed) if !matches!(parsed.get_ref(), DeValue::Datetime(_)) => {
            from_toml(&parsed, path.trim(), &|_| origin.clone())?
        }
        _ => as_text(),
    };
    set(root, &keys, "", node, &origin)
}

fn set(
    table: &mut Table,
    keys: &[&str],
    path: &str,
    node: Node,
    origin: &Origin,
) -> Result<(), Diagnostic> {
    let [key, rest @ ..] = keys else {
        return Ok(());
    };
    if rest.is_empty() {
        put(table, (*key).to_string(), node);
        return Ok(());
    }
    let below = || Node::new(Value::Table(Table::new()), origin.clone());
    let next = table.entries.entry((*key).to_string());
    let next = next.or_insert_with(below);
    set_in(next, rest, &join(path, key), node, origin)
}

fn set_in(
    parent: &mut Node,
    keys: &[&str],
    path: &str,
    node: Node,
    origin: &Origin,
) -> Result<(), Diagnostic> {
    match &mut parent.value {
        Value::Table(table) => set(table, keys, path, node, origin),
        Value::List(items) => {
            let key = keys[0];
            let Some(item) = entry_of(items, key).and_then(|index| items.get_mut(index)) else {
                return Err(Diagnostic::new(path, origin, no_entry(items, path, key)));
            };
            if keys.len() > 1 {
                return set_in(item, &keys[1..], &join(path, key), node, origin);
            }
            *item = node;
            Ok(())
        }
        _ => {
            let message = format!(
                "{path} is not a table: there is no {} in it",
                keys.join(".")
            );
            Err(Diagnostic::new(path, origin, message))
        }
    }
}

/// Returns the index of the list entry with the label `key`. If no entry has this label, `key` is
/// read as an index; `None` if it is no number.
fn entry_of(items: &[Node], key: &str) -> Option<usize> {
    let labelled = items.iter().position(|item| label_of(item) == Some(key));
    labelled.or_else(|| key.parse().ok())
}

fn no_entry(items: &[Node], path: &str, key: &str) -> String {
    let labels: Vec<&str> = items.iter().filter_map(label_of).collect();
    let labels = match labels[..] {
        [] if items.is_empty() => String::new(),
        [] => format!("; none has a label: use {path}.0"),
        _ => format!("; labels: {}", labels.join(", ")),
    };
    let count = match items.len() {
        1 => "1 entry".to_string(),
        many => format!("{many} entries"),
    };
    format!("{path} has {count}, from 0{labels}; there is no {key}")
}

fn label_of(item: &Node) -> Option<&str> {
    match &item.table()?.get(AnyFlow::label)?.value {
        Value::Text(label) => Some(label),
        _ => None,
    }
}
