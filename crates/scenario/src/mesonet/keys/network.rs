//! Keys of `[mesonet.network]` and `[mesonet.hosts]`, and of topology files.

use longhaul_keys::{COUNT_MAX, Key as Field, Kind, PROBABILITY, Range, key as field, required};

use super::{FACTOR, STEPS};

/// Packets per time step.
const RATE: Kind = Kind::Number(Range::above(0.0, 1e9));
const BUFFER: Kind = Kind::Whole {
    min: 1,
    max: COUNT_MAX,
};
const MAX_ROUTERS: i64 = 100_000;
const MAX_HOSTS: i64 = 100_000_000;
const HOSTS_BELOW: Kind = Kind::Whole {
    min: 0,
    max: MAX_HOSTS,
};

/// Buffer sizing rules, in the order of their original codes from 1.
pub(crate) const SIZINGS: &[&str] = &["rtt-capacity", "rtt-capacity/sqrt-n", "mean"];

/// How the two queues of a router share its capacity.
const SERVICES: &[&str] = &["shared", "alternating", "dual"];

pub(super) const NETWORK: &[Field] = &[
    field(
        "topology",
        Kind::OneOf(&[Kind::Text, Kind::Table(TOPOLOGY_FILE)]),
        "`abilene` (default; the published network of 11, 22 and 139 routers), `dumbbell` (the \
         published verification), a topology file relative to this one, or its contents.",
    ),
    field(
        "delay_factor",
        FACTOR,
        "Multiplies the delays of all links, which are then rounded to time steps, halves to even \
         (deltaX); 1 by default.",
    ),
    field(
        "backbone_rate",
        RATE,
        "Packets per time step from which all capacities follow (R1); 1200 by default.",
    ),
    field(
        "backbone_speedup",
        FACTOR,
        "Backbone routers forward this many times that (BBspeedup); 2 by default.",
    ),
    field(
        "pop_divisor",
        FACTOR,
        "Points of presence forward backbone_rate divided by this (R2); 4 by default.",
    ),
    field(
        "access_divisor",
        FACTOR,
        "Normal access routers forward that, divided by this (R3); 10 by default.",
    ),
    field(
        "fast_factor",
        FACTOR,
        "Fast access routers forward this many times what normal ones do (Bfast); 2 by default.",
    ),
    field(
        "direct_factor",
        FACTOR,
        "Direct access routers forward this many times what normal ones do (Bdirect); 10 by default.",
    ),
    field(
        "buffer",
        Kind::OneOf(&[Kind::Word(SIZINGS), BUFFER]),
        "Packets that each queue holds: mean round trip of the topology times capacity \
         (`rtt-capacity`, default; QszAlg 1), that divided by the root of half the hosts below \
         (`rtt-capacity/sqrt-n`; 2), the mean of both (`mean`; 3), or a number.",
    ),
    field(
        "buffer_factor",
        FACTOR,
        "Multiplies all buffers (Qfactor); 1 by default.",
    ),
    field(
        "service",
        Kind::Word(SERVICES),
        "How the two queues of an access router or a point of presence share its capacity: one server \
         that alternates while both hold packets (`shared`, default), one that idles when the queue \
         whose turn it is holds none (`alternating`), or a server of that rate for each (`dual`).",
    ),
    field(
        "shared_buffer",
        Kind::Flag,
        "Whether the two queues of an access router or a point of presence share one buffer of that size \
         instead of a buffer each; true by default with `shared` and `alternating` service, and impossible with `dual`.",
    ),
];

pub(super) const HOSTS: &[Field] = &[
    field(
        "sources",
        Kind::Number(Range::closed(0.0, 1e9)),
        "Sources below an access router, on average over the three classes; receivers are four times \
         as many (baseSources); 100 by default.",
    ),
    field(
        "scale",
        FACTOR,
        "Multiplies the numbers of sources and receivers (deltaU); 2 by default.",
    ),
    field(
        "source_shares",
        Kind::Table(SOURCE_SHARES),
        "Where sources are, by class of access router; a third each by default. One that is left out \
         is the rest.",
    ),
    field(
        "receiver_shares",
        Kind::Table(RECEIVER_SHARES),
        "Where receivers are; 0.6, 0.2 and 0.2 by default. One that is left out is the rest.",
    ),
    field(
        "base_rate",
        RATE,
        "Packets per time step that a basic host can send (Hbase); 8 by default.",
    ),
    field(
        "fast_rate",
        RATE,
        "Packets per time step that a fast host can send (Hfast); 80 by default.",
    ),
    field(
        "fast_share",
        PROBABILITY,
        "Probability that a host is fast (FastHostProb); 0.4 by default.",
    ),
];

const SOURCE_SHARES: &[Field] = &[
    field(
        "normal",
        PROBABILITY,
        "Part below normal access routers (probNs).",
    ),
    field("fast", PROBABILITY, "Part below fast ones (probNsf)."),
    field("direct", PROBABILITY, "Part below direct ones (probNsd)."),
];

const RECEIVER_SHARES: &[Field] = &[
    field(
        "normal",
        PROBABILITY,
        "Part below normal access routers (probNr).",
    ),
    field("fast", PROBABILITY, "Part below fast ones (probNrf)."),
    field("direct", PROBABILITY, "Part below direct ones (probNrd)."),
];

/// A topology file.
pub(crate) const TOPOLOGY_FILE: &[Field] = &[
    field("title", Kind::Text, "What the network is."),
    required(
        "backbone",
        Kind::List(&Kind::Table(BACKBONE)),
        "Backbone routers, with everything below them.",
    ),
    required(
        "links",
        Kind::List(&Kind::Table(LINK)),
        "Links between backbone routers, numbered from 1 in this order.",
    ),
    field(
        "routes",
        Kind::List(&Kind::Table(ROUTE)),
        "Next routers of paths; by shortest delay where none is given.",
    ),
];

const BACKBONE: &[Field] = &[
    required("name", Kind::Text, "Name of the router."),
    field("rate", RATE, RATE_HELP),
    field("buffer", BUFFER, BUFFER_HELP),
    field(
        "direct",
        ACCESS_ROUTERS,
        "Direct access routers below it: their number, or a table for each; named X0a and so on below X.",
    ),
    field(
        "pops",
        Kind::List(&Kind::Table(POP)),
        "Points of presence below it; named X1 and so on below X.",
    ),
];

const POP: &[Field] = &[
    field("name", Kind::Text, "Name of the point of presence."),
    field("rate", RATE, RATE_HELP),
    field("buffer", BUFFER, BUFFER_HELP),
    field(
        "normal",
        ACCESS_ROUTERS,
        "Normal access routers below it: their number, or each; named X1a and so on below X1.",
    ),
    field(
        "fast",
        ACCESS_ROUTERS,
        "Fast access routers below it: their number, or each; named after the normal ones.",
    ),
];

const ACCESS_ROUTERS: Kind = Kind::OneOf(&[
    Kind::Whole {
        min: 0,
        max: MAX_ROUTERS,
    },
    Kind::List(&Kind::Table(&[
        field("name", Kind::Text, "Name of the access router."),
        field("rate", RATE, RATE_HELP),
        field("buffer", BUFFER, BUFFER_HELP),
        field(
            "sources",
            HOSTS_BELOW,
            "Sources below it, instead of those that hosts.source_shares gives.",
        ),
        field(
            "receivers",
            HOSTS_BELOW,
            "Receivers below it, instead of those that hosts.receiver_shares gives.",
        ),
    ])),
]);

const RATE_HELP: &str = "Packets per time step, instead of those that its class has.";
const BUFFER_HELP: &str = "Packets that each of its queues holds, instead of network.buffer.";

const LINK: &[Field] = &[
    required("from", Kind::Text, "Backbone router at one end."),
    required("to", Kind::Text, "Backbone router at the other end."),
    required(
        "delay",
        STEPS,
        "Propagation delay, one way: a time, or time steps.",
    ),
    field(
        "both",
        Kind::Flag,
        "Whether there is a link back, numbered after this one; true by default.",
    ),
];

const ROUTE: &[Field] = &[
    required("at", Kind::Text, "Backbone router that packets are at."),
    required(
        "next",
        Kind::Text,
        "Next backbone router, over the first link to it.",
    ),
    required(
        "to",
        Kind::List(&Kind::Text),
        "Backbone routers of their destinations.",
    ),
];
