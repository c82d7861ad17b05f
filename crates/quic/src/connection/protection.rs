//! Protection of packets by a session that encrypts nothing: their whole number, in the room for the tag of an AEAD.
//!
//! A header carries a truncated packet number, and a receiver takes a packet that comes late enough for another one
//! (RFC 9000 appendix A.3). The number is part of the nonce of an AEAD (RFC 9001 section 5.3), which therefore fails for
//! such a packet, and the receiver drops it; [`open`] refuses it for the same reason.
//!
//! The number stands before the payload, because the engine stores datagrams without the zeros at their ends, of which
//! payload consists. Zeros follow the payload, so that no packet ends with a stateless reset token that it carries in a
//! frame: a receiver compares the plain end of each packet with the token of its peer (RFC 9000 section 10.3.1).

use bytes::{Buf, BytesMut};

/// Length of the tag of AES-GCM and ChaCha20-Poly1305 (RFC 9001 section 5.3).
pub(crate) const TAG: usize = 16;

/// Length of the packet number before the payload, and of the zeros after it.
const HALF: usize = TAG / 2;

/// Protects a packet whose last [`TAG`] bytes are room for a tag, and whose header has `header_len` bytes.
pub(crate) fn seal(number: u64, packet: &mut [u8], header_len: usize) {
    let payload = header_len..packet.len() - TAG;
    let end = payload.end + HALF;
    packet.copy_within(payload, header_len + HALF);
    packet[header_len..][..HALF].copy_from_slice(&number.to_be_bytes());
    packet[end..].fill(0);
}

/// Removes the protection from a payload; returns `None` if the packet was not sent under this number.
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
