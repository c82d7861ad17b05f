//! What a source asks for, and when.

use std::collections::VecDeque;
use std::sync::Arc;

use longhaul_units::{Span, Time};

use super::dialogue::{Demand, Opening, Response};
use super::requests::RequestModel;
use crate::config::TraceEntry;

/// A source's plan. Each has one arrival ahead of it at most.
#[derive(Debug)]
pub(crate) enum Generator {
    Requests(Box<RequestModel>),
    Trace(Trace),
}

impl Generator {
    /// When the source opens its next connection after `now`, if it does.
    pub(super) fn next_arrival(&mut self, now: Time) -> Option<Time> {
        match self {
            Self::Requests(model) => Some(model.next_arrival(now)),
            Self::Trace(trace) => trace.next_arrival(),
        }
    }

    /// The connection whose time has come.
    pub(super) fn open(&mut self) -> Opening {
        match self {
            Self::Requests(model) => model.open(),
            Self::Trace(trace) => trace.open(),
        }
    }

    pub(super) fn draw_response(&mut self) -> u64 {
        match self {
            Self::Requests(model) => model.draw_response(),
            Self::Trace(_) => unreachable!("a trace says it beforehand"),
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
        Opening {
            first: Demand {
                pause: Span::ZERO,
                request_bytes: entry.request_bytes,
                response: entry.response_bytes.map_or(Response::None, Response::Bytes),
                server_delay: entry.server_delay,
            },
            others: VecDeque::new(),
            round_trip: Span::ZERO,
        }
    }
}
