//! FQ-PIE (Linux, `net/sched/sch_fq_pie.c`; draft-tahiliani-tsvwg-fq-pie): flows are hashed to queues. Each queue has
//! its own PIE ([`pie`](super::pie)). Deficit round robin serves the queues, new flows first.
//!
//! A queue's delay is the sojourn time of the packet that left last, since the queue's share of the link's rate is not
//! known. The delay is zero if no packet waited behind this packet, as in Linux without `dq_rate_estimator`.

#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, Refusal, Table, keys};
use longhaul_units::{Rate, Span, Time};

use super::codel::Source;
use super::flow_queues::{EmptyNew, FlowHash, FlowQueues, FlowQueuesParameters};
use super::pie::{Control, PieParameters, PieVariant};
use super::{
    AqmState, Arrival, Capacity, Draws, DropReason, Effects, LinkContext, PacketQueue, Parameters,
    Verdict,
};
use crate::packet::Packet;
use crate::random::Stream;

keys! {
    /// Parameters of FQ-PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FqPieConfig {
        /// Capacity of all queues together. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT
            .default("10240 packets")
            .source("Linux: fq_pie_init of net/sched/sch_fq_pie.c"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false").source("Linux: pie_params_init of include/net/pie.h"),
    }
    flattened {
        /// Parameters of the hashing and service of flows.
        pub flows: FlowQueuesParameters,
        /// Parameters of the PIE instance of each queue.
        pub control: PieParameters,
    }
}

impl Parameters for FqPieConfig {
    type Queue = FqPie;

    const KIND: &'static str = "fq-pie";
    const TITLE: &'static str = "Flow queue PIE";
    const DESCRIPTION: &'static str =
        "Flows hashed to queues, each under PIE, served in turn, new ones first.";
    const SOURCE: &'static str = "Linux, sch_fq_pie.c; RFC 8033";
    const PER_FLOW: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, FlowQueuesParameters::quantum);
        PieParameters::complete(values, link)
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> FqPie {
        FqPie::new(*self, stream)
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// Removes the next packet of a queue, and records its departure in the queue's PIE.
fn take(control: &mut Control, now: Time, mut source: impl Source) -> Option<Packet> {
    let packet = source.pop()?;
    control.on_departure(now, packet.time, source.bytes() == 0);
    Some(packet)
}

/// The state of FQ-PIE.
#[derive(Clone, Debug)]
pub(crate) struct FqPie {
    config: FqPieConfig,
    hash: FlowHash,
    queues: FlowQueues<Control>,
    stream: Stream,
}

impl FqPie {
    fn new(config: FqPieConfig, mut stream: Stream) -> Self {
        let FlowQueuesParameters { queues, quantum } = config.flows;
        Self {
            config,
            hash: FlowHash::new(&mut stream),
            queues: FlowQueues::new(queues, quantum, Control::new(&config.control)),
            stream,
        }
    }
}

impl PacketQueue for FqPie {
    fn enqueue(
        &mut self,
        mut packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let queue = self.hash.queue(&packet, self.config.flows.queues);
        let waiting = self.queues.bytes(queue);
        let control = self.queues.aqm(queue);
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            control.on_overflow();
            return Err(reason);
        }
        let ecn = self.config.ecn && arrival.ecn_capable;
        match control.on_arrival(&self.config.control, ecn, waiting, &mut self.stream) {
            Verdict::Accept => {}
            Verdict::AcceptMarked => effects.mark(&mut packet),
            Verdict::Drop(reason) => return Err(reason),
        }
        self.queues.push(queue, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, _effects: &mut Effects) -> Option<Packet> {
        let empty_new = match self.config.control.variant {
            PieVariant::Rfc8033 => EmptyNew::TurnsOld,
            PieVariant::Linux => EmptyNew::TurnsOldBehindOthers,
        };
        self.queues
            .dequeue(empty_new, |control, source| take(control, now, source))
    }

    fn waiting(&self) -> (u64, u64) {
        self.queues.waiting()
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.control.update)
    }

    fn update(&mut self, _now: Time) {
        self.queues.each_aqm(|control, bytes| {
            control.update(&self.config.control, None, bytes > 0);
        });
    }

    /// Returns the state for the time series: the largest drop probability of all queues.
    fn state(&self) -> AqmState {
        let all = self.queues.all_aqms();
        AqmState {
            drop_p: all.map(Control::probability).reduce(f64::max),
            ..AqmState::default()
        }
    }
}
