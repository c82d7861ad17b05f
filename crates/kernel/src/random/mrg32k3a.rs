//! MRG32k3a, the generator of ns-2 (L'Ecuyer, "Good parameters and implementations for combined
//! multiple recursive random number generators", Operations Research 47, 1999).
//!
//! ns-2 sets all state variables to the seed, and both recurrences are linear. A draw with seed `k`
//! is therefore the fractional part of `k` times the draw with seed 1, except for a difference below
//! `k` times 5.3e-6, since the moduli differ. Runs with neighbouring seeds are not independent.

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

/// The state of the generator MRG32k3a.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mrg32k3a {
    /// Last three values of the first recurrence, the oldest first.
    one: [i64; 3],
    /// Last three values of the second recurrence, the oldest first.
    two: [i64; 3],
}

impl Mrg32k3a {
    /// Creates the generator; as in ns-2, `seed` is from 1 to 2^31 - 2.
    pub(super) fn new(seed: u64) -> Self {
        let seed = seed as i64;
        Self {
            one: [seed; 3],
            two: [seed; 3],
        }
    }

    /// Draws a number uniformly from (0, 1).
    #[inline]
    pub(super) fn uniform(&mut self) -> f64 {
        let [a, b, c] = self.one;
        let one = (1_403_580 * b - 810_728 * a).rem_euclid(M1);
        self.one = [b, c, one];
        let [a, b, c] = self.two;
        let two = (527_612 * c - 1_370_589 * a).rem_euclid(M2);
        self.two = [b, c, two];
        let difference = if one > two { one - two } else { one - two + M1 };
        difference as f64 * (1.0 / (M1 + 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_published_values() {
        // ns-2 (tools/rng.cc): the 10,000th and the 551,246th whole number after seed 1.
        let mut generator = Mrg32k3a::new(1);
        let mut whole = || (2_147_483_648.0 * generator.uniform()) as u64;
        assert_eq!((0..10_000).map(|_| whole()).last(), Some(1_179_983_147));
        assert_eq!((10_000..551_246).map(|_| whole()).last(), Some(817_829_295));
    }

    #[test]
    fn seeds_draw_multiples_of_each_other() {
        let mut first = Mrg32k3a::new(1);
        let mut third = Mrg32k3a::new(3);
        for _ in 0..1000 {
            let apart = third.uniform() - 3.0 * first.uniform();
            // The relation is approximate because the two moduli differ by 2^-17.5 of their size.
            assert!((apart - apart.round()).abs() < 2e-5, "{apart}");
        }
    }
}
