//! SplitMix64: random numbers for algorithms, which cannot use the engine's random streams.

/// Draws the next number of the sequence (Steele, Lea and Flood, OOPSLA 2014). `state` increases by a constant; the
/// number is `state` with its bits mixed.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Draws the next number of the sequence as a fraction in [0, 1).
pub(crate) fn fraction(state: &mut u64) -> f64 {
    // A double has a precision of 53 bits.
    (split_mix(state) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_published_sequence() {
        // These are the first outputs of the reference implementation for the seed 1234567.
        let mut state = 1_234_567;
        let drawn = [
            split_mix(&mut state),
            split_mix(&mut state),
            split_mix(&mut state),
        ];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn fractions_lie_between_zero_and_one_and_spread() {
        let mut state = 1;
        let drawn: Vec<f64> = (0..1000).map(|_| fraction(&mut state)).collect();
        assert!(drawn.iter().all(|value| (0.0..1.0).contains(value)));
        let mean = drawn.iter().sum::<f64>() / 1000.0;
        // The tolerance is three standard errors.
        assert!((mean - 0.5).abs() < 0.028, "{mean}");
    }
}
