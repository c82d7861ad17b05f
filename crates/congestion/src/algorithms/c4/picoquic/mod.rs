//! C4 of picoquic (c4.c, August 2026), with later additions of its authors: trimming, draining, and any number of
//! returns to Initial (papers/c4-trim.md, c4-trim-drain.md and c4-wifi-trim-analysis.md of the repository
//! private-octopus/c4). This C4 differs from the draft in these points:
//!
//! - The window is rounded up to whole segments: picoquic sends a segment while fewer bytes than the window are in
//!   flight. A probe adds at least one segment.
//! - In Initial, the window and the pacing rate also depend on the maximum delivery rate over a millisecond or more.
//! - Pushing sends 22.7 % faster than the nominal rate (the constant's name says 25 %, its value is 1256/1024). It ends
//!   after a round trip in which the rate grows by less than 17 %. Recovery follows. If the rate has grown by at least
//!   5.7 %, another push follows Recovery. After three successive increases, C4 returns to Initial.
//! - Losses count when detected, except in Recovery. In Cruising, they also reduce the nominal maximum round-trip time.
//! - Outside Initial, delays indicate congestion only in Probing and Pushing and in the Recovery after Initial, Probing
//!   or Pushing. High jitter leads back to Initial only below 1 MB/s and above 50 ms.

#[cfg(test)]
mod tests;

use longhaul_units::Rate;
use serde::{Deserialize, Serialize};

use super::laws::{
    DRAINING_ALPHA, INITIAL_ALPHA, MARKED_PROBING_ALPHA, MAX_BETA, MIN_INITIAL_BPS, MIN_MAX_RTT_S,
    MIN_SEGMENTS, PROBING_ALPHA, RECOVERY_ALPHA, margin_s, pacing, show,
};
use super::measuring::{self, MAX_JITTER_S};
use crate::facts::{AckSample, Limit};
use crate::peak_rate::PeakRate;
use crate::window::Window;

/// Rate coefficient of Pushing (`C4_ALPHA_PUSH_25`).
const PUSHING_ALPHA: f64 = 1256.0 / 1024.0;
/// Maximum of `level`, which starts at 1, or at 0 after a mark, and rises by 1 with each successive increase of the
/// rate. One more increase leads back to Initial.
const MAX_LEVEL: u32 = 3;
/// Losses can end Initial only after more than this number of acknowledgements and losses. A loss counts only if the
/// loss rate is above its threshold.
const EVENTS_BEFORE_LOSS: u32 = 20;
/// Number of eras without growth that end Initial.
const FULL_ERAS: u32 = 3;
/// Number of eras without growth before a delay can end Initial.
const FULL_ERAS_AT_DELAY: u32 = 2;
const CRUISING_ERAS: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    Initial,
    Recovery,
    Cruising { eras: u32 },
    Probing,
    Pushing,
}

/// Congestion signal, with the fraction of the rate that it removes.
#[derive(Clone, Copy, Debug)]
enum Signal {
    Delay(f64),
    Mark(f64),
    Loss(f64),
}

/// Growth of the rate since the current attempt began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Growth {
    None,
    Slow,
    Fast,
}

/// An era: a round trip.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Era {
    /// Number of segments sent before the era. The era ends when more segments than this are delivered or lost.
    end: u64,
    min_rtt_s: f64,
    max_rtt_s: f64,
    /// Rate coefficient at the beginning of the era. In Recovery and Cruising, it is that of the previous era, in which
    /// the packets acknowledged now were sent; in other states, that of the current era.
    alpha: f64,
}

/// An attempt to raise the rate: an era of Initial, Cruising with the following probe, or a push. The next Recovery is
/// part of it. `rate` is the nominal rate at its beginning, and `congested` is true if congestion has occurred since.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Attempt {
    rate: f64,
    alpha: f64,
    congested: bool,
    /// True if the network, not the application, has limited the rate since C4 last saved the rate for comparison.
    used: bool,
}

/// State of picoquic's C4 for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PicoquicC4 {
    state: State,
    alpha: f64,
    /// Nominal rate in segments per second.
    rate: f64,
    /// Nominal maximum round-trip time, in seconds; zero before the first sample.
    max_rtt_s: f64,
    /// Running minimum of the round-trip time, in seconds.
    running_min_s: f64,
    era: Era,
    attempt: Attempt,
    level: u32,
    /// Maximum delivery rate since the last Recovery, in segments per second.
    largest: f64,
    congested_recoveries: u32,
    /// True if the next Recovery has to drain a queue.
    draining: bool,
    initial_cwnd: f64,
    full_eras: u32,
    events: u32,
    loss_rate: f64,
    mark_rate: f64,
    marked: bool,
    excess_s: f64,
    delivered: u64,
    lost: u64,
    timed_out: bool,
    segment_bytes: f64,
    peak: PeakRate,
    pub(super) pacing: Option<Rate>,
    pub(super) quantum: u64,
}

impl Default for PicoquicC4 {
    fn default() -> Self {
        let era = Era {
            end: 0,
            min_rtt_s: f64::INFINITY,
            max_rtt_s: 0.0,
            alpha: INITIAL_ALPHA,
        };
        let attempt = Attempt {
            rate: 0.0,
            alpha: INITIAL_ALPHA,
            congested: false,
            used: false,
        };
        Self {
            state: State::Initial,
            alpha: INITIAL_ALPHA,
            rate: 0.0,
            max_rtt_s: 0.0,
            running_min_s: f64::INFINITY,
            era,
            attempt,
            level: 1,
            largest: 0.0,
            congested_recoveries: 0,
            draining: false,
            initial_cwnd: 0.0,
            full_eras: 0,
            events: 0,
            loss_rate: 0.0,
            mark_rate: 0.0,
            marked: false,
            excess_s: 0.0,
            delivered: 0,
            lost: 0,
            timed_out: false,
            segment_bytes: 0.0,
            peak: PeakRate::default(),
            pacing: None,
            quantum: MIN_SEGMENTS as u64,
        }
    }
}

impl PicoquicC4 {
    pub(super) fn on_handshake(&mut self, ack: &AckSample) {
        self.note_rtt(ack);
    }

    /// Sets the window to one segment until the next acknowledgement. In picoquic, a timeout is no congestion signal:
    /// picoquic only sends a probe, to detect lost segments at the end of the data.
    pub(super) fn on_timeout(&mut self, window: &mut Window) {
        self.timed_out = true;
        window.restart();
    }

    /// Processes an acknowledgement in picoquic's order: first round-trip times, then losses, then marks, then rates.
    pub(super) fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = window.cwnd();
        }
        self.segment_bytes = ack.segment_bytes as f64;
        self.note_rtt(ack);
        self.answer_delay(ack, window);
        let delivered = self.count_losses(ack, window);
        self.answer_mark(ack, window);
        self.peak.note(ack);
        self.note_rate(ack);
        match self.state {
            State::Initial => self.grow_initial(delivered, ack, window),
            _ if self.is_era_over(ack) => self.end_era(ack, window),
            State::Pushing if self.growth() == Growth::Fast => self.restart_push(ack),
            _ => {}
        }
        self.set_window(ack, window);
    }

    /// Updates the round-trip times of the era, the running minimum, and the excess over the delay threshold
    /// (`c4_update_rtt`).
    fn note_rtt(&mut self, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        let rtt_s = rtt.as_secs_f64();
        self.era.max_rtt_s = self.era.max_rtt_s.max(rtt_s);
        self.era.min_rtt_s = self.era.min_rtt_s.min(rtt_s);
        self.running_min_s = self.running_min_s.min(rtt_s);
        if self.max_rtt_s == 0.0 {
            self.max_rtt_s = rtt_s.max(MIN_MAX_RTT_S);
        }
        self.excess_s = (rtt_s - self.max_rtt_s - self.delay_threshold_s()).max(0.0);
    }

    fn insensitivity(&self) -> f64 {
        1.0 - measuring::sensitivity(self.rate * self.segment_bytes)
    }

    fn delay_threshold_s(&self) -> f64 {
        measuring::delay_threshold_s(self.insensitivity(), self.max_rtt_s)
    }

    /// Responds to an excessive delay. Initial ends only once the rate has stopped growing
    /// (`c4_initial_handle_rtt_excess`). Other states respond only if the era's `alpha` is above 1
    /// (`c4_handle_rtt_excess`).
    fn answer_delay(&mut self, ack: &AckSample, window: &mut Window) {
        if self.excess_s == 0.0 || ack.rtt.is_none() {
            return;
        }
        if self.state == State::Initial {
            self.leave_full_initial(ack, window);
        } else if self.era.alpha > 1.0 {
            let beta = (self.excess_s / self.delay_threshold_s()).min(MAX_BETA);
            self.answer(Signal::Delay(beta), ack);
        }
    }

    fn leave_full_initial(&mut self, ack: &AckSample, window: &mut Window) {
        if self.full_eras >= FULL_ERAS_AT_DELAY && self.attempt.rate >= self.rate {
            self.leave_initial(ack, window);
        }
    }

    /// Updates the fraction of losses, and responds if it exceeds its threshold after new losses. Returns the number of
    /// newly delivered segments. Losses assumed at a timeout do not count, since they say nothing about the path.
    /// Losses detected in Recovery do not count either.
    fn count_losses(&mut self, ack: &AckSample, window: &mut Window) -> f64 {
        let delivered = ack.delivered - self.delivered;
        let lost = ack.lost.saturating_sub(self.lost);
        (self.delivered, self.lost) = (ack.delivered, ack.lost);
        self.loss_rate = measuring::loss_rate_after_deliveries(self.loss_rate, delivered);
        let counts = !std::mem::take(&mut self.timed_out) && self.state != State::Recovery;
        if lost > 0 && counts {
            self.loss_rate = measuring::loss_rate_after_losses(self.loss_rate, lost);
            if self.loss_rate > measuring::loss_threshold(self.insensitivity()) {
                self.answer_losses(lost, ack, window);
            }
        }
        delivered as f64
    }

    fn answer_losses(&mut self, lost: u64, ack: &AckSample, window: &mut Window) {
        if self.state == State::Initial {
            self.events += lost as u32;
            if self.events > EVENTS_BEFORE_LOSS {
                self.leave_initial(ack, window);
            }
        } else {
            let beta = MAX_BETA * (2.0 - self.insensitivity()) / 2.0;
            self.answer(Signal::Loss(beta), ack);
        }
    }

    fn answer_mark(&mut self, ack: &AckSample, window: &mut Window) {
        self.mark_rate = measuring::mark_rate_after(self.mark_rate, ack.ecn_echo);
        let threshold = measuring::mark_threshold(self.insensitivity());
        if !ack.ecn_echo || self.mark_rate <= threshold {
            return;
        }
        if self.state != State::Initial {
            let beta = (self.mark_rate / threshold - 1.0).min(MAX_BETA);
            self.answer(Signal::Mark(beta), ack);
        } else if self.excess_s > 0.0 {
            self.leave_full_initial(ack, window);
        }
    }

    /// Responds to a congestion signal (`c4_notify_congestion`). The first signal during Recovery lowers the pacing
    /// rate, to drain the queue, and prolongs Recovery.
    fn answer(&mut self, signal: Signal, ack: &AckSample) {
        self.attempt.congested = true;
        if !matches!(signal, Signal::Delay(_)) {
            self.excess_s = 0.0;
        }
        match self.state {
            State::Recovery => {
                if self.alpha == RECOVERY_ALPHA {
                    self.alpha = DRAINING_ALPHA;
                    self.era.end = sent(ack);
                }
                self.marked |= matches!(signal, Signal::Mark(_));
                return;
            }
            State::Probing | State::Pushing => {}
            State::Initial | State::Cruising { .. } => self.reduce(signal),
        }
        self.marked = matches!(signal, Signal::Mark(_));
        self.enter_recovery(ack);
    }

    fn reduce(&mut self, signal: Signal) {
        let (Signal::Delay(beta) | Signal::Mark(beta) | Signal::Loss(beta)) = signal;
        self.rate *= 1.0 - beta;
        if matches!(signal, Signal::Loss(_)) {
            self.max_rtt_s = (self.max_rtt_s * (1.0 - beta)).max(MIN_MAX_RTT_S);
        }
    }

    /// Updates the rates from a rate sample (`c4_handle_ack`); after congestion, the nominal rate does not rise in
    /// Recovery. Also sets `attempt.used` if the sample shows that the network limited the rate.
    fn note_rate(&mut self, ack: &AckSample) {
        let Some(sample) = ack.delivery_rate else {
            return;
        };
        // In whole bytes per second, so that rounding errors do not count as growth.
        let rate = (sample.per_second() * self.segment_bytes).round() / self.segment_bytes;
        self.largest = self.largest.max(rate);
        let bounces = self.state == State::Recovery && self.attempt.congested;
        if rate > self.rate && !bounces {
            self.rate = rate;
            self.attempt.used = true;
        } else if sample.segments() > self.running_min_s * self.rate {
            self.attempt.used = true;
        }
    }

    /// Returns the class of the rate's growth since the current attempt began: fast, slow or none
    /// (`c4_growth_evaluate`). For a probe, any growth without congestion is fast.
    fn growth(&self) -> Growth {
        let Attempt { rate, alpha, .. } = self.attempt;
        let by = |part: f64| (1.0 + part * (alpha - 1.0)) * rate;
        if alpha <= PROBING_ALPHA {
            if self.rate > rate && !self.attempt.congested {
                Growth::Fast
            } else {
                Growth::None
            }
        } else if self.rate > by(0.75) {
            Growth::Fast
        } else if self.rate >= by(0.25) {
            Growth::Slow
        } else {
            Growth::None
        }
    }

    fn restart_attempt(&mut self) {
        self.attempt = Attempt {
            rate: self.rate,
            alpha: self.alpha,
            congested: false,
            used: false,
        };
    }

    fn begin_era(&mut self, ack: &AckSample) {
        self.era = Era {
            end: sent(ack),
            min_rtt_s: f64::INFINITY,
            max_rtt_s: 0.0,
            alpha: self.alpha,
        };
    }

    fn is_era_over(&self, ack: &AckSample) -> bool {
        ack.delivered + ack.lost > self.era.end
    }

    /// Grows the window during Initial, and ends Initial after `FULL_ERAS` eras without growth
    /// (`c4_initial_handle_ack`).
    fn grow_initial(&mut self, delivered: f64, ack: &AckSample, window: &mut Window) {
        self.events += 1;
        self.initial_cwnd += delivered / f64::from(1_u32 << (3 * self.full_eras));
        if !self.is_era_over(ack) {
            return;
        }
        if self.growth() > Growth::None {
            self.full_eras = 0;
        } else if self.attempt.used && self.rate > 0.0 {
            self.full_eras += 1;
        }
        self.begin_era(ack);
        if self.full_eras >= FULL_ERAS {
            self.leave_initial(ack, window);
        } else {
            self.restart_attempt();
        }
    }

    /// Ends Initial, if there is a nominal rate. Sets the maximum round-trip time to the time in which half of the
    /// window is sent at the nominal rate (`c4_exit_initial`).
    fn leave_initial(&mut self, ack: &AckSample, window: &mut Window) {
        if self.rate == 0.0 {
            return;
        }
        self.max_rtt_s = (self.initial_cwnd / 2.0 / self.rate).max(MIN_MAX_RTT_S);
        (self.full_eras, self.level) = (0, 1);
        (self.draining, self.marked) = (true, false);
        self.restart_attempt();
        self.enter_recovery(ack);
        window.exit_slow_start();
    }

    fn enter_initial(&mut self, ack: &AckSample, window: &Window) {
        (self.state, self.alpha) = (State::Initial, INITIAL_ALPHA);
        self.initial_cwnd = window.cwnd();
        (self.level, self.events, self.full_eras) = (1, 0, 0);
        self.mark_rate = 0.0;
        self.begin_era(ack);
        self.restart_attempt();
    }

    fn enter_recovery(&mut self, ack: &AckSample) {
        self.state = State::Recovery;
        self.begin_era(ack);
        self.alpha = if self.draining {
            DRAINING_ALPHA
        } else {
            RECOVERY_ALPHA
        };
    }

    fn end_era(&mut self, ack: &AckSample, window: &Window) {
        self.end_era_rtts();
        if self.is_jittery() {
            self.enter_initial(ack, window);
            return;
        }
        match self.state {
            State::Initial => {}
            State::Recovery => self.leave_recovery(ack, window),
            State::Cruising { eras } => self.end_cruising_era(eras + 1, ack),
            State::Probing => {
                self.marked = false;
                self.enter_recovery(ack);
            }
            State::Pushing if self.growth() == Growth::Fast => self.restart_push(ack),
            State::Pushing => self.enter_recovery(ack),
        }
    }

    fn is_jittery(&self) -> bool {
        measuring::is_jittery(
            self.rate * self.segment_bytes,
            self.running_min_s,
            self.max_rtt_s,
        )
    }

    fn end_cruising_era(&mut self, eras: u32, ack: &AckSample) {
        self.begin_era(ack);
        let enough = if self.level == 0 { 1 } else { CRUISING_ERAS };
        if eras < enough || ack.limit == Limit::Application {
            self.state = State::Cruising { eras };
            return;
        }
        self.state = State::Probing;
        self.alpha = if self.level == 0 {
            MARKED_PROBING_ALPHA
        } else {
            PROBING_ALPHA
        };
        self.attempt.alpha = self.alpha;
        self.begin_era(ack);
    }

    fn restart_push(&mut self, ack: &AckSample) {
        self.restart_attempt();
        self.begin_era(ack);
    }

    /// Updates the estimates of round-trip times at the end of an era, from packets sent no faster than the nominal
    /// rate (`c4_update_min_max_rtt`).
    fn end_era_rtts(&mut self) {
        if self.era.alpha > 1.0 || self.era.max_rtt_s == 0.0 {
            return;
        }
        let shortest = self.era.min_rtt_s;
        self.running_min_s = shortest.min((7.0 * self.running_min_s + shortest) / 8.0);
        let longest = self.era.max_rtt_s.min(self.running_min_s + MAX_JITTER_S);
        self.draining |= longest < self.max_rtt_s;
        self.max_rtt_s = longest.max((7.0 * self.max_rtt_s + longest) / 8.0);
        self.max_rtt_s = self.max_rtt_s.max(MIN_MAX_RTT_S);
    }

    /// Ends Recovery, and chooses the next state (`c4_exit_recovery`).
    fn leave_recovery(&mut self, ack: &AckSample, window: &Window) {
        if self.growth() > Growth::None {
            self.congested_recoveries = 0;
            if !self.marked {
                self.level += 1;
            }
        } else {
            self.lower_rate();
            if self.attempt.used {
                self.level = u32::from(!self.marked);
            }
        }
        (self.largest, self.draining) = (0.0, false);
        (self.loss_rate, self.mark_rate, self.excess_s) = (0.0, 0.0, 0.0);
        self.restart_attempt();
        if self.level > MAX_LEVEL {
            self.enter_initial(ack, window);
        } else if self.level > 1 {
            (self.state, self.alpha) = (State::Pushing, PUSHING_ALPHA);
            self.restart_push(ack);
        } else {
            self.begin_era(ack);
            (self.state, self.alpha) = (State::Cruising { eras: 0 }, 1.0);
        }
    }

    /// Lowers the nominal rate after a probe or push that did not raise it. If the network limited the rate without
    /// congestion, the new rate is midway between the nominal rate and the maximum rate sample. From the second
    /// congestion in a row on, the new rate is at most the maximum rate sample.
    fn lower_rate(&mut self) {
        if self.attempt.congested {
            self.congested_recoveries += 1;
            if self.congested_recoveries >= 2 && self.largest > 0.0 {
                self.rate = self.rate.min(self.largest);
            }
        } else {
            self.congested_recoveries = 0;
            if self.attempt.used && self.largest > 0.0 {
                self.rate = (self.rate + self.largest) / 2.0;
            }
        }
    }

    /// Sets the window, the pacing rate and the quantum (`c4_apply_rate_and_cwin`).
    fn set_window(&mut self, ack: &AckSample, window: &mut Window) {
        if self.rate == 0.0 || self.max_rtt_s == 0.0 {
            return;
        }
        let mut per_s = self.alpha * self.rate;
        let mut cwnd = (per_s * self.max_rtt_s).max(MIN_SEGMENTS);
        if self.state == State::Initial {
            cwnd = cwnd.max(self.initial_cwnd);
            if self.events > 0 {
                per_s = per_s.max(MIN_INITIAL_BPS / 8.0 / self.segment_bytes);
                let peak = self.peak.per_s();
                if peak > per_s {
                    per_s = (per_s + peak) / 2.0;
                    cwnd = cwnd.max(peak * ack.srtt.as_secs_f64() / 2.0);
                }
            }
            self.initial_cwnd = cwnd;
        } else {
            cwnd += per_s * margin_s(self.max_rtt_s);
            if self.alpha > 1.0 {
                let more = (self.alpha - 1.0) * self.rate * self.max_rtt_s;
                cwnd += (1.0 - more).max(0.0);
            }
        }
        window.set_cwnd(cwnd.ceil());
        (self.pacing, self.quantum) = pacing(per_s, self.segment_bytes);
    }

    pub(super) fn probe(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let Self {
            rate,
            max_rtt_s,
            running_min_s,
            alpha,
            ..
        } = *self;
        show([rate, max_rtt_s, running_min_s, alpha], out);
    }
}

/// Returns the number of segments sent so far.
fn sent(ack: &AckSample) -> u64 {
    ack.delivered + ack.lost + ack.in_flight
}
