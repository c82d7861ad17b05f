//! The state machine of version 3, and the values that depend only on its state: everything that its variants share.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use super::model::{Aggregation, Bounds, Marks, MinRtt, Probe, Signals};
use crate::algorithms::bbr::{
    FullPipe, MIN_WINDOW, Meter, Pacer, ProbeRtt, QUANTA, Recovery, Sample, larger, smaller,
};
use crate::facts::AckSample;
use crate::parameter::Settings;
use crate::rate_sample::RateSample;
use crate::window::Window;

/// Pacing gain of Startup: BBR.StartupPacingGain (draft-ietf-ccwg-bbr-05, section 2.4).
pub(super) const STARTUP_GAIN: f64 = 2.77;
/// Pacing gain of Drain: BBR.DrainPacingGain (section 2.4).
const DRAIN_GAIN: f64 = 0.5;
/// Pacing gain of ProbeBW_DOWN (section 5.6.1).
const DOWN_GAIN: f64 = 0.9;
/// Pacing gain of ProbeBW_UP (section 5.6.1).
const UP_GAIN: f64 = 1.25;
/// Window gain in most states: BBR.DefaultCwndGain (section 2.5).
const WINDOW_GAIN: f64 = 2.0;
/// Window gain of ProbeBW_UP (section 5.6.1).
const UP_WINDOW_GAIN: f64 = 2.25;
/// Window gain of ProbeRTT: BBR.ProbeRTTCwndGain (section 2.13.2).
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;

/// Pacing rate as a fraction of the bandwidth: a margin of one per cent prevents queues (BBR.PacingMarginPercent,
/// section 2.4).
pub(super) const PACED: f64 = 0.99;

/// Length of the maximum filter for ACK aggregation, in rounds, once the pipe is full (BBR.ExtraAckedFilterLen, section
/// 2.11).
const AGGREGATION_ROUNDS: u64 = 10;

/// States of the state machine (draft-ietf-ccwg-bbr-05).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum State {
    /// Startup, section 5.3.1.
    Startup,
    /// Drain, section 5.3.2; the field is the round in which it began.
    Drain { since: u64 },
    /// ProbeBW_DOWN, section 5.3.3.1.
    Down,
    /// ProbeBW_CRUISE, section 5.3.3.2.
    Cruise,
    /// ProbeBW_REFILL, section 5.3.3.3.
    Refill,
    /// ProbeBW_UP, section 5.3.3.4.
    Up,
    /// ProbeRTT, section 5.3.4.
    ProbeRtt(ProbeRtt),
}

/// The state machine. The docs of the fields give the names of the draft's variables (draft-ietf-ccwg-bbr-05, sections
/// 2 and 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    /// Fraction of lost segments that a probe tolerates: BBR.LossThresh.
    pub(super) loss_threshold: f64,
    /// Smallest factor by which a round with losses multiplies a short-term bound; smallest long-term bound after a
    /// probe with too many losses, as a fraction of [`Self::target`]: BBR.Beta.
    pub(super) kept: f64,
    /// Fraction of the long-term bound that is left to other flows while cruising: BBR.Headroom.
    pub(super) headroom: f64,
    /// Time between probes for the round-trip time: BBR.ProbeRTTInterval.
    pub(super) probe_rtt_interval: Span,
    /// Factor of the response to marks: at the end of a round, the short-term bound is multiplied by 1 - `ecn_factor`
    /// times the smoothed fraction of marked segments. Zero disables the response (Linux v3, `ecn_factor`).
    pub(super) ecn_factor: f64,
    /// Maximum round-trip time, in seconds, of flows that respond to marks (Linux v3, `ecn_max_rtt_us`).
    pub(super) ecn_max_rtt_s: f64,
    /// Growth of the long-term bound, as a fraction of the bound, in the first round of a probe that begins early
    /// because marks have ceased (Linux v3, `ecn_reprobe_gain`).
    pub(super) ecn_reprobe: f64,
    /// True if segments are sent as ECT(1), which requests L4S service (RFC 9331).
    pub(super) l4s: bool,
    /// Counters of delivered and lost segments, and of the round trips that are determined from them: BBR.round_count,
    /// BBR.next_round_delivered.
    pub(super) meter: Meter,
    /// Pacing rate and send quantum: C.pacing_rate, C.send_quantum.
    pub(super) pacer: Pacer,
    /// Current state, which includes the variables of ProbeRTT: BBR.state.
    pub(super) state: State,
    /// True once Startup has filled the pipe: BBR.full_bw_reached.
    pub(super) filled: bool,
    /// Test for a full pipe, from the bandwidth and the rounds since its last growth: BBR.full_bw, BBR.full_bw_count.
    pub(super) full: FullPipe,
    /// True if the rate has stopped growing in this phase: BBR.full_bw_now.
    pub(super) full_now: bool,
    /// Maximum delivery rate of the last cycle and that of the current cycle, in segments per second: the two values of
    /// BBR.max_bw_filter.
    pub(super) rates: [f64; 2],
    /// Deliveries, losses and marks in the current round trip: BBR.bw_latest, BBR.inflight_latest, BBR.loss_in_round.
    pub(super) signals: Signals,
    /// Bounds of the rate and of the segments in flight: BBR.bw_shortterm, BBR.inflight_shortterm and
    /// BBR.inflight_longterm.
    pub(super) bounds: Bounds,
    /// State of the probing for bandwidth (section 5.3.3): BBR.cycle_stamp, BBR.bw_probe_wait, BBR.probe_up_cnt and
    /// others.
    pub(super) probe: Probe,
    /// Smallest round-trip times, with the times of their measurement: BBR.min_rtt and BBR.probe_rtt_min_delay.
    pub(super) min_rtt: MinRtt,
    /// ACK aggregation: the number of excess segments and the interval in which they are counted (section 5.5.9;
    /// BBR.extra_acked and others).
    pub(super) aggregation: Aggregation,
    /// Fraction of marked segments (Linux v3, `ecn_alpha`).
    pub(super) marks: Marks,
    /// Window in segments before the first acknowledgement: C.InitialCwnd.
    pub(super) initial_window: f64,
    /// Loss recovery, and the window to restore afterwards: BBR.prior_cwnd.
    pub(super) recovery: Recovery,
    /// True if the flow sends again after an idle time: BBR.idle_restart.
    pub(super) was_idle: bool,
    /// State of the random sequence that chooses the waits between probes. The seed is the time of the first
    /// acknowledgement, which differs between flows, but is equal in every run.
    pub(super) draws: u64,
}

impl Machine {
    pub(super) fn new(settings: &Settings) -> Self {
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
        }
    }

    pub(super) fn max_rate(&self) -> f64 {
        larger(self.rates[0], self.rates[1])
    }

    pub(super) fn bandwidth(&self) -> f64 {
        smaller(self.max_rate(), self.bounds.short_rate)
    }

    /// Returns `gain` times the bandwidth-delay product at `bandwidth`, in segments; the initial window if no
    /// round-trip time is known.
    pub(super) fn carried(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt.rtt {
            Some(_) => gain * bandwidth * self.min_rtt.rtt_s,
            None => self.initial_window,
        }
    }

    /// Returns the number of segments in a burst (BBRSetSendQuantum, section 5.6.3).
    pub(super) fn quantum(&self) -> f64 {
        larger(self.pacer.segments_at_once, 2.0)
    }

    /// Returns `segments`, but at least three send quanta and at least the minimum window; adds two segments while
    /// ProbeBW probes upwards (BBRQuantizationBudget, section 5.6.4.2).
    pub(super) fn budget(&self, segments: f64) -> f64 {
        let probe = if self.is_probing_up() { 2.0 } else { 0.0 };
        larger(larger(segments, QUANTA * self.quantum()), MIN_WINDOW) + probe
    }

    /// Returns the bandwidth-delay product, or the window if congestion has reduced it below this product
    /// (BBRTargetInflight, section 5.3.3.5.3).
    pub(super) fn target(&self, window: &Window) -> f64 {
        smaller(self.carried(self.bandwidth(), 1.0), window.cwnd())
    }

    pub(super) fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, WINDOW_GAIN),
            State::Drain { .. } => (DRAIN_GAIN, WINDOW_GAIN),
            State::Down => (DOWN_GAIN, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (UP_GAIN, UP_WINDOW_GAIN),
            State::ProbeRtt(_) => (1.0, PROBE_RTT_WINDOW_GAIN),
        }
    }

    pub(super) fn is_probing_bandwidth(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    pub(super) fn is_probing_up(&self) -> bool {
        matches!(self.state, State::Up)
    }

    pub(super) fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    pub(super) fn is_in_cycle(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    pub(super) fn reset_full(&mut self, bandwidth: f64) {
        self.full_now = false;
        self.full = FullPipe {
            bandwidth,
            rounds: 0,
        };
    }

    pub(super) fn start_drain(&mut self) {
        self.state = State::Drain {
            since: self.meter.rounds,
        };
    }

    pub(super) fn has_drained(&self, sample: &Sample) -> bool {
        sample.in_flight <= self.budget(self.carried(self.bandwidth(), 1.0))
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.carried(self.bandwidth(), PROBE_RTT_WINDOW_GAIN)
            .max(MIN_WINDOW)
    }

    /// Responds to a timeout: saves the window, and sets it to one segment.
    pub(super) fn time_out(&mut self, window: &mut Window) {
        self.recovery.time_out(window, self.is_probing_rtt());
    }

    /// Restarts after an idle time: in ProbeBW, paces at the estimated bandwidth, without a gain. The next
    /// acknowledgement does not begin ProbeRTT (BBRHandleRestartFromIdle, section 5.4.1).
    pub(super) fn on_idle(&mut self) {
        self.was_idle = true;
        if self.is_in_cycle() {
            self.pacer.set(self.bandwidth() * PACED, self.filled);
        }
    }

    /// Returns the length of the maximum filter for ACK aggregation, in round trips.
    #[inline]
    pub(super) fn aggregation_rounds(&self) -> u64 {
        if self.filled { AGGREGATION_ROUNDS } else { 1 }
    }
}

/// Returns the delivery rate of an acknowledgement in segments per second; zero if it was not measured.
pub(super) fn per_second(ack: &AckSample) -> f64 {
    ack.delivery_rate.map_or(0.0, RateSample::per_second)
}
