//! Queues of packets that wait for processing by the receiving host, one for each receiver. A packet is stored as the
//! acknowledgement that the host will send for it. All queues share a pool of entries.

use serde::{Deserialize, Serialize};

use crate::network::Packet;

/// One receiver's queue of acknowledgements: the indices of its first and last entry in the pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct AckQueue {
    first: u32,
    last: u32,
}

/// Index that stands for no entry.
const NONE: u32 = u32::MAX;

impl Default for AckQueue {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
        }
    }
}

/// The pool for the entries of all receivers' queues. Each [`AckQueue`] is a linked list of entries. Freed entries are
/// used again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AckQueues {
    entries: Vec<(Packet, u32)>,
    free: u32,
}

impl AckQueues {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: NONE,
        }
    }

    /// Appends an acknowledgement to a queue.
    #[inline]
    pub(crate) fn push(&mut self, queue: &mut AckQueue, ack: Packet) {
        let entry = self.free;
        let entry = if entry == NONE {
            self.entries.push((ack, NONE));
            (self.entries.len() - 1) as u32
        } else {
            let freed = &mut self.entries[entry as usize];
            self.free = freed.1;
            *freed = (ack, NONE);
            entry
        };
        if queue.first == NONE {
            queue.first = entry;
        } else {
            self.entries[queue.last as usize].1 = entry;
        }
        queue.last = entry;
    }

    /// Removes the oldest acknowledgement of a queue.
    #[inline]
    pub(crate) fn pop(&mut self, queue: &mut AckQueue) -> Option<Packet> {
        if queue.first == NONE {
            return None;
        }
        let entry = queue.first;
        let (ack, next) = self.entries[entry as usize];
        self.entries[entry as usize].1 = self.free;
        self.free = entry;
        queue.first = next;
        Some(ack)
    }
}

#[cfg(test)]
mod tests {
    use longhaul_units::Time;

    use super::*;
    use crate::network::{FlowId, Kind};

    #[test]
    fn queues_are_first_in_first_out_and_reuse_entries() {
        let flow = FlowId {
            slot: 0,
            generation: 0,
        };
        let ack = |number| Packet::new(Kind::Ack, number, flow, 0, Time::ZERO);
        let mut queues = AckQueues::new();
        let mut lists = [AckQueue::default(); 3];
        for round in 0..10 {
            for number in 0..30 {
                queues.push(&mut lists[number as usize % 3], ack(round * 30 + number));
            }
            for (at, list) in lists.iter_mut().enumerate() {
                let taken: Vec<u64> = std::iter::from_fn(|| queues.pop(list))
                    .map(|ack| ack.number())
                    .collect();
                let expected: Vec<u64> = (round * 30..round * 30 + 30)
                    .filter(|number| *number as usize % 3 == at)
                    .collect();
                assert_eq!(taken, expected);
            }
        }
        assert_eq!(queues.entries.len(), 30);
    }
}
