//! [`Time`], a point in simulated time, and [`Span`], a duration.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

use crate::PS_PER_S;

/// A point in simulated time: picoseconds since the start of the run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(u64);

/// A duration of simulated time in picoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A time later than any event, which means "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the point `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the point `seconds` after the start, to the nearest picosecond.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(Span::from_secs_f64(seconds).0)
    }

    /// Returns the picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }

    /// Returns the span from `earlier` to this time; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// The span of length zero.
    pub const ZERO: Self = Self(0);

    /// Returns a span of `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns a span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * (PS_PER_S / 1000))
    }

    /// Returns a span of `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * (PS_PER_S / 1_000_000))
    }

    /// Returns a span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// Returns a span of `seconds`, to the nearest picosecond; zero for a negative number or NaN, and
    /// the longest span if 64 bits are too few.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(libm::round(seconds * PS_PER_S as f64) as u64)
    }

    /// Returns the span in picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the span in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        // Without AVX-512, x86-64 has a conversion instruction for signed integers only; half of
        // the range is 106 days.
        let ps = if self.0 <= i64::MAX as u64 {
            self.0 as i64 as f64
        } else {
            Self::long_as_f64(self.0)
        };
        ps / PS_PER_S as f64
    }

    /// Converts picoseconds to floating point, for spans of more than 106 days. Not inlined: compilers would otherwise
    /// compute this for every span, in place of a branch, and slow all spans down.
    #[cold]
    #[inline(never)]
    fn long_as_f64(ps: u64) -> f64 {
        ps as f64
    }

    /// Returns this span minus `other`; zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(self.0 - span.0)
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Span {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Span::from_secs_f64(0.1), Span::from_millis(100));
        assert_eq!(Span::from_secs_f64(8e-6), Span::from_micros(8));
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
    }

    #[test]
    fn since_never_goes_negative() {
        let late = Time::from_ps(5);
        assert_eq!(Time::ZERO.since(late), Span::ZERO);
        assert_eq!(late.since(Time::ZERO), Span::from_ps(5));
    }
}
