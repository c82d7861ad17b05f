//! Changes of links during a run: a list in the scenario, or a CSV file.
//!
//! The rows of the file become part of the resolved scenario, so that the scenario's hash covers them, and
//! the resolved scenario runs without the file.

use std::sync::Arc;

use longhaul_engine::Change;
use longhaul_units::Span;

use super::loss;
use crate::check::{check_fields, unknown};
use crate::document::{Node, Origin, Source, Table, Value, join};
use crate::error::Diagnostic;
use crate::files;
use crate::read::relative_to;
use crate::typed::{Typed, text_of};

/// Reads the file, if one is named.
pub(super) fn read(link: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(node) = link.get_mut("changes") else {
        return;
    };
    if let Value::Text(file) = &node.value {
        let rule = format!("the rows of {file}");
        match read_file(file, &node.origin, &join(path, "changes")) {
            Ok(rows) => *node = Node::new(Value::List(rows), Origin::Derived(rule)),
            Err(diagnostic) => out.push(diagnostic),
        }
    }
}

/// Checks the rows of a link's changes against each other.
pub(super) fn check(link: &Table, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(node) = link.get("changes") else {
        return;
    };
    let (path, rows) = (join(path, "changes"), link.list("changes"));
    if rows.is_empty() {
        let message = "expected at least one change; write a row, or leave the key out";
        return out.push(Diagnostic::new(&path, &node.origin, message));
    }
    let mut latest: Option<Span> = None;
    for (index, (row, origin)) in tables(rows).enumerate() {
        let path = join(&path, &index.to_string());
        let (at, at_origin) = (row.read::<Span>("at"), &row.node("at").origin);
        if let Some(before) = latest.filter(|&before| at <= before) {
            let message = format!("{at} is not after {before}; expected rows in order of time");
            out.push(Diagnostic::new(&join(&path, "at"), at_origin, message));
        }
        latest = Some(at);
        if row.len() == 1 {
            let message = "the row changes nothing; give rate, delay or loss";
            out.push(Diagnostic::new(&path, origin, message));
        }
        loss::check(row, &path, out);
    }
}

fn tables(rows: &[Node]) -> impl Iterator<Item = (&Table, &Origin)> {
    rows.iter()
        .filter_map(|row| Some((row.table()?, &row.origin)))
}

/// The rows of a file of comma-separated values, whose first line names the columns.
fn read_file(file: &str, origin: &Origin, path: &str) -> Result<Vec<Node>, Diagnostic> {
    let name = relative_to(origin, file);
    let text = files::read_text(&name).map_err(|message| Diagnostic::new(path, origin, message))?;
    let source = Arc::new(Source {
        name: name.display().to_string(),
        text,
    });
    let mut lines = cells_of(&source).into_iter();
    let columns = lines.next().unwrap_or_default();
    for column in &columns {
        let mut known = Change::KEYS.iter().map(|field| field.name);
        if !known.clone().any(|key| key == text_of(column)) {
            let message = unknown("column", text_of(column), &mut known);
            return Err(Diagnostic::new(path, &column.origin, message));
        }
    }
    lines
        .enumerate()
        .map(|(index, cells)| row(&columns, cells, &join(path, &index.to_string())))
        .collect()
}

/// A row as if it were written in the scenario. Empty cells change nothing.
fn row(columns: &[Node], cells: Vec<Node>, path: &str) -> Result<Node, Diagnostic> {
    let origin = cells[0].origin.clone();
    if cells.len() != columns.len() {
        let (found, named) = (cells.len(), columns.len());
        let message = format!("this line has {found} values, the first one names {named} columns");
        return Err(Diagnostic::new(path, &origin, message));
    }
    let entries = columns.iter().zip(cells).filter_map(|(column, cell)| {
        let text = text_of(&cell);
        let value = match text.parse() {
            _ if text.is_empty() => return None,
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(text.to_string()),
        };
        Some((text_of(column).to_string(), Node::new(value, cell.origin)))
    });
    let mut table: Table = entries.collect();
    let mut wrong = Vec::new();
    check_fields(Change::KEYS, &mut table, &origin, path, &mut wrong);
    match wrong.into_iter().next() {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(Node::new(Value::Table(table), origin)),
    }
}

/// The values of each line that is neither empty nor a comment.
fn cells_of(source: &Arc<Source>) -> Vec<Vec<Node>> {
    let start_of = |part: &str| part.as_ptr() as usize - source.text.as_ptr() as usize;
    let cell = |text: &str| {
        let (text, start) = (text.trim(), start_of(text.trim_start()));
        let place = start..start + text.len();
        Node::text(text, Origin::File(Arc::clone(source), place))
    };
    let lines = source.text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
        .map(|line| line.split(',').map(cell).collect())
        .collect()
}
