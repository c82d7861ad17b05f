//! Requests and responses whose times and sizes are drawn, each from a stream of its own: whatever the
//! protocol, the same seed asks for the same (spec 001b B.18).

use longhaul_units::Time;

use super::dialogue::{Demand, Opening, Response};
use crate::config::{Binding, Distribution, Requests};
use crate::random::{Stream, Streams};

/// A model at work.
#[derive(Debug)]
pub(crate) struct RequestModel {
    binding: Binding,
    per_connection: u32,
    arrivals: Process,
    request: Process,
    response: Process,
    server_delay: Process,
    round_trip: Process,
    pause: Process,
}

/// Numbers that follow one another.
#[derive(Debug)]
struct Process {
    distribution: Distribution,
    stream: Stream,
}

impl RequestModel {
    /// Its streams are named below `path`.
    pub(crate) fn new(config: &Requests, path: &str, streams: &Streams) -> Self {
        let process = |part: &str, distribution: &Distribution| Process {
            distribution: distribution.clone(),
            stream: streams.component(&format!("{path}/{part}")),
        };
        Self {
            binding: config.binding,
            per_connection: config.per_connection,
            arrivals: process("arrivals", &config.arrivals),
            request: process("request", &config.request),
            response: process("response", &config.response),
            server_delay: process("server_delay", &config.server_delay),
            round_trip: process("round_trip", &config.round_trip),
            pause: process("think", &config.think),
        }
    }

    pub(super) fn next_arrival(&mut self, now: Time) -> Time {
        let Process {
            distribution,
            stream,
        } = &mut self.arrivals;
        now + stream.draw_span(distribution)
    }

    pub(super) fn open(&mut self) -> Opening {
        let first = self.demand();
        Opening {
            first,
            others: (1..self.per_connection).map(|_| self.demand()).collect(),
            round_trip: self
                .round_trip
                .stream
                .draw_span(&self.round_trip.distribution),
        }
    }

    fn demand(&mut self) -> Demand {
        let response = match self.binding {
            Binding::WithRequest => Response::Bytes(self.draw_response()),
            Binding::OnArrival => Response::DrawnThere,
        };
        Demand {
            pause: self.pause.stream.draw_span(&self.pause.distribution),
            request_bytes: self.request.stream.draw_count(&self.request.distribution),
            response,
            server_delay: self
                .server_delay
                .stream
                .draw_span(&self.server_delay.distribution),
        }
    }

    pub(super) fn draw_response(&mut self) -> u64 {
        self.response.stream.draw_count(&self.response.distribution)
    }
}
