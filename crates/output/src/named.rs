//! Rows that are a record of a flow, with the flow's name.

use crate::declared::{OfPart, columns_of};
use crate::table::{Cell, Column, Kind, Name};

/// A record of one flow.
pub(crate) struct Named<P> {
    pub(crate) name: Name,
    pub(crate) record: P,
}

type Part<P> = fn(&Named<P>) -> Option<&P>;

/// Returns the columns that `declare` gives a record, with the flow's name as number `at`.
pub(crate) fn columns<P: 'static>(
    at: usize,
    declare: impl FnOnce(&mut OfPart<Named<P>, Part<P>>),
) -> Vec<Column<Named<P>>> {
    let mut columns = columns_of(|row: &Named<P>| Some(&row.record), declare);
    columns.insert(
        at,
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow",
            |row: &Named<P>| Cell::Name(row.name.clone()),
        ),
    );
    columns
}
