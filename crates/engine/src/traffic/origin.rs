//! Where the dialogues of a source run, and what they have in common.

use std::sync::Arc;

use longhaul_congestion::Controller;
use longhaul_units::{Span, Time};

use super::generator::Generator;
use super::slab::{Name, Side};
use crate::config::Tcp;
use crate::measure::{Exchange, FlowCounters};
use crate::network::{Edge, Path};
use crate::random::Stream;
use crate::transport::tcp::{Receiver, Sender};

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
}

impl Half {
    pub(super) fn counters(&mut self, now: Time) -> FlowCounters {
        let next = self.receiver.next();
        FlowCounters {
            delivered_pkts: next.saturating_sub(1),
            delivered_bytes: self.sender.bytes_below(next),
            ..self.sender.counters(now)
        }
    }
}

/// The ways of data and acknowledgements between a client and a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    pub(crate) up_data: Path,
    pub(crate) up_acks: Path,
    pub(crate) down_data: Path,
    pub(crate) down_acks: Path,
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
    /// A sender and a receiver for one direction of a new connection.
    pub(super) fn half(&mut self, name: Name) -> Half {
        let (data, acks) = match name.side() {
            Side::Up => (self.ways.up_data, self.ways.up_acks),
            Side::Down => (self.ways.down_data, self.ways.down_acks),
        };
        let index = name.index();
        let (tcp, controller) = (Arc::clone(&self.tcp), self.controller.clone());
        let stream = self.stream.split();
        let sender = Sender::new(index, self.flow, data, tcp, controller, stream);
        Half {
            receiver: Receiver::new(index, acks, Arc::clone(&self.tcp), sender.asks_routers()),
            sender,
        }
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

    /// The two ends, which look alike whichever connection they belong to.
    pub(crate) fn edges(&self) -> [Edge; 4] {
        let Ways {
            up_data,
            up_acks,
            down_data,
            down_acks,
        } = self.ways;
        let pairs = [
            (up_data, down_data),
            (down_acks, up_acks),
            (down_data, up_data),
            (up_acks, down_acks),
        ];
        pairs.map(|(gets, sends)| Edge::Traffic {
            gets: gets.route,
            sends: sends.route,
        })
    }
}
