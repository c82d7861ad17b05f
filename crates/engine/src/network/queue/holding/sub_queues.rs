//! Many first-in first-out queues in one store: a queue that is empty takes no room but its ends.

use super::codel::Source;
use crate::network::queue::Capacity;
use crate::packet::Packet;

/// Queues by number.
#[derive(Clone, Debug, Default)]
pub(super) struct SubQueues {
    /// Packets of all queues, each with the place of the one behind it.
    slots: Vec<Slot>,
    /// The first free slot, from which the others follow.
    free: Option<u32>,
    queues: Vec<SubQueue>,
    pkts: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    next: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SubQueue {
    /// The places of the first packet and of the last.
    ends: Option<(u32, u32)>,
    pkts: u32,
    bytes: u64,
}

impl SubQueues {
    /// Makes room for all queues below a number.
    pub(super) fn grow_to(&mut self, queues: usize) {
        if queues > self.queues.len() {
            self.queues.resize(queues, SubQueue::default());
        }
    }

    pub(super) fn push(&mut self, queue: u32, packet: Packet) {
        let slot = Slot { packet, next: None };
        let place = if let Some(place) = self.free {
            self.free = self.slots[place as usize].next;
            self.slots[place as usize] = slot;
            place
        } else {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("fewer than 4e9 packets wait")
        };
        let queue = &mut self.queues[queue as usize];
        let first = queue.ends.map_or(place, |(first, last)| {
            self.slots[last as usize].next = Some(place);
            first
        });
        queue.ends = Some((first, place));
        queue.pkts += 1;
        queue.bytes += u64::from(packet.bytes);
        self.pkts += 1;
        self.bytes += u64::from(packet.bytes);
    }

    pub(super) fn pop(&mut self, queue: u32) -> Option<Packet> {
        let queue = &mut self.queues[queue as usize];
        let (first, last) = queue.ends?;
        let slot = &mut self.slots[first as usize];
        queue.ends = slot.next.map(|next| (next, last));
        slot.next = self.free.replace(first);
        let packet = slot.packet;
        queue.pkts -= 1;
        queue.bytes -= u64::from(packet.bytes);
        self.pkts -= 1;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// The first packet of a queue.
    pub(super) fn first(&self, queue: u32) -> Option<&Packet> {
        let (first, _) = self.queues[queue as usize].ends?;
        Some(&self.slots[first as usize].packet)
    }

    pub(super) fn is_empty(&self, queue: u32) -> bool {
        self.queues[queue as usize].ends.is_none()
    }

    /// Packets in a queue.
    pub(super) fn pkts(&self, queue: u32) -> u32 {
        self.queues[queue as usize].pkts
    }

    /// What all hold together: packets and bytes.
    pub(super) fn held(&self) -> (u64, u64) {
        (self.pkts, self.bytes)
    }

    /// Whether that is more than a limit.
    pub(super) fn exceed(&self, limit: Capacity) -> bool {
        limit.is_exceeded_by(self.pkts, self.bytes)
    }

    /// Of some queues the one with the most bytes; the first of equals.
    pub(super) fn longest(&self, among: impl Iterator<Item = u32>) -> Option<u32> {
        let bytes = |queue: u32| self.queues[queue as usize].bytes;
        among.reduce(|longest, queue| {
            if bytes(queue) > bytes(longest) {
                queue
            } else {
                longest
            }
        })
    }

    /// One of the queues.
    pub(super) fn queue(&mut self, queue: u32) -> impl Source {
        OneOf {
            queues: self,
            queue,
        }
    }
}

struct OneOf<'a> {
    queues: &'a mut SubQueues,
    queue: u32,
}

impl Source for OneOf<'_> {
    fn pop(&mut self) -> Option<Packet> {
        self.queues.pop(self.queue)
    }

    fn bytes(&self) -> u64 {
        self.queues.queues[self.queue as usize].bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::network::queue::holding::tests::packet;

    proptest! {
        /// Each queue keeps its order, and the store no more slots than there were ever packets.
        #[test]
        fn queues_keep_their_order(
            steps in prop::collection::vec((0u32..5, 1u16..1500, any::<bool>()), 1..300),
        ) {
            let mut queues = SubQueues::default();
            queues.grow_to(5);
            let mut model: Vec<VecDeque<(u64, u16)>> = vec![VecDeque::new(); 5];
            let mut most = 0;
            for (number, (queue, bytes, push)) in (0..).zip(steps) {
                let twin = &mut model[queue as usize];
                if push {
                    queues.push(queue, packet(number, bytes));
                    twin.push_back((number, bytes));
                } else {
                    let out = queues.pop(queue).map(|packet| (packet.seq, packet.bytes));
                    prop_assert_eq!(out, twin.pop_front());
                }
                let size = |queue: &VecDeque<(u64, u16)>| -> u64 {
                    queue.iter().map(|&(_, bytes)| u64::from(bytes)).sum()
                };
                let pkts: usize = model.iter().map(VecDeque::len).sum();
                let bytes: u64 = model.iter().map(size).sum();
                prop_assert_eq!(queues.held(), (pkts as u64, bytes));
                prop_assert_eq!(queues.pkts(queue) as usize, model[queue as usize].len());
                most = most.max(pkts);
                let longest = queues.longest(0..5).expect("there are queues");
                let largest = model.iter().map(size).max();
                prop_assert_eq!(Some(size(&model[longest as usize])), largest);
            }
            prop_assert!(queues.slots.len() <= most);
        }
    }
}
