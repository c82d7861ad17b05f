//! Most acknowledgements change little of what version 3 knows: no round begins, nothing is lost or marked,
//! the rate is below those that are remembered, the round-trip time above the smallest. What else could
//! happen is known beforehand, from one acknowledgement that has been taken thoroughly to the next.

use longhaul_units::{Span, Time};

use super::model::{Flight, MIN_RTT_AGE};
use super::{Bbr3, State};
use crate::algorithms::bbr::{MIN_WINDOW, larger, segments, smaller};
use crate::facts::AckSample;
use crate::rate_sample::RateSample;
use crate::window::{Change, Window};

/// How long it is quiet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quiet {
    /// Before this, nothing that is remembered is too old.
    until: Time,
    /// Up to so many segments delivered or lost no round begins.
    answered: u64,
    /// With more segments than this in flight the phase goes on.
    in_flight: f64,
    /// A shorter round trip is news.
    rtt: Span,
    /// Where the window stops.
    bound: f64,
}

impl Bbr3 {
    /// Takes an acknowledgement if it is a quiet one; whether it was. [`Self::take`] would do the same.
    #[inline]
    pub(super) fn take_quietly(&mut self, ack: &AckSample, window: &mut Window) -> bool {
        let quiet = &self.quiet;
        let nothing_happens = ack.now < quiet.until
            && ack.delivered + ack.lost <= quiet.answered
            && ack.lost == self.meter.lost
            && !ack.ecn_echo
            && segments(ack.in_flight) > quiet.in_flight;
        let (Some(rate), Some(rtt)) = (ack.delivery_rate, ack.rtt) else {
            return false;
        };
        if !nothing_happens || rtt < quiet.rtt || !rate.is_below(self.rates[1]) {
            return false;
        }
        let flight = Flight::of(ack);
        let newly = segments(ack.delivered - self.meter.delivered);
        let aggregated = self
            .aggregation
            .with(ack.now, newly, self.bandwidth(), window.cwnd());
        let floor = self.aggregation.extra.ignores_below(self.meter.rounds);
        if aggregated.extra >= floor || !flight.is_below(self.bounds.long_in_flight) {
            return false;
        }
        if self.probe.sampling && self.is_too_high(flight) {
            return false;
        }
        let prior_in_flight = segments(ack.in_flight) + newly;
        self.probe
            .note_use_of_cwnd(ack, prior_in_flight, window.cwnd());
        if self.is_probing_up() && !self.goes_on_up(ack, newly, rate, window) {
            return false;
        }
        self.aggregation.go_on(aggregated);
        (self.meter.delivered, self.meter.in_flight) = (ack.delivered, ack.in_flight);
        self.marks.delivered += newly;
        self.signals.round_start = false;
        self.signals.raise(rate, flight);
        let cwnd = smaller(window.cwnd() + newly, self.quiet.bound);
        window.set_cwnd(larger(cwnd, MIN_WINDOW), Change::Avoidance);
        true
    }

    /// What an acknowledgement leads to while more is probed for, if that is no more than counting: whether
    /// it was.
    #[inline]
    fn goes_on_up(
        &mut self,
        ack: &AckSample,
        newly: f64,
        rate: RateSample,
        window: &Window,
    ) -> bool {
        if !self.is_held(ack, window) {
            return !self.full_now;
        }
        let acked = self.probe.up_acked + newly;
        if acked >= self.probe.up_per_segment {
            return false;
        }
        self.probe.up_acked = acked;
        self.reset_full(rate.per_second());
        true
    }

    /// How long it will be quiet: in the cycle of probing, until
    /// [`Self::advance_cycle`], [`super::model::MinRtt::update`] or the end of a round has something to do.
    /// The window may grow to `bound`.
    pub(super) fn foresee(&self, ack: &AckSample, bound: f64, window: &Window) -> Quiet {
        let (Some((rtt, since)), Some((_, min_since))) = (self.min_rtt.recent, self.min_rtt.rtt)
        else {
            return Quiet::default();
        };
        if self.min_rtt.expired {
            return Quiet::default();
        }
        let expiry = (since + self.probe_rtt_interval).min(min_since + MIN_RTT_AGE);
        let probe = self.probe.start + self.probe.wait;
        let none = f64::NEG_INFINITY;
        let (until, in_flight) = match self.state {
            State::Refill | State::Up => (expiry, none),
            State::Down | State::Cruise if self.is_time_to_probe(ack.now, window) => {
                return Quiet::default();
            }
            State::Down => (expiry.min(probe), self.cruises_at()),
            State::Cruise => (expiry.min(probe), none),
            State::Startup | State::Drain { .. } | State::ProbeRtt(_) => {
                return Quiet::default();
            }
        };
        Quiet {
            until,
            answered: self.meter.round_end.min(self.signals.round_end),
            in_flight,
            rtt,
            bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::algorithms::bbr::twins::{Quick, Twins};
    use crate::algorithms::bbr3::ENTRY;
    use crate::parameter::Variant;

    impl Quick for Bbr3 {
        fn would_be_quiet(&self, ack: &AckSample, window: &Window) -> bool {
            self.clone().take_quietly(ack, &mut window.clone())
        }

        fn disturb(&mut self) {
            self.quiet = Quiet::default();
        }
    }

    fn twins() -> Twins<Bbr3> {
        let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
        Twins::new(Bbr3::new(&settings))
    }

    /// The acknowledgement of a path of 1000 segments a second and 100 ms: some come together, few tell of
    /// the full rate. On a `lossy` one four of a hundred segments are lost for a fifth of each second.
    fn usual(twins: &mut Twins<Bbr3>, number: usize, lossy: bool) {
        let delivered = match number % 50 {
            0 => 3,
            1 | 2 => 0,
            _ => 1,
        };
        let often = number.is_multiple_of(20);
        let rate = if often { 1_000.0 } else { 990.0 };
        let rtt = if number.is_multiple_of(1_000) {
            100
        } else {
            105
        };
        let lost = lossy && number.is_multiple_of(25) && number % 1_000 < 200;
        let in_flight = twins.cwnd().min(104.0) as u64;
        twins.ack(delivered, lost.into(), in_flight, rtt, rate);
    }

    proptest! {
        /// An acknowledgement that was not taken thoroughly would have come to the same.
        #[test]
        fn quiet_acknowledgements_come_to_the_same(
            // Until the pipe is full and drained, and in all phases after that.
            before in 700_usize..9_000,
            lossy: bool,
            steps in prop::collection::vec(
                (
                    (0_u64..3, 0_u8..60, 80_u64..260),
                    (99_u64..180, 900.0..1_002.0_f64),
                    (0_u8..90, prop::bool::weighted(0.02)),
                ),
                1..400,
            ),
        ) {
            let mut twins = twins();
            (0..before).for_each(|number| usual(&mut twins, number, lossy));
            for ((delivered, lost, in_flight), (rtt, rate), (event, marked)) in steps {
                twins.mark(marked);
                twins.ack(delivered, u64::from(lost == 0), in_flight, rtt, rate);
                twins.other_event(event);
                let [quick, thorough] = twins.states();
                prop_assert_eq!(quick, thorough);
            }
        }
    }

    /// Thoroughly taken are the first of each round, those of larger rates, and those of probes.
    #[test]
    fn most_acknowledgements_are_quiet() {
        let mut twins = twins();
        (0..20_000).for_each(|number| usual(&mut twins, number, false));
        let [quick, thorough] = twins.states();
        assert_eq!(quick, thorough);
        assert!(twins.quiet > 12_000, "{}", twins.quiet);
    }
}
