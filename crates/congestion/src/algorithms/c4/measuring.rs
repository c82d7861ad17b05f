//! Measurements of C4 (section 3), and their thresholds for congestion (section 5).

use longhaul_units::Span;

use super::flow::{DraftC4, State};
use super::laws::{MAX_BETA, MIN_MAX_RTT_S};
use crate::facts::{AckSample, Limit};

/// Weight of a new value in the averages of losses and marks.
const GAIN: f64 = 1.0 / 16.0;
/// Upper bound of the excess of an era's largest round-trip time over the running minimum, in seconds.
pub(super) const MAX_JITTER_S: f64 = 0.25;
/// Upper bound of the delay threshold, in seconds.
const MAX_DELAY_THRESHOLD_S: f64 = 0.025;

/// Ratio of the largest to the smallest round-trip time. Jitter is high if this ratio is exceeded, the largest
/// round-trip time exceeds 50 ms, and the rate is below 1 MB/s.
const HIGH_JITTER: f64 = 2.5;
const MIN_JITTERY_RTT_S: f64 = 0.05;
const MAX_JITTERY_BYTES_PER_S: f64 = 1e6;

/// Returns the sensitivity to congestion of a flow with this rate, from 0 to 1 (section 5.1).
pub(super) fn sensitivity(bytes_per_s: f64) -> f64 {
    const KNEE: f64 = 0.92;
    if bytes_per_s < 1e6 {
        (KNEE * (bytes_per_s - 5e4) / 9.5e5).max(0.0)
    } else {
        (KNEE + (1.0 - KNEE) * (bytes_per_s - 1e6) / 9e6).min(1.0)
    }
}

/// Returns the delay threshold in seconds (section 5.2): a round-trip time indicates congestion if it exceeds the
/// nominal maximum `max_rtt_s` by more than this threshold. `insensitivity` is 1 minus the flow's sensitivity.
pub(super) fn delay_threshold_s(insensitivity: f64, max_rtt_s: f64) -> f64 {
    let fraction = 1.0 / 16.0 + 3.0 / 16.0 * insensitivity;
    (fraction * max_rtt_s).min(MAX_DELAY_THRESHOLD_S)
}

/// Returns the smoothed loss rate that indicates congestion if exceeded (section 5.3). `insensitivity` is 1 minus the
/// flow's sensitivity.
pub(super) fn loss_threshold(insensitivity: f64) -> f64 {
    0.02 + 0.5 * insensitivity
}

/// Returns the smoothed loss rate after `delivered` delivered segments; `rate` is its value before (section 5.3).
pub(super) fn loss_rate_after_deliveries(rate: f64, delivered: u64) -> f64 {
    rate * (1.0 - GAIN).powi(delivered as i32)
}

/// Returns the smoothed loss rate after `lost` lost segments (section 5.3). `rate` is the smoothed loss rate before.
pub(super) fn loss_rate_after_losses(rate: f64, lost: u64) -> f64 {
    1.0 - (1.0 - rate) * (1.0 - GAIN).powi(lost as i32)
}

/// Returns the smoothed fraction of marks that indicates congestion if exceeded (section 5.4). `insensitivity` is 1
/// minus the flow's sensitivity.
pub(super) fn mark_threshold(insensitivity: f64) -> f64 {
    (1.0 + insensitivity) * 3.0 / 32.0
}

/// Returns the smoothed fraction of marks after an acknowledgement; `rate` is its value before (section 5.4). After an
/// acknowledgement with a mark it is 1; others lower it by a sixteenth.
pub(super) fn mark_rate_after(rate: f64, marked: bool) -> f64 {
    let share = f64::from(u8::from(marked));
    if share >= 0.5 {
        share
    } else {
        rate + GAIN * (share - rate)
    }
}

/// Returns true if the flow is slow and its round-trip times vary much. The state Initial may then have ended too early
/// (section 4.4.1; the bounds are those of picoquic's c4.c).
pub(super) fn is_jittery(bytes_per_s: f64, min_rtt_s: f64, max_rtt_s: f64) -> bool {
    let slow = bytes_per_s < MAX_JITTERY_BYTES_PER_S;
    slow && max_rtt_s > MIN_JITTERY_RTT_S && HIGH_JITTER * min_rtt_s < max_rtt_s
}

impl DraftC4 {
    pub(super) fn insensitivity(&self) -> f64 {
        1.0 - sensitivity(self.rate * self.segment_bytes)
    }

    pub(super) fn delay_threshold_s(&self) -> f64 {
        delay_threshold_s(self.insensitivity(), self.max_rtt_s)
    }

    pub(super) fn loss_threshold(&self) -> f64 {
        loss_threshold(self.insensitivity())
    }

    pub(super) fn mark_threshold(&self) -> f64 {
        mark_threshold(self.insensitivity())
    }

    pub(super) fn note_rtt(&mut self, rtt: Span) {
        let rtt_s = rtt.as_secs_f64();
        self.era.min_rtt_s = self.era.min_rtt_s.min(rtt_s);
        self.era.max_rtt_s = self.era.max_rtt_s.max(rtt_s);
        self.running_min_s = self.running_min_s.min(rtt_s);
        if self.max_rtt_s == 0.0 {
            self.max_rtt_s = rtt_s.max(MIN_MAX_RTT_S);
        }
        self.delay_excess_s = (rtt_s - self.max_rtt_s - self.delay_threshold_s()).max(0.0);
    }

    /// Raises the nominal rate to the rate sample of an acknowledgement, if this is larger (section 3.1), but not in a
    /// Recovery with congestion. Updates `used` and `largest` of the cycle in any case.
    pub(super) fn note_rate(&mut self, ack: &AckSample) {
        self.cycle.used |= ack.limit != Limit::Application;
        let Some(sample) = ack.delivery_rate else {
            return;
        };
        let sample = sample.per_second();
        self.cycle.largest = self.cycle.largest.max(sample);
        if !self.congested {
            self.rate = self.rate.max(sample);
        }
    }

    /// Updates the fractions of losses and marks; returns the number of newly delivered segments. Losses assumed at a
    /// timeout do not count (section 5.3.1), nor do losses detected in Recovery, since the lost packets were sent
    /// before Recovery.
    pub(super) fn count(&mut self, ack: &AckSample) -> f64 {
        let delivered = ack.delivered - self.delivered;
        let lost = ack.lost.saturating_sub(self.lost);
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        let counts = !self.timed_out && self.state != State::Recovery;
        self.timed_out = false;
        self.loss_rate = loss_rate_after_deliveries(self.loss_rate, delivered);
        if counts && lost > 0 {
            self.loss_rate = loss_rate_after_losses(self.loss_rate, lost);
        }
        self.mark_rate = mark_rate_after(self.mark_rate, ack.ecn_echo);
        delivered as f64
    }

    /// Returns the fraction of the nominal rate that congestion removes in Cruising (section 5.5.1); `None` without
    /// congestion. Delays count only in Probing, in Pushing, and in the Recovery after them or after Initial.
    pub(super) fn congestion(&self, ack: &AckSample) -> Option<f64> {
        if self.loss_rate > self.loss_threshold() {
            return Some(MAX_BETA);
        }
        let marks = self.mark_threshold();
        if ack.ecn_echo && self.mark_rate > marks {
            return Some((self.mark_rate / marks - 1.0).min(MAX_BETA));
        }
        let excess = self.delay_excess_s / self.delay_threshold_s();
        let counts = self.is_probing() || self.era.alpha_before > 1.0;
        (counts && ack.rtt.is_some() && excess > 0.0).then(|| excess.min(MAX_BETA))
    }

    /// Updates the estimates of round-trip times at the end of an era (section 3.2), unless the packets acknowledged in
    /// it were sent faster than the nominal rate.
    pub(super) fn end_era_rtts(&mut self) {
        let era = self.era;
        if era.alpha_before > 1.0 || era.max_rtt_s == 0.0 {
            return;
        }
        if era.min_rtt_s < self.running_min_s {
            self.running_min_s = era.min_rtt_s;
        } else {
            self.running_min_s = (7.0 * self.running_min_s + era.min_rtt_s) / 8.0;
        }
        let longest = era.max_rtt_s.min(self.running_min_s + MAX_JITTER_S);
        if longest > self.max_rtt_s {
            self.max_rtt_s = longest;
        } else {
            self.max_rtt_s = (7.0 * self.max_rtt_s + longest) / 8.0;
        }
        self.max_rtt_s = self.max_rtt_s.max(MIN_MAX_RTT_S);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that marks indicate congestion above a fraction of 3/16, the threshold of a slow flow (section 5.4).
    #[test]
    fn marks_count_above_their_threshold() {
        for (mark_rate, share) in [
            (0.1875, None),
            (0.210_937_5, Some(0.125)),
            (0.5, Some(MAX_BETA)),
        ] {
            let c4 = DraftC4 {
                mark_rate,
                ..DraftC4::default()
            };
            let ack = AckSample {
                ecn_echo: true,
                ..AckSample::ONE_SEGMENT
            };
            assert_eq!(c4.congestion(&ack), share);
        }
    }
}
