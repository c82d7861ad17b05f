//! FQ-CoDel: flows hashed to queues, served by deficit round robin with new flows first, each under
//! a CoDel of its own (Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, RFC 8290).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use longhaul_keys::{Kind, Refusal, SIZE, Table, keys};
use longhaul_units::{Bytes, Rate, Time};

use super::codel::{CoDelParameters, Control};
use super::flow::{flow_key, mix};
use super::sub_queues::SubQueues;
use super::{Arrival, Capacity, DropReason, Effects, LinkContext, PacketQueue, Parameters};
use crate::packet::Packet;
use crate::random::Stream;

const COUNT: Kind = Kind::Whole {
    min: 1,
    max: 1 << 20,
};

keys! {
    /// FQ-CoDel.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FqCoDelConfig {
        /// How much all queues hold together. A time is what the link sends in it.
        pub limit: Capacity = Capacity::LIMIT.default("10240 packets").source("RFC 8290 section 5.2.3"),
        /// Whether ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("true").source("RFC 8290 section 5.2"),
        /// What a flow may send in its turn; `auto`: the largest packet of a flow.
        pub quantum: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8290 section 5.2"),
        /// Queues that flows are hashed to.
        pub queues: u32 = COUNT.key().default("1024").source("RFC 8290 section 5.2"),
        /// When too much waits, the longest queue loses half of its packets, up to this many.
        pub drop_batch: u32 = COUNT.key().default("64").source("RFC 8290 section 4.1"),
    }
    flattened {
        /// Each queue's CoDel.
        pub control: CoDelParameters,
    }
}

impl Parameters for FqCoDelConfig {
    type Queue = FqCoDel;

    const KIND: &'static str = "fq-codel";
    const TITLE: &'static str = "Flow queue CoDel";
    const DESCRIPTION: &'static str =
        "Flows hashed to queues, each under CoDel, served in turn, new ones first.";
    const SOURCE: &'static str = "RFC 8290";
    const OUTSIDE_LINKS: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, CoDelParameters::max_packet);
        link.complete_size(values, Self::quantum);
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> FqCoDel {
        FqCoDel::new(*self, stream)
    }

    /// The hash is perturbed.
    fn is_random(&self) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.ecn
    }
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

/// The state of one queue besides its packets.
#[derive(Clone, Debug, Default)]
struct Flow {
    credit: i64,
    /// Whether it is on one of the lists.
    listed: bool,
    control: Control,
}

impl FqCoDel {
    fn new(config: FqCoDelConfig, mut stream: Stream) -> Self {
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

    fn drop_from_longest(&mut self, effects: &mut Effects) {
        let backlogged = self.new.iter().chain(&self.old).copied();
        let longest = self.packets.longest(backlogged).expect("too much waits");
        let half = self.packets.pkts(longest) / 2;
        for _ in 0..half.clamp(1, self.config.drop_batch) {
            let packet = self.packets.pop(longest).expect("half of what there is");
            effects.drop(packet, DropReason::Overflow);
        }
    }
}

impl PacketQueue for FqCoDel {
    /// Section 4.1.
    fn enqueue(
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

    /// Section 4.2. As in Linux (`net/sched/sch_fq_codel.c`) a queue's turn is over when it has no credits left.
    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
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
            let parameters = (&self.config.control, self.config.ecn);
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

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }
}
