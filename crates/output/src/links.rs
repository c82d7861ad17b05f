//! links.parquet: one row per link and direction. Counters of the measurement window have plain
//! names, those of the whole run begin with `total_`.

use longhaul_engine::config::Link;
use longhaul_engine::measure::{LinkCounters, LinkTotals};
use longhaul_units::Time;

use crate::counters::{Counter, ratio};
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
    vec![
        Counter::pkts("arrived_pkts", "packets that reached the link", |p| {
            Cell::Count(p.counters.arrived_pkts)
        }),
        Counter::bytes("arrived_bytes", "their bytes", |p| {
            Cell::Count(p.counters.arrived_bytes)
        }),
        Counter::pkts("departed_pkts", "packets fully transmitted", |p| {
            Cell::Count(p.counters.departed_pkts)
        }),
        Counter::bytes("departed_bytes", "their bytes", |p| {
            Cell::Count(p.counters.departed_bytes)
        }),
        Counter::pkts("dropped_pkts", "packets dropped, any cause", |p| {
            Cell::Count(p.counters.dropped_pkts())
        }),
        Counter::pkts("dropped_loss_pkts", "packets lost by the loss model", |p| {
            Cell::Count(p.counters.dropped_loss_pkts)
        }),
        Counter::pkts(
            "dropped_overflow_pkts",
            "packets that found the queue full",
            |p| Cell::Count(p.counters.dropped_overflow_pkts),
        ),
        Counter::pkts(
            "dropped_early_pkts",
            "packets that the discipline chose to drop",
            |p| Cell::Count(p.counters.dropped_early_pkts),
        ),
        Counter::pkts(
            "dropped_forced_pkts",
            "packets dropped where the discipline drops all",
            |p| Cell::Count(p.counters.dropped_forced_pkts),
        ),
        Counter::pkts("marked_pkts", "packets marked instead of dropped", |p| {
            Cell::Count(p.counters.marked_pkts)
        }),
        Counter::pkts(
            "duplicated_pkts",
            "packets of which the link's entrance made a copy",
            |p| Cell::Count(p.counters.duplicated_pkts),
        ),
        Counter::real(
            "utilization",
            "",
            "bits that left in the period, parts of packets included, over the rate, from 0 to 1; over \
             the mean one, if it changes",
            |p| {
                ratio(
                    p.counters.transmitted_bytes * 8.0,
                    p.rate_bps * p.duration_s,
                )
            },
        ),
        Counter::real(
            "queue_mean_pkts",
            "pkts",
            "mean number of packets waiting",
            |p| ratio(p.counters.queue_integral, p.duration_s),
        ),
        Counter::pkts("queue_max_pkts", "most packets waiting at once", |p| {
            Cell::Count(p.counters.queue_max_pkts)
        }),
    ]
}
