//! One connection and the exchanges on it: requests one way, responses the other, or data one way only.
//!
//! A direction is a sender and a receiver. The client's handshake opens both, and segments of one
//! direction acknowledge those of the other: a response says that its request has arrived, and the
//! next request that the response has. Since the two sides speak in turn, what a segment acknowledges
//! follows from its number, and packets need not carry it. Where a proxy splits a direction, and where
//! a response is to have a connection of its own, each direction has its own handshake and its own
//! acknowledgements.
//!
//! A connection that both directions share opens and closes in full (RFC 9293 sections 3.5 and 3.6, figures
//! 6 and 12; `closing.rs`).

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
    /// Server delay.
    Serving,
    /// The response is being sent.
    Responding,
    /// Think time of the client.
    Pausing,
    /// All exchanges are complete; the connection is being closed.
    Closing,
    /// The connection is aborted, with what it has in flight.
    CutOff,
}

/// What the handlers of a connection act on.
pub(super) struct Context<'a> {
    pub(super) traffic_source: &'a mut TrafficSource,
    pub(super) env: &'a mut Env,
    /// Completed exchanges, until they are recorded.
    pub(super) log: &'a mut Vec<Exchange>,
    pub(super) stop: &'a mut Option<StopCondition>,
}

/// A connection. The order of fields is that in memory: every packet touches the first cache lines only.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct AppConnection {
    id: ConnectionId,
    /// Number of its source.
    pub(super) source: u32,
    stage: Stage,
    /// Whether each direction has a TCP connection of its own.
    separate_directions: bool,
    /// Whether the server responds only when the client has got the acknowledgement of its request.
    waits_for_ack: bool,
    /// Whether it opens with a three-way handshake and closes with FINs both ways.
    full: bool,
    /// When the FIN of the side that closes first leaves, and whether it waits until nothing is in flight.
    fin: Fin,
    fin_waits: bool,
    extra_delay: Option<ExtraDelay>,
    /// Segments of the current request and response.
    request: (u64, u64),
    response: (u64, u64),
    lifetime: Option<Span>,
    /// When the SYN was answered, and that answer acknowledged.
    handshake: (Option<Time>, Option<Time>),
    record: Exchange,
    planned: PlannedExchange,
    to_come: VecDeque<PlannedExchange>,
    /// Retransmissions and timeouts before the current exchange.
    repairs_before: (u64, u64),
    up: Direction,
    /// None before the first response.
    down: Option<Direction>,
}

impl AppConnection {
    /// Cache lines that every packet touches, besides those of its sender and receiver.
    pub(super) const FIRST_LINES: usize = 3;

    /// A connection that is not yet opened.
    pub(super) fn new(
        id: ConnectionId,
        source: u32,
        planned: PlannedConnection,
        traffic_source: &mut TrafficSource,
        spare: &mut QueuePool,
    ) -> Self {
        let record = traffic_source.record(planned.round_trip);
        let separate_directions = planned.separate || traffic_source.is_split();
        // ns-2's one-way agents, of which the traffic that is cut off consists, have no FIN.
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

    /// Completes a connection that is new in its place.
    pub(super) fn complete_up(&mut self, traffic_source: &mut TrafficSource) {
        let (id, number) = (self.id.on(Side::Up), self.record.connection);
        traffic_source.complete(&mut self.up, id, number);
    }

    /// Whether packets are delayed at its end points, all those at one end point in one queue.
    pub(super) fn delays_at_end(&self) -> bool {
        self.extra_delay.is_some() && !self.separate_directions
    }

    /// Prefetches what a sample reads.
    pub(super) fn prefetch_for_sample(place: &Option<Self>) {
        prefetch_within::<1, _>(place, 0);
        Direction::prefetch_for_sample(place, offset_of!(Self, up));
        Direction::prefetch_for_sample(place, offset_of!(Self, down));
    }

    /// Prefetches what the next packet that is delayed at an end point needs.
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

    /// The same of a packet that belongs to a response.
    fn prefetch_of_response(&self, end: Side) {
        let Some(down) = &self.down else {
            return;
        };
        match end {
            Side::Up => down.sender.prefetch(),
            Side::Down => {
                down.receiver.prefetch();
                // Whether it has anything outstanding that the response acknowledges.
                prefetch(&self.up.sender);
            }
        }
    }

    /// Sends the SYN, with the first request queued behind it.
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

    /// The client sends its next request.
    fn request(&mut self, env: &mut Env) {
        let bytes = self.planned.request_bytes;
        self.stage = Stage::Requesting;
        self.record.start = env.network.now;
        self.record.request_bytes = bytes;
        self.repairs_before = self.repairs();
        if let Some(down) = self.down.as_mut().filter(|_| !self.separate_directions) {
            down.acknowledged_by_data(env);
        }
        // Of a connection that both share, the server closes.
        let closes = self.closes_first() == Side::Up || self.separate_directions;
        self.request = self.send(Side::Up, bytes, closes, env);
    }

    /// One side has `bytes` to send, and `closes` if there is no exchange to come.
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

    /// The server sends its response.
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

    /// The direction of responses: over the client's connection, or one of its own that is to be opened.
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
            down.receiver.join();
        }
    }

    /// The end of a server delay, a think time or a lifetime.
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

    /// The last byte of an exchange has arrived.
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
