//! edges.parquet: events of the flows of the hosts below each access router; backbone_links.parquet:
//! packets on backbone links; a row for each interval and router or link (NIST SP 500-282, table 3-8).

use longhaul_mesonet::records::EdgeSample;

use super::{Stamp, stamp_columns};
use crate::counters::ratio;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "edges.parquet";
pub(crate) const LINKS: &str = "backbone_links.parquet";

/// An access router in an interval.
pub(crate) struct EdgeRow {
    pub(crate) stamp: Stamp,
    pub(crate) name: Name,
    pub(crate) sample: EdgeSample,
}

type Figure = (&'static str, &'static str, fn(&EdgeSample) -> u64);

const FIGURES: [Figure; 8] = [
    (
        "active_flows",
        "active flows of its hosts; a flow counts at both ends",
        |edge| edge.active,
    ),
    (
        "failed_flows",
        "flows that could not be connected",
        |edge| edge.failed,
    ),
    (
        "no_receivers",
        "times that no receiver below it was idle",
        |edge| edge.no_receivers,
    ),
    ("first_syns", "first SYNs of connections", |edge| {
        edge.first_syns
    }),
    ("syns", "SYNs", |edge| edge.syns),
    ("naks", "negative acknowledgements", |edge| edge.naks),
    ("timeouts", "retransmission timeouts", |edge| edge.timeouts),
    (
        "increases",
        "acknowledgements that enlarged a congestion window",
        |edge| edge.increases,
    ),
];

type Ratio = (&'static str, &'static str, fn(&EdgeSample) -> (u64, u64));

const RATIOS: [Ratio; 4] = [
    ("naks_per_flow", "naks over active flows", |edge| {
        (edge.naks, edge.active)
    }),
    ("timeouts_per_flow", "timeouts over active flows", |edge| {
        (edge.timeouts, edge.active)
    }),
    (
        "increases_per_flow",
        "increases over active flows",
        |edge| (edge.increases, edge.active),
    ),
    ("syns_per_first_syn", "SYNs over first SYNs", |edge| {
        (edge.syns, edge.first_syns)
    }),
];

pub(crate) fn columns() -> Vec<Column<EdgeRow>> {
    let mut columns = stamp_columns(|row: &EdgeRow| &row.stamp);
    columns.push(Column::new(
        "router",
        Kind::Text,
        "",
        "name of the access router",
        |row: &EdgeRow| Cell::Name(row.name.clone()),
    ));
    columns.extend(FIGURES.map(|(name, description, value)| {
        Column::new(name, Kind::Count, "", description, move |row: &EdgeRow| {
            Cell::Count(value(&row.sample))
        })
    }));
    columns.extend(RATIOS.map(|(name, description, value)| {
        Column::new(name, Kind::Real, "", description, move |row: &EdgeRow| {
            let (count, over) = value(&row.sample);
            ratio(count as f64, over as f64)
        })
    }));
    columns
}

/// A link of the backbone in an interval.
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
            "packets of any kind that entered it in the interval",
            |row: &LinkRow| Cell::Count(row.pkts),
        ),
    ]);
    columns
}
