//! Delivery traces: files of the times at which a link can deliver packets, in the format of mahimahi.
//!
//! The text of the file becomes part of the resolved scenario, so that the scenario's hash covers it, and the resolved
//! scenario runs without the file.

use std::path::Path;
use std::sync::Arc;

use longhaul_engine::config::DeliveryTrace;
use longhaul_keys::{Key, Kind, SIZE, key};
use longhaul_units::Quantity;

use crate::document::{Node, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::read_text;
use crate::read::{refuse_both, relative_to};
use crate::typed::Typed;

/// Keys of times at which packets leave.
pub(super) const TRACE: &[Key] = &[
    key(
        "file",
        Kind::Text,
        "File with a whole number of milliseconds in each line, in order: at each of them so many bytes leave at once. \
         It begins again at the last one. Relative to the scenario.",
    )
    .source("mahimahi: mm-link(1), .up and .down files"),
    key("times_ms", Kind::Text, "The lines of such a file, instead of `file`."),
    key(
        "from_file",
        Kind::Text,
        "Name of the file that times_ms was read from; longhaul writes it into resolved scenarios.",
    ),
    key(
        "opportunity",
        Kind::Positive(SIZE),
        "Bytes that leave at each time: packets in order, and the rest of one at the next time.",
    )
    .default("1504 B")
    .source("mahimahi: link_queue.cc, PACKET_SIZE"),
];

/// Reads a link's delivery trace, if it has one. Its mean rate is the link's, unless that is given.
pub(super) fn resolve(
    link: &mut Table,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<Arc<DeliveryTrace>> {
    let node = link.get_mut("delivery_trace")?;
    let trace_path = join(path, "delivery_trace");
    match read(node, &trace_path) {
        Ok(trace) => {
            if !link.contains_key("rate") {
                let mean = Value::Quantity(Quantity::Rate(trace.mean_rate()));
                link.derive("rate", mean, "the mean rate of the delivery trace");
            }
            Some(Arc::new(trace))
        }
        Err(diagnostic) => {
            out.push(diagnostic);
            None
        }
    }
}

fn read(node: &mut Node, path: &str) -> Result<DeliveryTrace, Diagnostic> {
    let origin = node.origin.clone();
    let table = node.table_mut().expect("the checker knows a table");
    let named = table.get("file").cloned();
    refuse_both(table, "times_ms", path)?;
    if !table.contains_key("times_ms") {
        let Some(file) = &named else {
            let message = "a delivery trace needs a file, such as file = \"cell.down\"";
            return Err(Diagnostic::new(path, &origin, message));
        };
        read_file(table, file, path)?;
    }
    match parse(table.word("times_ms")) {
        Ok(times_ms) => {
            let trace = DeliveryTrace::new(times_ms, table.read("opportunity"));
            if trace.mean_rate().as_bps() > 0 {
                return Ok(trace);
            }
            let message = "delivers less than 1 bit/s on average; expected a larger opportunity, or more of them";
            Err(Diagnostic::new(path, &origin, message))
        }
        Err(reason) => {
            let (key, node) = named.as_ref().map_or_else(
                || ("times_ms", table.node("times_ms")),
                |node| ("file", node),
            );
            Err(Diagnostic::new(&join(path, key), &node.origin, reason))
        }
    }
}

/// Replaces the file by its text, and keeps its name.
fn read_file(table: &mut Table, file: &Node, path: &str) -> Result<(), Diagnostic> {
    let name = table.word("file").to_string();
    let text = read_text(&relative_to(&file.origin, &name))
        .map_err(|reason| Diagnostic::new(&join(path, "file"), &file.origin, reason))?;
    table.derive(
        "times_ms",
        Value::Text(text),
        &format!("the text of {name}"),
    );
    let short = Path::new(&name).file_name();
    let short = short.map_or(name.clone(), |short| short.display().to_string());
    table.remove("file");
    table.insert(
        "from_file".to_string(),
        Node::text(&short, file.origin.clone()),
    );
    Ok(())
}

/// The times of a text, or what is wrong with which line.
fn parse(text: &str) -> Result<Vec<u32>, String> {
    let lines = text
        .lines()
        .zip(1..)
        .map(|(line, number)| (line.trim(), number));
    let mut times_ms: Vec<u32> = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        let time_ms: u32 = line.parse().map_err(|_| {
            format!(
                "line {number} is {line:?}, not a whole number of milliseconds up to {}",
                u32::MAX
            )
        })?;
        if let Some(before) = times_ms.last().filter(|&&before| before > time_ms) {
            return Err(format!(
                "line {number}: {time_ms} is before the {before} above it"
            ));
        }
        times_ms.push(time_ms);
    }
    match times_ms.last() {
        None => Err("the trace has no line; expected a number of milliseconds in each".to_string()),
        Some(0) => {
            Err("all times of the trace are 0; the last one is when it begins again".to_string())
        }
        Some(_) => Ok(times_ms),
    }
}
