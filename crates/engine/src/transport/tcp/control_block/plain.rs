//! When nothing is out of the ordinary: what [`super::super::regular`] rests on.

use longhaul_congestion::Limit;
use longhaul_units::Time;

use super::{ControlBlock, LastReduction, Sending};
use crate::packet::{Flags, Packet};

impl ControlBlock {
    /// Whether a packet is a regular acknowledgement.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.nxt < self.plain_below
            && packet.flags == Flags::ACK
            && packet.sack.is_none()
            && packet.seq > self.una
            && packet.seq < self.max_sent
    }

    /// Whether a segment leaves like most: new, whole, not the last.
    #[inline(always)]
    pub(crate) fn is_plain(&self, segment: u64) -> bool {
        segment < self.plain_below
    }

    /// Something happens that is no acknowledgement, after which nothing is known to be regular.
    #[inline]
    pub(crate) fn leave_plain(&mut self) {
        self.plain_below = 0;
    }

    /// Finds out whether anything is out of the ordinary, after an acknowledgement that was not regular. `open`, if
    /// nothing is as far as loss recovery knows.
    #[inline]
    pub(crate) fn survey(&mut self, open: bool) {
        let plain = self.unhindered
            && open
            && self.extras.is_none()
            && self.established
            && self.nxt == self.max_sent
            && self.sacked_or_dupacked == 0
            && self.sending == Sending::AtOnce
            && self.limit == Limit::Network
            && self.last_reduction != LastReduction::Timeout
            && !self.cwr_pending
            && self.timer.is_set()
            && self.finish == Time::NEVER;
        self.plain_below = if plain {
            self.end.min(self.fin).min(self.short.first())
        } else {
            0
        };
    }
}
