//! Configuration of a simulation, fully resolved. The scenario crate builds it from a user's file.

mod impairments;
mod link;
mod proxy;
mod service_curve;
mod tcp;
mod traffic;

use std::sync::Arc;

use longhaul_keys::{Kind, Range, Read, TIME, Value, keys, words};
use longhaul_units::{Rate, Span, Time};

use crate::stack::ForeignStack;

pub use impairments::{
    AckThinning, Bursts as LossBursts, Change, DelayBox, GilbertElliott, Loss, LossKeys, Policer,
    Reordering, Shaper,
};
pub use link::{DirectionKeys, Link, Service};
pub use longhaul_kernel::random::Randomness;
pub use longhaul_kernel::{
    COUNTS, DRAWN_TIMES, Distribution, Drawn, PROBABILITIES, Quantiles, RATES, SIZES, TIMES,
    in_base_unit,
};
pub use proxy::{Proxy, ProxyChange};
pub use service_curve::{DeliveryTrace, RateSteps, ServiceCurve, Work};
pub use tcp::{
    AckCounting, DelayedAck, Ecn, Fin, IdleRestart, PacedBursts, Pacing, PrrRule, Recovery,
    ReductionRule, Rto, RttClock, RttClockKeys, RttSample, Tcp, TimestampKeys, TimestampKind,
    Timestamps,
};
pub use traffic::{
    Binding, Bursts, Messages, PackMime, Process, Requests, Source, StopRule, TraceEntry, Web,
};

/// A complete simulation.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of all random numbers. With ns-2's generator, the sum of seed and replication is from 1 to 2^31 - 2.
    pub seed: u64,
    /// Replication number: each replication draws other random numbers from the same seed.
    pub replication: u64,
    /// End of the simulation.
    pub duration: Time,
    /// Arithmetic of times on links.
    pub clock: Clock,
    /// Source of random numbers.
    pub randomness: Randomness,
    /// Measurements of the run.
    pub measure: Measure,
    /// Names of the nodes; links and flows refer to them by index.
    pub nodes: Vec<String>,
    /// Nodes where a capture records the packets that end systems send and receive.
    pub captured_nodes: Vec<usize>,
    /// Unidirectional links. Routes have the smallest delay, then the fewest hops; for ties, see
    /// [`shortest_path`](crate::Graph::shortest_path).
    pub links: Vec<Link>,
    /// Flows in the order of their ids.
    pub flows: Vec<Flow>,
    /// Proxies; flows refer to them by index.
    pub proxies: Vec<Proxy>,
}

words! {
    /// Arithmetic of times on links, which decides the order of simultaneous arrivals and departures.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Clock {
        /// Exact times in picoseconds; departures come before arrivals of the same time.
        Exact = "exact",
        /// Times are sums of seconds in double precision, as in ns-2; rounding errors decide the order of simultaneous
        /// events. Links with explicit service (`Link::service`) keep exact times.
        Ns2 = "ns2",
    }
}

keys! {
    /// Quantities that are measured and recorded.
    #[derive(Clone, Debug)]
    pub struct Measure {
        /// Start of the measurement window; it ends with the run.
        pub from: Time = Kind::Quantity(TIME).key().default("0 s"),
        /// Interval of the time series.
        pub every: Option<Span> = Kind::OneOf(&[Kind::Positive(TIME), Kind::Word(&["never"])]).key()
            .default("100 ms"),
        /// True if congestion events are recorded.
        pub events: bool = Kind::Flag.key().default("false"),
        /// True to compute quantiles of the one-way delays of each flow's packets and of the
        /// queueing delays at each sampled link.
        pub delays: bool = Kind::Flag.key().default("false"),
    }
    beside {
        /// Condition that ends the simulation early, if there is one.
        pub stop: Option<StopRule>,
    }
}

/// A flow: one connection or datagram stream from one node to another.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Group label shared by the flows of one table of the scenario.
    pub label: String,
    /// Unique name of the flow, such as `hstcp-3`, or `hstcp-3.0` for the first of several parallel streams.
    pub name: String,
    /// Name under which the flow's counters are summed. For parallel streams, this is the name of the flow that they
    /// are part of; for other flows, their own name.
    pub bundle: String,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Start of the flow.
    pub start: Start,
    /// Time at which the application stops sending, if before the end of the run. A traffic source then opens no more
    /// connections; open ones continue.
    pub stop: Option<Time>,
    /// The proxy that data from the flow's first node to its second passes through, if any. The proxy splits the
    /// connections that carry this data. Never set for datagram streams.
    pub via: Option<usize>,
    /// The proxy for data from the flow's second node to its first, if connections carry data both ways.
    pub via_back: Option<usize>,
    /// Numbers of the flow's connections that are traced: the sender's state is recorded at each acknowledgement.
    /// Numbers start at zero, in order of opening. For traffic sources, the sender at the flow's first node is traced.
    pub traced: Vec<u64>,
    /// Error of the clock at the flow's second node, relative to the clock at the first.
    pub clock: ClockError,
    /// Transport and application.
    pub transport: Transport,
}

keys! {
    /// Error of a receiver's clock, relative to the sender's.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ClockError {
        /// Lead of the receiver's clock over the sender's clock at the beginning of the run.
        pub offset: Span = Kind::Quantity(TIME).key().default("0 s"),
        /// Seconds that the receiver's clock gains (or loses, if negative) in a second.
        pub drift: f64 = Kind::Number(Range::closed(-0.01, 0.01)).key().default("0").unit("s/s"),
    }
}

impl Config {
    /// Returns true if packets of any link or node are captured.
    pub fn captures(&self) -> bool {
        !self.captured_nodes.is_empty() || self.links.iter().any(|link| link.captured)
    }

    /// Returns the number of a node's interface in captures. Interfaces of nodes are numbered after those of links.
    pub fn interface_of_node(&self, node: usize) -> usize {
        self.links.len() + node
    }
}

impl ClockError {
    /// Returns the transit time that the receiver measures with its inaccurate clock, at least zero. The packet arrives
    /// at `now`, after the true transit time `transit`.
    pub(crate) fn measured(&self, transit: Span, now: Time) -> Span {
        if *self == Self::default() {
            return transit;
        }
        let gained_ps = (self.drift * now.as_ps() as f64) as i64;
        let ahead = transit + self.offset;
        Span::from_ps(ahead.as_ps().saturating_add_signed(gained_ps))
    }
}

impl Flow {
    /// Returns true if a connection of the flow is traced.
    pub(crate) fn traces(&self, connection: u64) -> bool {
        self.traced.contains(&connection)
    }
}

/// Start of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// Start at a fixed time.
    At(Time),
    /// Start at a time drawn uniformly from a half-open interval, with a random stream of the flow.
    Uniform(Time, Time),
}

/// Transport and application of a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A TCP connection; flows of a group share its parameters.
    Tcp(Arc<Tcp>),
    /// TCP connections that an application opens and closes during the run, all with the same parameters.
    Traffic(Arc<Tcp>, Arc<Source>),
    /// A TCP connection that carries the messages of an application.
    Messages(Arc<Tcp>, Messages),
    /// Datagrams.
    Udp(Udp),
    /// A connection of a foreign stack, a transport outside the engine.
    Stack(Arc<ForeignStack>),
    /// Packets of real programs in one direction, recorded in an emulation ([`crate::emulation`]). A flow of this kind
    /// cannot be simulated.
    Outside(OutsideFlow),
}

impl Transport {
    /// Returns the parameters of the flow's TCP connections, if it has any.
    pub fn tcp(&self) -> Option<&Arc<Tcp>> {
        match self {
            Self::Tcp(tcp) | Self::Traffic(tcp, _) | Self::Messages(tcp, _) => Some(tcp),
            Self::Udp(_) | Self::Stack(_) | Self::Outside(_) => None,
        }
    }

    /// Returns the name of the flow's congestion control, if it has any.
    pub fn congestion(&self) -> Option<&str> {
        match self {
            Self::Stack(stack) => Some(&stack.congestion),
            Self::Outside(flow) => flow.congestion.as_deref(),
            _ => self.tcp().map(|tcp| tcp.congestion.kind.as_str()),
        }
    }

    /// Returns the number of bytes that the flow's only connection has to send; `None` if this number is unlimited or
    /// the flow is not a single transfer.
    pub fn transfer(&self) -> Option<u64> {
        match self {
            Self::Tcp(tcp) => tcp.transfer,
            Self::Stack(stack) => stack.transfer,
            Self::Traffic(..) | Self::Messages(..) | Self::Udp(_) | Self::Outside(_) => None,
        }
    }
}

/// A flow of real programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideFlow {
    /// Congestion control that the sending kernel reports, for TCP.
    pub congestion: Option<String>,
}

/// A datagram stream.
#[derive(Clone, Debug)]
pub struct Udp {
    /// Rate on the wire. If datagrams are sent in bursts, this is the rate during a burst.
    pub rate: Rate,
    /// Bytes of one packet on the wire.
    pub packet_bytes: u32,
    /// Bytes of the headers of one packet.
    pub header_bytes: u32,
    /// Bursts of datagrams. Without bursts, datagrams are sent all the time.
    pub bursts: Option<Bursts>,
    /// Spacing of datagrams that are not sent in bursts.
    pub spacing: Spacing,
}

/// Spacing of the datagrams of a stream; the mean rate is the same for all variants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Spacing {
    /// At equal intervals.
    #[default]
    Even,
    /// At exponential intervals, as a Poisson process.
    Poisson,
    /// At equal intervals, but each datagram is delayed, uniformly from zero to this fraction of the interval.
    Jitter(f64),
}

impl Spacing {
    /// Allowed values of the scenario key for the spacing of datagrams.
    pub const KIND: Kind = Kind::OneOf(&[
        Kind::Word(&["even", "poisson"]),
        Kind::Table(JitterKeys::KEYS),
    ]);
}

keys! {
    /// Keys of the jitter of datagrams.
    struct JitterKeys {
        /// Maximum delay of a datagram after its regular time, as a fraction of the interval;
        /// delays are uniform from 0.
        jitter: f64 = Kind::Number(Range::closed(0.0, 1.0)).key().required(),
    }
}

/// Reads a spacing; evenly spaced by default.
impl Read for Spacing {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Table(table)) => Some(Self::Jitter(JitterKeys::of(table).jitter)),
            Some(Value::Text(word)) if word == "poisson" => Some(Self::Poisson),
            _ => Some(Self::Even),
        }
    }
}
