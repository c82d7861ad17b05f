//! A Gaussian series with long-range dependence: the sum of two successive values of fractional noise, plus white noise
//! (Cao and others, INFOCOM 2004, section III).

use super::fractional::{Fractional, variance};
use crate::random::Stream;

/// Parameters of a Gaussian series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    /// Parameter d of fractional differencing; the Hurst parameter is d + 1/2.
    pub(super) d: f64,
    /// Number of past values that determine the next one.
    pub(super) memory: usize,
    /// Fraction of the variance that is white noise.
    pub(super) noise: f64,
}

/// A Gaussian series with mean 0 and variance 1. The past values on which the first value depends are drawn just before
/// it, or earlier for many series together ([`begin_together`]).
#[derive(Debug)]
pub(in crate::traffic) struct Gaussian {
    shape: Shape,
    /// The fractional noise; `None` before the first value.
    fractional: Option<Fractional>,
    /// Factor of the sum of two successive values of the fractional noise. It gives the product the variance
    /// `1 - shape.noise`.
    scale: f64,
    /// Standard deviation of the white noise.
    noise: f64,
    /// Last value of the fractional noise.
    previous: f64,
    stream: Stream,
}

impl Gaussian {
    pub(super) fn new(shape: Shape, stream: Stream) -> Self {
        let Shape { d, noise, .. } = shape;
        let of_sum = variance(d) * (2.0 + 2.0 * d / (1.0 - d));
        let mut series = Self {
            shape,
            fractional: None,
            scale: libm::sqrt((1.0 - noise) / of_sum),
            noise: libm::sqrt(noise),
            previous: 0.0,
            stream,
        };
        if series.stream.is_shared() {
            // With a shared generator, a series draws its past at once, so that series draw in the order in which they
            // are created.
            begin_together(vec![&mut series]);
        }
        series
    }

    pub(super) fn is_shared(&self) -> bool {
        self.stream.is_shared()
    }

    /// Draws the next value.
    pub(super) fn next(&mut self) -> f64 {
        let Some(fractional) = &mut self.fractional else {
            begin_together(vec![self]);
            return self.next();
        };
        let value = fractional.next(&mut self.stream);
        let sum = value + self.previous;
        self.previous = value;
        self.scale * sum + self.noise * self.stream.normal()
    }
}

/// Draws the past values and the first `previous` of all series that have none yet. Series with equal parameters are
/// drawn together, so that the weights for each of thousands of values are computed only once.
pub(in crate::traffic) fn begin_together(mut series: Vec<&mut Gaussian>) {
    series.retain(|one| one.fractional.is_none());
    while let Some(first) = series.first() {
        let Shape { d, memory, .. } = first.shape;
        let alike = |one: &&mut Gaussian| (one.shape.d, one.shape.memory) == (d, memory);
        let (mut like, others): (Vec<_>, Vec<_>) = series.into_iter().partition(alike);
        let streams = like.iter_mut().map(|one| &mut one.stream);
        let begun = Fractional::begin(d, memory, &mut streams.collect::<Vec<_>>());
        for (one, mut fractional) in like.into_iter().zip(begun) {
            one.previous = fractional.next(&mut one.stream);
            one.fractional = Some(fractional);
        }
        series = others;
    }
}
