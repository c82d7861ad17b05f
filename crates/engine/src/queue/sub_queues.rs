//! Many first-in first-out queues, each in a ring buffer. A queue that becomes empty gives its ring to the next queue
//! in need of one. There are thus at most as many rings as queues have ever been non-empty at one time, and few
//! allocations.

use std::collections::VecDeque;

use longhaul_kernel::memory;

use super::Capacity;
use super::codel::Source;
use crate::packet::Packet;

/// First-in first-out queues, numbered from 0 on.
#[derive(Clone, Debug, Default)]
pub(super) struct SubQueues {
    queues: Vec<SubQueue>,
    /// Rings that no queue uses at present.
    spare: Vec<VecDeque<Packet>>,
    pkts: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct SubQueue {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl SubQueues {
    /// Makes room for `queues` queues.
    pub(super) fn grow_to(&mut self, queues: usize) {
        if queues > self.queues.len() {
            self.queues.resize(queues, SubQueue::default());
        }
    }

    #[inline]
    pub(super) fn push(&mut self, queue: u32, packet: Packet) {
        let queue = &mut self.queues[queue as usize];
        if queue.packets.is_empty()
            && let Some(ring) = self.spare.pop()
        {
            queue.packets = ring;
        }
        let (len, capacity) = (queue.packets.len(), queue.packets.capacity());
        memory::claim_growth::<Packet>("packets in a queue", len, capacity);
        let bytes = u64::from(packet.bytes);
        queue.packets.push_back(packet);
        queue.bytes += bytes;
        self.pkts += 1;
        self.bytes += bytes;
    }

    #[inline]
    pub(super) fn pop(&mut self, queue: u32) -> Option<Packet> {
        let queue = &mut self.queues[queue as usize];
        let packet = queue.packets.pop_front()?;
        let bytes = u64::from(packet.bytes);
        queue.bytes -= bytes;
        self.pkts -= 1;
        self.bytes -= bytes;
        if queue.packets.is_empty() {
            self.spare.push(std::mem::take(&mut queue.packets));
        }
        Some(packet)
    }

    /// Returns the first packet of a queue.
    pub(super) fn first(&self, queue: u32) -> Option<&Packet> {
        self.queues[queue as usize].packets.front()
    }

    pub(super) fn is_empty(&self, queue: u32) -> bool {
        self.queues[queue as usize].packets.is_empty()
    }

    /// Returns the number of packets in a queue.
    pub(super) fn pkts(&self, queue: u32) -> u32 {
        self.queues[queue as usize].packets.len() as u32
    }

    /// Returns the number of bytes in a queue.
    #[inline]
    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.queues[queue as usize].bytes
    }

    /// Returns the number of packets in all queues, and their bytes.
    pub(super) fn waiting(&self) -> (u64, u64) {
        (self.pkts, self.bytes)
    }

    /// Returns true if all queues together exceed a limit.
    pub(super) fn exceed(&self, limit: Capacity) -> bool {
        limit.is_exceeded_by(self.pkts, self.bytes)
    }

    /// Returns the queue in `among` with the most bytes; of queues with equally many, the first.
    pub(super) fn longest(&self, among: impl Iterator<Item = u32>) -> Option<u32> {
        let bytes = |queue: u32| self.bytes(queue);
        among.reduce(|longest, queue| {
            if bytes(queue) > bytes(longest) {
                queue
            } else {
                longest
            }
        })
    }

    /// Returns the queue with the number `queue`, so that an algorithm can remove packets from it.
    #[inline]
    pub(super) fn queue(&mut self, queue: u32) -> OneOf<'_> {
        OneOf {
            queues: self,
            queue,
        }
    }
}

/// One of the queues, from which an algorithm can remove packets.
pub(super) struct OneOf<'a> {
    queues: &'a mut SubQueues,
    queue: u32,
}

impl OneOf<'_> {
    /// Returns the number of bytes in all queues.
    pub(super) fn bytes_of_all(&self) -> u64 {
        self.queues.bytes
    }
}

impl Source for OneOf<'_> {
    fn pop(&mut self) -> Option<Packet> {
        self.queues.pop(self.queue)
    }

    fn bytes(&self) -> u64 {
        self.queues.bytes(self.queue)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use longhaul_kernel::memory::Budget;
    use proptest::prelude::*;

    use super::*;
    use crate::queue::fifo::Packets;
    use crate::queue::tests::packet;

    /// The ring of a queue that becomes empty is used by the next queue that gets a packet.
    #[test]
    fn an_empty_queue_gives_its_ring_away() {
        let mut queues = SubQueues::default();
        queues.grow_to(2);
        (0..100).for_each(|number| queues.push(0, packet(number, 1500)));
        let capacity = queues.queues[0].packets.capacity();
        while queues.pop(0).is_some() {}
        queues.push(1, packet(0, 1500));
        let left = [0, 1].map(|queue: usize| queues.queues[queue].packets.capacity());
        assert_eq!((left, queues.spare.len()), ([0, capacity], 0));
    }

    /// Before a ring grows, its memory is charged to the run's budget.
    #[test]
    fn a_queue_that_grows_asks_for_memory() {
        let _budget = Budget::begin(|_| false);
        let mut queues = SubQueues::default();
        queues.grow_to(1);
        let refused = memory::catch(|| (0..100_000).for_each(|_| queues.push(0, packet(0, 1500))));
        assert_eq!(
            refused.map_err(|refused| refused.what),
            Err("packets in a queue")
        );
        let mut fifo = Packets::default();
        let refused = memory::catch(|| (0..100_000).for_each(|_| fifo.push(packet(0, 1500))));
        assert_eq!(
            refused.map_err(|refused| refused.what),
            Err("packets in a queue")
        );
    }

    proptest! {
        /// Checks that each queue is first in, first out, and that no more ring buffers are allocated than queues were
        /// non-empty at one time.
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
                prop_assert_eq!(queues.waiting(), (pkts as u64, bytes));
                prop_assert_eq!(queues.pkts(queue) as usize, model[queue as usize].len());
                most = most.max(model.iter().filter(|queue| !queue.is_empty()).count());
                let longest = queues.longest(0..5).expect("there are queues");
                let largest = model.iter().map(size).max();
                prop_assert_eq!(Some(size(&model[longest as usize])), largest);
            }
            let is_ring = |ring: &&VecDeque<Packet>| ring.capacity() > 0;
            let in_use = queues.queues.iter().map(|queue| &queue.packets);
            let rings = in_use.chain(&queues.spare).filter(is_ring).count();
            prop_assert!(rings <= most);
        }
    }
}
