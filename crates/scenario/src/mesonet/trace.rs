//! The key `measure.trace`: the flows to trace, and the period.

use longhaul_mesonet::config::{LongLived, Trace};

use super::clock::Clock;
use super::keys::{Identifier, MeasureKeys, TraceKeys};
use super::layout::find;
use crate::document::{Table, Value};
use crate::error::Diagnostic;

/// Returns the trace that `measure` requests; `None` if it requests no trace. Sets the defaults of
/// the trace's keys.
pub(crate) fn trace(
    measure: &mut Table,
    long_lived: &[LongLived],
    sources: u64,
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Option<Trace> {
    let table = measure.table_mut(MeasureKeys::trace)?;
    table.or_default(TraceKeys::flows, Value::List(Vec::new()));
    table.or_default(TraceKeys::sources, Value::List(Vec::new()));
    table.or_default(TraceKeys::from, Value::Number(0.0));
    table.or_default(TraceKeys::until, Value::Number(1.0));
    table.or_default(TraceKeys::max_rows, Value::Whole(1_000_000));
    let keys = TraceKeys::of(table);
    let names = long_lived.iter().map(|flow| flow.label.as_str());
    let flows = table.list(TraceKeys::flows).iter().enumerate();
    let flows = flows.filter_map(|(index, node)| {
        let path = format!("mesonet.measure.trace.flows.{index}");
        find(node, "long-lived flow", names.clone(), &path, out)
    });
    let long_lived: Vec<usize> = flows.collect();
    let mut ranges = Vec::new();
    for (index, node) in table.list(TraceKeys::sources).iter().enumerate() {
        match range(&keys.sources[index], sources) {
            Ok(range) => ranges.push(range),
            Err(message) => {
                let path = format!("mesonet.measure.trace.sources.{index}");
                out.push(Diagnostic::new(&path, &node.origin, message));
            }
        }
    }
    let path = "mesonet.measure.trace";
    if keys.flows.is_empty() && keys.sources.is_empty() {
        let message = "nothing is traced; write names of long-lived flows, or `sources`";
        out.push(Diagnostic::at(table, TraceKeys::flows, path, message));
    }
    let (from, until) = (clock.moment(keys.from), clock.moment(keys.until));
    if until <= from {
        let message = "the trace ends before it begins; write a later time";
        out.push(Diagnostic::at(table, TraceKeys::until, path, message));
    }
    Some(Trace {
        long_lived,
        sources: ranges,
        from,
        until,
        max: keys.max_rows,
    })
}

/// Returns the first and the last number of a range of sources, written as `17` or `17-40`.
fn range(written: &Identifier, sources: u64) -> Result<(u32, u32), String> {
    let ends = match written {
        Identifier::Name(text) => {
            let (first, last) = text.split_once('-').unwrap_or_default();
            first.trim().parse().ok().zip(last.trim().parse().ok())
        }
        Identifier::Number(number) => Some((*number, *number)),
    };
    ends.filter(|&(first, last): &(u64, u64)| first <= last && last < sources)
        .map(|(first, last)| (first as u32, last as u32))
        .ok_or_else(|| {
            format!(
                "these are no sources; write a number from 0 to {}, or two of them such as \"0-9\"",
                sources.saturating_sub(1)
            )
        })
}
