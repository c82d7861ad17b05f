//! Proxies that split connections in three.

use std::sync::Arc;

use longhaul_units::{Span, Time};

use super::Tcp;
use crate::queue::{Draws, QueueConfig};

/// A pair of nodes between which one connection carries the data of all flows that pass them (thesis of the
/// University of Innsbruck, 2009, chapter 3). Senders talk to the start node, receivers to the end node.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Unique name, for example `satellite`.
    pub name: String,
    /// Node where senders' segments are intercepted.
    pub start: usize,
    /// Node from which their data is forwarded.
    pub end: usize,
    /// The connection between the two.
    pub tcp: Arc<Tcp>,
    /// Queue in front of the start node's receivers, which decides on arrival.
    pub queue: QueueConfig,
    /// Payload that may wait unsent at the start of the connection.
    pub credit_bytes: u64,
    /// Whether a retransmission gives credit, as in the thesis, so that the amount that may wait grows.
    pub credit_for_retransmissions: bool,
    /// Time between two checks of the local queue.
    pub check_interval: Span,
    /// Changes during the run, in order of time.
    pub changes: Vec<ProxyChange>,
}

impl Proxy {
    /// Its local queue, first and after each change.
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

/// New parameters of a proxy from some time on; what is not given stays.
#[derive(Clone, Debug)]
pub struct ProxyChange {
    /// When.
    pub at: Time,
    /// Payload that may wait unsent at the start of the connection.
    pub credit_bytes: Option<u64>,
    /// Time between two checks of the local queue.
    pub check_interval: Option<Span>,
    /// Discipline of the local queue. Its state is reset; queued packets stay.
    pub queue: Option<QueueConfig>,
}
