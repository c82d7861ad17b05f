//! Cache of the transmission times of the last two packet sizes, which saves most divisions.

/// A cache with a value of type `T`, such as a transmission time, for each of the last two packet sizes. These are
/// usually the sizes of full segments and of ACKs.
#[derive(Debug, Default)]
pub(super) struct TxTimeCache<T> {
    known: [(u16, T); 2],
}

impl<T: Default> TxTimeCache<T> {
    /// Returns the value for a packet size; computes it if the cache does not have it.
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
