//! Rows that consist of a record of a flow and the flow's name.

use crate::declared::{RecordColumns, columns_of};
use crate::table::{Cell, Column, Kind, Name};

/// A record of a flow, of type `P`, and the name of the flow.
pub(crate) struct NamedRecord<P> {
    pub(crate) name: Name,
    pub(crate) record: P,
}

type Part<P> = fn(&NamedRecord<P>) -> Option<&P>;

/// Returns the columns of a table of named records. `declare` adds the columns of the record; the
/// column with the flow's name is at index `at`.
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
