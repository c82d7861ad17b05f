//! Where the dialogues of a source run, and what they have in common.

use std::sync::Arc;

use longhaul_congestion::Controller;
use longhaul_units::{Span, Time};

use super::generator::Generator;
use super::half::Half;
use super::slab::{Name, Side};
use crate::config::Tcp;
use crate::measure::{Exchange, FlowCounters};
use crate::network::{Edge, Path};
use crate::random::Stream;
use crate::transport::EventLog;
use crate::transport::tcp::{Receiver, Sender};

/// The ways between a client and a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    pub(crate) up: Way,
    pub(crate) down: Way,
}

/// The way of data in one direction, and that of its acknowledgements. Where a proxy splits it, they
/// are those before the proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) data: Path,
    pub(crate) acks: Path,
    pub(crate) onward: Option<Onward>,
}

/// A proxy that splits a way, and the way on behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onward {
    pub(crate) proxy: usize,
    pub(crate) data: Path,
    pub(crate) acks: Path,
}

impl Ways {
    pub(super) fn on(&self, side: Side) -> Way {
        match side {
            Side::Up => self.up,
            Side::Down => self.down,
        }
    }
}

impl Way {
    /// The ways of data and acknowledgements that end and begin on the other side.
    fn last(&self) -> (Path, Path) {
        let before = (self.data, self.acks);
        self.onward
            .map_or(before, |onward| (onward.data, onward.acks))
    }
}

/// A source at work.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The flow's id in records.
    pub(super) flow: u32,
    /// The flow's name.
    pub(super) name: String,
    pub(super) ways: Ways,
    pub(super) tcp: Arc<Tcp>,
    /// As a connection begins with it.
    pub(super) controller: Controller,
    /// Senders draw from streams of their own, which come out of this one.
    pub(super) stream: Stream,
    pub(super) generator: Generator,
    /// Whether the flow goes from servers to clients, and not from clients to servers.
    pub(super) answers: bool,
    pub(super) running: bool,
    /// Of connections that are over; connections and exchanges of all.
    pub(super) counters: FlowCounters,
}

impl Origin {
    /// Senders and receivers for one direction of a new connection.
    pub(super) fn half(&mut self, name: Name) -> Half {
        let way = self.ways.on(name.side());
        let half = self.leg(name, self.flow, way.data, way.acks);
        let onward = way.onward.map(|onward| {
            let recorded = EventLog::UNRECORDED;
            let mut leg = self.leg(name.onward(), recorded, onward.data, onward.acks);
            leg.sender.begin_empty();
            Box::new(leg)
        });
        Half { onward, ..half }
    }

    /// A sender and a receiver, whose events are recorded as those of a flow.
    fn leg(&mut self, name: Name, recorded: u32, data: Path, acks: Path) -> Half {
        let index = name.index();
        let (tcp, controller) = (Arc::clone(&self.tcp), self.controller.clone());
        let stream = self.stream.split();
        let sender = Sender::new(index, recorded, data, tcp, controller, stream);
        Half {
            receiver: Receiver::new(index, acks, Arc::clone(&self.tcp), sender.asks_routers()),
            sender,
            onward: None,
        }
    }

    /// Whether FINs wait until nothing is in flight: ns-2's FullTcp has them so.
    pub(super) fn fin_when_quiet(&self) -> bool {
        self.tcp.recovery.is_ns2()
    }

    /// Whether a proxy splits one of the directions.
    pub(super) fn is_split(&self) -> bool {
        self.ways.up.onward.is_some() || self.ways.down.onward.is_some()
    }

    /// The record of a connection's first exchange.
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

    /// The size of a response that the server draws when a request has come.
    pub(super) fn draw_response(&mut self) -> u64 {
        self.generator.draw_response()
    }

    /// The ends, which look alike whichever connection they belong to. What comes to a side may be
    /// answered with anything that it sends.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Edge> {
        let Ways { up, down } = self.ways;
        let ((up_arrives, up_answers), (down_arrives, down_answers)) = (up.last(), down.last());
        let sides = [
            (up_arrives, down.data),
            (down.acks, up_answers),
            (down_arrives, up.data),
            (up.acks, down_answers),
        ];
        let nodes = [up, down].into_iter().filter_map(|way| {
            let onward = way.onward?;
            Some([(way.data, way.acks), (onward.acks, onward.data)])
        });
        let pairs = sides.into_iter().chain(nodes.flatten());
        let holds = self.generator.holds_back();
        pairs.map(move |(gets, sends)| Edge::Traffic {
            gets: gets.route,
            sends: sends.route,
            holds,
        })
    }
}
