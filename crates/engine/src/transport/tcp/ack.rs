//! An arrived acknowledgement, as loss recovery processes it.

use longhaul_units::{Span, Time};

use crate::packet::{Flags, SackHandle, SackOption};

/// An acknowledgement, with the sender's state at its arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    /// The next segment that the receiver expects.
    pub(super) next: u64,
    /// The SACK blocks; empty if the acknowledgement takes the fast path ([`super::regular`]).
    pub(super) sack: &'a SackOption,
    /// Handle of the packet's options.
    pub(super) options: SackHandle,
    pub(super) flags: Flags,
    /// Timestamp that the acknowledgement echoes.
    pub(super) stamp: Time,
    /// True if the acknowledgement arrives in fast recovery.
    pub(super) in_recovery: bool,
    /// Number of data segments known to be delivered before this acknowledgement arrived.
    pub(super) delivered: u64,
}

impl Ack<'_> {
    /// Returns the time that the receiver reports: the transit time of a data segment, or the ACK delay.
    #[inline]
    pub(super) fn reported_time(&self) -> Option<Span> {
        self.options.transit().or_else(|| self.sack.transit())
    }

    /// Returns true if the acknowledgement echoes congestion (ECE).
    #[inline]
    pub(super) fn ece(&self) -> bool {
        self.flags.has(Flags::ECE)
    }
}
