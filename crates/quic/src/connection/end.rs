//! The interface of one end of a connection, which is the same for every QUIC stack.

use std::time::{Duration, Instant};

use longhaul_engine::stack::{Datagram, EcnCodepoint};

/// State of an end's path, as the stack reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathState {
    /// Congestion window in bytes.
    pub(crate) window: u64,
    /// Slow start threshold in bytes; `None` if the stack does not report it, and `u64::MAX` for no
    /// threshold.
    pub(crate) ssthresh: Option<u64>,
    /// Smoothed round-trip time; the assumed initial one before the first sample.
    pub(crate) srtt: Duration,
    /// Number of packets declared lost; `None` if the stack reports losses only to its controller.
    pub(crate) lost_packets: Option<u64>,
}

/// One end of a connection: an endpoint of a stack, at most one connection, and an application.
pub(crate) trait End: std::fmt::Debug + Send {
    /// Opens the connection.
    fn connect(&mut self, now: Instant);
    /// Stops the application, which then writes no more data. The stack still sends the data in its
    /// buffer.
    fn stop(&mut self);
    /// Receives a datagram with the ECN field `ecn`.
    fn receive(&mut self, now: Instant, ecn: EcnCodepoint, datagram: Datagram<'_>);
    /// Processes the timers of the stack that have expired.
    fn expire(&mut self, now: Instant);
    /// Writes the next datagram to `datagram`, and returns its ECN field; `None` if there is
    /// nothing to send.
    fn poll(&mut self, now: Instant, datagram: &mut Vec<u8>) -> Option<EcnCodepoint>;
    /// Returns the expiry time of the end's next timer; `None` if no timer is set.
    fn deadline(&mut self) -> Option<Instant>;
    /// Returns the state of the path; `None` without a connection.
    fn path(&self) -> Option<PathState>;
    /// Returns the number of bytes that the application has read.
    fn bytes_read(&self) -> u64;
    /// Returns the time of the peer's acknowledgement of the last byte of the transfer; `None`
    /// before.
    fn finished(&self) -> Option<Instant>;
    /// Returns and removes the reason why the connection was lost or could not be opened; `None` if
    /// it was not.
    fn take_loss(&mut self) -> Option<String>;
}
