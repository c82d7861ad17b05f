//! Protection of packets without encryption: the whole packet number is written in place of an AEAD's tag.
//!
//! A header has a truncated packet number. A receiver decodes the number of a very late packet wrongly (RFC 9000
//! appendix A.3). An AEAD then fails, because the number is part of its nonce (RFC 9001 section 5.3), and the receiver
//! drops the packet. Here, the decoded number differs from the written one, and [`open`] refuses the packet.
//!
//! The number stands before the payload, since the engine stores datagrams without the zeros at their ends, and
//! payloads are mostly zeros. The rest of the tag is zeros after the payload. Without these zeros, a packet might end
//! in a frame with a stateless reset token, and the receiver would take it for a stateless reset (RFC 9000 section
//! 10.3.1).

use bytes::{Buf, BytesMut};

/// Length in bytes of the tag of AES-GCM and ChaCha20-Poly1305 (RFC 9001 section 5.3).
pub(crate) const TAG: usize = 16;

/// Length in bytes of the packet number before the payload, and also of the zeros after it.
const HALF: usize = TAG / 2;

/// Inserts the packet number `number` before a packet's payload, and zeros after the payload. At
/// first, `packet` is a header of `header_len` bytes, the payload, and [`TAG`] unused bytes.
pub(crate) fn seal(number: u64, packet: &mut [u8], header_len: usize) {
    let payload = header_len..packet.len() - TAG;
    let end = payload.end + HALF;
    packet.copy_within(payload, header_len + HALF);
    packet[header_len..][..HALF].copy_from_slice(&number.to_be_bytes());
    packet[end..].fill(0);
}

/// Removes the protection from a payload. Returns `None` if the packet's number is not `number`, or
/// if the payload is shorter than [`TAG`].
pub(crate) fn open(number: u64, payload: &mut BytesMut) -> Option<()> {
    let end = payload.len().checked_sub(HALF)?;
    if end < HALF || !payload.starts_with(&number.to_be_bytes()) {
        return None;
    }
    payload.truncate(end);
    payload.advance(HALF);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_opens_under_its_own_number_only() {
        const HEADER: usize = 11;
        let payload: Vec<u8> = (0..200).collect();
        let room = [9; TAG];
        let mut packet = [&[7; HEADER][..], &payload, &room].concat();
        seal(0x1_0203, &mut packet, HEADER);
        assert_eq!(packet[..HEADER], [7; HEADER]);
        assert!(packet.ends_with(&[0; HALF]));
        let mut sealed = BytesMut::from(&packet[HEADER..]);
        assert_eq!(open(0x2_0203, &mut sealed), None);
        assert_eq!(open(0x1_0203, &mut sealed), Some(()));
        assert_eq!(sealed, payload);
    }

    #[test]
    fn a_payload_that_is_shorter_than_a_tag_does_not_open() {
        assert_eq!(open(0, &mut BytesMut::zeroed(TAG - 1)), None);
        assert_eq!(open(0, &mut BytesMut::zeroed(TAG)), Some(()));
    }
}
