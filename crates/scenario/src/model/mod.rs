//! Every key of a scenario: what it may hold and what it means.
//!
//! These tables are the one home of that knowledge. The checker refuses what they do not list, the
//! JSON Schema for editors is made from them, and so is the help.

use longhaul_congestion::Range;
use longhaul_units::Dimension;

mod distribution;
mod flow;
mod link;
mod network;
mod proxy;
mod queue;
mod traffic;

use crate::mesonet::keys::MESONET;
use crate::profile;

pub(crate) use flow::TCP;
pub(crate) use link::CHANGE;

use flow::{DELAYED_ACK, FLOW, PACING};
use network::TOPOLOGY;
use proxy::PROXY;
pub(crate) use queue::{DISCIPLINES, Discipline, SHARED_QUEUES};
use queue::{DROP_TAIL, RED};
pub(crate) use traffic::TRAFFIC;

/// One key of a table.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub key: &'static str,
    pub kind: Kind,
    /// Whether a scenario without it is refused.
    pub required: bool,
    /// What it means, its default, and its source.
    pub help: &'static str,
}

/// What a key may hold.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// A whole number.
    Whole { min: i64, max: i64 },
    /// A number without a unit.
    Number(Range),
    /// A quantity above zero.
    Positive(&'static [Dimension]),
    /// A quantity, zero included.
    Quantity(&'static [Dimension]),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of one kind of things.
    List(&'static Kind),
    /// A table with these keys.
    Table(&'static [Field]),
    /// A table whose keys depend on its key `kind`.
    Tagged(&'static [(&'static str, &'static [Field])]),
    /// A congestion control algorithm with its parameters, from the registry.
    Congestion,
    /// A slow start with its parameters, from the registry.
    SlowStart,
    /// Any of these.
    OneOf(&'static [Kind]),
}

pub(crate) const fn field(key: &'static str, kind: Kind, help: &'static str) -> Field {
    Field {
        key,
        kind,
        required: false,
        help,
    }
}

pub(crate) const fn required(key: &'static str, kind: Kind, help: &'static str) -> Field {
    Field {
        key,
        kind,
        required: true,
        help,
    }
}

/// The keys of two lists, `N` together.
const fn joined<const N: usize>(first: &[Field], second: &[Field]) -> [Field; N] {
    assert!(first.len() + second.len() == N);
    let mut all = [first[0]; N];
    let mut index = 1;
    while index < N {
        all[index] = if index < first.len() {
            first[index]
        } else {
            second[index - first.len()]
        };
        index += 1;
    }
    all
}

pub(crate) const TIME: &[Dimension] = &[Dimension::Time];
const RATE: &[Dimension] = &[Dimension::Rate];
const SIZE: &[Dimension] = &[Dimension::Size];
pub(crate) const PROBABILITY: Kind = Kind::Number(Range::closed(0.0, 1.0));
/// Segments, packets or bytes beyond this are a mistake.
pub(crate) const MOST: i64 = 1_000_000_000_000;

const TITLE: Field = field(
    "title",
    Kind::Text,
    "What the scenario is about, in a few words.",
);
const DESCRIPTION: Field = field(
    "description",
    Kind::Text,
    "What it is for and what to look at.",
);
const EXTENDS: Field = field(
    "extends",
    Kind::Text,
    "Another scenario file that this one changes; relative to this file.",
);
const SEED: Field = field(
    "seed",
    Kind::Whole {
        min: 0,
        max: i64::MAX,
    },
    "Seed of all random streams; 1 by default.",
);
const REPLICATION: Field = field(
    "replication",
    Kind::Whole {
        min: 0,
        max: i64::MAX,
    },
    "Number of the replication: another one draws other random numbers; 0 by default.",
);
const MESONET_HELP: &str = "A simulation of MesoNet, in place of `topology` and `flows`.";

/// The whole file, of a simulation of MesoNet.
pub(crate) const MESONET_SCENARIO: &[Field] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    SEED,
    REPLICATION,
    required("mesonet", Kind::Table(MESONET), MESONET_HELP),
];

/// The whole file.
pub(crate) const SCENARIO: &[Field] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    field(
        "profile",
        Kind::Word(profile::NAMES),
        "Frozen bundle of defaults: `rfc` (default), `linux` for a current kernel, `ns2-2.35`, or \
         `ns2-2003` for older studies.",
    ),
    required("duration", Kind::Positive(TIME), "Simulated time."),
    SEED,
    REPLICATION,
    field(
        "clock",
        CLOCK,
        "How links keep time: `exact`, or `ns2` for the rounding of ns-2's sums, which decides \
         between simultaneous arrivals and departures.",
    ),
    field(
        "random",
        RANDOM,
        "Where random numbers come from: `streams`, one per component, or `ns2`, its one generator \
         for all, as after `ns-random SEED`.",
    ),
    field(
        "measure",
        Kind::Table(MEASURE),
        "What is measured, and when.",
    ),
    field(
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
    field(
        "proxies",
        Kind::List(&Kind::Table(PROXY)),
        "Pairs of nodes between which one connection carries the data of all TCP flows.",
    ),
    field("mesonet", Kind::Table(MESONET), MESONET_HELP),
];

const CLOCK: Kind = Kind::Word(&["exact", "ns2"]);
const RANDOM: Kind = Kind::Word(&["streams", "ns2"]);

const MEASURE: &[Field] = &[
    field(
        "from",
        Kind::Quantity(TIME),
        "Start of the measurement window; it ends with the run.",
    ),
    field(
        "every",
        Kind::OneOf(&[Kind::Positive(TIME), Kind::Word(&["never"])]),
        "Interval of the time series; 100 ms by default.",
    ),
    field(
        "events",
        Kind::Flag,
        "Whether congestion events are recorded; false by default.",
    ),
    field(
        "stop",
        Kind::Table(STOP),
        "What ends the run before its duration.",
    ),
    field(
        "capture",
        Kind::List(&Kind::Text),
        "Links whose packets are recorded, by name.",
    ),
];

const STOP: &[Field] = &[
    required(
        "exchanges",
        Kind::Whole { min: 1, max: MOST },
        "Stop after so many exchanges that began in the measurement window are complete.",
    ),
    field(
        "of",
        Kind::List(&Kind::Text),
        "Labels of the flows whose exchanges count; all by default.",
    ),
    field(
        "p99_above",
        Kind::Positive(SIZE),
        "Warn unless the 99th percentile of their responses is above this.",
    ),
    field(
        "longest_above",
        Kind::Positive(SIZE),
        "Warn unless a response above this has begun,",
    ),
    field(
        "begun_within",
        Kind::Positive(TIME),
        "... so soon after the opening of the window.",
    ),
];

/// What a profile holds.
pub(crate) const PROFILE: &[Field] = &[
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
