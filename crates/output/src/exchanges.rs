//! exchanges.parquet: requests and their responses over connections that traffic has opened, in the
//! order of their ends; at the end of the table those that the end of the run has cut short.

use longhaul_engine::measure::Exchange;

use crate::declared::OfPart;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "exchanges.parquet";

/// One exchange of one flow.
pub(crate) struct ExchangeRow {
    pub(crate) name: Name,
    pub(crate) exchange: Exchange,
}

impl ExchangeRow {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "like parts that not all rows have"
    )]
    fn exchange(&self) -> Option<&Exchange> {
        Some(&self.exchange)
    }
}

pub(crate) fn columns() -> Vec<Column<ExchangeRow>> {
    let mut declared = OfPart::new(ExchangeRow::exchange);
    Exchange::columns(&mut declared);
    let mut columns = declared.columns;
    columns.insert(
        1,
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow",
            |row: &ExchangeRow| Cell::Name(row.name.clone()),
        ),
    );
    columns
}
