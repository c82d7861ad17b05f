//! Rules in which the draft and picoquic differ: the state machine is compiled once for each set.

use longhaul_units::{Span, Time};

use super::machine::Machine;
use super::model::{Aggregation, Flight, MinRtt};
use crate::algorithms::bbr::Sample;
use crate::facts::AckSample;
use crate::window::Window;

/// The rules of a variant, with its state in addition to that of the state machine. Only picoquic
/// implements the rules that have an empty body here.
pub(super) trait Rules {
    /// True if each loss removes a segment from the window, and too many losses hold the window for
    /// a round trip.
    const CONSERVES: bool;

    /// True if samples still count as samples of a probe after its end, until one shows too much in
    /// flight.
    const SAMPLES_BEYOND_PROBES: bool;

    /// Prepares the variant's state before an acknowledgement is processed.
    fn begin_ack(&mut self, _machine: &mut Machine, _ack: &AckSample) {}

    /// Returns true if losses of the last flight above the loss threshold have an effect.
    fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool;

    /// May begin a new interval of aggregated acknowledgements, before the excess of this one is computed.
    fn begin_aggregation(&self, _aggregation: &mut Aggregation, _now: Time) {}

    /// Checks for a full pipe, and records the outcome in the state machine.
    fn check_full(&mut self, machine: &mut Machine, ack: &AckSample, sample: &Sample);

    /// Called when Startup has filled the pipe.
    fn on_full_pipe(&mut self, _machine: &mut Machine, _flight: Flight) {}

    /// Begins the cycles of ProbeBW when the queue has drained.
    fn drain(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    );

    /// Called when the cycles of ProbeBW begin, at this bandwidth.
    fn on_cycles(&mut self, _bandwidth: f64) {}

    /// Returns the wait for the next probe, from a number drawn from 0 to 1.
    fn wait(&mut self, min_rtt: &MinRtt, drawn: f64) -> Span;

    /// Called when ProbeBW_UP begins.
    fn on_up(&mut self, machine: &mut Machine, ack: &AckSample);

    /// Advances the cycle of ProbeBW.
    fn advance_cycle(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    );

    /// Updates the smallest round-trip time.
    fn update_min_rtt(&mut self, machine: &mut Machine, ack: &AckSample);

    /// Called when ProbeRTT begins.
    fn on_probe_rtt(&self, _min_rtt: &mut MinRtt, _ack: &AckSample) {}

    /// Called when the transport's recovery from losses begins.
    fn on_loss(&mut self, machine: &mut Machine, window: &Window);

    /// Called when a recovery ends, including one after a timeout.
    fn on_recovery_exit(&mut self, machine: &mut Machine, window: &mut Window);
}
