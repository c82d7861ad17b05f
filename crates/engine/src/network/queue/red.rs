//! Random early detection, to be written.

use longhaul_units::{Rate, Span};

use super::{Arrival, Capacity, Verdict};
use crate::random::Stream;

/// RED as a user describes it: what is absent is configured automatically from the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParameters {
    /// Hard limit.
    pub limit: Capacity,
}

impl RedParameters {
    /// Fills in what depends on the link.
    pub fn resolve(&self, _rate: Rate, _delay: Span) -> RedConfig {
        RedConfig { limit: self.limit }
    }
}

/// RED, resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Hard limit.
    pub limit: Capacity,
}

/// How `max_p` adapts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {}

/// RED at work.
#[derive(Clone, Debug)]
pub struct Red {}

impl Red {
    pub(crate) fn new(_config: RedConfig, _stream: Stream) -> Self {
        Self {}
    }
    pub(crate) fn on_arrival(&mut self, _arrival: &Arrival) -> Verdict {
        Verdict::Accept
    }
    pub(crate) fn average_pkts(&self) -> f64 {
        0.0
    }
    pub(crate) fn max_p(&self) -> f64 {
        0.0
    }
}
