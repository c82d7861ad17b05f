//! IPv4 packets: the header fields that are read, and the ECN field, which is changed.

use std::net::Ipv4Addr;

use longhaul_engine::stack::EcnCodepoint;

/// Number of the protocol ICMP (IANA).
pub(crate) const ICMP: u8 = 1;
/// Number of the protocol TCP (IANA).
pub(crate) const TCP: u8 = 6;
/// Number of the protocol UDP (IANA).
pub(crate) const UDP: u8 = 17;

/// Mask of the ECN field in the second byte of the header (RFC 3168, section 5).
const ECN: u8 = 3;

/// The flag FIN in byte 13 of a TCP header.
pub(crate) const FIN: u8 = 1;
/// The flag SYN in byte 13 of a TCP header.
pub(crate) const SYN: u8 = 2;
/// The flag ACK in byte 13 of a TCP header.
pub(crate) const ACK: u8 = 16;

/// The five header fields that identify a flow. A flow has one direction: `source` to `destination`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FiveTuple {
    pub(crate) protocol: u8,
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    /// Source port; zero for protocols other than TCP and UDP, and for fragments other than the first.
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
}

impl FiveTuple {
    /// Returns the five values of the opposite direction.
    pub(crate) fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..self
        }
    }
}

/// The header fields of a packet that the emulation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flow: FiveTuple,
    pub(crate) ecn: EcnCodepoint,
    /// Number of bytes after the IP header and the TCP or UDP header.
    pub(crate) payload: usize,
    pub(crate) tcp: Option<Segment>,
}

/// Fields of a TCP header that the emulation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
    pub(crate) flags: u8,
    /// True for a cumulative acknowledgement and nothing else: no data, no flag but ACK and PSH, no
    /// option but timestamps.
    pub(crate) is_pure_ack: bool,
}

impl Header {
    /// Reads the headers of an IPv4 packet; returns `None` for anything else, and for an incomplete
    /// packet.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let first = *packet.first()?;
        if first >> 4 != 4 {
            return None;
        }
        let total = usize::from(half(packet, 2)?);
        let behind = packet.get(usize::from(first & 15) * 4..total)?;
        let is_later_fragment = half(packet, 6)? & 0x1fff != 0;
        let protocol = *packet.get(9)?;
        let has_ports = matches!(protocol, TCP | UDP) && !is_later_fragment;
        let port = |at| has_ports.then(|| half(behind, at)).flatten().unwrap_or(0);
        let flow = FiveTuple {
            protocol,
            source: address(packet, 12)?,
            destination: address(packet, 16)?,
            source_port: port(0),
            destination_port: port(2),
        };
        let tcp = (has_ports && protocol == TCP).then(|| Segment::read(behind));
        let (tcp, payload) = match tcp {
            Some(Some((segment, payload))) => (Some(segment), payload),
            _ if has_ports => (None, behind.len().saturating_sub(8)),
            _ => (None, behind.len()),
        };
        let ecn = match packet[1] & ECN {
            0 => EcnCodepoint::NotEct,
            1 => EcnCodepoint::Ect1,
            2 => EcnCodepoint::Ect0,
            _ => EcnCodepoint::Ce,
        };
        Some(Self {
            flow,
            ecn,
            payload,
            tcp,
        })
    }
}

impl Segment {
    /// Reads a TCP header. Returns it with the number of payload bytes; `None` if it is not
    /// complete.
    fn read(segment: &[u8]) -> Option<(Self, usize)> {
        const PSH: u8 = 8;
        let length = usize::from(segment.get(12)? >> 4) * 4;
        let payload = segment.len().checked_sub(length)?;
        let flags = *segment.get(13)?;
        // The ninth flag, AE of accurate ECN, is in the previous byte.
        let is_plain = flags & !PSH == ACK && segment[12] & 1 == 0;
        let is_pure_ack = payload == 0 && is_plain && has_timestamps_only(segment.get(20..length)?);
        let read = Self {
            sequence: word(segment, 4)?,
            acknowledged: word(segment, 8)?,
            flags,
            is_pure_ack,
        };
        Some((read, payload))
    }
}

/// Returns true if the options of a segment are timestamps (RFC 7323) and padding only.
fn has_timestamps_only(options: &[u8]) -> bool {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const TIMESTAMPS: u8 = 8;
    let mut rest = options;
    while let Some(&kind) = rest.first() {
        rest = match kind {
            END => return true,
            NO_OPERATION => &rest[1..],
            TIMESTAMPS => rest.get(10..).unwrap_or_default(),
            _ => return false,
        };
    }
    true
}

/// Marks a packet with Congestion Experienced (RFC 3168), and updates the header's checksum.
pub(crate) fn mark(packet: &mut [u8]) {
    let before = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= ECN;
    let after = u16::from_be_bytes([packet[0], packet[1]]);
    let sum = updated(u16::from_be_bytes([packet[10], packet[11]]), before, after);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Returns the checksum after 16 bits in the header have changed from `before` to `after` (RFC
/// 1624, equation 3).
fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let mut added = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while added > 0xffff {
        added = (added & 0xffff) + (added >> 16);
    }
    !(added as u16)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn address(bytes: &[u8], at: usize) -> Option<Ipv4Addr> {
    word(bytes, at).map(Ipv4Addr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an IP packet with a correct checksum, ports 1 and 2, timestamps, and `payload`
    /// bytes.
    fn packet(payload: usize) -> Vec<u8> {
        let total = 20 + 32 + payload as u16;
        let mut packet = vec![0x45, 2];
        packet.extend(total.to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend([
            0, 1, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0x80, 0x10, 0, 9, 0, 0, 0, 0,
        ]);
        packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        packet.resize(usize::from(total), 7);
        let sum = !total_of(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// Returns the one's complement sum of an IP header, which is all ones if its checksum is
    /// correct (RFC 1071).
    fn total_of(packet: &[u8]) -> u16 {
        let halves = packet[..20]
            .chunks(2)
            .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
        let mut sum: u32 = halves.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    /// Every beginning of a packet is read or refused, also with a short length in the header.
    #[test]
    fn malformed_packets_do_not_panic() {
        let whole = packet(4);
        for length in 0..=whole.len() {
            let mut part = whole[..length].to_vec();
            Header::read(&part);
            if length >= 4 {
                part[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                Header::read(&part);
            }
        }
        assert!(Header::read(&[0x40, 0, 0, 0, 0, 0, 0, 0]).is_none());
    }

    #[test]
    fn reads_ports_numbers_and_payload() {
        let header = Header::read(&packet(4)).expect("a packet of TCP");
        assert_eq!(header.payload, 4);
        assert_eq!(header.ecn, EcnCodepoint::Ect0);
        let FiveTuple {
            source_port,
            destination_port,
            destination,
            ..
        } = header.flow;
        assert_eq!((source_port, destination_port), (1, 2));
        assert_eq!(destination, Ipv4Addr::new(10, 0, 0, 2));
        let segment = header.tcp.expect("a segment");
        assert_eq!((segment.sequence, segment.acknowledged), (256, 512));
        assert!(!segment.is_pure_ack);
        assert_eq!(Header::read(&packet(0)[..30]), None);
    }

    /// An acknowledgement with FIN, an ECN flag or a SACK block is not pure: a later
    /// acknowledgement cannot replace it.
    #[test]
    fn a_pure_acknowledgement_has_nothing_else() {
        let is_pure = |change: fn(&mut Vec<u8>)| {
            let mut packet = packet(0);
            change(&mut packet);
            let segment = Header::read(&packet).and_then(|header| header.tcp);
            segment.expect("a segment").is_pure_ack
        };
        assert!(is_pure(|_| {}));
        assert!(!is_pure(|packet| packet[33] |= FIN));
        assert!(!is_pure(|packet| packet[33] |= 0x40), "ECN echo");
        assert!(!is_pure(|packet| packet[32] |= 1), "accurate ECN");
        assert!(
            !is_pure(|packet| packet[42..44].copy_from_slice(&[5, 10])),
            "SACK"
        );
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut fragment = packet(4);
        fragment[7] = 1;
        let header = Header::read(&fragment).expect("a packet");
        assert_eq!((header.flow.source_port, header.tcp), (0, None));
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut marked = packet(0);
        assert_eq!(total_of(&marked), 0xffff);
        mark(&mut marked);
        assert_eq!(marked[1], 3);
        assert_eq!(total_of(&marked), 0xffff);
    }
}
