//! Transmission times of the packet sizes seen last, so that no packet costs a division.

/// What belongs to each of the two packet sizes seen last, usually full segments and
/// acknowledgements.
#[derive(Debug, Default)]
pub(super) struct RecentSizes<T> {
    known: [(u16, T); 2],
}

impl<T: Default> RecentSizes<T> {
    /// What belongs to a size, computed if it was not among the last two.
    #[inline]
    pub(super) fn get(&mut self, bytes: u16, compute: impl FnOnce() -> T) -> &T {
        if self.known[0].0 != bytes {
            self.known.swap(0, 1);
            if self.known[0].0 != bytes {
                self.known[0] = (bytes, compute());
            }
        }
        &self.known[0].1
    }
}
