//! Queues of hashed flows, for FQ-CoDel, FQ-PIE and CAKE. Deficit round robin serves the queues, new flows first (RFC
//! 8290 section 4). Each queue has its own state of active queue management.

use std::collections::VecDeque;

use longhaul_keys::{Kind, SIZE, keys};
use longhaul_units::Bytes;

use super::flow::{flow_key, mix};
use super::sub_queues::{OneOf, SubQueues};
use super::{Capacity, DropReason, Effects};
use crate::packet::Packet;
use crate::random::Stream;

pub(super) const COUNT: Kind = Kind::Whole {
    min: 1,
    max: 1 << 20,
};

keys! {
    /// Parameters of the hashing and service of flows.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowQueuesParameters {
        /// Bytes that a flow may send per turn; `auto`: the largest packet of a flow.
        pub quantum: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8290 section 5.2"),
        /// Number of queues that flows are hashed to.
        pub queues: u32 = COUNT.key().default("1024").source("RFC 8290 section 5.2"),
    }
}

/// Hash function from flows to queues.
#[derive(Clone, Debug)]
pub(super) struct FlowHash {
    /// Random value that perturbs the hash, so collisions depend on the seed.
    perturbation: u64,
}

impl FlowHash {
    pub(super) fn new(stream: &mut Stream) -> Self {
        Self {
            perturbation: stream.bits(),
        }
    }

    /// Returns the hash of a packet's flow.
    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> u64 {
        mix(flow_key(packet) ^ self.perturbation)
    }

    /// Returns the queue of a packet's flow, a number below `queues`.
    #[inline]
    pub(super) fn queue(&self, packet: &Packet, queues: u32) -> u32 {
        let (hash, queues) = (self.of(packet), u64::from(queues));
        // This is a modulo operation, which needs no division for the usual number of queues.
        let queue = if queues.is_power_of_two() {
            hash & (queues - 1)
        } else {
            hash % queues
        };
        queue as u32
    }
}

/// Treatment of a new queue that is found empty at its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyNew {
    /// The queue becomes old and waits for its next turn. A flow that sends occasionally therefore does not stay new
    /// for ever (RFC 8290 section 4.2).
    TurnsOld,
    /// The empty queue becomes old if there are old queues; otherwise it leaves the lists (Linux, `fq_codel_dequeue`).
    TurnsOldBehindOthers,
    /// The empty queue leaves both lists. Only queues that have used up their quantum become old (CAKE).
    Leaves,
}

/// Part of the longest queue that is dropped when the limit is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Half of the longest queue's packets are dropped (RFC 8290 section 4.1). Of equally long queues, the next in turn
    /// is chosen.
    Packets,
    /// Packets are dropped from the longest queue until half of its bytes are gone. Of equally long queues, the queue
    /// with the lowest number is chosen (Linux, `fq_codel_drop`).
    Bytes,
}

/// Queues of hashed flows, served by deficit round robin, each with active queue management `A`.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<A> {
    quantum: i64,
    packets: SubQueues,
    flows: Vec<Flow<A>>,
    /// List of the new queues: they have received packets, and have not used up their first quantum.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

/// State of one queue, except its packets. `A` is the state of the queue's active queue management.
#[derive(Clone, Debug, Default)]
struct Flow<A> {
    credit: i64,
    /// True if the queue is on one of two lists: new queues or old queues.
    listed: bool,
    aqm: A,
}

impl<A: Clone> FlowQueues<A> {
    /// Creates `queues` empty queues, each with a copy of `aqm`, the initial state of queue management.
    pub(super) fn new(queues: u32, quantum: Bytes, aqm: A) -> Self {
        let mut packets = SubQueues::default();
        packets.grow_to(queues as usize);
        let flow = Flow {
            credit: 0,
            listed: false,
            aqm,
        };
        Self {
            quantum: quantum.0 as i64,
            packets,
            flows: vec![flow; queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// Adds a packet to a queue. If the queue is neither new nor old, it becomes new (RFC 8290 section 4.1).
    #[inline]
    pub(super) fn push(&mut self, queue: u32, packet: Packet) {
        self.packets.push(queue, packet);
        let flow = &mut self.flows[queue as usize];
        if !flow.listed {
            flow.listed = true;
            flow.credit = self.quantum;
            self.new.push_back(queue);
        }
    }

    /// Returns the next packet to transmit (RFC 8290 section 4.2). As in Linux (`net/sched/sch_fq_codel.c`), a queue's
    /// turn ends when its credits are used up. `take` removes the next packet of a given queue.
    #[inline]
    pub(super) fn dequeue(
        &mut self,
        empty_new: EmptyNew,
        mut take: impl FnMut(&mut A, OneOf<'_>) -> Option<Packet>,
    ) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let queue = *list.front()?;
            let flow = &mut self.flows[queue as usize];
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                list.pop_front();
                self.old.push_back(queue);
                continue;
            }
            if let Some(packet) = take(&mut flow.aqm, self.packets.queue(queue)) {
                flow.credit -= i64::from(packet.bytes);
                return Some(packet);
            }
            list.pop_front();
            let turns_old = match empty_new {
                EmptyNew::TurnsOld => is_new,
                EmptyNew::TurnsOldBehindOthers => is_new && !self.old.is_empty(),
                EmptyNew::Leaves => false,
            };
            if turns_old {
                self.old.push_back(queue);
            } else {
                flow.listed = false;
            }
        }
    }

    /// Drops about half of the packets or bytes of the longest queue, from its head, but at most `most` packets.
    /// Returns the active queue management of this queue, and the number of drops.
    pub(super) fn drop_from_longest(
        &mut self,
        most: u32,
        batch: Batch,
        effects: &mut Effects,
    ) -> (&mut A, u32) {
        let longest = self.longest(batch).expect("too much waits");
        let (bytes, pkts) = (self.packets.bytes(longest), self.packets.pkts(longest));
        let mut drops = 0;
        loop {
            let packet = self.packets.pop(longest).expect("half of what there is");
            effects.drop(packet, DropReason::Overflow);
            drops += 1;
            let is_half = match batch {
                Batch::Packets => drops >= pkts / 2,
                Batch::Bytes => bytes - self.packets.bytes(longest) >= bytes / 2,
            };
            if is_half || drops >= most {
                return (&mut self.flows[longest as usize].aqm, drops);
            }
        }
    }

    /// Returns the queue with the most bytes. `batch` determines the choice among equally long queues.
    fn longest(&self, batch: Batch) -> Option<u32> {
        match batch {
            Batch::Packets => self
                .packets
                .longest(self.new.iter().chain(&self.old).copied()),
            Batch::Bytes => self.packets.longest(0..self.flows.len() as u32),
        }
    }

    /// Returns a mutable reference to the queue management of a queue.
    #[inline]
    pub(super) fn aqm(&mut self, queue: u32) -> &mut A {
        &mut self.flows[queue as usize].aqm
    }

    /// Returns the queue management of every queue.
    pub(super) fn all_aqms(&self) -> impl Iterator<Item = &A> {
        self.flows.iter().map(|flow| &flow.aqm)
    }

    /// Calls `change` for each queue, with its queue management and its number of bytes.
    pub(super) fn each_aqm(&mut self, mut change: impl FnMut(&mut A, u64)) {
        for (queue, flow) in (0..).zip(&mut self.flows) {
            change(&mut flow.aqm, self.packets.bytes(queue));
        }
    }

    /// Returns true if the queue is on the list of new or of old queues.
    #[inline]
    pub(super) fn is_listed(&self, queue: u32) -> bool {
        self.flows[queue as usize].listed
    }

    /// Returns the number of bytes in one queue.
    #[inline]
    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.packets.bytes(queue)
    }

    /// Returns the numbers of packets and of bytes in all queues.
    #[inline]
    pub(super) fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }

    /// Returns true if all queues together exceed `limit`.
    #[inline]
    pub(super) fn exceed(&self, limit: Capacity) -> bool {
        self.packets.exceed(limit)
    }
}
