//! flow_trace.parquet: traced flows, a row for each event (NIST SP 500-282, chapter 3: `TCPstate`).

use longhaul_mesonet::records::{FlowPhase, FlowState};

use super::Names;
use super::flows::class_name;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "flow_trace.parquet";

/// A traced flow after an event.
pub(crate) struct StateRow {
    state: FlowState,
    long_lived: Option<Name>,
    from: Name,
    to: Name,
    algorithm: Name,
}

impl StateRow {
    pub(crate) fn new(state: &FlowState, names: &Names) -> Self {
        let flow = &state.flow;
        Self {
            state: *state,
            long_lived: flow
                .long_lived
                .map(|number| names.long_lived[number as usize].clone()),
            from: names.access[flow.from as usize].clone(),
            to: names.access[flow.to as usize].clone(),
            algorithm: names.algorithms[flow.algorithm as usize].clone(),
        }
    }
}

const fn phase_name(phase: FlowPhase) -> &'static str {
    match phase {
        FlowPhase::InitialSlowStart => "initial slow start",
        FlowPhase::SlowStart => "slow start",
        FlowPhase::Avoidance => "congestion avoidance",
    }
}

fn count(count: Option<impl Into<u64>>) -> Cell<'static> {
    count.map_or(Cell::Null, |count| Cell::Count(count.into()))
}

pub(crate) fn columns() -> Vec<Column<StateRow>> {
    let mut columns = identity();
    columns.extend(COUNTS.map(|(name, unit, description, value)| {
        Column::new(
            name,
            Kind::Count,
            unit,
            description,
            move |row: &StateRow| count(value(&row.state)),
        )
    }));
    columns.extend(REALS.map(|(name, unit, description, value)| {
        Column::new(
            name,
            Kind::Real,
            unit,
            description,
            move |row: &StateRow| Cell::Real(value(&row.state)),
        )
    }));
    columns
}

fn identity() -> Vec<Column<StateRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new("t_s", Real, "s", "when", |row: &StateRow| {
            Cell::Real(row.state.time.as_secs_f64())
        }),
        Column::new(
            "event",
            Text,
            "",
            "start; increase, decrease or answer, as an acknowledgement changed the window; timeout; end",
            |row: &StateRow| Cell::Text(row.state.event.name()),
        ),
        Column::new(
            "flow",
            Count,
            "",
            "number of the flow among those traced, from 1",
            |row: &StateRow| Cell::Count(row.state.flow.number),
        ),
        Column::new(
            "long_lived",
            Text,
            "",
            "its name, if it is a long-lived one",
            |row: &StateRow| row.long_lived.clone().map_or(Cell::Null, Cell::Name),
        ),
        Column::new(
            "source",
            Count,
            "",
            "number of the source",
            |row: &StateRow| count(row.state.flow.source),
        ),
        Column::new(
            "receiver",
            Count,
            "",
            "number of the receiver",
            |row: &StateRow| count(row.state.flow.receiver),
        ),
        Column::new(
            "from",
            Text,
            "",
            "access router of the source",
            |row: &StateRow| Cell::Name(row.from.clone()),
        ),
        Column::new(
            "to",
            Text,
            "",
            "access router of the receiver",
            |row: &StateRow| Cell::Name(row.to.clone()),
        ),
        Column::new(
            "algorithm",
            Text,
            "",
            "algorithm of the source",
            |row: &StateRow| Cell::Name(row.algorithm.clone()),
        ),
        Column::new("class", Text, "", "class of the flow", |row: &StateRow| {
            Cell::Text(class_name(row.state.flow.class))
        }),
        Column::new(
            "phase",
            Text,
            "",
            "initial slow start, slow start or congestion avoidance",
            |row: &StateRow| Cell::Text(phase_name(row.state.phase)),
        ),
    ]
}

type Figure<T> = (
    &'static str,
    &'static str,
    &'static str,
    fn(&FlowState) -> T,
);

const COUNTS: [Figure<Option<u64>>; 9] = [
    (
        "size_pkts",
        "pkts",
        "packets of the file; none for unlimited flows",
        |state| state.flow.size_pkts,
    ),
    (
        "undelivered_pkts",
        "pkts",
        "packets of the file not acknowledged",
        |state| state.undelivered_pkts,
    ),
    ("sent_pkts", "pkts", "data packets sent", |state| {
        Some(state.sent_pkts)
    }),
    (
        "sendable_pkts",
        "pkts",
        "packets that window and file allow to send now",
        |state| Some(state.sendable_pkts),
    ),
    ("in_flight_pkts", "pkts", "packets in flight", |state| {
        Some(state.in_flight_pkts)
    }),
    ("next", "", "next sequence number", |state| Some(state.next)),
    (
        "highest",
        "",
        "highest acknowledged number: what the receiver expects next",
        |state| Some(state.highest),
    ),
    (
        "last_nak",
        "",
        "next sequence number at the last detected loss; 0 before",
        |state| Some(state.last_nak),
    ),
    (
        "last_timeout",
        "",
        "next sequence number at the last timeout; 0 before",
        |state| Some(state.last_timeout),
    ),
];

const REALS: [Figure<f64>; 6] = [
    (
        "start_s",
        "s",
        "when the source requested the file",
        |state| state.flow.start.as_secs_f64(),
    ),
    ("cwnd_pkts", "pkts", "congestion window", |state| state.cwnd),
    ("ssthresh_pkts", "pkts", "slow start threshold", |state| {
        state.ssthresh
    }),
    (
        "rto_at_s",
        "s",
        "when the retransmission timer expires",
        |state| state.deadline.as_secs_f64(),
    ),
    ("rto_s", "s", "retransmission timeout", |state| {
        state.rto.as_secs_f64()
    }),
    ("srtt_s", "s", "smoothed round-trip time", |state| {
        state.srtt.as_secs_f64()
    }),
];
