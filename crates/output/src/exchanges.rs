//! exchanges.parquet: requests and their responses over connections that traffic has opened, in the
//! order of their ends. Exchanges that the end of the run interrupts are at the end of the table.

use longhaul_engine::measure::Exchange;

use crate::named::{self, NamedRecord};
use crate::table::Column;

pub(crate) const FILE: &str = "exchanges.parquet";

pub(crate) fn columns() -> Vec<Column<NamedRecord<Exchange>>> {
    named::columns(1, Exchange::columns)
}
