//! Declarations of algorithms and slow starts: their names, texts, parameters and constructors.

use crate::parameter::{Parameter, Settings, SpecError, Variant};
use crate::quantity::Quantity;

/// Signal of congestion or spare capacity for an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Lost segments.
    Loss,
    /// Congestion marks (RFC 3168).
    Ecn,
    /// Round-trip times or one-way delays.
    Delay,
    /// Delivery rates.
    Rate,
    /// Feedback that routers write into headers.
    Router,
}

impl Signal {
    /// Returns the signal's name in `longhaul list` and in the documentation.
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

/// Requirements of an algorithm on the paths of its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathNeeds {
    /// The queue discipline that the algorithm is made for; `None` if it is made for any.
    pub queue: Option<QueueNeed>,
    /// Description of the algorithm's bursts, if they matter on fast paths.
    pub own_bursts: Option<OwnBursts>,
}

impl PathNeeds {
    /// No requirements: any path is suitable.
    pub const NONE: Self = Self {
        queue: None,
        own_bursts: None,
    };

    /// Returns the requirement of a queue of this `kind` on the path. Without such a queue, the algorithm still works,
    /// but not as intended.
    pub const fn queue(kind: &'static str) -> Self {
        let queue = QueueNeed {
            kind,
            without: None,
        };
        Self {
            queue: Some(queue),
            ..Self::NONE
        }
    }

    /// Returns the requirement of a queue of this `kind` on the path. `without` describes the effect of a path without
    /// such a queue.
    pub const fn router(kind: &'static str, without: &'static str) -> Self {
        let queue = QueueNeed {
            kind,
            without: Some(without),
        };
        Self {
            queue: Some(queue),
            ..Self::NONE
        }
    }

    /// Returns the requirement that the path is slow: on a fast path, the algorithm mistakes the queueing delay of its
    /// own bursts for congestion.
    pub const fn slow(own_bursts: OwnBursts) -> Self {
        Self {
            own_bursts: Some(own_bursts),
            ..Self::NONE
        }
    }
}

/// The queue discipline that an algorithm is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueNeed {
    /// Name of the discipline in scenario files.
    pub kind: &'static str,
    /// Text on what happens if no queue on the path has the discipline that the algorithm is made for; `None` for
    /// algorithms that send no requests to routers.
    pub without: Option<&'static str>,
}

/// Description of an algorithm that mistakes the queueing delay of its own bursts for congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnBursts {
    /// Text of a warning: if only a few flows of the algorithm share a path with a high rate, their throughput is low.
    pub effect: &'static str,
    /// True if pacing at one window per round trip prevents the queues that the algorithm's own bursts cause.
    pub pacing_helps: bool,
}

/// Declaration of an algorithm or a slow start, with its constructor. `T` is the type of the constructed state.
/// `longhaul list`, the scenario schema and the documentation are generated from the declarations.
#[derive(Debug)]
pub struct Entry<T> {
    /// Name in scenario files.
    pub kind: &'static str,
    /// Name in the literature.
    pub title: &'static str,
    /// Behaviour of the algorithm, in a few sentences.
    pub description: &'static str,
    /// Formulas of the algorithm: one rule for the window or the rate per line, with the names of parameters. `acked`
    /// is the number of segments that an acknowledgement covers.
    pub law: &'static [&'static str],
    /// RFC or paper that defines the algorithm.
    pub source: &'static str,
    /// Signals that change the algorithm's window or rate, in addition to timeouts.
    pub listens_to: &'static [Signal],
    /// Requirements on the paths of the algorithm's flows; a scenario that does not meet them causes a warning.
    pub needs_path: PathNeeds,
    /// Quantities of the algorithm's state that a traced flow records, for all variants and parameters together.
    pub state: &'static [Quantity],
    /// Variants of the algorithm; the first is the default.
    pub variants: &'static [Variant],
    /// Parameters of the algorithm.
    pub parameters: &'static [Parameter],
    pub(crate) build: fn(&Settings) -> Result<T, SpecError>,
}

impl<T> Entry<T> {
    /// Returns a copy of this entry with another constructor: `build`, which constructs a state of type `U`.
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
            needs_path: self.needs_path,
            state: self.state,
            variants: self.variants,
            parameters: self.parameters,
            build,
        }
    }

    /// Returns the checked settings of `variant`: the values `given`, and the defaults of all other parameters.
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
