//! The cycle of ProbeBW in version 3 (down, cruise, refill, up; section 5.3.3), and the long-term bound that it
//! determines.

use longhaul_units::Time;

use super::machine::{Machine, State};
use super::model::Flight;
use super::rules::Rules;
use crate::algorithms::bbr::{MIN_WINDOW, Sample, larger, smaller};
use crate::facts::AckSample;
use crate::split_mix::{fraction, split_mix};
use crate::window::Window;

/// Maximum number of rounds between two probes for bandwidth, for coexistence with Reno (section 5.3.3.5.3).
const STANDARD_ROUNDS: f64 = 63.0;

impl Machine {
    /// Starts the cycles of ProbeBW with ProbeBW_DOWN, after Drain or ProbeRTT.
    pub(super) fn start_cycles(&mut self, rules: &mut impl Rules, now: Time) {
        rules.on_cycles(self.bandwidth());
        self.start_down(rules, now);
    }

    pub(super) fn start_down(&mut self, rules: &mut impl Rules, now: Time) {
        (self.signals.lost, self.signals.marked) = (false, false);
        self.marks.begin_cycle();
        (self.signals.rate, self.signals.volume) = (0.0, 0.0);
        self.probe.up_per_segment = f64::INFINITY;
        self.probe.rounds = split_mix(&mut self.draws) % 2;
        self.probe.wait = rules.wait(&self.min_rtt, fraction(&mut self.draws));
        self.probe.start = now;
        self.probe.stopping = true;
        self.meter.restart_round();
        self.state = State::Down;
    }

    /// Starts ProbeBW_REFILL. In the probe that follows, the long-term bound grows as if `up_rounds` rounds of the
    /// probe had already passed.
    pub(super) fn start_refill(&mut self, up_rounds: u32) {
        self.bounds.reset_short();
        (self.probe.up_rounds, self.probe.up_acked) = (up_rounds, 0.0);
        self.probe.stopping = false;
        self.meter.restart_round();
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, rules: &mut impl Rules, ack: &AckSample, window: &Window) {
        self.probe.sampling = true;
        self.meter.restart_round();
        rules.on_up(self, ack);
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// Doubles the long-term bound's growth per round: 1, 2, 4, ... segments (BBRRaiseInflightLongtermSlope).
    fn raise_slope(&mut self, window: &Window) {
        let growth = f64::from(1_u32 << self.probe.up_rounds.min(30));
        self.probe.up_rounds += 1;
        self.probe.up_per_segment = (window.cwnd() / growth).max(1.0);
    }

    /// Returns true if the next probe begins as soon as marks cease, since another flow may have left. The cycle must
    /// have had marks and no losses (Linux v3, `bbr_check_time_to_probe_bw`).
    pub(super) fn probes_after_marks(&self) -> bool {
        self.ecn_reprobe > 0.0 && self.marks.in_cycle && !self.marks.lost_in_cycle
    }

    pub(super) fn is_time_to_probe(&self, now: Time, window: &Window) -> bool {
        let rounds = smaller(self.target(window), STANDARD_ROUNDS);
        now > self.probe.start + self.probe.wait || self.probe.rounds as f64 >= rounds
    }

    pub(super) fn is_time_to_cruise(&self, ack: &AckSample) -> bool {
        ack.in_flight as f64 <= self.cruises_at()
    }

    /// Returns the number of segments in flight at or below which ProbeBW_DOWN becomes ProbeBW_CRUISE.
    pub(super) fn cruises_at(&self) -> f64 {
        let carried = self.budget(self.carried(self.max_rate(), 1.0));
        smaller(self.with_headroom(), carried)
    }

    /// Returns true if the long-term bound on segments in flight limits the rate, rather than the path.
    pub(super) fn is_held(&self, ack: &AckSample, window: &Window) -> bool {
        self.probe.is_cwnd_limited(ack) && window.cwnd() >= self.bounds.long_in_flight
    }

    pub(super) fn with_headroom(&self) -> f64 {
        let bound = self.bounds.long_in_flight;
        let headroom = larger(self.headroom * bound, 1.0);
        if bound == f64::INFINITY {
            bound
        } else {
            larger(bound - headroom, MIN_WINDOW)
        }
    }

    pub(super) fn adapt_long_bound<R: Rules>(
        &mut self,
        rules: &mut R,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        if self.probe.stopping && sample.round_start {
            // The last rate samples of the probe have arrived.
            self.probe.stopping = false;
            self.probe.sampling &= R::SAMPLES_BEYOND_PROBES;
            if self.is_in_cycle() && !sample.limited {
                self.rates = [self.rates[1], 0.0];
            }
        }
        if self.is_too_high(rules, flight) {
            if self.probe.sampling {
                self.handle_too_high(rules, ack, sample, flight, window);
            }
            return;
        }
        if self.bounds.long_in_flight == f64::INFINITY {
            return;
        }
        self.bounds.long_in_flight = flight.or_more(self.bounds.long_in_flight);
        if self.is_probing_up() {
            self.raise_long_bound(ack, sample, window);
        }
    }

    fn handle_too_high(
        &mut self,
        rules: &mut impl Rules,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        self.probe.sampling = false;
        if !sample.limited {
            let all = flight.segments() + self.signals.losses;
            self.bounds.long_in_flight = all.max(self.kept * self.target(window));
        }
        if self.is_probing_up() {
            self.start_down(rules, ack.now);
        }
    }

    fn raise_long_bound(&mut self, ack: &AckSample, sample: &Sample, window: &Window) {
        if !self.is_held(ack, window) {
            return;
        }
        self.probe.up_acked += sample.newly_delivered;
        if self.probe.up_acked >= self.probe.up_per_segment {
            // The bound grows by whole segments. The number is not negative, and a conversion is faster than rounding.
            let grown = (self.probe.up_acked / self.probe.up_per_segment) as i64 as f64;
            self.probe.up_acked -= grown * self.probe.up_per_segment;
            self.bounds.long_in_flight += grown;
        }
        if sample.round_start {
            self.raise_slope(window);
        }
    }
}
