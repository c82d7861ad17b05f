//! Keys of each queue discipline.

use longhaul_keys::{Key, Kind, PROBABILITY, Range, SIZE, TIME, key};
use longhaul_units::Dimension;

const LIMIT: Kind = Kind::Positive(&[
    Dimension::Packets,
    Dimension::Size,
    Dimension::Bdp,
    Dimension::Time,
]);
const LIMIT_HELP: &str = "How much the queue holds; 1 BDP by default. A time is what the link \
    sends in it.";
const THRESHOLD: Kind =
    Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(&[Dimension::Packets])]);

const AUTO_SIZE: Kind = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)]);
const ECN: Key = key(
    "ecn",
    Kind::Flag,
    "Whether ECN-capable packets are marked instead of dropped.",
);
const MARK_P: &str = "Largest probability at which packets are marked; above it they are dropped.";
const MEAN_PACKET: Key = key(
    "mean_packet",
    AUTO_SIZE,
    "Mean packet size; `auto`: the largest that a flow sends.",
);
const LIMIT_FIELD: Key = key("limit", LIMIT, LIMIT_HELP);
const UPDATE: Key = key(
    "update",
    Kind::Positive(TIME),
    "Time between two updates of the probability.",
);

/// Keys of `queue = { kind = "droptail", ... }`.
pub(in crate::model) const DROP_TAIL: &[Key] = &[
    LIMIT_FIELD,
    key(
        "drop",
        Kind::Word(&["tail", "head"]),
        "What a full queue drops: the packet that arrives, or the one that has waited longest.",
    ),
    key(
        "counting",
        Kind::Word(&["waiting", "in-service"]),
        "Whether the limit counts waiting packets only, or the one in service too, as in ns-2.",
    ),
];

/// Keys of `queue = { kind = "red", ... }`.
pub(in crate::model) const RED: &[Key] = &[
    LIMIT_FIELD,
    key(
        "limit_overshoot",
        Kind::Flag,
        "Whether a limit in bytes admits a packet that fits in part.",
    ),
    key(
        "min_th",
        THRESHOLD,
        "Average queue above which packets are selected; `auto`: half of target_delay at the link's rate, at least 5 packets.",
    ),
    key(
        "max_th",
        THRESHOLD,
        "Average queue where the probability is max_p; `auto`: 3 min_th.",
    ),
    key(
        "target_delay",
        Kind::Positive(TIME),
        "Average queueing delay that the automatic min_th aims at.",
    ),
    key(
        "weight",
        Kind::OneOf(&[
            Kind::Word(&["auto", "per-packet"]),
            Kind::Number(Range::above(0.0, 1.0)),
        ]),
        "Weight of a sample in the average; `auto`: ten round trips, `per-packet`: one second of \
         packets.",
    ),
    key(
        "max_p",
        Kind::Number(Range::above(0.0, 1.0)),
        "Probability at max_th, to begin with if adaptive.",
    ),
    key(
        "adaptive",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["gared"])]),
        "Whether max_p adapts (Adaptive RED, 2001); `gared`: only while the average moves away from \
         its target (gentle Adaptive RED, 2006); false by default.",
    ),
    key(
        "gentle",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["frozen"])]),
        "Whether the probability rises from max_p to 1 between max_th and twice that; `frozen`: \
         along a line drawn from the initial max_p, as in ns-2.",
    ),
    ECN,
    key(
        "mark_p",
        Kind::OneOf(&[Kind::Word(&["always", "below-max-th"]), PROBABILITY]),
        "Largest probability at which packets are marked; above it they are dropped. \
         `below-max-th`: they are marked while the average is below max_th, as in ns-2 before 2002.",
    ),
    MEAN_PACKET,
    key(
        "in_bytes",
        Kind::Flag,
        "Whether the queue is measured in bytes.",
    ),
    key(
        "size_scaled",
        Kind::Flag,
        "Whether the probability grows with the packet's size.",
    ),
    key(
        "wait",
        Kind::Flag,
        "Whether marks keep a distance of 1/p to 2/p packets.",
    ),
    key(
        "interval",
        Kind::Positive(TIME),
        "Adaptive: shortest time between two changes.",
    ),
    key(
        "alpha",
        Kind::Number(Range::above(0.0, 1.0)),
        "Adaptive: increment of max_p.",
    ),
    key(
        "beta",
        Kind::Number(Range::open(0.0, 1.0)),
        "Adaptive: factor of a decrease.",
    ),
    key(
        "top",
        Kind::Number(Range::above(0.0, 1.0)),
        "Adaptive: no increase from here on.",
    ),
    key(
        "bottom",
        Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Number(Range::above(0.0, 1.0))]),
        "Adaptive: no decrease from here on; `auto`: 80 kbit/s over the rate, at most 0.01.",
    ),
];

const TARGET: &str = "The delay to keep.";
const CODEL_TARGET: Key = key("target", Kind::Positive(TIME), TARGET);
const CODEL_INTERVAL: Key = key(
    "interval",
    Kind::Positive(TIME),
    "How long the delay may stay above the target before the first drop: about a round trip.",
);
const CODEL_MAX_PACKET: Key = key(
    "max_packet",
    AUTO_SIZE,
    "Nothing is dropped while no more than this waits; `auto`: the largest packet of a flow.",
);
const QUANTUM: Key = key(
    "quantum",
    AUTO_SIZE,
    "What a flow may send in its turn; `auto`: the largest packet of a flow.",
);

/// CoDel (RFC 8289).
pub(in crate::model) const CODEL: &[Key] = &[
    LIMIT_FIELD,
    CODEL_TARGET,
    CODEL_INTERVAL,
    ECN,
    CODEL_MAX_PACKET,
];

/// FQ-CoDel (RFC 8290).
pub(in crate::model) const FQ_CODEL: &[Key] = &[
    LIMIT_FIELD,
    CODEL_TARGET,
    CODEL_INTERVAL,
    ECN,
    CODEL_MAX_PACKET,
    QUANTUM,
    key(
        "queues",
        Kind::Whole {
            min: 1,
            max: 1 << 20,
        },
        "Queues that flows are hashed to.",
    ),
    key(
        "drop_batch",
        Kind::Whole {
            min: 1,
            max: 1 << 20,
        },
        "When too much waits, the longest queue loses half of its packets, up to this many.",
    ),
];

/// PIE (RFC 8033).
pub(in crate::model) const PIE: &[Key] = &[
    LIMIT_FIELD,
    key("target", Kind::Positive(TIME), TARGET),
    UPDATE,
    key(
        "alpha",
        Kind::Number(Range::closed(0.0, 1e6)),
        "Weight of the delay's deviation from the target, per second.",
    ),
    key(
        "beta",
        Kind::Number(Range::closed(0.0, 1e6)),
        "Weight of the delay's change, per second.",
    ),
    key(
        "max_burst",
        Kind::Quantity(TIME),
        "How long nothing is dropped after a quiet time.",
    ),
    ECN,
    key("mark_p", PROBABILITY, MARK_P),
    key(
        "derandomise",
        Kind::Flag,
        "Whether the gaps between drops are made more even.",
    ),
    MEAN_PACKET,
];

const REFERENCE: Key = key(
    "reference",
    Kind::Positive(&[Dimension::Packets]),
    "The queue to keep.",
);

/// The PI controller (Hollot et al. 2001).
pub(in crate::model) const PI: &[Key] = &[
    LIMIT_FIELD,
    REFERENCE,
    key(
        "a",
        Kind::Number(Range::above(0.0, 1.0)),
        "Weight of the queue's deviation from the reference.",
    ),
    key(
        "b",
        Kind::Number(Range::above(0.0, 1.0)),
        "Weight of the deviation at the last update; less than `a`.",
    ),
    UPDATE,
    ECN,
];

/// REM (Athuraliya et al. 2001).
pub(in crate::model) const REM: &[Key] = &[
    LIMIT_FIELD,
    REFERENCE,
    key(
        "gamma",
        Kind::Number(Range::above(0.0, 1e6)),
        "Step of the price.",
    ),
    key(
        "alpha",
        Kind::Number(Range::closed(0.0, 1e6)),
        "Weight of the queue against the input.",
    ),
    key(
        "phi",
        Kind::Number(Range::above(1.0, 1e6)),
        "Base of the probability's exponential in the price.",
    ),
    key(
        "input_weight",
        Kind::Number(Range::above(0.0, 1.0)),
        "Weight of a period's input in its average.",
    ),
    UPDATE,
    ECN,
    MEAN_PACKET,
];

/// DECbit (Ramakrishnan and Jain 1990).
pub(in crate::model) const DECBIT: &[Key] = &[LIMIT_FIELD];

/// A queue for each flow, in turn packet by packet.
pub(in crate::model) const ROUND_ROBIN: &[Key] = &[LIMIT_FIELD];

/// Deficit round robin (Shreedhar and Varghese 1996).
pub(in crate::model) const DRR: &[Key] = &[LIMIT_FIELD, QUANTUM];

/// VCP's router (Xia et al. 2005).
pub(in crate::model) const VCP: &[Key] = &[
    LIMIT_FIELD,
    key(
        "interval",
        Kind::Positive(TIME),
        "Time over which the load is measured: a multiple of `sample`, and more than most round \
         trips.",
    ),
    key(
        "sample",
        Kind::Positive(TIME),
        "Time between two samples of the queue.",
    ),
    key(
        "queue_weight",
        Kind::Number(Range::closed(0.0, 1e6)),
        "Part of the persistent queue that counts as load.",
    ),
    key(
        "target",
        Kind::Number(Range::above(0.0, 1.0)),
        "Utilisation that counts as full load.",
    ),
];

/// XCP's router (Katabi et al. 2002).
pub(in crate::model) const XCP: &[Key] = &[
    LIMIT_FIELD,
    key(
        "alpha",
        Kind::Number(Range::above(0.0, 2.0)),
        "Part of the spare bandwidth that is given out in a mean round trip.",
    ),
    key(
        "beta",
        Kind::Number(Range::closed(0.0, 2.0)),
        "Part of the persistent queue that is drained in one; stable with alpha^2 sqrt(2).",
    ),
    key(
        "gamma",
        PROBABILITY,
        "Part of the traffic that is taken and given in one, so that shares become equal.",
    ),
];
