//! The plain state of a connection, in which no loss, mark, limit or timeout needs attention. Most acknowledgements
//! then take the fast path of [`super::super::regular`].

use longhaul_congestion::Limit;
use longhaul_units::Time;

use super::{ControlBlock, Sending};
use crate::packet::{Flags, Packet};

/// Parts of a connection's processing that may take the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Nothing,
    /// Acknowledgements of new data take the fast path.
    Acknowledgements,
    /// Acknowledgements take the fast path, and segments leave as soon as the window allows, without a check of pacing,
    /// jitter, pairs or the limit on bursts.
    Sending,
}

impl ControlBlock {
    /// Returns true if a packet is an acknowledgement of new data that takes the fast path.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.is_plain()
            && packet.flags.without(Flags::LOAD) == Flags::ACK
            && packet.sack.is_by_value()
            && packet.seq > self.una
            && packet.seq < self.max_sent
    }

    /// Returns true if acknowledgements may take the fast path.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain != Plain::Nothing
    }

    /// Returns true if acknowledgements take the fast path, and segments leave as soon as the window allows.
    #[inline(always)]
    pub(crate) fn sends_plainly(&self) -> bool {
        self.plain == Plain::Sending
    }

    /// Returns true if `segment`, the next new one, takes the fast path: the connection is in the plain state, and the
    /// segment is below the first short segment stored, and not the last one of the application's data.
    #[inline(always)]
    pub(crate) fn leaves_plainly(&self, segment: u64) -> bool {
        self.is_plain() && segment < self.short.first() && segment + 1 < self.end
    }

    /// Returns the next new segment, if there is one and both the receive window and the congestion window have room.
    /// Only valid in the plain state, in which all segments not acknowledged are in flight.
    #[inline(always)]
    pub(crate) fn next_new(&self) -> Option<u64> {
        let room = self.cwnd_allows(self.max_sent - self.una);
        (room && self.has_new()).then_some(self.nxt)
    }

    /// Closes the fast path until [`Self::survey`] opens it again.
    #[inline]
    pub(crate) fn leave_plain(&mut self) {
        self.plain = Plain::Nothing;
    }

    /// Returns true if the fast path enlarges the window only while the sender uses the whole window.
    #[inline]
    pub(super) fn growth_is_watched(&self) -> bool {
        // A sender that only the network limits uses the window. With `extras`, each acknowledgement checks the use.
        self.limit == Limit::Network || self.extras.is_some()
    }

    /// Determines if the next acknowledgements and segments may take the fast path. `is_open` returns true if loss
    /// recovery knows no lost, retransmitted or selectively acknowledged segment.
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
