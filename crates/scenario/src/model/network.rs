//! Keys of the network: topologies, and what is common to links.

use super::distribution::TIMES;
use super::link::{
    CHANGES, CHANGES_HELP, DELAY_BOX, DELAY_BOX_HELP, DUPLICATION_HELP, HOST_NOISE_HELP, LOSS,
    REORDERING, REORDERING_HELP, TICK_HELP,
};
use super::queue::QUEUE;
use longhaul_keys::{Key, Kind, PROBABILITY, RATE, SIZE, TIME, joined, key, required};

pub(super) const TOPOLOGY: &[Key] = &[
    key(
        "dumbbell",
        Kind::Table(DUMBBELL),
        "Two routers, `left` and `right`, and the `bottleneck` between them.",
    ),
    key(
        "parking-lot",
        Kind::Table(PARKING_LOT),
        "A chain of routers, `router-0` and so on, joined by the links `hop-0` and so on.",
    ),
    key(
        "graph",
        Kind::Table(GRAPH),
        "Any nodes and links; routes are shortest by delay.",
    ),
];

const DUMBBELL: &[Key] = &[
    required(
        "bottleneck",
        Kind::Table(LINK),
        "The link between the routers, both ways.",
    ),
    key("access", Kind::Table(ACCESS), ACCESS_HELP),
];

const PARKING_LOT: &[Key] = &[
    required(
        "hops",
        Kind::List(&Kind::Table(LINK)),
        "The links of the chain, both ways.",
    ),
    key("access", Kind::Table(ACCESS), ACCESS_HELP),
];

const GRAPH: &[Key] = &[
    required("nodes", Kind::List(&Kind::Text), "Names of the nodes."),
    required(
        "links",
        Kind::List(&Kind::Table(EDGE)),
        "Links between nodes.",
    ),
];

/// Keys of a group of flows that say where they run.
pub(super) const FLOW_PLACES: &[Key] = &[
    key(
        "direction",
        Kind::Word(&["forward", "reverse"]),
        "Dumbbell: from left to right (default), or back.",
    ),
    key(
        "path",
        Kind::List(&Kind::Whole {
            min: 0,
            max: 100_000,
        }),
        "Parking lot: numbers of the first and the last router.",
    ),
    key("from", Kind::Text, "Graph: sending node."),
    key("to", Kind::Text, "Graph: receiving node."),
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

const SHAPER_HELP: &str = "Token bucket between the queue and the link, forward direction only. What \
    depends on the link's rate, such as 1 BDP, counts with the bucket's.";

const SHAPER: &[Key] = &[
    required(
        "rate",
        Kind::Positive(RATE),
        "Rate at which tokens come in; below the link's.",
    ),
    required(
        "burst",
        Kind::Positive(SIZE),
        "What may pass at the link's rate after a pause; at least a packet.",
    ),
];

/// What all links have.
const LINK: &[Key] = &[
    required("rate", Kind::Positive(RATE), RATE_HELP),
    required("delay", Kind::Quantity(TIME), DELAY_HELP),
    key("queue", QUEUE, QUEUE_HELP),
    key("reverse_queue", QUEUE, REVERSE_HELP),
    key("shaper", Kind::Table(SHAPER), SHAPER_HELP),
    key("loss", Kind::Table(LOSS), LOSS_HELP),
    key("changes", CHANGES, CHANGES_HELP),
    key("delay_box", Kind::Table(DELAY_BOX), DELAY_BOX_HELP),
    key("duplication", PROBABILITY, DUPLICATION_HELP),
    key("reordering", Kind::Table(REORDERING), REORDERING_HELP),
    key("host_noise", TIMES, HOST_NOISE_HELP),
    key("tick", Kind::Positive(TIME), TICK_HELP),
];

/// A link of a graph says also where it is.
const EDGE: &[Key] = &joined::<{ PLACE.len() + LINK.len() }>(&[PLACE, LINK]);

const PLACE: &[Key] = &[
    required("from", Kind::Text, "Node where the link begins."),
    required("to", Kind::Text, "Node where it ends."),
    key(
        "name",
        Kind::Text,
        "Name of the link; `FROM-TO` by default.",
    ),
    key(
        "both",
        Kind::Flag,
        "Whether there is a link back; true by default.",
    ),
];

pub(super) const ACCESS: &[Key] = &[
    key(
        "rate",
        Kind::Positive(RATE),
        "Rate; ten times the fastest router link by default.",
    ),
    key(
        "delay",
        Kind::Quantity(TIME),
        "Propagation delay of each access link; 0 s by default.",
    ),
    key(
        "rtt",
        Kind::Positive(TIME),
        "Base round trip of the flow, instead of `delay`.",
    ),
    key(
        "queue",
        QUEUE,
        "Queue, both ways; drop-tail of 10000 packets by default.",
    ),
    key(
        "at",
        Kind::Word(&["both", "sender"]),
        "Whether both ends have an access link (default) or only the sender.",
    ),
];
