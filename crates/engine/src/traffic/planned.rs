//! A connection to be opened and the exchanges planned on it.

use std::collections::VecDeque;

use longhaul_units::Span;

/// A planned exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedExchange {
    /// Time for which the client waits after the preceding exchange on the same connection.
    pub(crate) pause: Span,
    pub(crate) request_bytes: u64,
    pub(crate) response: Response,
    pub(crate) server_delay: Span,
}

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// No response: data one way.
    None,
    Bytes(u64),
    /// A response whose size the server draws when the request has arrived.
    DrawnByServer,
}

/// A connection to open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedConnection {
    pub(crate) first: PlannedExchange,
    /// Exchanges after the first.
    pub(crate) to_come: VecDeque<PlannedExchange>,
    /// Additional round-trip time.
    pub(crate) round_trip: Span,
    /// True if the response has a separate connection, which the server opens when the request is
    /// acknowledged.
    pub(crate) separate: bool,
    /// Time from its opening to its abortion, if it is aborted.
    pub(crate) lifetime: Option<Span>,
}

impl PlannedConnection {
    /// Returns a connection for one exchange.
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
