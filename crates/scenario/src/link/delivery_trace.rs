//! Delivery traces: files of the delivery times of a link, in the format of mahimahi.
//!
//! The text of the file becomes part of the resolved scenario. The scenario's hash therefore covers it, and the
//! resolved scenario runs without the file.

use std::sync::Arc;

use longhaul_engine::config::DeliveryTrace;
use longhaul_keys::{Field, Kind, SIZE, keys};
use longhaul_units::{Bytes, Quantity};

use crate::document::{Node, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::{refuse_both, replace_file};

keys! {
    /// Keys of a delivery trace.
    pub(super) struct TraceKeys {
        /// File with a time in whole milliseconds in each line, in order. At each time, up to
        /// `opportunity` bytes leave at once. The last time is the period after which the trace
        /// repeats. The path is relative to the scenario file.
        pub file: Option<String> = Kind::Text.key().source("mahimahi: mm-link(1), .up and .down files"),
        /// Text of a delivery trace, instead of a `file` with these lines.
        pub times_ms: String = Kind::Text.key(),
        /// Name of the file that times_ms was read from; longhaul writes it into resolved scenarios.
        pub from_file: Option<String> = Kind::Text.key(),
        /// Number of bytes that can leave at each time of the trace. Packets leave in order; if a
        /// packet does not fit, the rest of it leaves at the next time.
        pub opportunity: Bytes = Kind::Positive(SIZE).key().default("1504 B")
            .source("mahimahi: link_queue.cc, PACKET_SIZE"),
    }
}

/// Reads the delivery trace of one direction of a link, if it has one. The mean rate of the trace
/// becomes the link's rate, unless the scenario gives a rate. Returns `None` without a trace, and
/// after an error.
pub(super) fn resolve<T>(
    direction: &mut Table,
    (trace_key, rate_key): (Field<Table>, Field<T>),
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<Arc<DeliveryTrace>> {
    let node = direction.get_mut(trace_key)?;
    let trace_path = join(path, trace_key.name());
    match read(node, &trace_path) {
        Ok(trace) => {
            if !direction.has(rate_key) {
                let mean = Value::Quantity(Quantity::Rate(trace.mean_rate()));
                direction.derive(rate_key, mean, "the mean rate of the delivery trace");
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
    let (file_key, text_key) = (TraceKeys::file, TraceKeys::times_ms);
    let named = table.get(file_key).cloned();
    refuse_both(table, file_key, text_key, path)?;
    if !table.has(text_key) {
        let Some(file) = &named else {
            let message = "a delivery trace needs a file, such as file = \"cell.down\"";
            return Err(Diagnostic::new(path, &origin, message));
        };
        replace_file(table, file, (file_key, text_key, TraceKeys::from_file))
            .map_err(|reason| Diagnostic::at(table, file_key, path, reason))?;
    }
    match parse(table.word(text_key)) {
        Ok(times_ms) => {
            let trace = DeliveryTrace::new(times_ms, table.read(TraceKeys::opportunity));
            if trace.mean_rate().as_bps() > 0 {
                return Ok(trace);
            }
            let message = "delivers less than 1 bit/s on average; expected a larger opportunity, or more of them";
            Err(Diagnostic::new(path, &origin, message))
        }
        Err(reason) => {
            let (key, node) = match &named {
                Some(file) => (file_key.name(), file),
                None => (text_key.name(), table.node(text_key)),
            };
            Err(Diagnostic::new(&join(path, key), &node.origin, reason))
        }
    }
}

/// Returns the times in the text of a delivery trace, in milliseconds; or a message about the first error.
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
