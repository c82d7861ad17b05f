//! What a source asks for, and when.

use std::sync::Arc;

use longhaul_units::{Span, Time};

use super::opening::{Demand, Opening, Response};
use super::packmime::Gaussian;
use super::requests::RequestModel;
use super::session::Session;
use crate::config::TraceEntry;
use crate::random::WITHOUT_END;

/// A source's plan. Each has one arrival ahead of it at most.
#[derive(Debug)]
pub(crate) enum Generator {
    Requests(Box<RequestModel>),
    Web(Box<Session>),
    CutOff(CutOff),
    Trace(Trace),
}

impl Generator {
    /// Gaussian series of sources of requests that have not begun.
    pub(super) fn series<'a>(
        all: impl Iterator<Item = &'a mut Self>,
    ) -> impl Iterator<Item = &'a mut Gaussian> {
        all.filter_map(|generator| match generator {
            Self::Requests(model) => Some(model.series()),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => None,
        })
        .flatten()
    }

    /// When the source opens its next connection after `now`, if it does.
    pub(super) fn next_arrival(&mut self, now: Time) -> Option<Time> {
        match self {
            Self::Requests(model) => Some(model.next_arrival(now)),
            Self::Web(session) => session.next_arrival(now),
            Self::CutOff(once) => once.next_arrival(now),
            Self::Trace(trace) => trace.next_arrival(),
        }
    }

    /// Before the start: knows the times of many arrivals before they come, if it can.
    pub(super) fn foresee(&mut self) {
        if let Self::Requests(model) = self {
            model.foresee();
        }
    }

    /// Up to what time all arrivals are known, and how many exchanges there are on the connections that
    /// they will open.
    pub(super) fn foreseen(&self) -> (Time, u64) {
        match self {
            Self::Requests(model) => model.foreseen(),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => (Time::ZERO, 0),
        }
    }

    /// The connection whose time has come.
    pub(super) fn open(&mut self) -> Opening {
        match self {
            Self::Requests(model) => model.open(),
            Self::Web(session) => session.open(),
            Self::CutOff(once) => once.open(),
            Self::Trace(trace) => trace.open(),
        }
    }

    /// Whether connections may have round trips beyond that of the network.
    pub(super) fn holds_back(&self) -> bool {
        match self {
            Self::Requests(model) => model.holds_back(),
            Self::Web(_) | Self::CutOff(_) | Self::Trace(_) => false,
        }
    }

    pub(super) fn draw_response(&mut self) -> u64 {
        match self {
            Self::Requests(model) => model.draw_response(),
            _ => unreachable!("others say it beforehand"),
        }
    }

    /// When the source opens another connection because an exchange is complete, if it does.
    pub(super) fn after_exchange(&mut self, now: Time) -> Option<Time> {
        match self {
            Self::Web(session) => session.after_exchange(now),
            Self::Requests(_) | Self::CutOff(_) | Self::Trace(_) => None,
        }
    }
}

/// Exchanges known beforehand.
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

    fn open(&mut self) -> Opening {
        let entry = self.entries[self.next];
        self.next += 1;
        Opening::single(Demand {
            pause: Span::ZERO,
            request_bytes: entry.request_bytes,
            response: entry.response_bytes.map_or(Response::None, Response::Bytes),
            server_delay: entry.server_delay,
        })
    }
}

/// One greedy connection that is cut off.
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

    fn open(&mut self) -> Opening {
        self.done = true;
        let first = Demand {
            pause: Span::ZERO,
            request_bytes: WITHOUT_END,
            response: Response::None,
            server_delay: Span::ZERO,
        };
        Opening {
            lifetime: Some(self.lifetime),
            ..Opening::single(first)
        }
    }
}
