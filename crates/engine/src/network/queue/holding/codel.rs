//! CoDel: drops, or marks, at a growing rate while no packet of an interval has waited less than the
//! target (Nichols, Jacobson, McGregor and Iyengar, RFC 8289, section 5).
//!
//! The RFC leaves the action with ECN open; as in Linux a marked packet goes out and counts as the
//! drop that it stands for.

#[cfg(test)]
mod tests;

use longhaul_units::{Bytes, Span, Time};

use super::Effects;
use super::fifo::Packets;
use crate::network::queue::{Arrival, Capacity, DropReason};
use crate::packet::{Flags, Packet};

/// CoDel, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelConfig {
    /// Hard limit on what waits.
    pub limit: Capacity,
    /// How it keeps the delay.
    pub control: CoDelParameters,
}

/// How CoDel keeps the delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelParameters {
    /// Acceptable delay of a standing queue (5 ms in RFC 8289 section 4.4).
    pub target: Span,
    /// How long the delay may stay above it before the first drop: a round trip of most flows
    /// (100 ms in RFC 8289 section 4.3).
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead.
    pub ecn: bool,
    /// The RFC's `MAXPACKET`: nothing is dropped while no more than this is left.
    pub max_packet: Bytes,
}

/// What CoDel takes its packets from.
pub(super) trait Source {
    /// The packet that has waited longest.
    fn pop(&mut self) -> Option<Packet>;
    /// What waits.
    fn bytes(&self) -> u64;
}

/// The state of one CoDel, with the RFC's names.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When it is time to drop, if the delay stays above the target until then.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since the dropping state was entered.
    count: u64,
    /// The count with which it was entered.
    last_count: u64,
}

/// The packet at the head, and whether the delay has been too long for an interval.
struct Head {
    packet: Option<Packet>,
    ok_to_drop: bool,
}

impl Control {
    /// The packet to transmit: the pseudo-code's `dequeue`.
    pub(super) fn dequeue(
        &mut self,
        parameters: &CoDelParameters,
        now: Time,
        source: &mut impl Source,
        effects: &mut Effects,
    ) -> Option<Packet> {
        let mut head = self.take(parameters, now, source);
        if self.dropping {
            self.dropping = head.ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let marked = parameters.mark_or_drop(&mut head, effects);
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
            if !parameters.mark_or_drop(&mut head, effects) {
                head = self.take(parameters, now, source);
            }
            self.enter_dropping(parameters, now);
        }
        head.packet
    }

    /// The pseudo-code's `dodequeue`.
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

    /// If the last dropping state is not long over, its rate of drops is a good one to begin with.
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
    /// When to drop next: the pseudo-code's `control_law`.
    fn control_law(&self, last: Time, count: u64) -> Time {
        let gap = self.interval.as_ps() as f64 / libm::sqrt(count as f64);
        last + Span::from_ps(gap as u64)
    }

    /// Marks the packet at the head if it may be, or else drops it. Returns whether it was marked.
    fn mark_or_drop(&self, head: &mut Head, effects: &mut Effects) -> bool {
        let Some(mut packet) = head.packet.take() else {
            unreachable!("it is not ok to drop from an empty queue");
        };
        if !(self.ecn && packet.flags.has(Flags::ECT)) {
            effects.drop(packet, DropReason::Early);
            return false;
        }
        effects.mark(&mut packet);
        head.packet = Some(packet);
        true
    }
}

impl Source for Packets {
    fn pop(&mut self) -> Option<Packet> {
        self.pop()
    }

    fn bytes(&self) -> u64 {
        self.held().1
    }
}

/// One queue under CoDel.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    config: CoDelConfig,
    control: Control,
    packets: Packets,
}

impl CoDel {
    pub(super) fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            control: Control::default(),
            packets: Packets::default(),
        }
    }

    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        arrival: &Arrival,
        _effects: &mut Effects,
    ) -> Result<(), DropReason> {
        arrival.check_room(self.config.limit)?;
        self.packets.push(packet);
        Ok(())
    }

    pub(super) fn dequeue(&mut self, now: Time, effects: &mut Effects) -> Option<Packet> {
        let parameters = &self.config.control;
        self.control
            .dequeue(parameters, now, &mut self.packets, effects)
    }

    pub(super) fn held(&self) -> (u64, u64) {
        self.packets.held()
    }
}
