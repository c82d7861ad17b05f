//! Rows that consist of a record of a flow and the flow's name.

use crate::declared::{RecordColumns, columns_of};
use crate::table::{Cell, Column, Kind, Name};

/// A record of one flow, and the flow's name.
pub(crate) struct NamedRecord<P> {
    pub(crate) name: Name,
    pub(crate) record: P,
}

type Part<P> = fn(&NamedRecord<P>) -> Option<&P>;

/// Returns the columns that `declare` adds for a record, with the flow's name as column number
/// `at`.
pub(crate) fn columns<P: 'static>(
    at: usize,
    declare: impl FnOnce(&mut RecordColumns<NamedRecord<P>, Part<P>>),
) -> Vec<Column<NamedRecord<P>>> {
    let mut columns = columns_of(|row: &NamedRecord<P>| Some(&row.record), declare);
    columns.insert(
        at,
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow",
            |row: &NamedRecord<P>| Cell::Name(row.name.clone()),
        ),
    );
    columns
}
