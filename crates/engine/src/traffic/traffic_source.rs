//! A source of connections, with their paths and their common configuration.

use std::sync::Arc;

use longhaul_congestion::Controller;
use longhaul_units::{Span, Time};

use super::connection_slab::{ConnectionId, Side};
use super::direction::{Direction, Echoes};
use super::generator::Generator;
use crate::config::{ClockError, Tcp};
use crate::measure::{Exchange, FlowCounters};
use crate::network::{Endpoint, Path};
use crate::random::Stream;
use crate::transport::EventLog;
use crate::transport::tcp::{Receiver, Sender};

/// Paths between clients and servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionPaths {
    pub(crate) up: DirectionPaths,
    pub(crate) down: DirectionPaths,
}

/// The path of data in one direction and that of its acknowledgements. If a proxy splits the direction, the paths
/// are those of the leg before the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectionPaths {
    pub(crate) data: Path,
    pub(crate) acks: Path,
    pub(crate) second_leg: Option<SecondLeg>,
}

/// A proxy that splits a direction, and the paths of the leg behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondLeg {
    pub(crate) proxy: usize,
    pub(crate) data: Path,
    pub(crate) acks: Path,
}

impl ConnectionPaths {
    pub(super) fn on(&self, side: Side) -> DirectionPaths {
        match side {
            Side::Up => self.up,
            Side::Down => self.down,
        }
    }
}

impl DirectionPaths {
    /// Returns the paths of data and acknowledgements at the far end.
    fn last(&self) -> (Path, Path) {
        let before = (self.data, self.acks);
        self.second_leg
            .map_or(before, |second_leg| (second_leg.data, second_leg.acks))
    }
}

/// A source of connections.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    /// The flow's id in records.
    pub(super) flow: u32,
    /// The flow's name.
    pub(super) name: String,
    pub(super) paths: ConnectionPaths,
    pub(super) tcp: Arc<Tcp>,
    /// Initial state of each connection's congestion control.
    pub(super) controller: Controller,
    /// Stream from which a stream for each sender is split off.
    pub(super) stream: Stream,
    pub(super) generator: Generator,
    /// True if the flow goes from servers to clients, not from clients to servers.
    pub(super) from_servers: bool,
    /// Numbers of the connections that are traced.
    pub(super) traced: Vec<u64>,
    /// Difference between the clocks of the flow's second and first node.
    pub(super) clock: ClockError,
    pub(super) running: bool,
    /// Counters of closed connections; `connections` and `exchanges` count all.
    pub(super) counters: FlowCounters,
}

impl TrafficSource {
    /// Creates one direction of a new connection. [`Self::complete`] has to complete it in its
    /// final place, because it is large.
    #[inline]
    pub(super) fn direction(&mut self, id: ConnectionId) -> Direction {
        let way = self.paths.on(id.side());
        self.leg(id, self.flow, way.data, way.acks)
    }

    /// Adds the parts that only some directions of a connection of this number have.
    pub(super) fn complete(&mut self, direction: &mut Direction, id: ConnectionId, number: u64) {
        if (id.side() == Side::Down) == self.from_servers {
            direction.receiver.set_clock(self.clock);
            if self.traced.contains(&number) {
                direction.sender.trace_as(number);
            }
        }
        if let Some(second_leg) = self.paths.on(id.side()).second_leg {
            let recorded = EventLog::UNRECORDED;
            let mut leg = self.leg(id.second_leg(), recorded, second_leg.data, second_leg.acks);
            leg.sender.begin_empty();
            direction.second_leg = Some(Box::new(leg));
        }
    }

    /// Creates a sender and a receiver, whose events are recorded as those of a flow.
    fn leg(&mut self, id: ConnectionId, recorded: u32, data: Path, acks: Path) -> Direction {
        let index = id.index();
        let tcp = Arc::clone(&self.tcp);
        let stream = self.stream.split();
        let sender = Sender::new(index, recorded, data, tcp, &self.controller, stream);
        Direction {
            receiver: Receiver::new(index, acks, Arc::clone(&self.tcp), sender.asks_routers()),
            sender,
            second_leg: None,
            echoes: Echoes::default(),
        }
    }

    /// Returns true if a proxy splits one of the directions.
    pub(super) fn is_split(&self) -> bool {
        self.paths.up.second_leg.is_some() || self.paths.down.second_leg.is_some()
    }

    /// Creates the record of a connection's first exchange.
    pub(super) fn record(&mut self, round_trip: Span) -> Exchange {
        let connection = self.counters.connections;
        self.counters.connections += 1;
        Exchange {
            flow: self.flow,
            connection,
            start: Time::ZERO,
            requested: None,
            answered: None,
            end: None,
            request_bytes: 0,
            response_bytes: None,
            round_trip,
            retransmitted_pkts: 0,
            timeouts: 0,
        }
    }

    /// Draws the size of a response when a request has come.
    pub(super) fn draw_response(&mut self) -> u64 {
        self.generator.draw_response()
    }

    /// Returns the ends, which are the same for all connections. A side may answer a packet with any packet that it
    /// sends.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Endpoint> {
        let ConnectionPaths { up, down } = self.paths;
        let ((up_arrives, up_answers), (down_arrives, down_answers)) = (up.last(), down.last());
        let sides = [
            (up_arrives, down.data),
            (down.acks, up_answers),
            (down_arrives, up.data),
            (up.acks, down_answers),
        ];
        let nodes = [up, down].into_iter().filter_map(|way| {
            let second_leg = way.second_leg?;
            Some([(way.data, way.acks), (second_leg.acks, second_leg.data)])
        });
        let pairs = sides.into_iter().chain(nodes.flatten());
        let holds = self.generator.delays_at_end();
        pairs.map(move |(gets, sends)| Endpoint::Traffic {
            gets: gets.route,
            sends: sends.route,
            holds,
        })
    }
}
