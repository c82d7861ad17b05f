//! An arrived acknowledgement, as loss recovery processes it.

use longhaul_units::{Span, Time};

use crate::packet::{Flags, SackHandle, SackOption};

/// An acknowledgement, with the sender's state when it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    /// The next segment that the receiver expects.
    pub(super) next: u64,
    /// Options of the acknowledgement: its SACK blocks, unless it is regular, and the handle that the
    /// packet carries.
    pub(super) sack: &'a SackOption,
    pub(super) options: SackHandle,
    pub(super) flags: Flags,
    /// Timestamp that the acknowledgement echoes.
    pub(super) stamp: Time,
    /// True if the acknowledgement arrives in fast recovery.
    pub(super) in_recovery: bool,
    /// Data segments known to be delivered before this acknowledgement.
    pub(super) delivered: u64,
}

impl Ack<'_> {
    /// Returns the time that the acknowledgement reports: a transit time, or its ACK delay.
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
