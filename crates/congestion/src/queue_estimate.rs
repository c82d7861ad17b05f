//! Estimate of a flow's segments in the queue, from round-trip times alone, as in Vegas.
//!
//! Brakmo and Peterson, JSAC 13(8), 1995, section III.B: the window times the fraction of a round's
//! smallest round-trip time that is queueing delay.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::facts::AckSample;

/// The samples of the current round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QueueEstimate {
    /// Smallest round-trip time of the current round.
    rtt: Option<Span>,
}

impl QueueEstimate {
    /// Adds an acknowledgement's sample.
    pub(crate) fn on_ack(&mut self, ack: &AckSample) {
        self.rtt = self.rtt.into_iter().chain(ack.rtt).min();
    }

    /// Ends a round: returns the number of queued segments, out of `flight`, if the round had a
    /// sample.
    pub(crate) fn end_round(&mut self, ack: &AckSample, flight: f64) -> Option<f64> {
        let rtt = self.rtt.take().or(ack.rtt)?;
        let queueing = 1.0 - ack.min_rtt.as_secs_f64() / rtt.as_secs_f64();
        Some(flight * queueing)
    }

    /// Forgets the current round.
    pub(crate) fn restart(&mut self) {
        self.rtt = None;
    }
}
