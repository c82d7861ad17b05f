//! What to simulate, fully resolved. The scenario crate builds this from a user's file.

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

words! {
    /// How links keep time: what happens if a packet arrives the moment another departs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Clock {
        /// Exact times in picoseconds; at the same time departures come first.
        Exact = "exact",
        /// ns-2's sums of double-precision seconds, whose rounding decides. Links with explicit service
        /// keep exact time.
        Ns2 = "ns2",
    }
}

keys! {
    /// What is measured and recorded.
    #[derive(Clone, Debug)]
    pub struct Measure {
        /// Start of the measurement window; it ends with the run.
        pub from: Time = Kind::Quantity(TIME).key().default("0 s"),
        /// Interval of the time series.
        pub every: Option<Span> = Kind::OneOf(&[Kind::Positive(TIME), Kind::Word(&["never"])]).key()
            .default("100 ms"),
        /// Whether congestion events are recorded.
        pub events: bool = Kind::Flag.key().default("false"),
        /// Whether quantiles are found of how long packets of each flow are on their way, and wait for links that are sampled.
        pub delays: bool = Kind::Flag.key().default("false"),
    }
    beside {
        /// What ends the simulation before its time, if anything does.
        pub stop: Option<StopRule>,
    }
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
    /// Of which of its connections, counted from zero in order of opening, the sender's state is recorded at each
    /// acknowledgement; of traffic, that of what is sent from the flow's first node to its second.
    pub traced: Vec<u64>,
    /// How the clock of its second node differs from that of its first.
    pub clock: ClockError,
    /// Transport and application.
    pub transport: Transport,
}

keys! {
    /// How a receiver's clock differs from the sender's.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ClockError {
        /// How far it is ahead at the beginning of the run.
        pub offset: Span = Kind::Quantity(TIME).key().default("0 s"),
        /// What it gains, or loses, in a second.
        pub drift: f64 = Kind::Number(Range::closed(-0.01, 0.01)).key().default("0").unit("s/s"),
    }
}

impl ClockError {
    /// A transit time that ends at `now`, as both clocks have it; none below zero.
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
    /// Whether a connection of the flow is traced.
    pub(crate) fn traces(&self, connection: u64) -> bool {
        self.traced.contains(&connection)
    }
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
    /// A connection of a stack from outside the engine.
    Stack(Arc<ForeignStack>),
}

impl Transport {
    /// The parameters of its TCP connections, if it has any.
    pub fn tcp(&self) -> Option<&Arc<Tcp>> {
        match self {
            Self::Tcp(tcp) | Self::Traffic(tcp, _) | Self::Messages(tcp, _) => Some(tcp),
            Self::Udp(_) | Self::Stack(_) => None,
        }
    }

    /// The name of its congestion control, if it has any.
    pub fn congestion(&self) -> Option<&str> {
        match self {
            Self::Stack(stack) => Some(&stack.congestion),
            _ => self.tcp().map(|tcp| tcp.congestion.kind.as_str()),
        }
    }

    /// What its one connection has to send; none of an unlimited source, and of others.
    pub fn transfer(&self) -> Option<u64> {
        match self {
            Self::Tcp(tcp) => tcp.transfer,
            Self::Stack(stack) => stack.transfer,
            Self::Traffic(..) | Self::Messages(..) | Self::Udp(_) => None,
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
    /// How they follow one another, without bursts.
    pub spacing: Spacing,
}

/// How the datagrams of a stream follow one another, at the same mean rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Spacing {
    /// At equal intervals.
    #[default]
    Even,
    /// As a Poisson process: at exponential intervals.
    Poisson,
    /// Each later than at equal intervals by a uniform part of the interval, up to this one.
    Jitter(f64),
}

impl Spacing {
    /// What a scenario may say.
    pub const KIND: Kind = Kind::OneOf(&[
        Kind::Word(&["even", "poisson"]),
        Kind::Table(JitterKeys::KEYS),
    ]);
}

keys! {
    /// Jitter of datagrams.
    struct JitterKeys {
        /// How much later than evenly a datagram may leave, as a part of the interval: drawn uniformly.
        jitter: f64 = Kind::Number(Range::closed(0.0, 1.0)).key().required(),
    }
}

/// Even by default.
impl Read for Spacing {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Table(table)) => Some(Self::Jitter(JitterKeys::of(table).jitter)),
            Some(Value::Text(word)) if word == "poisson" => Some(Self::Poisson),
            _ => Some(Self::Even),
        }
    }
}
