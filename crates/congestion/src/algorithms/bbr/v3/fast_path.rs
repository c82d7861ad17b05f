//! Fast path of the draft's rules, in ProbeBW, for acknowledgements that change little of the model: no round begins,
//! nothing is lost or marked, the rate is below the maximum of the current cycle, and the round-trip time is not below
//! the minimum. A full update computes the bounds of time, rounds, round-trip time and segments in flight. The fast
//! path saves some 170 instructions per acknowledgement, a twelfth of a simulation.

use longhaul_units::{Span, Time};

use super::machine::{Machine, State};
use super::model::{Flight, MIN_RTT_AGE};
use super::rules::Rules;
use crate::algorithms::bbr::{MIN_WINDOW, larger, segments, smaller};
use crate::facts::AckSample;
use crate::rate_sample::RateSample;
use crate::window::Window;

/// Bounds within which acknowledgements take the fast path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastPath {
    /// Time until which neither smallest round-trip time expires and, in ProbeBW_DOWN and ProbeBW_CRUISE, the wait for
    /// the next probe is not over.
    until: Time,
    /// End of the current round: the round ends when more than this number of segments have been delivered or lost.
    answered: u64,
    /// Number of segments in flight at or below which ProbeBW_DOWN becomes ProbeBW_CRUISE; -infinity in other phases.
    in_flight: f64,
    /// Smallest round-trip time for ProbeRTT (BBR.probe_rtt_min_delay); a shorter sample needs a full update.
    rtt: Span,
    /// Upper bound of the window.
    bound: f64,
}

impl FastPath {
    /// Processes an acknowledgement if it is within the bounds of the fast path, with the same result as a full update
    /// by the draft's rules. Otherwise returns false: a full update is needed.
    #[inline]
    pub(super) fn admits(
        &self,
        rules: &impl Rules,
        machine: &mut Machine,
        ack: &AckSample,
        window: &mut Window,
    ) -> bool {
        let nothing_happens = ack.now < self.until
            && ack.delivered + ack.lost <= self.answered
            && ack.lost == machine.meter.lost
            && !ack.ecn_echo
            && segments(ack.in_flight) > self.in_flight;
        let (Some(rate), Some(rtt)) = (ack.delivery_rate, ack.rtt) else {
            return false;
        };
        if !nothing_happens || rtt < self.rtt || !rate.is_below(machine.rates[1]) {
            return false;
        }
        let flight = Flight::of(ack);
        let newly = segments(ack.delivered - machine.meter.delivered);
        let aggregated =
            machine
                .aggregation
                .with(ack.now, newly, machine.bandwidth(), window.cwnd());
        let floor = machine
            .aggregation
            .extra
            .ignores_below(machine.meter.rounds, machine.aggregation_rounds());
        if aggregated.extra >= floor || !flight.is_below(machine.bounds.long_in_flight) {
            return false;
        }
        if machine.probe.sampling && machine.is_too_high(rules, flight) {
            return false;
        }
        let prior_in_flight = segments(ack.in_flight) + newly;
        machine
            .probe
            .note_use_of_cwnd(ack, prior_in_flight, window.cwnd());
        if machine.is_probing_up() && !machine.goes_on_up(ack, newly, rate, window) {
            return false;
        }
        machine.aggregation.go_on(aggregated);
        (machine.meter.delivered, machine.meter.in_flight) = (ack.delivered, ack.in_flight);
        machine.marks.delivered += newly;
        machine.signals.round_start = false;
        machine.signals.raise(rate, flight);
        let cwnd = smaller(window.cwnd() + newly, self.bound);
        window.set_cwnd(larger(cwnd, MIN_WINDOW));
        true
    }
}

impl Machine {
    /// Processes an acknowledgement in ProbeBW_UP if it changes only counters. Returns false if a full update is
    /// needed.
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

    /// Returns the bounds of the fast path: limits on the time, the round-trip time, and the numbers of segments in
    /// flight, delivered and lost. Within these limits, an acknowledgement in the ProbeBW cycle may take the fast path.
    /// The bounds are valid until the cycle advances, a round ends, or [`super::model::MinRtt::update`] changes a
    /// value. `bound` is the window's maximum.
    pub(super) fn fast_path_bounds(
        &self,
        ack: &AckSample,
        bound: f64,
        window: &Window,
    ) -> FastPath {
        let (Some((rtt, since)), Some((_, min_since))) = (self.min_rtt.recent, self.min_rtt.rtt)
        else {
            return FastPath::default();
        };
        if self.min_rtt.expired {
            return FastPath::default();
        }
        let expiry = (since + self.probe_rtt_interval).min(min_since + MIN_RTT_AGE);
        let probe = self.probe.start + self.probe.wait;
        let none = f64::NEG_INFINITY;
        let (until, in_flight) = match self.state {
            State::Refill | State::Up => (expiry, none),
            State::Down | State::Cruise
                if self.probes_after_marks() || self.is_time_to_probe(ack.now, window) =>
            {
                return FastPath::default();
            }
            State::Down => (expiry.min(probe), self.cruises_at()),
            State::Cruise => (expiry.min(probe), none),
            State::Startup | State::Drain { .. } | State::ProbeRtt(_) => {
                return FastPath::default();
            }
        };
        FastPath {
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
    use crate::algorithms::bbr::Bbr3;
    use crate::algorithms::bbr::differential::{Differential, HasFastPath};
    use crate::algorithms::bbr::v3::Form;
    use crate::algorithms::bbr3::ENTRY;
    use crate::parameter::Variant;

    impl HasFastPath for Bbr3 {
        fn would_take_fast_path(&self, ack: &AckSample, window: &Window) -> bool {
            let Form::Draft(draft) = &self.form else {
                unreachable!("the draft's");
            };
            draft
                .fast_path
                .admits(draft, &mut self.machine.clone(), ack, &mut window.clone())
        }

        fn leave_fast_path(&mut self) {
            self.form.leave_fast_path();
        }
    }

    fn differential() -> Differential<Bbr3> {
        let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
        Differential::new(Bbr3::new(&settings))
    }

    /// Passes the acknowledgement `number` to both flows of `differential`, on a path of 1000 segments per second and
    /// 100 ms. On a `lossy` path, segments are lost during a fifth of each second.
    fn usual(differential: &mut Differential<Bbr3>, number: usize, lossy: bool) {
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
        let in_flight = differential.cwnd().min(104.0) as u64;
        differential.ack(delivered, lost.into(), in_flight, rtt, rate);
    }

    proptest! {
        #[test]
        fn fast_path_acknowledgements_come_to_the_same(
            // The comparison begins when the pipe is full and drained, and it covers all later phases.
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
            let mut differential = differential();
            (0..before).for_each(|number| usual(&mut differential, number, lossy));
            for ((delivered, lost, in_flight), (rtt, rate), (event, marked)) in steps {
                differential.mark(marked);
                differential.ack(delivered, u64::from(lost == 0), in_flight, rtt, rate);
                differential.other_event(event);
                let [quick, full] = differential.states();
                prop_assert_eq!(quick, full);
            }
        }
    }

    /// Checks that more than three fifths of the acknowledgements take the fast path. Full updates are needed, for
    /// example, at the start of a round, and for rates that reach the maximum of the cycle.
    #[test]
    fn most_acknowledgements_take_the_fast_path() {
        let mut differential = differential();
        (0..20_000).for_each(|number| usual(&mut differential, number, false));
        let [quick, full] = differential.states();
        assert_eq!(quick, full);
        assert!(
            differential.fast_path > 12_000,
            "{}",
            differential.fast_path
        );
    }
}
