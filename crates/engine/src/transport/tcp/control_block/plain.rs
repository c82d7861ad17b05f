//! When nothing is out of the ordinary: what [`super::super::regular`] rests on.

use longhaul_congestion::Limit;
use longhaul_units::{Span, Time};

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
            && packet.flags == Flags::ACK
            && packet.sack.is_none()
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

    /// Whether a segment leaves like most: a new one, whole, not the last.
    #[inline(always)]
    pub(crate) fn leaves_plainly(&self, segment: u64) -> bool {
        self.is_plain() && segment < self.short.first() && segment < self.fin
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

    /// Finds out whether anything is out of the ordinary, after an acknowledgement that was not regular. `open`, if
    /// nothing is as far as loss recovery knows.
    #[inline]
    pub(crate) fn survey(&mut self, open: bool) {
        let plain = open
            && self.established
            && self.nxt == self.max_sent
            && self.sacked_or_dupacked == 0
            && self.limit == Limit::Network
            && !self.retransmits_after_timeout()
            && !self.cwr_pending
            && self.timer.is_set()
            && self.finish == Time::NEVER;
        self.plain = match plain {
            false => Plain::Nothing,
            true if self.sends_freely() => Plain::Sending,
            true => Plain::Acknowledgements,
        };
    }

    fn sends_freely(&self) -> bool {
        let config = &self.config;
        self.sending == Sending::AtOnce
            && config.pacing.is_none()
            && config.send_jitter == Span::ZERO
            && config.max_burst.is_none()
            && !self.congestion.may_pace()
    }
}
