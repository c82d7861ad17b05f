//! Calls of noq that differ from those of quinn.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
pub(super) use noq_proto as proto;
use proto::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathId, SendStream, ServerConfig, Transmit, TransportConfig,
};

use crate::connection::{PathState, SharedLog};

/// Makes an endpoint, which serves if it has a server's configuration.
pub(super) fn endpoint<G: ConnectionIdGenerator + 'static>(
    mut config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    identifiers: impl Fn() -> G + Send + Sync + 'static,
) -> Endpoint {
    config.cid_generator(Arc::new(move || Box::new(identifiers())));
    Endpoint::new(Arc::new(config), server, true)
}

/// Does nothing: noq's qlog is not built, and refused before ([`super::TRAITS`]).
pub(super) fn write_qlog(_: &mut TransportConfig, _: Instant, _: SharedLog) {}

/// Passes a datagram to an endpoint, whose answer is appended to `response`.
pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    response: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from(peer), ecn, datagram, response)
}

/// Writes the next datagram of a connection.
pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    datagram: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, datagram)
}

/// Writes to a stream as much as it takes; returns the number of bytes, or none if it takes none
/// now.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [chunk][..]).ok()
}

/// Returns the state of the one path.
pub(super) fn path_state(connection: &Connection) -> Option<PathState> {
    let metrics = connection.congestion_state(PathId::ZERO)?.metrics();
    Some(PathState {
        window: metrics.congestion_window,
        ssthresh: metrics.ssthresh,
        srtt: connection.rtt(PathId::ZERO)?,
        lost_packets: None,
    })
}
