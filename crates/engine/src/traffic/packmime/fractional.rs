//! Fractional noise: FARIMA(0, d, 0) by Hosking's recursion (Water Resources Research 20, 1984), truncated to a fixed
//! number of past values.
//!
//! Each value is a sum of thousands of products. The products are always added in the same order; the last bit thus
//! does not depend on the implementation. For speed, parts known in advance are computed for several successive values
//! together, and many series draw their first values together. Vector instructions are used where available; they, too,
//! round each product before it is added.

use std::sync::Arc;

use crate::random::Stream;

/// Number of partial sums into which a sum of products is divided; vector instructions add to all of them at once.
const LANES: usize = 8;

/// Number of weighted sums of past values that are computed together: a past value is loaded once for all these sums.
/// Their partial sums fit into registers.
const SHARING: usize = 4;

/// Number of successive values in a block. `known_parts` computes weighted sums of older values for a block at once.
const BLOCK: usize = SHARING * LANES;

/// Number of series whose initial past values are drawn in the same loop.
const ABREAST: usize = 16;

type Lanes = [f64; LANES];

/// Returns the variance of fractional noise with innovations of variance 1.
pub(super) fn variance(d: f64) -> f64 {
    let root = libm::tgamma(1.0 - d);
    libm::tgamma(1.0 - 2.0 * d) / (root * root)
}

/// Weights of the past values of a series in the sum for the next value, from the oldest past value to the newest.
#[derive(Debug)]
struct Weights {
    /// Weights of all past values except the newest `BLOCK`, padded with zeros at both ends. A past value is loaded for
    /// several sums at once; its weight is zero in those sums that do not include the value.
    // Adding a product of zero does not change a sum, since a sum is never -0.
    others: Box<[Lanes]>,
    /// Weights of the newest `BLOCK` past values. `known_parts` leaves these values out: it is called for a whole block
    /// of values in advance, before all of them are known.
    newest: [Lanes; SHARING],
}

impl Weights {
    /// Creates the weights from `phi`, which begins with the weight of the newest value.
    fn new(phi: &[f64]) -> Self {
        let oldest_first: Vec<f64> = phi.iter().rev().copied().collect();
        let (others, newest) = oldest_first
            .as_chunks()
            .0
            .split_at(phi.len() / LANES - SHARING);
        let zeros = [[0.0; LANES]; SHARING - 1];
        Self {
            others: [&zeros[..], others, &zeros[..]].concat().into(),
            newest: std::array::from_fn(|chunk| newest[chunk]),
        }
    }

    /// Returns the number of weights.
    fn memory(&self) -> usize {
        let zeros = 2 * (SHARING - 1);
        (self.others.len() - zeros + SHARING) * LANES
    }
}

/// A series of fractional noise, with the past values that determine the next one.
#[derive(Debug)]
pub(super) struct Fractional {
    weights: Arc<Weights>,
    /// Standard deviation of the innovation, the part of a value that does not depend on the past.
    innovation: f64,
    /// Past values of the series; the newest is last. Values for which there is no weight are unused.
    past: Vec<f64>,
    /// For each value of the current block, the weighted sum of all earlier values except the newest `BLOCK`. The
    /// missing part is added when the value is drawn.
    sums: [Lanes; BLOCK],
    /// Number of `sums` that have become values of the series.
    used: usize,
}

impl Fractional {
    /// Creates a series of fractional noise for each of `streams`, and draws its past values. A value depends on
    /// `memory` earlier ones; this number must be a multiple of `LANES`, and at least `BLOCK`.
    pub(super) fn begin(d: f64, memory: usize, streams: &mut [&mut Stream]) -> Vec<Self> {
        assert!(
            memory.is_multiple_of(LANES) && memory >= BLOCK,
            "sums have no remainder"
        );
        let mut pasts = Pasts::new(memory, streams.len());
        let mut recursion = Recursion::new(d, memory);
        pasts.push(|number| libm::sqrt(recursion.variance) * streams[number].normal());
        for _ in 1..=memory {
            recursion.step();
            let innovation = libm::sqrt(recursion.variance);
            pasts.step(&recursion.phi, |number| {
                innovation * streams[number].normal()
            });
        }
        let innovation = libm::sqrt(recursion.variance);
        let weights = Arc::new(Weights::new(&recursion.phi));
        let series = (0..streams.len()).map(|number| Self {
            weights: Arc::clone(&weights),
            innovation,
            past: pasts.of(number),
            sums: [[0.0; LANES]; BLOCK],
            used: BLOCK,
        });
        series.collect()
    }

    /// Draws the next value.
    pub(super) fn next(&mut self, stream: &mut Stream) -> f64 {
        if self.used == BLOCK {
            let past = &self.past[self.past.len() - self.weights.memory()..];
            self.sums = known_parts(&self.weights.others, past);
            self.used = 0;
        }
        let mut sums = self.sums[self.used];
        self.used += 1;
        let newest = self.past[self.past.len() - BLOCK..].as_chunks().0;
        for (weights, past) in self.weights.newest.iter().zip(newest) {
            add_products(&mut sums, weights, past);
        }
        let value = sums.iter().sum::<f64>() + self.innovation * stream.normal();
        if self.past.len() == self.past.capacity() {
            self.past.drain(..self.past.len() - self.weights.memory());
        }
        self.past.push(value);
        value
    }
}

/// Defines a function that calls the function `$body` with the same arguments. For x86-64, `$body` is compiled three
/// times: with AVX-512, with AVX2 and with neither. The first of these versions that the processor supports is called.
macro_rules! with_wide_vectors {
    ($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:ident) => {
        $(#[$doc])*
        fn $name($($argument: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn widest($($argument: $type),*) -> $result {
                    $body($($argument),*)
                }
                #[target_feature(enable = "avx2")]
                fn wide($($argument: $type),*) -> $result {
                    $body($($argument),*)
                }
                if is_x86_feature_detected!("avx512f") {
                    #[allow(unsafe_code, reason = "the compiler does not see what was just asked")]
                    // SAFETY: the processor has these instructions, as has just been tested.
                    return unsafe { widest($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    #[allow(unsafe_code, reason = "the compiler does not see what was just asked")]
                    // SAFETY: the processor has these instructions, as has just been tested.
                    return unsafe { wide($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}

with_wide_vectors! {
    /// Returns, for each value of the next block, the weighted sum of its past values except the newest `BLOCK`. Some
    /// of the newest ones are not known yet. The past values are in `past`, their weights in `others`.
    fn known_parts(others: &[Lanes], past: &[f64]) -> [Lanes; BLOCK] = sum_known_parts
}

with_wide_vectors! {
    /// Returns the expected next value of each of several series: the sum of the series' `past` values, each multiplied
    /// by its weight in `phi`. The sum is computed from the newest value to the oldest.
    fn expect(phi: &[f64], past: &[[f64; ABREAST]]) -> [f64; ABREAST] = sum_expected
}

with_wide_vectors! {
    /// Subtracts from each weight its mirror image times `last`. The mirror image is the weight at the same distance
    /// from the other end of `phi`.
    fn take_from_mirror_images(phi: &mut [f64], last: f64) -> () = subtract_mirror_images
}

#[inline(always)]
fn subtract_mirror_images(phi: &mut [f64], last: f64) {
    let (half, with_middle) = (phi.len() / 2, phi.len().div_ceil(2));
    let (newer, older) = phi.split_at_mut(with_middle);
    for (new, old) in newer[..half].iter_mut().zip(older.iter_mut().rev()) {
        let (a, b) = (*new, *old);
        *new = a - last * b;
        *old = b - last * a;
    }
    // With an odd number of weights, the middle weight is symmetric to itself.
    if let Some(middle) = newer.get_mut(half) {
        *middle -= last * *middle;
    }
}

#[inline(always)]
fn sum_known_parts(others: &[Lanes], past: &[f64]) -> [Lanes; BLOCK] {
    let mut sums = [[0.0; LANES]; BLOCK];
    // The preceding values of each value begin one position later.
    for value in 0..LANES {
        let mut of = [[0.0; LANES]; SHARING];
        let past = past[value..].as_chunks().0;
        for (weights, past) in others.windows(SHARING).zip(past) {
            for (sums, weights) in of.iter_mut().zip(weights.iter().rev()) {
                add_products(sums, weights, past);
            }
        }
        for (shared, of) in of.into_iter().enumerate() {
            sums[value + shared * LANES] = of;
        }
    }
    sums
}

#[inline(always)]
fn sum_expected(phi: &[f64], past: &[[f64; ABREAST]]) -> [f64; ABREAST] {
    let mut sums = [0.0; ABREAST];
    for (weight, values) in phi.iter().zip(past.iter().rev()) {
        for lane in 0..ABREAST {
            sums[lane] += weight * values[lane];
        }
    }
    sums
}

#[inline(always)]
fn add_products(sums: &mut Lanes, a: &Lanes, b: &Lanes) {
    for lane in 0..LANES {
        sums[lane] += a[lane] * b[lane];
    }
}

/// Hosking's recursion for the weights of the past values in the mean of the next value. Each step adds one past value.
struct Recursion {
    d: f64,
    /// Weights of the past values, from the newest value to the oldest.
    phi: Vec<f64>,
    /// Variance of the innovation, the part of a value that does not depend on the past.
    variance: f64,
}

impl Recursion {
    fn new(d: f64, memory: usize) -> Self {
        Self {
            d,
            phi: Vec::with_capacity(memory),
            variance: variance(d),
        }
    }

    /// Computes the weights and the variance for one more past value.
    fn step(&mut self) {
        let phi = &mut self.phi;
        let last = self.d / ((phi.len() + 1) as f64 - self.d);
        take_from_mirror_images(phi, last);
        phi.push(last);
        self.variance *= 1.0 - last * last;
    }
}

/// Past values of many series while they are being drawn. The series are interleaved: each weight is loaded once for
/// several series.
struct Pasts {
    /// Groups of `ABREAST` series. Each group has the past values of its series in the order of time.
    groups: Vec<Vec<[f64; ABREAST]>>,
    memory: usize,
    series: usize,
}

impl Pasts {
    fn new(memory: usize, series: usize) -> Self {
        let group = || Vec::with_capacity(memory + 1);
        Self {
            groups: (0..series.div_ceil(ABREAST)).map(|_| group()).collect(),
            memory,
            series,
        }
    }

    /// Appends a value to each series.
    fn push(&mut self, mut value: impl FnMut(usize) -> f64) {
        let series = self.series;
        for (group, first) in self.groups.iter_mut().zip((0..).step_by(ABREAST)) {
            group.push(std::array::from_fn(|lane| match first + lane {
                number if number < series => value(number),
                _ => 0.0,
            }));
        }
    }

    /// Appends to each series its expected value, given the past, plus a deviation.
    fn step(&mut self, phi: &[f64], mut deviation: impl FnMut(usize) -> f64) {
        let expected: Vec<_> = self.groups.iter().map(|past| expect(phi, past)).collect();
        self.push(|number| expected[number / ABREAST][number % ABREAST] + deviation(number));
    }

    /// Returns the past values of one series, in a vector with capacity for more values.
    fn of(&self, number: usize) -> Vec<f64> {
        let mut past = Vec::with_capacity(2 * self.memory);
        let group = &self.groups[number / ABREAST];
        past.extend(group.iter().map(|values| values[number % ABREAST]));
        past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the weights of the newest and the oldest value, and the variance of the innovation, against closed forms
    /// (Hosking 1984). After `t` steps, the weights are `t d / (t-d)` and `d / (t-d)`.
    #[test]
    fn weights_and_innovation_have_their_closed_forms() {
        let d = 0.33;
        let mut recursion = Recursion::new(d, 1000);
        for memory in 1..=1000 {
            recursion.step();
            if ![1, 2, 7, 1000].contains(&memory) {
                continue;
            }
            let t = memory as f64;
            let (newest, oldest) = (recursion.phi[0], recursion.phi[memory - 1]);
            assert!((oldest - d / (t - d)).abs() < 1e-12);
            assert!((newest - t * d / (t - d)).abs() < 1e-12);
            // The variance is gamma(t+1) gamma(t+1-2d) / gamma(t+1-d)^2.
            let log = libm::lgamma(t + 1.0) + libm::lgamma(t + 1.0 - 2.0 * d)
                - 2.0 * libm::lgamma(t + 1.0 - d);
            assert!((recursion.variance - libm::exp(log)).abs() < 1e-9);
        }
    }

    /// Checks that values computed together, in blocks and for many series, equal values computed one by one.
    #[test]
    fn values_do_not_depend_on_what_is_worked_out_together() {
        const MEMORY: usize = 40;
        let stream = |number| Stream::new(number, 0, "test");
        let mut streams: Vec<Stream> = (0..ABREAST as u64 + 3).map(stream).collect();
        let mut together: Vec<&mut Stream> = streams.iter_mut().collect();
        let begun = Fractional::begin(0.31, MEMORY, &mut together);
        for (number, mut series) in (0..).zip(begun) {
            let mut own = stream(number);
            let mut recursion = Recursion::new(0.31, MEMORY);
            let mut past = vec![libm::sqrt(recursion.variance) * own.normal()];
            for _ in 0..MEMORY {
                recursion.step();
                let newest_first = recursion.phi.iter().zip(past.iter().rev());
                let expected: f64 = newest_first.map(|(w, x)| w * x).sum();
                past.push(expected + libm::sqrt(recursion.variance) * own.normal());
            }
            let innovation = libm::sqrt(recursion.variance);
            for _ in 0..3 * MEMORY {
                let mut lanes = [0.0; LANES];
                let ages = (0..MEMORY).rev();
                for (place, age) in ages.enumerate() {
                    lanes[place % LANES] += recursion.phi[age] * past[past.len() - 1 - age];
                }
                past.push(lanes.iter().sum::<f64>() + innovation * own.normal());
                let value = series.next(&mut streams[number as usize]);
                assert_eq!(value.to_bits(), past[past.len() - 1].to_bits());
            }
        }
    }
}
