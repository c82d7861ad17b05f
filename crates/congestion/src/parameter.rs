//! Parameters of algorithms: what they mean, what they may be, and the values chosen for one flow.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Documented differences between implementations of one algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// As its paper or RFC has it.
    #[default]
    Paper,
    /// As ns-2 has it.
    Ns2,
    /// As Linux has it.
    Linux,
    /// As NIST's MesoNet has it.
    Nist,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Paper, Self::Ns2, Self::Linux, Self::Nist];

    /// The name used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ns2 => "ns2",
            Self::Linux => "linux",
            Self::Nist => "nist",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub min: Bound<f64>,
    /// Largest value.
    pub max: Bound<f64>,
    /// Names of the values 0, 1, 2 and so on where they are choices; empty for quantities.
    pub names: &'static [&'static str],
}

impl Range {
    /// From `min` to `max`, both allowed.
    pub const fn closed(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Included(min),
            max: Bound::Included(max),
            names: &[],
        }
    }

    /// From `min` to `max`, neither allowed.
    pub const fn open(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Excluded(min),
            max: Bound::Excluded(max),
            names: &[],
        }
    }

    /// Above `min`, up to and including `max`.
    pub const fn above(min: f64, max: f64) -> Self {
        Self {
            min: Bound::Excluded(min),
            max: Bound::Included(max),
            names: &[],
        }
    }

    /// One of the named choices, each standing for its place in the list.
    pub const fn choice(names: &'static [&'static str]) -> Self {
        Self {
            names,
            ..Self::closed(0.0, names.len() as f64 - 1.0)
        }
    }

    /// The value that a choice's name stands for.
    pub fn value_of(&self, name: &str) -> Option<f64> {
        let place = self.names.iter().position(|&known| known == name);
        place.map(|place| place as f64)
    }

    /// Whether `value` is a number inside, and a whole one for a choice.
    pub fn contains(&self, value: f64) -> bool {
        let possible = self.names.is_empty() || value == libm::trunc(value);
        possible && value.is_finite() && (self.min, self.max).contains(&value)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.min {
            Bound::Included(min) => write!(f, "from {}", Number(min))?,
            Bound::Excluded(min) => write!(f, "above {}", Number(min))?,
            Bound::Unbounded => f.write_str("any number")?,
        }
        match self.max {
            Bound::Included(max) => write!(f, " to {}", Number(max))?,
            Bound::Excluded(max) => write!(f, " and below {}", Number(max))?,
            Bound::Unbounded => {}
        }
        if self.names.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.names.join(", "))
    }
}

/// A number, in exponential notation if it is very large or very small.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if magnitude >= 1e6 || (magnitude > 0.0 && magnitude < 1e-3) {
            write!(f, "{:e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

/// The value of a parameter that a scenario leaves out.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// Always the same.
    Fixed(f64),
    /// Computed from the variant and the parameters listed before this one.
    Derived {
        /// The rule in words, for help texts.
        rule: &'static str,
        /// The rule.
        value: fn(&Settings) -> f64,
    },
    /// A function of the window through these points. A number given instead stands for a constant.
    Points(&'static [Point]),
}

/// A window in segments, and a parameter's value at it.
pub type Point = (f64, f64);

/// One parameter of an algorithm or a slow start.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in scenario files.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Value where none is given.
    pub default: DefaultValue,
    /// Values accepted.
    pub allowed: Range,
    /// What it does.
    pub help: &'static str,
    /// Where name and default come from.
    pub source: &'static str,
}

impl Parameter {
    /// Checks the points of a function of the window. An error has the number of the point, from
    /// zero, and what is wrong with it.
    pub fn check_points(&self, points: &[Point]) -> Result<(), (usize, String)> {
        if points.is_empty() {
            return Err((0, "there has to be at least one".to_string()));
        }
        let mut before = 0.0;
        for (index, &(window, value)) in points.iter().enumerate() {
            if !(window.is_finite() && window > before) {
                let (window, before) = (Number(window), Number(before));
                let reason = format!("the window is {window}, but has to be above {before}");
                return Err((index, reason));
            }
            if !self.allowed.contains(value) {
                let (value, allowed, unit) = (Number(value), self.allowed, self.unit);
                let reason = format!("the value is {value}, but has to be {allowed} ({unit})");
                return Err((index, reason));
            }
            before = window;
        }
        Ok(())
    }
}

/// The variant and every parameter's value of one algorithm or slow start: given or default.
#[derive(Clone, Debug)]
pub struct Settings {
    kind: &'static str,
    variant: Variant,
    values: Vec<(&'static Parameter, f64)>,
    /// Parameters that are functions of the window.
    functions: Vec<(&'static Parameter, Vec<Point>)>,
}

impl Settings {
    /// Takes the given values, checks names and ranges, and fills in defaults.
    pub(crate) fn resolve(
        kind: &'static str,
        parameters: &'static [Parameter],
        variant: Variant,
        given: &[(String, f64)],
    ) -> Result<Self, SpecError> {
        check_names(kind, parameters, given)?;
        let mut settings = Self {
            kind,
            variant,
            values: Vec::with_capacity(parameters.len()),
            functions: Vec::new(),
        };
        for parameter in parameters {
            let found = given.iter().find(|(name, _)| name == parameter.name);
            let value = match (found, parameter.default) {
                (Some(&(_, value)), DefaultValue::Points(_)) => {
                    settings.functions.push((parameter, vec![(1.0, value)]));
                    value
                }
                (None, DefaultValue::Points(points)) => {
                    settings.functions.push((parameter, points.to_vec()));
                    continue;
                }
                (Some(&(_, value)), _) => value,
                (None, DefaultValue::Fixed(value)) => value,
                (None, DefaultValue::Derived { value, .. }) => value(&settings),
            };
            if !parameter.allowed.contains(value) {
                return Err(SpecError::OutOfRange {
                    kind,
                    name: parameter.name,
                    value,
                    unit: parameter.unit,
                    allowed: parameter.allowed,
                });
            }
            if !matches!(parameter.default, DefaultValue::Points(_)) {
                settings.values.push((parameter, value));
            }
        }
        Ok(settings)
    }

    /// Takes the given functions of the window.
    pub(crate) fn with_functions(
        mut self,
        given: &[(String, Vec<Point>)],
    ) -> Result<Self, SpecError> {
        let kind = self.kind;
        for (name, points) in given {
            let names = || self.functions.iter().map(|(parameter, _)| parameter.name);
            let Some(place) = names().position(|known| known == name) else {
                return Err(SpecError::UnknownParameter {
                    kind,
                    name: name.clone(),
                    nearest: longhaul_units::nearest(name, names()),
                    known: names().collect(),
                });
            };
            let (parameter, value) = &mut self.functions[place];
            if let Err((index, reason)) = parameter.check_points(points) {
                let (name, number) = (parameter.name, index + 1);
                return Err(SpecError::BadPoint {
                    kind,
                    name,
                    number,
                    reason,
                });
            }
            value.clone_from(points);
        }
        Ok(self)
    }

    /// The variant chosen.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Every parameter with its value, in the order of the table.
    pub fn values(&self) -> impl Iterator<Item = (&'static Parameter, f64)> + '_ {
        self.values.iter().copied()
    }

    /// Every parameter that is a function of the window, with its points.
    pub fn functions(&self) -> impl Iterator<Item = (&'static Parameter, &[Point])> + '_ {
        self.functions
            .iter()
            .map(|(parameter, points)| (*parameter, points.as_slice()))
    }

    /// The points of a parameter that the algorithm's table lists as a function of the window.
    pub(crate) fn points(&self, name: &str) -> &[Point] {
        let found = self
            .functions()
            .find(|(parameter, _)| parameter.name == name);
        found
            .expect("an algorithm reads only parameters of its table")
            .1
    }

    /// The value of a parameter that the algorithm's table lists.
    pub fn get(&self, name: &str) -> f64 {
        let found = self
            .values
            .iter()
            .find(|(parameter, _)| parameter.name == name);
        found
            .expect("an algorithm reads only parameters of its table")
            .1
    }

    /// The name of the chosen value of a parameter that is a choice.
    pub(crate) fn choice(&self, name: &str) -> &'static str {
        let mut values = self.values();
        let found = values.find(|(parameter, _)| parameter.name == name);
        let (parameter, value) = found.expect("an algorithm reads only parameters of its table");
        parameter.allowed.names[value as usize]
    }

    /// Refuses two values that cannot go together: `smaller` has to be below `larger`.
    pub(crate) fn require_below(
        &self,
        smaller: &'static str,
        larger: &'static str,
    ) -> Result<(), SpecError> {
        let (value, limit) = (self.get(smaller), self.get(larger));
        if value < limit {
            return Ok(());
        }
        Err(SpecError::NotBelow {
            kind: self.kind,
            name: smaller,
            value,
            other: larger,
            limit,
        })
    }
}

/// Refuses names that the table does not have, and names given twice.
fn check_names(
    kind: &'static str,
    parameters: &'static [Parameter],
    given: &[(String, f64)],
) -> Result<(), SpecError> {
    for (index, (name, _)) in given.iter().enumerate() {
        let names = || parameters.iter().map(|parameter| parameter.name);
        if !names().any(|known| known == name) {
            return Err(SpecError::UnknownParameter {
                kind,
                name: name.clone(),
                nearest: longhaul_units::nearest(name, names()),
                known: names().collect(),
            });
        }
        if given[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(SpecError::Repeated {
                kind,
                name: name.clone(),
            });
        }
    }
    Ok(())
}

/// Why a chosen algorithm or slow start cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// No such name in the registry.
    #[error("unknown {what} `{kind}`{}; known: {}", hint(.nearest), .known.join(", "))]
    UnknownKind {
        /// What the registry lists: `congestion control` or `slow start`.
        what: &'static str,
        /// The name given.
        kind: String,
        /// The name probably meant.
        nearest: Option<&'static str>,
        /// Every name.
        known: Vec<&'static str>,
    },
    /// The algorithm has no such variant.
    #[error("{kind}: no variant `{variant}`; known: {}", names(.known))]
    UnknownVariant {
        /// The algorithm.
        kind: &'static str,
        /// The variant given.
        variant: Variant,
        /// The variants that it has.
        known: &'static [Variant],
    },
    /// The algorithm has no such parameter.
    #[error("{kind}: unknown parameter `{name}`{}; {}", hint(.nearest), list(.known))]
    UnknownParameter {
        /// The algorithm or slow start.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The name probably meant.
        nearest: Option<&'static str>,
        /// Every parameter.
        known: Vec<&'static str>,
    },
    /// A parameter was given more than once.
    #[error("{kind}: parameter `{name}` is given twice")]
    Repeated {
        /// The algorithm or slow start.
        kind: &'static str,
        /// The parameter.
        name: String,
    },
    /// A value outside the parameter's range.
    #[error("{kind}: `{name}` is {}, but has to be {allowed} ({unit})", Number(*.value))]
    OutOfRange {
        /// The algorithm or slow start.
        kind: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The parameter's unit.
        unit: &'static str,
        /// What is allowed.
        allowed: Range,
    },
    /// A point of a function of the window that cannot be.
    #[error("{kind}: `{name}`, point {number}: {reason}")]
    BadPoint {
        /// The algorithm.
        kind: &'static str,
        /// The parameter.
        name: &'static str,
        /// Number of the point, from one.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A value that has to be below another parameter's.
    #[error("{kind}: `{name}` is {}, but has to be below `{other}`, {}", Number(*.value), Number(*.limit))]
    NotBelow {
        /// The algorithm or slow start.
        kind: &'static str,
        /// The parameter that is too large.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The parameter that bounds it.
        other: &'static str,
        /// That parameter's value.
        limit: f64,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn names(variants: &[Variant]) -> String {
    variants
        .iter()
        .map(|variant| variant.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn list(parameters: &[&str]) -> String {
    if parameters.is_empty() {
        return "it has none".to_string();
    }
    format!("known: {}", parameters.join(", "))
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
