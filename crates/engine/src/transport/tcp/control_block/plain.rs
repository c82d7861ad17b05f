//! The plain state of a connection, in which nothing is out of the ordinary: [`super::super::regular`] relies on
//! it.

use longhaul_congestion::Limit;
use longhaul_units::Time;

use super::{ControlBlock, Sending};
use crate::packet::{Flags, Packet};

/// Parts of a connection's processing that are known to be plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Nothing,
    /// Acknowledgements of new data are regular.
    Acknowledgements,
    /// Segments also leave as soon as the window allows, in any number.
    Sending,
}

impl ControlBlock {
    /// Returns true if a packet is a regular acknowledgement.
    #[inline(always)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.is_plain()
            && packet.flags.without(Flags::LOAD) == Flags::ACK
            && packet.sack.is_by_value()
            && packet.seq > self.una
            && packet.seq < self.max_sent
    }

    /// Returns true if nothing is out of the ordinary.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain != Plain::Nothing
    }

    /// Returns true if segments leave as soon as the window allows.
    #[inline(always)]
    pub(crate) fn sends_plainly(&self) -> bool {
        self.plain == Plain::Sending
    }

    /// Returns true if a segment leaves like most: a new, full one that is not the last of the application's data.
    #[inline(always)]
    pub(crate) fn leaves_plainly(&self, segment: u64) -> bool {
        self.is_plain() && segment < self.short.first() && segment + 1 < self.end
    }

    /// Returns the next new segment, if the window has room for it in addition to all segments sent and the peer
    /// accepts it.
    #[inline(always)]
    pub(crate) fn next_new(&self) -> Option<u64> {
        let room = self.cwnd_allows(self.max_sent - self.una);
        (room && self.has_new()).then_some(self.nxt)
    }

    /// Leaves the plain state, until the state is determined again.
    #[inline]
    pub(crate) fn leave_plain(&mut self) {
        self.plain = Plain::Nothing;
    }

    /// Returns true if every acknowledgement may grow the window, or if all acknowledgements of this connection
    /// have the sample that decides it.
    #[inline]
    pub(super) fn growth_is_watched(&self) -> bool {
        self.limit == Limit::Network || self.extras.is_some()
    }

    /// Updates if the connection is plain, after an acknowledgement that was not regular. `is_open` returns true if
    /// loss recovery is in no special state.
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
