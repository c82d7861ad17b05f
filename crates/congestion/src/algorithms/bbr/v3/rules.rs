//! What the draft and picoquic do differently, where they do: the state machine is compiled once for the rules of each.

use longhaul_units::{Span, Time};

use super::machine::Machine;
use super::model::{Aggregation, Flight, MinRtt};
use crate::algorithms::bbr::Sample;
use crate::facts::AckSample;
use crate::window::Window;

/// The rules of a variant, with what it knows beside the state machine. Rules with an empty body are picoquic's alone.
pub(super) trait Rules {
    /// Whether losses take their segments off the window, and too many hold it for a round trip.
    const CONSERVES: bool;

    /// Whether samples tell of a probe beyond its end, until one was too high.
    const SAMPLES_BEYOND_PROBES: bool;

    /// Before anything is made of an acknowledgement.
    fn begin_ack(&mut self, _machine: &mut Machine, _ack: &AckSample) {}

    /// Whether losses of the last flight count that are more than the threshold.
    fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool;

    /// Before the acknowledgement is compared with what the bandwidth explains.
    fn begin_aggregation(&self, _aggregation: &mut Aggregation, _now: Time) {}

    /// Whether the pipe is full.
    fn check_full(&mut self, machine: &mut Machine, ack: &AckSample, sample: &Sample);

    /// Startup has filled the pipe.
    fn on_full_pipe(&mut self, _machine: &mut Machine, _flight: Flight) {}

    /// The cycles begin when the queue has drained.
    fn drain(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &mut Window,
    );

    /// The cycles begin, at this bandwidth.
    fn on_cycles(&mut self, _bandwidth: f64) {}

    /// How long to wait for the next probe, with a number drawn from 0 to 1.
    fn wait(&mut self, min_rtt: &MinRtt, drawn: f64) -> Span;

    /// Probing up begins.
    fn on_up(&mut self, machine: &mut Machine, ack: &AckSample);

    /// The cycle in which it probes for bandwidth.
    fn advance_cycle(
        &mut self,
        machine: &mut Machine,
        ack: &AckSample,
        sample: &Sample,
        flight: Flight,
        window: &Window,
    );

    /// The smallest round-trip time.
    fn update_min_rtt(&mut self, machine: &mut Machine, ack: &AckSample);

    /// The probe for it begins.
    fn on_probe_rtt(&self, _min_rtt: &mut MinRtt, _ack: &AckSample) {}

    /// The transport's recovery from losses begins.
    fn on_loss(&mut self, machine: &mut Machine, window: &Window);

    /// It ends, that after a timeout too.
    fn on_recovery_exit(&mut self, machine: &mut Machine, window: &mut Window);
}
