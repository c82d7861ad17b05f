//! flow_trace.parquet: traced flows, with a row for each event (NIST SP 500-282, chapter 3:
//! `TCPstate`).

use longhaul_mesonet::records::{FlowPhase, FlowState};

use super::Names;
use super::flows::class_name;
use crate::declared::columns_of;
use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "flow_trace.parquet";

/// The row of a traced flow after an event.
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
    columns.push(Column::new(
        "size_pkts",
        Kind::Count,
        "pkts",
        "packets of the file; none for unlimited flows",
        |row: &StateRow| count(row.state.flow.size_pkts),
    ));
    let mut counts = columns_of(|row: &StateRow| Some(&row.state), FlowState::columns);
    let mut measures = counts.split_off(COUNTS);
    columns.append(&mut counts);
    columns.push(Column::new(
        "start_s",
        Kind::Real,
        "s",
        "time at which the source requested the file",
        |row: &StateRow| Cell::Real(row.state.flow.start.as_secs_f64()),
    ));
    columns.append(&mut measures);
    columns
}

/// Number of count columns of [`FlowState`]; they precede its other columns.
const COUNTS: usize = 8;

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
            "start; increase, decrease or ack, as an acknowledgement changed the window; timeout; end",
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
            "name of the flow, if it is long-lived",
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
