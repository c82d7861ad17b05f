//! A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02), stored as a number of segments and an
//! interval.
//!
//! Most samples are only compared with a rate, which is usually larger. Two products suffice for the comparison; the
//! sample's rate in segments per second would cost two dependent divisions.

use longhaul_units::{PS_PER_S, Span};
use serde::{Deserialize, Serialize};

/// Number of delivered segments, and the duration of their delivery.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSample {
    segments: f64,
    interval: Span,
}

impl RateSample {
    /// Factor for comparisons of products. A product below another product times this factor is smaller by more than
    /// rounding errors.
    const CLEARLY: f64 = 1.0 - 1e-12;

    /// Creates a sample of `segments` delivered in `interval`, which must be longer than zero.
    #[inline]
    pub fn new(segments: f64, interval: Span) -> Self {
        Self { segments, interval }
    }

    /// Returns the number of segments delivered in [`Self::interval`].
    pub fn segments(self) -> f64 {
        self.segments
    }

    /// Returns the time in which the segments of the sample were delivered.
    pub fn interval(self) -> Span {
        self.interval
    }

    /// Returns the rate in segments per second.
    #[inline]
    pub fn per_second(self) -> f64 {
        self.segments / self.interval.as_secs_f64()
    }

    /// Returns true if [`Self::per_second`] is less than `rate`.
    #[inline]
    pub fn is_below(self, rate: f64) -> bool {
        self.is_clearly_below(rate, PS_PER_S as f64) || self.per_second() < rate
    }

    /// Returns the number of segments delivered in `time` at this rate.
    #[inline]
    pub fn segments_in(self, time: Span) -> f64 {
        self.per_second() * time.as_secs_f64()
    }

    /// Returns true if [`Self::segments_in`] is less than `segments`.
    #[inline]
    pub fn has_fewer_in(self, time: Span, segments: f64) -> bool {
        self.is_clearly_below(segments, picoseconds(time)) || self.segments_in(time) < segments
    }

    /// Returns true if the rate is below `segments` per `ps` picoseconds by a difference larger than rounding errors.
    #[inline]
    fn is_clearly_below(self, segments: f64, ps: f64) -> bool {
        self.segments * ps < segments * picoseconds(self.interval) * Self::CLEARLY
    }
}

/// Returns a duration in picoseconds. Goes through a signed integer, since processors have a conversion instruction
/// only for signed integers; intervals are far shorter than 106 days.
#[inline]
fn picoseconds(span: Span) -> f64 {
    span.as_ps() as i64 as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that comparisons of products, as in [`RateSample::is_below`], have the same results as comparisons of
        /// quotients, even if the values differ only by rounding errors.
        #[test]
        fn comparisons_are_those_of_the_quotients(
            segments in 1_u32..100_000,
            interval_ps in 1_u64..1_000_000_000_000_000,
            time_ps in 1_u64..1_000_000_000_000_000,
            ulps in -20_000_i64..20_000,
            scale in prop_oneof![Just(1.0), 0.1..10.0_f64],
        ) {
            let (interval, time) = (Span::from_ps(interval_ps), Span::from_ps(time_ps));
            let sample = RateSample::new(segments.into(), interval);
            let near = |value: f64| f64::from_bits(value.to_bits().wrapping_add_signed(ulps)) * scale;
            let rate = near(sample.per_second());
            prop_assert_eq!(sample.is_below(rate), sample.per_second() < rate);
            let bound = near(sample.segments_in(time));
            prop_assert_eq!(sample.has_fewer_in(time, bound), sample.segments_in(time) < bound);
        }
    }

    #[test]
    fn everything_is_below_infinity_and_nothing_below_zero() {
        let sample = RateSample::new(3.0, Span::from_millis(2));
        assert_eq!(sample.per_second(), 1500.0);
        assert!(sample.is_below(f64::INFINITY) && !sample.is_below(0.0));
        assert_eq!(sample.segments_in(Span::from_millis(4)), 6.0);
        let none = RateSample::new(0.0, Span::from_millis(2));
        assert!(!none.is_below(0.0) && !none.has_fewer_in(Span::from_millis(1), 0.0));
    }
}
