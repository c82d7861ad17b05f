//! flows.parquet: a row for each completed or failed flow, in order of their ends.

use longhaul_mesonet::records::FlowRecord;

use super::flows::class_name;
use super::groups::group_columns;
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "flows.parquet";

/// The row of a completed or failed flow.
pub(crate) struct FlowRow {
    pub(crate) record: FlowRecord,
    pub(crate) from: Name,
    pub(crate) to: Name,
    pub(crate) algorithm: Name,
}

pub(crate) fn columns() -> Vec<Column<FlowRow>> {
    let mut columns = identity();
    columns.extend(group_columns(|row: &FlowRow| &row.record.group));
    columns.extend(columns_of(
        |row: &FlowRow| Some(&row.record),
        FlowRecord::columns,
    ));
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
