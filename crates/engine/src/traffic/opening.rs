//! What a source asks for: a connection, and the exchanges on it.

use std::collections::VecDeque;

use longhaul_units::Span;

/// One exchange to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demand {
    /// How long its client waits after the exchange before it on the same connection.
    pub(crate) pause: Span,
    pub(crate) request_bytes: u64,
    pub(crate) response: Response,
    pub(crate) server_delay: Span,
}

/// What answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Nothing: data one way.
    None,
    Bytes(u64),
    /// What the server then draws.
    DrawnThere,
}

/// A connection to open, and what for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opening {
    pub(crate) first: Demand,
    /// Exchanges after the first.
    pub(crate) others: VecDeque<Demand>,
    /// Round trip beyond that of the network.
    pub(crate) round_trip: Span,
    /// Whether the response has a connection of its own, which the server opens when the request is
    /// acknowledged.
    pub(crate) separate: bool,
    /// After what time the connection is cut off, if it is.
    pub(crate) lifetime: Option<Span>,
}

impl Opening {
    /// A connection for one exchange.
    pub(super) fn single(first: Demand) -> Self {
        Self {
            first,
            others: VecDeque::new(),
            round_trip: Span::ZERO,
            separate: false,
            lifetime: None,
        }
    }
}
