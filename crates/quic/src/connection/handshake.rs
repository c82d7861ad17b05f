//! A handshake without encryption. Its messages have the sizes of TLS 1.3 and carry the transport
//! parameters.
//!
//! With rustls, data packets would have the same sizes. Only handshake packets would differ, by the
//! bytes of certificates and signatures.

/// Length in bytes of the sample of a packet for header protection (RFC 9001 section 5.4.2).
pub(crate) const SAMPLE: usize = 16;

/// Length in bytes of a signature of HMAC-SHA-256.
pub(crate) const SIGNATURE: usize = 32;

/// Size in bytes of the client's first message (TLS 1.3 with X25519 and one ECDSA certificate of
/// P-256).
const CLIENT_HELLO: usize = 280;
/// Size in bytes of the server's first message.
const SERVER_HELLO: usize = 90;
/// Size in bytes of the server's other messages, from EncryptedExtensions to Finished.
const CERTIFICATE_AND_FINISHED: usize = 700;
/// Size in bytes of the client's Finished.
const FINISHED: usize = 36;

/// Number of bytes of the two fields at the beginning of a handshake message: the lengths of the
/// message and of its transport parameters.
const PREFIX: usize = 4;

/// Next step of an end in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    SendHello,
    AwaitHello,
    HandshakeKeys,
    AwaitRest,
    DataKeys,
    Done,
}

/// State of the handshake at one end.
#[derive(Debug)]
pub(crate) struct Handshake {
    is_client: bool,
    step: Step,
    /// Transport parameters of this end.
    own: Vec<u8>,
    /// Bytes received from the peer that do not form a whole handshake message yet.
    received: Vec<u8>,
}

impl Handshake {
    pub(crate) fn new(is_client: bool, own: Vec<u8>) -> Self {
        Self {
            is_client,
            step: if is_client {
                Step::SendHello
            } else {
                Step::AwaitHello
            },
            own,
            received: Vec::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Reads bytes of the peer's messages, and passes the peer's transport parameters to
    /// `parameters`.
    ///
    /// # Errors
    ///
    /// Fails if a message does not have this session's format, or if `parameters` refuses the
    /// parameters.
    pub(crate) fn read(
        &mut self,
        data: &[u8],
        mut parameters: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        self.received.extend_from_slice(data);
        while let Some(&[size_high, size_low, len_high, len_low]) = self.received.first_chunk() {
            let size = usize::from(u16::from_be_bytes([size_high, size_low]));
            let len = usize::from(u16::from_be_bytes([len_high, len_low]));
            if PREFIX + len > size {
                return Err("a handshake message that is shorter than its contents".to_string());
            }
            if self.received.len() < size {
                break;
            }
            if len > 0 {
                parameters(&self.received[PREFIX..PREFIX + len])?;
            }
            self.received.drain(..size);
            self.advance();
        }
        Ok(())
    }

    /// Moves to the next step after a whole message has arrived.
    fn advance(&mut self) {
        self.step = match (self.is_client, self.step) {
            (_, Step::AwaitHello) => Step::HandshakeKeys,
            (true, Step::AwaitRest) => Step::DataKeys,
            (false, Step::AwaitRest) => Step::Done,
            (_, step) => step,
        };
    }

    /// Appends the next message to `out` if it is this end's turn. Returns true if packets after
    /// it use new keys. A client changes to handshake keys without a message.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> bool {
        let own = std::mem::take(&mut self.own);
        let (message, next) = match (self.is_client, self.step) {
            (true, Step::SendHello) => (Some((&own[..], CLIENT_HELLO)), Step::AwaitHello),
            (true, Step::HandshakeKeys) => (None, Step::AwaitRest),
            (true, Step::DataKeys) => (Some((&[][..], FINISHED)), Step::Done),
            (false, Step::HandshakeKeys) => (Some((&[][..], SERVER_HELLO)), Step::DataKeys),
            (false, Step::DataKeys) => {
                (Some((&own[..], CERTIFICATE_AND_FINISHED)), Step::AwaitRest)
            }
            (_, step) => (None, step),
        };
        if let Some((parameters, size)) = message {
            put_message(parameters, size, out);
        }
        self.own = own;
        let is_hello = self.step == Step::SendHello;
        let moves = std::mem::replace(&mut self.step, next) != next;
        moves && !is_hello
    }
}

/// Appends a message with `parameters`, padded to at least `size` bytes, to `out`.
fn put_message(parameters: &[u8], size: usize, out: &mut Vec<u8>) {
    let size = size.max(parameters.len() + PREFIX);
    let end = out.len() + size;
    out.extend_from_slice(&(size as u16).to_be_bytes());
    out.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
    out.extend_from_slice(parameters);
    out.resize(end, 0);
}

/// Fills `signature` with bytes that depend on `data`. If `data` is shorter, the remaining bytes are 0xff.
pub(crate) fn sign(data: &[u8], signature: &mut [u8]) {
    // A stateless reset token has 16 bytes and signs a connection identifier of 8 bytes, so it ends in 0xff. Packets
    // end in zeros: the stack never takes their end for a token.
    signature.fill(0xff);
    let len = signature.len();
    for (index, byte) in data.iter().enumerate() {
        let place = &mut signature[index % len];
        *place = place.rotate_left(3) ^ byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each end learns the transport parameters of the other. The ends exchange messages of the
    /// sizes of TLS 1.3 in pieces of any size.
    #[test]
    fn both_ends_learn_the_parameters_of_the_other() {
        for piece in [1, 7, 2000] {
            let mut ends = [
                Handshake::new(true, vec![1; 60]),
                Handshake::new(false, vec![2; 90]),
            ];
            let mut learnt = [Vec::new(), Vec::new()];
            let mut sizes = [0, 0];
            for turn in 0..12 {
                let (from, to) = (turn % 2, 1 - turn % 2);
                let mut out = Vec::new();
                ends[from].write(&mut out);
                sizes[from] += out.len();
                for part in out.chunks(piece) {
                    let parameters = &mut learnt[to];
                    let read = ends[to].read(part, |bytes| {
                        parameters.extend_from_slice(bytes);
                        Ok(())
                    });
                    read.expect("as it was written");
                }
            }
            assert!(ends.iter().all(Handshake::is_done));
            assert_eq!(learnt, [vec![2; 90], vec![1; 60]]);
            assert_eq!(sizes, [280 + 36, 90 + 700]);
        }
    }

    /// Different connection identifiers give different tokens, which do not end with zeros. Tokens
    /// of 16 bytes (RFC 9000 section 10.3) are derived from quinn's connection identifiers of 8
    /// bytes.
    #[test]
    fn tokens_differ_and_do_not_end_with_zeros() {
        let token = |identifier: u64| {
            let mut signature = [0; SIGNATURE];
            sign(&identifier.to_be_bytes(), &mut signature);
            signature[..16].to_vec()
        };
        assert_ne!(token(0), token(1));
        assert_ne!(token(u64::MAX), token(0));
        assert!(
            [0, 1, u64::MAX]
                .iter()
                .all(|&identifier| token(identifier)[8..] != [0; 8])
        );
    }

    #[test]
    fn a_broken_message_is_refused() {
        let mut end = Handshake::new(false, Vec::new());
        assert!(end.read(&[0, 5, 0, 9, 1], |_| Ok(())).is_err());
        let mut end = Handshake::new(false, Vec::new());
        let refused = end.read(&[0, 5, 0, 1, 1], |_| Err("unknown".to_string()));
        assert_eq!(refused, Err("unknown".to_string()));
    }
}
