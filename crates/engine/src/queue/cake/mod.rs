//! CAKE (common applications kept enhanced) in its basic form. A set-associative hash assigns flows to queues. Deficit
//! round robin serves the queues, with sparse flows first (DRR++). Each queue has its own COBALT; one memory limit
//! applies to all queues (Linux, `net/sched/sch_cake.c`; Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE: a
//! comprehensive queue management solution for home gateways", LANMAN 2018, arXiv 1804.07617).
//!
//! There is one tin (`besteffort`). The link, or the token bucket in front of it, takes the place of the shaper,
//! without overhead. Fairness is between flows (`flows`, not `triple-isolate`), since packets carry no host addresses.
//! Diffserv tins, `wash`, `autorate-ingress` and `ingress` are not implemented; ACK filtering is an option of links.

#[cfg(test)]
mod tests;
mod ways;

use longhaul_keys::{Kind, Refusal, SIZE, Table, Value, keys};
use longhaul_units::{Bytes, Dimension, Quantity, Rate, Span, Time};

use self::ways::{QUEUES, Ways};
use super::cobalt::{CobaltParameters, Control};
use super::flow_queues::{Batch, EmptyNew, FlowQueues};
use super::{
    AqmState, Arrival, Capacity, Draws, DropReason, Effects, LinkContext, PacketQueue, Parameters,
};
use crate::packet::Packet;
use crate::random::Stream;

keys! {
    /// Parameters of CAKE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CakeConfig {
        /// Capacity of all queues together; `auto`: the data that the link sends in four intervals, at least 4 MiB
        /// and at most 10,240 of the largest packets.
        pub limit: Capacity = Kind::OneOf(&[
            Kind::Word(&["auto"]),
            Kind::Positive(&[Dimension::Packets, Dimension::Size, Dimension::Bdp, Dimension::Time]),
        ])
        .key()
        .default("auto")
        .source("Linux: cake_reconfigure of net/sched/sch_cake.c"),
        /// Bytes that a flow may send per turn; `auto`: the bytes that the link sends in 1/4096 s, but at least 300 and
        /// at most 1514 B.
        pub quantum: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("Linux: cake_set_rate"),
    }
    flattened {
        /// Parameters of the COBALT instance of each queue.
        pub control: CobaltParameters,
    }
}

impl CakeConfig {
    const QUANTUM: (u64, u64) = (300, 1514);
    const MIN_LIMIT: u64 = 4 << 20;
    const MAX_PACKETS: u64 = 10_240;

    fn complete_limit(values: &mut Table, link: &LinkContext) {
        if !values.is_word(Self::limit, "auto") {
            return;
        }
        let interval: Span = values.read(CobaltParameters::interval);
        let most = Self::MAX_PACKETS * link.packet.0;
        let bytes = link.rate.bdp(interval * 4).0.max(Self::MIN_LIMIT).min(most);
        let rule = "four intervals at the link's rate, at least 4 MiB, at most 10,240 packets";
        let bytes = Value::Quantity(Quantity::Bytes(Bytes(bytes)));
        values.derive(Self::limit, bytes, rule);
    }
}

impl Parameters for CakeConfig {
    type Queue = Cake;

    const KIND: &'static str = "cake";
    const TITLE: &'static str = "Common applications kept enhanced (CAKE)";
    const DESCRIPTION: &'static str = "Flows in queues that hardly ever collide, each under COBALT, served in turn, sparse \
        ones first.";
    const SOURCE: &'static str = "Linux, sch_cake.c; Hoeiland-Joergensen, Taht and Morton 2018";
    const PER_FLOW: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        CobaltParameters::complete(values, link);
        Self::complete_limit(values, link);
        if values.is_word(Self::quantum, "auto") {
            let (min, max) = Self::QUANTUM;
            let quantum = Bytes((link.rate.as_bps() / 8 / 4096).clamp(min, max));
            let rule = "the link's rate over 4096, from 300 to 1514 B";
            values.derive(
                Self::quantum,
                Value::Quantity(Quantity::Bytes(quantum)),
                rule,
            );
        }
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> Cake {
        Cake::new(*self, stream)
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.control.ecn
    }
}

/// The state of CAKE.
#[derive(Clone, Debug)]
pub(crate) struct Cake {
    config: CakeConfig,
    ways: Ways,
    queues: FlowQueues<Control>,
    stream: Stream,
}

impl Cake {
    fn new(config: CakeConfig, mut stream: Stream) -> Self {
        Self {
            config,
            ways: Ways::new(&mut stream),
            queues: FlowQueues::new(QUEUES, config.quantum, Control::default()),
            stream,
        }
    }

    /// Returns the queue of a packet's flow. A queue is in use until it is empty and the state of its COBALT no longer
    /// depends on earlier packets. Only if all queues of a set are in use does a new flow share one of them.
    fn classify(&mut self, packet: &Packet, now: Time) -> u32 {
        let Self {
            config,
            ways,
            queues,
            ..
        } = self;
        ways.queue(packet, |queue| {
            queues.is_listed(queue) || !queues.aqm(queue).is_at_rest(&config.control, now)
        })
    }
}

impl PacketQueue for Cake {
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let queue = self.classify(&packet, arrival.now);
        let parameters = &self.config.control;
        self.queues.aqm(queue).rest(parameters, arrival.now);
        self.queues.push(queue, packet);
        while self.queues.exceed(self.config.limit) {
            let (control, _) = self.queues.drop_from_longest(1, Batch::Packets, effects);
            control.on_overflow(parameters, arrival.now);
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let Self {
            config,
            queues,
            stream,
            ..
        } = self;
        queues.dequeue(EmptyNew::Leaves, |control, mut source| {
            control.dequeue(&config.control, now, &mut source, (effects, stream))
        })
    }

    fn waiting(&self) -> (u64, u64) {
        self.queues.waiting()
    }

    /// Returns the state for the time series: the largest of BLUE's probabilities in all queues. The decay of empty
    /// queues since their last packet or turn is left out.
    fn state(&self) -> AqmState {
        AqmState {
            drop_p: self.queues.all_aqms().map(Control::blue).reduce(f64::max),
            ..AqmState::default()
        }
    }
}
