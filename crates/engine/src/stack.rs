//! Interface to foreign stacks: transport protocols outside the engine. A stack implements both ends of a connection.
//!
//! A [`Stack`] does no I/O and has no clock. Its ends exchange datagrams. The network stores the bytes of a datagram,
//! and sends a packet that is larger by [`HEADER_BYTES`]. Links, queues and impairments treat this packet like any
//! other.

use std::fmt;
use std::sync::Arc;

use longhaul_congestion::Cause;
use longhaul_units::{Span, Time};

/// Bytes of the IPv4 and UDP headers (RFC 791, RFC 768), which every datagram has.
pub const HEADER_BYTES: usize = 28;

/// An endpoint of a connection, named after its part in the transfer of the flow's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The flow's first node, which sends data.
    Sender,
    /// The flow's second node, which receives data.
    Receiver,
}

impl Host {
    /// Both endpoints, in the order of their values as integers.
    pub const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnCodepoint {
    /// Not ECN-capable.
    NotEct,
    /// ECN-capable: ECT(0).
    Ect0,
    /// ECN-capable: ECT(1), as used by L4S (RFC 9331).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// Contents of a datagram that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// First bytes of the datagram. The last of them may be zeros, too.
    pub bytes: &'a [u8],
    /// Number of zero bytes that follow `bytes`.
    pub zeros: usize,
}

impl Datagram<'_> {
    /// Appends all bytes of the datagram, with the zeros, to `bytes`.
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.bytes);
        bytes.resize(bytes.len() + self.zeros, 0);
    }
}

/// State and counters of a connection: of its sending endpoint, except for the bytes that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StackReport {
    /// Congestion window in packets of the path's MTU; `None` before the connection exists.
    pub cwnd: Option<f64>,
    /// Slow start threshold in packets of the path's MTU, if the controller has one.
    pub ssthresh: Option<f64>,
    /// Smoothed round-trip time, zero before the first sample.
    pub srtt: Span,
    /// Number of packets in flight; for QUIC stacks, as of the last acknowledgement.
    pub in_flight: u64,
    /// Number of packets declared lost.
    pub lost_pkts: u64,
    /// Payload bytes that have arrived at the receiver, each counted once.
    pub delivered_bytes: u64,
    /// Payload bytes delivered to the receiving application.
    pub in_order_bytes: u64,
    /// Number of round-trip samples taken.
    pub rtt_samples: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Span,
    /// Smallest round-trip sample since the last call of [`Stack::restart_extremes`]; zero if there is none.
    pub rtt_min: Span,
    /// Largest round-trip sample since the last call of [`Stack::restart_extremes`].
    pub rtt_max: Span,
    /// Number of reductions of the congestion window for losses.
    pub cuts_loss: u64,
    /// Number of reductions of the congestion window for congestion marks.
    pub cuts_ecn: u64,
    /// Number of window collapses after a long time without acknowledgements. In QUIC this is persistent congestion
    /// (RFC 9002 section 7.6), the counterpart of TCP's retransmission timeout.
    pub timeouts: u64,
    /// Integral of the congestion window over time, in packets times seconds.
    pub cwnd_integral: f64,
    /// Time at which the last byte was acknowledged, if the transfer is finite or was stopped; `None` before.
    pub finish: Option<Time>,
}

/// An event on a connection that the stack reports.
#[derive(Clone, Debug, PartialEq)]
pub enum StackNote {
    /// A reduction of the window, or its collapse.
    Reduction {
        /// Cause of the reduction; `None` for a collapse of the window ([`StackReport::timeouts`]).
        cause: Option<Cause>,
        /// Congestion window before the reduction, in packets.
        cwnd_before: f64,
        /// Congestion window after the reduction, in packets.
        cwnd_after: f64,
        /// Slow start threshold after the reduction, in packets; the congestion window if the controller has none.
        ssthresh_after: f64,
        /// Number of packets in flight.
        in_flight: u64,
    },
    /// Value of a quantity of a traced connection after an acknowledgement, with the quantity's name.
    Trace(&'static str, f64),
    /// The connection ended before its transfer was complete, or could not be opened. The text is the reason, as part
    /// of a sentence.
    ConnectionLost(String),
    /// The last byte was acknowledged.
    Finished,
}

/// A connection of any transport protocol: both endpoints, without a clock and without I/O.
///
/// After each call that changes an endpoint's state, the engine calls [`Self::poll`] until the endpoint has nothing
/// more to send, and then reads [`Self::deadline`].
pub trait Stack: fmt::Debug + Send {
    /// Opens the connection. Either endpoint may send first.
    fn start(&mut self, now: Time);
    /// Records that the application has nothing more to send.
    fn stop(&mut self, now: Time);
    /// Processes a datagram received at the endpoint `host`.
    fn receive(&mut self, host: Host, now: Time, ecn: EcnCodepoint, datagram: Datagram<'_>);
    /// Processes the expiry of the deadline of the endpoint `host`.
    fn expire(&mut self, host: Host, now: Time);
    /// Writes the next datagram of the endpoint `host` to `datagram`, which is empty. Returns its ECN codepoint, or
    /// `None` if there is nothing to send now. A datagram of more than 65,507 bytes is not sent, and the connection
    /// counts as lost.
    fn poll(&mut self, host: Host, now: Time, datagram: &mut Vec<u8>) -> Option<EcnCodepoint>;
    /// Returns the time at which [`Self::expire`] must be called for the endpoint `host` if no datagram arrives before;
    /// `None` if there is no deadline.
    fn deadline(&mut self, host: Host) -> Option<Time>;
    /// Returns the state and the counters up to `now`.
    fn report(&self, now: Time) -> StackReport;
    /// Restarts the record of the smallest and largest round-trip samples.
    fn restart_extremes(&mut self);
    /// Appends the events since the last call to the list `notes`.
    fn take_notes(&mut self, notes: &mut Vec<StackNote>);
    /// Returns the bytes that the stack has written to its log since the last call; empty if it has no log.
    fn take_log(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// Parameters of one connection of a [`StackFactory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSetup {
    /// Seed of all random numbers that the stack draws.
    pub seed: u64,
    /// Number of payload bytes to send; `None` for an unlimited source.
    pub transfer: Option<u64>,
    /// True if the stack has to report [`StackNote::Trace`].
    pub traced: bool,
}

/// Factory that creates the connections of one group of flows.
pub trait StackFactory: fmt::Debug + Send + Sync {
    /// Creates the connection of one flow.
    fn make(&self, setup: &StackSetup) -> Box<dyn Stack>;
}

/// Settings of flows whose transport is an external protocol stack, such as quinn.
#[derive(Clone, Debug)]
pub struct ForeignStack {
    /// Factory of the connections.
    pub factory: Arc<dyn StackFactory>,
    /// Name of the congestion control, prefixed with the stack's name, such as `quinn:cubic`.
    pub congestion: String,
    /// Number of payload bytes to send; `None` for an unlimited source.
    pub transfer: Option<u64>,
    /// Size of the largest datagram on the wire in bytes, headers included.
    pub packet_bytes: u32,
}
