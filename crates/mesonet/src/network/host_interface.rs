//! The network's interface to hosts: events at hosts, packets that hosts send, and times of hosts' next actions.

use longhaul_units::Span;

use super::Network;
use super::packet::{FlowId, Kind, Packet};
use crate::records::Direction;

/// An event at a host. All variants contain a packet, so that it is at the same offset in each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostEvent {
    /// A packet has passed the access router of its host.
    Delivered(Packet),
    /// A receiver has processed a packet, and sends its acknowledgement now. The acknowledgement is given here, still
    /// with the flow's id at the receiver.
    AckReady(Packet),
    /// A source may send its next data packet. Of the packet given here, only the flow has a meaning.
    MaySend(Packet),
}

impl Network {
    /// Returns the time that a host needs between two packets. `speed` is an index in the list of
    /// host speeds.
    #[inline]
    pub(crate) fn packet_interval(&self, speed: u16) -> Span {
        self.packet_intervals[speed as usize]
    }

    /// Sends a packet of a host below access router `access`.
    #[inline]
    pub(crate) fn send(&mut self, access: u16, packet: Packet) {
        let access = self.layout.local(access);
        if !self.fast_send {
            self.send_traced(access, packet);
        } else if !self.shared.is_empty() {
            let router = self.layout.access_server(access);
            self.enqueue_shared::<false>(router, Direction::Up, packet);
        } else if let Some(departure) = self.access[access as usize].up.enqueue(self.now) {
            self.push(self.layout.out_of_access(access), departure, packet);
        }
    }

    /// Begins to process a packet at a receiver of speed `speed`. `packet` is the acknowledgement of that packet; it is
    /// ready after the packet interval of the receiver.
    #[inline]
    pub(crate) fn process(&mut self, speed: u16, packet: Packet) {
        let time = self.now + self.packet_interval(speed);
        self.push(self.layout.ack_ready(speed), time, packet);
    }

    /// Schedules the time at which `flow`, which has just sent a packet, may send the next packet: after the packet
    /// interval of the source's speed `speed`.
    #[inline]
    pub(crate) fn pace(&mut self, speed: u16, flow: FlowId) {
        let time = self.now + self.packet_interval(speed);
        let turn = Packet::new(Kind::Data, 0, flow, 0, self.now);
        self.push(self.layout.may_send(speed), time, turn);
    }
}
