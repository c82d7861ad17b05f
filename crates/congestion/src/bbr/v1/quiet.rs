//! Most acknowledgements move nothing but the window: no round begins, nothing is lost, the rate is below
//! those that are remembered, the round-trip time above the smallest. What else could happen is known
//! beforehand, from one acknowledgement that has been taken thoroughly to the next.

use longhaul_units::Time;

use super::{Bbr, CYCLE, State};
use crate::bbr::{MIN_WINDOW, News, larger, segments, smaller};
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
    use longhaul_units::Span;
    use proptest::prelude::*;

    use super::*;
    use crate::bbr::v1::ENTRY;
    use crate::controller::CongestionControl;
    use crate::facts::{Cause, Congestion, Limit, Timeout};
    use crate::parameter::Variant;
    use crate::rate_sample::RateSample;
    use crate::window::Rounding;

    const FIRST: AckSample = AckSample {
        now: Time::ZERO,
        acked: 1,
        delivered: 0,
        lost: 0,
        in_recovery: false,
        credit: 1.0,
        rtt: None,
        srtt: Span::from_millis(100),
        min_rtt: Span::from_millis(100),
        one_way_delay: None,
        pair_spacing: None,
        router: None,
        ecn_echo: false,
        in_flight: 0,
        delivery_rate: None,
        limit: Limit::Network,
        round: 0,
        segment_bytes: 1500,
    };

    /// The same flow twice: one of them takes every acknowledgement thoroughly.
    struct Twins {
        quick: (Bbr, Window),
        thorough: (Bbr, Window),
        ack: AckSample,
        /// Acknowledgements that were not taken thoroughly.
        quiet: usize,
    }

    impl Twins {
        fn new() -> Self {
            let settings = ENTRY.settings(Variant::Paper, &[]).unwrap();
            let window = Window::new(10.0, 1e9, f64::INFINITY, Rounding::Real);
            let twin = (Bbr::new(&settings), window);
            Self {
                quick: twin.clone(),
                thorough: twin,
                ack: FIRST,
                quiet: 0,
            }
        }

        fn both(&mut self, act: impl Fn(&mut Bbr, &mut Window)) {
            for (bbr, window) in [&mut self.quick, &mut self.thorough] {
                act(bbr, window);
            }
        }

        /// An acknowledgement, a millisecond after the last.
        fn ack(&mut self, delivered: u64, lost: u64, in_flight: u64, rtt_ms: u64, rate: f64) {
            self.ack.now += Span::from_millis(1);
            self.ack.delivered += delivered;
            self.ack.lost += lost;
            self.ack.in_flight = in_flight;
            self.ack.rtt = Some(Span::from_millis(rtt_ms));
            self.ack.delivery_rate = Some(RateSample::new(rate, Span::from_secs(1)));
            let ack = self.ack;
            let (quick, _) = &self.quick;
            let news = quick.meter.clone().read(&ack);
            self.quiet += usize::from(quick.is_quiet(&ack, news));
            self.thorough.0.quiet = Quiet::default();
            self.both(|bbr, window| bbr.on_ack(&ack, window));
        }

        fn other_event(&mut self, event: u8) {
            let now = self.ack.now;
            let loss = Congestion {
                now,
                cause: Cause::Loss,
                base: 50.0,
                in_flight: self.ack.in_flight,
                in_slow_start: false,
                first: false,
            };
            let timeout = Timeout {
                now,
                base: 50.0,
                keep_ssthresh: false,
            };
            self.both(|bbr, window| match event {
                0 => bbr.on_congestion(&loss, window),
                1 => bbr.on_recovery_exit(now, window),
                2 => bbr.on_idle(Span::from_millis(5), window),
                3 => bbr.on_timeout(&timeout, window),
                _ => {}
            });
        }

        /// Everything but how long it is quiet.
        fn states(&self) -> [String; 2] {
            [&self.quick, &self.thorough].map(|(bbr, window)| {
                let mut bbr = bbr.clone();
                bbr.quiet = Quiet::default();
                format!("{bbr:?} {window:?}")
            })
        }
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
            let mut twins = Twins::new();
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
        let mut twins = Twins::new();
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
