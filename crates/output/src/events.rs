//! events.parquet: starts, window reductions, ends of recoveries, timeouts and ends of flows.

use longhaul_engine::measure::Event;

use crate::named::{self, NamedRecord};
use crate::table::Column;

pub(crate) const FILE: &str = "events.parquet";

pub(crate) fn columns() -> Vec<Column<NamedRecord<Event>>> {
    named::columns(2, Event::columns)
}
