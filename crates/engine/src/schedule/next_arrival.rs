//! Entry of a link in the event list: the link's next arrival, with its rank among simultaneous arrivals.

use longhaul_units::Time;

/// The next arrival at the far end of a link: its time, and its rank among simultaneous arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextArrival {
    pub(crate) time: Time,
    pub(crate) tie_break: TieBreak,
}

/// Rank among packets that arrive at the same time; the smallest is first. It has at most 37 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TieBreak(u64);

impl TieBreak {
    pub(crate) const BITS: u32 = 37;
    #[cfg(test)]
    pub(crate) const FIRST: Self = Self(0);
    #[cfg(test)]
    pub(crate) const LAST: Self = Self((1 << Self::BITS) - 1);

    /// Creates a rank from its bits.
    #[inline]
    pub(crate) fn new(bits: u64) -> Self {
        debug_assert!(bits >> Self::BITS == 0, "a tie-break of too many bits");
        Self(bits)
    }

    /// Returns the rank as an integer of [`Self::BITS`] bits.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}
