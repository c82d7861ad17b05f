//! Update of the state machine by an acknowledgement, with the rules of a variant.

use longhaul_units::Time;

use super::machine::{Machine, PACED, STARTUP_GAIN, State, per_second};
use super::model::Flight;
use super::rules::Rules;
use crate::algorithms::bbr::{MIN_WINDOW, ProbeRtt, Sample, larger, smaller};
use crate::facts::AckSample;
use crate::rate_sample::RateSample;
use crate::window::Window;

/// Number of losses in a round at which Startup ends (BBRStartupFullLossCnt, section 5.3.1.3). The draft counts lost
/// ranges; like Linux v3, this implementation counts acknowledgements that report losses.
const STARTUP_LOSSES: u32 = 6;

/// Number of successive rounds with too many marks after which Startup ends (Linux v3, bbr_full_ecn_cnt).
const STARTUP_MARKED_ROUNDS: u32 = 2;

impl Machine {
    /// Initialises the state at the first acknowledgement (section 5.2.1).
    fn begin(&mut self, ack: &AckSample, window: &Window) {
        self.draws = ack.now.as_ps();
        self.initial_window = window.cwnd();
        self.aggregation.start = ack.now;
        self.pacer.begin(ack, window, STARTUP_GAIN);
    }

    /// Records the delivered, lost and marked segments that an acknowledgement reports (sections 5.5.10.2 and
    /// 5.5.10.3).
    #[inline(always)]
    fn note_signals(&mut self, ack: &AckSample, sample: &Sample, flight: Flight) {
        if sample.newly_lost > 0.0 {
            self.note_losses(sample.newly_lost);
        }
        if ack.ecn_echo {
            self.note_marks(ack, sample.newly_delivered);
        }
        self.marks.delivered += sample.newly_delivered;
        let signals = &mut self.signals;
        signals.round_start = self.meter.answered() > signals.round_end;
        if signals.round_start {
            signals.round_end = self.meter.sent();
        }
        if let Some(rate) = ack.delivery_rate {
            signals.raise(rate, flight);
            self.note_rate(rate, sample.limited);
        }
    }

    #[cold]
    fn note_losses(&mut self, newly: f64) {
        let signals = &mut self.signals;
        if !signals.lost {
            signals.round_end = self.meter.sent();
        }
        signals.lost = true;
        signals.losses += newly;
        signals.loss_events += 1;
        self.marks.lost_in_cycle = true;
    }

    #[cold]
    fn note_marks(&mut self, ack: &AckSample, newly: f64) {
        self.signals.marked |= self.marks.eligible;
        self.marks.note(ack, newly);
    }

    fn note_rate(&mut self, rate: RateSample, limited: bool) {
        let [before, now] = self.rates;
        if !(rate.is_below(now) || limited && rate.is_below(before)) {
            self.rates[1] = rate.per_second();
        }
    }

    /// Returns true if losses or marks show that the last flight was too large (IsInflightTooHigh, section 5.5.10.2).
    #[inline]
    pub(super) fn is_too_high(&self, rules: &impl Rules, flight: Flight) -> bool {
        let losses = self.signals.losses;
        let all = || flight.segments() + losses;
        losses > 0.0
            && losses > self.loss_threshold * all()
            && rules.counts(losses, flight, self.meter.delivered)
            || self.marks.are_high()
    }

    /// Processes the end of a round (BBRUpdateCongestionSignals, section 5.5.10.3). Updates the fraction of marked
    /// segments, and ends Startup after too many losses or marks. Outside Startup and probes, lowers the short-term
    /// bounds if the round had losses or marks.
    fn end_signal_round(&mut self, rules: &impl Rules, flight: Flight, window: &Window) {
        if !self.signals.round_start {
            return;
        }
        let is_short = self.min_rtt.rtt.is_some() && self.min_rtt.rtt_s <= self.ecn_max_rtt_s;
        self.marks.eligible |= self.ecn_factor > 0.0 && is_short;
        self.marks.end_round();
        if self.state == State::Startup && self.is_queue_too_high(rules, flight) {
            self.fill_at_high_queue();
        }
        if !self.is_probing_bandwidth() {
            self.lower_short_bounds(window);
        }
        let signals = &mut self.signals;
        (signals.lost, signals.marked) = (false, false);
        (signals.losses, signals.loss_events) = (0.0, 0);
    }

    /// Returns true if Startup must end: after many losses in a round of fast recovery, or after several rounds with
    /// many marks (section 5.3.1.3).
    fn is_queue_too_high(&self, rules: &impl Rules, flight: Flight) -> bool {
        let many = self.signals.loss_events >= STARTUP_LOSSES;
        let lost = self.recovery.is_fast() && many && self.is_too_high(rules, flight);
        lost || self.marks.high_rounds >= STARTUP_MARKED_ROUNDS
    }

    fn fill_at_high_queue(&mut self) {
        self.filled = true;
        let carried = self.carried(self.bandwidth(), 1.0);
        self.bounds.long_in_flight = carried.max(self.signals.volume);
    }

    fn lower_short_bounds(&mut self, window: &Window) {
        let (signals, max_rate) = (&self.signals, self.max_rate());
        let bounds = &mut self.bounds;
        if (signals.lost || signals.marked) && bounds.short_in_flight == f64::INFINITY {
            bounds.short_in_flight = window.cwnd();
        }
        let after_marks = if signals.marked {
            bounds.short_in_flight * (1.0 - self.marks.alpha * self.ecn_factor)
        } else {
            f64::INFINITY
        };
        if signals.lost {
            bounds.short_rate = signals
                .rate
                .max(self.kept * bounds.short_rate.min(max_rate));
            bounds.short_in_flight = signals.volume.max(self.kept * bounds.short_in_flight);
        }
        bounds.short_in_flight = bounds.short_in_flight.min(after_marks);
    }

    fn leave_startup(
        &mut self,
        rules: &mut impl Rules,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    ) {
        if self.filled && matches!(self.state, State::Startup) {
            self.start_drain();
            rules.on_full_pipe(self, flight);
            window.exit_slow_start();
        }
        rules.drain(self, ack, sample, flight, window);
    }

    /// Enters, continues or ends ProbeRTT (section 5.3.4.3).
    fn probe_rtt(
        &mut self,
        rules: &mut impl Rules,
        ack: &AckSample,
        sample: &Sample,
        window: &mut Window,
    ) {
        if self.min_rtt.expired && !self.is_probing_rtt() && !self.was_idle {
            self.recovery.save(window, false);
            rules.on_probe_rtt(&mut self.min_rtt, ack);
            self.state = State::ProbeRtt(ProbeRtt::default());
            self.probe.stopping = true;
            self.meter.restart_round();
        }
        self.was_idle = false;
        if !self.is_probing_rtt() {
            return;
        }
        let few = sample.in_flight <= self.probe_rtt_window();
        let State::ProbeRtt(probe) = &mut self.state else {
            return;
        };
        if probe.advance(ack.now, few, sample.round_start, &mut self.meter) {
            self.leave_probe_rtt(rules, ack.now, window);
        }
    }

    fn leave_probe_rtt(&mut self, rules: &mut impl Rules, now: Time, window: &mut Window) {
        self.min_rtt.recent = self.min_rtt.recent.map(|(rtt, _)| (rtt, now));
        self.recovery.restore(window);
        self.bounds.reset_short();
        if self.filled {
            self.start_cycles(rules, now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// Sets the window (sections 5.6.4.6 and 5.6.4.7). Returns the upper bound that the window has once the pipe is
    /// full. `carried` is the bandwidth-delay product times the window gain, in segments.
    fn set_window<R: Rules>(
        &self,
        carried: f64,
        ack: &AckSample,
        sample: &Sample,
        window: &mut Window,
    ) -> f64 {
        let most = self.budget(carried + self.aggregation.extra.get());
        let mut cwnd = self.window_after_losses::<R>(sample, window);
        let grown = cwnd + sample.newly_delivered;
        if self.is_conserving::<R>() {
            cwnd = larger(cwnd, sample.in_flight + sample.newly_delivered);
        } else if self.filled {
            cwnd = smaller(grown, most);
        } else if cwnd < most || (ack.delivered as f64) < self.initial_window {
            cwnd = grown;
        }
        cwnd = larger(cwnd, MIN_WINDOW);
        if self.is_probing_rtt() {
            cwnd = smaller(cwnd, self.probe_rtt_window());
        }
        let long = match self.state {
            State::Cruise | State::ProbeRtt(_) => self.with_headroom(),
            State::Down | State::Refill | State::Up => self.bounds.long_in_flight,
            State::Startup | State::Drain { .. } => f64::INFINITY,
        };
        let cap = larger(smaller(long, self.bounds.short_in_flight), MIN_WINDOW);
        window.set_cwnd(smaller(cwnd, cap));
        smaller(most, cap)
    }

    /// Returns true if losses or marks have frozen the window (picoquic's rules).
    pub(super) fn is_conserving<R: Rules>(&self) -> bool {
        R::CONSERVES && self.recovery.is_fast()
    }

    /// Returns the window, less the segments that were just lost if the rules subtract them.
    fn window_after_losses<R: Rules>(&self, sample: &Sample, window: &Window) -> f64 {
        if R::CONSERVES {
            larger(window.cwnd() - sample.newly_lost, 1.0)
        } else {
            window.cwnd()
        }
    }

    /// Processes an acknowledgement in the order of section 5.2.3. Returns the upper bound that the window has when the
    /// pipe is full.
    ///
    /// Some methods that it calls are marked `inline(always)`. The compiler would not inline them otherwise, since this
    /// method is compiled for two sets of rules. This would cost 1.6 % of the instructions of a simulation.
    pub(super) fn full_update<R: Rules>(
        &mut self,
        rules: &mut R,
        ack: &AckSample,
        window: &mut Window,
    ) -> f64 {
        if self.pacer.segments_per_s.is_none() {
            self.begin(ack, window);
        }
        rules.begin_ack(self, ack);
        let newly = self.meter.read(ack);
        let sample = self.meter.sample(ack, newly);
        let flight = Flight::of(ack);
        self.probe
            .note_use_of_cwnd(ack, sample.prior_in_flight, window.cwnd());
        self.note_signals(ack, &sample, flight);
        self.end_signal_round(rules, flight, window);
        self.note_aggregation(rules, ack, &sample, window);
        rules.check_full(self, ack, &sample);
        self.leave_startup(rules, ack, &sample, flight, window);
        rules.advance_cycle(self, ack, &sample, flight, window);
        rules.update_min_rtt(self, ack);
        self.probe_rtt(rules, ack, &sample, window);
        if self.signals.round_start {
            self.signals.rate = per_second(ack);
            self.signals.volume = flight.segments();
        }
        let ((gain, window_gain), bandwidth) = (self.gains(), self.bandwidth());
        self.pacer.set(gain * bandwidth * PACED, self.filled);
        let carried = self.carried(bandwidth, window_gain);
        self.set_window::<R>(carried, ack, &sample, window)
    }

    fn note_aggregation(
        &mut self,
        rules: &impl Rules,
        ack: &AckSample,
        sample: &Sample,
        window: &Window,
    ) {
        let newly = sample.newly_delivered;
        rules.begin_aggregation(&mut self.aggregation, ack.now);
        let aggregated = self
            .aggregation
            .with(ack.now, newly, self.bandwidth(), window.cwnd());
        self.aggregation.go_on(aggregated);
        let length = self.aggregation_rounds();
        self.aggregation
            .extra
            .update(self.meter.rounds, aggregated.extra, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bbr::Episode;
    use crate::algorithms::bbr::v3::draft::Draft;
    use crate::algorithms::bbr3::ENTRY;
    use crate::parameter::Variant;

    /// Checks that one burst of many losses does not end Startup, but a sixth report of losses in fast recovery does
    /// (section 5.3.1.3).
    #[test]
    fn a_burst_of_losses_does_not_end_the_startup() {
        let rules = Draft::default();
        let mut bbr = Machine::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        bbr.recovery.episode = Some(Episode::FastRecovery);
        let none = Flight::NONE;
        bbr.note_losses(60.0);
        assert!(bbr.is_too_high(&rules, none) && !bbr.is_queue_too_high(&rules, none));
        (0..5).for_each(|_| bbr.note_losses(1.0));
        assert!(bbr.is_queue_too_high(&rules, none));
        bbr.recovery.episode = Some(Episode::Timeout);
        assert!(!bbr.is_queue_too_high(&rules, none));
    }
}
