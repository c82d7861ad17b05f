//! BBR version 3: draft-ietf-ccwg-bbr-05, section 5; and variant picoquic.
//!
//! The draft stores two numbers with each segment that is sent: the segments in flight, and the losses so far. This
//! implementation stores neither. It estimates the segments in flight as the delivery rate times the round-trip time,
//! and it counts the losses of each round. The draft specifies no response to marks; the response here is that of Linux
//! (google/bbr, branch v3).

mod cycle;
mod draft;
mod fast_path;
mod machine;
mod model;
mod picoquic;
mod rules;
#[cfg(test)]
mod states;
mod update;

use longhaul_units::{Rate, Time};
use serde::{Deserialize, Serialize};

use self::draft::Draft;
use self::machine::Machine;
use self::picoquic::Picoquic;
use self::rules::Rules;
use super::NEEDS;
use crate::congestion_control::{CongestionControl, Phases};
use crate::facts::{AckSample, Cause, Congestion, Idle, Phase, Timeout};
use crate::needs::Needs;
use crate::parameter::{Settings, Variant};
use crate::window::Window;

/// State of BBR, version 3, for one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr3 {
    machine: Machine,
    form: Form,
}

/// Rules of the state machine: those of the draft, or those of picoquic.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Form {
    Draft(Draft),
    Picoquic(Box<Picoquic>),
}

/// Evaluates an expression with the rules of the selected variant.
macro_rules! with_rules {
    ($form:expr, $rules:ident => $call:expr) => {
        match $form {
            Form::Draft($rules) => $call,
            Form::Picoquic($rules) => $call,
        }
    };
}

impl Form {
    /// Makes the next acknowledgement take the full update instead of the fast path.
    fn leave_fast_path(&mut self) {
        if let Self::Draft(draft) = self {
            draft.leave_fast_path();
        }
    }
}

impl Bbr3 {
    pub(crate) fn new(settings: &Settings) -> Self {
        let form = match settings.variant() {
            Variant::Picoquic => Form::Picoquic(Box::default()),
            _ => Form::Draft(Draft::default()),
        };
        Self {
            machine: Machine::new(settings),
            form,
        }
    }
}

impl CongestionControl for Bbr3 {
    fn phases(&self) -> Phases {
        Phases::All
    }

    fn on_ack(&mut self, ack: &AckSample, _phase: Phase, window: &mut Window) {
        with_rules!(&mut self.form, rules => rules.on_ack(&mut self.machine, ack, window));
    }

    /// With the draft's rules, saves the window, to restore it after the recovery. The losses themselves, and marks,
    /// are processed with the acknowledgements that report them.
    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.form.leave_fast_path();
        if matches!(event.cause, Cause::Loss | Cause::Nak) {
            with_rules!(&mut self.form, rules => rules.on_loss(&mut self.machine, window));
        }
    }

    fn on_timeout(&mut self, _event: &Timeout, window: &mut Window) {
        self.form.leave_fast_path();
        self.machine.time_out(window);
    }

    fn on_recovery_exit(&mut self, _now: Time, window: &mut Window) {
        self.form.leave_fast_path();
        with_rules!(&mut self.form, rules => rules.on_recovery_exit(&mut self.machine, window));
    }

    fn on_idle(&mut self, _idle: &Idle, _window: &mut Window) {
        self.form.leave_fast_path();
        self.machine.on_idle();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.machine.pacer.rate
    }

    fn send_quantum(&self) -> u64 {
        self.machine.quantum() as u64
    }

    /// Declares that each segment's mark must be echoed, if the flow responds to marks. Otherwise, segments are not
    /// ECN-capable: a sender that claims ECN support must treat marks as congestion (draft-ietf-ccwg-bbr-05, section
    /// 3.7).
    fn needs(&self) -> Needs {
        Needs {
            no_ecn: self.machine.ecn_factor == 0.0,
            exact_marks: self.machine.ecn_factor > 0.0,
            l4s: self.machine.l4s,
            ..NEEDS
        }
    }

    fn probe(&self, _window: &Window, out: &mut dyn FnMut(&'static str, f64)) {
        let machine = &self.machine;
        let rtt = machine.min_rtt.rtt;
        let (gain, _) = machine.gains();
        out("bandwidth_segments_per_s", machine.bandwidth());
        out(
            "min_rtt_s",
            rtt.map_or(f64::NAN, |(rtt, _)| rtt.as_secs_f64()),
        );
        out("pacing_gain", gain);
        out("long_in_flight", machine.bounds.long_in_flight);
        out("short_in_flight", machine.bounds.short_in_flight);
    }
}
