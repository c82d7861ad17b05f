//! Calls of quinn that have another form in its fork noq.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use proto::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    QlogConfig, SendStream, ServerConfig, Transmit, TransportConfig,
};
pub(super) use quinn_proto as proto;

use crate::connection::{PathState, SharedLog};

/// Creates an endpoint. It accepts connections if `server` is given.
pub(super) fn endpoint<G: ConnectionIdGenerator + 'static>(
    mut config: EndpointConfig,
    server: Option<Arc<ServerConfig>>,
    identifiers: impl Fn() -> G + Send + Sync + 'static,
) -> Endpoint {
    config.cid_generator(move || Box::new(identifiers()));
    Endpoint::new(Arc::new(config), server, true, None)
}

/// Makes a connection write a qlog to `log`, with times since `zero`.
pub(super) fn write_qlog(config: &mut TransportConfig, zero: Instant, log: SharedLog) {
    let mut qlog = QlogConfig::default();
    qlog.writer(Box::new(log)).start_time(zero);
    config.qlog_stream(qlog.into_stream());
}

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
    endpoint.handle(now, peer, None, ecn, datagram, response)
}

/// Writes the next datagram of a connection to a buffer.
pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    datagram: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, 1, datagram)
}

/// Writes as much of `chunk` to a stream as the stream accepts. Returns the number of bytes; `None`
/// if the stream is blocked or closed.
pub(super) fn write(stream: &mut SendStream<'_>, chunk: Bytes) -> Option<usize> {
    let written = stream.write_chunks(&mut [chunk]).ok()?;
    Some(written.bytes)
}

pub(super) fn path_state(connection: &Connection) -> Option<PathState> {
    let metrics = connection.congestion_state().metrics();
    Some(PathState {
        window: metrics.congestion_window,
        ssthresh: metrics.ssthresh,
        srtt: connection.rtt(),
        lost_packets: Some(connection.stats().path.lost_packets),
    })
}
