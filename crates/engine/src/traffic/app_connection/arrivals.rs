//! Arrival of packets at an endpoint of a connection. They are processed at once, or after the endpoint's extra delay.

use longhaul_units::Time;

use super::{AppConnection, Context, Stage};
use crate::network::End;
use crate::packet::{Flags, Packet};
use crate::schedule::Schedule;
use crate::traffic::connection_slab::{ConnectionId, Side};
use crate::traffic::planned::Response;
use crate::transport::Env;

impl AppConnection {
    /// Processes a packet that leaves the network at the end of its route, or delays it if the connection has an extra
    /// delay.
    pub(in crate::traffic) fn on_arrival(
        &mut self,
        packet: &Packet,
        end: End,
        context: &mut Context<'_>,
    ) {
        // The end node of a proxy is on neither side of the connection.
        let between = end == End::TrafficSender && ConnectionId::of(packet.flow).is_second_leg();
        if between || self.extra_delay.is_none() {
            return self.receive(packet, end, context);
        }
        let network = &mut context.env.network;
        self.hold(packet, end, network.now, &mut network.schedule);
    }

    /// Delays a packet that leaves the network at the time `comes`. Its endpoint processes the packet after the delay.
    #[inline]
    pub(crate) fn hold(&mut self, packet: &Packet, end: End, comes: Time, schedule: &mut Schedule) {
        let Some(extra_delay) = &mut self.extra_delay else {
            unreachable!("the connection delays its packets");
        };
        let data = end == End::TrafficReceiver;
        let at_server = data == (ConnectionId::of(packet.flow).side() == Side::Up);
        let side = if at_server { Side::Up } else { Side::Down };
        extra_delay.push(*packet, self.id.on(side), comes, schedule);
    }

    /// Processes the packets whose delay at an endpoint has ended.
    pub(in crate::traffic) fn on_held(&mut self, end: ConnectionId, context: &mut Context<'_>) {
        let now = context.env.network.now;
        let at_server = end.side() == Side::Up;
        while let Some(packet) = self
            .extra_delay
            .as_mut()
            .and_then(|extra_delay| extra_delay.pop(end.side(), now))
        {
            let data = at_server == (ConnectionId::of(packet.flow).side() == Side::Up);
            let kind = if data {
                End::TrafficReceiver
            } else {
                End::TrafficSender
            };
            self.receive(&packet, kind, context);
        }
        if let Some(extra_delay) = &self.extra_delay {
            extra_delay.arm(end, &mut context.env.network.schedule);
        }
    }

    fn receive(&mut self, packet: &Packet, end: End, context: &mut Context<'_>) {
        let id = ConnectionId::of(packet.flow);
        if end == End::TrafficReceiver {
            let (flow, env) = (context.traffic_source.flow, &mut *context.env);
            env.delays.record(flow, packet, env.network.now);
        }
        match (end, id.side()) {
            (End::TrafficReceiver, Side::Up) => self.on_request_segment(packet, context),
            (End::TrafficReceiver, Side::Down) => self.on_response_segment(packet, context),
            _ => {
                self.on_acknowledgement(packet, id, context.env);
                if self.waits_for_ack && self.stage == Stage::Serving && self.knows_of_request() {
                    self.respond(context);
                }
            }
        }
    }

    fn on_acknowledgement(&mut self, packet: &Packet, id: ConnectionId, env: &mut Env) {
        if self.full && self.up.sender.acknowledged() == 0 {
            self.acknowledge_handshake(env);
        }
        let fin_waits = self.fin_waits && id.side() == self.closes_first();
        let fin = self.fin;
        let direction = self.direction_mut(id.side());
        let Some(leg) = direction.and_then(|direction| direction.leg_mut(id)) else {
            return;
        };
        if fin_waits {
            self.fin_waits = !leg.on_packet_before_fin(packet, fin, env);
        } else {
            leg.sender.on_packet(packet, env);
        }
    }

    /// Returns true if the client knows that its request has arrived, because the request is acknowledged.
    fn knows_of_request(&self) -> bool {
        self.up.sender.acknowledged() >= self.request.1
    }

    /// Processes a segment of the client at the server.
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
        // If the request is already being answered, a retransmission of it acknowledges nothing new.
        if let Some(down) = self.down.as_mut().filter(|_| !self.separate_directions)
            && self.stage == Stage::Requesting
            && packet.seq >= self.request.0
        {
            down.acknowledge_all(packet.stamp, context.env);
        }
        let echoed = self.is_under_way(Side::Down);
        self.up.on_segment(packet, echoed, context.env);
        if self.stage == Stage::Requesting && self.up.has_arrived(self.request.1) {
            self.record.requested = Some(now);
            match self.planned.response {
                Response::None => self.complete(context),
                // The server waits until the request has been acknowledged. A proxy may already have acknowledged it.
                _ if self.waits_for_ack && !self.knows_of_request() => self.stage = Stage::Serving,
                _ => self.wait(Stage::Serving, self.planned.server_delay, context),
            }
        }
        if self.stage == Stage::Closing && self.full {
            self.on_closing_segment(packet, Side::Up, context);
        }
    }

    /// Processes a segment of the server at the client.
    fn on_response_segment(&mut self, packet: &Packet, context: &mut Context<'_>) {
        let echoed = self.is_under_way(Side::Up);
        let Some(down) = &mut self.down else {
            return;
        };
        if self.stage == Stage::Responding && packet.seq >= self.response.0 {
            if !self.separate_directions {
                self.up.acknowledge_all(packet.stamp, context.env);
            }
            self.record.answered.get_or_insert(context.env.network.now);
        }
        down.on_segment(packet, echoed, context.env);
        if self.stage == Stage::Responding && down.has_arrived(self.response.1) {
            self.complete(context);
        }
        if self.stage == Stage::Closing && self.full {
            self.on_closing_segment(packet, Side::Down, context);
        }
    }
}
