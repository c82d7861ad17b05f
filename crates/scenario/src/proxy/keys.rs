//! Keys of proxies that split connections: the engine's, and what a file says in another way than the engine.

use longhaul_engine::config::{Proxy, ProxyChange};
use longhaul_keys::{Key, Kind, SIZE, count, joined, key, required};

use crate::model::flow::TCP_STACK;
use crate::model::queue::{QUEUE_ON_ARRIVAL, QUEUE_OUTSIDE_LINKS};

/// Keys of one entry of `[[proxies]]`; the connection between its nodes is described as that of a flow.
pub(crate) const PROXY: &[Key] = &joined::<{ count(PROXY_LISTS) }>(PROXY_LISTS);
const PROXY_LISTS: &[&[Key]] = &[Proxy::KEYS, OWN, TCP_STACK];

const OWN: &[Key] = &[
    required(
        "start",
        Kind::Text,
        "Node at which TCP flows are split that begin before it and end behind `end`.",
    ),
    required(
        "end",
        Kind::Text,
        "Node from which their data is forwarded.",
    ),
    QUEUE,
    key(
        "changes",
        Kind::List(&Kind::Table(CHANGE)),
        "What changes while it runs, in order of time.",
    )
    .default("[]"),
    key(
        "packet",
        Kind::Positive(SIZE),
        "Bytes of a full packet between the nodes.",
    )
    .derived("the largest packet of a flow"),
];

/// The local queue.
pub(super) const QUEUE: Key = key(
    "queue",
    QUEUE_OUTSIDE_LINKS,
    "Local queue, in front of the start node's receivers. Rate and delay that a discipline asks for are those \
     between the nodes.",
)
.default("{ kind = droptail, limit = 1000 packets }")
.source(Proxy::SOURCE);

/// Keys of one entry of `changes`.
const CHANGE: &[Key] = &joined::<{ count(CHANGE_LISTS) }>(CHANGE_LISTS);
const CHANGE_LISTS: &[&[Key]] = &[
    ProxyChange::KEYS,
    &[key(
        "queue",
        QUEUE_ON_ARRIVAL,
        "Another discipline of a local queue that decides on arrival (drop-tail, RED); it starts anew, packets \
         that wait stay.",
    )],
];
