//! Every key of a scenario: what it may hold and what it means.
//!
//! These tables are the only place for that. The checker refuses what they do not list, the JSON Schema for
//! editors is made from them, and so is the help.

use longhaul_engine::config::{Clock, Measure, Randomness, StopRule, Tcp};
use longhaul_keys::{Key, Kind, Profile, TIME, count, joined, key, required};

pub(crate) mod flow;
pub(crate) mod queue;

use self::flow::FLOW;
use crate::mesonet::keys::MESONET;
use crate::proxy::PROXY;
use crate::topology::TOPOLOGY;

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
const SEED: Key = key("seed", NATURAL, "Seed of all random streams.").default("1");
const REPLICATION: Key = key(
    "replication",
    NATURAL,
    "Number of the replication: another one draws other random numbers.",
)
.default("0");
const NATURAL: Kind = Kind::Whole {
    min: 0,
    max: i64::MAX,
};
const MESONET_HELP: &str = "A simulation of MesoNet, in place of `topology` and `flows`.";

/// The whole file, of a simulation of MesoNet.
pub(crate) const MESONET_SCENARIO: &[Key] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    SEED,
    REPLICATION,
    required("mesonet", Kind::Table(MESONET), MESONET_HELP),
];

/// The whole file.
pub(crate) const SCENARIO: &[Key] = &[
    TITLE,
    DESCRIPTION,
    EXTENDS,
    key(
        "profile",
        Kind::Word(Profile::NAMES),
        "Frozen bundle of defaults: `rfc`, `linux` for a current kernel, `ns2-2.35`, or `ns2-2003` for older \
         studies.",
    )
    .default("rfc"),
    required("duration", Kind::Positive(TIME), "Simulated time."),
    SEED,
    REPLICATION,
    key(
        "clock",
        Kind::Word(Clock::WORDS),
        "How links keep time: `exact`, or `ns2` for the rounding of ns-2's sums, which decides \
         between simultaneous arrivals and departures.",
    )
    .default("exact")
    .in_ns2("ns2"),
    key(
        "random",
        Kind::Word(Randomness::WORDS),
        "Where random numbers come from: `streams`, one per component, or `ns2`, its one generator \
         for all, as after `ns-random SEED`.",
    )
    .default("streams")
    .in_ns2("ns2"),
    key(
        "measure",
        Kind::Table(MEASURE),
        "What is measured, and when.",
    )
    .default("{}"),
    key(
        "tcp",
        Kind::Table(Tcp::KEYS),
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
    key("mesonet", Kind::Table(MESONET), MESONET_HELP),
];

const MEASURE: &[Key] = &joined::<{ count(MEASURE_LISTS) }>(MEASURE_LISTS);
const MEASURE_LISTS: &[&[Key]] = &[
    Measure::KEYS,
    &[
        key(
            "stop",
            Kind::Table(STOP),
            "What ends the run before its duration.",
        ),
        key(
            "capture",
            Kind::List(&Kind::Text),
            "Links whose packets are recorded as they come to them, before the queue: by name, access links included, \
             such as `reno-0-sender-up`.",
        )
        .default("[]"),
    ],
];

const STOP: &[Key] = &joined::<{ count(STOP_LISTS) }>(STOP_LISTS);
const STOP_LISTS: &[&[Key]] = &[
    StopRule::KEYS,
    &[key(
        "of",
        Kind::List(&Kind::Text),
        "Labels of the flows whose exchanges count; all by default.",
    )],
];
