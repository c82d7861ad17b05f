//! A set-associative hash of flows. Each flow is hashed to a set of eight queues, and gets one of them for itself,
//! unless all eight are in use.

use crate::packet::Packet;
use crate::queue::flow_queues::FlowHash;
use crate::random::Stream;

/// Number of queues, as in Linux (`CAKE_QUEUES`).
pub(super) const QUEUES: u32 = 1024;
/// Queues in a set (`CAKE_SET_WAYS`).
const WAYS: u32 = 8;

/// Assignment of queues to flows.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    hash: FlowHash,
    /// Hash of the flow that each queue was assigned to last.
    tags: Vec<u64>,
}

impl Ways {
    pub(super) fn new(stream: &mut Stream) -> Self {
        Self {
            hash: FlowHash::new(stream),
            tags: vec![0; QUEUES as usize],
        }
    }

    /// Returns the queue of a packet's flow. A flow keeps its queue until another flow is assigned to it; otherwise, it
    /// gets an unused queue of its set. If all queues of the set are in use, the flow shares the queue that its hash
    /// selects.
    pub(super) fn queue(&mut self, packet: &Packet, mut in_use: impl FnMut(u32) -> bool) -> u32 {
        let tag = self.hash.of(packet);
        let direct = (tag % u64::from(QUEUES)) as u32;
        if self.tags[direct as usize] == tag {
            return direct;
        }
        let set = direct - direct % WAYS;
        let ways = || (0..WAYS).map(|way| set + (direct + way) % WAYS);
        let same = ways().find(|&queue| self.tags[queue as usize] == tag);
        let queue = same.or_else(|| ways().find(|&queue| !in_use(queue)));
        let queue = queue.unwrap_or(direct);
        self.tags[queue as usize] = tag;
        queue
    }
}
