//! What C4 measures (section 3), and from where on it takes it for congestion (section 5).

use longhaul_units::Span;

use super::states::State;
use super::{C4, MAX_BETA, MIN_MAX_RTT_S};
use crate::facts::{AckSample, Limit};

/// Gain of the averages of losses and marks.
const GAIN: f64 = 1.0 / 16.0;
/// Longest jitter that counts, and longest threshold of a delay: seconds.
const MAX_JITTER_S: f64 = 0.25;
const MAX_DELAY_THRESHOLD_S: f64 = 0.025;

/// Section 5.1: how readily a flow of so many bytes per second answers congestion.
pub(super) fn sensitivity(bytes_per_s: f64) -> f64 {
    const KNEE: f64 = 0.92;
    if bytes_per_s < 1e6 {
        (KNEE * (bytes_per_s - 5e4) / 9.5e5).max(0.0)
    } else {
        (KNEE + (1.0 - KNEE) * (bytes_per_s - 1e6) / 9e6).min(1.0)
    }
}

impl C4 {
    pub(super) fn insensitivity(&self) -> f64 {
        1.0 - sensitivity(self.rate * self.segment_bytes)
    }

    /// Section 5.2.
    pub(super) fn delay_threshold_s(&self) -> f64 {
        let fraction = 1.0 / 16.0 + 3.0 / 16.0 * self.insensitivity();
        (fraction * self.max_rtt_s).min(MAX_DELAY_THRESHOLD_S)
    }

    /// Section 5.3.
    pub(super) fn loss_threshold(&self) -> f64 {
        0.02 + 0.5 * self.insensitivity()
    }

    /// Section 5.4.
    pub(super) fn mark_threshold(&self) -> f64 {
        (1.0 + self.insensitivity()) * 3.0 / 32.0
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

    /// Section 3.1.
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

    /// Newly delivered segments, after losses and marks have been counted. What a timeout took for lost
    /// says nothing of the path (section 5.3.1), nor do in Recovery losses of what was sent before.
    pub(super) fn count(&mut self, ack: &AckSample) -> f64 {
        let delivered = (ack.delivered - self.delivered) as f64;
        let lost = ack.lost.saturating_sub(self.lost) as i32;
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        let counts = !self.timed_out && self.state != State::Recovery;
        self.timed_out = false;
        self.loss_rate *= (1.0 - GAIN).powi(delivered as i32);
        if counts && lost > 0 {
            self.loss_rate = 1.0 - (1.0 - self.loss_rate) * (1.0 - GAIN).powi(lost);
        }
        let share = f64::from(u8::from(ack.ecn_echo));
        if share >= 0.5 {
            self.mark_rate = share;
        } else {
            self.mark_rate += GAIN * (share - self.mark_rate);
        }
        delivered
    }

    /// The share of the rate that congestion removes (section 5.5), if there is any.
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

    /// Section 3.2.
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
