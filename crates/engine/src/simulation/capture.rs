//! Packets of captured links, in the form of the wire: bytes instead of segment numbers.

use super::world::World;
use crate::measure::{CapturedPacket, Recorder};
use crate::network::End;
use crate::packet::{Flags, Packet};
use crate::traffic::Captured;
use crate::transport::tcp::Sender;

impl World {
    /// Records the packet about to reach the far end of a captured link.
    #[cold]
    pub(super) fn capture(&self, link: u32, recorder: &mut dyn Recorder) {
        let Some(packet) = self.env.network.captured(link) else {
            return;
        };
        recorder.packet(&match self.env.network.destination(packet) {
            End::UdpReceiver => self.datagram(link, packet),
            End::TcpReceiver | End::DummyReceiver | End::ProxyEntry | End::ProxyExit => {
                self.segment(link, packet)
            }
            End::TcpSender | End::DummySender => self.acknowledgement(link, packet),
            end @ (End::TrafficSender | End::TrafficReceiver | End::TrafficEntry) => {
                let Some(captured) = self.traffic.captured(packet, end) else {
                    return;
                };
                self.traffic(link, packet, end != End::TrafficSender, &captured)
            }
        });
    }

    fn blank(&self, link: u32, packet: &Packet) -> CapturedPacket {
        CapturedPacket {
            time: self.env.network.now,
            link,
            flow: 0,
            connection: 0,
            reverse: false,
            udp: false,
            payload_bytes: 0,
            sequence: 0,
            acknowledgement: 0,
            window_bytes: 0,
            syn: packet.flags.has(Flags::SYN),
            ack: false,
            fin: packet.flags.has(Flags::FIN),
            ece: packet.flags.has(Flags::ECE),
            cwr: packet.flags.has(Flags::CWR),
            ect: packet.flags.has(Flags::ECT),
            ce: packet.flags.has(Flags::CE),
            timestamps: None,
            sack: [None; 3],
        }
    }

    fn datagram(&self, link: u32, packet: &Packet) -> CapturedPacket {
        let stream = &self.udp[packet.flow as usize];
        CapturedPacket {
            flow: stream.flow(),
            udp: true,
            payload_bytes: stream.payload_bytes() as u32,
            ..self.blank(link, packet)
        }
    }

    fn segment(&self, link: u32, packet: &Packet) -> CapturedPacket {
        let connection = &self.tcp[packet.flow as usize];
        CapturedPacket {
            flow: connection.flow,
            // The receiver sends one SYN and no data.
            ..self.data(link, packet, &connection.sender, 1)
        }
    }

    /// A segment that acknowledges what lies below `acknowledgement`.
    fn data(
        &self,
        link: u32,
        packet: &Packet,
        sender: &Sender,
        acknowledgement: u64,
    ) -> CapturedPacket {
        let wire = sender.wire();
        let answers = packet.seq > 0;
        CapturedPacket {
            payload_bytes: sender.payload_bytes(packet.seq) as u32,
            sequence: sender.position(packet.seq),
            acknowledgement: if answers { acknowledgement } else { 0 },
            ack: answers,
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.stamp, packet.time),
            // A SYN asks for ECN with both flags (RFC 3168 section 6.1.1).
            ece: packet.seq == 0 && wire.ecn(),
            cwr: packet.flags.has(Flags::CWR) || (packet.seq == 0 && wire.ecn()),
            ..self.blank(link, packet)
        }
    }

    fn acknowledgement(&self, link: u32, packet: &Packet) -> CapturedPacket {
        let connection = &self.tcp[packet.flow as usize];
        CapturedPacket {
            flow: connection.flow,
            reverse: true,
            ..self.answer(link, packet, &connection.sender, 1)
        }
    }

    /// An acknowledgement of what `sender` has sent, from one whose own data end at `position`.
    fn answer(&self, link: u32, packet: &Packet, sender: &Sender, position: u64) -> CapturedPacket {
        let wire = sender.wire();
        let option = self.env.network.peek_sack(packet);
        let mut sack = [None; 3];
        for (slot, (left, right)) in sack.iter_mut().zip(option.blocks(packet.seq)) {
            *slot = Some((sender.position(left), sender.position(right)));
        }
        let syn = packet.flags.has(Flags::SYN);
        CapturedPacket {
            sequence: if syn { 0 } else { position },
            acknowledgement: sender.acknowledgement(packet.seq),
            ack: true,
            ece: packet.flags.has(Flags::ECE) || (syn && wire.ecn()),
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.time, packet.stamp),
            sack,
            ..self.blank(link, packet)
        }
    }

    /// A packet of a connection that traffic has opened.
    fn traffic(
        &self,
        link: u32,
        packet: &Packet,
        data: bool,
        captured: &Captured<'_>,
    ) -> CapturedPacket {
        let (sender, position) = (captured.sender, captured.other_position);
        CapturedPacket {
            flow: captured.flow,
            connection: captured.connection as u32,
            reverse: captured.reverse,
            ..if data {
                self.data(link, packet, sender, position)
            } else {
                self.answer(link, packet, sender, position)
            }
        }
    }
}
