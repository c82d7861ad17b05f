//! Random streams: one per component, named by its path.
//!
//! A stream's seed is a hash of the run's seed, its replication and the stream's path, so adding a
//! component, or changing one flow's protocol, shifts no other stream's draws. The generator is
//! xoshiro256++ seeded through SplitMix64 (Blackman and Vigna, 2018), pinned by their published
//! vectors; the samplers are by inversion. Neither may ever change under a seed.

use longhaul_units::Span;

/// A random stream.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream called `path` of a run.
    pub fn new(seed: u64, replication: u64, path: &str) -> Self {
        // FNV-1a spreads the name; SplitMix64 below mixes all three.
        let name = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut mixer = SplitMix64(seed);
        let mut mixed = mixer.next();
        for part in [replication, name] {
            mixer = SplitMix64(mixed ^ part);
            mixed = mixer.next();
        }
        Self {
            state: std::array::from_fn(|_| mixer.next()),
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
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

    /// Uniform on [0, 1), in steps of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A span uniform on [0, `limit`).
    pub fn span(&mut self, limit: Span) -> Span {
        Span::from_ps((self.uniform() * limit.as_ps() as f64) as u64)
    }

    /// Number of failures before the first success of probability `p` (0 < p <= 1).
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 0;
        }
        // 1 - uniform() lies in (0, 1], so the logarithm is finite.
        let trials = libm::log(1.0 - self.uniform()) / libm::log1p(-p);
        // Saturates for tiny p.
        libm::floor(trials) as u64
    }
}

/// The seeding generator of the xoshiro family.
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

    #[test]
    fn xoshiro_matches_published_values() {
        // State 1, 2, 3, 4: the vector used by the rand project's xoshiro256++.
        let mut stream = Stream {
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
        assert_eq!(std::array::from_fn(|_| stream.next_u64()), expected);
    }

    #[test]
    fn streams_differ_by_name_seed_and_replication() {
        let first = |seed, replication, path| Stream::new(seed, replication, path).next_u64();
        let base = first(1, 0, "flows/a");
        assert_ne!(base, first(1, 0, "flows/b"));
        assert_ne!(base, first(2, 0, "flows/a"));
        assert_ne!(base, first(1, 1, "flows/a"));
        assert_ne!(first(0, 1, "x"), first(1, 0, "x"));
    }

    #[test]
    fn geometric_gaps_have_the_right_mean() {
        let mut stream = Stream::new(7, 0, "test");
        let n = 200_000;
        let p = 0.01;
        let sum: u64 = (0..n).map(|_| stream.geometric(p)).sum();
        let mean = sum as f64 / f64::from(n);
        // Mean (1-p)/p = 99, standard error 100/sqrt(n) = 0.22.
        assert!((mean - 99.0).abs() < 1.0, "mean {mean}");
    }
}
