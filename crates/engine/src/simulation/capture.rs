//! Packets of captured links, in the form of the wire: bytes instead of segment numbers.

use super::world::World;
use crate::measure::{CapturedPacket, Recorder};
use crate::network::End;
use crate::packet::{Flags, Packet};

impl World {
    /// Records the packet about to reach the far end of a captured link.
    #[cold]
    pub(super) fn capture(&self, link: u32, recorder: &mut dyn Recorder) {
        let Some(packet) = self.env.network.captured(link) else {
            return;
        };
        recorder.packet(&match self.env.network.destination(packet) {
            End::UdpReceiver => self.datagram(link, packet),
            End::TcpReceiver | End::DummyReceiver => self.segment(link, packet),
            End::TcpSender | End::DummySender => self.acknowledgement(link, packet),
        });
    }

    fn blank(&self, link: u32, packet: &Packet) -> CapturedPacket {
        CapturedPacket {
            time: self.env.network.now,
            link,
            flow: 0,
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
        let wire = connection.sender.wire();
        CapturedPacket {
            flow: connection.flow,
            payload_bytes: wire.payload_bytes(packet.seq) as u32,
            sequence: wire.position(packet.seq),
            // The receiver sends one SYN and no data.
            acknowledgement: u64::from(packet.seq > 0),
            ack: packet.seq > 0,
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
        let wire = connection.sender.wire();
        let option = self.env.network.peek_sack(packet);
        let mut sack = [None; 3];
        for (slot, (left, right)) in sack.iter_mut().zip(option.blocks(packet.seq)) {
            *slot = Some((wire.position(left), wire.position(right)));
        }
        let syn = packet.flags.has(Flags::SYN);
        CapturedPacket {
            flow: connection.flow,
            reverse: true,
            sequence: u64::from(!syn),
            acknowledgement: wire.acknowledgement(packet.seq),
            ack: true,
            ece: packet.flags.has(Flags::ECE) || (syn && wire.ecn()),
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.time, packet.stamp),
            sack,
            ..self.blank(link, packet)
        }
    }
}
