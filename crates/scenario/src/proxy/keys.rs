//! Keys of proxies that split connections, and of changes of a proxy during a run.

use longhaul_engine::config::{Proxy, ProxyChange};
use longhaul_keys::{Key, Kind, SIZE, Table, keys, together};
use longhaul_units::Bytes;

use crate::model::flow::Stack;
use crate::model::queue::{QUEUE_ON_ARRIVAL, QUEUE_OUTSIDE_LINKS};

/// Keys of one entry of `[[proxies]]`. The connection between the proxy's nodes has the same keys
/// as the connection of a flow.
pub(crate) const PROXY: &[Key] = together!(Proxy::KEYS, ProxyKeys::KEYS, Stack::KEYS);

keys! {
    /// Keys of a proxy, except those declared by the engine.
    pub(crate) struct ProxyKeys {
        /// Start node. TCP flows are split if they pass this node and then `end`, and neither is one of their hosts.
        pub start: String = Kind::Name.key().required(),
        /// End node; it forwards the data of the split flows.
        pub end: String = Kind::Name.key().required(),
    }
    apart {
        /// Local queue at the start node, where segments of senders wait for the proxy's credit. A discipline that
        /// depends on rate and delay uses the rate and the delay of the route from the start node to the end node.
        pub queue: Table = QUEUE_OUTSIDE_LINKS.key()
            .default("{ kind = droptail, limit = 1000 packets }").source(Proxy::SOURCE),
        /// Changes during the run, in order of time.
        pub changes: Vec<Table> = Kind::List(&Kind::Table(CHANGE)).key().default("[]"),
        /// Bytes of a full packet between the nodes.
        pub packet: Bytes = Kind::Positive(SIZE).key().derived("the largest packet of a flow"),
    }
}

/// Keys of one entry of `changes`.
const CHANGE: &[Key] = together!(ProxyChange::KEYS, ChangeKeys::KEYS);

keys! {
    /// Keys of a change, except those declared by the engine.
    pub(crate) struct ChangeKeys {}
    apart {
        /// New discipline of the proxy's local queue. Drop-tail and RED are possible, since they decide about a packet
        /// when it arrives. Packets in the queue stay; the new discipline starts with fresh state. If its limit is not
        /// given, it is the discipline's default, not the former limit.
        pub queue: Table = QUEUE_ON_ARRIVAL.key(),
    }
}
