//! Fraction of marked segments in a round.

use serde::{Deserialize, Serialize};

use crate::facts::AckSample;

/// Numbers of segments delivered and marked so far, and the same numbers when the round began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MarkedShare {
    now: Counts,
    round_start: Counts,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Counts {
    delivered: u64,
    marked: u64,
}

impl MarkedShare {
    /// Processes an acknowledgement. Returns the number of newly reported segments, and the number of these that are
    /// marked. If acknowledgements count marks, their count is used (RFC 9768); otherwise, all segments are marked if
    /// the acknowledgement echoes a mark (RFC 8257 section 3.3).
    pub(crate) fn take(&mut self, ack: &AckSample) -> (u64, u64) {
        let newly = ack.delivered - self.now.delivered;
        let marked = match ack.marked {
            Some(marked) => marked - self.now.marked,
            None if ack.ecn_echo => newly,
            None => 0,
        };
        self.now.delivered = ack.delivered;
        self.now.marked += marked;
        (newly, marked)
    }

    /// Returns the number of segments delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.now.delivered
    }

    /// Begins a round, and returns the fraction of marked segments in the previous one; `None` if nothing was delivered
    /// in it.
    pub(crate) fn end_round(&mut self) -> Option<f64> {
        let before = std::mem::replace(&mut self.round_start, self.now);
        let segments = self.now.delivered - before.delivered;
        let marked = (self.now.marked - before.marked) as f64;
        (segments > 0).then(|| marked / segments as f64)
    }
}
