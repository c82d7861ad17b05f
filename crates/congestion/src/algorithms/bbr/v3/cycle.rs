//! The cycle in which version 3 probes for bandwidth: down, cruise, refill, up (section 5.3.3), and the
//! long-term bound that it finds.

use longhaul_units::{Span, Time};

use super::model::Flight;
use super::{Bbr3, State, per_second};
use crate::algorithms::bbr::{MIN_WINDOW, Sample, larger, smaller};
use crate::facts::AckSample;
use crate::split_mix::{fraction, split_mix};
use crate::window::Window;

/// Most rounds between probes for bandwidth: a standard flow of that window would have lost one.
const STANDARD_ROUNDS: f64 = 63.0;

impl Bbr3 {
    /// The first cycle after Startup, or after the probe for the round-trip time.
    pub(super) fn start_cycle(&mut self, now: Time) {
        let bandwidth = self.bandwidth();
        if let Some(picoquic) = &mut self.picoquic {
            picoquic.on_cycle(bandwidth);
        }
        self.start_down(now);
    }

    pub(super) fn start_down(&mut self, now: Time) {
        (self.signals.lost, self.signals.marked) = (false, false);
        self.marks.begin_cycle();
        (self.signals.rate, self.signals.volume) = (0.0, 0.0);
        self.probe.up_per_segment = f64::INFINITY;
        self.probe.rounds = split_mix(&mut self.draws) % 2;
        self.probe.wait = match &mut self.picoquic {
            Some(picoquic) => picoquic.wait(&self.min_rtt, fraction(&mut self.draws)),
            None => Span::from_secs_f64(2.0 + fraction(&mut self.draws)),
        };
        self.probe.start = now;
        self.probe.stopping = true;
        self.meter.restart_round();
        self.state = State::Down;
    }

    /// The long-term bound will grow as from the round `up_rounds` of a probe on.
    pub(super) fn start_refill(&mut self, up_rounds: u32) {
        self.bounds.reset_short();
        (self.probe.up_rounds, self.probe.up_acked) = (up_rounds, 0.0);
        self.probe.stopping = false;
        self.meter.restart_round();
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, ack: &AckSample, window: &Window) {
        self.probe.sampling = true;
        self.meter.restart_round();
        match &mut self.picoquic {
            Some(picoquic) => {
                picoquic.on_probe();
                self.probe.start = ack.now;
            }
            None => self.reset_full(per_second(ack)),
        }
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// The long-term bound grows by 1, 2, 4, ... segments a round.
    fn raise_slope(&mut self, window: &Window) {
        let growth = f64::from(1_u32 << self.probe.up_rounds.min(30));
        self.probe.up_rounds += 1;
        self.probe.up_per_segment = (window.cwnd() / growth).max(1.0);
    }

    /// Section 5.3.3.6.
    pub(super) fn advance_cycle(
        &mut self,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        if self.picoquic.is_some() {
            return self.advance_cycle_as_picoquic(ack, sample, flight, window);
        }
        self.probe.rounds += u64::from(sample.round_start);
        if !self.filled {
            return;
        }
        self.adapt_long_bound(ack, sample, flight, window);
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.probes_after_marks() && self.is_clear(ack) => {
                self.start_refill(self.rounds_after_marks());
            }
            State::Down | State::Cruise if self.is_time_to_probe(ack.now, window) => {
                self.start_refill(0);
            }
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if sample.round_start => self.start_up(ack, window),
            State::Up if self.is_time_to_go_down(ack, window) => self.start_down(ack.now),
            _ => {}
        }
    }

    /// Whether this cycle had marks and no losses, so that it ends when marks cease: somebody else may have left (Linux v3,
    /// `bbr_check_time_to_probe_bw`).
    pub(super) fn probes_after_marks(&self) -> bool {
        self.ecn_reprobe > 0.0 && self.marks.in_cycle && !self.marks.lost_in_cycle
    }

    fn is_clear(&self, ack: &AckSample) -> bool {
        self.recovery.episode.is_none() && self.marks.have_ceased(ack)
    }

    /// The round of a probe in which the long-term bound grows by about `ecn_reprobe` of what it is.
    fn rounds_after_marks(&self) -> u32 {
        let growth = (self.ecn_reprobe * self.bounds.long_in_flight) as u64;
        growth.max(1).ilog2().min(30)
    }

    pub(super) fn is_time_to_probe(&self, now: Time, window: &Window) -> bool {
        let rounds = smaller(self.target(window), STANDARD_ROUNDS);
        now > self.probe.start + self.probe.wait || self.probe.rounds as f64 >= rounds
    }

    pub(super) fn is_time_to_cruise(&self, ack: &AckSample) -> bool {
        ack.in_flight as f64 <= self.cruises_at()
    }

    /// Segments in flight at which it stops draining.
    pub(super) fn cruises_at(&self) -> f64 {
        let carried = self.budget(self.carried(self.max_rate(), 1.0));
        smaller(self.with_headroom(), carried)
    }

    fn is_time_to_go_down(&mut self, ack: &AckSample, window: &Window) -> bool {
        if self.is_held(ack, window) {
            self.reset_full(per_second(ack));
            return false;
        }
        self.full_now
    }

    /// Whether the long-term bound, not the path, holds the rate.
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

    pub(super) fn adapt_long_bound(
        &mut self,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        if self.probe.stopping && sample.round_start {
            // The last samples of the probe are in.
            self.probe.stopping = false;
            // picoquic's go on telling of it until one was too high.
            self.probe.sampling &= self.picoquic.is_some();
            if self.is_in_cycle() && !sample.limited {
                self.rates = [self.rates[1], 0.0];
            }
        }
        if self.is_too_high(flight) {
            if self.probe.sampling {
                self.handle_too_high(ack, sample, flight, window);
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
            self.start_down(ack.now);
        }
    }

    fn raise_long_bound(&mut self, ack: &AckSample, sample: &Sample, window: &Window) {
        if !self.is_held(ack, window) {
            return;
        }
        self.probe.up_acked += sample.newly_delivered;
        if self.probe.up_acked >= self.probe.up_per_segment {
            // Whole segments: a conversion is quicker than rounding, and none are negative.
            let grown = (self.probe.up_acked / self.probe.up_per_segment) as i64 as f64;
            self.probe.up_acked -= grown * self.probe.up_per_segment;
            self.bounds.long_in_flight += grown;
        }
        if sample.round_start {
            self.raise_slope(window);
        }
    }
}
