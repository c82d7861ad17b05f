//! edges.parquet: connection attempts, timeouts and other counts of flows, per access router;
//! backbone_links.parquet: packets, per backbone link. Each table has a row per interval and router
//! or link (NIST SP 500-282, table 3-8).

use longhaul_mesonet::records::EdgeSample;

use super::{Stamp, stamp_columns};
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "edges.parquet";
pub(crate) const LINKS: &str = "backbone_links.parquet";

/// The row of an access router in an interval.
pub(crate) struct EdgeRow {
    pub(crate) stamp: Stamp,
    pub(crate) name: Name,
    pub(crate) sample: EdgeSample,
}

pub(crate) fn columns() -> Vec<Column<EdgeRow>> {
    let mut columns = stamp_columns(|row: &EdgeRow| &row.stamp);
    columns.push(Column::new(
        "router",
        Kind::Text,
        "",
        "name of the access router",
        |row: &EdgeRow| Cell::Name(row.name.clone()),
    ));
    columns.extend(columns_of(
        |row: &EdgeRow| Some(&row.sample),
        EdgeSample::columns,
    ));
    columns
}

/// The row of a backbone link in an interval.
pub(crate) struct LinkRow {
    pub(crate) stamp: Stamp,
    pub(crate) name: Name,
    pub(crate) pkts: u64,
}

pub(crate) fn link_columns() -> Vec<Column<LinkRow>> {
    let mut columns = stamp_columns(|row: &LinkRow| &row.stamp);
    columns.extend([
        Column::new(
            "link",
            Kind::Text,
            "",
            "name of the link",
            |row: &LinkRow| Cell::Name(row.name.clone()),
        ),
        Column::new(
            "entered_pkts",
            Kind::Count,
            "pkts",
            "packets of any kind that entered the link in the interval",
            |row: &LinkRow| Cell::Count(row.pkts),
        ),
    ]);
    columns
}
