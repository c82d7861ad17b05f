//! events.parquet: starts, window cuts, recoveries, timeouts and ends of flows.

use longhaul_congestion::Cause;
use longhaul_engine::measure::{Event, EventKind};

use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "events.parquet";

/// One event of one flow.
pub(crate) struct EventRow {
    pub(crate) name: Name,
    pub(crate) event: Event,
}

pub(crate) fn columns() -> Vec<Column<EventRow>> {
    use Kind::{Count, Real, Text};
    vec![
        Column::new("t_s", Real, "s", "simulated time", |row: &EventRow| {
            Cell::Real(row.event.time.as_secs_f64())
        }),
        Column::new("flow", Count, "", "number of the flow", |row: &EventRow| {
            Cell::Count(row.event.flow.into())
        }),
        Column::new("name", Text, "", "name of the flow", |row: &EventRow| {
            Cell::Name(row.name.clone())
        }),
        Column::new("event", Text, "", "what happened", |row: &EventRow| {
            Cell::Text(kind(row.event.kind))
        }),
        Column::new(
            "cause",
            Text,
            "",
            "what a cut reacted to",
            |row: &EventRow| cause(row.event.kind).into(),
        ),
        Column::new(
            "cwnd_before_pkts",
            Real,
            "pkts",
            "congestion window before",
            |row: &EventRow| Cell::Real(row.event.cwnd_before),
        ),
        Column::new(
            "cwnd_after_pkts",
            Real,
            "pkts",
            "congestion window after",
            |row: &EventRow| Cell::Real(row.event.cwnd_after),
        ),
        Column::new(
            "ssthresh_after_pkts",
            Real,
            "pkts",
            "slow start threshold after",
            |row: &EventRow| Cell::Real(row.event.ssthresh_after),
        ),
        Column::new(
            "in_flight_pkts",
            Count,
            "pkts",
            "segments in flight",
            |row: &EventRow| Cell::Count(row.event.in_flight),
        ),
    ]
}

fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Start => "start",
        EventKind::Cut(_) => "cut",
        EventKind::RecoveryExit => "recovery_exit",
        EventKind::Timeout => "timeout",
        EventKind::Finish => "finish",
    }
}

fn cause(kind: EventKind) -> Option<&'static str> {
    let EventKind::Cut(cause) = kind else {
        return None;
    };
    Some(match cause {
        Cause::Loss => "loss",
        Cause::Nak => "nak",
        Cause::Ecn => "ecn",
        Cause::Router => "router",
    })
}
