//! COBALT: CoDel and BLUE side by side, the first for flows that answer to drops and marks, the second for those that do not
//! (Linux, `net/sched/sch_cake.c`, functions `cobalt_*`; Palmei, Gupta, Imputato, Morton, Tahiliani, Avallone and Taht,
//! "Design and evaluation of COBALT queue discipline", LANMAN 2019).
//!
//! Gaps are `interval / sqrt(count)` exactly, where Linux has a table up to 16 and Newton steps beyond. A first gap is an
//! interval, as Linux' comments say; there the root of a queue that never dropped is not set, and its first gap is none.
//! Linux looks at empty queues again and again so that their state decays; here what it would find is computed when the next
//! packet arrives.

#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, PROBABILITY, Refusal, TIME, Table, Value, keys};
use longhaul_units::{Quantity, Rate, Span, Time};

use super::codel::{Source, control_law};
use super::fifo::Packets;
use super::{
    AqmState, Arrival, Capacity, Draws, DropReason, Effects, LinkContext, PacketQueue, Parameters,
};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

const TIME_OR_AUTO: Kind = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(TIME)]);

keys! {
    /// COBALT.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltConfig {
        /// How much the queue holds. A time is what the link sends in it.
        pub limit: Capacity = Capacity::LIMIT,
    }
    flattened {
        /// How it keeps the delay.
        pub control: CobaltParameters,
    }
}

keys! {
    /// How COBALT keeps the delay.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltParameters {
        /// Whether ECN-capable packets are marked instead of dropped, except by BLUE.
        pub ecn: bool = Kind::Flag.key().default("true").source("Linux: cobalt_should_drop of net/sched/sch_cake.c"),
        /// The delay to keep; `auto`: 5 ms, or one and a half times `mtu_time` if that is more.
        pub target: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// How long the delay may stay above the target before the first drop; `auto`: 100 ms and what the target is
        /// above 5 ms, or twice the target if that is more.
        pub interval: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// A packet that has waited no more than four times this passes; `auto`: what the largest packet takes on the link.
        pub mtu_time: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// What BLUE's probability of a drop rises by at a full queue, once in a target at most.
        pub blue_up: f64 = PROBABILITY.key().default("0.00390625").source("Linux: p_inc of cake_set_rate, 1/256"),
        /// What it falls by at an empty queue, once in a target at most.
        pub blue_down: f64 = PROBABILITY.key().default("0.000244140625").source("Linux: p_dec of cake_set_rate, 1/4096"),
    }
}

impl CobaltParameters {
    const TARGET: Span = Span::from_millis(5);
    const INTERVAL: Span = Span::from_millis(100);

    /// Makes explicit what follows from the link.
    pub(super) fn complete(values: &mut Table, link: &LinkContext) {
        let span = |span| Value::Quantity(Quantity::Span(span));
        if values.is_word(Self::mtu_time, "auto") {
            let (time, _) = link.rate.transmission(link.packet.0);
            let rule = format!("{} at {}", link.packet, link.rate);
            values.derive(Self::mtu_time, span(time), rule);
        }
        let mut beyond = Span::ZERO;
        if values.is_word(Self::target, "auto") {
            let target = Self::TARGET.max(values.read(Self::mtu_time) * 3 / 2);
            beyond = target.saturating_sub(Self::TARGET);
            values.derive(Self::target, span(target), "5 ms, at least 1.5 mtu_time");
        }
        if values.is_word(Self::interval, "auto") {
            let interval = (Self::INTERVAL + beyond).max(values.read(Self::target) * 2);
            let rule = "100 ms and what target = auto is above 5 ms, at least twice the target";
            values.derive(Self::interval, span(interval), rule);
        }
    }
}

impl Parameters for CobaltConfig {
    type Queue = Cobalt;

    const KIND: &'static str = "cobalt";
    const TITLE: &'static str = "CoDel and BLUE alternate (COBALT)";
    const DESCRIPTION: &'static str = "CoDel, whose rate of drops decays instead of ending, beside BLUE, which drops from \
        flows that do not answer.";
    const SOURCE: &'static str = "Linux, sch_cake.c; Palmei and others, LANMAN 2019";

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        CobaltParameters::complete(values, link);
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, stream: Stream) -> Cobalt {
        Cobalt {
            config: *self,
            control: Control::default(),
            packets: Packets::default(),
            stream,
        }
    }

    fn draws(&self) -> Draws {
        Draws::InCongestion
    }

    fn marks(&self) -> bool {
        self.control.ecn
    }
}

/// The state of one COBALT, with Linux' names.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Of CoDel: one more with each drop, one less each time that one is due below the target.
    count: u64,
    dropping: bool,
    drop_next: Time,
    /// BLUE's probability of a drop, and when it last changed.
    blue: f64,
    blue_since: Time,
    /// Whether the queue was found empty, and no packet has left since.
    resting: bool,
}

/// What becomes of a packet that leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

impl Control {
    /// The packet to transmit. The last one of a queue is not dropped.
    pub(super) fn dequeue(
        &mut self,
        parameters: &CobaltParameters,
        now: Time,
        source: &mut impl Source,
        (effects, stream): (&mut Effects, &mut Stream),
    ) -> Option<Packet> {
        loop {
            let Some(mut packet) = source.pop() else {
                self.on_empty(parameters, now);
                return None;
            };
            let is_last = source.bytes() == 0;
            let mut fate = self.signal(parameters, now, &packet);
            // BLUE does not ask for ECN: those that it is there for would not answer.
            if self.blue > 0.0 && !is_last && stream.uniform() < self.blue {
                fate = Fate::Dropped;
            }
            self.reschedule(parameters, now, fate);
            match fate {
                Fate::Dropped if !is_last => {
                    effects.drop(packet, DropReason::Early);
                    continue;
                }
                Fate::Marked => effects.mark(&mut packet),
                Fate::Dropped | Fate::Passes => {}
            }
            return Some(packet);
        }
    }

    /// CoDel's part of `cobalt_should_drop`.
    fn signal(&mut self, parameters: &CobaltParameters, now: Time, packet: &Packet) -> Fate {
        self.resting = false;
        let due = self.is_due(now);
        let waited = now.since(packet.time);
        let too_long = waited > parameters.target && waited > parameters.mtu_time * 4;
        if too_long && !self.dropping {
            self.drop_next = control_law(parameters.interval, now, self.count.max(1));
        }
        if too_long {
            self.count = self.count.max(1);
        }
        self.dropping = too_long;
        if !due {
            return Fate::Passes;
        }
        if !self.dropping {
            self.decay_count(parameters, now);
            return Fate::Passes;
        }
        self.count += 1;
        self.drop_next = control_law(parameters.interval, self.drop_next, self.count);
        if parameters.ecn && packet.flags.has(Flags::ECT) {
            Fate::Marked
        } else {
            Fate::Dropped
        }
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// Drops that are due and not made: as many fewer, at growing gaps.
    fn decay_count(&mut self, parameters: &CobaltParameters, now: Time) {
        while self.is_due(now) {
            self.count -= 1;
            self.drop_next = control_law(parameters.interval, self.drop_next, self.count.max(1));
        }
    }

    /// The end of `cobalt_should_drop`: without a count, the time of the next drop says until when the queue counts as in use.
    /// Marks that are overdue are not made up for.
    fn reschedule(&mut self, parameters: &CobaltParameters, now: Time, fate: Fate) {
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if now > self.drop_next && fate != Fate::Dropped {
            self.drop_next = now;
        }
    }

    /// A packet was dropped because too much waits: `cobalt_queue_full`.
    pub(super) fn on_overflow(&mut self, parameters: &CobaltParameters, now: Time) {
        if now.since(self.blue_since) > parameters.target {
            self.blue = (self.blue + parameters.blue_up).min(1.0);
            self.blue_since = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// It was the queue's turn, and it held nothing: `cobalt_queue_empty`.
    fn on_empty(&mut self, parameters: &CobaltParameters, now: Time) {
        if self.resting {
            return self.rest(parameters, now);
        }
        self.resting = true;
        if self.blue > 0.0 && now.since(self.blue_since) > parameters.target {
            self.blue = (self.blue - parameters.blue_down).max(0.0);
            self.blue_since = now;
        }
        self.dropping = false;
        self.decay_count(parameters, now);
    }

    /// Brings the state of a queue that has been empty up to date.
    #[inline]
    pub(super) fn rest(&mut self, parameters: &CobaltParameters, now: Time) {
        if !self.resting {
            return;
        }
        if self.blue > 0.0 {
            let targets = now.since(self.blue_since).as_ps() / parameters.target.as_ps();
            self.blue = (self.blue - targets as f64 * parameters.blue_down).max(0.0);
            self.blue_since += parameters.target * targets;
        }
        self.decay_count(parameters, now);
    }

    /// Whether nothing is left of what a queue's packets did.
    pub(super) fn is_at_rest(&mut self, parameters: &CobaltParameters, now: Time) -> bool {
        self.rest(parameters, now);
        self.count == 0 && self.blue == 0.0 && now >= self.drop_next
    }

    /// BLUE's probability.
    pub(super) fn blue(&self) -> f64 {
        self.blue
    }
}

/// One queue under COBALT. A full queue takes no packet in.
#[derive(Clone, Debug)]
pub(crate) struct Cobalt {
    config: CobaltConfig,
    control: Control,
    packets: Packets,
    stream: Stream,
}

impl PacketQueue for Cobalt {
    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        _effects: &mut Effects,
    ) -> Result<(), DropReason> {
        let parameters = &self.config.control;
        self.control.rest(parameters, arrival.now);
        if let Err(reason) = arrival.check_limit(self.config.limit) {
            self.control.on_overflow(parameters, arrival.now);
            return Err(reason);
        }
        self.packets.push(packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let Self {
            config,
            control,
            packets,
            stream,
        } = self;
        control.dequeue(&config.control, now, packets, (effects, stream))
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }

    fn state(&self) -> AqmState {
        AqmState {
            drop_p: Some(self.control.blue()),
            ..AqmState::default()
        }
    }
}
