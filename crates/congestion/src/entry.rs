//! Declarations of algorithms and slow starts: names, texts, parameters and constructors.

use crate::parameter::{Parameter, Settings, SpecError, Variant};

/// Signal of congestion, or of spare capacity, to an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Lost segments.
    Loss,
    /// Congestion marks (RFC 3168).
    Ecn,
    /// Round-trip times or one-way delays.
    Delay,
    /// Rates at which segments are delivered.
    Rate,
    /// Feedback that routers write into headers.
    Router,
}

impl Signal {
    /// Returns the name in `longhaul list` and in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Ecn => "ECN",
            Self::Delay => "delay",
            Self::Rate => "rate",
            Self::Router => "routers",
        }
    }
}

/// The declaration of an algorithm or a slow start, which builds a `T`. `longhaul list`, the scenario
/// schema and the documentation are made from these.
#[derive(Debug)]
pub struct Entry<T> {
    /// Name in scenario files.
    pub kind: &'static str,
    /// Name in the literature.
    pub title: &'static str,
    /// Behaviour of the algorithm, in a few sentences.
    pub description: &'static str,
    /// Law of the window or the rate: one rule or formula a line, in names of parameters. `acked` counts the
    /// segments that an acknowledgement tells of.
    pub law: &'static [&'static str],
    /// RFC or paper that defines it.
    pub source: &'static str,
    /// Signals that change its window or its rate, beside timeouts.
    pub listens_to: &'static [Signal],
    /// Variants that it has; the first is the default.
    pub variants: &'static [Variant],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    pub(crate) build: fn(&Settings) -> Result<T, SpecError>,
}

impl<T> Entry<T> {
    /// Returns the same declaration with another constructor, `build`.
    pub(crate) const fn building<U>(
        &self,
        build: fn(&Settings) -> Result<U, SpecError>,
    ) -> Entry<U> {
        Entry {
            kind: self.kind,
            title: self.title,
            description: self.description,
            law: self.law,
            source: self.source,
            listens_to: self.listens_to,
            variants: self.variants,
            parameters: self.parameters,
            build,
        }
    }

    /// Checks the variant and the given parameter values and fills in the defaults.
    pub fn settings(
        &self,
        variant: Variant,
        given: &[(String, f64)],
    ) -> Result<Settings, SpecError> {
        if !self.variants.contains(&variant) {
            let (kind, known) = (self.kind, self.variants);
            return Err(SpecError::UnknownVariant {
                kind,
                variant,
                known,
            });
        }
        Settings::resolve(self.kind, self.parameters, variant, given)
    }
}
