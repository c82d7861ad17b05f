//! acks.parquet: the state of traced flows after each acknowledgement, with one row per quantity.

use longhaul_engine::measure::AckTrace;

use crate::named::{self, NamedRecord};
use crate::table::Column;

pub(crate) const FILE: &str = "acks.parquet";

pub(crate) fn columns() -> Vec<Column<NamedRecord<AckTrace>>> {
    named::columns(2, AckTrace::columns)
}
