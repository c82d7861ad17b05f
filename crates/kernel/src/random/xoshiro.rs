//! The generator xoshiro256++, which is seeded by SplitMix64 (Blackman and Vigna, 2018).

use std::fmt::{self, Display, Write};

use serde::{Deserialize, Serialize};

/// The state of the generator xoshiro256++.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// Creates the generator for the stream called `path` of a run.
    pub(super) fn new(seed: u64, replication: u64, path: impl Display) -> Self {
        // FNV-1a hashes the path; SplitMix64 below mixes seed, replication and hash.
        let mut name = Fnv1a::EMPTY;
        write!(name, "{path}").expect("hashing does not fail");
        let mut mixer = SplitMix64(seed);
        let mut mixed = mixer.next();
        for part in [replication, name.0] {
            mixer = SplitMix64(mixed ^ part);
            mixed = mixer.next();
        }
        Self {
            state: std::array::from_fn(|_| mixer.next()),
        }
    }

    /// Draws a number uniformly from [0, 1), in steps of 2^-53.
    #[inline]
    pub(super) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Draws 64 random bits.
    #[inline]
    fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
}

/// Hash of a text that is added piece by piece: FNV-1a with 64 bits (Fowler, Noll and Vo).
struct Fnv1a(u64);

impl Fnv1a {
    const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);
}

impl Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Ok(())
    }
}

/// The generator that seeds the xoshiro family.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_matches_published_values() {
        // Seed 1234567, from the generator's reference test values.
        let mut mixer = SplitMix64(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(std::array::from_fn(|_| mixer.next()), expected);
    }

    /// Checks that the hash of several pieces is that of the whole text. The texts "a" and "foobar" are published test
    /// vectors of FNV-1a.
    #[test]
    fn a_hash_is_that_of_the_pieces_together() {
        let hash = |pieces: &[&str]| {
            let mut hash = Fnv1a::EMPTY;
            for piece in pieces {
                write!(hash, "{piece}").expect("hashing does not fail");
            }
            hash.0
        };
        assert_eq!(hash(&["a"]), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(&["foo", "", "bar"]), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn xoshiro_matches_published_values() {
        // State 1, 2, 3, 4: the vector used by the rand project's xoshiro256++.
        let mut generator = Xoshiro256 {
            state: [1, 2, 3, 4],
        };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(std::array::from_fn(|_| generator.next()), expected);
    }
}
