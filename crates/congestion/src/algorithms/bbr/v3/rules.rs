//! Rules in which the draft and picoquic differ: the state machine is compiled once for each set.

use longhaul_units::{Span, Time};

use super::machine::Machine;
use super::model::{Aggregation, Flight, MinRtt};
use crate::algorithms::bbr::Sample;
use crate::facts::AckSample;
use crate::window::Window;

/// The rules of a variant, with what it knows beside the state machine. Rules with an empty body are picoquic's alone.
pub(super) trait Rules {
    /// True if losses take their segments off the window, and too many hold it for a round trip.
    const CONSERVES: bool;

    /// True if samples count for a probe beyond its end, until one was too high.
    const SAMPLES_BEYOND_PROBES: bool;

    /// Before anything is made of an acknowledgement.
    fn begin_ack(&mut self, _machine: &mut Machine, _ack: &AckSample) {}

    /// Returns true if the losses of the last flight, which exceed the threshold, count.
    fn counts(&self, losses: f64, flight: Flight, delivered: u64) -> bool;

    /// Before the acknowledgement is compared with what the bandwidth explains.
    fn begin_aggregation(&self, _aggregation: &mut Aggregation, _now: Time) {}

    /// Returns true if the pipe is full.
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

    /// Returns the wait for the next probe, from a number drawn from 0 to 1.
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
