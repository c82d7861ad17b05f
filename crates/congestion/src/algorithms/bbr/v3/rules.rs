//! Rules of BBRv3 that differ between the draft and picoquic. The state machine is compiled once for each variant.

use longhaul_units::{Span, Time};

use super::machine::Machine;
use super::model::{Aggregation, Flight, MinRtt};
use crate::algorithms::bbr::Sample;
use crate::facts::AckSample;
use crate::window::Window;

/// Rules of a variant of BBR version 3, and its additional state. Rules with an empty body exist only in picoquic.
pub(super) trait Rules {
    /// True if lost segments are subtracted from the window, and too many losses or marks freeze the window for a round
    /// trip.
    const CONSERVES: bool;

    /// True if losses or marks may lower the long-term bound even after the last rate sample of a probe has arrived. In
    /// any case, they lower the bound at most once per probe.
    const SAMPLES_BEYOND_PROBES: bool;

    /// Prepares the variant's state before an acknowledgement is processed.
    fn begin_ack(&mut self, _machine: &mut Machine, _ack: &AckSample) {}

    /// Returns true if `losses`, the number of segments lost in the current round, show that too many segments were in
    /// flight. Called only if they exceed the loss threshold. The short-term bounds respond to losses in any case.
    /// `delivered` is the number of the connection's delivered segments.
    fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool;

    /// Begins a new interval of ACK aggregation, if the variant requires it, before excess segments are computed.
    fn begin_aggregation(&self, _aggregation: &mut Aggregation, _now: Time) {}

    /// Checks if the pipe is full, and records the result in the state machine.
    fn check_full(&mut self, machine: &mut Machine, ack: &AckSample, sample: &Sample);

    /// Processes the end of Startup, when the pipe is full.
    fn on_full_pipe(&mut self, _machine: &mut Machine, _flight: Flight) {}

    /// Ends Drain if the queue has drained (in the draft, also after a maximum time), and then begins the cycles of
    /// ProbeBW. Called with each acknowledgement in every state: picoquic also freezes and restores the window here.
    fn drain(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    );

    /// Processes the beginning of the cycles of ProbeBW; `_bandwidth` is the estimated bandwidth.
    fn on_cycles(&mut self, _bandwidth: f64) {}

    /// Returns the wait until the next probe; `drawn` is a random number from 0 to 1.
    fn wait(&mut self, min_rtt: &MinRtt, drawn: f64) -> Span;

    /// Processes the beginning of ProbeBW_UP.
    fn on_up(&mut self, machine: &mut Machine, ack: &AckSample);

    fn advance_cycle(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    );

    fn update_min_rtt(&mut self, machine: &mut Machine, ack: &AckSample);

    /// Processes the beginning of ProbeRTT.
    fn on_probe_rtt(&self, _min_rtt: &mut MinRtt, _ack: &AckSample) {}

    /// Processes the beginning of the transport's recovery from losses.
    fn on_loss(&mut self, machine: &mut Machine, window: &Window);

    /// Processes the end of a recovery, including one after a timeout.
    fn on_recovery_exit(&mut self, machine: &mut Machine, window: &mut Window);
}
