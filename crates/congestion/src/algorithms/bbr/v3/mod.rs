//! BBR, version 3: draft-ietf-ccwg-bbr-05 section 5.
//!
//! What was in flight and lost when a segment left, which the draft keeps for each, follows here
//! from the flow: its delivery rate over its round-trip time, and the losses of the round. The
//! answer to marks is Linux's (google/bbr, branch v3), which the draft does not have.

mod cycle;
mod fast_path;
mod model;
mod picoquic;
#[cfg(test)]
mod states;

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use self::fast_path::FastPath;
use self::model::{Aggregation, Bounds, Flight, Marks, MinRtt, Probe, Signals};
use self::picoquic::Picoquic;
use super::{
    FullPipe, MIN_WINDOW, Meter, NEEDS, Pacer, ProbeRtt, QUANTA, Recovery, Sample, larger, smaller,
};
use crate::congestion_control::{CongestionControl, Needs, Phases};
use crate::facts::{AckSample, Cause, Congestion, Phase, Timeout};
use crate::parameter::{Settings, Variant};
use crate::rate_sample::RateSample;
use crate::window::{Change, Window};

const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const WINDOW_GAIN: f64 = 2.0;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;

/// Part of the bandwidth that it paces at: a margin of one per cent keeps queues from forming.
const PACED: f64 = 0.99;

/// Rounds of the window for aggregated acknowledgements (ExtraAckedFilterLen).
const AGGREGATION_ROUNDS: u64 = 10;

/// Ranges lost in a round that end the startup (StartupFullLossCnt). Acknowledgements that tell of losses
/// stand for them, as in Linux v3.
const STARTUP_LOSSES: u32 = 6;

/// Rounds after which draining ends in any case.
const DRAIN_ROUNDS: u64 = 3;

/// Rounds in a row with too many marks that do the same (Linux v3, bbr_full_ecn_cnt).
const STARTUP_MARKED_ROUNDS: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Startup,
    Drain { since: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(ProbeRtt),
}

/// BBR, version 3.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr3 {
    loss_threshold: f64,
    kept: f64,
    headroom: f64,
    probe_rtt_interval: Span,
    ecn_factor: f64,
    ecn_max_rtt_s: f64,
    ecn_reprobe: f64,
    l4s: bool,
    meter: Meter,
    pacer: Pacer,
    state: State,
    filled: bool,
    full: FullPipe,
    full_now: bool,
    /// Largest delivery rate of the last cycle and of this one: segments per second.
    rates: [f64; 2],
    signals: Signals,
    bounds: Bounds,
    probe: Probe,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    marks: Marks,
    initial_window: f64,
    recovery: Recovery,
    was_idle: bool,
    /// Waits between probes are drawn from a sequence that the time of the first acknowledgement
    /// starts: alike in every run, different from flow to flow.
    draws: u64,
    /// What picoquic's has besides.
    picoquic: Option<Box<Picoquic>>,
    /// Set by the next full update.
    #[serde(skip)]
    fast_path: FastPath,
}

impl Bbr3 {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            loss_threshold: settings.get("loss_threshold"),
            kept: settings.get("kept"),
            headroom: settings.get("headroom"),
            probe_rtt_interval: Span::from_secs_f64(settings.get("probe_rtt_interval")),
            ecn_factor: settings.get("ecn_factor"),
            ecn_max_rtt_s: settings.get("ecn_max_rtt"),
            ecn_reprobe: settings.get("ecn_reprobe"),
            l4s: settings.get("l4s") == 1.0,
            meter: Meter::default(),
            pacer: Pacer::default(),
            state: State::Startup,
            filled: false,
            full: FullPipe::default(),
            full_now: false,
            rates: [0.0; 2],
            signals: Signals::default(),
            bounds: Bounds::NONE,
            probe: Probe::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            marks: Marks::default(),
            initial_window: 0.0,
            recovery: Recovery::default(),
            was_idle: false,
            draws: 0,
            picoquic: (settings.variant() == Variant::Picoquic).then(Box::default),
            fast_path: FastPath::default(),
        }
    }

    /// Section 5.2.1.
    fn begin(&mut self, ack: &AckSample, window: &Window) {
        self.draws = ack.now.as_ps();
        self.initial_window = window.cwnd();
        self.aggregation.start = ack.now;
        self.pacer.begin(ack, window, STARTUP_GAIN);
    }

    fn max_rate(&self) -> f64 {
        larger(self.rates[0], self.rates[1])
    }

    fn bandwidth(&self) -> f64 {
        smaller(self.max_rate(), self.bounds.short_rate)
    }

    /// What the path carries, times `gain`: segments.
    fn carried(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt.rtt {
            Some(_) => gain * bandwidth * self.min_rtt.rtt_s,
            None => self.initial_window,
        }
    }

    /// Segments that leave at once (BBRSetSendQuantum).
    fn quantum(&self) -> f64 {
        larger(self.pacer.segments_at_once, 2.0)
    }

    /// BBRQuantizationBudget.
    fn budget(&self, segments: f64) -> f64 {
        let probe = if self.is_probing_up() { 2.0 } else { 0.0 };
        larger(larger(segments, QUANTA * self.quantum()), MIN_WINDOW) + probe
    }

    /// What the path carries, unless congestion reduced the window (BBRTargetInflight).
    fn target(&self, window: &Window) -> f64 {
        smaller(self.carried(self.bandwidth(), 1.0), window.cwnd())
    }

    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, WINDOW_GAIN),
            State::Drain { .. } => (DRAIN_GAIN, WINDOW_GAIN),
            State::Down => (DOWN_GAIN, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (UP_GAIN, UP_WINDOW_GAIN),
            State::ProbeRtt(_) => (1.0, PROBE_RTT_WINDOW_GAIN),
        }
    }

    fn is_probing_bandwidth(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    fn is_probing_up(&self) -> bool {
        matches!(self.state, State::Up)
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    fn is_in_cycle(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// Records what was delivered, lost and marked (sections 5.5.10.2 and 5.5.10.3).
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

    /// Whether losses or marks of the last flight say that it was too large.
    fn is_too_high(&self, flight: Flight) -> bool {
        let losses = self.signals.losses;
        let all = || flight.segments() + losses;
        let counts = |picoquic: &Picoquic| picoquic.counts(losses, flight, self.meter.delivered);
        losses > 0.0
            && losses > self.loss_threshold * all()
            && self.picoquic.as_deref().is_none_or(counts)
            || self.marks.are_high()
    }

    /// At the end of a round with losses or marks (BBRUpdateCongestionSignals).
    fn end_signal_round(&mut self, flight: Flight, window: &Window) {
        if !self.signals.round_start {
            return;
        }
        let is_short = self.min_rtt.rtt.is_some() && self.min_rtt.rtt_s <= self.ecn_max_rtt_s;
        self.marks.eligible |= self.ecn_factor > 0.0 && is_short;
        self.marks.end_round();
        if self.state == State::Startup && self.is_queue_too_high(flight) {
            self.fill_at_high_queue();
        }
        if !self.is_probing_bandwidth() {
            self.lower_short_bounds(window);
        }
        let signals = &mut self.signals;
        (signals.lost, signals.marked) = (false, false);
        (signals.losses, signals.loss_events) = (0.0, 0);
    }

    /// Whether the losses of a round in fast recovery end the startup (section 5.3.1.3), or the marks of
    /// several rounds.
    fn is_queue_too_high(&self, flight: Flight) -> bool {
        let many = self.signals.loss_events >= STARTUP_LOSSES;
        let lost = self.recovery.is_fast() && many && self.is_too_high(flight);
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

    /// Once in each round (section 5.3.1.2).
    fn check_full(&mut self, ack: &AckSample, sample: &Sample) {
        if self.picoquic.is_some() {
            return self.check_full_as_picoquic(sample);
        }
        if let Some(rate) = ack.delivery_rate
            && !self.full_now
            && sample.round_start
            && !sample.limited
        {
            self.full_now = self.full.is_full(rate.per_second());
            self.filled |= self.full_now;
        }
    }

    fn reset_full(&mut self, bandwidth: f64) {
        self.full_now = false;
        self.full = FullPipe {
            bandwidth,
            rounds: 0,
        };
    }

    fn start_drain(&mut self, flight: Flight) {
        self.state = State::Drain {
            since: self.meter.rounds,
        };
        if let Some(picoquic) = &mut self.picoquic {
            picoquic.on_full_pipe(&mut self.full, &mut self.bounds, flight);
        }
    }

    fn leave_startup(
        &mut self,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    ) {
        if self.filled && matches!(self.state, State::Startup) {
            self.start_drain(flight);
            window.exit_slow_start();
        }
        if self.picoquic.is_some() {
            return self.recover_and_drain_as_picoquic(ack, sample, flight, window);
        }
        if let State::Drain { since } = self.state {
            let drained = ack.in_flight as f64 <= self.budget(self.carried(self.bandwidth(), 1.0));
            if drained || self.meter.rounds > since + DRAIN_ROUNDS {
                self.start_cycle(ack.now);
            }
        }
    }

    /// Section 5.3.4.3.
    fn probe_rtt(&mut self, ack: &AckSample, sample: &Sample, window: &mut Window) {
        if self.min_rtt.expired && !self.is_probing_rtt() && !self.was_idle {
            self.recovery.save(window, false);
            if self.picoquic.is_some() {
                self.min_rtt.measure_anew(ack);
            }
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
            self.leave_probe_rtt(ack.now, window);
        }
    }

    fn leave_probe_rtt(&mut self, now: Time, window: &mut Window) {
        self.min_rtt.recent = self.min_rtt.recent.map(|(rtt, _)| (rtt, now));
        self.recovery.restore(window);
        self.bounds.reset_short();
        if self.filled {
            self.start_cycle(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        self.carried(self.bandwidth(), PROBE_RTT_WINDOW_GAIN)
            .max(MIN_WINDOW)
    }

    /// Sections 5.6.4.6 and 5.6.4.7; `carried` is what the path carries, times the window's gain. Returns
    /// what bounds the window of a full pipe.
    fn set_window(
        &self,
        carried: f64,
        ack: &AckSample,
        sample: &Sample,
        window: &mut Window,
    ) -> f64 {
        let most = self.budget(carried + self.aggregation.extra.get());
        let mut cwnd = self.window_after_losses(sample, window);
        let grown = cwnd + sample.newly_delivered;
        if self.is_conserving() {
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
        window.set_cwnd(smaller(cwnd, cap), Change::Avoidance);
        smaller(most, cap)
    }

    /// In the order of section 5.2.3.
    fn full_update(&mut self, ack: &AckSample, window: &mut Window) {
        if self.pacer.segments_per_s.is_none() {
            self.begin(ack, window);
        }
        self.note_silence(ack);
        let newly = self.meter.read(ack);
        let sample = self.meter.sample(ack, newly);
        let flight = Flight::of(ack);
        self.probe
            .note_use_of_cwnd(ack, sample.prior_in_flight, window.cwnd());
        self.note_signals(ack, &sample, flight);
        self.end_signal_round(flight, window);
        self.note_aggregation(ack, &sample, window);
        self.check_full(ack, &sample);
        self.leave_startup(ack, &sample, flight, window);
        self.advance_cycle(ack, &sample, flight, window);
        self.update_min_rtt(ack);
        self.probe_rtt(ack, &sample, window);
        if self.signals.round_start {
            self.signals.rate = per_second(ack);
            self.signals.volume = flight.segments();
        }
        let ((gain, window_gain), bandwidth) = (self.gains(), self.bandwidth());
        self.pacer.set(gain * bandwidth * PACED, self.filled);
        let carried = self.carried(bandwidth, window_gain);
        let bound = self.set_window(carried, ack, &sample, window);
        if self.picoquic.is_none() {
            self.fast_path = self.fast_path_bounds(ack, bound, window);
        }
    }

    fn note_aggregation(&mut self, ack: &AckSample, sample: &Sample, window: &Window) {
        let newly = sample.newly_delivered;
        if self.picoquic.is_some() {
            // What it takes for expected is always more (`BBRUpdateACKAggregation`).
            self.aggregation.go_on(Aggregation::none(ack.now));
        }
        let aggregated = self
            .aggregation
            .with(ack.now, newly, self.bandwidth(), window.cwnd());
        self.aggregation.go_on(aggregated);
        let length = if self.filled { AGGREGATION_ROUNDS } else { 1 };
        self.aggregation
            .extra
            .update(self.meter.rounds, aggregated.extra, length);
    }
}

/// The delivery rate of an acknowledgement in segments per second, zero if it was not measured.
fn per_second(ack: &AckSample) -> f64 {
    ack.delivery_rate.map_or(0.0, RateSample::per_second)
}

impl CongestionControl for Bbr3 {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        if !self.try_fast_path(ack, window) {
            self.full_update(ack, window);
        }
    }

    /// The window to go back to after recovery; what the losses change comes with the
    /// acknowledgements.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.fast_path = FastPath::default();
        let is_loss = matches!(event.cause, Cause::Loss | Cause::Nak);
        if is_loss && self.picoquic.is_none() {
            self.recovery.enter(window, self.is_probing_rtt());
        }
    }

    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        self.fast_path = FastPath::default();
        self.recovery.time_out(window, self.is_probing_rtt());
    }

    fn on_recovery_exit(&mut self, _now: Time, window: &mut Window) {
        self.fast_path = FastPath::default();
        if self.picoquic.is_some() && !self.ends_timeout_as_picoquic() {
            return;
        }
        self.recovery.exit(window);
    }

    /// Section 5.4.1: resumes at the bandwidth itself.
    fn on_idle(&mut self, _idle: Span, _window: &mut Window) {
        self.fast_path = FastPath::default();
        self.was_idle = true;
        if self.is_in_cycle() {
            self.pacer.set(self.bandwidth() * PACED, self.filled);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacer.rate
    }

    fn send_quantum(&self) -> u64 {
        self.quantum() as u64
    }

    /// Who claims ECN support must treat marks as congestion (draft-ietf-ccwg-bbr, section "ECN"); the
    /// share of marks is that of segments.
    fn needs(&self) -> Needs {
        Needs {
            no_ecn: self.ecn_factor == 0.0,
            exact_marks: self.ecn_factor > 0.0,
            l4s: self.l4s,
            ..NEEDS
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        let rtt = self.min_rtt.rtt;
        let (gain, _) = self.gains();
        out("bandwidth_segments_per_s", self.bandwidth());
        out(
            "min_rtt_s",
            rtt.map_or(f64::NAN, |(rtt, _)| rtt.as_secs_f64()),
        );
        out("pacing_gain", gain);
        out("long_in_flight", self.bounds.long_in_flight);
        out("short_in_flight", self.bounds.short_in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::bbr::Episode;
    use crate::algorithms::bbr3::ENTRY;
    use crate::parameter::Variant;

    /// Section 5.3.1.3: six ranges, however many segments; more than 2 % of the flight in any case.
    #[test]
    fn a_burst_of_losses_does_not_end_the_startup() {
        let mut bbr = Bbr3::new(&ENTRY.settings(Variant::Paper, &[]).unwrap());
        bbr.recovery.episode = Some(Episode::FastRecovery);
        let none = Flight::NONE;
        bbr.note_losses(60.0);
        assert!(bbr.is_too_high(none) && !bbr.is_queue_too_high(none));
        (0..5).for_each(|_| bbr.note_losses(1.0));
        assert!(bbr.is_queue_too_high(none));
        bbr.recovery.episode = Some(Episode::Timeout);
        assert!(!bbr.is_queue_too_high(none));
    }
}
