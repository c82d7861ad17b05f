//! One connection and what is said over it: requests one way, responses the other, or data one way
//! only.
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
mod closing;

use std::collections::VecDeque;
use std::mem::offset_of;

use longhaul_units::{Span, Time};

use super::half::{Close, Half};
use super::hold::{Hold, SpareQueues};
use super::opening::{Demand, Opening, Response};
use super::origin::Origin;
use super::slab::{Name, Side};
use super::stop::StopWatch;
use crate::measure::Exchange;
use crate::network::End;
use crate::packet::{Flags, Packet};
use crate::prefetch::{prefetch, prefetch_within};
use crate::schedule::Event;
use crate::transport::Env;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A request is on its way.
    Requesting,
    /// The server works on it.
    Serving,
    /// A response is on its way.
    Responding,
    /// The client waits before its next request.
    Pausing,
    /// All exchanges are complete; the connection is being closed.
    Closing,
    /// The connection is cut off, whatever is under way.
    CutOff,
}

/// What a dialogue works with.
pub(super) struct Context<'a> {
    pub(super) origin: &'a mut Origin,
    pub(super) env: &'a mut Env,
    /// Exchanges on their way to the recorder.
    pub(super) log: &'a mut Vec<Exchange>,
    pub(super) stop: &'a mut Option<StopWatch>,
}

/// A connection at work, in this order in memory: what every packet touches is in the first cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Dialogue {
    name: Name,
    /// Number of its source.
    pub(super) source: u32,
    stage: Stage,
    /// Whether each direction is a connection of its own.
    apart: bool,
    /// Whether the server waits until the request is acknowledged.
    separate: bool,
    /// Whether both directions open and close as one connection.
    full: bool,
    /// Whether a FIN waits until nothing is in flight, as in ns-2, and whether one does.
    fin_when_quiet: bool,
    fin_waits: bool,
    hold: Option<Hold>,
    /// Segments of the current request and response.
    request: (u64, u64),
    response: (u64, u64),
    lifetime: Option<Span>,
    /// When the SYN was answered, and that answer acknowledged.
    handshake: (Option<Time>, Option<Time>),
    record: Exchange,
    demand: Demand,
    others: VecDeque<Demand>,
    /// Repairs on the connection before the exchange.
    repairs_before: (u64, u64),
    up: Half,
    /// There is none before the first response.
    down: Option<Half>,
}

impl Dialogue {
    /// Cache lines of what every packet touches, but for what its sender and receiver do.
    pub(super) const FIRST_LINES: usize = 3;

    /// A connection under this name, not yet opened.
    pub(super) fn new(
        name: Name,
        source: u32,
        opening: Opening,
        origin: &mut Origin,
        spare: &mut SpareQueues,
    ) -> Self {
        let record = origin.record(opening.round_trip);
        let apart = opening.separate || origin.is_split();
        Self {
            name,
            source,
            up: origin.half(name.on(Side::Up)),
            down: None,
            stage: Stage::Requesting,
            demand: opening.first,
            others: opening.others,
            record,
            repairs_before: (0, 0),
            request: (1, 1),
            response: (1, 1),
            handshake: (None, None),
            hold: Hold::new(opening.round_trip, spare),
            apart,
            // ns-2's one-way agents, of which the traffic that is cut off consists, have no FIN.
            full: !apart && opening.lifetime.is_none(),
            fin_when_quiet: origin.fin_when_quiet(),
            fin_waits: false,
            separate: opening.separate,
            lifetime: opening.lifetime,
        }
    }

    /// Whether packets that come out of the network are held back, all those at one end in one queue.
    pub(super) fn holds_back(&self) -> bool {
        self.hold.is_some() && !self.apart
    }

    /// Has the processor fetch what a sample will touch.
    pub(super) fn prefetch_for_sample(place: &Option<Self>) {
        prefetch_within::<1, _>(place, 0);
        Half::prefetch_for_sample(place, offset_of!(Self, up));
        Half::prefetch_for_sample(place, offset_of!(Self, down));
    }

    /// Has the processor fetch what the next packet that is held back at an end will touch.
    pub(super) fn prefetch(&self, end: Name) {
        if let Some(hold) = &self.hold {
            hold.prefetch(end.side());
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

    /// The SYN leaves, and the first request waits for its answer.
    pub(super) fn open(&mut self, env: &mut Env) {
        self.up.sender.begin_empty();
        self.request(env);
        self.up.sender.start(env);
        if let Some(lifetime) = self.lifetime {
            let end = Event::Turn(self.name.index());
            let network = &mut env.network;
            network.schedule.push_timer(network.now + lifetime, end);
        }
    }

    /// The client sends its next request.
    fn request(&mut self, env: &mut Env) {
        let bytes = self.demand.request_bytes;
        self.stage = Stage::Requesting;
        self.record.start = env.network.now;
        self.record.request_bytes = bytes;
        self.repairs_before = self.repairs();
        if let Some(down) = self.down.as_mut().filter(|_| !self.apart) {
            down.receiver.acknowledged_by_data();
        }
        // Of a connection that both share, the server closes.
        let closes = self.closes_first() == Side::Up || self.apart;
        self.request = self.give(Side::Up, bytes, closes, env);
    }

    /// One side has `bytes` to send, and `closes` if there is no exchange to come.
    fn give(&mut self, side: Side, bytes: u64, closes: bool, env: &mut Env) -> (u64, u64) {
        let close = match closes && self.others.is_empty() {
            false => Close::No,
            true if self.full && self.fin_when_quiet => Close::WhenQuiet,
            true => Close::WithLast,
        };
        let full = self.full;
        let half = self.half_mut(side).expect("it has something to send");
        let segments = half.give(bytes, close, env);
        let waits = close == Close::WhenQuiet && !half.sender.has_closed();
        if close == Close::WithLast && !full {
            half.expect_end(segments.1);
        }
        self.fin_waits = waits;
        segments
    }

    /// The server sends its response.
    fn respond(&mut self, context: &mut Context<'_>) {
        let Context {
            origin, env, stop, ..
        } = context;
        let bytes = match self.demand.response {
            Response::Bytes(bytes) => bytes,
            Response::DrawnThere => origin.draw_response(),
            Response::None => unreachable!("nobody waits for a response"),
        };
        self.stage = Stage::Responding;
        self.record.response_bytes = Some(bytes);
        if let Some(stop) = stop {
            stop.on_response(&self.record, env.network.now);
        }
        let first = self.down.is_none();
        if first {
            self.down = Some(self.open_down(origin, env));
        }
        if !self.apart {
            self.up.receiver.acknowledged_by_data();
        }
        self.response = self.give(Side::Down, bytes, true, env);
        if first
            && self.apart
            && let Some(down) = &mut self.down
        {
            down.sender.start(env);
        }
    }

    /// The direction of responses: over the client's connection, or one of its own that is to be opened.
    fn open_down(&self, origin: &mut Origin, env: &mut Env) -> Half {
        let mut down = origin.half(self.name.on(Side::Down));
        if self.apart {
            down.sender.begin_empty();
        } else {
            let (answered, acknowledged) = self.handshake;
            let answered = answered.unwrap_or(env.network.now);
            down.sender
                .join((answered, acknowledged.unwrap_or(answered)), env);
            down.receiver.join();
        }
        down
    }

    /// A server's delay or a client's pause is over, or a connection's lifetime.
    pub(super) fn on_turn(&mut self, context: &mut Context<'_>) {
        match self.stage {
            Stage::Serving => self.respond(context),
            Stage::Pausing => self.request(context.env),
            Stage::Requesting if self.lifetime.is_some() => self.stage = Stage::CutOff,
            stage => unreachable!("nobody has a turn while {stage:?}"),
        }
    }

    fn wait(&mut self, stage: Stage, delay: Span, context: &mut Context<'_>) {
        self.stage = stage;
        if delay == Span::ZERO {
            return self.on_turn(context);
        }
        let turn = Event::Turn(self.name.index());
        let network = &mut context.env.network;
        network.schedule.push_timer(network.now + delay, turn);
    }

    /// A packet comes out of the network.
    pub(super) fn on_arrival(&mut self, packet: &Packet, end: End, context: &mut Context<'_>) {
        let data = end == End::TrafficReceiver;
        // The end node of a proxy is on neither side.
        let between = !data && Name::of(packet.flow).is_onward();
        let Some(hold) = self.hold.as_mut().filter(|_| !between) else {
            return self.receive(packet, end, context);
        };
        let network = &mut context.env.network;
        let at_server = data == (Name::of(packet.flow).side() == Side::Up);
        let side = if at_server { Side::Up } else { Side::Down };
        let now = network.now;
        hold.push(*packet, self.name.on(side), now, &mut network.schedule);
    }

    /// Packets held back at the end of a direction are due.
    pub(super) fn on_held(&mut self, end: Name, context: &mut Context<'_>) {
        let now = context.env.network.now;
        let at_server = end.side() == Side::Up;
        while let Some(packet) = self
            .hold
            .as_mut()
            .and_then(|hold| hold.pop(end.side(), now))
        {
            let data = at_server == (Name::of(packet.flow).side() == Side::Up);
            let kind = if data {
                End::TrafficReceiver
            } else {
                End::TrafficSender
            };
            self.receive(&packet, kind, context);
        }
        if let Some(hold) = &self.hold {
            hold.arm(end, &mut context.env.network.schedule);
        }
    }

    fn receive(&mut self, packet: &Packet, end: End, context: &mut Context<'_>) {
        let name = Name::of(packet.flow);
        match (end, name.side()) {
            (End::TrafficReceiver, Side::Up) => self.on_request_segment(packet, context),
            (End::TrafficReceiver, Side::Down) => self.on_response_segment(packet, context),
            _ => {
                self.on_acknowledgement(packet, name, context.env);
                if self.separate && self.stage == Stage::Serving && self.knows_of_request() {
                    self.respond(context);
                }
            }
        }
    }

    fn on_acknowledgement(&mut self, packet: &Packet, name: Name, env: &mut Env) {
        if self.full && self.up.sender.acknowledged() == 0 {
            self.acknowledge_handshake(env);
        }
        let fin_waits = self.fin_waits && name.side() == self.closes_first();
        let half = self.half_mut(name.side());
        let Some(leg) = half.and_then(|half| half.leg_mut(name)) else {
            return;
        };
        if fin_waits {
            self.fin_waits = !leg.on_packet_before_fin(packet, env);
        } else {
            leg.sender.on_packet(packet, env);
        }
    }

    /// Whether the client knows that its request has arrived.
    fn knows_of_request(&self) -> bool {
        self.up.sender.acknowledged() >= self.request.1
    }

    /// A segment reaches the server.
    fn on_request_segment(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.env.network.now;
        if packet.flags.has(Flags::ACK) {
            // The last packet of the handshake has no data.
            self.handshake.1.get_or_insert(now);
            return;
        }
        if packet.seq == 0 {
            self.handshake.0.get_or_insert(now);
        } else {
            self.handshake.1.get_or_insert(now);
        }
        // Not so late that it repeats what is being answered.
        if let Some(down) = self.down.as_mut().filter(|_| !self.apart)
            && self.stage == Stage::Requesting
            && packet.seq >= self.request.0
        {
            down.acknowledge_all(context.env);
        }
        self.up.far_receiver().on_segment(packet, context.env);
        if self.stage == Stage::Requesting && self.up.has_arrived(self.request.1) {
            self.record.requested = Some(now);
            match self.demand.response {
                Response::None => self.complete(context),
                // Until its acknowledgement is back. A proxy may have given it before.
                _ if self.separate && !self.knows_of_request() => self.stage = Stage::Serving,
                _ => self.wait(Stage::Serving, self.demand.server_delay, context),
            }
        }
        if self.stage == Stage::Closing && self.full {
            self.on_closing_segment(packet, Side::Up, context);
        }
    }

    /// A segment reaches the client.
    fn on_response_segment(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let Some(down) = &mut self.down else {
            return;
        };
        if self.stage == Stage::Responding && packet.seq >= self.response.0 {
            if !self.apart {
                self.up.acknowledge_all(context.env);
            }
            self.record.answered.get_or_insert(context.env.network.now);
        }
        down.far_receiver().on_segment(packet, context.env);
        if self.stage == Stage::Responding && down.has_arrived(self.response.1) {
            self.complete(context);
        }
        if self.stage == Stage::Closing && self.full {
            self.on_closing_segment(packet, Side::Down, context);
        }
    }

    /// All of an exchange has arrived.
    fn complete(&mut self, context: &mut Context<'_>) {
        let now = context.env.network.now;
        self.record.end = Some(now);
        let record = self.record_so_far();
        context.log.push(record);
        context.origin.counters.exchanges += 1;
        let schedule = &mut context.env.network.schedule;
        if let Some(next) = context.origin.generator.after_exchange(now) {
            schedule.push_timer(next, Event::Traffic(self.source));
        }
        if let Some(stop) = context.stop
            && stop.on_complete(&record)
        {
            schedule.push_observation(now, Event::End);
        }
        let Some(next) = self.others.pop_front() else {
            self.stage = Stage::Closing;
            return;
        };
        self.demand = next;
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
