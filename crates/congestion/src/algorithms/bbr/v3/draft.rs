//! The rules of the draft. The response to marks is that of Linux (google/bbr, branch v3).

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use super::fast_path::FastPath;
use super::machine::{Machine, State, per_second};
use super::model::{Flight, MinRtt};
use super::rules::Rules;
use crate::algorithms::bbr::Sample;
use crate::facts::AckSample;
use crate::window::Window;

/// Maximum length of Drain, in rounds (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// State of the draft's rules, in addition to that of the state machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Draft {
    /// Bounds of the fast path, which each full update computes.
    #[serde(skip)]
    pub(super) fast_path: FastPath,
}

impl Draft {
    pub(super) fn on_ack(&mut self, machine: &mut Machine, ack: &AckSample, window: &mut Window) {
        if !self.fast_path.admits(self, machine, ack, window) {
            let bound = machine.full_update(self, ack, window);
            self.fast_path = machine.fast_path_bounds(ack, bound, window);
        }
    }

    /// Makes the next acknowledgement take the full update instead of the fast path.
    pub(super) fn leave_fast_path(&mut self) {
        self.fast_path = FastPath::default();
    }
}

impl Rules for Draft {
    const CONSERVES: bool = false;
    const SAMPLES_BEYOND_PROBES: bool = false;

    #[inline]
    fn counts(&self, _losses: f64, _flight: Flight, _delivered: u64) -> bool {
        true
    }

    /// Once per round, checks if the pipe is full (BBRCheckFullBWReached, section 5.3.1.2).
    fn check_full(&mut self, machine: &mut Machine, ack: &AckSample, sample: &Sample) {
        if let Some(rate) = ack.delivery_rate
            && !machine.full_now
            && sample.round_start
            && !sample.limited
        {
            machine.full_now = machine.full.is_full(rate.per_second());
            machine.filled |= machine.full_now;
        }
    }

    #[inline(always)]
    fn drain(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        _flight: Flight,
        _window: &mut Window,
    ) {
        if let State::Drain { since } = machine.state
            && (machine.has_drained(sample) || machine.meter.rounds > since + DRAIN_ROUNDS)
        {
            machine.start_cycles(self, ack.now);
        }
    }

    fn wait(&mut self, _min_rtt: &MinRtt, drawn: f64) -> Span {
        Span::from_secs_f64(2.0 + drawn)
    }

    fn on_up(&mut self, machine: &mut Machine, ack: &AckSample) {
        machine.reset_full(per_second(ack));
    }

    /// Advances the cycle of ProbeBW (BBRUpdateProbeBWCyclePhase, section 5.3.3.6).
    #[inline(always)]
    fn advance_cycle(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    ) {
        machine.probe.rounds += u64::from(sample.round_start);
        if !machine.filled {
            return;
        }
        machine.adapt_long_bound(self, ack, sample, flight, window);
        let state = machine.state;
        match state {
            State::Down | State::Cruise
                if machine.probes_after_marks() && machine.is_clear(ack) =>
            {
                machine.start_refill(machine.rounds_after_marks());
            }
            State::Down | State::Cruise if machine.is_time_to_probe(ack.now, window) => {
                machine.start_refill(0);
            }
            State::Down if machine.is_time_to_cruise(ack) => machine.state = State::Cruise,
            State::Refill if sample.round_start => machine.start_up(self, ack, window),
            State::Up if machine.is_time_to_go_down(ack, window) => {
                machine.start_down(self, ack.now);
            }
            _ => {}
        }
    }

    fn update_min_rtt(&mut self, machine: &mut Machine, ack: &AckSample) {
        machine.min_rtt.update(ack, machine.probe_rtt_interval);
    }

    /// Enters a recovery; the losses themselves are reported by acknowledgements.
    fn on_loss(&mut self, machine: &mut Machine, window: &Window) {
        machine.recovery.enter(window, machine.is_probing_rtt());
    }

    fn on_recovery_exit(&mut self, machine: &mut Machine, window: &mut Window) {
        machine.recovery.exit(window);
    }
}

impl Machine {
    fn is_clear(&self, ack: &AckSample) -> bool {
        self.recovery.episode.is_none() && self.marks.have_ceased(ack)
    }

    /// Returns the number of rounds that count as already passed when a probe after marks begins (`up_rounds` of
    /// [`Self::start_refill`]). In its first round, the probe then raises the long-term bound by the fraction
    /// `ecn_reprobe` of the bound, rounded down to a power of two, instead of by one segment.
    fn rounds_after_marks(&self) -> u32 {
        let growth = (self.ecn_reprobe * self.bounds.long_in_flight) as u64;
        growth.max(1).ilog2().min(30)
    }

    fn is_time_to_go_down(&mut self, ack: &AckSample, window: &Window) -> bool {
        if self.is_held(ack, window) {
            self.reset_full(per_second(ack));
            return false;
        }
        self.full_now
    }
}
