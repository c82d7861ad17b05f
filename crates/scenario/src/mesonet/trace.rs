//! `measure.trace`: which flows are traced, and when.

use longhaul_mesonet::config::{LongLived, Trace};

use super::clock::Clock;
use super::layout::find;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::typed::{Typed, text_of};

/// The trace that `measure` asks for, if it does.
pub(crate) fn trace(
    measure: &mut Table,
    long_lived: &[LongLived],
    sources: u64,
    clock: &Clock,
    out: &mut Vec<Diagnostic>,
) -> Option<Trace> {
    let table = measure.get_mut("trace")?.table_mut()?;
    let defaults = [
        ("flows", Value::List(Vec::new())),
        ("sources", Value::List(Vec::new())),
        ("from", Value::Number(0.0)),
        ("until", Value::Number(1.0)),
        ("max_rows", Value::Whole(1_000_000)),
    ];
    for (key, value) in defaults {
        table.default(key, value, Origin::Default);
    }
    let table = measure.sub("trace");
    let names = long_lived.iter().map(|flow| flow.label.as_str());
    let flows = table.list("flows").iter().enumerate();
    let flows = flows.filter_map(|(index, node)| {
        let path = format!("mesonet.measure.trace.flows.{index}");
        find(node, "long-lived flow", names.clone(), &path, out)
    });
    let long_lived: Vec<usize> = flows.collect();
    let mut ranges = Vec::new();
    for (index, node) in table.list("sources").iter().enumerate() {
        match range(node, sources) {
            Ok(range) => ranges.push(range),
            Err(message) => {
                let path = format!("mesonet.measure.trace.sources.{index}");
                out.push(Diagnostic::new(&path, &node.origin, message));
            }
        }
    }
    let mut refuse = |key: &str, message: &str| {
        let origin = &table.node(key).origin;
        let path = format!("mesonet.measure.trace.{key}");
        out.push(Diagnostic::new(&path, origin, message));
    };
    if table.list("flows").is_empty() && table.list("sources").is_empty() {
        refuse(
            "flows",
            "nothing is traced; write names of long-lived flows, or `sources`",
        );
    }
    let [from, until] = ["from", "until"].map(|key| clock.moment(table.node(key)));
    if until <= from {
        refuse(
            "until",
            "the trace ends before it begins; write a later time",
        );
    }
    Some(Trace {
        long_lived,
        sources: ranges,
        from,
        until,
        max: table.read("max_rows"),
    })
}

/// First and last of `17` or `"17-40"`.
fn range(node: &Node, sources: u64) -> Result<(u32, u32), String> {
    let ends = match &node.value {
        Value::Text(_) => {
            let (first, last) = text_of(node).split_once('-').unwrap_or_default();
            first.trim().parse().ok().zip(last.trim().parse().ok())
        }
        _ => Some((node.read::<u64>(), node.read::<u64>())),
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
