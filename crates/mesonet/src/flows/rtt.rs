//! Smoothed round-trip time and retransmission timer of a flow (NIST SP 500-282, chapter 5).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Round-trip times of a flow, and its retransmission timer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RttEstimator {
    pub(crate) srtt: Span,
    /// Smallest measured round-trip time; zero before the first sample.
    pub(crate) min: Span,
    /// Round-trip propagation delay of the path.
    propagation: Span,
    rto: Span,
    /// Time at which the retransmission timer expires; the SYN timer while the flow is connecting.
    pub(crate) deadline: Time,
}

/// Minimum of the timeout, in round-trip propagation delays. Without a sample of the handshake, the
/// first timeout is the product of this number and the initial smoothed round-trip time, but not
/// above the maximum.
const MIN_RTO: u64 = 2;
/// Maximum of the timeout, in round-trip propagation delays.
const MAX_RTO: u64 = 32;

impl RttEstimator {
    /// Creates the estimator of a flow. Before the first sample, the smoothed round-trip time is
    /// the propagation delay plus `allowance` for queues (EB_DELAY in NIST SP 500-282, chapter 3).
    /// It determines the first timeout.
    pub(crate) fn new(propagation: Span, allowance: Span) -> Self {
        let srtt = propagation + allowance;
        Self {
            srtt,
            min: Span::ZERO,
            propagation,
            rto: (srtt * MIN_RTO).min(propagation * MAX_RTO),
            deadline: Time::NEVER,
        }
    }

    /// Processes a round-trip time `sample`, and restarts the retransmission timer. `gain` is the
    /// weight of the sample in the smoothed round-trip time.
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
        self.update_timeout();
        self.restart(now);
    }

    /// Sets the smoothed and the minimum round-trip time to the first sample, that of the handshake
    /// (RFC 6298 section 2.2).
    pub(crate) fn on_handshake(&mut self, sample: Span) {
        (self.srtt, self.min) = (sample, sample);
        self.update_timeout();
    }

    #[inline]
    fn update_timeout(&mut self) {
        let one_and_a_half = Span::from_ps(self.srtt.as_ps() + self.srtt.as_ps() / 2);
        self.rto = one_and_a_half
            .max(self.propagation * MIN_RTO)
            .min(self.propagation * MAX_RTO);
    }

    /// Returns the retransmission timeout.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// Restarts the retransmission timer at `now`, with the current timeout.
    pub(crate) fn restart(&mut self, now: Time) {
        self.deadline = now + self.rto;
    }

    /// Doubles the timeout, up to its maximum, after the timer has expired. Restarts the timer.
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
    fn an_allowance_for_queues_makes_the_first_timeout_longer_and_no_later_one() {
        let ms = Span::from_millis;
        let mut rtt = RttEstimator::new(ms(40), ms(100));
        assert_eq!((rtt.srtt, rtt.rto()), (ms(140), ms(280)));
        for _ in 0..100 {
            rtt.on_sample(ms(40), GAIN, Time::ZERO);
        }
        assert_eq!(rtt.rto(), ms(80));
        // The timeout is at most 32 propagation delays.
        assert_eq!(RttEstimator::new(ms(5), ms(100)).rto(), ms(160));
    }

    #[test]
    fn the_handshake_is_the_first_sample() {
        let ms = Span::from_millis;
        let mut rtt = RttEstimator::new(ms(40), ms(100));
        rtt.on_handshake(ms(200));
        assert_eq!((rtt.srtt, rtt.min, rtt.rto()), (ms(200), ms(200), ms(300)));
    }

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
