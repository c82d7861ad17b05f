//! exchanges.parquet: requests and their responses on connections that traffic opens, in the order
//! of their ends. Exchanges that are unfinished at the end of the run come last.

use longhaul_engine::measure::Exchange;

use crate::named::{self, NamedRecord};
use crate::table::Column;

pub(crate) const FILE: &str = "exchanges.parquet";

pub(crate) fn columns() -> Vec<Column<NamedRecord<Exchange>>> {
    named::columns(1, Exchange::columns)
}
