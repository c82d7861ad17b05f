//! Maximum rate at which a path delivers segments, measured over more than a millisecond. picoquic uses it at the
//! start of a connection (picoquic, August 2026: frames.c, `picoquic_estimate_max_path_bandwidth`; c4.c,
//! `c4_apply_rate_and_cwin`; cc_common.c, `picoquic_cc_update_target_cwin_estimation`).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::facts::AckSample;

/// Time that the interval of a rate has to exceed (`PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MIN`).
const SHORTEST: Span = Span::from_millis(1);

/// Maximum rate so far, and the acknowledgement from which the next rate is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PeakRate {
    per_s: f64,
    since: Option<DeliveryMark>,
}

/// Number of delivered segments, and the send and acknowledgement times of the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct DeliveryMark {
    delivered: u64,
    at: Time,
    sent: Time,
}

impl PeakRate {
    /// Updates the maximum with the rate at an acknowledgement: the lower of the sending rate and the delivery rate.
    /// Both are measured since the last acknowledgement that gave a rate, or since the first with a sample. No rate is
    /// given by an acknowledgement without a round-trip sample, of a segment sent earlier, or too soon after the last.
    pub(crate) fn note(&mut self, ack: &AckSample) {
        // Samples that would have begun before time zero are impossible and are ignored.
        let possible = |&rtt: &Span| rtt <= ack.now.since(Time::ZERO);
        let Some(rtt) = ack.rtt.filter(possible) else {
            return;
        };
        let now = DeliveryMark {
            delivered: ack.delivered,
            at: ack.now,
            sent: ack.now - rtt,
        };
        let Some(before) = self.since else {
            self.since = Some(now);
            return;
        };
        if now.sent < before.sent || now.at <= before.at + SHORTEST {
            return;
        }
        let took = now.at.since(before.at).max(now.sent.since(before.sent));
        let segments = (now.delivered - before.delivered) as f64;
        self.per_s = self.per_s.max(segments / took.as_secs_f64());
        self.since = Some(now);
    }

    /// Returns the maximum rate, in segments per second.
    pub(crate) fn per_s(self) -> f64 {
        self.per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the maximum rate, in segments per second, that [`PeakRate`] finds in the acknowledgements of `segments`.
    /// Each segment has a send time and an acknowledgement time, in milliseconds.
    fn peak(segments: &[(u64, u64)]) -> f64 {
        let mut peak = PeakRate::default();
        for (&(sent, at), delivered) in segments.iter().zip(1..) {
            let ack = AckSample {
                now: Time::ZERO + Span::from_millis(at),
                rtt: Some(Span::from_millis(at - sent)),
                delivered,
                ..AckSample::ONE_SEGMENT
            };
            peak.note(&ack);
        }
        peak.per_s()
    }

    /// Checks that a rate is measured over the longer of two intervals: between transmissions, and between
    /// acknowledgements. An acknowledgement only 1 ms after the last one gives no rate.
    #[test]
    fn the_longer_interval_counts() {
        assert_eq!(peak(&[(0, 100), (2, 105), (4, 110)]), 200.0);
        assert_eq!(peak(&[(0, 100), (2, 101), (8, 103)]), 250.0);
        assert_eq!(peak(&[(0, 100), (2, 105), (4, 107)]), 500.0);
        assert_eq!(peak(&[(0, 100)]), 0.0);
    }
}
