//! Keys of a group of flows.

use longhaul_engine::config::{ClockError, Recovery, Spacing, Tcp};
use longhaul_keys::{Kind, Profile, RATE, Read, SIZE, TIME, Table, Value, keys};
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::link::AccessKeys;
use crate::model::protocol::Protocol;
use crate::traffic::Traffic;

/// Maximum number of flows in one group.
const MAX_FLOWS: i64 = 100_000;
/// Maximum number of parallel connections of one flow.
const MAX_STREAMS: i64 = 1_000;

keys! {
    /// Keys of all flows.
    pub(crate) struct AnyFlow {
        /// Name of the group. By default it is the name of its congestion control, of its model of traffic or of its
        /// QUIC stack, or `udp`.
        pub label: String = Kind::Name.key().derived("name of the flows' congestion control, traffic, QUIC stack or protocol"),
        /// Number of flows in the group.
        pub count: u64 = Kind::Whole { min: 1, max: MAX_FLOWS }.key().default("1"),
        /// `tcp`; `udp`, for datagrams at a constant rate; or `quic`, for connections of a real
        /// QUIC stack.
        pub protocol: Protocol = Kind::Word(Protocol::WORDS).key().default("tcp"),
        /// Bytes of a full packet on the wire.
        pub packet: Bytes = Kind::Positive(SIZE).key().default("1500 B").source("Ethernet"),
        /// Start times of the flows: a time, an interval to draw from, or a list with a time for
        /// each flow.
        pub start: Starts = Kind::OneOf(&[
            Kind::Quantity(TIME),
            Kind::Table(UniformStart::KEYS),
            Kind::List(&Kind::Quantity(TIME)),
        ]).key().default("0 s"),
        /// Time at which the application stops sending; the end of the run by default.
        pub stop: Option<Time> = Kind::Positive(TIME).key(),
        /// Behaviour of an application that does not send all the time: it sends in bursts, or opens TCP connections
        /// during the run. Servers are at the flow's first node.
        pub traffic: Option<Traffic> = Kind::Tagged(Traffic::KINDS).key(),
    }
}

keys! {
    /// The TCP implementation at both ends of a connection.
    pub(crate) struct Stack {}
    apart {
        /// Congestion control: `kind` (reno by default), `variant` and parameters; or `python`, the
        /// file and class of a custom algorithm (`my_cc.py:MyCC`), with the arguments of its
        /// constructor; or `external`, a controller in another process; or `module`, a module of Linux.
        pub congestion: Table = Kind::Congestion.key().in_profile(Profile::Linux, "{ kind = cubic }")
            .source("Linux: tcp_congestion_control, RFC 9438"),
        /// Slow start. `max_ssthresh` alone selects the profile's limited slow start, or standard
        /// slow start if it is 0.
        pub slow_start: Table = Kind::SlowStart.key(),
        /// Detection and retransmission of losses.
        pub recovery: Recovery = Kind::Word(Recovery::WORDS).key()
            .default("sack").in_profile(Profile::Linux, "rack-tlp-prr").in_ns2("ns2-sack")
            .source("RFC 6675; Linux: tcp_recovery"),
        /// Transport options; they override those of the file and the profile.
        pub tcp: Table = Kind::Table(Tcp::KEYS).key(),
    }
}

keys! {
    /// Keys of TCP flows. QUIC flows have `transfer`, `trace_acks`, `congestion` and `slow_start`, too.
    pub(crate) struct TcpFlow {
        /// TCP: number of parallel connections of a flow. They share the flow's transfer and count as one flow.
        pub streams: u64 = Kind::Whole { min: 1, max: MAX_STREAMS }.key().default("1"),
        /// Payload to send; unlimited by default.
        pub transfer: Option<u64> = Kind::Positive(SIZE).key(),
        /// Difference between the clock of the flow's second node and that of the first, for reported transit times of
        /// data (`tcp.timestamps = "one-way"`); no difference by default.
        pub clock_error: Option<ClockError> = Kind::Table(ClockError::KEYS).key(),
        /// True to record the state of the sender and of its congestion control at each ACK. With `traffic`, a list of
        /// the connections of each source to record, by their number in the column `connection` of `exchanges`; true
        /// then records the first connection of each source.
        pub trace_acks: TracedConnections = Kind::OneOf(&[
            Kind::Flag,
            Kind::List(&Kind::Whole { min: 0, max: i64::MAX }),
        ]).key(),
    }
    flattened {
        /// Implementation of TCP.
        pub stack: Stack,
    }
}

keys! {
    /// Keys for UDP flows only.
    pub(crate) struct UdpFlow {
        /// UDP: rate on the wire.
        pub rate: Rate = Kind::Positive(RATE).key(),
        /// UDP: spacing of the datagrams: `even` by default, `poisson`, or even with jitter.
        pub spacing: Spacing = Spacing::KIND.key(),
    }
}

keys! {
    /// Keys of the access links and of the base round-trip time of a group of flows.
    pub(crate) struct FlowAccess {
        /// Access links of the group.
        pub access: Option<AccessKeys> = Kind::Table(AccessKeys::KEYS).key(),
    }
    apart {
        /// Base round-trip time; it determines the access delay.
        pub rtt: Span = Kind::Positive(TIME).key(),
    }
}

keys! {
    /// Keys of start times that are drawn uniformly between two times.
    pub(crate) struct UniformStart {
        /// Earliest and latest start time; start times are uniform between them.
        pub uniform: Vec<Time> = Kind::List(&Kind::Quantity(TIME)).key().required(),
    }
}

/// Start times of the flows of a group, as given in the scenario.
pub(crate) enum Starts {
    /// One time for all flows.
    Together(Time),
    /// A time for each flow.
    Each(Vec<Time>),
    /// Earliest and latest start time; each flow's start is uniform between them.
    Uniform(Vec<Time>),
}

impl Read for Starts {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Table(table) => Some(Self::Uniform(UniformStart::of(table).uniform)),
            Value::List(_) => Read::read(value).map(Self::Each),
            _ => Read::read(value).map(Self::Together),
        }
    }
}

/// Numbers of the connections that are traced, of each source or of a flow. The first connection of a
/// source, and the only one of a flow, has number 0, for which `true` stands.
pub(crate) struct TracedConnections(pub Vec<u64>);

impl Read for TracedConnections {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Flag(true)) => Some(Self(vec![0])),
            None | Some(Value::Flag(false)) => Some(Self(Vec::new())),
            Some(_) => Read::read(value).map(Self),
        }
    }
}
