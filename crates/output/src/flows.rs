//! flows.parquet: one row per flow. Counters of the measurement window have plain names, those of
//! the whole run begin with `total_`. A flow that opens connections as it goes is the sum of them, both
//! ways.

use longhaul_engine::config::{Flow, Transport};
use longhaul_engine::measure::{FlowCounters, FlowTotals};
use longhaul_units::{Span, Time};

use crate::counters::{Counter, ratio};
use crate::element::{Element, of_both_periods};
use crate::table::{Cell, Column, Kind};

pub(crate) const FILE: &str = "flows.parquet";

/// One flow.
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
                Transport::Tcp(_) | Transport::Messages(..)
            ),
            duration_s: self.seconds_since(from),
            alive_s: alive_to.since(alive_from).as_secs_f64(),
        }
    }
}

/// What a flow did in a period.
struct Period {
    counters: FlowCounters,
    /// Whether it is one connection, which lasts: links know its packets, and it has one window.
    one_connection: bool,
    duration_s: f64,
    /// How long the flow existed in it.
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
        Column::new("label", Text, "", "label of its group", |row: &FlowRow| {
            Cell::Text(&row.flow().label)
        }),
        Column::new(
            "bundle",
            Text,
            "",
            "flow that it counts as: itself, unless it is one of several streams",
            |row: &FlowRow| Cell::Text(&row.flow().bundle),
        ),
        Column::new(
            "congestion",
            Text,
            "",
            "congestion control algorithm",
            |row: &FlowRow| {
                let tcp = row.flow().transport.tcp();
                tcp.map(|tcp| tcp.congestion.kind.as_str()).into()
            },
        ),
        Column::new(
            "source",
            Text,
            "",
            "what it sends: greedy, transfer, messages, traffic (connections that come and go), datagrams",
            |row: &FlowRow| {
                Cell::Text(match &row.flow().transport {
                    Transport::Tcp(tcp) if tcp.transfer.is_some() => "transfer",
                    Transport::Tcp(_) => "greedy",
                    Transport::Messages(..) => "messages",
                    Transport::Traffic(..) => "traffic",
                    Transport::Udp(_) => "datagrams",
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
            "what it has to send; none for a flow without end",
            |row: &FlowRow| match &row.flow().transport {
                Transport::Tcp(tcp) => tcp.transfer.map_or(Cell::Null, Cell::Count),
                Transport::Traffic(..) | Transport::Messages(..) | Transport::Udp(_) => Cell::Null,
            },
        ),
        Column::new("start_s", Real, "s", "when it started", |row: &FlowRow| {
            Cell::Real(row.totals.start.as_secs_f64())
        }),
        Column::new(
            "finish_s",
            Real,
            "s",
            "when its last byte was acknowledged",
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
    vec![
        Counter::pkts(
            "sent_pkts",
            "data packets sent, retransmissions included",
            |p| Cell::Count(p.counters.sent_pkts),
        ),
        Counter::bytes("sent_bytes", "their bytes on the wire", |p| {
            Cell::Count(p.counters.sent_bytes)
        }),
        Counter::pkts("retransmitted_pkts", "packets retransmitted", |p| {
            Cell::Count(p.counters.retransmitted_pkts)
        }),
        Counter::pkts(
            "delivered_pkts",
            "packets that arrived for the first time, in order or not",
            |p| Cell::Count(p.counters.delivered_pkts),
        ),
        Counter::bytes("delivered_bytes", "their payload", |p| {
            Cell::Count(p.counters.delivered_bytes)
        }),
        Counter::real(
            "goodput_bps",
            "bit/s",
            "payload that arrived for the first time, over the length of the period",
            |p| ratio(p.counters.delivered_bytes as f64 * 8.0, p.duration_s),
        ),
        Counter::pkts(
            "in_order_pkts",
            "packets handed to the application, which gets them in order",
            |p| Cell::Count(p.counters.in_order_pkts),
        ),
        Counter::bytes("in_order_bytes", "their payload", |p| {
            Cell::Count(p.counters.in_order_bytes)
        }),
        Counter::pkts(
            "dropped_pkts",
            "packets that links dropped; not known of connections that come and go, and of datagrams",
            |p| followed(p, p.counters.dropped_pkts),
        ),
        Counter::pkts(
            "marked_pkts",
            "packets that links marked; known of the same flows",
            |p| followed(p, p.counters.marked_pkts),
        ),
        Counter::number("cuts_loss", "window reductions for losses", |p| {
            Cell::Count(p.counters.cuts_loss)
        }),
        Counter::number("cuts_ecn", "window reductions for congestion marks", |p| {
            Cell::Count(p.counters.cuts_ecn)
        }),
        Counter::number("timeouts", "retransmission timeouts", |p| {
            Cell::Count(p.counters.timeouts)
        }),
        Counter::number("rtt_samples", "round-trip samples taken", |p| {
            Cell::Count(p.counters.rtt_samples)
        }),
        Counter::real("rtt_mean_s", "s", "mean round-trip time", |p| {
            ratio(
                p.counters.rtt_sum.as_secs_f64(),
                p.counters.rtt_samples as f64,
            )
        }),
        Counter::real("rtt_min_s", "s", "smallest round-trip time", |p| {
            sampled(p, p.counters.rtt_min)
        }),
        Counter::real("rtt_max_s", "s", "largest round-trip time", |p| {
            sampled(p, p.counters.rtt_max)
        }),
        Counter::real(
            "cwnd_mean_pkts",
            "pkts",
            "mean congestion window while the flow existed; none of connections that come and go",
            |p| match p.one_connection {
                true => ratio(p.counters.cwnd_integral, p.alive_s),
                false => Cell::Null,
            },
        ),
        Counter::real(
            "limited_network_s",
            "s",
            "time that the congestion window was the limit",
            |p| Cell::Real(p.counters.limited.network.as_secs_f64()),
        ),
        Counter::real(
            "limited_receive_window_s",
            "s",
            "time that the receive window or socket buffer was the limit",
            |p| Cell::Real(p.counters.limited.receive_window.as_secs_f64()),
        ),
        Counter::real(
            "limited_application_s",
            "s",
            "time that there was nothing to send",
            |p| Cell::Real(p.counters.limited.application.as_secs_f64()),
        ),
        Counter::number(
            "connections",
            "connections opened, by flows that open them as they go",
            |p| Cell::Count(p.counters.connections),
        ),
        Counter::number(
            "exchanges",
            "requests answered, or data delivered one way, over them",
            |p| Cell::Count(p.counters.exchanges),
        ),
    ]
}

fn followed(period: &Period, pkts: u64) -> Cell<'static> {
    if period.one_connection {
        Cell::Count(pkts)
    } else {
        Cell::Null
    }
}

fn sampled(period: &Period, rtt: Span) -> Cell<'static> {
    if period.counters.rtt_samples > 0 {
        Cell::Real(rtt.as_secs_f64())
    } else {
        Cell::Null
    }
}
