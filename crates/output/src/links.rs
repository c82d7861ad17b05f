//! links.parquet: one row per link and direction. Counters of the measurement window have plain
//! names; names of counters of the whole run begin with `total_`.

use longhaul_engine::config::{Config, Link, Work};
use longhaul_engine::measure::{ClassCounters, LinkCounters, LinkTotals};
use longhaul_units::{Span, Time};

use crate::counters::{Counter, ratio};
use crate::declared::PeriodCounters;
use crate::element::{Element, of_both_periods};
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "links.parquet";

/// The row of one direction of a link.
pub(crate) type LinkRow = Element<LinkTotals>;

impl LinkRow {
    fn link(&self) -> &Link {
        &self.config.links[self.id]
    }

    fn period(&self, counters: LinkCounters, from: Time) -> Period {
        Period {
            counters,
            duration: self.end.since(from),
            classes: tells_classes(self.link()),
        }
    }
}

/// Counters of a link in a period, and other values that the period's columns need.
struct Period {
    counters: LinkCounters,
    duration: Span,
    /// True if the link's queue distinguishes classes of packets.
    classes: bool,
}

pub(crate) fn columns() -> Vec<Column<LinkRow>> {
    let mut columns = identity();
    columns.extend(of_both_periods(&counters(), LinkRow::period));
    columns
}

/// Function that returns true if a link needs a certain column.
type Does = fn(&Link) -> bool;
/// Columns that the table has only if a link needs them. An entry has the column's name, the
/// scenario's word for the feature that needs the column, and the function that finds this feature
/// in a link. The word for `line_utilization` omits policers slower than the link, which the
/// function also finds.
const OF_SOME: [(&str, &str, Does); 12] = [
    ("line_utilization", "shaper", |link| {
        link.capacity() < link.rate
    }),
    ("dropped_policed_pkts", "policer", |link| {
        link.direction.policer.is_some()
    }),
    ("dropped_thinned_pkts", "ack_thinning", |link| {
        link.direction.ack_thinning.is_some()
    }),
    ("dropped_filtered_pkts", "ack_filtering", |link| {
        link.direction.filters_acks()
    }),
    ("l4s_served_pkts", DUALPI2, tells_classes),
    ("l4s_marked_pkts", DUALPI2, tells_classes),
    ("l4s_dropped_pkts", DUALPI2, tells_classes),
    ("l4s_wait_mean_s", DUALPI2, tells_classes),
    ("classic_served_pkts", DUALPI2, tells_classes),
    ("classic_marked_pkts", DUALPI2, tells_classes),
    ("classic_dropped_pkts", DUALPI2, tells_classes),
    ("classic_wait_mean_s", DUALPI2, tells_classes),
];

/// Name in scenario files of the queue discipline that distinguishes classes of packets.
const DUALPI2: &str = "dualpi2";

fn tells_classes(link: &Link) -> bool {
    link.queue.kind() == DUALPI2
}

/// Returns the scenario's word for the feature of a link that `column` needs: a key, or a queue
/// discipline; `None` if the table always contains the column.
pub(crate) fn only_with(column: &str) -> Option<&'static str> {
    let name = column.trim_start_matches("total_");
    let (_, key, _) = OF_SOME.iter().find(|(of_some, ..)| *of_some == name)?;
    Some(key)
}

/// Returns the columns of the table for the links of a run.
pub(crate) fn columns_of(config: &Config) -> Vec<Column<LinkRow>> {
    let mut columns = columns();
    for (_, key, does) in OF_SOME {
        if !config.links.iter().any(does) {
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
            "node where packets leave the link",
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

fn ratio_of_work(done: Work, possible: Work) -> Cell<'static> {
    ratio(done.bytes(), possible.bytes())
}

fn counters() -> Vec<Counter<Period>> {
    let mut declared = PeriodCounters::new(|period: &Period| &period.counters, |_, _| true);
    LinkCounters::columns(&mut declared);
    let mut counters = vec![
        Counter::real(
            "utilization",
            "bits transmitted in the period, parts of packets included, divided by those that the rate allows, from \
                0 to 1; with a token bucket, the rate is that of the bucket, and a burst may exceed it",
            |p: &Period| ratio_of_work(p.counters.transmitted, p.counters.capacity()),
        ),
        Counter::real(
            "line_utilization",
            "bits transmitted in the period divided by those that the line rate allows, at which bursts leave the \
                token bucket",
            |p: &Period| ratio_of_work(p.counters.transmitted, p.counters.line_capacity),
        ),
        Counter::real("queue_mean_pkts", "mean number of packets waiting", |p| {
            // The computation uses whole numbers as long as possible, so that the mean is not above
            // the maximum.
            ratio(
                p.counters.queue_integral_ps as f64,
                p.duration.as_ps() as f64,
            )
        }),
        Counter::real(
            "queue_found_mean_pkts",
            "mean number of waiting packets that an arriving packet finds: a mean over arrivals, not over time",
            |p| {
                ratio(
                    p.counters.queue_found_pkts as f64,
                    p.counters.arrived_pkts as f64,
                )
            },
        ),
    ];
    counters.append(&mut declared.counters);
    counters.extend(counters_of_classes());
    counters
}

fn counters_of_classes() -> [Counter<Period>; 8] {
    type Class = fn(&LinkCounters) -> &ClassCounters;
    let count = |name, doc, class: Class, value: fn(&ClassCounters) -> u64| {
        Counter::new(name, Kind::Count, doc, move |p: &Period| match p.classes {
            true => Cell::Count(value(class(&p.counters))),
            false => Cell::Null,
        })
    };
    let wait = |name, doc, class: Class| {
        Counter::new(name, Kind::Real, doc, move |p: &Period| {
            let counters = class(&p.counters);
            ratio(
                counters.waits_ps as f64 * 1e-12,
                counters.served_pkts as f64,
            )
        })
    };
    let (l4s, classic): (Class, Class) = (|c| &c.l4s, |c| &c.classic);
    [
        count(
            "l4s_served_pkts",
            "packets that left the L4S queue into service",
            l4s,
            |c| c.served_pkts,
        ),
        count(
            "l4s_marked_pkts",
            "packets that were marked in the L4S queue",
            l4s,
            |c| c.marked_pkts,
        ),
        count(
            "l4s_dropped_pkts",
            "packets dropped on arrival at the L4S queue, or in it",
            l4s,
            |c| c.dropped_pkts,
        ),
        wait(
            "l4s_wait_mean_s",
            "mean waiting time of the packets that left the L4S queue into service",
            l4s,
        ),
        count(
            "classic_served_pkts",
            "packets that left the classic queue into service",
            classic,
            |c| c.served_pkts,
        ),
        count(
            "classic_marked_pkts",
            "packets that were marked in the classic queue",
            classic,
            |c| c.marked_pkts,
        ),
        count(
            "classic_dropped_pkts",
            "packets dropped on arrival at the classic queue, or in it",
            classic,
            |c| c.dropped_pkts,
        ),
        wait(
            "classic_wait_mean_s",
            "mean waiting time of the packets that left the classic queue into service",
            classic,
        ),
    ]
}
