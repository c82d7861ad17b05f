//! Frames as they would be on the wire: Ethernet, IPv4 and TCP or UDP headers of a simulated
//! packet, with correct checksums over a payload of zeros.
//!
//! RFC 791 defines the IPv4 header, RFC 768 the UDP header, RFC 9293 the TCP header and the MSS
//! option, RFC 7323 window scale and time stamps, RFC 2018 SACK, and RFC 3168 the ECN bits.

use longhaul_engine::Config;
use longhaul_engine::config::Tcp;
use longhaul_engine::measure::CapturedPacket;
use longhaul_units::Time;

use crate::ports::PortTable;

const ETHERNET_BYTES: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const TCP_BYTES: usize = 20;
/// Maximum length of a TCP header in bytes: the largest value of its length field.
const TCP_BYTES_MAX: usize = 60;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

/// Maximum length of all headers of a frame in bytes.
pub(crate) const HEADER_BYTES_MAX: usize = ETHERNET_BYTES + IP_BYTES + TCP_BYTES_MAX;

/// Largest shift of the window scale option (RFC 7323 section 2.3).
const WINDOW_SHIFT_MAX: u32 = 14;

/// One end of a connection.
#[derive(Clone, Copy, Debug)]
struct End {
    node: u32,
    port: u16,
}

impl End {
    /// Returns the Ethernet address of the node, a locally administered one.
    fn ethernet(self) -> [u8; 6] {
        let [a, b, c, d] = self.node.to_be_bytes();
        [2, 0, a, b, c, d]
    }

    /// Returns the IPv4 address of the node; node 0 has 10.0.0.1.
    fn ip(self) -> [u8; 4] {
        let [_, b, c, d] = (self.node + 1).to_be_bytes();
        [10, b, c, d]
    }
}

/// Properties that all packets of a flow have in common.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    /// First node of the flow.
    from: u32,
    /// Last node of the flow.
    to: u32,
    /// Value of the MSS option: the largest payload of a segment without options (RFC 6691 section
    /// 2); 0 if the flow is not TCP.
    mss_bytes: u16,
    window_shift: u32,
    sack_permitted: bool,
}

impl Conversation {
    /// Returns one conversation for each flow, and then one for the connection between the two nodes
    /// of each proxy.
    pub(crate) fn all(config: &Config) -> Vec<Self> {
        let flows = config
            .flows
            .iter()
            .map(|flow| (flow.from, flow.to, flow.transport.tcp()));
        let proxies = config
            .proxies
            .iter()
            .map(|proxy| (proxy.start, proxy.end, Some(&proxy.tcp)));
        let all = flows.chain(proxies);
        all.map(|(from, to, tcp)| Self::new(from, to, tcp.map(AsRef::as_ref)))
            .collect()
    }

    fn new(from: usize, to: usize, tcp: Option<&Tcp>) -> Self {
        let (mss_bytes, window_bytes, sack_permitted) = match tcp {
            Some(tcp) => (
                (tcp.mss_bytes + tcp.timestamps.bytes().unwrap_or(0)).min(u16::MAX.into()) as u16,
                tcp.receive_window.saturating_mul(tcp.mss_bytes.into()),
                tcp.reports_sack(),
            ),
            None => (0, 0, false),
        };
        let needed = (0..WINDOW_SHIFT_MAX).find(|shift| window_bytes >> shift <= u16::MAX.into());
        Self {
            from: from as u32,
            to: to as u32,
            mss_bytes,
            window_shift: needed.unwrap_or(WINDOW_SHIFT_MAX),
            sack_permitted,
        }
    }

    /// Writes the headers of a packet to `frame`. Returns the length in bytes of the whole frame.
    pub(crate) fn write_headers(
        &self,
        packet: &CapturedPacket,
        table: &mut PortTable,
        frame: &mut Vec<u8>,
    ) -> u32 {
        let (from, to) = self.ends(packet, table);
        frame.clear();
        frame.extend(to.ethernet());
        frame.extend(from.ethernet());
        frame.extend(ETHERTYPE_IPV4.to_be_bytes());
        frame.extend([0; IP_BYTES]);
        let protocol = if packet.udp {
            write_udp(packet, from, to, frame);
            PROTOCOL_UDP
        } else {
            self.write_tcp(packet, from, to, frame);
            PROTOCOL_TCP
        };
        let ip_bytes = frame.len() - ETHERNET_BYTES + packet.payload_bytes as usize;
        let (ip, transport) = frame[ETHERNET_BYTES..].split_at_mut(IP_BYTES);
        write_ip(packet, from, to, protocol, ip_bytes, ip);
        let checksum = transport_checksum(from, to, protocol, packet.payload_bytes, transport);
        let place = if packet.udp { 6 } else { 16 };
        transport[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        (ETHERNET_BYTES + ip_bytes) as u32
    }

    /// Returns the source and the destination of a packet.
    fn ends(&self, packet: &CapturedPacket, table: &mut PortTable) -> (End, End) {
        let (opener, listener) = match packet.opened_by_receiver {
            true => (self.to, self.from),
            false => (self.from, self.to),
        };
        let name = (packet.flow, packet.connection, packet.opened_by_receiver);
        let ports = table.of(name, opener);
        let opener = End {
            node: opener,
            port: ports.opener,
        };
        let listener = End {
            node: listener,
            port: ports.listener,
        };
        if packet.reverse == packet.opened_by_receiver {
            (opener, listener)
        } else {
            (listener, opener)
        }
    }

    fn write_tcp(&self, packet: &CapturedPacket, from: End, to: End, frame: &mut Vec<u8>) {
        let start = frame.len();
        frame.extend(from.port.to_be_bytes());
        frame.extend(to.port.to_be_bytes());
        // Only the lowest 32 bits of the sequence number and of the acknowledgement number are on
        // the wire.
        frame.extend((packet.sequence as u32).to_be_bytes());
        let acknowledgement = if packet.ack {
            packet.acknowledgement as u32
        } else {
            0
        };
        frame.extend(acknowledgement.to_be_bytes());
        frame.extend([0, flags(packet)]);
        // Windows of SYN segments are not scaled (RFC 7323 section 2.2).
        let shift = if packet.syn { 0 } else { self.window_shift };
        let window = (packet.window_bytes >> shift).min(u16::MAX.into()) as u16;
        frame.extend(window.to_be_bytes());
        // The checksum, which is set later, and the urgent pointer.
        frame.extend([0; 4]);
        debug_assert_eq!(frame.len() - start, TCP_BYTES);
        self.write_options(packet, frame);
        let words = (frame.len() - start) / 4;
        // The lowest bit is the flag AE (RFC 9768 section 2).
        frame[start + 12] = (words as u8) << 4 | u8::from(packet.ae);
    }

    /// Appends the TCP options of a packet, each padded to 32 bits. In a SYN, Linux instead writes
    /// timestamps together with SACK permitted, before the window scale.
    fn write_options(&self, packet: &CapturedPacket, frame: &mut Vec<u8>) {
        const NOP: u8 = 1;
        if packet.syn {
            frame.extend([2, 4]);
            frame.extend(self.mss_bytes.to_be_bytes());
            frame.extend(if self.sack_permitted {
                [NOP, NOP, 4, 2]
            } else {
                [NOP; 4]
            });
            frame.extend([NOP, 3, 3, self.window_shift as u8]);
        }
        if let Some((value, echo)) = packet.timestamps {
            frame.extend([NOP, NOP, 8, 10]);
            frame.extend(milliseconds(value).to_be_bytes());
            frame.extend(milliseconds(echo).to_be_bytes());
        }
        let blocks = packet.sack.iter().flatten();
        let count = blocks.clone().count() as u8;
        if count > 0 {
            frame.extend([NOP, NOP, 5, 2 + 8 * count]);
            for (left, right) in blocks {
                frame.extend((*left as u32).to_be_bytes());
                frame.extend((*right as u32).to_be_bytes());
            }
        }
    }
}

fn write_udp(packet: &CapturedPacket, from: End, to: End, frame: &mut Vec<u8>) {
    frame.extend(from.port.to_be_bytes());
    frame.extend(to.port.to_be_bytes());
    frame.extend(length_field(UDP_BYTES + packet.payload_bytes as usize));
    frame.extend([0; 2]);
}

fn write_ip(
    packet: &CapturedPacket,
    from: End,
    to: End,
    protocol: u8,
    ip_bytes: usize,
    header: &mut [u8],
) {
    let ecn = match (packet.ce, packet.ect) {
        (true, _) => 0b11,
        (false, true) if packet.ect1 => 0b01,
        (false, true) => 0b10,
        (false, false) => 0b00,
    };
    // The version is 4, the length five words.
    header[..2].copy_from_slice(&[0x45, ecn]);
    header[2..4].copy_from_slice(&length_field(ip_bytes));
    // Identification 0, do not fragment (RFC 6864); time to live.
    header[4..10].copy_from_slice(&[0, 0, 0x40, 0, 64, protocol]);
    header[12..16].copy_from_slice(&from.ip());
    header[16..20].copy_from_slice(&to.ip());
    let checksum = !folded(sum(header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Returns the value of a length field. A length that is too large for the field is written as 0,
/// as in captures of segments before segmentation offload.
fn length_field(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).unwrap_or(0).to_be_bytes()
}

/// Returns the checksum over pseudo header, header and payload. A payload of zeros adds nothing to
/// the sum. For UDP, a checksum of 0 is sent as its complement.
fn transport_checksum(from: End, to: End, protocol: u8, payload_bytes: u32, header: &[u8]) -> u16 {
    let length = header.len() as u32 + payload_bytes;
    let pseudo_header =
        sum(&from.ip()) + sum(&to.ip()) + u32::from(protocol) + (length >> 16) + (length & 0xffff);
    match !folded(pseudo_header + sum(header)) {
        0 if protocol == PROTOCOL_UDP => 0xffff,
        checksum => checksum,
    }
}

/// Returns the sum of the 16-bit words in `bytes`.
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum()
}

/// Returns `sum` as a one's complement sum in 16 bits (RFC 1071).
fn folded(sum: u32) -> u16 {
    let once = (sum >> 16) + (sum & 0xffff);
    ((once >> 16) + once) as u16
}

fn flags(packet: &CapturedPacket) -> u8 {
    let bits = [
        packet.fin, packet.syn, false, false, packet.ack, false, packet.ece, packet.cwr,
    ];
    bits.iter()
        .rev()
        .fold(0, |flags, &bit| flags << 1 | u8::from(bit))
}

/// Returns a time in milliseconds, the unit of the timestamp clock.
fn milliseconds(time: Time) -> u32 {
    (time.as_ps() / 1_000_000_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_rfc_1071_example() {
        // RFC 1071 section 3: bytes 00 01 f2 03 f4 f5 f6 f7 sum to 2ddf0, folded ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(sum(&bytes), 0x2_ddf0);
        assert_eq!(folded(sum(&bytes)), 0xddf2);
    }
}
