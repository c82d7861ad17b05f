//! Smoothed round-trip time and retransmission timeout (NIST SP 500-282, chapter 5).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Round-trip times of a flow, and its retransmission timer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RttEstimator {
    pub(crate) srtt: Span,
    /// Zero before the first sample.
    pub(crate) min: Span,
    /// Round-trip propagation delay of the path.
    propagation: Span,
    rto: Span,
    /// When the timer expires.
    pub(crate) deadline: Time,
}

/// Minimum of the timeout and its first value, in round-trip propagation delays.
const MIN_RTO: u64 = 2;
/// Maximum of the timeout, in round-trip propagation delays.
const MAX_RTO: u64 = 32;

impl RttEstimator {
    /// Before the first sample: values follow from the propagation delay.
    pub(crate) fn new(propagation: Span, allowance: Span) -> Self {
        Self {
            srtt: propagation + allowance,
            min: Span::ZERO,
            propagation,
            rto: propagation * MIN_RTO,
            deadline: Time::NEVER,
        }
    }

    /// A sample: every acknowledgement restarts the timer.
    #[inline]
    pub(crate) fn on_sample(&mut self, sample: Span, gain: f64, now: Time) {
        // A span of less than 2^53 ps, two and a half hours, is exact as a number.
        let (old, new) = (self.srtt.as_ps() as f64, sample.as_ps() as f64);
        self.srtt = Span::from_ps((old + gain * (new - old)) as u64);
        self.min = if self.min == Span::ZERO {
            sample
        } else {
            self.min.min(sample)
        };
        let one_and_a_half = Span::from_ps(self.srtt.as_ps() + self.srtt.as_ps() / 2);
        self.rto = one_and_a_half
            .max(self.propagation * MIN_RTO)
            .min(self.propagation * MAX_RTO);
        self.restart(now);
    }

    /// The retransmission timeout.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// Restarts the timer without a sample.
    pub(crate) fn restart(&mut self, now: Time) {
        self.deadline = now + self.rto;
    }

    /// The timer has expired: doubles the timeout.
    pub(crate) fn back_off(&mut self, now: Time) {
        self.rto = (self.rto * 2).min(self.propagation * MAX_RTO);
        self.restart(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAIN: f64 = 0.125;

    #[test]
    fn timeouts_follow_the_smoothed_round_trip_within_two_and_32_propagation_delays() {
        let ms = Span::from_millis;
        let mut rtt = RttEstimator::new(ms(40), Span::ZERO);
        rtt.restart(Time::ZERO);
        assert_eq!(rtt.deadline, Time::ZERO + ms(80));
        // 40 + (56 - 40)/8 = 42; 1.5 times that is less than 80.
        rtt.on_sample(ms(56), GAIN, Time::ZERO + ms(56));
        assert_eq!((rtt.srtt, rtt.min), (ms(42), ms(56)));
        assert_eq!(rtt.deadline, Time::ZERO + ms(56 + 80));
        // 42 + (202 - 42)/8 = 62; 93.
        rtt.on_sample(ms(202), GAIN, Time::ZERO);
        assert_eq!((rtt.srtt, rtt.min), (ms(62), ms(56)));
        assert_eq!(rtt.deadline, Time::ZERO + ms(93));
        let waits = [186, 372, 744, 1280, 1280];
        for wait in waits {
            rtt.back_off(Time::ZERO);
            assert_eq!(rtt.deadline, Time::ZERO + ms(wait));
        }
        rtt.on_sample(ms(62), GAIN, Time::ZERO);
        assert_eq!(rtt.deadline, Time::ZERO + ms(93));
    }
}
