//! Round-trip times and the retransmission timeout (spec 004a B.7.5, 004b B.4).

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// What a source knows of its flow's round trips, and its timer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RoundTrips {
    pub(crate) srtt: Span,
    /// Zero before the first sample.
    pub(crate) min: Span,
    /// Of the path, both ways.
    propagation: Span,
    rto: Span,
    /// When the timer expires.
    pub(crate) deadline: Time,
}

/// The timeout is this many times the propagation delay at least, and to begin with.
const LEAST: u64 = 2;
/// It is never more than this many times the propagation delay.
const MOST: u64 = 32;

impl RoundTrips {
    /// A flow that has measured nothing yet; routes from the topology give the first values.
    pub(crate) fn new(propagation: Span, allowance: Span) -> Self {
        Self {
            srtt: propagation + allowance,
            min: Span::ZERO,
            propagation,
            rto: propagation * LEAST,
            deadline: Time::NEVER,
        }
    }

    /// Takes a sample: every acknowledgement sets the timer anew.
    #[inline]
    pub(crate) fn measure(&mut self, sample: Span, gain: f64, now: Time) {
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
            .max(self.propagation * LEAST)
            .min(self.propagation * MOST);
        self.restart(now);
    }

    /// What the timer is set to.
    pub(crate) fn rto(&self) -> Span {
        self.rto
    }

    /// Sets the timer without a sample.
    pub(crate) fn restart(&mut self, now: Time) {
        self.deadline = now + self.rto;
    }

    /// The timer has expired: next time it takes twice as long.
    pub(crate) fn back_off(&mut self, now: Time) {
        self.rto = (self.rto * 2).min(self.propagation * MOST);
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
        let mut trips = RoundTrips::new(ms(40), Span::ZERO);
        trips.restart(Time::ZERO);
        assert_eq!(trips.deadline, Time::ZERO + ms(80));
        // 40 + (56 - 40)/8 = 42; 1.5 times that is less than 80.
        trips.measure(ms(56), GAIN, Time::ZERO + ms(56));
        assert_eq!((trips.srtt, trips.min), (ms(42), ms(56)));
        assert_eq!(trips.deadline, Time::ZERO + ms(56 + 80));
        // 42 + (202 - 42)/8 = 62; 93.
        trips.measure(ms(202), GAIN, Time::ZERO);
        assert_eq!((trips.srtt, trips.min), (ms(62), ms(56)));
        assert_eq!(trips.deadline, Time::ZERO + ms(93));
        let waits = [186, 372, 744, 1280, 1280];
        for wait in waits {
            trips.back_off(Time::ZERO);
            assert_eq!(trips.deadline, Time::ZERO + ms(wait));
        }
        trips.measure(ms(62), GAIN, Time::ZERO);
        assert_eq!(trips.deadline, Time::ZERO + ms(93));
    }
}
