//! Transitions between the states of the draft's C4 (section 4).

use super::flow::{Cycle, DraftC4, Era, State};
use super::laws::{INITIAL_ALPHA, MIN_MAX_RTT_S, PUSHING_ALPHA};
use super::measuring;
use crate::facts::{AckSample, Limit};
use crate::window::Window;

/// Factor by which the nominal rate must have grown in the cycle for Pushing to continue after two eras (section 4.7).
const PUSHED: f64 = 19.0 / 16.0;
/// Number of eras without growth that end Initial (section 4.2).
const FULL_ERAS: u32 = 3;
/// Number of eras without growth before a delay or a mark can end Initial (section 4.2).
const FULL_ERAS_AT_DELAY: u32 = 2;
/// Losses can end Initial only after more than this number of delivered packets.
const PACKETS_BEFORE_LOSS: f64 = 20.0;
const CRUISING_ERAS: u32 = 2;
/// Minimum number of eras of Pushing, and the number of eras after which a further era with growth leads to Initial.
const PUSHING_ERAS: std::ops::RangeInclusive<u32> = 2..=3;

impl DraftC4 {
    /// Begins an era (C4's round trip). `alpha` is the rate coefficient (factor on the nominal rate) of the era before.
    fn begin_era(&mut self, ack: &AckSample, alpha: f64) {
        self.era = Era::new(ack.delivered + ack.lost + ack.in_flight, alpha);
    }

    fn enter(&mut self, state: State, ack: &AckSample) {
        let before = self.alpha();
        (self.congested, self.draining) = (false, false);
        self.state = state;
        if self.alpha() > 1.0 {
            self.cycle.alpha = self.alpha();
        }
        self.begin_era(ack, before);
    }

    /// Grows the window during Initial; returns true if Initial ends (section 4.2).
    pub(super) fn advance_initial(&mut self, ack: &AckSample, delivered: f64) -> bool {
        self.received += delivered;
        self.initial_cwnd += delivered / f64::from(1_u32 << (3 * self.full_eras));
        if self.is_era_over(ack) {
            self.end_initial_era(ack);
        }
        let many = self.received > PACKETS_BEFORE_LOSS;
        let by_loss = self.loss_rate > self.loss_threshold() && many;
        let full = self.full_eras >= FULL_ERAS_AT_DELAY;
        let marked = ack.ecn_echo && self.mark_rate > self.mark_threshold();
        let by_delay = (self.delay_excess_s > 0.0 || marked) && full;
        self.rate > 0.0 && (self.full_eras >= FULL_ERAS || by_loss || by_delay)
    }

    pub(super) fn end_initial_era(&mut self, ack: &AckSample) {
        if self.cycle.has_grown_to(self.rate) {
            self.full_eras = 0;
        } else if self.cycle.used && self.rate > 0.0 {
            self.full_eras += 1;
        }
        self.begin_era(ack, INITIAL_ALPHA);
        self.begin_cycle(INITIAL_ALPHA);
    }

    /// Ends Initial. Sets the nominal maximum round-trip time to the time in which half of Initial's window
    /// is sent at the nominal rate (section 4.2).
    pub(super) fn leave_initial(&mut self, ack: &AckSample, window: &mut Window) {
        self.max_rtt_s = (self.initial_cwnd / 2.0 / self.rate).max(MIN_MAX_RTT_S);
        (self.full_eras, self.loss_rate) = (0, 0.0);
        self.begin_cycle(INITIAL_ALPHA);
        self.enter(State::Recovery, ack);
        window.exit_slow_start();
    }

    pub(super) fn enter_initial(&mut self, ack: &AckSample, window: &Window) {
        (self.initial_cwnd, self.received) = (window.cwnd(), 0.0);
        self.mark_rate = 0.0;
        self.enter(State::Initial, ack);
        self.begin_cycle(INITIAL_ALPHA);
    }

    pub(super) fn begin_cycle(&mut self, alpha: f64) {
        self.cycle = Cycle {
            rate: self.rate,
            alpha,
            ..Cycle::default()
        };
    }

    pub(super) fn is_era_over(&self, ack: &AckSample) -> bool {
        ack.delivered + ack.lost > self.era.end
    }

    /// Responds to congestion: enters Recovery and, if the flow was cruising, lowers the nominal rate by the fraction
    /// `beta` (section 5.5). In Recovery, begins to drain, for another era; later congestion does not prolong it.
    pub(super) fn answer_congestion(&mut self, beta: f64, ack: &AckSample) {
        self.cycle.congested = true;
        self.marked |= ack.ecn_echo;
        if self.state == State::Recovery {
            if !self.draining {
                let before = self.alpha();
                self.draining = true;
                self.begin_era(ack, before);
            }
        } else {
            if matches!(self.state, State::Cruising { .. }) {
                self.rate *= 1.0 - beta;
            }
            self.enter(State::Recovery, ack);
        }
        self.congested = true;
    }

    pub(super) fn end_era(&mut self, ack: &AckSample, window: &Window) {
        self.end_era_rtts();
        let alpha = self.alpha();
        match self.state {
            State::Initial => {}
            State::Recovery => self.leave_recovery(ack, window),
            State::Cruising { eras } => {
                let eras = eras + 1;
                if eras >= CRUISING_ERAS && ack.limit != Limit::Application {
                    self.enter(State::Probing, ack);
                } else {
                    self.state = State::Cruising { eras };
                    self.begin_era(ack, alpha);
                }
            }
            State::Probing => self.enter(State::Recovery, ack),
            State::Pushing { eras } => self.end_pushing_era(eras + 1, ack, window),
        }
    }

    pub(super) fn end_pushing_era(&mut self, eras: u32, ack: &AckSample, window: &Window) {
        let grown = self.rate >= PUSHED * self.cycle.rate;
        if grown && eras > *PUSHING_ERAS.end() {
            self.enter_initial(ack, window);
        } else if grown || eras < *PUSHING_ERAS.start() {
            if grown {
                self.begin_cycle(PUSHING_ALPHA);
            }
            self.state = State::Pushing { eras };
            self.begin_era(ack, PUSHING_ALPHA);
        } else {
            self.enter(State::Recovery, ack);
        }
    }

    pub(super) fn is_jittery(&self) -> bool {
        let bytes_per_s = self.rate * self.segment_bytes;
        measuring::is_jittery(bytes_per_s, self.running_min_s, self.max_rtt_s)
    }

    /// Ends Recovery (section 4.4): responds to persistent congestion (section 5.5.2), trims the rate (section 5.6),
    /// and chooses the next state.
    pub(super) fn leave_recovery(&mut self, ack: &AckSample, window: &Window) {
        let cycle = self.cycle;
        let grown = cycle.has_grown_to(self.rate);
        if cycle.congested {
            self.congested_recoveries += 1;
            if !grown && self.congested_recoveries >= 2 && cycle.largest > 0.0 {
                self.rate = self.rate.min(cycle.largest);
            }
        } else {
            self.congested_recoveries = 0;
            // The rate is reduced (trimming), since it was not reached although the application had enough data to
            // send.
            if !grown && cycle.used && cycle.largest > 0.0 {
                self.rate = (self.rate + cycle.largest) / 2.0;
            }
        }
        (self.loss_rate, self.mark_rate, self.delay_excess_s) = (0.0, 0.0, 0.0);
        self.marked &= cycle.congested;
        self.begin_cycle(1.0);
        if !self.repeated && self.is_jittery() {
            self.repeated = true;
            self.enter_initial(ack, window);
        } else if grown && !cycle.congested {
            self.enter(State::Pushing { eras: 0 }, ack);
        } else {
            self.enter(State::Cruising { eras: 0 }, ack);
        }
    }
}
