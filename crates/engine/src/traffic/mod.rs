//! Application traffic: sources, and the connections that they open during the run.
//!
//! The memory of a closed connection is reused. Only endpoints with an extra delay get packets ahead of time
//! (`network/lookahead.rs`).

mod app_connection;
mod capture;
mod connection_slab;
mod direction;
mod extra_delay;
mod generator;
mod measurement;
mod messages;
mod packmime;
mod planned;
mod requests;
mod session;
mod stop_condition;
mod traffic_source;

use std::sync::Arc;

use longhaul_congestion::Controller;

use self::app_connection::{AppConnection, Context};
pub(crate) use self::capture::CapturedEnd;
use self::connection_slab::{ConnectionId, Slab};
use self::extra_delay::QueuePool;
pub(crate) use self::generator::{CutOff, Generator, Trace};
pub(crate) use self::messages::MessageSource;
use self::packmime::begin_together;
pub(crate) use self::requests::RequestModel;
pub(crate) use self::session::Session;
pub(crate) use self::stop_condition::StopCondition;
pub(crate) use self::traffic_source::{ConnectionPaths, DirectionPaths, SecondLeg, TrafficSource};
use crate::config::{ClockError, Tcp};
use crate::measure::{Exchange, FlowCounters};
use crate::network::{Carrier, End};
use crate::packet::Packet;
use crate::prefetch::prefetch_lines;
use crate::random::Stream;
use crate::schedule::{Event, Schedule};
use crate::transport::Env;
use crate::transport::tcp::{Receiver, Sender};

/// Minimum number of open connections for prefetching: the state of fewer connections fits into a cache of a megabyte.
const PREFETCH_THRESHOLD: usize = 256;

/// All sources, and their open connections.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    sources: Vec<TrafficSource>,
    connections: Slab<AppConnection>,
    spare: QueuePool,
    /// Completed exchanges, until they are recorded.
    pub(crate) log: Vec<Exchange>,
    /// Condition that ends the run early, if `measure.stop` is set.
    stop: Option<StopCondition>,
    /// Number of connections that were not opened, because too many were open.
    refused: u64,
}

/// The two legs of a direction that a proxy splits.
pub(crate) struct Legs<'a> {
    pub(crate) sender: &'a Sender,
    /// The receiver at the proxy's start node.
    pub(crate) receiver: &'a mut Receiver,
    /// The sender at the proxy's end node.
    pub(crate) second_leg: &'a mut Sender,
}

impl Traffic {
    /// Creates traffic without sources.
    pub(crate) fn new(stop: Option<StopCondition>) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Returns true if `index`, taken from a packet or event, identifies a connection that traffic has opened.
    #[inline]
    pub(crate) fn is_own(index: u32) -> bool {
        ConnectionId::is_one(index)
    }

    /// Adds a source; returns its number.
    pub(crate) fn add(
        &mut self,
        (flow, name): (u32, &str),
        paths: ConnectionPaths,
        (tcp, controller): (Arc<Tcp>, Controller),
        stream: Stream,
        generator: Generator,
        from_servers: bool,
    ) -> usize {
        self.sources.push(TrafficSource {
            flow,
            name: name.to_string(),
            paths,
            tcp,
            controller,
            stream,
            generator,
            from_servers,
            traced: Vec::new(),
            clock: ClockError::default(),
            running: false,
            counters: FlowCounters::default(),
        });
        self.sources.len() - 1
    }

    /// Sets two options of a source, both for data from the flow's first node to its second: the numbers of the traced
    /// connections, and the error of the receivers' clock for transit times.
    pub(crate) fn observe(&mut self, source: usize, traced: &[u64], clock: ClockError) {
        let source = &mut self.sources[source];
        (source.traced, source.clock) = (traced.to_vec(), clock);
    }

    /// Prepares the sources for the run, after the last source has been added: draws random numbers in advance.
    pub(crate) fn complete(&mut self) {
        let generators = self
            .sources
            .iter_mut()
            .map(|traffic_source| &mut traffic_source.generator);
        begin_together(Generator::series(generators).collect());
        // If arrivals are known in advance, so is a time before which the run cannot end.
        if let Some(stop) = &self.stop {
            let counting = self.sources.iter_mut();
            let counting = counting.filter(|traffic_source| stop.counts(traffic_source.flow));
            counting.for_each(|traffic_source| traffic_source.generator.draw_arrivals_ahead());
        }
    }

    /// Passes a lower bound of the end of the run to the schedule, if the run has a stop rule.
    fn bound_early_end(&mut self, schedule: &mut Schedule) {
        if let Some(stop) = &mut self.stop
            && let Some(time) = stop.earliest_end(&self.sources)
        {
            schedule.bound_lookahead(time);
        }
    }

    pub(crate) fn traffic_source(&self, source: usize) -> &TrafficSource {
        &self.sources[source]
    }

    /// Starts a source: schedules its first connection. A model of requests draws an interval before it; a web session
    /// and a connection with a lifetime begin at once, and a trace at the time of its first entry.
    pub(crate) fn start(&mut self, source: usize, env: &mut Env) {
        self.sources[source].running = true;
        self.await_next(source, env);
    }

    /// Stops a source: it opens no more connections. Open connections continue.
    pub(crate) fn stop(&mut self, source: usize) {
        self.sources[source].running = false;
    }

    fn await_next(&mut self, source: usize, env: &mut Env) {
        let now = env.network.now;
        if let Some(next) = self.sources[source].generator.next_arrival(now) {
            let event = Event::Traffic(source as u32);
            env.network.schedule.push_timer(next.max(now), event);
            self.bound_early_end(&mut env.network.schedule);
        }
    }

    /// Processes an arrival event: opens the source's next connection, and schedules the one after it. Does nothing if
    /// the source has stopped. Not inlined: a connection is large on the stack, and would slow down other events.
    #[inline(never)]
    pub(crate) fn on_arrival_event(&mut self, source: u32, env: &mut Env) {
        let traffic_source = &mut self.sources[source as usize];
        if !traffic_source.running {
            return;
        }
        let planned = traffic_source.generator.open();
        let exchanges = 1 + planned.to_come.len() as u64;
        let spare = &mut self.spare;
        let make = |id| AppConnection::new(id, source, planned, traffic_source, spare);
        match self.connections.insert(make) {
            Some(id) => {
                let connection = self.connections.get_mut(id).expect("just put in");
                connection.complete_up(traffic_source);
                // The label is formatted only if it is needed.
                let label = format_args!("{}/{}", traffic_source.name, connection.number_in_flow());
                env.network.add_flow(Carrier::Traffic, id.index(), &label);
                connection.open(env);
                if let Some(stop) = &mut self.stop {
                    stop.on_open(traffic_source.flow, exchanges);
                }
            }
            None => self.refused += 1,
        }
        self.await_next(source as usize, env);
    }

    /// Processes a packet that reaches the end of its route. Packets of connections that have ended are ignored.
    #[inline(never)]
    pub(crate) fn on_packet(&mut self, packet: &Packet, end: End, env: &mut Env) {
        let id = ConnectionId::of(packet.flow);
        let found = self.with(id, env, |connection, context| {
            connection.on_arrival(packet, end, context);
        });
        if !found {
            env.network.forget_options(packet);
        }
    }

    /// Returns the connection of a packet, if the connection delays packets at the end of their route and both
    /// directions share one TCP connection.
    #[inline]
    pub(crate) fn holding(&mut self, packet: &Packet) -> Option<&mut AppConnection> {
        let connection = self.connections.get_mut(ConnectionId::of(packet.flow))?;
        (Self::is_own(packet.flow) && connection.delays_at_end()).then_some(connection)
    }

    /// Prefetches the first cache lines of a packet's connection.
    #[inline]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        self.prefetch_beginning(ConnectionId::of(packet.flow));
    }

    fn prefetch_beginning(&self, id: ConnectionId) {
        if self.connections.len() >= PREFETCH_THRESHOLD
            && let Some(place) = self.connections.place(id)
        {
            prefetch_lines::<{ AppConnection::FIRST_LINES }, _>(place);
        }
    }

    /// Prefetches the connections of the next timer events.
    #[inline]
    pub(crate) fn prefetch_due(&self, schedule: &Schedule) {
        if self.connections.len() < PREFETCH_THRESHOLD {
            return;
        }
        let mut coming = schedule.coming_to_connections().map(ConnectionId::of);
        // The beginning of the next connection has been prefetched in an earlier call, when it was one of the following
        // connections.
        if let Some(next) = coming.next()
            && let Some(connection) = self.connections.get(next)
        {
            connection.prefetch(next);
        }
        coming.for_each(|id| self.prefetch_beginning(id));
    }

    /// Processes the event at the end of a server delay, a think time or a lifetime.
    pub(crate) fn on_turn(&mut self, index: u32, env: &mut Env) {
        self.with(ConnectionId::of(index), env, |connection, context| {
            connection.on_turn(context);
        });
    }

    /// Processes the packets whose delay at one endpoint of a connection is over.
    pub(crate) fn on_held(&mut self, index: u32, env: &mut Env) {
        let end = ConnectionId::of(index);
        self.with(end, env, |connection, context| {
            connection.on_held(end, context);
        });
    }

    /// Processes a timer event of a sender or receiver.
    #[inline(never)]
    pub(crate) fn on_timer(&mut self, event: Event, index: u32, env: &mut Env) {
        let id = match event {
            Event::Send(_) => ConnectionId::of(index),
            _ => self.connections.renewed(ConnectionId::of(index)),
        };
        self.with(id, env, |connection, context| {
            let direction = connection.direction_mut(id.side());
            let Some(leg) = direction.and_then(|direction| direction.leg_mut(id)) else {
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

    /// Calls `act` on a connection, if it is open. Removes the connection afterwards if it has ended. Returns true if
    /// it was open.
    #[inline]
    fn with(
        &mut self,
        id: ConnectionId,
        env: &mut Env,
        act: impl FnOnce(&mut AppConnection, &mut Context<'_>),
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else {
            return false;
        };
        let source = connection.source as usize;
        let mut context = Context {
            traffic_source: &mut self.sources[source],
            env,
            log: &mut self.log,
            stop: &mut self.stop,
        };
        act(connection, &mut context);
        if connection.is_over() {
            self.close(id, env);
        }
        true
    }

    /// Removes a connection that has ended.
    #[inline(never)]
    fn close(&mut self, id: ConnectionId, env: &mut Env) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let source = &mut self.sources[connection.source as usize];
        source.counters.add(&connection.counters(env.network.now));
        connection.drop_held(env, &mut self.spare);
        env.network.remove_flow(Carrier::Traffic, id.index());
        env.network.schedule.forget(id.index());
        self.connections.remove(id);
    }

    /// Returns the number of the proxy that splits a direction of a connection; `None` if there is no proxy, or if the
    /// connection has ended. `index` identifies the direction.
    pub(crate) fn proxy(&self, index: u32) -> Option<usize> {
        let id = ConnectionId::of(index);
        let source = self.connections.get(id)?.source as usize;
        let second_leg = self.sources[source].paths.on(id.side()).second_leg?;
        Some(second_leg.proxy)
    }

    /// Returns the two legs of a direction that a proxy splits; `None` if no proxy does, or if the direction's
    /// connection has ended.
    pub(crate) fn legs(&mut self, index: u32) -> Option<Legs<'_>> {
        let id = ConnectionId::of(index);
        let direction = self.connections.get_mut(id)?.direction_mut(id.side())?;
        Some(Legs {
            sender: &direction.sender,
            receiver: &mut direction.receiver,
            second_leg: &mut direction.second_leg.as_mut()?.sender,
        })
    }
}
