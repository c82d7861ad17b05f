//! CoDel: if every packet of an interval has waited longer than the target, packets are dropped or marked from then on,
//! at a growing rate (Nichols, Jacobson, McGregor and Iyengar, RFC 8289, section 5).
//!
//! The RFC does not define the action with ECN. As in Linux (`net/sched/sch_codel.c`), a marked packet is sent, and
//! counts as the drop that it replaces. Variant linux-6.18 also has the kernel's arithmetic ([`linux`]).

mod linux;
#[cfg(test)]
mod tests;

use longhaul_keys::{Kind, Profile, Refusal, SIZE, TIME, Table, keys, words};
use longhaul_units::{Bytes, Rate, Span, Time};

use super::fifo::Packets;
use super::{Arrival, Capacity, DropReason, Effects, LinkContext, PacketQueue, Parameters};
use crate::packet::{Flags, Packet};
use crate::random::Stream;

keys! {
    /// Parameters of CoDel.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CoDelConfig {
        /// Capacity of the queue. A capacity given as a time means the data that the link sends in this time.
        pub limit: Capacity = Capacity::LIMIT
            .in_profile(Profile::Linux, "1000 packets")
            .source("RFC 8289 names none; Linux: DEFAULT_CODEL_LIMIT of net/sched/sch_codel.c"),
        /// True if ECN-capable packets are marked instead of dropped.
        pub ecn: bool = Kind::Flag.key().default("false"),
    }
    flattened {
        /// Parameters of the delay control.
        pub control: CoDelParameters,
    }
}

words! {
    /// Variant of the algorithm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CoDelVariant {
        /// The pseudo-code of RFC 8289, with exact times and roots.
        Rfc8289 = "rfc8289",
        /// Linux: times in units of 1024 ns, and roots approximated by one Newton step per drop.
        Linux = "linux-6.18",
    }
}

keys! {
    /// Parameters of CoDel's delay control.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CoDelParameters {
        /// Variant: RFC 8289's or Linux's. In Linux's, the third drop is half an interval after the second.
        pub variant: CoDelVariant = Kind::Word(CoDelVariant::WORDS)
            .key()
            .default("rfc8289")
            .in_profile(Profile::Linux, "linux-6.18")
            .source("RFC 8289 section 5; Linux: codel_impl.h, codel_Newton_step"),
        /// Target of the queueing delay.
        pub target: Span =
            Kind::Positive(TIME).key().default("5 ms").source("RFC 8289 section 4.4"),
        /// Time for which the delay may exceed the target before the first drop: about a round trip.
        pub interval: Span =
            Kind::Positive(TIME).key().default("100 ms").source("RFC 8289 section 4.3"),
        /// Nothing is dropped while at most this number of bytes wait; `auto`: the largest packet of a flow.
        pub max_packet: Bytes = Kind::OneOf(&[Kind::Word(&["auto"]), Kind::Positive(SIZE)])
            .key()
            .default("auto")
            .source("RFC 8289 section 5.2: MAXPACKET"),
    }
}

impl Parameters for CoDelConfig {
    type Queue = CoDel;

    const KIND: &'static str = "codel";
    const TITLE: &'static str = "Controlled delay";
    const DESCRIPTION: &'static str =
        "Drops at a growing rate while every packet waits longer than a target.";
    const SOURCE: &'static str = "RFC 8289";
    const OUTSIDE_LINKS: bool = true;

    fn complete(values: &mut Table, link: &LinkContext) -> Result<(), Refusal> {
        link.complete_size(values, CoDelParameters::max_packet);
        Ok(())
    }

    fn read(values: &Table, _rate: Rate) -> Self {
        Self::of(values)
    }

    fn queue(&self, _stream: Stream) -> CoDel {
        CoDel {
            config: *self,
            control: Control::new(&self.control),
            packets: Packets::default(),
        }
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// Queue from which active queue management (CoDel, COBALT or PIE) takes packets.
pub(super) trait Source {
    /// Removes the packet that has waited longest.
    fn pop(&mut self) -> Option<Packet>;
    /// Returns the number of waiting bytes; for Linux's FQ-CoDel, those of all queues together.
    fn bytes(&self) -> u64;
}

/// State of CoDel for one queue, in either variant.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Rfc8289(ExactControl),
    Linux(linux::Control),
}

impl Control {
    pub(super) fn new(parameters: &CoDelParameters) -> Self {
        match parameters.variant {
            CoDelVariant::Rfc8289 => Self::Rfc8289(ExactControl::default()),
            CoDelVariant::Linux => Self::Linux(linux::Control::default()),
        }
    }

    /// Returns the packet to transmit, and drops packets before it. If `ecn` is true, ECN-capable packets are marked
    /// instead of dropped.
    #[inline]
    pub(super) fn dequeue(
        &mut self,
        parameters: (&CoDelParameters, bool),
        now: Time,
        source: &mut impl Source,
        effects: &mut Effects,
    ) -> Option<Packet> {
        match self {
            Self::Rfc8289(control) => control.dequeue(parameters, now, source, effects),
            Self::Linux(control) => control.dequeue(parameters, now, source, effects),
        }
    }

    /// Adds packets dropped at the queue's limit to CoDel's count of drops; only Linux's FQ-CoDel does so.
    pub(super) fn on_overflow(&mut self, drops: u32) {
        if let Self::Linux(control) = self {
            control.on_overflow(drops);
        }
    }
}

/// State of CoDel for one queue, with the RFC's names.
#[derive(Clone, Debug, Default)]
pub(super) struct ExactControl {
    /// Time at which the delay will have exceeded the target for an interval. `None` while the delay is below the
    /// target, or at most `max_packet` bytes wait.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Number that determines the gap to the next drop. It grows with each drop or mark; [`Self::enter_dropping`] sets
    /// its first value.
    count: u64,
    /// The count when the dropping state was entered.
    last_count: u64,
}

/// The packet at the head of the queue, with a flag: true if the delay has been above the target
/// for an interval.
#[derive(Debug)]
struct Head {
    packet: Option<Packet>,
    ok_to_drop: bool,
}

impl ExactControl {
    /// Returns the packet to transmit, after dropping any packets that CoDel selects (`dequeue` of the pseudo-code).
    #[inline]
    fn dequeue(
        &mut self,
        (parameters, ecn): (&CoDelParameters, bool),
        now: Time,
        source: &mut impl Source,
        effects: &mut Effects,
    ) -> Option<Packet> {
        let mut head = self.take(parameters, now, source);
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let marked = head.mark_or_drop(ecn, effects);
                if !marked {
                    head = self.take(parameters, now, source);
                    self.dropping = head.ok_to_drop;
                }
                if self.dropping {
                    self.drop_next = parameters.control_law(self.drop_next, self.count);
                }
                if marked {
                    break;
                }
            }
        } else if head.ok_to_drop {
            if !head.mark_or_drop(ecn, effects) {
                head = self.take(parameters, now, source);
            }
            self.enter_dropping(parameters, now);
        }
        head.packet
    }

    /// Removes the packet at the head, and determines if it may be dropped (`dodequeue` of the pseudo-code).
    fn take(&mut self, parameters: &CoDelParameters, now: Time, source: &mut impl Source) -> Head {
        let packet = source.pop();
        let too_long = |packet: &Packet| {
            now.since(packet.time) >= parameters.target && source.bytes() > parameters.max_packet.0
        };
        let mut ok_to_drop = false;
        self.first_above = if packet.as_ref().is_some_and(too_long) {
            let since = self.first_above.unwrap_or(now + parameters.interval);
            ok_to_drop = self.first_above.is_some() && now >= since;
            Some(since)
        } else {
            None
        };
        Head { packet, ok_to_drop }
    }

    /// Enters the dropping state. The count begins at 1 or, if the previous dropping state ended recently, at the
    /// number of drops after that state's first one.
    fn enter_dropping(&mut self, parameters: &CoDelParameters, now: Time) {
        let drops = self.count - self.last_count;
        let recent = now < self.drop_next + parameters.interval * 16;
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = parameters.control_law(now, self.count);
    }
}

impl CoDelParameters {
    /// Returns the time of the next drop.
    fn control_law(&self, last: Time, count: u64) -> Time {
        control_law(self.interval, last, count)
    }
}

/// Returns the time of the next drop (`control_law` of the pseudo-code): `last + interval / sqrt(count)`.
pub(super) fn control_law(interval: Span, last: Time, count: u64) -> Time {
    let gap = interval.as_ps() as f64 / libm::sqrt(count as f64);
    last + Span::from_ps(gap as u64)
}

impl Head {
    /// Marks the packet at the head if it may be marked, or else drops it. Returns true if it was marked.
    fn mark_or_drop(&mut self, ecn: bool, effects: &mut Effects) -> bool {
        let Some(mut packet) = self.packet.take() else {
            unreachable!("it is not ok to drop from an empty queue");
        };
        if !(ecn && packet.flags.has(Flags::ECT)) {
            effects.drop(packet, DropReason::Early);
            return false;
        }
        effects.mark(&mut packet);
        self.packet = Some(packet);
        true
    }
}

impl Source for Packets {
    fn pop(&mut self) -> Option<Packet> {
        self.pop()
    }

    fn bytes(&self) -> u64 {
        self.waiting().1
    }
}

/// A single queue with CoDel.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    config: CoDelConfig,
    control: Control,
    packets: Packets,
}

impl PacketQueue for CoDel {
    fn passes(&self) -> bool {
        // The packet has no queueing delay, and a dropping state ends when the queue becomes empty.
        true
    }

    fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        _effects: &mut Effects,
    ) -> Result<(), DropReason> {
        arrival.check_limit(self.config.limit)?;
        self.packets.push(packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let parameters = (&self.config.control, self.config.ecn);
        self.control
            .dequeue(parameters, now, &mut self.packets, effects)
    }

    fn waiting(&self) -> (u64, u64) {
        self.packets.waiting()
    }
}
