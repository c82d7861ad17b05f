//! proxies.parquet: one row per proxy. Counters of the measurement window have plain names; names
//! of counters of the whole run begin with `total_`.

use longhaul_engine::config::Proxy;
use longhaul_engine::measure::{ProxyCounters, ProxyTotals};
use longhaul_units::Time;

use crate::counters::{Counter, ratio};
use crate::declared::PeriodCounters;
use crate::element::{Element, of_both_periods};
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "proxies.parquet";

pub(crate) type ProxyRow = Element<ProxyTotals>;

impl ProxyRow {
    fn proxy(&self) -> &Proxy {
        &self.config.proxies[self.id]
    }

    fn period(&self, counters: ProxyCounters, from: Time) -> Period {
        Period {
            counters,
            duration_s: self.seconds_since(from),
        }
    }
}

/// Counters of a proxy in a period.
struct Period {
    counters: ProxyCounters,
    duration_s: f64,
}

pub(crate) fn columns() -> Vec<Column<ProxyRow>> {
    let mut columns = identity();
    columns.extend(of_both_periods(&counters(), ProxyRow::period));
    columns
}

fn identity() -> Vec<Column<ProxyRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new(
            "proxy",
            Count,
            "",
            "number of the proxy",
            |row: &ProxyRow| Cell::Count(row.id as u64),
        ),
        Column::new("name", Text, "", "name of the proxy", |row: &ProxyRow| {
            Cell::Text(&row.proxy().name)
        }),
        Column::new(
            "start",
            Text,
            "",
            "node that intercepts the senders' segments",
            |row: &ProxyRow| row.node(row.proxy().start),
        ),
        Column::new(
            "end",
            Text,
            "",
            "node from which the senders' data is forwarded",
            |row: &ProxyRow| row.node(row.proxy().end),
        ),
        Column::new(
            "interval_s",
            Real,
            "s",
            "interval between checks of the local queue, at the start of the run",
            |row: &ProxyRow| Cell::Real(row.proxy().check_interval.as_secs_f64()),
        ),
        Column::new(
            "credit_bytes",
            Count,
            "bytes",
            "payload that may wait unsent, at the start of the run",
            |row: &ProxyRow| Cell::Count(row.proxy().credit_bytes),
        ),
    ]
}

fn counters() -> Vec<Counter<Period>> {
    let mut declared = PeriodCounters::new(|period: &Period| &period.counters, |_, _| true);
    ProxyCounters::columns(&mut declared);
    let mut counters = start_counters();
    counters.extend(carrier_counters());
    counters.append(&mut declared.counters);
    counters
}

/// Returns the counters at the start node, where connections are split.
fn start_counters() -> Vec<Counter<Period>> {
    vec![
        Counter::number(
            "arrived_pkts",
            "packets that reached the local queue",
            |p| Cell::Count(p.counters.queue.arrived_pkts),
        ),
        Counter::number(
            "dropped_pkts",
            "packets that the local queue dropped",
            |p| Cell::Count(p.counters.queue.dropped_pkts()),
        ),
        Counter::number(
            "marked_pkts",
            "packets that the local queue marked instead of dropping them",
            |p| Cell::Count(p.counters.queue.marked_pkts),
        ),
        Counter::number(
            "taken_pkts",
            "packets taken out of the local queue and acknowledged, SYNs and retransmissions included",
            |p| Cell::Count(p.counters.queue.departed_pkts),
        ),
        Counter::real(
            "queue_mean_pkts",
            "mean number of packets in the local queue",
            |p| ratio(p.counters.queue.queue_integral(), p.duration_s),
        ),
        Counter::number(
            "queue_max_pkts",
            "maximum number of packets in the local queue",
            |p| Cell::Count(p.counters.queue.queue_max_pkts),
        ),
    ]
}

/// Returns the counters of the proxy's connection between its nodes.
fn carrier_counters() -> Vec<Counter<Period>> {
    vec![
        Counter::number(
            "sent_pkts",
            "data packets sent between the nodes, retransmissions included",
            |p| Cell::Count(p.counters.carrier.sent_pkts),
        ),
        Counter::number(
            "retransmitted_pkts",
            "data packets retransmitted between the nodes",
            |p| Cell::Count(p.counters.carrier.retransmitted_pkts),
        ),
        Counter::number(
            "cuts_loss",
            "window reductions for losses between the nodes",
            |p| Cell::Count(p.counters.carrier.cuts_loss),
        ),
        Counter::number(
            "timeouts",
            "retransmission timeouts between the nodes",
            |p| Cell::Count(p.counters.carrier.timeouts),
        ),
        Counter::real(
            "cwnd_mean_pkts",
            "mean congestion window between the nodes",
            |p| ratio(p.counters.carrier.cwnd_integral, p.duration_s),
        ),
    ]
}
