//! An acknowledgement that has arrived, as loss recovery sees it.

use longhaul_units::{Span, Time};

use crate::packet::{Flags, SackHandle, SackOption};

/// An acknowledgement with what the sender knew when it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    /// The next segment that the receiver expects.
    pub(super) next: u64,
    /// Its options, if it is not regular, and as it has them.
    pub(super) sack: &'a SackOption,
    pub(super) options: SackHandle,
    pub(super) flags: Flags,
    /// Timestamp that it echoes.
    pub(super) stamp: Time,
    /// Whether it arrives in fast recovery.
    pub(super) in_recovery: bool,
    /// Data segments known to be delivered before it.
    pub(super) delivered: u64,
}

impl Ack<'_> {
    /// The time that it reports: a transit time, or how long it was delayed.
    #[inline]
    pub(super) fn reported_time(&self) -> Option<Span> {
        self.options.transit().or_else(|| self.sack.transit())
    }

    /// Whether it echoes congestion.
    #[inline]
    pub(super) fn ece(&self) -> bool {
        self.flags.has(Flags::ECE)
    }
}
