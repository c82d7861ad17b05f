//! A Gaussian series with long-range dependence: fractional noise beside white noise (spec 001b B.7).
//!
//! The fractional part is FARIMA(0, d, 0) by Hosking's recursion (Water Resources Research 20, 1984),
//! plus its own previous value. The recursion is cut off at some number of past values: nothing is
//! remembered for longer.

use crate::random::Stream;

/// The shape of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    /// Fractional difference; the Hurst parameter is this and a half.
    pub(super) d: f64,
    /// Past values that the next one depends on.
    pub(super) memory: usize,
    /// Share of the variance that is white noise.
    pub(super) noise: f64,
}

/// A series of mean 0 and variance 1.
#[derive(Debug)]
pub(super) struct Gaussian {
    fractional: Fractional,
    /// Standard deviations of the two parts.
    scale: f64,
    noise: f64,
    previous: f64,
    stream: Stream,
}

impl Gaussian {
    pub(super) fn new(shape: Shape, mut stream: Stream) -> Self {
        let Shape { d, memory, noise } = shape;
        let mut fractional = Fractional::new(d, memory, &mut stream);
        let variance = fractional_variance(d) * (2.0 + 2.0 * d / (1.0 - d));
        Self {
            scale: libm::sqrt((1.0 - noise) / variance),
            noise: libm::sqrt(noise),
            previous: fractional.next(&mut stream),
            fractional,
            stream,
        }
    }

    /// The next value.
    pub(super) fn next(&mut self) -> f64 {
        let value = self.fractional.next(&mut self.stream);
        let sum = value + self.previous;
        self.previous = value;
        self.scale * sum + self.noise * self.stream.normal()
    }
}

/// Variance of FARIMA(0, d, 0) with innovations of variance 1.
fn fractional_variance(d: f64) -> f64 {
    let root = libm::tgamma(1.0 - d);
    libm::tgamma(1.0 - 2.0 * d) / (root * root)
}

/// FARIMA(0, d, 0).
#[derive(Debug)]
struct Fractional {
    /// Weights of past values, that of the oldest first.
    weights: Vec<f64>,
    /// Standard deviation of what the past does not determine.
    innovation: f64,
    /// Past values, the newest last. Those before the last `weights.len()` are left over.
    past: Vec<f64>,
}

impl Fractional {
    fn new(d: f64, memory: usize, stream: &mut Stream) -> Self {
        let mut variance = fractional_variance(d);
        // In the order of age, while they are found.
        let mut phi: Vec<f64> = Vec::with_capacity(memory);
        let mut past = Vec::with_capacity(2 * memory);
        past.push(libm::sqrt(variance) * stream.normal());
        for t in 1..=memory {
            let last = d / (t as f64 - d);
            // Each with its mirror image; the middle one is its own.
            for j in 0..phi.len().div_ceil(2) {
                let mirror = phi.len() - 1 - j;
                let (a, b) = (phi[j], phi[mirror]);
                phi[j] = a - last * b;
                phi[mirror] = b - last * a;
            }
            phi.push(last);
            variance *= 1.0 - last * last;
            let expected: f64 = phi.iter().zip(past.iter().rev()).map(|(w, x)| w * x).sum();
            past.push(expected + libm::sqrt(variance) * stream.normal());
        }
        phi.reverse();
        Self {
            weights: phi,
            innovation: libm::sqrt(variance),
            past,
        }
    }

    fn next(&mut self, stream: &mut Stream) -> f64 {
        let memory = self.weights.len();
        let newest = &self.past[self.past.len() - memory..];
        let value = dot(&self.weights, newest) + self.innovation * stream.normal();
        if self.past.len() == self.past.capacity() {
            self.past.drain(..self.past.len() - memory);
        }
        self.past.push(value);
        value
    }
}

/// Eight sums at a time, which processors do at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosking 1984: `phi_tj = -C(t, j) G(j-d) G(t-d-j+1) / (G(-d) G(t-d+1))`, in short for the newest
    /// and the oldest value; `v_t = G(t+1) G(t+1-2d) / G(t+1-d)^2`.
    #[test]
    fn weights_and_innovation_have_their_closed_forms() {
        for memory in [1, 2, 7, 1000] {
            let (t, d) = (memory as f64, 0.33);
            let fractional = Fractional::new(d, memory, &mut Stream::new(1, 0, "test"));
            let (oldest, newest) = (fractional.weights[0], fractional.weights[memory - 1]);
            assert!((oldest - d / (t - d)).abs() < 1e-12);
            assert!((newest - t * d / (t - d)).abs() < 1e-12);
            let log = libm::lgamma(t + 1.0) + libm::lgamma(t + 1.0 - 2.0 * d)
                - 2.0 * libm::lgamma(t + 1.0 - d);
            let variance = fractional.innovation * fractional.innovation;
            assert!((variance - libm::exp(log)).abs() < 1e-9, "{variance}");
        }
    }
}
