//! Calls of noq that differ from quinn's.

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

/// Creates an endpoint. It accepts connections if `server` is given.
pub(super) fn endpoint<G: ConnectionIdGenerator + 'static>(
    mut config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    identifiers: impl Fn() -> G + Send + Sync + 'static,
) -> Endpoint {
    config.cid_generator(Arc::new(move || Box::new(identifiers())));
    Endpoint::new(Arc::new(config), server, true)
}

/// Does nothing. This build has noq without qlog, and a request for one is refused earlier
/// ([`super::TRAITS`]).
pub(super) fn write_qlog(_: &mut TransportConfig, _: Instant, _: SharedLog) {}

/// Passes a datagram to an endpoint. If the endpoint itself answers, for instance with a stateless
/// reset, the answer is appended to `response`.
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

/// Writes the next datagram of a connection to a buffer.
pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    datagram: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, datagram)
}

/// Writes as much of `chunk` to a stream as the stream accepts. Returns the number of bytes; `None`
/// if the stream is blocked or closed.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [chunk][..]).ok()
}

/// Returns the state of the connection's only path.
pub(super) fn path_state(connection: &Connection) -> Option<PathState> {
    let metrics = connection.congestion_state(PathId::ZERO)?.metrics();
    Some(PathState {
        window: metrics.congestion_window,
        ssthresh: metrics.ssthresh,
        srtt: connection.rtt(PathId::ZERO)?,
        lost_packets: None,
    })
}
