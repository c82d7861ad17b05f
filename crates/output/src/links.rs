//! links.parquet: one row per link and direction. Counters of the measurement window have plain
//! names, those of the whole run begin with `total_`.

use longhaul_engine::config::{Config, Impairments, Link};
use longhaul_engine::measure::{LinkCounters, LinkTotals};
use longhaul_units::Time;

use crate::counters::{Counter, ratio};
use crate::declared::OfPeriod;
use crate::element::{Element, of_both_periods};
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "links.parquet";

/// One link.
pub(crate) type LinkRow = Element<LinkTotals>;

impl LinkRow {
    fn link(&self) -> &Link {
        &self.config.links[self.id]
    }

    fn period(&self, counters: LinkCounters, from: Time) -> Period {
        let rate_bps = self.link().mean_rate(from, self.end).as_bps() as f64;
        Period {
            counters,
            rate_bps,
            duration_s: self.seconds_since(from),
        }
    }
}

/// What a link did in a period.
struct Period {
    counters: LinkCounters,
    rate_bps: f64,
    duration_s: f64,
}

pub(crate) fn columns() -> Vec<Column<LinkRow>> {
    let mut columns = identity();
    columns.extend(of_both_periods(&counters(), LinkRow::period));
    columns
}

/// Whether a link does something.
type Does = fn(&Impairments) -> bool;
/// Columns of what only some links do, and the key that makes them do it: where none does, the table has no such
/// column.
const OF_SOME: [(&str, &str, Does); 2] = [
    ("dropped_policed_pkts", "policer", |link| {
        link.policer.is_some()
    }),
    ("dropped_thinned_pkts", "ack_thinning", |link| {
        link.ack_thinning.is_some()
    }),
];

/// The key of links without which the table has no such column, if there is one.
pub(crate) fn only_with(column: &str) -> Option<&'static str> {
    let name = column.trim_start_matches("total_");
    let (_, key, _) = OF_SOME.iter().find(|(of_some, ..)| *of_some == name)?;
    Some(key)
}

/// The columns of a run.
pub(crate) fn columns_of(config: &Config) -> Vec<Column<LinkRow>> {
    let mut columns = columns();
    for (_, key, does) in OF_SOME {
        let impairments = config.links.iter().map(|link| link.impairments.as_deref());
        if !impairments.flatten().any(does) {
            columns.retain(|column| only_with(column.info().0) != Some(key));
        }
    }
    columns
}

fn identity() -> Vec<Column<LinkRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new("link", Count, "", "number of the link", |row: &LinkRow| {
            Cell::Count(row.id as u64)
        }),
        Column::new("name", Text, "", "name of the link", |row: &LinkRow| {
            Cell::Text(&row.link().name)
        }),
        Column::new(
            "from",
            Text,
            "",
            "node where packets enter",
            |row: &LinkRow| row.node(row.link().from),
        ),
        Column::new(
            "to",
            Text,
            "",
            "node where they come out",
            |row: &LinkRow| row.node(row.link().to),
        ),
        Column::new(
            "rate_bps",
            Count,
            "bit/s",
            "transmission rate at the beginning",
            |row: &LinkRow| Cell::Count(row.link().rate.as_bps()),
        ),
        Column::new(
            "delay_s",
            Real,
            "s",
            "propagation delay at the beginning",
            |row: &LinkRow| Cell::Real(row.link().delay.as_secs_f64()),
        ),
    ]
}

fn counters() -> Vec<Counter<Period>> {
    let mut declared = OfPeriod::new(|period: &Period| &period.counters, |_, _| true);
    LinkCounters::columns(&mut declared);
    let mut counters = vec![
        Counter::real(
            "utilization",
            "bits that left in the period, parts of packets included, over the rate, from 0 to 1; over \
             the mean rate, if it changes",
            |p: &Period| {
                ratio(
                    p.counters.transmitted_bytes * 8.0,
                    p.rate_bps * p.duration_s,
                )
            },
        ),
        Counter::real("queue_mean_pkts", "mean number of packets waiting", |p| {
            ratio(p.counters.queue_integral, p.duration_s)
        }),
        Counter::real(
            "queue_found_mean_pkts",
            "mean number of packets that arriving ones found waiting: a mean over arrivals, not over time",
            |p| {
                ratio(
                    p.counters.queue_found_pkts as f64,
                    p.counters.arrived_pkts as f64,
                )
            },
        ),
    ];
    counters.append(&mut declared.counters);
    counters
}
