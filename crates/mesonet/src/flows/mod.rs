//! Flows of a simplified TCP (NIST SP 500-282, chapters 3 and 5). It counts packets, not bytes. There
//! is no reordering, and there are no duplicate acknowledgements.
//!
//! Sequence numbers are never reused. Each data packet that arrives is acknowledged by one packet:
//! an ACK if it is in sequence, a NAK if there is a gap before it. A gap reduces the congestion
//! window at most once per round trip. Congestion control is provided by `longhaul-congestion`.

mod ack_queue;
mod receiver;
mod rtt;
mod sender;
mod table;
mod timers;

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

pub(crate) use self::ack_queue::AckQueues;
pub(crate) use self::receiver::{Receiver, ReceiverSetup};
pub(crate) use self::sender::{Interval, Sender, SenderSetup, TimerOutcome, TraceMarks};
pub(crate) use self::table::{FlowInfo, FlowTable, STALE};
pub(crate) use self::timers::{Timer, Timers};
use crate::network::Network;

/// Network, timers and parameters that the ends of flows in a region use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Env {
    pub(crate) network: Network,
    pub(crate) timers: Timers,
    /// Number of data packets that the region's sources have sent since the start of the run.
    pub(crate) packets_in: u64,
    /// Weight of a new sample in the smoothed round-trip time.
    pub(crate) srtt_gain: f64,
    /// Time that is added to every measured round-trip time.
    pub(crate) rtt_excess: Span,
    /// True if the first smoothed round-trip time of a flow with a handshake is that of the handshake.
    pub(crate) handshake_rtt: bool,
    /// Congestion window after timeouts, in packets.
    pub(crate) initial_cwnd: f64,
}

#[cfg(test)]
mod tests;
