//! Keys of proxies that split connections.

use longhaul_units::Dimension;

use super::flow::TCP_STACK;
use super::queue::{QUEUE_ON_ARRIVAL, QUEUE_OUTSIDE_LINKS};
use longhaul_keys::{Key, Kind, SIZE, TIME, count, joined, key, required};

const CREDIT: Kind = Kind::Positive(&[Dimension::Packets, Dimension::Size]);
const CREDIT_HELP: &str = "Payload that may wait unsent at the start of the connection between the \
    nodes, beyond which the local queue fills; 200 packets by default.";
const INTERVAL_HELP: &str = "Time between two looks at the local queue; 10 ms by default.";
const QUEUE_HELP: &str = "Local queue, in front of the start node's receivers; drop-tail of 1000 \
    packets by default. Rate and delay that a discipline asks for are those between the nodes.";

/// Keys of one entry of `[[proxies]]`; what runs between its nodes is said as of a flow.
pub(crate) const PROXY: &[Key] = &joined::<{ count(PROXY_LISTS) }>(PROXY_LISTS);
const PROXY_LISTS: &[&[Key]] = &[OWN, TCP_STACK];

const OWN: &[Key] = &[
    key(
        "name",
        Kind::Text,
        "Name of the proxy; `START-END` by default.",
    ),
    required(
        "start",
        Kind::Text,
        "Node at which TCP flows are split that begin before it and end behind `end`.",
    ),
    required("end", Kind::Text, "Node from which their data goes on."),
    key("queue", QUEUE_OUTSIDE_LINKS, QUEUE_HELP),
    key("credit", CREDIT, CREDIT_HELP),
    key(
        "credit_for_retransmissions",
        Kind::Flag,
        "Whether a retransmission gives credit too, so that with each loss more may wait; true by \
         default.",
    ),
    key("interval", Kind::Positive(TIME), INTERVAL_HELP),
    key(
        "changes",
        Kind::List(&Kind::Table(CHANGE)),
        "What changes while it runs, in order of time.",
    ),
    key(
        "packet",
        Kind::Positive(SIZE),
        "Bytes of a full packet between the nodes; the largest of a flow by default.",
    ),
];

/// Keys of one entry of `changes`.
const CHANGE: &[Key] = &[
    required("at", Kind::Positive(TIME), "When."),
    key("credit", CREDIT, CREDIT_HELP),
    key("interval", Kind::Positive(TIME), INTERVAL_HELP),
    key(
        "queue",
        QUEUE_ON_ARRIVAL,
        "Another discipline of a local queue that decides on arrival (drop-tail, RED); it starts anew, \
         packets that wait stay.",
    ),
];
