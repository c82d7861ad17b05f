//! Configuration of a simulation, fully resolved. The scenario crate builds this from a user's
//! file.
//!
//! NIST SP 500-282, chapter 3, describes the model; chapters 5 (connections and algorithms), 6
//! (long-lived flows, jumbo files) and 8 (file types) add to it. Packets have no size: capacities
//! are packets per second. All values are final: factors have been applied to link delays,
//! capacities and buffers have been computed, and fractions of the run have been converted to
//! times.

mod files;
mod topology;

pub use self::files::{
    Admission, Cell, FileType, Files, Jumbo, LargeFile, PathClass, StartWaves, Users,
};
pub use self::topology::{
    AccessClass, AccessRouter, BackboneLink, PacketRate, Parent, Pop, Router, Service, Topology,
};

use longhaul_congestion::{ControllerSpec, SlowStart};
use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Configuration of a simulation, with every value given.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// Number of the replication. Replications with the same seed draw different random numbers.
    pub replication: u64,
    /// End time of the simulation.
    pub duration: Time,
    /// Routers and links.
    pub topology: Topology,
    /// Speeds of the hosts, which send and receive files.
    pub hosts: Hosts,
    /// Transport parameters of every flow.
    pub transport: Transport,
    /// Congestion control algorithms that sources may use. Their probabilities add up to one.
    pub algorithms: Vec<Algorithm>,
    /// Distributions of the times at which sources request files.
    pub users: Users,
    /// Types and sizes of files.
    pub files: Files,
    /// Flows of unlimited length, in the order of their numbers.
    pub long_lived: Vec<LongLived>,
    /// Intervals and records to report.
    pub measure: Measure,
    /// Flows with recorded states and packets; `None` for no trace.
    pub trace: Option<Trace>,
}

/// Speeds of hosts: each host is either basic or fast, which is drawn. Hosts of long-lived flows have a separate speed
/// ([`LongLived::speed`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hosts {
    /// Rate at which a basic source can send packets, and a basic receiver can acknowledge them.
    pub base: PacketRate,
    /// Rate at which a fast source can send packets, and a fast receiver can acknowledge them.
    pub fast: PacketRate,
    /// Probability that a host is fast.
    pub fast_share: f64,
}

/// Transport parameters of every flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Congestion window at the start and after timeouts, in packets.
    pub initial_cwnd: f64,
    /// Initial slow start threshold, in packets.
    pub initial_ssthresh: f64,
    /// Slow start of flows, unless their algorithm replaces it.
    pub slow_start: SlowStart,
    /// Maximum of the congestion window, in packets.
    pub max_cwnd: f64,
    /// Minimum of the congestion window after losses, in packets. With zero there is no minimum, so
    /// a flow may have to wait for its timeout.
    pub min_cwnd: u8,
    /// Weight of a new sample in the smoothed round-trip time.
    pub srtt_gain: f64,
    /// Time added to the propagation delay for the first smoothed round-trip time, from which the
    /// first timeout follows.
    pub srtt_allowance: Span,
    /// Time that is added to every round-trip time that a source measures.
    pub rtt_excess: Span,
    /// True if the first smoothed round-trip time of a flow is that of its handshake; false if it is
    /// the propagation delay plus `srtt_allowance`. For long-lived flows, which have no handshake, it
    /// is always the latter.
    pub handshake_rtt: bool,
}

/// A congestion control algorithm that sources may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Algorithm {
    /// Label of the algorithm in tables of results.
    pub label: String,
    /// The algorithm and its parameters.
    pub congestion: ControllerSpec,
    /// Probability that a source uses this algorithm.
    pub share: f64,
    /// True if flow groups count flows with this algorithm as alternate ones, false if as standard TCP (NIST SP 500-282,
    /// chapter 8).
    pub alternate: bool,
}

/// A flow of unlimited length, connected from the start. No other flow uses its two hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongLived {
    /// Name of the flow.
    pub label: String,
    /// Index of the source's access router in [`Topology::access`].
    pub from: usize,
    /// Index of the receiver's access router in [`Topology::access`].
    pub to: usize,
    /// Start time of the flow.
    pub start: Time,
    /// Stop time of the flow.
    pub stop: Time,
    /// Index of the flow's algorithm in [`Config::algorithms`]; if `None`, the algorithm is drawn
    /// at random, like that of a source.
    pub algorithm: Option<usize>,
    /// Speed of the flow's source and receiver.
    pub speed: PacketRate,
}

/// Intervals and records that a simulation reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Length of an interval of the time series; more than zero.
    pub every: Span,
    /// Number of completed flows of a group for which goodput statistics are reported together.
    pub batch: usize,
    /// True to report every flow of a source when it ends. Long-lived flows are not reported.
    pub flow_log: bool,
}

/// Flows that are traced: their states and their packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Indices of long-lived flows to trace.
    pub long_lived: Vec<usize>,
    /// Ranges of sources with all flows traced, each as its first and last number. Sources are
    /// numbered from 0 in the order of access routers.
    pub sources: Vec<(u32, u32)>,
    /// Beginning of the trace.
    pub from: Time,
    /// End of the trace.
    pub until: Time,
    /// Maximum number of records of flow states; also the maximum number of records of packet
    /// events. The trace ends with the measurement interval in which one of the two is reached.
    pub max: u64,
}
