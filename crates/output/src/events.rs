//! events.parquet: starts, window reductions, recoveries, timeouts and ends of flows.

use longhaul_engine::measure::Event;

use crate::declared::OfPart;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "events.parquet";

/// One event of one flow.
pub(crate) struct EventRow {
    pub(crate) name: Name,
    pub(crate) event: Event,
}

impl EventRow {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "like parts that not all rows have"
    )]
    fn event(&self) -> Option<&Event> {
        Some(&self.event)
    }
}

pub(crate) fn columns() -> Vec<Column<EventRow>> {
    let mut declared = OfPart::new(EventRow::event);
    Event::columns(&mut declared);
    let mut columns = declared.columns;
    columns.insert(
        2,
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow",
            |row: &EventRow| Cell::Name(row.name.clone()),
        ),
    );
    columns
}
