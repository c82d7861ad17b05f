//! Keys of a group of flows.

use longhaul_engine::config::{ClockError, Recovery, Spacing, Tcp};
use longhaul_keys::{Kind, Profile, RATE, Read, SIZE, TIME, Table, Value, keys};
use longhaul_units::{Bytes, Rate, Span, Time};

use crate::link::AccessKeys;
use crate::model::protocol::Protocol;
use crate::traffic::Traffic;

/// Flows of one group.
const MAX_FLOWS: i64 = 100_000;
/// Parallel connections of one flow.
const MAX_STREAMS: i64 = 1_000;

keys! {
    /// What all flows have.
    pub(crate) struct AnyFlow {
        /// Name of the group; its congestion control by default.
        pub label: String = Kind::Name.key().derived("what the flows run"),
        /// Number of flows in the group.
        pub count: u64 = Kind::Whole { min: 1, max: MAX_FLOWS }.key().default("1"),
        /// `tcp`, datagrams at a constant rate, or `quic`, in a real QUIC stack.
        pub protocol: Protocol = Kind::Word(Protocol::WORDS).key().default("tcp"),
        /// Bytes of a full packet on the wire.
        pub packet: Bytes = Kind::Positive(SIZE).key().default("1500 B").source("Ethernet"),
        /// When the flows start: a time, an interval to draw from, or a list, one each.
        pub start: Starts = Kind::OneOf(&[
            Kind::Quantity(TIME),
            Kind::Table(UniformStart::KEYS),
            Kind::List(&Kind::Quantity(TIME)),
        ]).key().default("0 s"),
        /// When the application stops sending; the end of the run by default.
        pub stop: Option<Time> = Kind::Positive(TIME).key(),
        /// What the application does, if it does not send from start to end: opens connections as it
        /// goes (TCP; servers are at the first node), or sends in bursts.
        pub traffic: Option<Traffic> = Kind::Tagged(Traffic::KINDS).key(),
    }
}

keys! {
    /// The TCP implementation at both ends of a connection.
    pub(crate) struct Stack {}
    apart {
        /// Congestion control: `kind` (reno by default), `variant`, parameters; or `python`, file and
        /// class of one of your own (`my_cc.py:MyCC`), and what its constructor takes.
        pub congestion: Table = Kind::Congestion.key().in_profile(Profile::Linux, "{ kind = cubic }")
            .source("Linux: tcp_congestion_control, RFC 9438"),
        /// Slow start; `max_ssthresh` alone chooses the profile's limited form, 0 none.
        pub slow_start: Table = Kind::SlowStart.key(),
        /// How losses are detected and retransmitted.
        pub recovery: Recovery = Kind::Word(Recovery::WORDS).key()
            .default("sack").in_profile(Profile::Linux, "rack-tlp-prr").in_ns2("ns2-sack")
            .source("RFC 6675; Linux: tcp_recovery"),
        /// Transport options, over those of the file and the profile.
        pub tcp: Table = Kind::Table(Tcp::KEYS).key(),
    }
}

keys! {
    /// What only TCP flows have, but for [`Stack`].
    pub(crate) struct TcpFlow {
        /// TCP: parallel connections between the same hosts that share each flow's transfer and count
        /// as one flow.
        pub streams: u64 = Kind::Whole { min: 1, max: MAX_STREAMS }.key().default("1"),
        /// Payload to send; unlimited by default.
        pub transfer: Option<u64> = Kind::Positive(SIZE).key(),
        /// How the clock of the flow's second node differs from that of the first, where transit times of data
        /// are reported (`tcp.timestamps = "one-way"`); they agree by default.
        pub clock_error: Option<ClockError> = Kind::Table(ClockError::KEYS).key(),
        /// Whether the state of the sender and of its congestion control is recorded at each ACK; of traffic,
        /// of which connections of each source, by their number in the table of exchanges.
        pub trace_acks: Traced = Kind::OneOf(&[
            Kind::Flag,
            Kind::List(&Kind::Whole { min: 0, max: i64::MAX }),
        ]).key(),
    }
    flattened {
        /// Their implementation of TCP.
        pub stack: Stack,
    }
}

keys! {
    /// What only UDP flows have.
    pub(crate) struct UdpFlow {
        /// UDP: rate on the wire.
        pub rate: Rate = Kind::Positive(RATE).key(),
        /// UDP: how datagrams follow one another at this rate: `even` by default, `poisson`, or evenly with
        /// jitter.
        pub spacing: Spacing = Spacing::KIND.key(),
    }
}

keys! {
    /// Hosts of the flows of a group.
    pub(crate) struct FlowAccess {
        /// The group's own access links.
        pub access: Option<AccessKeys> = Kind::Table(AccessKeys::KEYS).key(),
    }
    apart {
        /// Base round trip: the access delay follows from it.
        pub rtt: Span = Kind::Positive(TIME).key(),
    }
}

keys! {
    /// Start times between two others.
    pub(crate) struct UniformStart {
        /// Drawn uniformly between two times.
        pub uniform: Vec<Time> = Kind::List(&Kind::Quantity(TIME)).key().required(),
    }
}

/// When the flows of a group start.
pub(crate) enum Starts {
    /// All at one time.
    Together(Time),
    /// Each at a time of its own.
    Each(Vec<Time>),
    /// Drawn uniformly between two times.
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

/// Numbers of the connections that are traced: of a flow that has one only, number 0.
pub(crate) struct Traced(pub Vec<u64>);

impl Read for Traced {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Flag(true)) => Some(Self(vec![0])),
            None | Some(Value::Flag(false)) => Some(Self(Vec::new())),
            Some(_) => Read::read(value).map(Self),
        }
    }
}
