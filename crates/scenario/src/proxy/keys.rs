//! Keys of proxies that split connections: the engine's, and those that a file writes in another form than the
//! engine.

use longhaul_engine::config::{Proxy, ProxyChange};
use longhaul_keys::{Key, Kind, SIZE, Table, keys, together};
use longhaul_units::Bytes;

use crate::model::flow::Stack;
use crate::model::queue::{QUEUE_ON_ARRIVAL, QUEUE_OUTSIDE_LINKS};

/// Keys of one entry of `[[proxies]]`; the connection between its nodes is described as that of a flow.
pub(crate) const PROXY: &[Key] = together!(Proxy::KEYS, ProxyKeys::KEYS, Stack::KEYS);

keys! {
    /// Keys of a proxy that a file writes in another form than the engine.
    pub(crate) struct ProxyKeys {
        /// Node at which TCP flows are split that begin before it and end behind `end`.
        pub start: String = Kind::Name.key().required(),
        /// Node from which their data is forwarded.
        pub end: String = Kind::Name.key().required(),
    }
    apart {
        /// Local queue, in front of the start node's receivers. Rate and delay that a discipline asks for are those
        /// between the nodes.
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
    /// Keys of a change that a file writes in another form than the engine.
    pub(crate) struct ChangeKeys {}
    apart {
        /// Another discipline of a local queue that decides on arrival (drop-tail, RED); it starts anew, packets
        /// that wait stay.
        pub queue: Table = QUEUE_ON_ARRIVAL.key(),
    }
}
