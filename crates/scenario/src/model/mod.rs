//! Every key of a scenario: what it may hold and what it means.
//!
//! These tables are the one home of that knowledge. The checker refuses what they do not list, the
//! JSON Schema for editors is made from them, and so is the help.

use longhaul_keys::{COUNT_MAX, Key, Kind, SIZE, TIME, key, required};

mod distribution;
mod flow;
mod link;
pub(crate) mod mesonet;
mod network;
mod proxy;
mod queue;
mod traffic;

use crate::profile;

pub(crate) use flow::TCP;
pub(crate) use link::CHANGE;

use flow::{DELAYED_ACK, FLOW, PACING};
use network::TOPOLOGY;
use proxy::PROXY;
pub(crate) use queue::{DISCIPLINES, Discipline, SHARED_QUEUES};
use queue::{DROP_TAIL, RED};
pub(crate) use traffic::TRAFFIC;

const TITLE: Key = key(
    "title",
    Kind::Text,
    "What the scenario is about, in a few words.",
);
const DESCRIPTION: Key = key(
    "description",
    Kind::Text,
    "What it is for and what to look at.",
);
const EXTENDS: Key = key(
    "extends",
    Kind::Text,
    "Another scenario file that this one changes; relative to this file.",
);
const SEED: Key = key(
    "seed",
    Kind::Whole {
        min: 0,
        max: i64::MAX,
    },
    "Seed of all random streams; 1 by default.",
);
const REPLICATION: Key = key(
    "replication",
    Kind::Whole {
        min: 0,
        max: i64::MAX,
    },
    "Number of the replication: another one draws other random numbers; 0 by default.",
);
const MESONET_HELP: &str = "A simulation of MesoNet, in place of `topology` and `flows`.";

/// The whole file, of a simulation of MesoNet.
pub(crate) const MESONET_SCENARIO: &[Key] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    SEED,
    REPLICATION,
    required("mesonet", Kind::Table(mesonet::MESONET), MESONET_HELP),
];

/// The whole file.
pub(crate) const SCENARIO: &[Key] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    key(
        "profile",
        Kind::Word(profile::NAMES),
        "Frozen bundle of defaults: `rfc` (default), `linux` for a current kernel, `ns2-2.35`, or \
         `ns2-2003` for older studies.",
    ),
    required("duration", Kind::Positive(TIME), "Simulated time."),
    SEED,
    REPLICATION,
    key(
        "clock",
        CLOCK,
        "How links keep time: `exact`, or `ns2` for the rounding of ns-2's sums, which decides \
         between simultaneous arrivals and departures.",
    ),
    key(
        "random",
        RANDOM,
        "Where random numbers come from: `streams`, one per component, or `ns2`, its one generator \
         for all, as after `ns-random SEED`.",
    ),
    key(
        "measure",
        Kind::Table(MEASURE),
        "What is measured, and when.",
    ),
    key(
        "tcp",
        Kind::Table(TCP),
        "Transport options of all TCP flows, over the profile's.",
    ),
    required(
        "topology",
        Kind::Table(TOPOLOGY),
        "The network: one of the tables below.",
    ),
    required(
        "flows",
        Kind::List(&Kind::Table(FLOW)),
        "Groups of equal flows.",
    ),
    key(
        "proxies",
        Kind::List(&Kind::Table(PROXY)),
        "Pairs of nodes between which one connection carries the data of all TCP flows.",
    ),
    key("mesonet", Kind::Table(mesonet::MESONET), MESONET_HELP),
];

const CLOCK: Kind = Kind::Word(&["exact", "ns2"]);
const RANDOM: Kind = Kind::Word(&["streams", "ns2"]);

const MEASURE: &[Key] = &[
    key(
        "from",
        Kind::Quantity(TIME),
        "Start of the measurement window; it ends with the run.",
    ),
    key(
        "every",
        Kind::OneOf(&[Kind::Positive(TIME), Kind::Word(&["never"])]),
        "Interval of the time series; 100 ms by default.",
    ),
    key(
        "events",
        Kind::Flag,
        "Whether congestion events are recorded; false by default.",
    ),
    key(
        "stop",
        Kind::Table(STOP),
        "What ends the run before its duration.",
    ),
    key(
        "capture",
        Kind::List(&Kind::Text),
        "Links whose packets are recorded, by name.",
    ),
];

const STOP: &[Key] = &[
    required(
        "exchanges",
        Kind::Whole {
            min: 1,
            max: COUNT_MAX,
        },
        "Stop after so many exchanges that began in the measurement window are complete.",
    ),
    key(
        "of",
        Kind::List(&Kind::Text),
        "Labels of the flows whose exchanges count; all by default.",
    ),
    key(
        "p99_above",
        Kind::Positive(SIZE),
        "Warn unless the 99th percentile of their responses is above this.",
    ),
    key(
        "longest_above",
        Kind::Positive(SIZE),
        "Warn unless a response above this has begun,",
    ),
    key(
        "begun_within",
        Kind::Positive(TIME),
        "... so soon after the opening of the window.",
    ),
];

/// What a profile holds.
pub(crate) const PROFILE: &[Key] = &[
    required("clock", CLOCK, "How links keep time."),
    required("random", RANDOM, "Where random numbers come from."),
    required(
        "variant",
        Kind::Word(&["paper", "ns2"]),
        "Variant of algorithms that have it.",
    ),
    required(
        "limited_slow_start",
        Kind::Word(&["limited", "ns2-limited"]),
        "What max_ssthresh means.",
    ),
    required("flow", Kind::Table(FLOW), "Defaults of TCP flows."),
    required("tcp", Kind::Table(TCP), "Transport options."),
    required(
        "delayed_ack",
        Kind::Table(DELAYED_ACK),
        "Delayed acknowledgements, where they are on.",
    ),
    required("pacing", Kind::Table(PACING), "Factors of paced flows."),
    required("droptail", Kind::Table(DROP_TAIL), "Drop-tail queues."),
    required("red", Kind::Table(RED), "RED queues."),
];
