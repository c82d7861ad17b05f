//! Parameters of algorithms: their meanings, their allowed values, and the values chosen for one flow.

use std::fmt;

use longhaul_keys::Plain;
pub use longhaul_keys::Range;
use longhaul_units::suggestion;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Variant of an algorithm: the implementation that it follows in detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// The algorithm of the paper or RFC.
    #[default]
    Paper,
    /// The implementation in ns-2.
    Ns2,
    /// The implementation in Linux 2.6.22; ns-2 can also run its modules.
    Linux2_6_22,
    /// The implementation in Linux 6.18.
    Linux6_18,
    /// The implementation in NIST's MesoNet.
    Nist,
    /// The implementation in picoquic, a QUIC stack.
    Picoquic,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 6] = [
        Self::Paper,
        Self::Ns2,
        Self::Linux2_6_22,
        Self::Linux6_18,
        Self::Nist,
        Self::Picoquic,
    ];

    /// Returns the name used in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ns2 => "ns2",
            Self::Linux2_6_22 => "linux-2.6.22",
            Self::Linux6_18 => "linux-6.18",
            Self::Nist => "nist",
            Self::Picoquic => "picoquic",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Default of a parameter, for scenarios that do not give its value.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// A constant default value.
    Fixed(f64),
    /// A value computed from the variant and from parameters listed before this one.
    Derived {
        /// Description of the computation, for help texts.
        rule: &'static str,
        /// Function that computes the value.
        value: fn(&Settings) -> f64,
    },
    /// The value of another parameter, listed before this one. A resolved scenario contains a parameter of this kind
    /// only if the user has given its value.
    SameAs(&'static str),
    /// A function of the window, given by these points. A single number in a scenario replaces it by a constant.
    Points(&'static [Point]),
}

/// A point of a parameter that is a function of the window: a window in segments, and the parameter's value.
pub type Point = (f64, f64);

/// One parameter of an algorithm or a slow start.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in scenario files.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Value if the scenario gives none.
    pub default: DefaultValue,
    /// Range of accepted values.
    pub allowed: Range,
    /// Meaning of the parameter.
    pub help: &'static str,
    /// Source of the parameter's name and default.
    pub source: &'static str,
}

impl Parameter {
    /// Returns the unit to print after a number in a message; empty for plain numbers, whose unit is 1.
    pub fn unit_in_words(&self) -> String {
        in_words(self.unit)
    }

    /// Checks the points of a function of the window. An error consists of the number of the point, counted from zero,
    /// and a description of the fault.
    pub fn check_points(&self, points: &[Point]) -> Result<(), (usize, String)> {
        if points.is_empty() {
            return Err((0, "expected at least one point".to_string()));
        }
        let mut before = 0.0;
        for (index, &(window, value)) in points.iter().enumerate() {
            if !(window.is_finite() && window > before) {
                let (window, before) = (Plain(window), Plain(before));
                let reason = format!("expected a window above {before}, found {window}");
                return Err((index, reason));
            }
            if !self.allowed.contains(value) {
                let (value, allowed, unit) = (Plain(value), self.allowed, self.unit_in_words());
                let reason = format!("expected a value {allowed}{unit}, found {value}");
                return Err((index, reason));
            }
            before = window;
        }
        Ok(())
    }
}

/// Variant of an algorithm or slow start, and the value of every parameter. Without a given value, it is the default.
#[derive(Clone, Debug)]
pub struct Settings {
    kind: &'static str,
    variant: Variant,
    values: Vec<(&'static Parameter, f64)>,
    /// Parameters that are functions of the window, with their points.
    functions: Vec<(&'static Parameter, Vec<Point>)>,
}

impl Settings {
    /// Resolves the given values: checks names and ranges, and fills in defaults.
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
                (None, DefaultValue::SameAs(other)) => settings.get(other),
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

    /// Replaces functions of the window by the given ones, after checking these.
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

    /// Returns the chosen variant of the algorithm.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Returns every parameter that is not a function of the window, with its value, in the order of the declaration.
    pub fn values(&self) -> impl Iterator<Item = (&'static Parameter, f64)> + '_ {
        self.values.iter().copied()
    }

    /// Returns every parameter that is a function of the window, with its points.
    pub fn functions(&self) -> impl Iterator<Item = (&'static Parameter, &[Point])> + '_ {
        self.functions
            .iter()
            .map(|(parameter, points)| (*parameter, points.as_slice()))
    }

    /// Returns the points of a parameter that is a function of the window; the algorithm must list this parameter.
    pub(crate) fn points(&self, name: &str) -> &[Point] {
        let found = self
            .functions()
            .find(|(parameter, _)| parameter.name == name);
        found
            .expect("an algorithm reads only parameters of its table")
            .1
    }

    /// Returns the value of a parameter; the algorithm must list this parameter, and not as a function of the window.
    pub fn get(&self, name: &str) -> f64 {
        let found = self
            .values
            .iter()
            .find(|(parameter, _)| parameter.name == name);
        found
            .expect("an algorithm reads only parameters of its table")
            .1
    }

    /// Returns the name of the chosen value of a parameter with named values.
    pub(crate) fn choice(&self, name: &str) -> &'static str {
        let mut values = self.values();
        let found = values.find(|(parameter, _)| parameter.name == name);
        let (parameter, value) = found.expect("an algorithm reads only parameters of its table");
        parameter.allowed.names[value as usize]
    }

    /// Returns an error if the value of the parameter `smaller` is not below the value of the parameter `larger`.
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

/// Returns an error for names that are not in `parameters`, and for names given twice.
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

/// Reason why an algorithm or slow start cannot be built as requested.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SpecError {
    /// The registry has no such name.
    #[error(
        "unknown {what} `{kind}`{}",
        suggestion(kind, known, Some(list_of(what)))
    )]
    UnknownKind {
        /// Kind of registry: `congestion control` or `slow start`.
        what: &'static str,
        /// Unknown name.
        kind: String,
        /// All names in the registry.
        known: Vec<&'static str>,
    },
    /// The algorithm has no such variant.
    #[error("{kind}: no variant `{variant}`; known: {}", names(.known))]
    UnknownVariant {
        /// Name of the algorithm.
        kind: &'static str,
        /// The unknown variant.
        variant: Variant,
        /// Variants that the algorithm has.
        known: &'static [Variant],
    },
    /// The algorithm has no such parameter.
    #[error("{kind}: unknown parameter `{name}`{}", of_parameters(name, known))]
    UnknownParameter {
        /// Name of the algorithm or slow start.
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// All parameters of the algorithm or slow start.
        known: Vec<&'static str>,
    },
    /// A parameter was given more than once.
    #[error("{kind}: parameter `{name}` is given twice")]
    Repeated {
        /// Name of the algorithm or slow start.
        kind: &'static str,
        /// Name of the parameter.
        name: String,
    },
    /// A value is outside the range of its parameter.
    #[error("{kind}: expected `{name}` {allowed}{}, found {}", in_words(.unit), Plain(*.value))]
    OutOfRange {
        /// Name of the algorithm or slow start.
        kind: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// The rejected value.
        value: f64,
        /// The parameter's unit.
        unit: &'static str,
        /// Range of allowed values.
        allowed: Range,
    },
    /// Values are allowed individually, but not in combination.
    #[error("{kind}: {reason}")]
    Together {
        /// Name of the algorithm.
        kind: &'static str,
        /// Text that names the values and the allowed combinations.
        reason: &'static str,
    },
    /// A point of a function of the window is invalid.
    #[error("{kind}: `{name}`, point {number}: {reason}")]
    BadPoint {
        /// Name of the algorithm.
        kind: &'static str,
        /// Name of the parameter.
        name: &'static str,
        /// Number of the invalid point, counted from one.
        number: usize,
        /// Reason why the point is invalid.
        reason: String,
    },
    /// The value of a parameter is too large: it must be below the value of another parameter.
    #[error("{kind}: expected `{name}` below `{other}` ({}), found {}", Plain(*.limit), Plain(*.value))]
    NotBelow {
        /// Name of the algorithm or slow start.
        kind: &'static str,
        /// Name of the parameter that is too large.
        name: &'static str,
        /// Value of the parameter that is too large.
        value: f64,
        /// Name of the parameter whose value must be larger.
        other: &'static str,
        /// Value of the parameter `other`.
        limit: f64,
    },
}

/// Returns a unit to print after a number in a message; empty for plain numbers, whose unit is 1.
fn in_words(unit: &str) -> String {
    if unit == "1" {
        return String::new();
    }
    format!(" ({unit})")
}

/// Returns the command that lists the entries of a registry; `what` is `congestion control` or `slow start`.
fn list_of(what: &str) -> &'static str {
    match what {
        "slow start" => "longhaul list slow-starts",
        _ => "longhaul list algorithms",
    }
}

fn names(variants: &[Variant]) -> String {
    variants
        .iter()
        .map(|variant| variant.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn of_parameters(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "; it has none".to_string();
    }
    suggestion(name, known, None)
}
