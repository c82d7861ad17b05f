//! Models of traffic: they determine when connections are opened, and the exchanges on them.

use std::collections::VecDeque;
use std::sync::Arc;

use longhaul_units::{Span, Time};

use super::packmime::Gaussian;
use super::planned::{PlannedConnection, PlannedExchange, Response};
use super::requests::RequestModel;
use super::session::Session;
use crate::config::TraceEntry;
use crate::random::WITHOUT_END;

/// Model of a source of connections. At most one of its arrivals is pending.
#[derive(Debug)]
pub(crate) enum Generator {
    Requests(Box<RequestModel>),
    Web(Box<Session>),
    CutOff(CutOff),
    Trace(Trace),
}

impl Generator {
    /// Returns the Gaussian series of all sources in `all`.
    pub(super) fn series<'a>(
        all: impl Iterator<Item = &'a mut Self>,
    ) -> impl Iterator<Item = &'a mut Gaussian> {
        all.filter_map(|generator| match generator {
            Self::Requests(model) => Some(model.series()),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => None,
        })
        .flatten()
    }

    /// Returns the time of the source's next connection; for a trace, this time may be before `now`. Returns `None` if
    /// there are no more connections, or if the source must wait for another event.
    pub(super) fn next_arrival(&mut self, now: Time) -> Option<Time> {
        match self {
            Self::Requests(model) => Some(model.next_arrival(now)),
            Self::Web(session) => session.next_arrival(now),
            Self::CutOff(once) => once.next_arrival(now),
            Self::Trace(trace) => trace.next_arrival(),
        }
    }

    /// Draws the times of many arrivals in advance, if the model allows it. To be called before the run starts.
    pub(super) fn draw_arrivals_ahead(&mut self) {
        if let Self::Requests(model) = self {
            model.draw_arrivals_ahead();
        }
    }

    /// Returns the time up to which the openings of connections have been drawn in advance, and the maximum total
    /// number of exchanges on the connections that will open by this time. The time is zero before the source
    /// starts, and for sources that draw nothing in advance.
    pub(super) fn known_arrivals(&self) -> (Time, u64) {
        match self {
            Self::Requests(model) => model.known_arrivals(),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => (Time::ZERO, 0),
        }
    }

    /// Returns the plan of the next connection.
    pub(super) fn open(&mut self) -> PlannedConnection {
        match self {
            Self::Requests(model) => model.open(),
            Self::Web(session) => session.open(),
            Self::CutOff(once) => once.open(),
            Self::Trace(trace) => trace.open(),
        }
    }

    /// Returns true if connections may have extra round-trip times.
    pub(super) fn delays_at_end(&self) -> bool {
        match self {
            Self::Requests(model) => model.delays_at_end(),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => false,
        }
    }

    pub(super) fn draw_response(&mut self) -> u64 {
        match self {
            Self::Requests(model) => model.draw_response(),
            _ => unreachable!("others say it beforehand"),
        }
    }

    /// Records that an exchange was completed at `now`. If the source opens a connection in response, returns the time
    /// of its opening.
    pub(super) fn after_exchange(&mut self, now: Time) -> Option<Time> {
        match self {
            Self::Web(session) => session.after_exchange(now),
            Self::Requests(_) | Self::CutOff(_) | Self::Trace(_) => None,
        }
    }
}

/// Model that takes its exchanges from a table.
#[derive(Debug)]
pub(crate) struct Trace {
    entries: Arc<[TraceEntry]>,
    next: usize,
}

impl Trace {
    pub(crate) fn new(entries: Arc<[TraceEntry]>) -> Self {
        Self { entries, next: 0 }
    }

    fn next_arrival(&self) -> Option<Time> {
        self.entries.get(self.next).map(|entry| entry.time)
    }

    fn open(&mut self) -> PlannedConnection {
        let first = self.entries[self.next];
        let later = self.entries[self.next + 1..].iter();
        let to_come: VecDeque<_> = later
            .take_while(|entry| entry.after.is_some())
            .map(planned)
            .collect();
        self.next += 1 + to_come.len();
        PlannedConnection {
            to_come,
            ..PlannedConnection::single(planned(&first))
        }
    }
}

fn planned(entry: &TraceEntry) -> PlannedExchange {
    PlannedExchange {
        pause: entry.after.unwrap_or(Span::ZERO),
        request_bytes: entry.request_bytes,
        response: entry.response_bytes.map_or(Response::None, Response::Bytes),
        server_delay: entry.server_delay,
    }
}

/// Model of a single greedy connection that is aborted after its lifetime.
#[derive(Debug)]
pub(crate) struct CutOff {
    lifetime: Span,
    done: bool,
}

impl CutOff {
    pub(crate) fn new(lifetime: Span) -> Self {
        Self {
            lifetime,
            done: false,
        }
    }

    fn next_arrival(&self, now: Time) -> Option<Time> {
        (!self.done).then_some(now)
    }

    fn open(&mut self) -> PlannedConnection {
        self.done = true;
        let first = PlannedExchange {
            pause: Span::ZERO,
            request_bytes: WITHOUT_END,
            response: Response::None,
            server_delay: Span::ZERO,
        };
        PlannedConnection {
            lifetime: Some(self.lifetime),
            ..PlannedConnection::single(first)
        }
    }
}
