//! Who asks for what, and when: sources that open connections as they go, and the dialogues on them.
//!
//! A connection costs memory only while it lives. Its ends are not known when the simulation begins,
//! so that nothing is handed to them ahead of time (`network/lookahead.rs`).

mod dialogue;
mod generator;
mod half;
mod hold;
mod messages;
mod opening;
mod origin;
mod packmime;
mod requests;
mod session;
mod slab;
mod stop;

use std::sync::Arc;

use longhaul_congestion::Controller;
use longhaul_units::{Span, Time};

use self::dialogue::{Context, Dialogue};
pub(crate) use self::generator::{CutOff, Generator, Trace};
use self::hold::SpareQueues;
pub(crate) use self::messages::MessageSource;
pub(crate) use self::origin::{Onward, Origin, Way, Ways};
use self::packmime::begin_together;
pub(crate) use self::requests::RequestModel;
pub(crate) use self::session::Session;
use self::slab::{Name, Side, Slab};
pub(crate) use self::stop::StopWatch;
use crate::config::Tcp;
use crate::measure::{Exchange, FlowCounters};
use crate::network::{Carrier, End};
use crate::packet::Packet;
use crate::prefetch::prefetch_lines;
use crate::random::Stream;
use crate::schedule::{Event, Schedule};
use crate::transport::Env;
use crate::transport::tcp::{Receiver, Sender};

/// So many connections do not fit into a cache of a megabyte.
const CROWD: usize = 256;

/// All sources, and all connections that they have opened.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    origins: Vec<Origin>,
    dialogues: Slab<Dialogue>,
    spare: SpareQueues,
    /// Exchanges that are over, on their way to the recorder.
    pub(crate) log: Vec<Exchange>,
    /// Ends the run early, if anything does.
    stop: Option<StopWatch>,
    /// Connections not opened because there were too many.
    refused: u64,
}

/// The two legs of one direction of a connection that a proxy splits.
pub(crate) struct Legs<'a> {
    pub(crate) sender: &'a Sender,
    /// At the proxy's start node.
    pub(crate) receiver: &'a mut Receiver,
    /// At its end node.
    pub(crate) onward: &'a mut Sender,
}

/// One end of a captured connection.
pub(crate) struct Captured<'a> {
    pub(crate) flow: u32,
    /// Number among the flow's.
    pub(crate) connection: u64,
    /// Whether the flow's second node has opened it.
    pub(crate) opened_by_receiver: bool,
    /// Whether the packet goes from the flow's second node to its first.
    pub(crate) reverse: bool,
    /// The sender of the direction that the packet belongs to.
    pub(crate) sender: &'a Sender,
    /// Position up to which the sender of a segment has received the other direction.
    pub(crate) acknowledgement: u64,
}

impl Traffic {
    /// No sources yet.
    pub(crate) fn new(stop: Option<StopWatch>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Whether packets and events with this index belong to traffic.
    #[inline]
    pub(crate) fn is_own(index: u32) -> bool {
        Name::is_one(index)
    }

    /// Adds a source; returns its number.
    pub(crate) fn add(
        &mut self,
        (flow, name): (u32, &str),
        ways: Ways,
        (tcp, controller): (Arc<Tcp>, Controller),
        stream: Stream,
        generator: Generator,
        answers: bool,
    ) -> usize {
        self.origins.push(Origin {
            flow,
            name: name.to_string(),
            ways,
            tcp,
            controller,
            stream,
            generator,
            answers,
            running: false,
            counters: FlowCounters::default(),
        });
        self.origins.len() - 1
    }

    /// All sources are there: what many of them have to work out before they begin is worked out together.
    pub(crate) fn complete(&mut self) {
        let generators = self.origins.iter_mut().map(|origin| &mut origin.generator);
        begin_together(Generator::series(generators).collect());
        if let Some(stop) = &self.stop {
            let counting = self.origins.iter_mut();
            let counting = counting.filter(|origin| stop.counts(origin.flow));
            counting.for_each(|origin| origin.generator.foresee());
        }
    }

    /// Tells the schedule before what time the run does not end early, if that is known anew.
    fn foresee_end(&mut self, schedule: &mut Schedule) {
        if let Some(stop) = &mut self.stop
            && let Some(time) = stop.earliest_end(&self.origins)
        {
            schedule.bound_lookahead(time);
        }
    }

    pub(crate) fn origin(&self, source: usize) -> &Origin {
        &self.origins[source]
    }

    /// A source starts: its first connection is opened an interval later.
    pub(crate) fn start(&mut self, source: usize, env: &mut Env) {
        self.origins[source].running = true;
        self.await_next(source, env);
    }

    /// A source opens no more connections; those that are open go on.
    pub(crate) fn stop(&mut self, source: usize) {
        self.origins[source].running = false;
    }

    fn await_next(&mut self, source: usize, env: &mut Env) {
        let now = env.network.now;
        if let Some(next) = self.origins[source].generator.next_arrival(now) {
            let event = Event::Traffic(source as u32);
            env.network.schedule.push_timer(next.max(now), event);
            self.foresee_end(&mut env.network.schedule);
        }
    }

    /// The time of a source's next connection has come.
    pub(crate) fn on_arrival_event(&mut self, source: u32, env: &mut Env) {
        let origin = &mut self.origins[source as usize];
        if !origin.running {
            return;
        }
        let opening = origin.generator.open();
        let exchanges = 1 + opening.others.len() as u64;
        let spare = &mut self.spare;
        let make = |name| Dialogue::new(name, source, opening, origin, spare);
        match self.dialogues.insert(make) {
            Some(name) => {
                let dialogue = self.dialogues.get_mut(name).expect("just put in");
                // Not made a string unless something wants it.
                let label = format_args!("{}/{}", origin.name, dialogue.connection());
                env.network.add_flow(Carrier::Traffic, name.index(), &label);
                dialogue.open(env);
                if let Some(stop) = &mut self.stop {
                    stop.on_open(origin.flow, exchanges);
                }
            }
            None => self.refused += 1,
        }
        self.await_next(source as usize, env);
    }

    /// A packet of a connection reaches the end of its route. One of a connection that is over is
    /// ignored.
    #[inline(never)]
    pub(crate) fn on_packet(&mut self, packet: &Packet, end: End, env: &mut Env) {
        let name = Name::of(packet.flow);
        if self.dialogues.get(name).is_none() {
            env.network.forget_options(packet);
            return;
        }
        self.with(name, env, |dialogue, context| {
            dialogue.on_arrival(packet, end, context);
        });
    }

    /// Whether a packet at the end of its route will be held back there for a while.
    #[inline]
    pub(crate) fn holds_back(&self, packet: &Packet) -> bool {
        let dialogue = self.dialogues.get(Name::of(packet.flow));
        Self::is_own(packet.flow) && dialogue.is_some_and(Dialogue::holds_back)
    }

    /// Has the processor fetch the beginning of a connection that a packet will come to.
    #[inline]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        self.prefetch_beginning(Name::of(packet.flow));
    }

    fn prefetch_beginning(&self, name: Name) {
        if self.dialogues.len() >= CROWD
            && let Some(place) = self.dialogues.place(name)
        {
            prefetch_lines::<{ Dialogue::FIRST_LINES }, _>(place);
        }
    }

    /// Has the processor fetch what will be due next.
    #[inline]
    pub(crate) fn prefetch_due(&self, schedule: &Schedule) {
        if self.dialogues.len() < CROWD {
            return;
        }
        let mut coming = schedule.coming_to_dialogues().map(Name::of);
        // The beginning of the next one has been fetched when it was one of the others.
        if let Some(next) = coming.next()
            && let Some(dialogue) = self.dialogues.get(next)
        {
            dialogue.prefetch(next);
        }
        coming.for_each(|name| self.prefetch_beginning(name));
    }

    /// A server's delay or a client's pause is over.
    pub(crate) fn on_turn(&mut self, index: u32, env: &mut Env) {
        self.with(Name::of(index), env, |dialogue, context| {
            dialogue.on_turn(context);
        });
    }

    /// Packets held back at one end of a connection are due.
    pub(crate) fn on_held(&mut self, index: u32, env: &mut Env) {
        let end = Name::of(index);
        self.with(end, env, |dialogue, context| {
            dialogue.on_held(end, context);
        });
    }

    /// A timer of a sender or receiver.
    pub(crate) fn on_timer(&mut self, event: Event, index: u32, env: &mut Env) {
        let name = match event {
            Event::Send(_) => Name::of(index),
            _ => self.dialogues.renewed(Name::of(index)),
        };
        self.with(name, env, |dialogue, context| {
            let half = dialogue.half_mut(name.side());
            let Some(leg) = half.and_then(|half| half.leg_mut(name)) else {
                return;
            };
            match event {
                Event::Send(_) => leg.sender.on_send_event(context.env),
                Event::RackTlpTimer(_) => leg.sender.on_rack_tlp_timer(context.env),
                Event::RetransmissionTimer(_) => leg.sender.on_timer(context.env),
                Event::DelayedAckTimer(_) => leg.receiver.on_timer(context.env),
                other => unreachable!("{other:?} is no timer of a connection"),
            }
        });
    }

    /// Lets something happen to a dialogue, if it is still there, and takes it away when it is over.
    fn with(
        &mut self,
        name: Name,
        env: &mut Env,
        happen: impl FnOnce(&mut Dialogue, &mut Context<'_>),
    ) {
        let Some(dialogue) = self.dialogues.get_mut(name) else {
            return;
        };
        let source = dialogue.source as usize;
        let mut context = Context {
            origin: &mut self.origins[source],
            env,
            log: &mut self.log,
            stop: &mut self.stop,
        };
        happen(dialogue, &mut context);
        if dialogue.is_over() {
            let now = env.network.now;
            self.origins[source].counters.add(&dialogue.counters(now));
            dialogue.drop_held(env, &mut self.spare);
            env.network.remove_flow(Carrier::Traffic, name.index());
            env.network.schedule.forget(name.index());
            self.dialogues.remove(name);
        }
    }

    /// Counters of each source up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> Vec<FlowCounters> {
        let samples = self.samples(now).into_iter();
        samples.map(|(counters, _)| counters).collect()
    }

    /// The same, each with the segments that are in flight.
    pub(crate) fn samples(&mut self, now: Time) -> Vec<(FlowCounters, u64)> {
        let finished = self.origins.iter().map(|origin| (origin.counters, 0));
        let mut samples: Vec<_> = finished.collect();
        self.dialogues
            .for_each(Dialogue::prefetch_for_sample, |dialogue| {
                let (counters, in_flight) = &mut samples[dialogue.source as usize];
                counters.add(&dialogue.counters(now));
                *in_flight += dialogue.in_flight();
            });
        samples
    }

    /// Data packets sent by all sources.
    pub(crate) fn sent_pkts(&mut self) -> u64 {
        let finished = self.origins.iter().map(|origin| origin.counters.sent_pkts);
        let open = self
            .dialogues
            .iter_mut()
            .map(|dialogue| dialogue.sent_pkts());
        finished.sum::<u64>() + open.sum::<u64>()
    }

    /// Connections that are open.
    pub(crate) fn open_connections(&mut self) -> usize {
        self.dialogues.iter_mut().count()
    }

    /// Restarts the record of extreme round trips; returns the smallest and largest so far, by
    /// source.
    pub(crate) fn restart_extremes(&mut self, now: Time) -> Vec<(Span, Span)> {
        let counters = self.counters(now);
        for origin in &mut self.origins {
            (origin.counters.rtt_min, origin.counters.rtt_max) = (Span::ZERO, Span::ZERO);
        }
        for dialogue in self.dialogues.iter_mut() {
            for side in [Side::Up, Side::Down] {
                if let Some(half) = dialogue.half_mut(side) {
                    half.sender.restart_extremes();
                }
            }
        }
        let extremes = counters.iter().map(|all| (all.rtt_min, all.rtt_max));
        extremes.collect()
    }

    /// What the run should have seen and has not, in words.
    pub(crate) fn shortcomings(&self) -> Vec<String> {
        let stop = self.stop.as_ref().map(StopWatch::shortcomings);
        let mut out = stop.unwrap_or_default();
        if self.refused > 0 {
            let (refused, most) = (self.refused, Name::SLOTS);
            out.push(format!(
                "{refused} connections were not opened: {most} were open at once, far more than the \
                 network can serve"
            ));
        }
        out
    }

    /// Exchanges that are still under way, in the order of their beginnings.
    pub(crate) fn unfinished(&mut self) -> Vec<Exchange> {
        let under_way = self.dialogues.iter_mut();
        let mut exchanges: Vec<_> = under_way.filter_map(|one| one.unfinished()).collect();
        exchanges.sort_by_key(|exchange| (exchange.start, exchange.flow, exchange.connection));
        exchanges
    }

    /// What the capture of a packet has to know of its connection, if that is still there.
    pub(crate) fn captured(&self, packet: &Packet, end: End) -> Option<Captured<'_>> {
        let name = Name::of(packet.flow);
        let dialogue = self.dialogues.get(name)?;
        let (half, other) = dialogue.halves(name.side());
        let data = end != End::TrafficSender;
        let acknowledgement =
            other.map_or(1, |half| half.sender.acknowledgement(half.receiver.next()));
        let origin = &self.origins[dialogue.source as usize];
        Some(Captured {
            flow: origin.flow,
            connection: dialogue.number(name.side()),
            opened_by_receiver: origin.answers != dialogue.is_pushed(name.side()),
            reverse: (data == (name.side() == Side::Up)) == origin.answers,
            sender: &half?.leg(name)?.sender,
            acknowledgement,
        })
    }

    /// A number of the connection that a packet belongs to, and which of its ends has sent it: the one
    /// that opened it, if so.
    pub(crate) fn host(&self, index: u32, data: bool) -> (u32, bool) {
        let name = Name::of(index);
        let apart = self.dialogues.get(name).is_some_and(Dialogue::is_apart);
        let up = name.side() == Side::Up;
        match apart {
            true => (index, data),
            false => (name.on(Side::Up).index(), data == up),
        }
    }

    /// The proxy that splits the direction of this name.
    pub(crate) fn proxy(&self, index: u32) -> Option<usize> {
        let name = Name::of(index);
        let source = self.dialogues.get(name)?.source as usize;
        let onward = self.origins[source].ways.on(name.side()).onward?;
        Some(onward.proxy)
    }

    /// The two legs of a direction that a proxy splits, if its connection is still there.
    pub(crate) fn legs(&mut self, index: u32) -> Option<Legs<'_>> {
        let name = Name::of(index);
        let half = self.dialogues.get_mut(name)?.half_mut(name.side())?;
        Some(Legs {
            sender: &half.sender,
            receiver: &mut half.receiver,
            onward: &mut half.onward.as_mut()?.sender,
        })
    }
}
