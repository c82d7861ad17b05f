//! Fraction of the window that a congestion signal removes, which may differ between marks and losses.

use serde::{Deserialize, Serialize};

use crate::facts::{Cause, Congestion};
use crate::parameter::{DefaultValue, Parameter, Range, Settings};

/// Parameter: the fraction of the window that a mark removes (Alternative Backoff with ECN, RFC 8511). An algorithm's
/// list of parameters must contain it after `decrease`, its default.
pub(crate) const ECN_DECREASE: Parameter = Parameter {
    name: "ecn_decrease",
    unit: "fraction of the window",
    default: DefaultValue::SameAs("decrease"),
    allowed: Range::open(0.0, 1.0),
    help: "Part of the window removed at a congestion mark in congestion avoidance; 0.2 is standard TCP's and 0.15 CUBIC's \
        with ABE.",
    source: "RFC 8511 sections 3 and 3.1, one minus beta_ecn",
};

/// Fractions of the window that a loss and a mark remove.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Backoff {
    pub loss: f64,
    ecn: f64,
}

impl Backoff {
    /// Reads the parameters `decrease` and `ecn_decrease`.
    pub fn new(settings: &Settings) -> Self {
        Self {
            loss: settings.get("decrease"),
            ecn: settings.get(ECN_DECREASE.name),
        }
    }

    /// Returns a backoff that removes the fraction `loss` at every signal.
    pub fn always(loss: f64) -> Self {
        Self { loss, ecn: loss }
    }

    /// Returns the fraction of the window that a signal removes. In slow start, a mark removes the same fraction as a
    /// loss (RFC 8511 section 4).
    pub fn at(&self, event: &Congestion) -> f64 {
        match event.cause {
            Cause::Ecn if !event.in_slow_start => self.ecn,
            Cause::Ecn | Cause::Loss | Cause::Nak => self.loss,
        }
    }
}
