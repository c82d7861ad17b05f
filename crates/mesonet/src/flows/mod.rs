//! The transport of MesoNet: TCP without bytes, reordering and duplicate acknowledgements.
//!
//! NIST SP 500-282 chapters 3 and 5 (spec 004a B.5 to B.7, 004b B.1 to B.12). Data packets are numbered
//! anew when something was lost, every one that arrives is answered by one packet that says whether
//! there was a gap before it, and a gap reduces the window at most once per round trip. Congestion
//! control is that of TCP's flows, through the same interface.

mod ack_queue;
mod receiver;
mod rtt;
mod sender;
mod table;
mod timers;

use serde::{Deserialize, Serialize};

pub(crate) use self::ack_queue::Backlog;
pub(crate) use self::receiver::{Place, ReceivingEnd};
pub(crate) use self::sender::{Endpoints, Expired, Interval, Marks, SendingEnd};
pub(crate) use self::table::{About, Connections, LATE, Transports};
pub(crate) use self::timers::{Timer, Timers};
use crate::network::Network;

/// What the ends of flows act on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Env {
    pub(crate) network: Network,
    pub(crate) timers: Timers,
    /// Data packets that sources have sent.
    pub(crate) packets_in: u64,
    /// Weight of a new sample in the smoothed round-trip time.
    pub(crate) srtt_gain: f64,
    /// Congestion window after timeouts.
    pub(crate) initial_cwnd: f64,
}

#[cfg(test)]
mod tests;
