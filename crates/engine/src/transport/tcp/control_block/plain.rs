//! When nothing is out of the ordinary: what [`super::super::regular`] rests on.

use longhaul_congestion::Limit;
use longhaul_units::Time;

use super::{ControlBlock, Sending};
use crate::packet::{Flags, Packet};

/// What is known to be as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Nothing,
    /// Acknowledgements of new data are regular.
    Acknowledgements,
    /// Segments, too, leave as soon as the window allows, however many.
    Sending,
}

impl ControlBlock {
    /// Whether a packet is a regular acknowledgement.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.is_plain()
            && packet.flags.without(Flags::LOAD) == Flags::ACK
            && packet.sack.is_by_value()
            && packet.seq > self.una
            && packet.seq < self.max_sent
    }

    /// Whether nothing is out of the ordinary.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain != Plain::Nothing
    }

    /// Whether segments leave as soon as the window allows.
    #[inline(always)]
    pub(crate) fn sends_plainly(&self) -> bool {
        self.plain == Plain::Sending
    }

    /// Whether a segment leaves like most: a new one, whole, not the last that the application has given.
    #[inline(always)]
    pub(crate) fn leaves_plainly(&self, segment: u64) -> bool {
        self.is_plain() && segment < self.short.first() && segment + 1 < self.end
    }

    /// The next new segment, if the window has room for it beside all that was sent and there is one that the peer takes.
    #[inline(always)]
    pub(crate) fn next_new(&self) -> Option<u64> {
        let room = self.cwnd_allows(self.max_sent - self.una);
        (room && self.has_new()).then_some(self.nxt)
    }

    /// Something happens after which it is not known whether anything is out of the ordinary.
    #[inline]
    pub(crate) fn leave_plain(&mut self) {
        self.plain = Plain::Nothing;
    }

    /// Whether the window may grow with any acknowledgement, or those of this connection all have samples, with which it is
    /// found out.
    #[inline]
    pub(super) fn growth_is_watched(&self) -> bool {
        self.limit == Limit::Network || self.extras.is_some()
    }

    /// Finds out whether anything is out of the ordinary, after an acknowledgement that was not regular. `is_open`
    /// says whether nothing is as far as loss recovery knows.
    #[inline]
    pub(crate) fn survey(&mut self, is_open: impl FnOnce() -> bool) {
        let plain = self.growth_is_watched()
            && is_open()
            && self.established
            && self.nxt == self.max_sent
            && self.sacked_or_dupacked == 0
            && !self.retransmits_after_timeout()
            && !self.cwr_pending
            && self.timer.is_set()
            && self.finish == Time::NEVER;
        self.plain = match plain {
            false => Plain::Nothing,
            true if self.sending == Sending::Freely => Plain::Sending,
            true => Plain::Acknowledgements,
        };
    }
}
