//! FQ-CoDel (Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, RFC 8290). Flows are hashed to queues. Each queue
//! has its own CoDel. Deficit round robin serves the queues, new flows first.
//!
//! With CoDel's variant linux-6.18, FQ-CoDel also follows Linux (`net/sched/sch_fq_codel.c`). CoDel drops nothing while
//! all queues together contain at most `max_packet` bytes. At the limit, half of the bytes of the longest queue are
//! dropped, and count as drops of its CoDel. An empty new queue leaves the lists if there are no old queues. A packet
//! that finds the link idle bypasses the discipline.

#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, Refusal, Table, keys};
use longhaul_units::{Rate, Time};

use super::codel::{CoDelParameters, CoDelVariant, Control, Source};
use super::flow_queues::{Batch, COUNT, EmptyNew, FlowHash, FlowQueues, FlowQueuesParameters};
use super::sub_queues::OneOf;
use super::{Arrival, Capacity, DropReason, Effects, LinkContext, PacketQueue, Parameters};
use crate::packet::Packet;
use crate::random::Stream;

keys! {
    /// Parameters of FQ-CoDel.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FqCoDelConfig {
        /// Capacity of all queues together. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT.default("10240 packets").source("RFC 8290 section 5.2.3"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("true").source("RFC 8290 section 5.2"),
        /// Maximum number of packets dropped at once. When `limit` is exceeded, the queue with the most bytes loses
        /// half of its packets (in variant linux-6.18, half of its bytes), but not more packets than this number.
        pub drop_batch: u32 = COUNT.key().default("64").source("RFC 8290 section 4.1"),
    }
    flattened {
        /// Parameters of the hashing and service of flows.
        pub flows: FlowQueuesParameters,
        /// Parameters of the CoDel instance of each queue.
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
    const PER_FLOW: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, CoDelParameters::max_packet);
        link.complete_size(values, FlowQueuesParameters::quantum);
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> FqCoDel {
        FqCoDel::new(*self, stream)
    }

    /// Returns true, since the hash of flows is perturbed at random.
    fn is_random(&self) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of FQ-CoDel.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    config: FqCoDelConfig,
    hash: FlowHash,
    queues: FlowQueues<Control>,
}

impl FqCoDel {
    fn new(config: FqCoDelConfig, mut stream: Stream) -> Self {
        let FlowQueuesParameters { queues, quantum } = config.flows;
        Self {
            config,
            hash: FlowHash::new(&mut stream),
            queues: FlowQueues::new(queues, quantum, Control::new(&config.control)),
        }
    }

    /// Returns the queue of a packet's flow.
    fn classify(&self, packet: &Packet) -> u32 {
        self.hash.queue(packet, self.config.flows.queues)
    }
}

/// One of the queues, as seen by its CoDel in variant linux-6.18: `bytes` includes the bytes of all other queues.
struct WithAll<'a>(OneOf<'a>);

impl Source for WithAll<'_> {
    fn pop(&mut self) -> Option<Packet> {
        self.0.pop()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes_of_all()
    }
}

impl PacketQueue for FqCoDel {
    fn passes(&self) -> bool {
        // Linux bypasses an empty discipline (`TCQ_F_CAN_BYPASS`).
        self.config.control.variant == CoDelVariant::Linux
    }

    fn enqueue(
        &mut self,
        packet: Packet,
        _arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        self.queues.push(self.classify(&packet), packet);
        let batch = match self.config.control.variant {
            CoDelVariant::Rfc8289 => Batch::Packets,
            CoDelVariant::Linux => Batch::Bytes,
        };
        while self.queues.exceed(self.config.limit) {
            let most = self.config.drop_batch;
            let (control, drops) = self.queues.drop_from_longest(most, batch, effects);
            control.on_overflow(drops);
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let parameters = (&self.config.control, self.config.ecn);
        match self.config.control.variant {
            CoDelVariant::Rfc8289 => self
                .queues
                .dequeue(EmptyNew::TurnsOld, |control, mut source| {
                    control.dequeue(parameters, now, &mut source, effects)
                }),
            CoDelVariant::Linux => {
                let empty_new = EmptyNew::TurnsOldBehindOthers;
                self.queues.dequeue(empty_new, |control, source| {
                    control.dequeue(parameters, now, &mut WithAll(source), effects)
                })
            }
        }
    }

    fn waiting(&self) -> (u64, u64) {
        self.queues.waiting()
    }
}
