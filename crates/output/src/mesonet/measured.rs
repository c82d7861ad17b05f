//! measures.parquet: values of the user's measuring functions, with a row for each interval.

use super::{Stamp, stamp_columns};
use crate::table::{Column, Kind};

pub(crate) const FILE: &str = "measures.parquet";

/// Values of the user's measuring functions in an interval.
pub(crate) struct MeasuredRow {
    pub(crate) stamp: Stamp,
    pub(crate) values: Vec<Option<f64>>,
}

/// Returns the columns for the values with these names.
pub(crate) fn columns(names: &[String]) -> Vec<Column<MeasuredRow>> {
    let mut columns = stamp_columns(|row: &MeasuredRow| &row.stamp);
    columns.extend(names.iter().enumerate().map(|(index, name)| {
        Column::new(
            name,
            Kind::Real,
            "",
            "measure of the user's own",
            move |row: &MeasuredRow| row.values.get(index).copied().flatten().into(),
        )
    }));
    columns
}
