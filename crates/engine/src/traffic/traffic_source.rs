//! A source of connections, with the paths and the configuration that its connections share.

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

/// Paths between the clients and the servers of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionPaths {
    pub(crate) up: DirectionPaths,
    pub(crate) down: DirectionPaths,
}

/// The path of data in one direction, and the path of its acknowledgements. If a proxy splits the direction, both
/// belong to the leg before the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectionPaths {
    pub(crate) data: Path,
    pub(crate) acks: Path,
    pub(crate) second_leg: Option<SecondLeg>,
}

/// The part of a split direction after the proxy: the proxy's index, and the paths between the proxy and the receiver.
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
    /// Returns the paths of data and of acknowledgements on the last leg.
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
    /// Parent random stream of the streams for the individual senders.
    pub(super) stream: Stream,
    pub(super) generator: Generator,
    /// True if the servers are at the flow's first node, and their data goes to clients at the second.
    pub(super) from_servers: bool,
    /// Numbers of the connections that are traced.
    pub(super) traced: Vec<u64>,
    /// Error of the clock at the flow's second node, relative to the clock at the first.
    pub(super) clock: ClockError,
    pub(super) running: bool,
    /// Counters of closed connections, except that `connections` and `exchanges` include open ones.
    pub(super) counters: FlowCounters,
}

impl TrafficSource {
    /// Creates one direction of a new connection. [`Self::complete`] adds the optional parts later, in the direction's
    /// final place, since a direction is large.
    #[inline]
    pub(super) fn direction(&mut self, id: ConnectionId) -> Direction {
        let way = self.paths.on(id.side());
        self.leg(id, self.flow, way.data, way.acks)
    }

    /// Adds the optional parts of a direction of connection `number`: receiver clock, sender trace, leg after a proxy.
    /// Only data from the flow's first node to its second has the clock and the trace.
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

    /// Creates the sender and the receiver of one leg. Their events are recorded under the flow id `recorded`.
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

    /// Counts a new connection. Returns the record of the connection's first exchange.
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

    /// Draws the size of a response, when the server begins to respond.
    pub(super) fn draw_response(&mut self) -> u64 {
        self.generator.draw_response()
    }

    /// Returns the endpoints of the source's connections. Their routes are the same for all connections of the source.
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
