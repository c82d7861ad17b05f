//! Complete opening and closing of a connection.
//!
//! The client acknowledges the answer to its SYN before it sends anything else (RFC 9293 figure 6). The side that sends
//! last closes first. This is the server, as with HTTP/1.0 and ns-2's PackMime, or the client if it gets no response.
//! Its FIN leaves on the last segment of data, or later ([`Fin`](crate::config::Fin)). The other side acknowledges the
//! FIN at once and closes, too. This takes four packets (RFC 9293 figure 12), or three if the FIN came with data.
//!
//! FINs are segments of their senders, and are retransmitted until they are acknowledged. The connection ends when the
//! FIN of the side that closes last is acknowledged. Until then, the other side acknowledges repeated FINs again, as in
//! TIME-WAIT. Packets still in flight after the end are ignored.

use super::{AppConnection, Context};
use crate::packet::{Flags, Packet, SackHandle};
use crate::traffic::connection_slab::Side;
use crate::traffic::direction::Direction;
use crate::traffic::planned::Response;
use crate::transport::Env;

impl AppConnection {
    /// Returns the side that closes first.
    pub(super) fn closes_first(&self) -> Side {
        match self.planned.response {
            Response::None => Side::Up,
            Response::Bytes(_) | Response::DrawnByServer => Side::Down,
        }
    }

    /// Acknowledges the answer to the client's SYN.
    #[inline(never)]
    pub(super) fn acknowledge_handshake(&self, env: &mut Env) {
        let now = env.network.now;
        env.network.send(Packet {
            time: now,
            ns2_s: 0.0,
            seq: 0,
            stamp: now,
            flow: self.id.index(),
            route: self.up.sender.route(),
            sack: SackHandle::NONE,
            bytes: self.up.receiver.ack_bytes(),
            flags: Flags::ACK,
        });
    }

    /// Processes a segment of the direction `side`, when all data has arrived. If the direction's FIN has arrived in
    /// order, acknowledges it and, if it is the first FIN, sends the FIN of the other side.
    pub(super) fn on_closing_segment(
        &mut self,
        packet: &Packet,
        side: Side,
        context: &mut Context<'_>,
    ) {
        let first = side == self.closes_first();
        let env = &mut *context.env;
        if !first && packet.flags.has(Flags::FIN) {
            // This segment acknowledges the first FIN, which the other side has sent.
            let answered = match side {
                Side::Up => self.down.as_mut(),
                Side::Down => Some(&mut self.up),
            };
            answered
                .into_iter()
                .for_each(|direction| direction.acknowledge_all(packet.stamp, env));
        }
        let Some(direction) = self
            .direction_mut(side)
            .filter(|direction| direction.has_fin_arrived())
        else {
            return;
        };
        direction.receiver.acknowledge_held_back(env);
        if first {
            self.close_last(side, context);
        }
    }

    /// Sends the FIN of the side that closes last; this side has received the FIN of the other side, `closed`. Opens
    /// the direction of the FIN first if it does not exist. Does nothing if the second FIN has already been sent.
    fn close_last(&mut self, closed: Side, context: &mut Context<'_>) {
        if closed == Side::Up && self.down.is_none() {
            self.open_down(context.traffic_source, context.env);
        }
        let (first, last) = match closed {
            Side::Up => (Some(&mut self.up), self.down.as_mut()),
            Side::Down => (self.down.as_mut(), Some(&mut self.up)),
        };
        let Some(last) = last.filter(|direction| !direction.sender.has_closed()) else {
            return;
        };
        first.into_iter().for_each(Direction::begin_echoes);
        last.sender.send_fin(context.env);
    }

    /// Returns true if the side that closes last knows that its FIN has arrived.
    pub(super) fn is_closed(&self) -> bool {
        match self.closes_first() {
            Side::Up => self.down.as_ref().is_some_and(Direction::is_closed),
            Side::Down => self.up.is_closed(),
        }
    }
}
