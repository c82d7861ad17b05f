//! COBALT: CoDel and BLUE in parallel. CoDel is for flows that respond to drops and marks, BLUE for those that do not
//! (Linux, `net/sched/sch_cake.c`, functions `cobalt_*`; Palmei, Gupta, Imputato, Morton, Tahiliani, Avallone and Taht,
//! "Design and evaluation of COBALT queue discipline", LANMAN 2019).
//!
//! There are three differences from Linux. First, gaps between drops are exactly `interval / sqrt(count)`; Linux uses a
//! table up to a count of 15, and Newton steps beyond. Second, the first gap is an interval, as comments in Linux
//! state; in Linux's code it is zero, because the root of a queue that never dropped is not set. Third, the decayed
//! state of an empty queue is computed when the next packet arrives; Linux visits empty queues repeatedly.

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
    /// Parameters of COBALT.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT,
    }
    flattened {
        /// Parameters of the delay control.
        pub control: CobaltParameters,
    }
}

keys! {
    /// Parameters of COBALT's delay control.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltParameters {
        /// True if ECN-capable packets are marked instead of dropped, except by BLUE.
        pub ecn: bool = Kind::Flag.key().default("true").source("Linux: cobalt_should_drop of net/sched/sch_cake.c"),
        /// Target of the queueing delay; `auto`: 5 ms, or one and a half times `mtu_time` if that is more.
        pub target: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// Time for which the delay may exceed the target before the first drop. `auto`: 100 ms plus the excess of a
        /// target `auto` over 5 ms, or twice the target if that is more.
        pub interval: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// Packets that have waited no longer than four times this time are not dropped or marked, except by BLUE;
        /// `auto`: the transmission time of the largest packet.
        pub mtu_time: Span = TIME_OR_AUTO.key().default("auto").source("Linux: cake_set_rate"),
        /// Increment of BLUE's drop probability at a full queue, at most once in a time of `target`.
        pub blue_up: f64 = PROBABILITY.key().default("0.00390625").source("Linux: p_inc of cake_set_rate, 1/256"),
        /// Decrement of BLUE's drop probability at an empty queue, at most once in a time of `target`.
        pub blue_down: f64 = PROBABILITY.key().default("0.000244140625").source("Linux: p_dec of cake_set_rate, 1/4096"),
    }
}

impl CobaltParameters {
    const TARGET: Span = Span::from_millis(5);
    const INTERVAL: Span = Span::from_millis(100);

    /// Replaces values `auto` by values that follow from the link.
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
    const DESCRIPTION: &'static str = "CoDel, whose drop rate decays instead of ending, and BLUE, which drops \
        packets of unresponsive flows.";
    const SOURCE: &'static str = "Linux, sch_cake.c; Palmei and others, LANMAN 2019";
    const OUTSIDE_LINKS: bool = true;

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

/// State of COBALT for one queue. `count`, `dropping` and `drop_next` have Linux's names.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// CoDel's count: incremented with each drop or mark by CoDel, and decremented whenever one would be due while
    /// `dropping` is false.
    count: u64,
    dropping: bool,
    drop_next: Time,
    /// Drop probability of BLUE.
    blue: f64,
    /// Time of the last change of BLUE's drop probability.
    blue_since: Time,
    /// True if the queue was found empty at its turn, and no packet has left since then.
    resting: bool,
}

/// Decision about a packet that leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

impl Control {
    /// Returns the packet to transmit, and drops packets before it. The last packet of a queue is not dropped.
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
            // BLUE ignores ECN, since the flows that BLUE is intended for do not respond to marks.
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

    /// Returns CoDel's decision about a packet, as `cobalt_should_drop` makes it before BLUE's decision.
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

    /// Decrements the count for each drop that became due while the delay was below the target. Each decrement makes
    /// the gap to the next due time longer.
    fn decay_count(&mut self, parameters: &CobaltParameters, now: Time) {
        while self.is_due(now) {
            self.count -= 1;
            self.drop_next = control_law(parameters.interval, self.drop_next, self.count.max(1));
        }
    }

    /// Updates the time of the next drop, as `cobalt_should_drop` does at its end. If the count is zero, the next drop
    /// is an interval from now. A time in the past becomes `now`, unless a packet was dropped.
    fn reschedule(&mut self, parameters: &CobaltParameters, now: Time, fate: Fate) {
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if now > self.drop_next && fate != Fate::Dropped {
            self.drop_next = now;
        }
    }

    /// Raises BLUE's probability after a drop at a full queue (`cobalt_queue_full`).
    pub(super) fn on_overflow(&mut self, parameters: &CobaltParameters, now: Time) {
        if now.since(self.blue_since) > parameters.target {
            self.blue = (self.blue + parameters.blue_up).min(1.0);
            self.blue_since = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Processes the turn of an empty queue: lowers BLUE's probability, ends the dropping state, and lets the count of
    /// drops decay (`cobalt_queue_empty`).
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

    /// Lets BLUE's probability and the count of drops decay up to `now`, if no packet has left since the queue was
    /// found empty.
    #[inline]
    pub(super) fn rest(&mut self, parameters: &CobaltParameters, now: Time) {
        if !self.resting {
            return;
        }
        if self.blue > 0.0 {
            let targets = now.since(self.blue_since).as_ps() / parameters.target.as_ps();
            // The kernel's timer does not advance when the probability is zero.
            let decays = targets.min((self.blue / parameters.blue_down).ceil() as u64);
            self.blue = (self.blue - decays as f64 * parameters.blue_down).max(0.0);
            self.blue_since += parameters.target * decays;
        }
        self.decay_count(parameters, now);
    }

    /// Returns true if the state of a queue has decayed completely: earlier packets no longer affect it.
    pub(super) fn is_at_rest(&mut self, parameters: &CobaltParameters, now: Time) -> bool {
        self.rest(parameters, now);
        self.count == 0 && self.blue == 0.0 && now >= self.drop_next
    }

    /// Returns BLUE's drop probability at its last update; [`Self::rest`] updates it while the queue is empty.
    pub(super) fn blue(&self) -> f64 {
        self.blue
    }
}

/// A single queue with COBALT. At the limit, arriving packets are dropped.
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
