//! A session that encrypts nothing: handshake messages of the sizes that TLS 1.3 has, which carry the transport
//! parameters, keys that change nothing, and 16 bytes of room for the tag of an AEAD, so that packets have their sizes.
//!
//! With rustls in its place, packets of data have the same sizes; those of the handshake differ by what certificates
//! and signatures take.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

/// Length of the tag of AES-GCM and ChaCha20-Poly1305 (RFC 9001 section 5.3).
const TAG: usize = 16;

/// Length of the sample for header protection (RFC 9001 section 5.4.2).
const SAMPLE: usize = 16;

/// Length of a signature of HMAC-SHA-256.
const SIGNATURE: usize = 32;

/// Messages and their sizes: with X25519 and one ECDSA certificate of P-256.
const CLIENT_HELLO: usize = 280;
const SERVER_HELLO: usize = 90;
const CERTIFICATE_AND_FINISHED: usize = 700;
const FINISHED: usize = 36;

/// Length and number of bytes of parameters, with which a message begins.
const PREFIX: usize = 4;

/// Configuration of both ends, and the keys of endpoints.
#[derive(Debug)]
pub(crate) struct NoEncryption;

/// Keys that change nothing.
#[derive(Debug)]
struct NoKey;

fn keys() -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(NoKey),
            remote: Box::new(NoKey),
        },
        packet: packet_keys(),
    }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair {
        local: Box::new(NoKey),
        remote: Box::new(NoKey),
    }
}

impl PacketKey for NoKey {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(len);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for NoKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

impl HmacKey for NoEncryption {
    /// Differs where the data differ: reset tokens are made of it.
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        signature.fill(0);
        let len = signature.len();
        for (index, byte) in data.iter().enumerate() {
            let place = &mut signature[index % len];
            *place = place.rotate_left(3) ^ byte;
        }
    }

    fn signature_len(&self) -> usize {
        SIGNATURE
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for NoEncryption {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for NoEncryption {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.extend_from_slice(&[0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let len = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..len])
    }
}

impl ClientConfig for NoEncryption {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::new(Side::Client, parameters))
    }
}

impl ServerConfig for NoEncryption {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn Session> {
        Handshake::new(Side::Server, parameters)
    }
}

/// The next thing that an end does in its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    SendHello,
    AwaitHello,
    HandshakeKeys,
    AwaitRest,
    DataKeys,
    Done,
}

/// The handshake of one end.
struct Handshake {
    side: Side,
    step: Step,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    /// What has arrived and is no whole message yet.
    received: Vec<u8>,
}

impl Handshake {
    fn new(side: Side, parameters: &TransportParameters) -> Box<dyn Session> {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Box::new(Self {
            side,
            step: match side {
                Side::Client => Step::SendHello,
                Side::Server => Step::AwaitHello,
            },
            own,
            peer: None,
            received: Vec::new(),
        })
    }

    /// A whole message has arrived.
    fn advance(&mut self) {
        self.step = match (self.side, self.step) {
            (_, Step::AwaitHello) => Step::HandshakeKeys,
            (Side::Client, Step::AwaitRest) => Step::DataKeys,
            (Side::Server, Step::AwaitRest) => Step::Done,
            (_, step) => step,
        };
    }
}

/// Appends a message that carries parameters, of at least `size` bytes.
fn put_message(parameters: &[u8], size: usize, out: &mut Vec<u8>) {
    let size = size.max(parameters.len() + PREFIX);
    let end = out.len() + size;
    out.extend_from_slice(&(size as u16).to_be_bytes());
    out.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
    out.extend_from_slice(parameters);
    out.resize(end, 0);
}

/// The refusal of parameters that cannot be read.
fn refusal(reason: impl ToString) -> TransportError {
    TransportError {
        code: TransportErrorCode::TRANSPORT_PARAMETER_ERROR,
        frame: None,
        reason: reason.to_string(),
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    fn read_handshake(&mut self, data: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(data);
        while let Some(&[size_high, size_low, len_high, len_low]) = self.received.first_chunk() {
            let size = usize::from(u16::from_be_bytes([size_high, size_low]));
            let len = usize::from(u16::from_be_bytes([len_high, len_low]));
            if self.received.len() < size {
                break;
            }
            if PREFIX + len > size {
                return Err(refusal("a handshake message that is longer than it says"));
            }
            if len > 0 {
                let mut parameters = &self.received[PREFIX..PREFIX + len];
                let read = TransportParameters::read(self.side, &mut parameters);
                self.peer = Some(read.map_err(refusal)?);
            }
            self.received.drain(..size);
            self.advance();
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let (message, next) = match (self.side, self.step) {
            (Side::Client, Step::SendHello) => {
                put_message(&self.own, CLIENT_HELLO, out);
                self.step = Step::AwaitHello;
                return None;
            }
            (Side::Client, Step::HandshakeKeys) => (None, Step::AwaitRest),
            (Side::Client, Step::DataKeys) => (Some((&[][..], FINISHED)), Step::Done),
            (Side::Server, Step::HandshakeKeys) => (Some((&[][..], SERVER_HELLO)), Step::DataKeys),
            (Side::Server, Step::DataKeys) => {
                let message = (&self.own[..], CERTIFICATE_AND_FINISHED);
                (Some(message), Step::AwaitRest)
            }
            _ => return None,
        };
        if let Some((parameters, size)) = message {
            put_message(parameters, size, out);
        }
        self.step = next;
        Some(keys())
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}
