//! Keys of `[mesonet]`: a simulation of MesoNet (NIST SP 500-282 chapter 3).
//!
//! MesoNet counts time in steps and capacities in packets per step; times may be written with their
//! unit instead. Names in parentheses are the original ones, which may be written in `[mesonet]`
//! itself in place of these (`crate::mesonet::original`). Defaults are in `profiles/mesonet.toml`.

mod network;
mod users;

use longhaul_keys::{COUNT_MAX, Key as Field, Kind, Range, TIME, key as field, required};

use network::{HOSTS, NETWORK};
pub(crate) use network::{SIZINGS, TOPOLOGY_FILE};
use users::{ALGORITHM, FILES, LONG_LIVED, USERS};

/// A number of packets.
const PACKETS: Kind = Kind::Number(Range::above(0.0, 1e12));
/// A positive number without a unit.
const FACTOR: Kind = Kind::Number(Range::above(0.0, 1e9));
const WHOLE_FACTOR: Kind = Kind::Whole {
    min: 1,
    max: 1_000_000_000,
};
const IDENTIFIER: Kind = Kind::OneOf(&[
    Kind::Text,
    Kind::Whole {
        min: 0,
        max: COUNT_MAX,
    },
]);
/// A time, or time steps.
const STEPS: Kind = Kind::OneOf(&[Kind::Quantity(TIME), Kind::Number(Range::closed(0.0, 1e12))]);
const POSITIVE_STEPS: Kind =
    Kind::OneOf(&[Kind::Positive(TIME), Kind::Number(Range::above(0.0, 1e12))]);
/// A point in time: a time, or a fraction of the run.
const MOMENT: Kind = Kind::OneOf(&[Kind::Quantity(TIME), Kind::Number(Range::closed(0.0, 1e6))]);

/// Keys of the table itself.
pub(crate) const MESONET: &[Field] = &[
    field(
        "run",
        Kind::Whole {
            min: 0,
            max: COUNT_MAX,
        },
        "Number of the run, which names the files of `longhaul export` (exID).",
    ),
    field(
        "step",
        Kind::OneOf(&[
            Kind::Positive(TIME),
            Kind::Number(Range::above(0.0, 1000.0)),
        ]),
        "Length of a time step: a time, or a number of seconds (basicTimeUnit); 1 ms by default.",
    ),
    field(
        "interval",
        POSITIVE_STEPS,
        "Length of a measurement interval: a time, or time steps (M); 200 by default.",
    ),
    field(
        "intervals",
        Kind::Whole {
            min: 1,
            max: COUNT_MAX,
        },
        "Measurement intervals simulated (MI).",
    ),
    field(
        "flush_every",
        Kind::Whole {
            min: 1,
            max: COUNT_MAX,
        },
        "Intervals buffered before their rows are written (MB); 8192 rows by default.",
    ),
    field(
        "periods",
        Kind::List(&Kind::Table(PERIOD)),
        "Parts of the run with names, which the summary averages over.",
    ),
    field("users", Kind::Table(USERS), "When sources ask for files."),
    field("files", Kind::Table(FILES), "How long the files are."),
    field(
        "network",
        Kind::Table(NETWORK),
        "Routers, their speeds and buffers, and the links of the backbone.",
    ),
    field(
        "hosts",
        Kind::Table(HOSTS),
        "Sources and receivers below the access routers.",
    ),
    field(
        "algorithms",
        Kind::List(&Kind::Table(ALGORITHM)),
        "Congestion control of the sources, drawn once for each; Reno alone by default. Original \
         names: prTCP, prBICTCP, prCTCP, prFAST, prHSTCP, prHTCP, prSCALABLE.",
    ),
    field(
        "long_lived",
        Kind::List(&Kind::Table(LONG_LIVED)),
        "Unlimited flows between hosts of their own, connected from the start (LL_FLOWS).",
    ),
    field(
        "transport",
        Kind::Table(TRANSPORT),
        "Initial windows and thresholds, and round-trip estimation, of all flows.",
    ),
    field("measure", Kind::Table(MEASURE), "What is measured."),
];

const PERIOD: &[Field] = &[
    required("name", Kind::Text, "Name of the period."),
    required(
        "from",
        MOMENT,
        "Its beginning: a time, or a part of the run.",
    ),
    required("to", MOMENT, "Its end: a time, or a part of the run."),
];

const TRANSPORT: &[Field] = &[
    field(
        "initial_cwnd",
        Kind::Number(Range::closed(1.0, 1e6)),
        "Initial congestion window, also after timeouts, in packets (INITIAL_TCP_CWND); 2 by \
         default.",
    ),
    field(
        "initial_ssthresh",
        Kind::Number(Range::closed(2.0, 1e12)),
        "Initial slow start threshold, in packets (INITIAL_TCP_SS_THRESHOLD); 100 by default.",
    ),
    field(
        "max_ssthresh",
        Kind::Number(Range::closed(2.0, 1e12)),
        "Window from which limited slow start adds half of it each round trip (MAX_SS_THRESHOLD); 100 by \
         default.",
    ),
    field(
        "max_cwnd",
        Kind::Number(Range::closed(1.0, 1e12)),
        "Maximum of the congestion window, in packets; 2147483647 by default.",
    ),
    field(
        "min_cwnd",
        Kind::Whole { min: 0, max: 100 },
        "Minimum of the congestion window that losses leave, in packets; 0 for none, so that a flow with \
         less than a packet waits for its timeout; 1 by default.",
    ),
    field(
        "srtt_gain",
        Kind::Number(Range::above(0.0, 1.0)),
        "Weight of a new sample in the smoothed round-trip time; 1/8 by default.",
    ),
    field(
        "srtt_allowance",
        STEPS,
        "Allowance for queues: added to the propagation delay for the first smoothed round-trip time, twice \
         which is the first timeout: a time, or time steps (EB_DELAY); 0 by default. Only for flows without a \
         handshake if `handshake_rtt` is true.",
    ),
    field(
        "handshake_rtt",
        Kind::Flag,
        "Whether the round trip of the handshake is the first sample and replaces the first smoothed \
         round-trip time (RFC 6298 section 2.2); true by default.",
    ),
    field(
        "rtt_excess",
        STEPS,
        "Added to every round-trip time that a source measures: a time, or time steps; nothing by default.",
    ),
];

/// Tables that a run may have.
pub(crate) const TABLES: &[&str] = &[
    "network",
    "classes",
    "long_lived",
    "routers",
    "edges",
    "backbone_links",
    "goodput",
];

const MEASURE: &[Field] = &[
    field(
        "tables",
        Kind::List(&Kind::Word(TABLES)),
        "Tables to write; all by default.",
    ),
    field(
        "batch",
        Kind::Whole {
            min: 1,
            max: COUNT_MAX,
        },
        "Completed flows of a group after which statistics of their goodput are a row; 1000 by \
         default.",
    ),
    field(
        "flow_log",
        Kind::Flag,
        "Whether every flow is a row of `flows.parquet` when it ends; false by default.",
    ),
    field(
        "trace",
        Kind::Table(TRACE),
        "Flows whose states and packets are rows of `flow_trace.parquet` and `packet_trace.parquet`; \
         none by default.",
    ),
    field(
        "backbone_link",
        IDENTIFIER,
        "Link of the backbone whose packets `longhaul export` counts, by name or number; 0 for none \
         (BB_LINK_TO_MONITOR).",
    ),
    field(
        "pop",
        IDENTIFIER,
        "Point of presence whose arrivals from the backbone it counts, by name or number; 0 for none \
         (POP_LINK_TO_MONITOR).",
    ),
    field(
        "access",
        IDENTIFIER,
        "Access router whose arrivals from above it counts, by name or number; 0 for none \
         (ACCESS_LINK_TO_MONITOR).",
    ),
];

const TRACE: &[Field] = &[
    field(
        "flows",
        Kind::List(&IDENTIFIER),
        "Long-lived flows, by name or number.",
    ),
    field(
        "sources",
        Kind::List(&IDENTIFIER),
        "Sources, all of whose flows are traced: numbers as in `flows.parquet`, from 0 in order of \
         access routers, or a first and a last one such as \"0-9\".",
    ),
    field(
        "from",
        MOMENT,
        "When the trace begins: a time, or a part of the run; 0 by default.",
    ),
    field(
        "until",
        MOMENT,
        "When it ends: a time, or a part of the run; 1 by default.",
    ),
    field(
        "max_rows",
        Kind::Whole {
            min: 1,
            max: COUNT_MAX,
        },
        "Maximum of rows of each of the two tables; the trace ends there; 1000000 by default.",
    ),
];
