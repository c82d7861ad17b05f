//! Keys of sources: think times, files, congestion control; and of long-lived flows.

use longhaul_keys::{Key as Field, Kind, PROBABILITY, Range, key as field, required};

use super::{IDENTIFIER, MOMENT, PACKETS, POSITIVE_STEPS, WHOLE_FACTOR};

pub(super) const USERS: &[Field] = &[
    field(
        "think",
        POSITIVE_STEPS,
        "Mean of the exponential time between two files of a source: a time, or time steps \
         (lambdaOFF); 5000 by default.",
    ),
    field(
        "start",
        Kind::Table(START),
        "How the first requests are spread.",
    ),
];

const START: &[Field] = &[
    field(
        "at_once",
        PROBABILITY,
        "Probability that a source requests its first file at once (prON); 0.25 by default.",
    ),
    field(
        "second",
        PROBABILITY,
        "... after a third of the mean time between files (prONsecond); 0.08 by default.",
    ),
    field(
        "third",
        PROBABILITY,
        "... after two thirds of it (prONthird); 0.17 by default. All others wait that time itself.",
    ),
];

pub(super) const FILES: &[Field] = &[
    field(
        "mean",
        PACKETS,
        "Mean of the Pareto distribution of sizes, in packets (lambdaON); 50 by default.",
    ),
    field(
        "shape",
        Kind::Number(Range::above(1.0, 1000.0)),
        "Its shape, above 1 for there to be a mean (alpha); 1.5 by default.",
    ),
    field(
        "documents",
        Kind::Table(DOCUMENTS),
        "Files whose size is multiplied; all others are Web objects.",
    ),
    field(
        "service_packs",
        Kind::Table(LARGE_FILES),
        "Files whose size is multiplied by more; none by default.",
    ),
    field(
        "movies",
        Kind::Table(LARGE_FILES),
        "Files whose size is multiplied by most; none by default.",
    ),
    field(
        "admission",
        Kind::Flag,
        "Whether the numbers of active large files have upper and lower limits (NIST SP 500-282, \
         chapter 8); false by default.",
    ),
    field(
        "path_shares",
        Kind::Table(PATH_SHARES),
        "Parts of the flows by class of path, from which the lower limits follow; by default products \
         of the shares of sources and receivers that are below each class of access routers.",
    ),
    field(
        "jumbo",
        Kind::Table(JUMBO),
        "A part of the run in which files between direct access routers are larger; none by \
         default.",
    ),
];

const DOCUMENTS: &[Field] = &[
    field(
        "probability",
        PROBABILITY,
        "Probability of the type (Fp); 0.01 by default.",
    ),
    field(
        "factor",
        WHOLE_FACTOR,
        "What the size drawn is multiplied by (Fx); 10 by default.",
    ),
];

const LARGE_FILES: &[Field] = &[
    field(
        "probability",
        PROBABILITY,
        "Probability of the type (Sp, Mp); 0 by default.",
    ),
    field(
        "factor",
        WHOLE_FACTOR,
        "What the size drawn is multiplied by (Sx, Mx); 1000 for service packs, 10000 for movies by \
         default.",
    ),
];

const PATH_SHARES: &[Field] = &[
    required(
        "very_fast",
        PROBABILITY,
        "Between two direct access routers.",
    ),
    required(
        "fast",
        PROBABILITY,
        "Between fast ones, or a fast and a direct one.",
    ),
    required("typical", PROBABILITY, "With a normal access router."),
];

/// What the factor of jumbo files multiplies.
const JUMBO_BASES: &[&str] = &["document", "file"];

const JUMBO: &[Field] = &[
    required(
        "from",
        MOMENT,
        "When it begins: a time, or a part of the run; never from 1 on (Jon).",
    ),
    required(
        "until",
        MOMENT,
        "When it is over: a time, or a part of the run (Joff).",
    ),
    required("factor", WHOLE_FACTOR, "What sizes are multiplied by (Jx)."),
    field(
        "base",
        Kind::Word(JUMBO_BASES),
        "Which sizes: those of documents (`document`, default: a Web object is multiplied by \
         documents.factor as well), or of files as drawn (`file`).",
    ),
];

pub(super) const ALGORITHM: &[Field] = &[
    field(
        "label",
        Kind::Text,
        "What tables call it; the name of the algorithm by default.",
    ),
    field(
        "congestion",
        Kind::Congestion,
        "The algorithm: `kind` (reno by default), `variant` (`nist` where there is one), parameters; \
         or `python`.",
    ),
    field(
        "share",
        PROBABILITY,
        "Probability that a source has it; by default what the others leave, in equal parts.",
    ),
    field(
        "alternate",
        Kind::Flag,
        "Whether flow groups count it as the alternate algorithm; all but Reno by default.",
    ),
];

pub(super) const LONG_LIVED: &[Field] = &[
    field(
        "label",
        Kind::Text,
        "What tables call it; L1 and so on by default.",
    ),
    required(
        "from",
        IDENTIFIER,
        "Access router of the source, by name or by number from 1 (LL_FLOW_SOURCES).",
    ),
    required(
        "to",
        IDENTIFIER,
        "Access router of the receiver, by name or by number from 1 (LL_FLOW_RECEIVERS).",
    ),
    field(
        "start",
        MOMENT,
        "When it starts to send: a time, or a part of the run; never from 1 on (LLon); 0 by default.",
    ),
    field(
        "stop",
        MOMENT,
        "When it stops: a time, or a part of the run; 1 by default.",
    ),
    field(
        "algorithm",
        Kind::Text,
        "Label of its algorithm (SOURCE_TYPE); drawn like those of sources by default.",
    ),
    field(
        "rate",
        PACKETS,
        "What its hosts can send, in packets per time step; hosts.fast_rate by default.",
    ),
];
