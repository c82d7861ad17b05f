//! BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00, section 4.
//!
//! Variant linux-6.18 adds the rules of the Linux kernel.

mod fast_path;
mod kernel;
#[cfg(test)]
mod states;

use longhaul_units::{Rate, Span, Time};
use serde::{Deserialize, Serialize};

use self::fast_path::FastPath;
use self::kernel::{AckReport, Kernel, PACING_MARGIN, PROBING_BUDGET, Policer};
use super::{
    FullPipe, MIN_WINDOW, Meter, NEEDS, Newly, Pacer, ProbeRtt, QUANTA, Recovery, Sample, larger,
    smaller,
};
use crate::congestion_control::{CongestionControl, Phases};
use crate::entry::{Entry, PathNeeds, Signal};
use crate::extension::Extension;
use crate::facts::{AckSample, Cause, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{DefaultValue, Parameter, Range, Settings, Variant};
use crate::quantity;
use crate::split_mix::split_mix;
use crate::whole_windows::ticks;
use crate::window::Window;
use crate::windowed_max::WindowedMax;

pub(crate) static ENTRY: Entry<Bbr> = Entry {
    kind: "bbr",
    title: "BBR (version 1)",
    description: "Paces at the largest delivery rate of the last ten round trips and keeps at most twice the \
        bandwidth-delay product in flight. Startup doubles the rate until the delivery rate stops growing and Drain \
        empties the queue. ProbeBW then cycles through phases of one round trip each: one faster, one slower, and \
        six at the delivery rate. Every probe_rtt_interval, ProbeRTT measures the round-trip time with four segments \
        in flight. Losses restrict the window for one round trip only. BBR always paces, and needs the transport's \
        delivery rate samples. Variant linux-6.18 keeps more in flight for aggregated ACKs, detects traffic \
        policers, and enters ProbeRTT even if round-trip time samples equal the smallest one.",
    law: &[
        "rate = largest delivery rate of 10 round trips; bdp = rate * min_rtt",
        "pacing rate = gain * rate; cwnd = 2 * bdp",
        "gain: 2 / ln(2) in startup, its inverse to drain, then 1.25, 0.75, and 1 six times, a round trip each",
        "every probe_rtt_interval: cwnd = 4 for 200 ms",
        "loss: packet conservation for one round trip",
    ],
    source: "draft-cardwell-iccrg-bbr-congestion-control-00; Linux 6.18, tcp_bbr.c",
    listens_to: &[Signal::Delay, Signal::Rate],
    needs_path: PathNeeds::NONE,
    state: &[
        quantity::BANDWIDTH,
        quantity::MIN_RTT,
        quantity::PACING_GAIN,
    ],
    variants: &[Variant::Paper, Variant::Linux6_18],
    parameters: &[
        Parameter {
            name: "high_gain",
            unit: "1",
            default: DefaultValue::Fixed(2.885),
            allowed: Range::above(1.0, 100.0),
            help: "Pacing and window gain while the rate doubles each round trip, 2 / ln 2.",
            source: "draft-00 section 4.3.2.1, BBRHighGain",
        },
        Parameter {
            name: "cwnd_gain",
            unit: "1",
            default: DefaultValue::Fixed(2.0),
            allowed: Range::closed(1.0, 100.0),
            help: "Window as a multiple of the bandwidth-delay product.",
            source: "draft-00 section 4.2.3.2, cwnd_gain",
        },
        Parameter {
            name: "probe_rtt_interval",
            unit: "seconds",
            default: DefaultValue::Fixed(10.0),
            allowed: Range::closed(0.1, 1e4),
            help: "Age of the smallest round-trip time at which it is measured anew.",
            source: "draft-00 section 4.1.2.3, RTpropFilterLen",
        },
    ],
    build: |settings| Ok(Bbr::new(settings)),
};

/// Length of the bandwidth's maximum filter, in round trips (BtlBwFilterLen).
const BANDWIDTH_ROUNDS: u64 = 10;

/// Gains of the eight phases of the gain cycle (section 4.3.4.2): a probe, a phase that drains the queue of the probe,
/// and six phases of cruising.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt(ProbeRtt),
}

/// State of BBR, version 1, for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr {
    high_gain: f64,
    cwnd_gain: f64,
    probe_rtt_interval: Span,
    meter: Meter,
    pacer: Pacer,
    state: State,
    /// Maximum delivery rate over the last `BANDWIDTH_ROUNDS` rounds, in segments per second.
    bandwidth: WindowedMax,
    /// Smallest round-trip time, and the time at which it was measured or the last ProbeRTT ended; `None` before the
    /// first sample.
    min_rtt: Option<(Span, Time)>,
    min_rtt_s: f64,
    full: FullPipe,
    filled: bool,
    phase: usize,
    phase_start: Time,
    initial_window: f64,
    recovery: Recovery,
    /// True in the first round of a recovery. In this round, one segment is sent for each delivered one.
    conserving: bool,
    /// True if a recovery has begun since the last processed acknowledgement.
    entering: bool,
    was_idle: bool,
    /// State of the Linux kernel's additions; `None` in the variant of the draft.
    kernel: Option<Box<Kernel>>,
    /// State of the random sequence that chooses the first phase of the gain cycle. The seed is the time of the first
    /// acknowledgement, which differs between flows, but is equal in every run.
    draws: u64,
    /// Bounds of the fast path, which each full update computes.
    #[serde(skip)]
    fast_path: FastPath,
}

impl Bbr {
    fn new(settings: &Settings) -> Self {
        Self {
            high_gain: settings.get("high_gain"),
            cwnd_gain: settings.get("cwnd_gain"),
            probe_rtt_interval: Span::from_secs_f64(settings.get("probe_rtt_interval")),
            meter: Meter::default(),
            pacer: Pacer::default(),
            state: State::Startup,
            bandwidth: WindowedMax::new(),
            min_rtt: None,
            min_rtt_s: 0.0,
            full: FullPipe::default(),
            filled: false,
            phase: 0,
            phase_start: Time::ZERO,
            initial_window: 0.0,
            recovery: Recovery::default(),
            conserving: false,
            entering: false,
            was_idle: false,
            kernel: (settings.variant() == Variant::Linux6_18).then(Box::default),
            draws: 0,
            fast_path: FastPath::default(),
        }
    }

    /// Initialises the state at the first acknowledgement (section 4.2.1).
    fn begin(&mut self, ack: &AckSample, window: &Window) {
        self.draws = ack.now.as_ps();
        self.initial_window = window.cwnd();
        self.pacer.begin(ack, window, self.high_gain);
    }

    fn update_bandwidth(&mut self, ack: &AckSample, sample: &Sample) {
        if let Some(rate) = ack.delivery_rate
            && !rate.is_below(
                self.bandwidth
                    .ignores_below(self.meter.rounds, BANDWIDTH_ROUNDS),
            )
        {
            let (round, rate) = (self.meter.rounds, rate.per_second());
            if rate >= self.bandwidth.get() || !sample.limited {
                self.bandwidth.update(round, rate, BANDWIDTH_ROUNDS);
            }
        }
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    /// Returns the estimated bandwidth of the path in segments per second (`bbr_bw`): the policer's rate if a policer
    /// is detected, otherwise the maximum delivery rate.
    fn rate(&self) -> f64 {
        let policed = self
            .kernel
            .as_ref()
            .and_then(|kernel| kernel.policer.rate());
        policed.unwrap_or_else(|| self.bandwidth.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::ProbeBw if self.is_policed() => 1.0,
            State::Startup => self.high_gain,
            State::Drain => 1.0 / self.high_gain,
            State::ProbeBw => CYCLE[self.phase],
            State::ProbeRtt(_) => 1.0,
        }
    }

    fn is_policed(&self) -> bool {
        let kernel = self.kernel.as_ref();
        kernel.is_some_and(|kernel| kernel.policer.rate().is_some())
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.high_gain,
            State::ProbeBw => self.cwnd_gain,
            State::ProbeRtt(_) => 1.0,
        }
    }

    /// Returns the number of segments in a burst (BBRSetSendQuantum, section 4.2.2).
    fn quantum(&self) -> f64 {
        const SLOW_BPS: f64 = 1.2e6;
        const FAST_BPS: f64 = 24e6;
        match self.pacer.bits_per_s {
            rate if rate < SLOW_BPS => 1.0,
            rate if rate < FAST_BPS => 2.0,
            _ => self.pacer.segments_at_once,
        }
    }

    /// Returns the target of segments in flight: `gain` times the bandwidth-delay product at the maximum delivery rate,
    /// plus a budget for bursts (BBRInflight). A policer's rate is not used.
    fn in_flight_at(&self, gain: f64) -> f64 {
        self.with_budget(gain, self.bandwidth.get(), 0.0)
    }

    /// Returns the upper bound that the window has once the pipe is full, outside packet conservation.
    fn target(&self) -> f64 {
        let rate = self.rate();
        let room = match &self.kernel {
            Some(kernel) if self.filled => kernel.aggregation.room(rate),
            _ => 0.0,
        };
        self.with_budget(self.window_gain(), rate, room)
    }

    /// Returns a target of segments in flight: `gain` times the bandwidth-delay product at `rate` segments per second,
    /// plus `room` (an allowance for ACK aggregation, in segments) and a budget for bursts. The kernel rounds the
    /// target to an even number, and adds segments while it probes (`bbr_quantization_budget`). Before the first
    /// round-trip sample, the target is the initial window.
    fn with_budget(&self, gain: f64, rate: f64, room: f64) -> f64 {
        if self.min_rtt.is_none() {
            return self.initial_window;
        }
        let carried = gain * rate * self.min_rtt_s;
        let budget = QUANTA * self.quantum();
        if self.kernel.is_none() {
            return carried + budget;
        }
        let whole = carried.ceil() + room + budget;
        let even = 2.0 * (whole / 2.0).ceil();
        let probes = matches!(self.state, State::ProbeBw) && self.phase == 0;
        even + if probes { PROBING_BUDGET } else { 0.0 }
    }

    /// Advances the gain cycle (section 4.3.4.3).
    fn advance_cycle(&mut self, ack: &AckSample, sample: &Sample) {
        let Some((rtt, _)) = self.min_rtt else {
            return;
        };
        let elapsed = ack.now.since(self.phase_start) > rtt;
        let gain = self.pacing_gain();
        let over = if gain > 1.0 {
            let risen = sample.prior_in_flight >= self.in_flight_at(gain);
            elapsed && (sample.newly_lost > 0.0 || risen)
        } else if gain < 1.0 {
            elapsed || sample.prior_in_flight <= self.in_flight_at(1.0)
        } else {
            elapsed
        };
        if over {
            self.next_phase(ack.now);
        }
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    /// Begins the gain cycle at a random phase other than the phase that drains the queue.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.phase = CYCLE.len() - 1 - (split_mix(&mut self.draws) % 7) as usize;
        self.next_phase(now);
    }

    fn leave_startup(&mut self, ack: &AckSample, sample: &Sample, window: &mut Window) {
        if !self.filled && sample.round_start && !sample.limited {
            self.filled = self.full.is_full(self.bandwidth.get());
        }
        if matches!(self.state, State::Startup) && self.filled {
            self.state = State::Drain;
            if self.kernel.is_some() {
                // As in `bbr_check_drain`.
                window.set_ssthresh(self.in_flight_at(1.0));
            } else {
                window.exit_slow_start();
            }
        }
        if matches!(self.state, State::Drain) && sample.in_flight <= self.in_flight_at(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// Updates the smallest round-trip time; returns true if the previous one had expired (BBRUpdateRTprop).
    fn update_min_rtt(&mut self, ack: &AckSample) -> bool {
        // Linux measures ages in clock ticks.
        let old = |since: Time| {
            let until = since + self.probe_rtt_interval;
            ack.now > until && (self.kernel.is_none() || ticks(ack.now) > ticks(until))
        };
        let expired = self.min_rtt.is_some_and(|(_, since)| old(since));
        // In Linux, a sample that equals the smallest does not postpone the probe (commit
        // 1b9e2a8c99a5).
        let confirms = |rtt, min| rtt < min || rtt == min && self.kernel.is_none();
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|(min, _)| confirms(rtt, min)))
        {
            self.min_rtt = Some((rtt, ack.now));
            self.min_rtt_s = rtt.as_secs_f64();
        }
        expired
    }

    /// Begins, advances or ends the probe for the round-trip time (section 4.3.5). `expired` is true if the smallest
    /// round-trip time had expired.
    fn probe_rtt(&mut self, ack: &AckSample, sample: &Sample, expired: bool, window: &mut Window) {
        if expired && !self.is_probing_rtt() && !self.was_idle {
            self.recovery.save(window, false);
            self.state = State::ProbeRtt(ProbeRtt::default());
        }
        self.was_idle = false;
        let few = sample.in_flight <= MIN_WINDOW;
        let State::ProbeRtt(probe) = &mut self.state else {
            return;
        };
        if probe.advance(ack.now, few, sample.round_start, &mut self.meter) {
            self.leave_probe_rtt(ack.now, window);
        }
    }

    fn leave_probe_rtt(&mut self, now: Time, window: &mut Window) {
        self.min_rtt = self.min_rtt.map(|(rtt, _)| (rtt, now));
        self.recovery.restore(window);
        if self.filled {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// Sets the window after an acknowledgement (section 4.2.3). `target` is the result of [`Self::target`].
    fn set_window(&self, ack: &AckSample, sample: &Sample, target: f64, window: &mut Window) {
        let mut cwnd = larger(window.cwnd() - sample.newly_lost, 1.0);
        let grown = cwnd + sample.newly_delivered;
        if self.conserving {
            cwnd = larger(cwnd, sample.in_flight + sample.newly_delivered);
        } else {
            if self.filled {
                cwnd = smaller(grown, target);
            } else if cwnd < target || (ack.delivered as f64) < self.initial_window {
                cwnd = grown;
            }
            cwnd = larger(cwnd, MIN_WINDOW);
        }
        if self.is_probing_rtt() {
            cwnd = smaller(cwnd, MIN_WINDOW);
        }
        window.set_cwnd(cwnd);
    }

    /// Begins packet conservation for one round, at the first acknowledgement of a recovery. Limits the window to the
    /// number of segments in flight plus those just delivered, at least one.
    fn start_conserving(&mut self, ack: &AckSample, sample: &mut Sample, window: &mut Window) {
        self.conserving = true;
        self.meter.restart_round();
        if self.kernel.is_some() {
            // As in Linux, segments of earlier duplicate acknowledgements do not count. If they did, another
            // retransmission would be sent into a full queue.
            sample.newly_delivered = smaller(sample.newly_delivered, larger(ack.credit, 1.0));
        }
        let kept = sample.in_flight + larger(sample.newly_delivered, 1.0);
        window.set_cwnd(smaller(kept, window.cwnd()));
    }

    /// Returns the pacing rate at a gain of one, in segments per second.
    fn paced_rate(&self) -> f64 {
        let margin = if self.kernel.is_some() {
            PACING_MARGIN
        } else {
            1.0
        };
        margin * self.rate()
    }

    fn look_for_policer(&mut self, ack: &AckSample, sample: &Sample) {
        let Some(kernel) = &mut self.kernel else {
            return;
        };
        let report = AckReport {
            now: ack.now,
            delivered: ack.delivered,
            lost: ack.lost,
            newly_lost: sample.newly_lost > 0.0,
            round_start: sample.round_start,
            limited: sample.limited,
            segment_bits: 8.0 * ack.segment_bytes as f64,
        };
        let cycling = matches!(self.state, State::ProbeBw);
        if kernel.policer.on_ack(report, cycling) {
            self.enter_probe_bw(ack.now);
        }
    }

    fn look_for_aggregation(&mut self, ack: &AckSample, sample: &Sample, window: &Window) {
        let rate = self.rate();
        if let Some(kernel) = &mut self.kernel
            && ack.delivery_rate.is_some()
        {
            let (acked, starts) = (sample.newly_delivered, sample.round_start);
            let cwnd = window.cwnd();
            kernel
                .aggregation
                .on_ack(acked, starts, rate, cwnd, ack.now);
        }
    }

    /// Processes an acknowledgement with all rules, and computes the bounds of the fast path.
    #[inline(never)]
    fn full_update(&mut self, ack: &AckSample, newly: Newly, window: &mut Window) {
        let mut sample = self.meter.sample(ack, newly);
        if std::mem::take(&mut self.entering) {
            self.start_conserving(ack, &mut sample, window);
        } else if sample.round_start {
            self.conserving = false;
        }
        let sample = &sample;
        self.look_for_policer(ack, sample);
        self.update_bandwidth(ack, sample);
        self.look_for_aggregation(ack, sample, window);
        if matches!(self.state, State::ProbeBw) {
            self.advance_cycle(ack, sample);
        }
        self.leave_startup(ack, sample, window);
        let expired = self.update_min_rtt(ack);
        self.probe_rtt(ack, sample, expired, window);
        self.pacer
            .set(self.pacing_gain() * self.paced_rate(), self.filled);
        let target = self.target();
        self.set_window(ack, sample, target, window);
        if self.kernel.is_none() {
            self.fast_path = self.fast_path_bounds(ack.now, target);
        }
    }
}

impl CongestionControl for Bbr {
    fn phases(&self) -> Phases {
        Phases::All
    }

    /// In variant linux-6.18, takes the round-trip time of the SYN as the first minimum (`bbr_init`).
    fn on_handshake(&mut self, ack: &AckSample, _window: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|_| self.kernel.is_some()) {
            self.min_rtt = Some((rtt, ack.now));
            self.min_rtt_s = rtt.as_secs_f64();
        }
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        if self.pacer.segments_per_s.is_none() {
            self.begin(ack, window);
        }
        let newly = self.meter.read(ack);
        if self.fits_fast_path(ack, newly) {
            self.grow(ack, newly, window);
        } else {
            self.full_update(ack, newly, window);
        }
    }

    /// Begins a recovery (section 4.2.3.4); ignores marks. The window remains unchanged until the next acknowledgement,
    /// which reports the number of segments in flight without the lost ones.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        if !matches!(event.cause, Cause::Loss | Cause::Nak) {
            return;
        }
        self.recovery.enter(window, self.is_probing_rtt());
        self.entering = true;
        self.fast_path = FastPath::default();
    }

    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        self.recovery.time_out(window, self.is_probing_rtt());
        self.fast_path = FastPath::default();
        (self.entering, self.conserving) = (false, false);
    }

    fn on_recovery_exit(&mut self, _now: Time, window: &mut Window) {
        self.recovery.exit(window);
        (self.entering, self.conserving) = (false, false);
    }

    /// Restarts after an idle time (section 4.3.4.4): in ProbeBW, paces at the estimated bandwidth, without a gain. The
    /// next acknowledgement does not begin ProbeRTT.
    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {
        self.was_idle = true;
        self.fast_path = FastPath::default();
        if self.state == State::ProbeBw {
            self.pacer.set(self.paced_rate(), self.filled);
        }
    }

    /// Returns the pacing rate; `None` before the first acknowledgement and, in variant linux-6.18, before the first
    /// delivery: the kernel does not pace the first ten segments (`tcp_update_skb_after_send`).
    fn pacing_rate(&self) -> Option<Rate> {
        let begins = self.kernel.is_some() && self.meter.delivered == 0;
        self.pacer.rate.filter(|_| !begins)
    }

    fn send_quantum(&self) -> u64 {
        self.quantum() as u64
    }

    fn needs(&self) -> Needs {
        Needs {
            no_ecn: true,
            ..NEEDS
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        let rtt = self.min_rtt.map_or(f64::NAN, |(rtt, _)| rtt.as_secs_f64());
        out("bandwidth_segments_per_s", self.bandwidth.get());
        out("min_rtt_s", rtt);
        out("pacing_gain", self.pacing_gain());
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Bbr {
    /// Ends the recovery, and restores the window. In variant linux-6.18, also restarts the detection of the full pipe
    /// and of policers (`bbr_undo_cwnd`).
    fn on_undo(&mut self, window: &mut Window) {
        self.on_recovery_exit(Time::ZERO, window);
        if let Some(kernel) = &mut self.kernel {
            kernel.policer = Policer::default();
            self.full = FullPipe::default();
        }
    }
}
