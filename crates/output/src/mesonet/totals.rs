//! totals.parquet: flows of each class over the whole run (NIST SP 500-282, chapter 3: summary files).

use longhaul_mesonet::records::{ClassTotals, FlowClass, Totals};

use super::flows::class_name;
use crate::counters::ratio;
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "totals.parquet";

/// A class.
pub(crate) struct TotalsRow {
    class: FlowClass,
    totals: ClassTotals,
}

impl TotalsRow {
    pub(crate) fn all(totals: &Totals) -> Vec<Self> {
        let classes = FlowClass::ALL.into_iter().zip(totals.classes);
        classes
            .map(|(class, totals)| Self { class, totals })
            .collect()
    }
}

pub(crate) fn columns() -> Vec<Column<TotalsRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new(
            "class",
            Text,
            "",
            "class of the flows",
            |row: &TotalsRow| Cell::Text(class_name(row.class)),
        ),
        Column::new(
            "connected_flows",
            Count,
            "",
            "flows connected",
            |row: &TotalsRow| Cell::Count(row.totals.connected),
        ),
        Column::new(
            "completed_flows",
            Count,
            "",
            "flows completed",
            |row: &TotalsRow| Cell::Count(row.totals.completed),
        ),
        Column::new(
            "failed_flows",
            Count,
            "",
            "flows that could not be connected",
            |row: &TotalsRow| Cell::Count(row.totals.failed),
        ),
        Column::new(
            "goodput_mean_pps",
            Real,
            "pps",
            "mean goodput of completed flows, the time of connecting left out",
            |row: &TotalsRow| ratio(row.totals.goodput_sum, row.totals.completed as f64),
        ),
        Column::new(
            "syns",
            Count,
            "",
            "SYNs of flows that were connected",
            |row: &TotalsRow| Cell::Count(row.totals.syns),
        ),
        Column::new(
            "syns_per_connection",
            Real,
            "",
            "SYNs of a flow that was connected",
            |row: &TotalsRow| ratio(row.totals.syns as f64, row.totals.connected as f64),
        ),
    ]
}
