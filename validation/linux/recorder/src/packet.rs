//! IPv4 packets of TCP: what is read in them, and the one thing that is changed.

/// Bytes of the largest packet: the devices' MTU.
pub(crate) const LARGEST: usize = 1500;

/// ECN-capable or marked, in the second byte of the header.
const ECN: u8 = 3;

/// What the forwarder needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
    /// Bytes behind the header of TCP.
    pub(crate) payload: usize,
}

impl Header {
    /// Of a packet of TCP over IPv4; none otherwise.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let (&first, &protocol) = (packet.first()?, packet.get(9)?);
        if first >> 4 != 4 || protocol != 6 {
            return None;
        }
        let total = usize::from(half(packet, 2)?);
        let behind = usize::from(first & 15) * 4;
        let tcp = packet.get(behind..total)?;
        let length = usize::from(tcp.get(12)? >> 4) * 4;
        Some(Self {
            source_port: half(tcp, 0)?,
            destination_port: half(tcp, 2)?,
            sequence: word(tcp, 4)?,
            acknowledged: word(tcp, 8)?,
            payload: tcp.len().checked_sub(length)?,
        })
    }
}

/// Marks a packet (RFC 3168) if its sender understands marks.
pub(crate) fn mark(packet: &mut [u8]) -> bool {
    let capable = packet[1] & ECN != 0;
    if capable {
        let before = u16::from_be_bytes([packet[0], packet[1]]);
        packet[1] |= ECN;
        let after = u16::from_be_bytes([packet[0], packet[1]]);
        let sum = updated(u16::from_be_bytes([packet[10], packet[11]]), before, after);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    capable
}

/// A checksum after 16 bits have changed (RFC 1624, equation 3).
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

#[cfg(test)]
mod tests {
    use super::{Header, mark};

    /// Header of IP with its checksum, ports 1 and 2, and four bytes of payload.
    fn packet() -> Vec<u8> {
        let mut packet = vec![
            0x45, 2, 0, 44, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ];
        packet.extend([
            0, 1, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0x50, 0x18, 0, 9, 0, 0, 0, 0, 7, 7, 7, 7,
        ]);
        let sum = !total(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// The sum that is all ones for a right header (RFC 1071).
    fn total(packet: &[u8]) -> u16 {
        let halves = packet[..20]
            .chunks(2)
            .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
        let mut sum: u32 = halves.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn reads_ports_numbers_and_payload() {
        let header = Header::read(&packet()).expect("a packet of TCP");
        assert_eq!((header.source_port, header.destination_port), (1, 2));
        assert_eq!((header.sequence, header.acknowledged), (256, 512));
        assert_eq!(header.payload, 4);
        let mut datagram = packet();
        datagram[9] = 17;
        assert_eq!(Header::read(&datagram), None);
        assert_eq!(Header::read(&packet()[..30]), None);
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut marked = packet();
        assert_eq!(total(&marked), 0xffff);
        assert!(mark(&mut marked));
        assert_eq!(marked[1], 3);
        assert_eq!(total(&marked), 0xffff);
        let mut not_capable = packet();
        not_capable[1] = 0;
        assert!(!mark(&mut not_capable));
    }
}
