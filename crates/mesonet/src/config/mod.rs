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
    /// Seed of all random numbers.
    pub seed: u64,
    /// Replication number: each replication draws other random numbers from the same seed.
    pub replication: u64,
    /// Time at which the simulation ends.
    pub duration: Time,
    /// Routers and links.
    pub topology: Topology,
    /// Speeds of sources and receivers.
    pub hosts: Hosts,
    /// Transport parameters of every flow.
    pub transport: Transport,
    /// Congestion control of the sources. The probabilities add up to one.
    pub algorithms: Vec<Algorithm>,
    /// Requests of the sources.
    pub users: Users,
    /// Types and sizes of files.
    pub files: Files,
    /// Unlimited flows, in the order of their numbers.
    pub long_lived: Vec<LongLived>,
    /// Measurements to report.
    pub measure: Measure,
    /// Flows to trace, if any.
    pub trace: Option<Trace>,
}

/// Speeds of sources and receivers. Each host draws its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hosts {
    /// Rate of packets that a basic host can send.
    pub base: PacketRate,
    /// Rate of packets that a fast host can send.
    pub fast: PacketRate,
    /// Probability that a host is fast.
    pub fast_share: f64,
}

/// Transport parameters of every flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// Congestion window at the start and after timeouts, in packets.
    pub initial_cwnd: f64,
    /// Slow start threshold at the start, in packets.
    pub initial_ssthresh: f64,
    /// Slow start of flows whose algorithm does not replace it.
    pub slow_start: SlowStart,
    /// Maximum of the congestion window, in packets.
    pub max_cwnd: f64,
    /// Minimum of the congestion window after losses; zero for none, so that a flow may have to
    /// wait for its timeout.
    pub min_cwnd: u8,
    /// Weight of a new sample in the smoothed round-trip time.
    pub srtt_gain: f64,
    /// Allowance that is added to the propagation delay for the first smoothed round-trip time,
    /// from which the first timeout follows.
    pub srtt_allowance: Span,
    /// Excess that is added to every round-trip time measured by a source.
    pub rtt_excess: Span,
    /// True if the handshake is the first sample of the round-trip time, in place of the propagation delay.
    pub handshake_rtt: bool,
}

/// A congestion control that sources may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Algorithm {
    /// Label in tables.
    pub label: String,
    /// The algorithm.
    pub congestion: ControllerSpec,
    /// Probability that a source uses this algorithm.
    pub share: f64,
    /// True if flow groups count it as the alternate algorithm, instead of as standard TCP.
    pub alternate: bool,
}

/// An unlimited flow between separate hosts, connected from the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongLived {
    /// Name.
    pub label: String,
    /// Access router of the source.
    pub from: usize,
    /// Access router of the receiver.
    pub to: usize,
    /// Time at which it starts to send.
    pub start: Time,
    /// Time at which it stops.
    pub stop: Time,
    /// Position of its algorithm in [`Config::algorithms`]; if none is given, the algorithm is
    /// drawn as for sources.
    pub algorithm: Option<usize>,
    /// Speed of its hosts.
    pub speed: PacketRate,
}

/// Measurements to report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Length of an interval of the time series, more than zero.
    pub every: Span,
    /// Number of completed flows of a group for which statistics of goodput are reported together.
    pub batch: usize,
    /// True to report every flow when it ends.
    pub flow_log: bool,
}

/// Flows that are traced: their states and their packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Positions of long-lived flows.
    pub long_lived: Vec<usize>,
    /// Ranges of sources, each with its first and last number, whose flows are all traced. Sources
    /// are numbered from 0 in order of access routers.
    pub sources: Vec<(u32, u32)>,
    /// Beginning of the trace.
    pub from: Time,
    /// End of the trace.
    pub until: Time,
    /// Maximum number of records of flow states, and of records of packet events.
    pub max: u64,
}
