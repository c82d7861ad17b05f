//! A session without encryption, in place of TLS. Instead of the tag of an AEAD, a packet contains its whole packet
//! number, padded with zeros to the length of a tag.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

use crate::connection::handshake::{Handshake, SAMPLE, SIGNATURE, sign};
use crate::connection::protection::{TAG, open, seal};

/// Configuration of sessions without encryption, for both ends. The type is also used in place of
/// an endpoint's keys for reset and retry tokens.
#[derive(Debug)]
pub(crate) struct NoEncryption;

/// Keys that do not encrypt, but write packet numbers.
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
    fn encrypt(&self, number: u64, packet: &mut [u8], header_len: usize) {
        seal(number, packet, header_len);
    }

    fn decrypt(&self, number: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        open(number, payload).ok_or(CryptoError)
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
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        sign(data, signature);
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
        Ok(NullSession::start(Side::Client, parameters))
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
        NullSession::start(Side::Server, parameters)
    }
}

struct NullSession {
    side: Side,
    handshake: Handshake,
    peer: Option<TransportParameters>,
}

impl NullSession {
    fn start(side: Side, parameters: &TransportParameters) -> Box<dyn Session> {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Box::new(Self {
            side,
            handshake: Handshake::new(side.is_client(), own),
            peer: None,
        })
    }
}

impl Session for NullSession {
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
        !self.handshake.is_done()
    }

    fn read_handshake(&mut self, data: &[u8]) -> Result<bool, TransportError> {
        let (side, peer) = (self.side, &mut self.peer);
        let read = self.handshake.read(data, |mut bytes| {
            let parameters = TransportParameters::read(side, &mut bytes);
            *peer = Some(parameters.map_err(|error| error.to_string())?);
            Ok(())
        });
        read.map(|()| false).map_err(|reason| TransportError {
            code: TransportErrorCode::TRANSPORT_PARAMETER_ERROR,
            frame: None,
            reason,
        })
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        self.handshake.write(out).then(keys)
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
