//! delays.parquet: delays of packets in the measurement window, if `measure.delays` is set. There
//! is a row for each flow, for the flows of each label, for all flows, and for each sampled link.

use std::sync::Arc;

use longhaul_engine::Config;
use longhaul_engine::measure::{DelayHistogram, DelaySummary, Delays};

use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "delays.parquet";

/// Quantiles of the delays of a flow, a label, all flows, or a link.
pub(crate) struct DelayRow {
    kind: &'static str,
    name: Name,
    delays: DelaySummary,
}

impl DelayRow {
    fn new(kind: &'static str, name: &str, delays: &DelayHistogram) -> Self {
        Self {
            kind,
            name: Name::from(name),
            delays: delays.summary(),
        }
    }

    /// Returns all rows of the table of delays of a run.
    pub(crate) fn all(config: &Arc<Config>, delays: &Delays) -> Vec<Self> {
        let flows = || config.flows.iter().zip(&delays.flows);
        let mut labels: Vec<(&str, DelayHistogram)> = Vec::new();
        let mut all = DelayHistogram::default();
        for (flow, delays) in flows() {
            all.add(delays);
            // Flows of a group are adjacent.
            match labels.iter_mut().rfind(|(label, _)| *label == flow.label) {
                Some((_, sum)) => sum.add(delays),
                None => labels.push((&flow.label, delays.clone())),
            }
        }
        let of_flows = flows().map(|(flow, delays)| Self::new("flow", &flow.name, delays));
        let of_labels = labels.iter();
        let of_labels = of_labels.map(|(label, delays)| Self::new("label", label, delays));
        let links = delays.links.iter();
        let links = links.map(|(link, waits)| Self::new("link", &config.links[*link].name, waits));
        of_flows
            .chain(of_labels)
            .chain([Self::new("all", "", &all)])
            .chain(links)
            .collect()
    }
}

pub(crate) fn columns() -> Vec<Column<DelayRow>> {
    let mut columns = vec![
        Column::new(
            "kind",
            Kind::Text,
            "",
            "kind of delay: for flow, label and all, the time from the transmission of each data packet to its \
                arrival, on the last connection of a flow that proxies split; for link, the time until its service \
                begins",
            |row: &DelayRow| Cell::Text(row.kind),
        ),
        Column::new(
            "name",
            Kind::Text,
            "",
            "name of the flow, label or link; none for all flows",
            |row: &DelayRow| Cell::Name(row.name.clone()),
        ),
    ];
    columns.extend(columns_of(
        |row: &DelayRow| Some(&row.delays),
        DelaySummary::columns,
    ));
    columns
}
