//! Keys of `[mesonet]`: a simulation of MesoNet (NIST SP 500-282 chapter 3).
//!
//! MesoNet counts time in steps, and capacities in packets per step; times may also have a unit. Names in parentheses
//! are those of the original configuration file. `[mesonet]` itself may use them instead of these keys
//! (`crate::mesonet::original`). Most defaults are in `profiles/mesonet.toml`; the others are in the modules that
//! resolve the keys.

mod network;
mod users;

use longhaul_keys::{COUNT_MAX, Kind, Range, Read, TIME, Table, Value, keys};
use longhaul_units::{Quantity, Span};

pub(crate) use network::{
    AccessKeys, BackboneKeys, Buffer, HostKeys, LinkKeys, NetworkKeys, PopKeys, ReceiverShares,
    RouteKeys, Routers, Sizing, SourceShares, TopologyFile,
};
pub(crate) use users::{
    AlgorithmKeys, FileKeys, JumboBase, JumboKeys, LargeFiles, LongLivedKeys, PathShares,
    StartKeys, UserKeys,
};

/// Allowed values of a key: a number of packets.
const PACKETS: Kind = Kind::Number(Range::above(0.0, 1e12));
/// Allowed values of a key: a positive number without a unit.
const FACTOR: Kind = Kind::Number(Range::above(0.0, 1e9));
const WHOLE_FACTOR: Kind = Kind::Whole {
    min: 1,
    max: 1_000_000_000,
};
const IDENTIFIER: Kind = Kind::OneOf(&[
    Kind::Name,
    Kind::Whole {
        min: 0,
        max: COUNT_MAX,
    },
]);
/// Allowed values of a key: a time, or a number of time steps.
const STEPS: Kind = Kind::OneOf(&[Kind::Quantity(TIME), Kind::Number(Range::closed(0.0, 1e12))]);
const POSITIVE_STEPS: Kind =
    Kind::OneOf(&[Kind::Positive(TIME), Kind::Number(Range::above(0.0, 1e12))]);
/// Allowed values of a key for a point in time: a time, or a fraction of the run.
const MOMENT: Kind = Kind::OneOf(&[Kind::Quantity(TIME), Kind::Number(Range::closed(0.0, 1e6))]);

/// A time as it is written in the scenario: with a unit, as a number of time steps, or as a
/// fraction of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    /// A time with its unit.
    Span(Span),
    /// A number of time steps or of seconds, or a fraction of the run.
    Number(f64),
}

impl Read for Written {
    fn read(value: Option<&Value>) -> Option<Self> {
        match *value? {
            Value::Quantity(Quantity::Span(span)) => Some(Self::Span(span)),
            Value::Number(number) => Some(Self::Number(number)),
            _ => None,
        }
    }
}

/// The name or number by which a key refers to an element of the network, to a long-lived flow, or to a range of sources.
#[derive(Clone, Debug)]
pub(crate) enum Identifier {
    /// Name of the element or flow, or a range of the numbers of sources.
    Name(String),
    /// Number of the element.
    Number(u64),
}

impl Read for Identifier {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value? {
            Value::Text(name) => Some(Self::Name(name.clone())),
            Value::Whole(number) => u64::try_from(*number).ok().map(Self::Number),
            _ => None,
        }
    }
}

keys! {
    /// Keys of the table `[mesonet]` itself.
    pub(crate) struct MesoNet {}
    apart {
        /// Number of the run, which names the files of `longhaul export` (exID).
        pub run: Option<u64> = Kind::Whole { min: 0, max: COUNT_MAX }.key(),
        /// Length of a time step: a time, or a number of seconds (basicTimeUnit); 1 ms by default.
        pub step: Written = Kind::OneOf(&[Kind::Positive(TIME), Kind::Number(Range::above(0.0, 1000.0))]).key(),
        /// Length of a measurement interval: a time, or a number of time steps (M); 200 time steps by default.
        pub interval: Written = POSITIVE_STEPS.key(),
        /// Measurement intervals simulated (MI).
        pub intervals: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key(),
        /// Number of measurement intervals whose rows are written to disk together, but at most 8192 rows (original
        /// name: MB); 8192 rows by default.
        pub flush_every: Option<u64> = Kind::Whole { min: 1, max: COUNT_MAX }.key(),
        /// Named parts of the run; the summary has averages over each.
        pub periods: Vec<Table> = Kind::List(&Kind::Table(Period::KEYS)).key(),
        /// Request times of sources.
        pub users: UserKeys = Kind::Table(UserKeys::KEYS).key(),
        /// Sizes of the files.
        pub files: Table = Kind::Table(FileKeys::KEYS).key(),
        /// Routers, their speeds and buffers, and the links of the backbone.
        pub network: Table = Kind::Table(NetworkKeys::KEYS).key(),
        /// Sources and receivers below the access routers.
        pub hosts: Table = Kind::Table(HostKeys::KEYS).key(),
        /// Congestion control of the sources, drawn once for each; Reno alone by default. Original names: prTCP,
        /// prBICTCP, prCTCP, prFAST, prHSTCP, prHTCP, prSCALABLE.
        pub algorithms: Vec<Table> = Kind::List(&Kind::Table(AlgorithmKeys::KEYS)).key(),
        /// Unlimited flows between separate hosts, connected from the start (LL_FLOWS).
        pub long_lived: Vec<Table> = Kind::List(&Kind::Table(LongLivedKeys::KEYS)).key(),
        /// Initial windows and thresholds, and round-trip estimation, of all flows.
        pub transport: TransportKeys = Kind::Table(TransportKeys::KEYS).key(),
        /// Measurements to record.
        pub measure: MeasureKeys = Kind::Table(MeasureKeys::KEYS).key(),
    }
}

keys! {
    /// A named part of the run.
    pub(crate) struct Period {
        /// Name of the period.
        pub name: String = Kind::Name.key().required(),
        /// Beginning of the period: a time, or a fraction of the run.
        pub from: Written = MOMENT.key().required(),
        /// End of the period: a time, or a fraction of the run.
        pub to: Written = MOMENT.key().required(),
    }
}

keys! {
    /// Keys of the transport, which all flows share.
    pub(crate) struct TransportKeys {
        /// Congestion window of a new flow, and after timeouts, in packets (INITIAL_TCP_CWND); 2 by default.
        pub initial_cwnd: f64 = Kind::Number(Range::closed(1.0, 1e6)).key(),
        /// Initial slow start threshold, in packets (INITIAL_TCP_SS_THRESHOLD); 100 by default.
        pub initial_ssthresh: f64 = Kind::Number(Range::closed(2.0, 1e12)).key(),
        /// Threshold of limited slow start, in packets: from this window on, the growth is half of this value each
        /// round trip (MAX_SS_THRESHOLD); 100 by default.
        pub max_ssthresh: f64 = Kind::Number(Range::closed(2.0, 1e12)).key(),
        /// Maximum of the congestion window, in packets; 2147483647 by default.
        pub max_cwnd: f64 = Kind::Number(Range::closed(1.0, 1e12)).key(),
        /// Minimum of the congestion window after losses, in packets; 1 by default. With 0, a flow
        /// with a window of less than a packet waits for its timeout.
        pub min_cwnd: u8 = Kind::Whole { min: 0, max: 100 }.key(),
        /// Weight of a new sample in the smoothed round-trip time; 1/8 by default.
        pub srtt_gain: f64 = Kind::Number(Range::above(0.0, 1.0)).key(),
        /// Allowance for queues: a time, or time steps (EB_DELAY); 0 by default. The first smoothed round-trip time is
        /// the propagation delay plus this allowance, and the first timeout is twice that sum, but at most 32
        /// propagation delays. If `handshake_rtt` is true, the allowance applies only to flows without a handshake.
        pub srtt_allowance: Written = STEPS.key(),
        /// True if the first smoothed round-trip time of a flow is that of its handshake (RFC 6298 section 2.2), not
        /// the propagation delay plus `srtt_allowance`; true by default.
        pub handshake_rtt: bool = Kind::Flag.key(),
        /// Excess added to every round-trip time that a source measures: a time, or time steps;
        /// none by default.
        pub rtt_excess: Option<Written> = STEPS.key(),
    }
}

/// Names of the tables that `measure.tables` may contain. Tables of flows and traces have separate keys.
pub(crate) const TABLES: &[&str] = &[
    "network",
    "classes",
    "long_lived",
    "routers",
    "edges",
    "backbone_links",
    "goodput",
];

keys! {
    /// Measurements to record.
    pub(crate) struct MeasureKeys {
        /// Tables to write; all by default.
        pub tables: Vec<String> = Kind::List(&Kind::Word(TABLES)).key(),
        /// Minimum number of completed flows of a group per row of goodput statistics, except in its last row; 1000 by
        /// default. Rows are written at the ends of intervals.
        pub batch: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key(),
        /// True to record every flow as a row of `flows.parquet` when it ends; false by default.
        pub flow_log: bool = Kind::Flag.key(),
        /// Flows recorded in `flow_trace.parquet` and `packet_trace.parquet`; none by default.
        pub trace: Option<TraceKeys> = Kind::Table(TraceKeys::KEYS).key(),
        /// Backbone link on which `longhaul export` counts packets, by name or number; 0 for none
        /// (BB_LINK_TO_MONITOR).
        pub backbone_link: Identifier = IDENTIFIER.key(),
        /// Point of presence at which `longhaul export` counts packets from the backbone, by name or number; 0 for none
        /// (POP_LINK_TO_MONITOR).
        pub pop: Identifier = IDENTIFIER.key(),
        /// Access router at which `longhaul export` counts packets from the router above, by name or number; 0 for none
        /// (ACCESS_LINK_TO_MONITOR).
        pub access: Identifier = IDENTIFIER.key(),
    }
}

keys! {
    /// Keys of the trace: its flows and its period.
    pub(crate) struct TraceKeys {
        /// Long-lived flows, by name or number.
        pub flows: Vec<Identifier> = Kind::List(&IDENTIFIER).key(),
        /// Sources of which all flows are traced: numbers as in `flows.parquet`, or ranges of numbers such as "0-9".
        /// Sources are numbered from 0, in order of access routers.
        pub sources: Vec<Identifier> = Kind::List(&IDENTIFIER).key(),
        /// Beginning of the trace: a time, or a fraction of the run; 0 by default.
        pub from: Written = MOMENT.key(),
        /// End of the trace: a time, or a fraction of the run; 1 by default.
        pub until: Written = MOMENT.key(),
        /// Maximum number of rows of `flow_trace.parquet`, and of `packet_trace.parquet`; 1000000 by default. The trace
        /// ends when one of the two has this number of rows.
        pub max_rows: u64 = Kind::Whole { min: 1, max: COUNT_MAX }.key(),
    }
}
