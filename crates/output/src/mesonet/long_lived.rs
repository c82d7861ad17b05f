//! long_lived.parquet: long-lived flows, a row for each interval and flow (NIST SP 500-282, table 3-6).

use longhaul_mesonet::records::LongLivedSample;
use longhaul_units::Span;

use super::{Stamp, stamp_columns};
use crate::counters::ratio;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "long_lived.parquet";

/// A flow in an interval.
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
    use Kind::{Count, Real, Text};
    let mut columns = stamp_columns(|row: &LongLivedRow| &row.stamp);
    columns.extend([
        Column::new("flow", Text, "", "name of the flow", |row: &LongLivedRow| {
            Cell::Name(row.name.clone())
        }),
        Column::new(
            "mode",
            Text,
            "",
            "none while it does not send, initial slow start, normal (as standard TCP), or alternate",
            |row: &LongLivedRow| Cell::Text(row.mode()),
        ),
        Column::new("cwnd_pkts", Real, "pkts", "congestion window", |row: &LongLivedRow| {
            Cell::Real(row.sample.cwnd)
        }),
        Column::new(
            "ssthresh_pkts",
            Real,
            "pkts",
            "slow start threshold",
            |row: &LongLivedRow| Cell::Real(row.sample.ssthresh),
        ),
        Column::new(
            "srtt_s",
            Real,
            "s",
            "smoothed round-trip time",
            |row: &LongLivedRow| Cell::Real(row.sample.srtt.as_secs_f64()),
        ),
        Column::new(
            "fast_alpha_pkts",
            Real,
            "pkts",
            "FAST's alpha, if the flow has one",
            |row: &LongLivedRow| row.sample.fast_alpha.into(),
        ),
        Column::new(
            "out_pkts",
            Count,
            "pkts",
            "data packets that reached the receiver's access router in the interval",
            |row: &LongLivedRow| Cell::Count(row.sample.packets_out),
        ),
        Column::new(
            "throughput_pps",
            Real,
            "pps",
            "the same per second",
            |row: &LongLivedRow| {
                ratio(row.sample.packets_out as f64, row.length.as_secs_f64())
            },
        ),
        Column::new(
            "naks",
            Count,
            "",
            "negative acknowledgements received in the interval",
            |row: &LongLivedRow| Cell::Count(row.sample.naks),
        ),
        Column::new(
            "timeouts",
            Count,
            "",
            "retransmission timeouts in the interval",
            |row: &LongLivedRow| Cell::Count(row.sample.timeouts),
        ),
        Column::new(
            "increases",
            Count,
            "",
            "acknowledgements that enlarged the congestion window in the interval",
            |row: &LongLivedRow| Cell::Count(row.sample.increases),
        ),
        Column::new(
            "growth_pkts",
            Real,
            "pkts",
            "by how much these enlarged it",
            |row: &LongLivedRow| Cell::Real(row.sample.growth),
        ),
    ]);
    columns
}
