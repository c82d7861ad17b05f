//! Packets of captured links and nodes in wire form, with byte positions instead of segment numbers.

use longhaul_units::Time;

use super::journal::{EndState, Host};
use super::world::World;
use crate::measure::{CapturedPacket, Recorder};
use crate::network::{End, InterfaceEntry, PacketNote};
use crate::packet::{Flags, Packet, SackOption};
use crate::stack::HEADER_BYTES;
use crate::traffic::CapturedEnd;
use crate::transport::tcp::Sender;

impl World {
    /// Stores the wire form of packets sent since the last call, and records packets that have reached captured links
    /// and nodes. Called after each event or, if an event processes several packets, after each of these packets.
    #[cold]
    pub(super) fn record_packets(&mut self, recorder: &mut dyn Recorder) {
        let mut sent = None;
        while let Some(noted) = self.env.network.next_noted() {
            match noted {
                PacketNote::Sent(packet, blocks) => sent = self.note_sent(&packet, &blocks),
                PacketNote::Entered(entered) => self.record_packet(&entered, sent.take(), recorder),
            }
        }
    }

    /// Returns the wire form of a packet that has been sent, if it has one. Stores it, except that of a datagram. A SYN
    /// resets the stored state of the connection's endpoints.
    fn note_sent(&mut self, packet: &Packet, blocks: &SackOption) -> Option<CapturedPacket> {
        let end = self.env.network.destination(packet);
        let Some(host) = self.sending_host(packet, end) else {
            return self.wire_form(packet, end, blocks);
        };
        if packet.seq == 0 && !packet.flags.has(Flags::ACK) {
            self.journal.begin(host.0);
        }
        let wire = self.wire_form(packet, end, blocks)?;
        self.journal.put(packet, end, host, wire);
        Some(wire)
    }

    /// Removes the stored wire form of a packet that reaches the end of its route, and updates the receiving endpoint's
    /// TS.Recent.
    pub(super) fn note_arrival(&mut self, packet: &Packet, end: End) {
        if let Some((number, first)) = self.sending_host(packet, end) {
            self.journal.arrive(packet, end, (number, !first));
        }
    }

    /// Returns the endpoint that has sent a packet; `None` for a datagram.
    fn sending_host(&self, packet: &Packet, end: End) -> Option<Host> {
        match end {
            End::UdpReceiver | End::StackSender | End::StackReceiver | End::Outside => None,
            End::TcpReceiver | End::DummyReceiver | End::ProxyEntry | End::ProxyExit => {
                Some((packet.flow, true))
            }
            End::TcpSender | End::DummySender => Some((packet.flow, false)),
            End::TrafficReceiver | End::TrafficEntry => Some(self.traffic.host(packet.flow, true)),
            End::TrafficSender => Some(self.traffic.host(packet.flow, false)),
        }
    }

    /// Records a packet at a captured link or node. `sent` is the wire form if the packet has just been sent.
    pub(super) fn record_packet(
        &self,
        entered: &InterfaceEntry,
        sent: Option<CapturedPacket>,
        recorder: &mut dyn Recorder,
    ) {
        let packet = &entered.packet;
        let end = self.env.network.destination(packet);
        let known = sent.or_else(|| self.journal.get(packet, end).copied());
        // A copy that a link has made may still be in flight when the original packet has arrived.
        let now = || self.wire_form(packet, end, &self.env.network.peek_sack(packet));
        if let Some(wire) = known.or_else(now) {
            recorder.packet(&CapturedPacket {
                time: entered.time,
                interface: entered.interface,
                ce: packet.flags.has(Flags::CE),
                dropped: entered.dropped,
                ..wire
            });
        }
    }

    /// Returns the wire form of a packet that is sent now; `None` for a packet of a real program, and if the packet's
    /// connection has ended.
    fn wire_form(&self, packet: &Packet, end: End, blocks: &SackOption) -> Option<CapturedPacket> {
        Some(match end {
            End::UdpReceiver => self.datagram(packet),
            End::StackSender | End::StackReceiver => self.stack_datagram(packet),
            End::TcpReceiver | End::DummyReceiver | End::ProxyEntry | End::ProxyExit => {
                self.segment(packet)
            }
            End::TcpSender | End::DummySender => self.acknowledgement(packet, blocks),
            // The bytes of packets of real programs are recorded where they are received.
            End::Outside => return None,
            End::TrafficSender | End::TrafficReceiver | End::TrafficEntry => {
                let captured = self.traffic.captured(packet, end)?;
                self.traffic(packet, end != End::TrafficSender, &captured, blocks)
            }
        })
    }

    fn blank(&self, packet: &Packet) -> CapturedPacket {
        CapturedPacket {
            time: self.env.network.now,
            interface: 0,
            flow: 0,
            connection: 0,
            opened_by_receiver: false,
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
            ae: false,
            ect: packet.flags.has(Flags::ECT),
            ect1: packet.flags.has(Flags::ECT1),
            ce: packet.flags.has(Flags::CE),
            timestamps: None,
            sack: [None; 3],
            dropped: false,
        }
    }

    fn datagram(&self, packet: &Packet) -> CapturedPacket {
        let stream = &self.udp[packet.flow as usize];
        CapturedPacket {
            flow: stream.flow(),
            udp: true,
            payload_bytes: stream.payload_bytes() as u32,
            ..self.blank(packet)
        }
    }

    fn stack_datagram(&self, packet: &Packet) -> CapturedPacket {
        CapturedPacket {
            flow: self.stacks.get(packet.flow).flow(),
            udp: true,
            reverse: packet.seq & Packet::ANSWER != 0,
            payload_bytes: u32::from(packet.bytes) - HEADER_BYTES as u32,
            ..self.blank(packet)
        }
    }

    fn segment(&self, packet: &Packet) -> CapturedPacket {
        let connection = &self.tcp[packet.flow as usize];
        let (sender, host) = (&connection.sender, (packet.flow, true));
        let wire = if packet.flags.has(Flags::ACK) {
            // The receiver has sent one SYN and one FIN, but no data.
            self.empty_segment(packet, sender, host, 2)
        } else {
            self.data(packet, sender, 1, self.journal.end(host).recent)
        };
        CapturedPacket {
            flow: connection.flow,
            ..wire
        }
    }

    /// Returns the wire form of a SYN or of a segment with data. The latter acknowledges everything below
    /// `acknowledgement`.
    fn data(
        &self,
        packet: &Packet,
        sender: &Sender,
        acknowledgement: u64,
        echo: Time,
    ) -> CapturedPacket {
        let wire = sender.wire();
        let answers = packet.seq > 0;
        CapturedPacket {
            payload_bytes: sender.payload_bytes(packet.seq) as u32,
            sequence: sender.position(packet.seq),
            acknowledgement: if answers { acknowledgement } else { 0 },
            ack: answers,
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.stamp, echo),
            // A SYN requests ECN with both flags (RFC 3168 section 6.1.1). Segments with data report no marks of the
            // opposite direction: the ACE field keeps its initial value 5 (RFC 9768 section 3.2.1).
            ece: (packet.seq == 0 && wire.ecn()) || wire.accecn(),
            cwr: (packet.flags.has(Flags::CWR) && !wire.accecn())
                || (packet.seq == 0 && wire.ecn()),
            ae: wire.accecn(),
            ..self.blank(packet)
        }
    }

    /// Returns the wire form of a segment without data that acknowledges a SYN or a FIN while a connection opens or
    /// closes.
    fn empty_segment(
        &self,
        packet: &Packet,
        sender: &Sender,
        from: Host,
        acknowledgement: u64,
    ) -> CapturedPacket {
        let EndState { next, recent, .. } = self.journal.end(from);
        let wire = sender.wire();
        CapturedPacket {
            sequence: next,
            acknowledgement,
            ack: true,
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.stamp, recent),
            ..self.blank(packet)
        }
    }

    fn acknowledgement(&self, packet: &Packet, blocks: &SackOption) -> CapturedPacket {
        let connection = &self.tcp[packet.flow as usize];
        CapturedPacket {
            flow: connection.flow,
            reverse: true,
            ..self.answer(packet, &connection.sender, (packet.flow, false), blocks)
        }
    }

    /// Returns the wire form of `packet`, an acknowledgement sent by the host `from` for data from `sender`.
    fn answer(
        &self,
        packet: &Packet,
        sender: &Sender,
        from: Host,
        blocks: &SackOption,
    ) -> CapturedPacket {
        let EndState { next, fin, .. } = self.journal.end(from);
        let wire = sender.wire();
        let mut sack = [None; 3];
        for (slot, (left, right)) in sack.iter_mut().zip(blocks.blocks(packet.seq)) {
            *slot = Some((sender.position(left), sender.position(right)));
        }
        let syn = packet.flags.has(Flags::SYN);
        // The ACE field of the answer to a SYN without ECT is 010; the ACE fields of other packets count marks (RFC
        // 9768 sections 3.1.1 and 3.2.2).
        let ace = match (wire.accecn(), syn) {
            (true, true) => 0b010,
            _ => packet.flags.ace(),
        };
        CapturedPacket {
            syn,
            sequence: match syn {
                true => 0,
                // A retransmitted FIN has the same sequence number.
                false => next - u64::from(fin && packet.flags.has(Flags::FIN)),
            },
            acknowledgement: sender.acknowledgement(packet.seq),
            ack: true,
            ece: if wire.accecn() {
                ace & 1 != 0
            } else {
                packet.flags.has(Flags::ECE) || (syn && wire.ecn())
            },
            cwr: ace & 2 != 0,
            ae: ace & 4 != 0,
            window_bytes: wire.window_bytes(),
            timestamps: wire.stamps(packet.time, packet.stamp),
            sack,
            ..self.blank(packet)
        }
    }

    /// Returns the wire form of a packet of a connection that traffic has opened.
    fn traffic(
        &self,
        packet: &Packet,
        data: bool,
        captured: &CapturedEnd<'_>,
        blocks: &SackOption,
    ) -> CapturedPacket {
        let sender = captured.sender;
        let host = self.traffic.host(packet.flow, data);
        CapturedPacket {
            flow: captured.flow,
            connection: captured.connection as u32,
            opened_by_receiver: captured.opened_by_receiver,
            reverse: captured.reverse,
            ..if data && packet.flags.has(Flags::ACK) {
                self.empty_segment(packet, sender, host, 1)
            } else if data {
                let echo = self.journal.end(host).recent;
                self.data(packet, sender, captured.acknowledgement, echo)
            } else {
                self.answer(packet, sender, host, blocks)
            }
        }
    }
}
