//! flows.parquet: a row for each completed or failed flow, in order of their ends.

use longhaul_mesonet::records::FlowRecord;

use super::flows::class_name;
use super::groups::group_columns;
use crate::counters::ratio;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "flows.parquet";

/// A completed or failed flow.
pub(crate) struct FlowRow {
    pub(crate) record: FlowRecord,
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) algorithm: Name,
}

impl FlowRow {
    fn goodput(&self) -> Cell<'static> {
        let record = &self.record;
        match record.connected {
            Some(connected) => {
                let transfer = record.end.since(connected);
                ratio(record.size_pkts as f64, transfer.as_secs_f64())
            }
            None => Cell::Null,
        }
    }
}

pub(crate) fn columns() -> Vec<Column<FlowRow>> {
    let mut columns = identity();
    columns.extend(group_columns(|row: &FlowRow| &row.record.group));
    columns.extend(times());
    columns.extend(counts());
    columns
}

fn identity() -> Vec<Column<FlowRow>> {
    use Kind::{Count, Text};
    vec![
        Column::new(
            "source",
            Count,
            "",
            "number of the source",
            |row: &FlowRow| Cell::Count(row.record.source.into()),
        ),
        Column::new(
            "receiver",
            Count,
            "",
            "number of the receiver",
            |row: &FlowRow| Cell::Count(row.record.receiver.into()),
        ),
        Column::new(
            "from",
            Text,
            "",
            "access router of the source",
            |row: &FlowRow| Cell::Name(row.from.clone()),
        ),
        Column::new(
            "to",
            Text,
            "",
            "access router of the receiver",
            |row: &FlowRow| Cell::Name(row.to.clone()),
        ),
        Column::new("class", Text, "", "class of the flow", |row: &FlowRow| {
            Cell::Text(class_name(row.record.class))
        }),
        Column::new(
            "algorithm",
            Text,
            "",
            "algorithm of the source",
            |row: &FlowRow| Cell::Name(row.algorithm.clone()),
        ),
    ]
}

fn times() -> [Column<FlowRow>; 4] {
    use Kind::Real;
    [
        Column::new(
            "start_s",
            Real,
            "s",
            "when the source requested the file",
            |row: &FlowRow| Cell::Real(row.record.start.as_secs_f64()),
        ),
        Column::new(
            "connected_s",
            Real,
            "s",
            "when it was connected; null if it never was",
            |row: &FlowRow| row.record.connected.map(|time| time.as_secs_f64()).into(),
        ),
        Column::new(
            "end_s",
            Real,
            "s",
            "when the last packet was acknowledged, or the source gave up",
            |row: &FlowRow| Cell::Real(row.record.end.as_secs_f64()),
        ),
        Column::new(
            "goodput_pps",
            Real,
            "pps",
            "packets of the file over the time from connection to end",
            |row: &FlowRow| row.goodput(),
        ),
    ]
}

fn counts() -> [Column<FlowRow>; 5] {
    use Kind::Count;
    [
        Column::new(
            "size_pkts",
            Count,
            "pkts",
            "packets of the file",
            |row: &FlowRow| Cell::Count(row.record.size_pkts),
        ),
        Column::new(
            "sent_pkts",
            Count,
            "pkts",
            "data packets sent",
            |row: &FlowRow| Cell::Count(row.record.sent_pkts),
        ),
        Column::new("syns", Count, "", "SYNs sent", |row: &FlowRow| {
            Cell::Count(row.record.syns)
        }),
        Column::new(
            "naks",
            Count,
            "",
            "negative acknowledgements",
            |row: &FlowRow| Cell::Count(row.record.naks),
        ),
        Column::new(
            "timeouts",
            Count,
            "",
            "retransmission timeouts",
            |row: &FlowRow| Cell::Count(row.record.timeouts),
        ),
    ]
}
