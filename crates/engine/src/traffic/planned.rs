//! The plan of a connection: the exchanges on it, their sizes and delays.

use std::collections::VecDeque;

use longhaul_units::Span;

/// Plan of one exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedExchange {
    /// Pause of the client before the request, after the preceding exchange on the connection. Not used for the first
    /// exchange.
    pub(crate) pause: Span,
    pub(crate) request_bytes: u64,
    pub(crate) response: Response,
    pub(crate) server_delay: Span,
}

/// Planned response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// No response: data flows in one direction only.
    None,
    Bytes(u64),
    /// A response of a size that the server draws when it begins to respond, at the end of `server_delay`.
    DrawnByServer,
}

/// Plan of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedConnection {
    pub(crate) first: PlannedExchange,
    /// Exchanges after the first one.
    pub(crate) to_come: VecDeque<PlannedExchange>,
    /// Extra round-trip time, added to the network's.
    pub(crate) round_trip: Span,
    /// True if the response has a separate connection, which the server opens once the client knows that its request
    /// has arrived.
    pub(crate) separate: bool,
    /// Time from the opening of the connection until it is aborted; `None` if it is not aborted.
    pub(crate) lifetime: Option<Span>,
}

impl PlannedConnection {
    /// Returns the plan of a connection with a single exchange.
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
