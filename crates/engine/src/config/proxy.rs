//! Proxies that split connections in three.

use std::sync::Arc;

use longhaul_keys::{Kind, TIME, keys};
use longhaul_units::{Dimension, Span, Time};

use super::Tcp;
use crate::queue::{Draws, QueueConfig};

const CREDIT: Kind = Kind::Positive(&[Dimension::Packets, Dimension::Size]);
const INTERVAL: Kind = Kind::Positive(TIME);

keys! {
    /// A pair of nodes between which one connection carries the data of all flows that pass them (thesis of the
    /// University of Innsbruck, 2009, chapter 3). Senders talk to the start node, receivers to the end node.
    #[derive(Clone, Debug)]
    pub struct Proxy {
        /// Name of the proxy, which no other has.
        pub name: String = Kind::Name.key().derived("START-END"),
        /// Payload that may wait unsent at the start of the connection between the nodes, beyond which the local
        /// queue fills.
        pub credit_bytes as "credit": u64 = CREDIT.key().default("200 packets").source(Proxy::SOURCE),
        /// Whether a retransmission gives credit, too, so that with each loss more may wait.
        pub credit_for_retransmissions: bool = Kind::Flag.key().default("true"),
        /// Time between two checks of the local queue.
        pub check_interval as "interval": Span = INTERVAL.key().default("10 ms").source(Proxy::SOURCE),
    }
    beside {
        /// Node where senders' segments are intercepted.
        pub start: usize,
        /// Node from which their data is forwarded.
        pub end: usize,
        /// The connection between the two.
        pub tcp: Arc<Tcp>,
        /// Queue in front of the start node's receivers.
        pub queue: QueueConfig,
        /// What changes while it runs, in order of time.
        pub changes: Vec<ProxyChange>,
    }
}

impl Proxy {
    /// Where its defaults come from.
    pub const SOURCE: &str = "thesis of the University of Innsbruck, 2009, table 5.1";

    /// Its local queue, and what that becomes.
    pub fn queues(&self) -> impl Iterator<Item = &QueueConfig> {
        let changes = self.changes.iter();
        let changed = changes.filter_map(|change| change.queue.as_ref());
        changed.chain([&self.queue])
    }

    /// Whether its local queue draws random numbers at some time.
    pub fn draws(&self) -> bool {
        self.queues().any(|queue| queue.draws() != Draws::Never)
    }
}

keys! {
    /// New parameters of a proxy from some time on; what is not given stays.
    #[derive(Clone, Debug)]
    pub struct ProxyChange {
        /// When.
        pub at: Time = Kind::Positive(TIME).key().required(),
        /// Payload that may wait unsent at the start of the connection between the nodes.
        pub credit_bytes as "credit": Option<u64> = CREDIT.key(),
        /// Time between two checks of the local queue.
        pub check_interval as "interval": Option<Span> = INTERVAL.key(),
    }
    beside {
        /// Discipline of the local queue. It begins anew; packets that wait stay.
        pub queue: Option<QueueConfig>,
    }
}
