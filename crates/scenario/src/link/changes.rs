//! Changes of links during a run: a list in the scenario, or a table of comma-separated values.
//!
//! The text of a table's file becomes part of the resolved scenario. The scenario's hash therefore covers it, and the
//! resolved scenario runs without the file.

use std::sync::Arc;

use longhaul_engine::config::{Change, Link};
use longhaul_units::Span;

use super::keys::LinkParts;
use super::loss;
use crate::check::check_fields;
use crate::document::{Node, Origin, Source, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::{read_text, relative_to};
use crate::unknown_names::unknown_name;

/// Reads, checks and returns the changes of a link. If they are in a file, its text replaces its path in `link`.
pub(super) fn resolve(link: &mut Table, path: &str, out: &mut Vec<Diagnostic>) -> Vec<Change> {
    let Some(node) = link.get_mut(LinkParts::changes) else {
        if link.has(Link::changes_period) {
            let message = "there is nothing to repeat; give `changes`, or leave the key out";
            out.push(Diagnostic::at(link, Link::changes_period, path, message));
        }
        return Vec::new();
    };
    let list_path = join(path, LinkParts::changes.name());
    let changes = match &node.value {
        Value::List(rows) => of_list(rows, &list_path, out),
        _ => of_text(node, &list_path).unwrap_or_else(|wrong| {
            out.push(wrong);
            Vec::new()
        }),
    };
    if changes.is_empty() && out.is_empty() {
        let message = "expected at least one change; write a row, or leave the key out";
        out.push(Diagnostic::at(link, LinkParts::changes, path, message));
    }
    check_period(link, path, &changes, out);
    changes
}

/// Checks that repeated changes end before they begin again.
fn check_period(link: &Table, path: &str, changes: &[Change], out: &mut Vec<Diagnostic>) {
    let period = link.read(Link::changes_period);
    let (Some(period), Some(first), Some(last)) = (period, changes.first(), changes.last()) else {
        return;
    };
    let length = last.at.since(first.at);
    if period <= length {
        let message = format!(
            "{period} is not longer than the {length} from the first change to the last; changes are repeated after it"
        );
        out.push(Diagnostic::at(link, Link::changes_period, path, message));
    }
}

/// Returns the changes that are given as a list of tables.
fn of_list(rows: &[Node], path: &str, out: &mut Vec<Diagnostic>) -> Vec<Change> {
    let mut latest = None;
    let tables = rows
        .iter()
        .filter_map(|row| Some((row.table()?, &row.origin)));
    let change = |(index, (row, origin)): (usize, (&Table, &Origin))| {
        check_row(
            row,
            origin,
            &mut latest,
            &join(path, &index.to_string()),
            out,
        );
        Change::of(row)
    };
    tables.enumerate().map(change).collect()
}

/// Refuses a change that is not later than the previous one, that changes nothing, or that has a wrong loss model.
fn check_row(
    row: &Table,
    origin: &Origin,
    latest: &mut Option<Span>,
    path: &str,
    out: &mut Vec<Diagnostic>,
) {
    let at = row.read(Change::at.seen_as::<Span>());
    if let Some(before) = latest.filter(|&before| at <= before) {
        let message = format!("{at} is not after {before}; expected rows in order of time");
        out.push(Diagnostic::at(row, Change::at, path, message));
    }
    *latest = Some(at);
    if row.entries.len() == 1 {
        let message = "the row changes nothing; give rate, delay or loss";
        out.push(Diagnostic::new(path, origin, message));
    }
    loss::check(row, Change::loss, path, out);
}

/// Returns the changes in the text of `node`: comma-separated values, or one line with the path of a file of such
/// values. The file's text then replaces the path in `node`.
fn of_text(node: &mut Node, path: &str) -> Result<Vec<Change>, Diagnostic> {
    let text = node.word();
    if text.contains('\n') {
        return rows_of(path.to_string(), text.to_string(), path);
    }
    let file = relative_to(&node.origin, text);
    let content = read_text(&file).map_err(|reason| Diagnostic::new(path, &node.origin, reason))?;
    let changes = rows_of(file.display().to_string(), content.clone(), path)?;
    *node = Node::new(
        Value::Text(content),
        Origin::Derived(format!("the text of {text}")),
    );
    Ok(changes)
}

/// Returns the changes in a text, or the first error. Blank lines and lines that begin with `#` are left out. The first
/// of the other lines names the columns. `name` is the name of the file in messages.
fn rows_of(name: String, text: String, path: &str) -> Result<Vec<Change>, Diagnostic> {
    let source = Arc::new(Source::new(name, text));
    let mut lines = source.text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some(header) = lines.next() else {
        let columns: Vec<&str> = Change::KEYS.iter().map(|field| field.name).collect();
        let message = format!(
            "the table is empty; its first line names the columns, such as `at, rate`; available: {}",
            columns.join(", ")
        );
        let origin = Origin::File(Arc::clone(&source), 0..0);
        return Err(Diagnostic::new(path, &origin, message));
    };
    let columns = cells_of(&source, header);
    check_columns(&columns, path)?;
    let mut latest = None;
    let mut changes = Vec::new();
    for line in lines {
        let path = join(path, &changes.len().to_string());
        let (row, origin) = row(&columns, cells_of(&source, line), &path)?;
        let mut wrong = Vec::new();
        check_row(&row, &origin, &mut latest, &path, &mut wrong);
        if let Some(diagnostic) = wrong.into_iter().next() {
            return Err(diagnostic);
        }
        changes.push(Change::of(&row));
    }
    Ok(changes)
}

fn check_columns(columns: &[Node], path: &str) -> Result<(), Diagnostic> {
    for (index, column) in columns.iter().enumerate() {
        let name = column.word();
        if columns[..index].iter().any(|other| other.word() == name) {
            let message = format!("there are two columns `{name}`");
            return Err(Diagnostic::new(path, &column.origin, message));
        }
        let mut known = Change::KEYS.iter().map(|field| field.name);
        if known.clone().any(|key| key == name) {
            continue;
        }
        let message = if columns.len() == 1 && name.parse::<u64>().is_ok() {
            "a column of numbers, such as mahimahi's: write delivery_trace = { file = ... } for times at which packets \
             leave; changes have a first line such as `at, rate`"
                .to_string()
        } else {
            unknown_name("column", name, &mut known)
        };
        return Err(Diagnostic::new(path, &column.origin, message));
    }
    Ok(())
}

/// Converts a line of comma-separated values to a table with the columns as keys, and checks the table. A key whose
/// cell is empty is left out.
fn row(columns: &[Node], cells: Vec<Node>, path: &str) -> Result<(Table, Origin), Diagnostic> {
    let origin = cells[0].origin.clone();
    if cells.len() != columns.len() {
        let (found, named) = (cells.len(), columns.len());
        let message = format!("this line has {found} values, the first one names {named} columns");
        return Err(Diagnostic::new(path, &origin, message));
    }
    let entries = columns.iter().zip(cells).filter_map(|(column, cell)| {
        let text = cell.word();
        let value = match text.parse() {
            _ if text.is_empty() => return None,
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(text.to_string()),
        };
        Some((column.word().to_string(), Node::new(value, cell.origin)))
    });
    let mut table: Table = entries.collect();
    let mut wrong = Vec::new();
    check_fields(Change::KEYS, &mut table, &origin, path, &mut wrong);
    match wrong.into_iter().next() {
        Some(diagnostic) => Err(diagnostic),
        None => Ok((table, origin)),
    }
}

/// Returns the values in a line, each with its position.
fn cells_of(source: &Arc<Source>, line: &str) -> Vec<Node> {
    let start_of = |part: &str| part.as_ptr() as usize - source.text.as_ptr() as usize;
    let cell = |text: &str| {
        let (text, start) = (text.trim(), start_of(text.trim_start()));
        let place = start..start + text.len();
        Node::text(text, Origin::File(Arc::clone(source), place))
    };
    line.split(',').map(cell).collect()
}
