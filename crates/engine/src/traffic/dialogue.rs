//! One connection and what is said over it: requests one way, responses the other, or data one way
//! only.
//!
//! A direction is a sender and a receiver. The client's handshake opens both, and segments of one
//! direction acknowledge those of the other: a response says that its request has arrived, and the
//! next request that the response has. Since the two sides speak in turn, what a segment acknowledges
//! follows from its number, and packets need not carry it.

mod account;

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::hold::Hold;
use super::opening::{Demand, Opening, Response};
use super::origin::{Half, Origin};
use super::slab::{Name, Side};
use super::stop::StopWatch;
use crate::measure::Exchange;
use crate::network::End;
use crate::packet::{Flags, Packet, SackHandle};
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
    /// Everything has arrived; its acknowledgement has not yet.
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

/// A connection at work.
#[derive(Debug)]
pub(super) struct Dialogue {
    name: Name,
    /// Number of its source.
    pub(super) source: u32,
    up: Half,
    /// There is none before the first response.
    down: Option<Half>,
    stage: Stage,
    demand: Demand,
    others: VecDeque<Demand>,
    record: Exchange,
    /// Repairs on the connection before the exchange.
    repairs_before: (u64, u64),
    /// Segments of the current request and response.
    request: (u64, u64),
    response: (u64, u64),
    /// When the SYN was answered, and that answer acknowledged.
    handshake: (Option<Time>, Option<Time>),
    hold: Option<Box<Hold>>,
    separate: bool,
    lifetime: Option<Span>,
}

impl Dialogue {
    /// A connection under this name, not yet opened.
    pub(super) fn new(name: Name, source: u32, opening: Opening, origin: &mut Origin) -> Self {
        let record = origin.record(opening.round_trip);
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
            hold: Hold::new(opening.round_trip),
            separate: opening.separate,
            lifetime: opening.lifetime,
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
        if let Some(down) = &mut self.down {
            down.receiver.acknowledged_by_data();
        }
        let sender = &mut self.up.sender;
        self.request.0 = sender.end();
        if self.demand.response == Response::None || self.separate {
            self.request.1 = sender.append_last(bytes, env);
            self.up.receiver.expect_end(self.request.1);
        } else {
            self.request.1 = sender.append(bytes, env);
        }
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
        if self.separate {
            return self.respond_separately(bytes, origin, env);
        }
        if self.down.is_none() {
            let mut down = origin.half(self.name.on(Side::Down));
            let (answered, acknowledged) = self.handshake;
            let answered = answered.unwrap_or(env.network.now);
            down.sender
                .join((answered, acknowledged.unwrap_or(answered)), env);
            down.receiver.join();
            self.down = Some(down);
        }
        let down = self.down.as_mut().expect("just made");
        self.up.receiver.acknowledged_by_data();
        self.response.0 = down.sender.end();
        if self.others.is_empty() {
            self.response.1 = down.sender.append_last(bytes, env);
            down.receiver.expect_end(self.response.1);
        } else {
            self.response.1 = down.sender.append(bytes, env);
        }
    }

    /// The server opens a connection of its own for its response.
    fn respond_separately(&mut self, bytes: u64, origin: &mut Origin, env: &mut Env) {
        let mut down = origin.half(self.name.on(Side::Down));
        down.sender.begin_empty();
        self.response.1 = down.sender.append_last(bytes, env);
        down.receiver.expect_end(self.response.1);
        down.sender.start(env);
        self.down = Some(down);
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
        let Some(hold) = &mut self.hold else {
            return self.receive(packet, end, context);
        };
        let network = &mut context.env.network;
        let data = end == End::TrafficReceiver;
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
        match (end, Name::of(packet.flow).side()) {
            (End::TrafficReceiver, Side::Up) => self.on_request_segment(packet, context),
            (End::TrafficReceiver, Side::Down) => self.on_response_segment(packet, context),
            (_, Side::Up) => {
                self.up.sender.on_packet(packet, context.env);
                let known = self.up.sender.acknowledged() >= self.request.1;
                if self.separate && self.stage == Stage::Serving && known {
                    self.respond(context);
                }
            }
            (_, Side::Down) => {
                if let Some(down) = &mut self.down {
                    down.sender.on_packet(packet, context.env);
                }
            }
        }
    }

    /// A segment reaches the server.
    fn on_request_segment(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let now = context.env.network.now;
        if packet.seq == 0 {
            self.handshake.0.get_or_insert(now);
        } else {
            self.handshake.1.get_or_insert(now);
        }
        // Not so late that it repeats what is being answered.
        if let Some(down) = &mut self.down
            && self.stage == Stage::Requesting
            && packet.seq >= self.request.0
        {
            down.acknowledge_all(context.env);
        }
        self.up.receiver.on_segment(packet, context.env);
        if self.stage == Stage::Requesting && self.up.receiver.next() >= self.request.1 {
            self.record.requested = Some(now);
            match self.demand.response {
                Response::None => self.complete(context),
                // Until its acknowledgement is back.
                _ if self.separate => self.stage = Stage::Serving,
                _ => self.wait(Stage::Serving, self.demand.server_delay, context),
            }
        }
    }

    /// A segment reaches the client.
    fn on_response_segment(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let Some(down) = &mut self.down else {
            return;
        };
        if self.stage == Stage::Responding && packet.seq >= self.response.0 {
            if !self.separate {
                self.up.acknowledge_all(context.env);
            }
            self.record.answered.get_or_insert(context.env.network.now);
        }
        down.receiver.on_segment(packet, context.env);
        if self.stage == Stage::Responding && down.receiver.next() >= self.response.1 {
            self.complete(context);
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

impl Half {
    /// A segment of the other direction says that all of this one has arrived.
    fn acknowledge_all(&mut self, env: &mut Env) {
        if self.sender.outstanding() == 0 {
            return;
        }
        let packet = Packet {
            time: env.network.now,
            ns2_s: 0.0,
            seq: self.sender.end(),
            stamp: self.receiver.stamp(),
            flow: 0,
            route: 0,
            sack: SackHandle::NONE,
            bytes: 0,
            flags: Flags::ACK,
        };
        self.sender.on_packet(&packet, env);
    }
}
