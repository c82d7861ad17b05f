//! When nothing is out of the ordinary: what [`super::super::regular`] rests on.

use longhaul_congestion::Limit;
use longhaul_units::{Span, Time};

use super::{ControlBlock, LastReduction, Sending};
use crate::packet::{Flags, Packet};

impl ControlBlock {
    /// Whether a packet is a regular acknowledgement.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.plain
            && packet.flags == Flags::ACK
            && packet.sack.is_none()
            && packet.seq > self.una
            && packet.seq < self.max_sent
    }

    /// Whether nothing is out of the ordinary.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether a new segment is whole and not the last.
    #[inline(always)]
    pub(crate) fn is_whole(&self, segment: u64) -> bool {
        segment < self.short.first() && segment < self.fin
    }

    /// Something happens that is no acknowledgement, after which nothing is known to be regular.
    #[inline]
    pub(crate) fn leave_plain(&mut self) {
        self.plain = false;
    }

    /// Finds out whether anything is out of the ordinary, after an acknowledgement that was not regular. `open`, if
    /// nothing is as far as loss recovery knows.
    #[inline]
    pub(crate) fn survey(&mut self, open: bool) {
        self.plain = open
            && self.extras.is_none()
            && self.established
            && self.nxt == self.max_sent
            && self.sacked_or_dupacked == 0
            && self.sending == Sending::AtOnce
            && self.limit == Limit::Network
            && self.last_reduction != LastReduction::Timeout
            && !self.cwr_pending
            && self.timer.is_set()
            && self.finish == Time::NEVER
            && self.sends_freely();
    }

    /// Whether segments leave as soon as the window allows, however many.
    fn sends_freely(&self) -> bool {
        let config = &self.config;
        config.pacing.is_none()
            && config.send_jitter == Span::ZERO
            && config.max_burst.is_none()
            && !self.congestion.may_pace()
    }
}
