//! acks.parquet: the state of traced flows at each acknowledgement, a row per quantity.

use longhaul_engine::measure::AckTrace;

use crate::declared::OfPart;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "acks.parquet";

/// One quantity of one flow.
pub(crate) struct AckRow {
    pub(crate) name: Name,
    pub(crate) sample: AckTrace,
}

impl AckRow {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "like parts that not all rows have"
    )]
    fn sample(&self) -> Option<&AckTrace> {
        Some(&self.sample)
    }
}

pub(crate) fn columns() -> Vec<Column<AckRow>> {
    let mut declared = OfPart::new(AckRow::sample);
    AckTrace::columns(&mut declared);
    let mut columns = declared.columns;
    columns.insert(
        2,
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow",
            |row: &AckRow| Cell::Name(row.name.clone()),
        ),
    );
    columns
}
