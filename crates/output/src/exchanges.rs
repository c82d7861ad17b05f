//! exchanges.parquet: requests and their responses over connections that traffic has opened, in the
//! order of their ends; at the end of the table those that the end of the run has cut short.

use longhaul_engine::measure::Exchange;
use longhaul_units::Time;

use crate::table::{Cell, Column, Kind, Name};

pub(crate) const FILE: &str = "exchanges.parquet";

/// One exchange of one flow.
pub(crate) struct ExchangeRow {
    pub(crate) name: Name,
    pub(crate) exchange: Exchange,
}

impl ExchangeRow {
    /// A moment in it, which may not have come.
    fn moment(time: Option<Time>) -> Cell<'static> {
        time.map(Time::as_secs_f64).into()
    }
}

pub(crate) fn columns() -> Vec<Column<ExchangeRow>> {
    let mut columns = identity();
    columns.extend(course());
    columns
}

fn identity() -> Vec<Column<ExchangeRow>> {
    use Kind::{Count, Text};
    vec![
        Column::new(
            "flow",
            Count,
            "",
            "number of the flow whose source asked for it",
            |row: &ExchangeRow| Cell::Count(row.exchange.flow.into()),
        ),
        Column::new("name", Text, "", "name of the flow", |row: &ExchangeRow| {
            Cell::Name(row.name.clone())
        }),
        Column::new(
            "connection",
            Count,
            "",
            "number of its connection among those of the flow, in order of opening",
            |row: &ExchangeRow| Cell::Count(row.exchange.connection),
        ),
        Column::new(
            "request_bytes",
            Count,
            "bytes",
            "payload of the request, or of data one way",
            |row: &ExchangeRow| Cell::Count(row.exchange.request_bytes),
        ),
        Column::new(
            "response_bytes",
            Count,
            "bytes",
            "payload of the response; none if there is none, or was none at the end of the run",
            |row: &ExchangeRow| row.exchange.response_bytes.map_or(Cell::Null, Cell::Count),
        ),
    ]
}

fn course() -> Vec<Column<ExchangeRow>> {
    use Kind::{Count, Real};
    vec![
        Column::new(
            "start_s",
            Real,
            "s",
            "when its connection was opened, or the request sent if that was open",
            |row: &ExchangeRow| Cell::Real(row.exchange.start.as_secs_f64()),
        ),
        Column::new(
            "requested_s",
            Real,
            "s",
            "when the whole request had arrived",
            |row: &ExchangeRow| ExchangeRow::moment(row.exchange.requested),
        ),
        Column::new(
            "answered_s",
            Real,
            "s",
            "when the first segment of the response arrived",
            |row: &ExchangeRow| ExchangeRow::moment(row.exchange.answered),
        ),
        Column::new(
            "end_s",
            Real,
            "s",
            "when everything had arrived; none if the run ended before",
            |row: &ExchangeRow| ExchangeRow::moment(row.exchange.end),
        ),
        Column::new(
            "extra_rtt_s",
            Real,
            "s",
            "round trip of its connection beyond that of the network",
            |row: &ExchangeRow| Cell::Real(row.exchange.round_trip.as_secs_f64()),
        ),
        Column::new(
            "retransmitted_pkts",
            Count,
            "pkts",
            "data packets retransmitted, both ways",
            |row: &ExchangeRow| Cell::Count(row.exchange.retransmitted_pkts),
        ),
        Column::new(
            "timeouts",
            Count,
            "",
            "retransmission timeouts, both ways, those of lost SYNs included",
            |row: &ExchangeRow| Cell::Count(row.exchange.timeouts),
        ),
    ]
}
