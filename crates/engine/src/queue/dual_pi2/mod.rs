//! DualPI2 (RFC 9332): one queue for scalable senders (L4S, ECT(1)), with a delay of some hundred microseconds, and one
//! for all other packets. The probabilities of the two queues are coupled. Flows of both kinds thus get about the same
//! rate.
//!
//! Form and defaults (except that of `step_min`) are Linux's (`net/sched/sch_dualpi2.c`, since 6.17). Packets are
//! marked and dropped when they leave. L4S packets are also marked above a threshold of the sojourn time (the step). A
//! deficit scheduler replaces the time-shifted FIFO of the RFC's appendix A.

#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, PROBABILITY, Profile, Range, Refusal, SIZE, TIME, Table, keys, words};
use longhaul_units::{Bytes, Rate, Span, Time};

use super::fifo::Packets;
use super::link_context::check_update;
use super::{
    AqmState, Arrival, Capacity, Draws, DropReason, Effects, LinkContext, PacketQueue, Parameters,
};
use crate::measure::ClassCounters;
use crate::packet::{Flags, Packet};
use crate::random::Stream;

const WEIGHT: Kind = Kind::Number(Range::closed(0.0, 1e6));

words! {
    /// Rule that assigns packets to the L4S queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Classifier {
        /// Packets with ECT(1), and marked packets (RFC 9331 section 5.1).
        Ect1 = "ect1",
        /// All ECN-capable packets.
        AnyEct = "any-ect",
    }
}

keys! {
    /// Parameters of DualPI2.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DualPi2Config {
        /// Capacity of both queues together. A time stands for the data that the link sends in this time. (RFC 9332
        /// appendix A.1 has 250 ms at the link's largest rate, which is not known here.)
        pub limit: Capacity =
            Capacity::LIMIT.default("10000 packets").source("Linux: dualpi2_reset_default"),
        /// Target of the delay in the classic queue.
        pub target: Span =
            Kind::Positive(TIME).key().default("15 ms").source("RFC 9332 appendix A.1: target"),
        /// Time between two updates of the probability.
        pub update: Span =
            Kind::Positive(TIME).key().default("16 ms").source("RFC 9332 appendix A.1: Tupdate"),
        /// Weight of the delay's deviation from the target, per second.
        pub alpha: f64 = WEIGHT.key().unit("1/s").default("0.16")
            .source("RFC 9332 appendix A.1; Linux: 41/256"),
        /// Weight of the delay's change, per second.
        pub beta: f64 = WEIGHT.key().unit("1/s").default("3.2").source("Linux: 819/256; RFC 9332: 3"),
        /// Coupling factor: the marking probability of L4S packets divided by the square root of the drop probability
        /// of classic packets.
        pub coupling: f64 = Kind::Number(Range::closed(1.0, 100.0)).key().default("2")
            .source("RFC 9332 appendix A.1: k"),
        /// Sojourn time in the L4S queue above which every packet is marked.
        pub step: Span = Kind::Quantity(TIME).key().default("1 ms").source("Linux: step_thresh"),
        /// Minimum number of L4S packets that must wait behind a packet for the step to mark it.
        pub step_min: u64 = Kind::Whole { min: 0, max: 1_000_000 }.key().default("1").in_profile(Profile::Linux, "0")
            .source("RFC 9332 appendix A.1: Th_len; Linux: min_qlen_step"),
        /// Minimum share of the capacity for the classic queue while it holds packets.
        pub classic_share: f64 = PROBABILITY.key().default("0.1").source("Linux: c_protection"),
        /// Packets of the L4S queue: packets with ECT(1) and marked packets, or all ECN-capable packets.
        pub classifier: Classifier =
            Kind::Word(Classifier::WORDS).key().default("ect1").source("RFC 9331 section 5.1; Linux: ecn_mask"),
        /// Size of the largest packet; `auto`: the largest packet of a flow. While fewer bytes wait than two such
        /// packets have, nothing is dropped, and only the step marks packets.
        pub mtu: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 9332 appendix A.1: MTU"),
    }
}

impl Parameters for DualPi2Config {
    type Queue = DualPi2;

    const KIND: &'static str = "dualpi2";
    const TITLE: &'static str = "Dual-queue coupled AQM with PI2 (L4S)";
    const DESCRIPTION: &'static str = "Marks ECT(1) packets early in a queue of their own, and drops or marks the \
        others with the square of a coupled probability.";
    const SOURCE: &'static str = "RFC 9332 appendix A; Linux, sch_dualpi2.c";

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, Self::mtu);
        check_update(values, Self::update)
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> DualPi2 {
        DualPi2::new(*self, stream)
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        true
    }
}

/// The state of DualPI2.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    classic: Packets,
    l4s: Packets,
    /// The base probability, p'.
    probability: f64,
    /// Delay at the last update, in seconds.
    old_delay_s: f64,
    /// Bytes charged to the two queues. Integers make the sums exact.
    charged: Charged,
    stream: Stream,
    /// Counters of L4S packets and of classic packets.
    counters: [ClassCounters; 2],
}

/// Bytes that the L4S queue has sent while classic packets waited, and that the classic queue has sent while L4S
/// packets waited.
#[derive(Clone, Copy, Debug)]
struct Charged {
    l4s: u64,
    classic: u64,
}

/// Decision about a packet that leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

impl DualPi2 {
    fn new(config: DualPi2Config, stream: Stream) -> Self {
        Self {
            config,
            classic: Packets::default(),
            l4s: Packets::default(),
            probability: 0.0,
            old_delay_s: 0.0,
            charged: Self::begin(&config),
            stream,
            counters: [ClassCounters::default(); 2],
        }
    }

    /// Returns the initial counts of bytes charged to the two queues: one `mtu` each. The counts are reset to these
    /// values when both queues are empty.
    fn begin(config: &DualPi2Config) -> Charged {
        Charged {
            l4s: config.mtu.0,
            classic: config.mtu.0,
        }
    }

    /// Returns true if it is the L4S queue's turn: `classic_share` or more of the bytes in `charged` are classic.
    fn is_l4s_turn(&self) -> bool {
        let Charged { l4s, classic } = self.charged;
        self.config.classic_share * (l4s + classic) as f64 <= classic as f64
    }

    fn is_l4s(&self, packet: &Packet) -> bool {
        let codes = match self.config.classifier {
            Classifier::Ect1 => Flags::ECT1.with(Flags::CE),
            Classifier::AnyEct => Flags::ECT,
        };
        packet.flags.has(codes)
    }

    /// Removes the next packet from the queue that has its turn or, if this queue is empty, from the other. Returns the
    /// packet, and true if it comes from the L4S queue.
    fn take(&mut self) -> Option<(Packet, bool)> {
        let l4s_turn = self.classic.is_empty() || self.is_l4s_turn();
        if l4s_turn && let Some(packet) = self.l4s.pop() {
            return Some((packet, true));
        }
        let packet = self.classic.pop();
        if packet.is_none() {
            self.charged = Self::begin(&self.config);
        }
        packet.map(|packet| (packet, false))
    }

    /// Charges the bytes of a packet to the queue that sends it, but only if packets wait in the other queue.
    fn account(&mut self, packet: &Packet, l4s: bool) {
        let bytes = u64::from(packet.bytes);
        if l4s && !self.classic.is_empty() {
            self.charged.l4s += bytes;
        } else if !l4s && !self.l4s.is_empty() {
            self.charged.classic += bytes;
        }
    }

    /// Returns the counters of L4S packets if `l4s` is true, else those of classic packets.
    fn counters_of(&mut self, l4s: bool) -> &mut ClassCounters {
        &mut self.counters[usize::from(!l4s)]
    }

    /// Returns true if two random numbers are below the base probability. Draws the second only if the first is.
    fn square_selects(&mut self) -> bool {
        self.stream.uniform() < self.probability && self.stream.uniform() < self.probability
    }

    /// Decides if a leaving packet is dropped or marked (A.1). In overload, even ECN-capable ones are dropped (4.2.3).
    fn fate(&mut self, packet: &Packet, l4s: bool, now: Time) -> Fate {
        let (_, waiting_bytes) = self.waiting();
        let coupled = self.config.coupling * self.probability;
        let overload = coupled > 1.0;
        let (behind, _) = self.l4s.waiting();
        let step =
            l4s && behind >= self.config.step_min && now.since(packet.time) > self.config.step;
        let few = waiting_bytes < 2 * self.config.mtu.0;
        let fate = if few || self.probability == 0.0 {
            Fate::Passes
        } else if l4s && overload {
            if self.square_selects() {
                Fate::Dropped
            } else {
                Fate::Marked
            }
        } else if l4s && self.stream.uniform() < coupled {
            Fate::Marked
        } else if l4s || !self.square_selects() {
            Fate::Passes
        } else if packet.flags.has(Flags::ECT) && !overload {
            Fate::Marked
        } else {
            Fate::Dropped
        };
        if step && fate == Fate::Passes {
            Fate::Marked
        } else {
            fate
        }
    }

    /// Returns the longest time that any packet has waited, in seconds.
    fn delay_s(&self, now: Time) -> f64 {
        let oldest = [&self.classic, &self.l4s].map(Packets::oldest);
        let waited = oldest.into_iter().flatten().map(|since| now.since(since));
        waited.max().unwrap_or(Span::ZERO).as_secs_f64()
    }
}

impl PacketQueue for DualPi2 {
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        _effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let l4s = self.is_l4s(&packet);
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            self.counters_of(l4s).dropped_pkts += 1;
            return Err(reason);
        }
        if l4s {
            self.l4s.push(packet);
        } else {
            self.classic.push(packet);
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        loop {
            let (mut packet, l4s) = self.take()?;
            match self.fate(&packet, l4s, now) {
                Fate::Dropped => {
                    self.counters_of(l4s).dropped_pkts += 1;
                    effects.drop(packet, DropReason::Early);
                    continue;
                }
                Fate::Marked if !packet.flags.has(Flags::CE) => {
                    self.counters_of(l4s).marked_pkts += 1;
                    effects.mark(&mut packet);
                }
                Fate::Marked | Fate::Passes => {}
            }
            self.account(&packet, l4s);
            let counters = self.counters_of(l4s);
            counters.served_pkts += 1;
            counters.waits_ps += u128::from(now.since(packet.time).as_ps());
            return Some(packet);
        }
    }

    fn waiting(&self) -> (u64, u64) {
        let ((packets, bytes), (others, their_bytes)) =
            (self.classic.waiting(), self.l4s.waiting());
        (packets + others, bytes + their_bytes)
    }

    fn update_interval(&self) -> Option<Span> {
        Some(self.config.update)
    }

    /// Updates the base probability from the larger delay of the two queues, by `dualpi2_update` of appendix A.1.
    fn update(&mut self, now: Time) {
        let delay_s = self.delay_s(now);
        let deviation = self.config.alpha * (delay_s - self.config.target.as_secs_f64());
        let trend = self.config.beta * (delay_s - self.old_delay_s);
        self.probability = (self.probability + deviation + trend).clamp(0.0, 1.0);
        self.old_delay_s = delay_s;
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.probability),
            ..AqmState::default()
        }
    }

    fn classes(&self) -> Option<[ClassCounters; 2]> {
        Some(self.counters)
    }
}
