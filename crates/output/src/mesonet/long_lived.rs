//! long_lived.parquet: long-lived flows, with a row for each interval and flow (NIST SP 500-282,
//! table 3-6).

use longhaul_mesonet::records::LongLivedSample;
use longhaul_units::Span;

use super::{Stamp, stamp_columns};
use crate::counters::ratio;
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "long_lived.parquet";

/// The row of a long-lived flow in an interval.
pub(crate) struct LongLivedRow {
    pub(crate) stamp: Stamp,
    pub(crate) name: Name,
    pub(crate) sample: LongLivedSample,
    pub(crate) length: Span,
}

impl LongLivedRow {
    fn mode(&self) -> &'static str {
        let sample = &self.sample;
        match (
            sample.active,
            sample.in_initial_slow_start,
            sample.above_threshold,
        ) {
            (false, _, _) => "none",
            (true, true, _) => "initial slow start",
            (true, false, false) => "normal",
            (true, false, true) => "alternate",
        }
    }
}

pub(crate) fn columns() -> Vec<Column<LongLivedRow>> {
    let mut columns = stamp_columns(|row: &LongLivedRow| &row.stamp);
    columns.extend([
        Column::new("flow", Kind::Text, "", "name of the flow", |row: &LongLivedRow| {
            Cell::Name(row.name.clone())
        }),
        Column::new(
            "mode",
            Kind::Text,
            "",
            "state of the flow: none while it does not send, initial slow start, normal (as standard TCP), or \
                alternate",
            |row: &LongLivedRow| Cell::Text(row.mode()),
        ),
    ]);
    let mut declared = columns_of(
        |row: &LongLivedRow| Some(&row.sample),
        LongLivedSample::columns,
    );
    declared.insert(AFTER_PACKETS, throughput());
    columns.append(&mut declared);
    columns
}

/// Index of the first column after `out_pkts` among the record's columns.
const AFTER_PACKETS: usize = 5;

fn throughput() -> Column<LongLivedRow> {
    Column::new(
        "throughput_pps",
        Kind::Real,
        "pps",
        "data packets per second that came out in the interval",
        |row: &LongLivedRow| ratio(row.sample.packets_out as f64, row.length.as_secs_f64()),
    )
}
