//! flows.parquet: one row per flow. Counters of the measurement window have plain names; names of
//! counters of the whole run begin with `total_`. If a flow opens connections during the run, its
//! counters are sums over these connections and over the two directions of each.

use longhaul_engine::config::{Flow, Transport};
use longhaul_engine::measure::{FlowCounters, FlowTotals};
use longhaul_units::Time;

use crate::counters::{Counter, ratio};
use crate::declared::PeriodCounters;
use crate::element::{Element, of_both_periods};
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "flows.parquet";

pub(crate) type FlowRow = Element<FlowTotals>;

impl FlowRow {
    fn flow(&self) -> &Flow {
        &self.config.flows[self.id]
    }

    fn period(&self, counters: FlowCounters, from: Time) -> Period {
        let alive_from = self.totals.start.max(from);
        let alive_to = self.totals.finish.unwrap_or(self.end);
        Period {
            counters,
            one_connection: matches!(
                self.flow().transport,
                Transport::Tcp(_)
                    | Transport::Messages(..)
                    | Transport::Stack(_)
                    | Transport::Outside(_)
            ),
            duration_s: self.seconds_since(from),
            alive_s: alive_to.since(alive_from).as_secs_f64(),
        }
    }
}

/// Counters of a flow in a period, and other values from which the period's columns are computed.
struct Period {
    counters: FlowCounters,
    /// True if the flow is a single connection, or the packets of a real program. False for simulated datagrams and for
    /// connections that open during the run: links do not count their drops and marks by flow.
    one_connection: bool,
    duration_s: f64,
    /// Seconds of the period in which the flow existed.
    alive_s: f64,
}

pub(crate) fn columns() -> Vec<Column<FlowRow>> {
    let mut columns = identity();
    columns.extend(of_both_periods(&counters(), FlowRow::period));
    columns
}

fn identity() -> Vec<Column<FlowRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new("flow", Count, "", "number of the flow", |row: &FlowRow| {
            Cell::Count(row.id as u64)
        }),
        Column::new("name", Text, "", "name of the flow", |row: &FlowRow| {
            Cell::Text(&row.flow().name)
        }),
        Column::new(
            "label",
            Text,
            "",
            "label of the flow's group",
            |row: &FlowRow| Cell::Text(&row.flow().label),
        ),
        Column::new(
            "bundle",
            Text,
            "",
            "name of the flow that this one is counted with: parallel streams share one, all other flows have their \
                own",
            |row: &FlowRow| Cell::Text(&row.flow().bundle),
        ),
        Column::new(
            "congestion",
            Text,
            "",
            "congestion control algorithm",
            |row: &FlowRow| row.flow().transport.congestion().into(),
        ),
        Column::new(
            "source",
            Text,
            "",
            "kind of source: greedy, transfer, messages, traffic (opens connections during the run), datagrams, \
                program (packets of a real program)",
            |row: &FlowRow| {
                Cell::Text(match &row.flow().transport {
                    transport if transport.transfer().is_some() => "transfer",
                    Transport::Tcp(_) | Transport::Stack(_) => "greedy",
                    Transport::Messages(..) => "messages",
                    Transport::Traffic(..) => "traffic",
                    Transport::Udp(_) => "datagrams",
                    Transport::Outside(_) => "program",
                })
            },
        ),
        Column::new("from", Text, "", "sending node", |row: &FlowRow| {
            row.node(row.flow().from)
        }),
        Column::new("to", Text, "", "receiving node", |row: &FlowRow| {
            row.node(row.flow().to)
        }),
        Column::new(
            "transfer_bytes",
            Count,
            "bytes",
            "size of the transfer; none for an unlimited source",
            |row: &FlowRow| {
                let transfer = row.flow().transport.transfer();
                transfer.map_or(Cell::Null, Cell::Count)
            },
        ),
        Column::new(
            "start_s",
            Real,
            "s",
            "start time of the flow",
            |row: &FlowRow| Cell::Real(row.totals.start.as_secs_f64()),
        ),
        Column::new(
            "finish_s",
            Real,
            "s",
            "time at which the flow's last byte was acknowledged",
            |row: &FlowRow| row.totals.finish.map(Time::as_secs_f64).into(),
        ),
        Column::new(
            "completion_s",
            Real,
            "s",
            "time from start to finish",
            |row: &FlowRow| {
                let finish = row.totals.finish;
                finish
                    .map(|finish| finish.since(row.totals.start).as_secs_f64())
                    .into()
            },
        ),
    ]
}

fn counters() -> Vec<Counter<Period>> {
    let mut declared = PeriodCounters::new(|period: &Period| &period.counters, is_known);
    FlowCounters::columns(&mut declared);
    let mut counters = vec![
        Counter::real(
            "goodput_bps",
            "payload that arrived for the first time, divided by the length of the period",
            |p: &Period| ratio(p.counters.delivered_bytes as f64 * 8.0, p.duration_s),
        ),
        Counter::real(
            "cwnd_mean_pkts",
            "mean congestion window while the flow existed; none for flows that open connections during the run",
            |p| match p.one_connection {
                true => ratio(p.counters.cwnd_integral, p.alive_s),
                false => Cell::Null,
            },
        ),
    ];
    counters.append(&mut declared.counters);
    counters
}

/// Returns true if `counter` has a value in `period`. Links count drops and marks by flow only if
/// [`Period::one_connection`] is true.
fn is_known(counter: &str, period: &Period) -> bool {
    period.one_connection || !matches!(counter, "dropped_pkts" | "marked_pkts")
}
