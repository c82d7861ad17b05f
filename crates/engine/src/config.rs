//! What to simulate, fully resolved. The scenario crate builds this from a user's file.

mod distribution;
mod proxy;
mod quantiles;
mod traffic;

use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, MinCwnd, Rounding, SlowStart};
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::network::change::Change;
use crate::network::entrance::EntranceConfig;
use crate::network::loss::Loss;
use crate::network::queue::QueueConfig;

pub use distribution::Distribution;
pub use proxy::{Proxy, ProxyChange};
pub use quantiles::Quantiles;
pub(crate) use quantiles::interpolate;
pub use traffic::{
    Binding, Bursts, Messages, PackMime, Process, Requests, Source, StopRule, TraceEntry, Web,
};

/// A complete simulation.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of all random numbers; from 1 to 2^31 - 2, with the replication added, for ns-2's.
    pub seed: u64,
    /// Replication number: another one draws other random numbers from the same seed.
    pub replication: u64,
    /// When the simulation ends.
    pub duration: Time,
    /// How links keep time.
    pub clock: Clock,
    /// Where random numbers come from.
    pub randomness: Randomness,
    /// What is measured.
    pub measure: Measure,
    /// Names of the nodes; links and flows refer to them by index.
    pub nodes: Vec<String>,
    /// Unidirectional links. Routes are shortest paths by delay, then hops, then link order.
    pub links: Vec<Link>,
    /// Flows in the order of their ids.
    pub flows: Vec<Flow>,
    /// Proxies; flows refer to them by index.
    pub proxies: Vec<Proxy>,
}

/// How links keep time: what happens if a packet arrives the moment another departs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Exact times in picoseconds; at the same time departures come first.
    Exact,
    /// ns-2's sums of double-precision seconds, whose rounding decides. Links with explicit service
    /// keep exact time.
    Ns2,
}

/// Where random numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// One stream per component: a change of one component leaves the others' numbers alone.
    Streams,
    /// ns-2's one generator for all, in the order of use.
    Ns2,
}

/// What is measured and recorded.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Start of the measurement window, which ends with the simulation.
    pub from: Time,
    /// Interval of the time series; none without it.
    pub every: Option<Span>,
    /// Whether congestion events are recorded.
    pub events: bool,
    /// What ends the simulation before its time, if anything does.
    pub stop: Option<StopRule>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name, for example `bottleneck` or `bottleneck-reverse`.
    pub name: String,
    /// Node where packets enter.
    pub from: usize,
    /// Node where they come out.
    pub to: usize,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Token bucket between queue and transmitter, if any.
    pub shaper: Option<Shaper>,
    /// What happens to packets before anything else, if anything does.
    pub entrance: Option<Box<EntranceConfig>>,
    /// Packets lost before they reach the queue.
    pub loss: Loss,
    /// What becomes different in the course of the run, in order of time, at most once at a time.
    pub changes: Vec<Change>,
    /// Period of the timer whose ticks release packets at the far end, as in dummynet; they are released
    /// when they are there without it.
    pub tick: Option<Span>,
    /// How departures are computed, where nothing needs them one by one; see [`Link::service`].
    pub service: Service,
    /// Whether the time series include this link.
    pub sampled: bool,
    /// Whether its packets are recorded.
    pub captured: bool,
}

impl Link {
    /// The rate at which packets leave in the long run.
    pub(crate) fn capacity(&self) -> Rate {
        let shaped = self.shaper.map_or(self.rate, |shaper| shaper.rate);
        shaped.min(self.rate)
    }

    /// How departures are computed: not on arrival if the discipline decides later, if packets wait
    /// for tokens or ticks, or if the link changes.
    pub fn service(&self) -> Service {
        let explicit = !self.queue.decides_on_arrival()
            || self.shaper.is_some()
            || self.tick.is_some()
            || !self.changes.is_empty();
        if explicit {
            Service::Explicit
        } else {
            self.service
        }
    }
}

/// A token bucket: a packet that leaves the queue waits, in service, until there are as many tokens
/// as it has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// Rate at which tokens come in.
    pub rate: Rate,
    /// The most that are saved up: at least a packet's.
    pub burst: Bytes,
}

/// How a link computes departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// On arrival, since a first-in first-out queue fixes the departure then: one event a packet.
    OnArrival,
    /// One event at the end of each transmission, as disciplines need that decide on dequeue.
    Explicit,
}

/// A flow: one connection or datagram stream from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Group label shared by the flows of one table of the scenario.
    pub label: String,
    /// Unique name, for example `hstcp-3`, or `hstcp-3.0` for the first of several streams.
    pub name: String,
    /// Name of what it is counted as: its own, or that of the flow whose stream it is.
    pub bundle: String,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// When it starts.
    pub start: Start,
    /// When the application stops sending, if before the end.
    pub stop: Option<Time>,
    /// The proxy that splits its connections, for what goes from its first node to its second. Datagrams
    /// have none.
    pub via: Option<usize>,
    /// The same for what comes back, of connections with data both ways.
    pub via_back: Option<usize>,
    /// Transport and application.
    pub transport: Transport,
}

/// When a flow starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// At a fixed time.
    At(Time),
    /// Drawn uniformly from a half-open interval, from the flow's own stream.
    Uniform(Time, Time),
}

/// How a flow carries its data.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A TCP connection; flows of a group share its parameters.
    Tcp(Arc<Tcp>),
    /// TCP connections that an application opens and closes as it goes, all with the same parameters.
    Traffic(Arc<Tcp>, Arc<Source>),
    /// A TCP connection over which an application sends messages.
    Messages(Arc<Tcp>, Messages),
    /// Datagrams.
    Udp(Udp),
}

impl Transport {
    /// The parameters of its TCP connections, if it has any.
    pub fn tcp(&self) -> Option<&Arc<Tcp>> {
        match self {
            Self::Tcp(tcp) | Self::Traffic(tcp, _) | Self::Messages(tcp, _) => Some(tcp),
            Self::Udp(_) => None,
        }
    }
}

/// A datagram stream.
#[derive(Clone, Debug)]
pub struct Udp {
    /// Rate on the wire, in bursts if there are any.
    pub rate: Rate,
    /// Bytes of one packet on the wire.
    pub packet_bytes: u32,
    /// Bytes of it that are headers.
    pub header_bytes: u32,
    /// When datagrams leave; all the time without them.
    pub bursts: Option<Bursts>,
}

/// A TCP connection, sender and receiver.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Bytes to transfer; unlimited (a greedy source) without it.
    pub transfer: Option<u64>,
    /// Payload bytes of a full segment.
    pub mss_bytes: u32,
    /// Bytes of IP and TCP headers on every data segment, without options.
    pub header_bytes: u32,
    /// Bytes of a pure acknowledgement, SYN or FIN on the wire, without options.
    pub ack_bytes: u32,
    /// Bytes on the wire of a SACK option without its blocks (kind, length, padding).
    pub sack_option_bytes: u32,
    /// Bytes on the wire of each SACK block.
    pub sack_block_bytes: u32,
    /// Bytes of the timestamp option on the wire, if timestamps are in use.
    pub timestamps: Option<u32>,
    /// Whether acknowledgements report the transit time of the last data segment, in microseconds:
    /// the option of Sync-TCP, between hosts whose clocks agree (spec 001a B.6).
    pub one_way_delay: bool,
    /// Initial window in segments (RFC 6928).
    pub initial_window: f64,
    /// The receiver's window in segments.
    pub receive_window: u64,
    /// The sender's socket buffer in segments, if it limits the flight.
    pub send_buffer: Option<u64>,
    /// Initial slow start threshold in segments; the receive window without it.
    pub initial_ssthresh: Option<f64>,
    /// The congestion control algorithm.
    pub congestion: ControllerSpec,
    /// The slow start.
    pub slow_start: SlowStart,
    /// How reductions round.
    pub rounding: Rounding,
    /// The smallest windows that reductions leave.
    pub min_cwnd: MinCwnd,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Duplicate acknowledgements that signal a loss.
    pub dupack_threshold: u32,
    /// Whether the first duplicate acknowledgements each release a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// What one acknowledgement counts for in growth.
    pub ack_counting: AckCounting,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// Delayed acknowledgements, if any.
    pub delayed_ack: Option<DelayedAck>,
    /// The retransmission timer.
    pub rto: Rto,
    /// A random delay, uniform from zero to this, before each burst of segments (ns-2's
    /// `overhead_`); none if zero.
    pub send_jitter: Span,
    /// The most segments sent for one acknowledgement, if limited.
    pub max_burst: Option<u32>,
    /// Whether segments are paced over the round trip, and how. An algorithm that gives a rate paces at
    /// it in any case.
    pub pacing: Option<Pacing>,
}

/// Pacing rates, in windows per smoothed round trip: more than one, or what is sent falls behind what the
/// window allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    /// While the window is below half of the slow start threshold.
    pub slow_start: f64,
    /// Above that.
    pub avoidance: f64,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends with the first new acknowledgement (RFC 2581).
    Reno,
    /// Fast recovery through partial acknowledgements (RFC 6582).
    NewReno,
    /// Selective acknowledgements with the pipe of RFC 6675.
    Sack,
    /// The same, with proportional rate reduction (RFC 6937).
    SackPrr,
    /// Forward acknowledgement (Mathis and Mahdavi 1996).
    Fack,
    /// Time-based detection and tail loss probes, RACK-TLP (RFC 8985).
    RackTlp,
    /// The same, with proportional rate reduction (RFC 6937).
    RackTlpPrr,
    /// Reno as ns-2 has it.
    Ns2Reno,
    /// NewReno as ns-2 has it.
    Ns2NewReno,
    /// ns-2's `Sack1`: a pipe that counts acknowledgements, not what is known to be lost.
    Ns2Sack,
}

impl Recovery {
    /// Whether the receiver reports selective acknowledgements.
    pub fn uses_sack(self) -> bool {
        match self {
            Self::Sack
            | Self::SackPrr
            | Self::Fack
            | Self::RackTlp
            | Self::RackTlpPrr
            | Self::Ns2Sack => true,
            Self::Tahoe | Self::Reno | Self::NewReno | Self::Ns2Reno | Self::Ns2NewReno => false,
        }
    }

    /// Whether ns-2 differs from the RFCs in it.
    pub(crate) fn is_ns2(self) -> bool {
        matches!(self, Self::Ns2Reno | Self::Ns2NewReno | Self::Ns2Sack)
    }
}

/// Explicit congestion notification of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// None.
    Off,
    /// A mark is echoed until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// Every acknowledgement tells whether its segments were marked (RFC 8257 section 3.2).
    Dctcp,
}

impl Ecn {
    /// Whether segments are sent as capable of it.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

/// What an acknowledgement counts for in growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckCounting {
    /// One, whatever it acknowledges (ns-2; RFC 2581).
    PerAck,
    /// The segments that it covers, at most this many in slow start (RFC 3465).
    PerSegment {
        /// The limit `L` of RFC 3465 in slow start; one in that after a timeout.
        slow_start_limit: f64,
    },
    /// The segments that it reports for the first time, selectively or not (Linux).
    Delivered,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// An acknowledgement is sent at the latest after this.
    pub timeout: Span,
    /// ... or with every so many in-order segments (2 in RFC 5681).
    pub segments: u32,
    /// Whether the answer to the SYN is delayed too, as in ns-2.
    pub delays_syn: bool,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rto {
    /// Before the first sample.
    pub initial: Span,
    /// Lower bound.
    pub min: Span,
    /// Upper bound.
    pub max: Span,
    /// How round trips are measured.
    pub clock: RttClock,
}

/// How round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RttClock {
    /// Exactly; the granularity enters the timeout only (RFC 6298 section 2).
    Exact {
        /// The `G` of RFC 6298.
        granularity: Span,
    },
    /// ns-2's: whole ticks from a random phase, in 8- and 4-fold fixed point.
    Ns2Ticks {
        /// Length of a tick.
        tick: Span,
    },
}
