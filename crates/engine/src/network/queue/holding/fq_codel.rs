//! FQ-CoDel: flows hashed to queues, served by deficit round robin with new flows first, each under
//! a CoDel of its own (Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, RFC 8290).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use longhaul_units::{Bytes, Time};

use super::Effects;
use super::codel::{CoDelParameters, Control};
use super::flow::{flow_key, mix};
use super::sub_queues::SubQueues;
use crate::network::queue::{Arrival, Capacity, DropReason};
use crate::packet::Packet;
use crate::random::Stream;

/// FQ-CoDel, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCoDelConfig {
    /// Limit on what waits in all queues.
    pub limit: Capacity,
    /// Queues that flows are hashed to (1024 in RFC 8290 section 5.2).
    pub queues: u32,
    /// Bytes that a queue may send in its turn: a packet in RFC 8290 section 5.2.
    pub quantum: Bytes,
    /// The most packets that the longest queue loses at once: half of what it has, up to this many
    /// (64 in RFC 8290 section 4.1).
    pub drop_batch: u32,
    /// Each queue's CoDel.
    pub control: CoDelParameters,
}

/// FQ-CoDel at work.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    config: FqCoDelConfig,
    packets: SubQueues,
    flows: Vec<Flow>,
    /// Queues that began to hold packets and have not used up their first quantum.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Perturbs the hash, so that other seeds put other flows together.
    perturbation: u64,
}

/// What there is of one queue beside its packets.
#[derive(Clone, Debug, Default)]
struct Flow {
    credit: i64,
    /// Whether it is on one of the lists.
    listed: bool,
    control: Control,
}

impl FqCoDel {
    pub(super) fn new(config: FqCoDelConfig, stream: &mut Stream) -> Self {
        let mut packets = SubQueues::default();
        packets.grow_to(config.queues as usize);
        Self {
            config,
            packets,
            flows: vec![Flow::default(); config.queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            perturbation: (stream.uniform() * 2f64.powi(53)) as u64,
        }
    }

    /// The queue of a packet's flow.
    fn classify(&self, packet: &Packet) -> u32 {
        let hash = mix(flow_key(packet) ^ self.perturbation);
        let queues = u64::from(self.config.queues);
        // The same, without a division for the usual number of queues.
        let queue = if queues.is_power_of_two() {
            hash & (queues - 1)
        } else {
            hash % queues
        };
        queue as u32
    }

    /// Section 4.1.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        _arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let queue = self.classify(&packet);
        self.packets.push(queue, packet);
        let flow = &mut self.flows[queue as usize];
        if !flow.listed {
            flow.listed = true;
            flow.credit = self.config.quantum.0 as i64;
            self.new.push_back(queue);
        }
        while self.packets.exceed(self.config.limit) {
            self.drop_from_longest(effects);
        }
        Ok(())
    }

    fn drop_from_longest(&mut self, effects: &mut Effects) {
        let backlogged = self.new.iter().chain(&self.old).copied();
        let longest = self.packets.longest(backlogged).expect("too much waits");
        let half = self.packets.pkts(longest) / 2;
        for _ in 0..half.clamp(1, self.config.drop_batch) {
            let packet = self.packets.pop(longest).expect("half of what there is");
            effects.drop(packet, DropReason::Overflow);
        }
    }

    /// Section 4.2. As in Linux a queue's turn is over when it has no credits left.
    pub(super) fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.front()?;
            let flow = &mut self.flows[queue as usize];
            if flow.credit <= 0 {
                flow.credit += self.config.quantum.0 as i64;
                list.pop_front();
                self.old.push_back(queue);
                continue;
            }
            let mut source = self.packets.queue(queue);
            let parameters = &self.config.control;
            let next = flow.control.dequeue(parameters, now, &mut source, effects);
            if let Some(packet) = next {
                flow.credit -= i64::from(packet.bytes);
                return Some(packet);
            }
            // An empty new queue waits its turn behind the old ones, so that a flow that sends now
            // and then does not stay new for ever.
            list.pop_front();
            if is_new {
                self.old.push_back(queue);
            } else {
                flow.listed = false;
            }
        }
    }

    pub(super) fn held(&self) -> (u64, u64) {
        self.packets.held()
    }
}
