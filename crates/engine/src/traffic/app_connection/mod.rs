//! A connection and the exchanges on it: requests in one direction and responses in the other, or data in one direction
//! only.
//!
//! A direction consists of a sender and a receiver. The client's handshake opens both directions. Segments of one
//! direction acknowledge segments of the other: a response acknowledges its request, and the next request acknowledges
//! the response. The two sides send alternately. A segment's number therefore determines the data that it acknowledges,
//! and packets need no field for it. Each direction has a separate handshake and separate acknowledgements if a proxy
//! splits one of them, or if a response has a separate connection.
//!
//! A connection that both directions share opens and closes completely (RFC 9293 sections 3.5 and 3.6, figures 6 and
//! 12; `closing.rs`), unless it has a lifetime, after which it is aborted.

mod account;
mod arrivals;
mod closing;

use std::collections::VecDeque;
use std::mem::offset_of;

use longhaul_units::{Span, Time};

use super::connection_slab::{ConnectionId, Side};
use super::direction::Direction;
use super::extra_delay::{ExtraDelay, QueuePool};
use super::planned::{PlannedConnection, PlannedExchange, Response};
use super::stop_condition::StopCondition;
use super::traffic_source::TrafficSource;
use crate::config::Fin;
use crate::measure::Exchange;
use crate::prefetch::{prefetch, prefetch_within};
use crate::schedule::Event;
use crate::transport::Env;

/// State of the exchange in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The request is being sent.
    Requesting,
    /// The request has arrived, and the response has not begun: the server delay is not over, or the server waits until
    /// the client knows that its request has arrived.
    Serving,
    /// The response is being sent.
    Responding,
    /// The client waits before its next request (think time).
    Pausing,
    /// All exchanges are complete; the connection is being closed.
    Closing,
    /// The connection is aborted, with data still in flight.
    CutOff,
}

/// State that the handlers of a connection use.
pub(super) struct Context<'a> {
    pub(super) traffic_source: &'a mut TrafficSource,
    pub(super) env: &'a mut Env,
    /// Completed exchanges, until they are recorded.
    pub(super) log: &'a mut Vec<Exchange>,
    pub(super) stop: &'a mut Option<StopCondition>,
}

/// A connection that a traffic source has opened. The order of fields in memory is fixed: apart from senders and
/// receivers, most packets need only the first cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct AppConnection {
    id: ConnectionId,
    /// Number of the source that has opened the connection.
    pub(super) source: u32,
    stage: Stage,
    /// True if each direction has a separate TCP connection.
    separate_directions: bool,
    /// True if the server responds only once the client knows that its request has arrived.
    waits_for_ack: bool,
    /// True if the connection opens with a three-way handshake and closes with FINs both ways.
    full: bool,
    /// Rule for the FIN of the side that closes first.
    fin: Fin,
    /// True if the FIN of the side that closes first waits until nothing is in flight.
    fin_waits: bool,
    extra_delay: Option<ExtraDelay>,
    /// First segment of the current request, and one past its last.
    request: (u64, u64),
    /// First segment of the current response, and one past its last.
    response: (u64, u64),
    lifetime: Option<Span>,
    /// Arrival times, at the server, of the SYN and of the first packet after it; `None` before.
    handshake: (Option<Time>, Option<Time>),
    record: Exchange,
    planned: PlannedExchange,
    to_come: VecDeque<PlannedExchange>,
    /// Numbers of retransmissions and of timeouts before the current exchange.
    repairs_before: (u64, u64),
    up: Direction,
    /// Direction of the responses; `None` before the first response or, without responses, before the server's FIN.
    down: Option<Direction>,
}

impl AppConnection {
    /// Number of cache lines of a connection that every packet uses, without the lines of its senders and receivers.
    pub(super) const FIRST_LINES: usize = 3;

    /// Creates a connection that is not opened yet.
    pub(super) fn new(
        id: ConnectionId,
        source: u32,
        planned: PlannedConnection,
        traffic_source: &mut TrafficSource,
        spare: &mut QueuePool,
    ) -> Self {
        let record = traffic_source.record(planned.round_trip);
        let separate_directions = planned.separate || traffic_source.is_split();
        // Connections that are cut off are ns-2's one-way agents, which send no FIN.
        let full = !separate_directions && planned.lifetime.is_none();
        Self {
            id,
            source,
            up: traffic_source.direction(id.on(Side::Up)),
            down: None,
            stage: Stage::Requesting,
            planned: planned.first,
            to_come: planned.to_come,
            record,
            repairs_before: (0, 0),
            request: (1, 1),
            response: (1, 1),
            handshake: (None, None),
            extra_delay: ExtraDelay::new(planned.round_trip, spare),
            separate_directions,
            full,
            fin: if full {
                traffic_source.tcp.fin
            } else {
                Fin::WithData
            },
            fin_waits: false,
            waits_for_ack: planned.separate,
            lifetime: planned.lifetime,
        }
    }

    /// Adds optional parts, such as the leg after a proxy, to the connection's direction from client to server.
    pub(super) fn complete_up(&mut self, traffic_source: &mut TrafficSource) {
        let (id, number) = (self.id.on(Side::Up), self.record.connection);
        traffic_source.complete(&mut self.up, id, number);
    }

    /// Returns true if the endpoints delay arriving packets, and both directions share one TCP connection.
    pub(super) fn delays_at_end(&self) -> bool {
        self.extra_delay.is_some() && !self.separate_directions
    }

    /// Prefetches the memory that a sample of the connection reads.
    pub(super) fn prefetch_for_sample(place: &Option<Self>) {
        prefetch_within::<1, _>(place, 0);
        Direction::prefetch_for_sample(place, offset_of!(Self, up));
        Direction::prefetch_for_sample(place, offset_of!(Self, down));
    }

    /// Prefetches the memory for the next packet delayed at an endpoint.
    pub(super) fn prefetch(&self, end: ConnectionId) {
        if let Some(extra_delay) = &self.extra_delay {
            extra_delay.prefetch(end.side());
        }
        match self.stage {
            Stage::Responding | Stage::Closing => self.prefetch_of_response(end.side()),
            _ if end.side() == Side::Up => self.up.receiver.prefetch(),
            _ => self.up.sender.prefetch(),
        }
    }

    /// Prefetches the memory for the next packet of a response at an endpoint of the connection.
    fn prefetch_of_response(&self, end: Side) {
        let Some(down) = &self.down else {
            return;
        };
        match end {
            Side::Up => down.sender.prefetch(),
            Side::Down => {
                down.receiver.prefetch();
                // The fields of the sender show whether the response acknowledges anything.
                prefetch(&self.up.sender);
            }
        }
    }

    /// Sends the SYN, with the first request queued behind it. Schedules the end of the connection's lifetime, if any.
    pub(super) fn open(&mut self, env: &mut Env) {
        self.up.sender.begin_empty();
        self.request(env);
        self.up.sender.start(env);
        if let Some(lifetime) = self.lifetime {
            let end = Event::Turn(self.id.index());
            let network = &mut env.network;
            network.schedule.push_timer(network.now + lifetime, end);
        }
    }

    /// Sends the next request of the client.
    fn request(&mut self, env: &mut Env) {
        let bytes = self.planned.request_bytes;
        self.stage = Stage::Requesting;
        self.record.start = env.network.now;
        self.record.request_bytes = bytes;
        self.repairs_before = self.repairs();
        if let Some(down) = self.down.as_mut().filter(|_| !self.separate_directions) {
            down.acknowledged_by_data(env);
        }
        // If both directions share a connection, the server closes first, unless the client gets no response.
        let closes = self.closes_first() == Side::Up || self.separate_directions;
        self.request = self.send(Side::Up, bytes, closes, env);
    }

    /// Sends `bytes` from `side`, and then closes this side if `closes` is true and no exchange follows. Returns the
    /// range of segments of these bytes: the first, and one past the last.
    fn send(&mut self, side: Side, bytes: u64, closes: bool, env: &mut Env) -> (u64, u64) {
        let full = self.full;
        let fin = (closes && self.to_come.is_empty()).then_some(self.fin);
        let direction = self.direction_mut(side).expect("it has something to send");
        let segments = direction.send(bytes, fin, env);
        let waits = fin.is_some() && !direction.sender.has_closed();
        if fin.is_some() && !full {
            direction.expect_fin_before(segments.1);
        }
        self.fin_waits = waits;
        segments
    }

    /// Sends the response of the server. Draws the response's size if it is not yet known.
    fn respond(&mut self, context: &mut Context<'_>) {
        let Context {
            traffic_source,
            env,
            stop,
            ..
        } = context;
        let bytes = match self.planned.response {
            Response::Bytes(bytes) => bytes,
            Response::DrawnByServer => traffic_source.draw_response(),
            Response::None => unreachable!("no response is expected"),
        };
        self.stage = Stage::Responding;
        self.record.response_bytes = Some(bytes);
        if let Some(stop) = stop {
            stop.on_response(&self.record, env.network.now);
        }
        let first = self.down.is_none();
        if first {
            self.open_down(traffic_source, env);
        }
        if !self.separate_directions {
            self.up.acknowledged_by_data(env);
        }
        self.response = self.send(Side::Down, bytes, true, env);
        if first
            && self.separate_directions
            && let Some(down) = &mut self.down
        {
            down.sender.start(&mut **env);
        }
    }

    /// Opens the direction of responses: over the client's connection, or over a separate one.
    fn open_down(&mut self, traffic_source: &mut TrafficSource, env: &mut Env) {
        let id = self.id.on(Side::Down);
        let down = self.down.insert(traffic_source.direction(id));
        traffic_source.complete(down, id, self.record.connection);
        if self.separate_directions {
            down.sender.begin_empty();
        } else {
            let (answered, acknowledged) = self.handshake;
            let answered = answered.unwrap_or(env.network.now);
            down.sender
                .join((answered, acknowledged.unwrap_or(answered)), env);
            down.receiver.join(answered);
        }
    }

    /// Processes the end of a server delay, a think time or the lifetime of the connection.
    pub(super) fn on_turn(&mut self, context: &mut Context<'_>) {
        match self.stage {
            Stage::Serving => self.respond(context),
            Stage::Pausing => self.request(context.env),
            Stage::Requesting if self.lifetime.is_some() => self.stage = Stage::CutOff,
            stage => unreachable!("no timer runs in {stage:?}"),
        }
    }

    fn wait(&mut self, stage: Stage, delay: Span, context: &mut Context<'_>) {
        self.stage = stage;
        if delay == Span::ZERO {
            return self.on_turn(context);
        }
        let turn = Event::Turn(self.id.index());
        let network = &mut context.env.network;
        network.schedule.push_timer(network.now + delay, turn);
    }

    /// Completes an exchange: its last byte has arrived.
    fn complete(&mut self, context: &mut Context<'_>) {
        let now = context.env.network.now;
        self.record.end = Some(now);
        let record = self.record_so_far();
        context.log.push(record);
        context.traffic_source.counters.exchanges += 1;
        let schedule = &mut context.env.network.schedule;
        if let Some(next) = context.traffic_source.generator.after_exchange(now) {
            schedule.push_timer(next, Event::Traffic(self.source));
        }
        if let Some(stop) = context.stop
            && stop.on_complete(&record)
        {
            schedule.push_observation(now, Event::End);
        }
        let Some(next) = self.to_come.pop_front() else {
            self.stage = Stage::Closing;
            return;
        };
        self.planned = next;
        self.record = Exchange {
            requested: None,
            answered: None,
            end: None,
            response_bytes: None,
            ..self.record
        };
        self.wait(Stage::Pausing, next.pause, context);
    }
}
