//! Requests and responses with random times and sizes. Each quantity has a separate random stream: a seed gives the
//! same exchanges with every protocol, except with ns-2's shared generator or with responses drawn by the server.

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::packmime::{self, Gaussian};
use super::planned::{PlannedConnection, PlannedExchange, Response};
use crate::config::{self, Binding, Distribution, Process};
use crate::random::{Stream, Streams};

/// Model of a source of requests and responses.
#[derive(Debug)]
pub(crate) struct RequestModel {
    binding: Binding,
    per_connection: Numbers,
    /// Maximum number of exchanges on a connection.
    most_per_connection: u64,
    arrivals: Arrivals,
    request: Numbers,
    response: Numbers,
    server_delay: Numbers,
    round_trip: Numbers,
    pause: Numbers,
}

/// Times at which connections are opened.
#[derive(Debug)]
struct Arrivals {
    intervals: Numbers,
    /// Intervals between openings of connections, drawn in advance.
    coming: VecDeque<Span>,
    /// Time up to which the arrivals are known: the end of the last interval in `coming`. Zero before the first
    /// interval begins, or if no intervals are drawn in advance.
    known_until: Time,
}

impl Arrivals {
    /// Number of intervals that are drawn in advance.
    const AHEAD: usize = 64;

    /// Returns the time of the next arrival; the last one was at `now`.
    fn next(&mut self, now: Time) -> Time {
        let Some(next) = self.coming.pop_front() else {
            return now + self.intervals.span();
        };
        if self.known_until == Time::ZERO {
            self.known_until = self.coming.iter().fold(now + next, |sum, &span| sum + span);
        }
        let last = self.intervals.span();
        self.coming.push_back(last);
        self.known_until += last;
        now + next
    }
}

/// A sequence of random sizes or time intervals.
#[derive(Debug)]
enum Numbers {
    Independent(Distribution, Stream),
    PackMime(Box<packmime::Part>),
}

impl Numbers {
    fn size(&mut self) -> u64 {
        match self {
            Self::Independent(distribution, stream) => stream.draw_count(distribution),
            // Sizes are rounded down to whole bytes, as in ns-2.
            Self::PackMime(part) => (part.next() as u64).max(1),
        }
    }

    /// Returns true if the sequence draws from a generator that other sequences use, too.
    fn share_a_generator(&self) -> bool {
        match self {
            Self::Independent(_, stream) => stream.is_shared(),
            Self::PackMime(part) => part.is_shared(),
        }
    }

    /// Returns the Gaussian series from which the values are computed, if any.
    fn series(&mut self) -> Vec<&mut Gaussian> {
        match self {
            Self::Independent(..) => Vec::new(),
            Self::PackMime(part) => part.series(),
        }
    }

    fn span(&mut self) -> Span {
        match self {
            Self::Independent(distribution, stream) => stream.draw_span(distribution),
            Self::PackMime(part) => Span::from_secs_f64(part.next()),
        }
    }
}

impl RequestModel {
    /// Creates the model; the names of its random streams begin with `path`.
    pub(crate) fn new(config: &config::Requests, path: &str, streams: &Streams) -> Self {
        let stream = |part: &str| streams.component(&format!("{path}/{part}"));
        let independent = |part: &str, distribution: &Distribution| {
            Numbers::Independent(distribution.clone(), stream(part))
        };
        let numbers = |part: &str, process: &Process| match process {
            Process::Independent(distribution) => independent(part, distribution),
            Process::PackMime(model) => {
                Numbers::PackMime(Box::new(packmime::Part::new(model, stream)))
            }
        };
        Self {
            binding: config.binding,
            per_connection: independent("requests_per_connection", &config.per_connection),
            most_per_connection: match &config.per_connection {
                Distribution::Constant(count) => *count as u64,
                _ => u64::from(u32::MAX),
            },
            arrivals: Arrivals {
                intervals: numbers("arrivals", &config.arrivals),
                coming: VecDeque::new(),
                known_until: Time::ZERO,
            },
            request: numbers("request", &config.request),
            response: numbers("response", &config.response),
            server_delay: independent("server_delay", &config.server_delay),
            round_trip: numbers("round_trip", &config.round_trip),
            pause: independent("think", &config.think),
        }
    }

    /// Returns the Gaussian series of all of the model's random quantities.
    pub(super) fn series(&mut self) -> impl Iterator<Item = &mut Gaussian> {
        let Self {
            arrivals,
            request,
            response,
            round_trip,
            ..
        } = self;
        let numbers = [&mut arrivals.intervals, request, response, round_trip];
        numbers.into_iter().flat_map(Numbers::series)
    }

    /// Returns true if connections may have extra round-trip times.
    pub(super) fn delays_at_end(&self) -> bool {
        let none = Distribution::Constant(0.0);
        !matches!(&self.round_trip, Numbers::Independent(all, _) if *all == none)
    }

    pub(super) fn next_arrival(&mut self, now: Time) -> Time {
        self.arrivals.next(now)
    }

    /// Draws the times of many arrivals in advance, before the run starts. Does nothing if other sources use the same
    /// generator, since their random numbers would change.
    pub(super) fn draw_arrivals_ahead(&mut self) {
        let Arrivals {
            intervals, coming, ..
        } = &mut self.arrivals;
        if !intervals.share_a_generator() {
            coming.extend((0..Arrivals::AHEAD).map(|_| intervals.span()));
        }
    }

    /// Returns the time up to which the openings of connections have been drawn in advance, and the maximum total
    /// number of exchanges on the connections that will open by this time.
    pub(super) fn known_arrivals(&self) -> (Time, u64) {
        let Arrivals {
            coming,
            known_until,
            ..
        } = &self.arrivals;
        // The number includes the connection whose event is in the schedule.
        let connections = 1 + coming.len() as u64;
        (*known_until, connections * self.most_per_connection)
    }

    pub(super) fn open(&mut self) -> PlannedConnection {
        let first = self.demand();
        let count = self.per_connection.size();
        PlannedConnection {
            to_come: (1..count).map(|_| self.demand()).collect(),
            round_trip: self.round_trip.span(),
            ..PlannedConnection::single(first)
        }
    }

    fn demand(&mut self) -> PlannedExchange {
        let response = match self.binding {
            Binding::WithRequest => Response::Bytes(self.draw_response()),
            Binding::OnArrival => Response::DrawnByServer,
        };
        PlannedExchange {
            pause: self.pause.span(),
            request_bytes: self.request.size(),
            response,
            server_delay: self.server_delay.span(),
        }
    }

    pub(super) fn draw_response(&mut self) -> u64 {
        self.response.size()
    }
}
