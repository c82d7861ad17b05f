//! Estimate of the number of a flow's segments in the queue, from round-trip times only, as in Vegas.
//!
//! Brakmo and Peterson, JSAC 13(8), 1995, section III.B: the window times the queueing delay, divided by the smallest
//! round-trip time of the round.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::facts::AckSample;

/// Estimator of the number of a flow's segments in the queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QueueEstimate {
    /// Smallest round-trip time of the current round.
    rtt: Option<Span>,
}

impl QueueEstimate {
    /// Adds the round-trip sample of an acknowledgement.
    pub(crate) fn on_ack(&mut self, ack: &AckSample) {
        self.rtt = self.rtt.into_iter().chain(ack.rtt).min();
    }

    /// Ends a round. Returns the number of segments in the queue, out of `flight` segments. If the round had no sample,
    /// uses that of `ack`; returns `None` if `ack` has none either.
    pub(crate) fn end_round(&mut self, ack: &AckSample, flight: f64) -> Option<f64> {
        let rtt = self.rtt.take().or(ack.rtt)?;
        let queueing = 1.0 - ack.min_rtt.as_secs_f64() / rtt.as_secs_f64();
        Some(flight * queueing)
    }

    /// Discards the samples of the current round.
    pub(crate) fn restart(&mut self) {
        self.rtt = None;
    }
}
