//! State of connections of traffic that packet captures record.

use super::Traffic;
use super::app_connection::AppConnection;
use super::connection_slab::{ConnectionId, Side};
use crate::network::End;
use crate::packet::Packet;
use crate::transport::tcp::Sender;

/// The endpoint of a captured connection that has sent a packet.
pub(crate) struct CapturedEnd<'a> {
    pub(crate) flow: u32,
    /// Number of the TCP connection within its flow. Two directions with separate TCP connections have two numbers.
    pub(crate) connection: u64,
    /// True if the flow's second node has opened the connection.
    pub(crate) opened_by_receiver: bool,
    /// True if the packet goes from the flow's second node to its first.
    pub(crate) reverse: bool,
    /// The sender of the direction that the packet belongs to.
    pub(crate) sender: &'a Sender,
    /// Acknowledgement number of a data packet, on the wire: the next byte expected from the other end.
    pub(crate) acknowledgement: u64,
}

impl Traffic {
    /// Returns the endpoint that has sent `packet`, for a capture; `None` if the packet's connection has ended.
    pub(crate) fn captured(&self, packet: &Packet, end: End) -> Option<CapturedEnd<'_>> {
        let id = ConnectionId::of(packet.flow);
        let connection = self.connections.get(id)?;
        let (direction, other) = connection.directions(id.side());
        let data = end != End::TrafficSender;
        let acknowledgement = other.map_or(1, |direction| {
            direction.sender.acknowledgement(direction.receiver.next())
        });
        let traffic_source = &self.sources[connection.source as usize];
        Some(CapturedEnd {
            flow: traffic_source.flow,
            connection: connection.number(id.side()),
            opened_by_receiver: traffic_source.from_servers != connection.is_pushed(id.side()),
            reverse: (data == (id.side() == Side::Up)) == traffic_source.from_servers,
            sender: &direction?.leg(id)?.sender,
            acknowledgement,
        })
    }

    /// Returns an index that identifies a packet's TCP connection: both directions have the same index if they share
    /// the connection, or if it has ended. Also returns true if the packet comes from the endpoint that opened the
    /// connection. `index` is the flow index in the packet. `data` is true for a packet from the sender of data.
    pub(crate) fn host(&self, index: u32, data: bool) -> (u32, bool) {
        let id = ConnectionId::of(index);
        let apart = self
            .connections
            .get(id)
            .is_some_and(AppConnection::has_separate_directions);
        let up = id.side() == Side::Up;
        match apart {
            true => (index, data),
            false => (id.on(Side::Up).index(), data == up),
        }
    }
}
