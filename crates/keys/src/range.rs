//! Ranges of numbers.

use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Range of the values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub min: Bound<f64>,
    /// Upper bound.
    pub max: Bound<f64>,
    /// Names of the values 0, 1, 2 and so on, if the parameter is a choice; empty for numbers.
    pub names: &'static [&'static str],
}

impl Range {
    /// Returns the range from `min` to `max`, both included.
    pub const fn closed(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Included(min),
            max: Bound::Included(max),
            names: &[],
        }
    }

    /// Returns the range from `min` to `max`, both excluded.
    pub const fn open(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Excluded(min),
            max: Bound::Excluded(max),
            names: &[],
        }
    }

    /// Returns the range of numbers greater than `min` and at most `max`.
    pub const fn above(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Excluded(min),
            max: Bound::Included(max),
            names: &[],
        }
    }

    /// Returns the range of a choice. Its values are the indices of `names`.
    pub const fn choice(names: &'static [&'static str]) -> Self {
        Self {
            names,
            ..Self::closed(0.0, names.len() as f64 - 1.0)
        }
    }

    /// Returns the value of a choice that has the name `name`; `None` if no value has this name.
    pub fn value_of(&self, name: &str) -> Option<f64> {
        let place = self.names.iter().position(|&known| known == name);
        place.map(|place| place as f64)
    }

    /// Returns true if `value` is in the range, and finite. If the value is a choice among names, the range contains
    /// only the indices of the names.
    pub fn contains(&self, value: f64) -> bool {
        let possible = self.names.is_empty() || value == libm::trunc(value);
        possible && value.is_finite() && (self.min, self.max).contains(&value)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.min {
            Bound::Included(min) => write!(f, "from {}", Plain(min))?,
            Bound::Excluded(min) => write!(f, "above {}", Plain(min))?,
            Bound::Unbounded => f.write_str("any number")?,
        }
        match self.max {
            Bound::Included(max) => write!(f, " to {}", Plain(max))?,
            Bound::Excluded(max) => write!(f, " and below {}", Plain(max))?,
            Bound::Unbounded => {}
        }
        if self.names.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.names.join(", "))
    }
}

/// A number, formatted for messages: in exponential notation if it is very large or very small.
#[derive(Clone, Copy, Debug)]
pub struct Plain(pub f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if magnitude >= 1e6 || (magnitude > 0.0 && magnitude < 1e-3) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_what_it_allows() {
        assert_eq!(Range::closed(2.0, 1e6).to_string(), "from 2 to 1e6");
        assert_eq!(Range::open(0.0, 1.0).to_string(), "above 0 and below 1");
        assert_eq!(Range::above(1e-12, 0.5).to_string(), "above 1e-12 to 0.5");
    }

    #[test]
    fn a_choice_is_a_number_with_a_name() {
        let range = Range::choice(&["red", "green", "blue"]);
        assert_eq!(range.value_of("green"), Some(1.0));
        assert_eq!(range.value_of("yellow"), None);
        assert!(range.contains(2.0) && !range.contains(1.5) && !range.contains(3.0));
        assert_eq!(range.to_string(), "from 0 to 2: red, green, blue");
    }

    #[test]
    fn only_numbers_inside_the_bounds_are_in_a_range() {
        let range = Range::above(0.0, 0.5);
        assert!(range.contains(0.5) && range.contains(f64::MIN_POSITIVE));
        for outside in [0.0, -1.0, 0.51, f64::NAN, f64::INFINITY] {
            assert!(!range.contains(outside), "{outside}");
        }
    }
}
