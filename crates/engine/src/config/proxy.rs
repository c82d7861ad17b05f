//! Pairs of split-TCP proxies. A pair replaces a connection by three: from the sender to the first proxy, between the
//! proxies, and from the second proxy to the receiver.

use std::sync::Arc;

use longhaul_keys::{Kind, TIME, keys};
use longhaul_units::{Dimension, Span, Time};

use super::Tcp;
use crate::queue::{Draws, QueueConfig};

const CREDIT: Kind = Kind::Positive(&[Dimension::Packets, Dimension::Size]);
const INTERVAL: Kind = Kind::Positive(TIME);

keys! {
    /// A pair of nodes joined by one connection, which carries the data of all TCP flows through both nodes (thesis of
    /// the University of Innsbruck, 2009, chapter 3). Senders connect to the start node. The end node connects to the
    /// receivers.
    #[derive(Clone, Debug)]
    pub struct Proxy {
        /// Unique name of the proxy.
        pub name: String = Kind::Name.key().derived("START-END"),
        /// Maximum unsent payload of the connection between the proxy's nodes; other data waits in the local queue.
        pub credit_bytes as "credit": u64 = CREDIT.key().default("200 packets").source(Proxy::SOURCE),
        /// True if retransmissions between the nodes return credit, as first transmissions do. Each loss then lets more
        /// data wait at the start node.
        pub credit_for_retransmissions: bool = Kind::Flag.key().default("true"),
        /// Time between two checks of the local queue.
        pub check_interval as "interval": Span = INTERVAL.key().default("10 ms").source(Proxy::SOURCE),
    }
    beside {
        /// Start node, where segments of senders are intercepted.
        pub start: usize,
        /// End node, which sends the data of split flows to the receivers.
        pub end: usize,
        /// Parameters of the connection between the two nodes.
        pub tcp: Arc<Tcp>,
        /// Discipline of the local queue at the start node, where intercepted segments wait for the proxy's credit.
        pub queue: QueueConfig,
        /// Changes in the course of the run, in order of time.
        pub changes: Vec<ProxyChange>,
    }
}

impl Proxy {
    /// Source of the defaults.
    pub const SOURCE: &str = "thesis of the University of Innsbruck, 2009, table 5.1";

    /// Returns all disciplines that the local queue has in the course of the run; the initial one comes last.
    pub fn queues(&self) -> impl Iterator<Item = &QueueConfig> {
        let changes = self.changes.iter();
        let changed = changes.filter_map(|change| change.queue.as_ref());
        changed.chain([&self.queue])
    }

    /// Returns true if the local queue draws random numbers at any time of the run.
    pub fn draws(&self) -> bool {
        self.queues().any(|queue| queue.draws() != Draws::Never)
    }
}

keys! {
    /// A change of a proxy's parameters at a given time; parameters that are not given do not change.
    #[derive(Clone, Debug)]
    pub struct ProxyChange {
        /// Time of the change.
        pub at: Time = Kind::Positive(TIME).key().required(),
        /// Maximum unsent payload of the connection between the proxy's nodes; other data waits in the local queue.
        pub credit_bytes as "credit": Option<u64> = CREDIT.key(),
        /// Time between two checks of the local queue.
        pub check_interval as "interval": Option<Span> = INTERVAL.key(),
    }
    beside {
        /// New discipline of the local queue. Packets in the queue stay; the new discipline starts with fresh state.
        pub queue: Option<QueueConfig>,
    }
}
