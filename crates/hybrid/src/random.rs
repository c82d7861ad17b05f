//! Random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

/// A stream of random numbers.
pub(crate) struct Random(u64);

impl Random {
    /// Returns the stream with the seed `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws a number uniform on [0, 1).
    pub(crate) fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
