//! Most acknowledgements move nothing but the window: no round begins, nothing is lost, the rate is below
//! those that are remembered, the round-trip time above the smallest. What else could happen is known
//! beforehand, from one acknowledgement that has been taken thoroughly to the next.

use longhaul_units::Time;

use super::{Bbr, CYCLE, State};
use crate::algorithms::bbr::{MIN_WINDOW, News, larger, segments, smaller};
use crate::facts::AckSample;
use crate::window::{Change, Window};

/// How long it is quiet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    /// Before this, neither the phase nor the smallest round-trip time is too old.
    until: Time,
    /// Between these, segments in flight do not end the phase.
    in_flight: (f64, f64),
    /// Where the window stops.
    target: f64,
}

impl Quiet {
    /// Whether so many segments in flight before an acknowledgement leave the phase as it is.
    #[inline]
    fn holds(&self, in_flight: f64) -> bool {
        let (low, high) = self.in_flight;
        low < in_flight && in_flight < high
    }
}

impl Bbr {
    /// Whether [`Self::take`] would do what [`Self::grow`] does.
    #[inline]
    pub(super) fn is_quiet(&self, ack: &AckSample, news: News) -> bool {
        let floor = self.bandwidth.ignores_below(self.meter.rounds);
        ack.now < self.quiet.until
            && !news.round_start
            && news.lost == 0
            && self.quiet.holds(segments(ack.in_flight + news.delivered))
            && ack.delivery_rate.is_none_or(|rate| rate.is_below(floor))
            && ack.rtt > self.min_rtt.map(|(rtt, _)| rtt)
    }

    /// Section 4.2.3 for a full pipe, outside the probe for the round-trip time.
    #[inline]
    pub(super) fn grow(&self, ack: &AckSample, news: News, window: &mut Window) {
        let newly_delivered = segments(news.delivered);
        let cwnd = if self.conserving {
            larger(window.cwnd(), segments(ack.in_flight) + newly_delivered)
        } else {
            let grown = window.cwnd() + newly_delivered;
            larger(smaller(grown, self.quiet.target), MIN_WINDOW)
        };
        window.set_cwnd(cwnd, Change::Avoidance);
    }

    /// How long it will be quiet: while the gain cycle goes on, until [`Self::advance_cycle`] or
    /// [`Self::update_min_rtt`] has something to do. The window may grow to `target`.
    pub(super) fn foresee(&self, now: Time, target: f64) -> Quiet {
        let (State::ProbeBw, Some((rtt, since))) = (self.state, self.min_rtt) else {
            return Quiet::default();
        };
        let (phase_end, expiry) = (self.phase_start + rtt, since + self.probe_rtt_interval);
        let (none, all) = (f64::NEG_INFINITY, f64::INFINITY);
        let gain = CYCLE[self.phase];
        let (until, in_flight) = if gain > 1.0 && now > phase_end {
            (expiry, (none, self.in_flight_at(gain)))
        } else if gain < 1.0 {
            (phase_end.min(expiry), (self.in_flight_at(1.0), all))
        } else {
            (phase_end.min(expiry), (none, all))
        };
        Quiet {
            until,
            in_flight,
            target,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::algorithms::bbr::twins::{Quick, Twins};
    use crate::algorithms::bbr::v1::ENTRY;
    use crate::parameter::Variant;

    impl Quick for Bbr {
        fn would_be_quiet(&self, ack: &AckSample, _window: &Window) -> bool {
            let news = self.meter.clone().read(ack);
            self.is_quiet(ack, news)
        }

        fn disturb(&mut self) {
            self.quiet = Quiet::default();
        }
    }

    fn twins() -> Twins<Bbr> {
        let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
        Twins::new(Bbr::new(&settings))
    }

    proptest! {
        /// An acknowledgement that was not taken thoroughly would have changed nothing but the window.
        #[test]
        fn quiet_acknowledgements_move_the_window_alone(
            steps in prop::collection::vec(
                (0_u64..3, 0_u8..40, 80_u64..260, 99_u64..180, 900.0..1_010.0_f64, 0_u8..60),
                1..300,
            ),
        ) {
            let mut twins = twins();
            for _ in 0..700 {
                // Until the pipe is full and drained.
                twins.ack(1, 0, 100, 100, 1_000.0);
            }
            for (delivered, lost, in_flight, rtt, rate, event) in steps {
                twins.ack(delivered, u64::from(lost == 0), in_flight, rtt, rate);
                twins.other_event(event);
                let [quick, thorough] = twins.states();
                prop_assert_eq!(quick, thorough);
            }
        }
    }

    /// Of 1000 acknowledgements a second on a path of 100 ms, thoroughly taken are the first of each
    /// phase and round, those of larger rates and those of the probes for the round-trip time.
    #[test]
    fn most_acknowledgements_are_quiet() {
        let mut twins = twins();
        for number in 0..20_000 {
            let rate = if number % 20 == 0 { 1_000.0 } else { 990.0 };
            let rtt = if number % 1_000 == 0 { 100 } else { 105 };
            // A probe fills the queue, and the phase after it drains it.
            let in_flight = if number % 800 < 100 { 140 } else { 104 };
            twins.ack(1, 0, in_flight, rtt, rate);
        }
        let [quick, thorough] = twins.states();
        assert_eq!(quick, thorough);
        assert!(twins.quiet > 15_000, "{}", twins.quiet);
    }
}
