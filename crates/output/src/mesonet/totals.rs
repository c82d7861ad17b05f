//! totals.parquet: the flows of each class over the whole run (NIST SP 500-282, chapter 3: summary
//! files).

use longhaul_mesonet::records::{ClassTotals, FlowClass, Totals};

use super::flows::class_name;
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "totals.parquet";

/// The row of a flow class, with its totals.
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
    let mut columns = vec![Column::new(
        "class",
        Kind::Text,
        "",
        "class of the flows",
        |row: &TotalsRow| Cell::Text(class_name(row.class)),
    )];
    columns.extend(columns_of(
        |row: &TotalsRow| Some(&row.totals),
        ClassTotals::columns,
    ));
    columns
}
