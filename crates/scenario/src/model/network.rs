//! Keys of the network: topologies, links, queues, losses.

use longhaul_congestion::Range;
use longhaul_units::Dimension;

use super::{Field, Kind, MOST, PROBABILITY, RATE, SIZE, TIME, field, required};

pub(super) const TOPOLOGY: &[Field] = &[
    field(
        "dumbbell",
        Kind::Table(DUMBBELL),
        "Two routers, `left` and `right`, and the `bottleneck` between them.",
    ),
    field(
        "parking-lot",
        Kind::Table(PARKING_LOT),
        "A chain of routers, `router-0` and so on, joined by the links `hop-0` and so on.",
    ),
    field(
        "graph",
        Kind::Table(GRAPH),
        "Any nodes and links; routes are shortest by delay.",
    ),
];

const DUMBBELL: &[Field] = &[
    required(
        "bottleneck",
        Kind::Table(LINK),
        "The link between the routers, both ways.",
    ),
    field("access", Kind::Table(ACCESS), ACCESS_HELP),
];

const PARKING_LOT: &[Field] = &[
    required(
        "hops",
        Kind::List(&Kind::Table(LINK)),
        "The links of the chain, both ways.",
    ),
    field("access", Kind::Table(ACCESS), ACCESS_HELP),
];

const GRAPH: &[Field] = &[
    required("nodes", Kind::List(&Kind::Text), "Names of the nodes."),
    required(
        "links",
        Kind::List(&Kind::Table(EDGE)),
        "Links between nodes.",
    ),
];

const ACCESS_HELP: &str = "Links between each flow's own hosts and the routers; without them flows \
    sit on the routers.";
const RATE_HELP: &str = "Transmission rate.";
const DELAY_HELP: &str = "Propagation delay, one way.";
const QUEUE_HELP: &str = "Queue in front of the link; drop-tail of 1 BDP by default. 1 BDP is the \
    rate times the base round trip of the routers' path (twice the delay of the bottleneck, of the \
    whole chain of a parking lot, of the link itself in a graph), in whole packets of the largest \
    size that a flow sends.";
const REVERSE_HELP: &str = "Queue of the other direction; the same as `queue` by default.";
const LOSS_HELP: &str = "Packets lost before they reach the queue, forward direction only.";

const LINK: &[Field] = &[
    required("rate", Kind::Positive(RATE), RATE_HELP),
    required("delay", Kind::Quantity(TIME), DELAY_HELP),
    field("queue", QUEUE, QUEUE_HELP),
    field("reverse_queue", QUEUE, REVERSE_HELP),
    field("loss", Kind::Table(LOSS), LOSS_HELP),
];

const EDGE: &[Field] = &[
    required("from", Kind::Text, "Node where the link begins."),
    required("to", Kind::Text, "Node where it ends."),
    field(
        "name",
        Kind::Text,
        "Name of the link; `FROM-TO` by default.",
    ),
    field(
        "both",
        Kind::Flag,
        "Whether there is a link back; true by default.",
    ),
    required("rate", Kind::Positive(RATE), RATE_HELP),
    required("delay", Kind::Quantity(TIME), DELAY_HELP),
    field("queue", QUEUE, QUEUE_HELP),
    field("reverse_queue", QUEUE, REVERSE_HELP),
    field("loss", Kind::Table(LOSS), LOSS_HELP),
];

pub(super) const ACCESS: &[Field] = &[
    field(
        "rate",
        Kind::Positive(RATE),
        "Rate; ten times the fastest router link by default.",
    ),
    field(
        "delay",
        Kind::Quantity(TIME),
        "Propagation delay of each access link; 0 s by default.",
    ),
    field(
        "rtt",
        Kind::Positive(TIME),
        "Base round trip of the flow, instead of `delay`.",
    ),
    field(
        "queue",
        QUEUE,
        "Queue, both ways; drop-tail of 10000 packets by default.",
    ),
    field(
        "at",
        Kind::Word(&["both", "sender"]),
        "Whether both ends have an access link (default) or only the sender.",
    ),
];

const LOSS: &[Field] = &[
    field(
        "bernoulli",
        PROBABILITY,
        "Each packet is lost independently with this probability.",
    ),
    field(
        "packets",
        Kind::List(&Kind::Whole { min: 0, max: MOST }),
        "The packets with these arrival numbers at the link are lost; the first is 0.",
    ),
];

pub(super) const QUEUE: Kind = Kind::Tagged(&[("droptail", DROP_TAIL), ("red", RED)]);
const LIMIT: Kind = Kind::Positive(&[Dimension::Packets, Dimension::Size, Dimension::Bdp]);
const THRESHOLD: Kind =
    Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(&[Dimension::Packets])]);

/// Keys of `queue = { kind = "droptail", ... }`.
pub(super) const DROP_TAIL: &[Field] = &[
    field(
        "limit",
        LIMIT,
        "How much the queue holds; 1 BDP by default.",
    ),
    field(
        "counting",
        Kind::Word(&["waiting", "in-service"]),
        "Whether the limit counts waiting packets only, or the one in service too, as in ns-2.",
    ),
];

/// Keys of `queue = { kind = "red", ... }`.
pub(super) const RED: &[Field] = &[
    field("limit", LIMIT, "Hard limit; 1 BDP by default."),
    field(
        "limit_overshoot",
        Kind::Flag,
        "Whether a limit in bytes admits a packet that fits in part.",
    ),
    field(
        "min_th",
        THRESHOLD,
        "Average queue above which packets are selected; `auto`: half of target_delay at the link's rate, at least 5 packets.",
    ),
    field(
        "max_th",
        THRESHOLD,
        "Average queue where the probability is max_p; `auto`: 3 min_th.",
    ),
    field(
        "target_delay",
        Kind::Positive(TIME),
        "Average queueing delay that the automatic min_th aims at.",
    ),
    field(
        "weight",
        Kind::OneOf(&[
            Kind::Word(&["auto", "per-packet"]),
            Kind::Number(Range::above(0.0, 1.0)),
        ]),
        "Weight of a sample in the average; `auto`: ten round trips, `per-packet`: one second of \
         packets.",
    ),
    field(
        "max_p",
        Kind::Number(Range::above(0.0, 1.0)),
        "Probability at max_th, to begin with if adaptive.",
    ),
    field(
        "adaptive",
        Kind::Flag,
        "Whether max_p adapts (Adaptive RED, 2001); false by default.",
    ),
    field(
        "gentle",
        Kind::OneOf(&[Kind::Flag, Kind::Word(&["frozen"])]),
        "Whether the probability rises from max_p to 1 between max_th and twice that; `frozen`: \
         along a line drawn from the initial max_p, as in ns-2.",
    ),
    field(
        "ecn",
        Kind::Flag,
        "Whether ECN-capable packets are marked instead of dropped.",
    ),
    field(
        "mark_p",
        Kind::OneOf(&[Kind::Word(&["always"]), PROBABILITY]),
        "Largest probability at which packets are marked; above it they are dropped.",
    ),
    field(
        "mean_packet",
        Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)]),
        "Mean packet size; `auto`: the largest that a flow sends.",
    ),
    field(
        "in_bytes",
        Kind::Flag,
        "Whether the queue is measured in bytes.",
    ),
    field(
        "size_scaled",
        Kind::Flag,
        "Whether the probability grows with the packet's size.",
    ),
    field(
        "wait",
        Kind::Flag,
        "Whether marks keep a distance of 1/p to 2/p packets.",
    ),
    field(
        "interval",
        Kind::Positive(TIME),
        "Adaptive: shortest time between two changes.",
    ),
    field(
        "alpha",
        Kind::Number(Range::above(0.0, 1.0)),
        "Adaptive: increment of max_p.",
    ),
    field(
        "beta",
        Kind::Number(Range::open(0.0, 1.0)),
        "Adaptive: factor of a decrease.",
    ),
    field(
        "top",
        Kind::Number(Range::above(0.0, 1.0)),
        "Adaptive: no increase from here on.",
    ),
    field(
        "bottom",
        Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Number(Range::above(0.0, 1.0))]),
        "Adaptive: no decrease from here on; `auto`: 80 kbit/s over the rate, at most 0.01.",
    ),
];
