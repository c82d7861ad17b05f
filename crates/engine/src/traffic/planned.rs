//! A connection to be opened and the exchanges planned on it.

use std::collections::VecDeque;

use longhaul_units::Span;

/// One exchange that is planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedExchange {
    /// How long its client waits after the exchange before it on the same connection.
    pub(crate) pause: Span,
    pub(crate) request_bytes: u64,
    pub(crate) response: Response,
    pub(crate) server_delay: Span,
}

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// None: data one way.
    None,
    Bytes(u64),
    /// Of a size that the server draws when the request has arrived.
    DrawnByServer,
}

/// A connection to open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedConnection {
    pub(crate) first: PlannedExchange,
    /// Exchanges after the first.
    pub(crate) to_come: VecDeque<PlannedExchange>,
    /// Round trip beyond that of the network.
    pub(crate) round_trip: Span,
    /// Whether the response has a connection of its own, which the server opens when the request is
    /// acknowledged.
    pub(crate) separate: bool,
    /// When it is aborted after its opening, if it is.
    pub(crate) lifetime: Option<Span>,
}

impl PlannedConnection {
    /// A connection for one exchange.
    pub(super) fn single(first: PlannedExchange) -> Self {
        Self {
            first,
            to_come: VecDeque::new(),
            round_trip: Span::ZERO,
            separate: false,
            lifetime: None,
        }
    }
}
