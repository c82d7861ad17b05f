//! RACK-TLP's timer: it declares overtaken segments lost after the reordering window, or sends a tail loss probe (RFC
//! 8985 sections 6.2 and 7).

use longhaul_units::Time;

use super::Rack;
use crate::config::PrrRule;
use crate::schedule::timers::Kind;
use crate::transport::Environment;
use crate::transport::tcp::control_block::ControlBlock;
use crate::transport::tcp::recovery::CaState;
use crate::transport::tcp::recovery::tail_probe::TailProbe;

/// Purpose of the RACK-TLP timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wait {
    /// Declares overtaken segments lost, once the reordering window is over.
    #[default]
    Reordering,
    /// Sends a probe if no acknowledgement arrives.
    Probe,
}

impl Rack {
    /// Returns the time at which the RACK-TLP timer expires.
    pub(crate) fn due(&self) -> Time {
        self.timer.deadline()
    }

    /// Processes a timer event of RACK-TLP. Returns true if the timer was due and segments are outstanding.
    pub(crate) fn on_timer(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) -> bool {
        let now = env.now();
        if !self.timer.expires(now) || tcb.una == tcb.max_sent {
            return false;
        }
        tcb.integrate_cwnd::<false>(now);
        match self.wait {
            Wait::Probe => self.send_probe(tcb, env),
            Wait::Reordering => {
                let (state, lost) = (self.ca_state, tcb.lost);
                self.find_lost(tcb, now);
                self.update_ca_state(tcb, None, env);
                if tcb.config.prr == PrrRule::Linux {
                    self.continue_as_linux(tcb, state, tcb.lost - lost);
                } else {
                    self.update_prr(tcb, 0, true);
                }
                self.set_timer(tcb, false, env);
            }
        }
        true
    }

    /// Updates proportional rate reduction after the end of the reordering window has shown that `lost` segments are
    /// lost. A recovery begins as with an acknowledgement of one segment. In a recovery, the window stays, so that as
    /// many segments may leave (`tcp_rack_reo_timeout`). `before` is the state before.
    fn continue_as_linux(&mut self, tcb: &ControlBlock, before: CaState, lost: u64) {
        if before == CaState::Recovery {
            if let Some(prr) = &mut self.prr {
                prr.on_lost(lost);
            }
        } else if self.ca_state == CaState::Recovery {
            self.update_prr(tcb, 1, false);
        }
    }

    /// Sends a probe if one is due; the retransmission timer restarts in any case (section 7.3).
    pub(super) fn send_probe(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        tcb.restart_timer(env);
        let Some(segment) = self.probe.segment(tcb) else {
            return;
        };
        let repeats = segment < tcb.max_sent;
        if repeats {
            tcb.restart_timer_for_retransmission(env);
        }
        tcb.transmit_cold(segment, env);
        self.note_sent(tcb, segment, env.now());
        self.probe.on_sent(tcb, repeats);
    }

    /// Sets the timer after an acknowledgement, or after the reordering window. If a segment in flight is overtaken (a
    /// later transmission was delivered), the timer expires at the end of the last such segment's reordering window.
    /// Otherwise, it is for a tail loss probe, or is cancelled if no probe may be sent. A probe already planned is put
    /// off only if the acknowledgement has `advanced`.
    #[inline]
    pub(super) fn set_timer(
        &mut self,
        tcb: &mut ControlBlock,
        advanced: bool,
        env: &mut impl Environment,
    ) {
        let now = env.now();
        if let Some(last) = self.flight.last_overtaken() {
            let due = last.sent + self.rtt + self.reordering_window(tcb);
            self.wait = Wait::Reordering;
            self.start_timer(tcb, due.max(now), env);
        } else if !self.may_probe(tcb) {
            self.timer.cancel();
        } else if advanced || self.wait == Wait::Reordering {
            self.arm_probe_timer(tcb, env);
        }
    }

    /// Returns true if a probe may be sent when no acknowledgement arrives. A probe may be sent while no segment is
    /// known to be missing (section 7.2).
    #[inline]
    pub(super) fn may_probe(&self, tcb: &ControlBlock) -> bool {
        self.ca_state <= CaState::Cwr && self.sacked.is_empty() && tcb.una < tcb.max_sent
    }

    #[inline]
    pub(super) fn arm_probe_timer(&mut self, tcb: &ControlBlock, env: &mut impl Environment) {
        self.wait = Wait::Probe;
        let due = TailProbe::deadline(tcb, env.now());
        self.start_timer(tcb, due, env);
    }

    #[inline]
    pub(super) fn start_timer(
        &mut self,
        tcb: &ControlBlock,
        due: Time,
        env: &mut impl Environment,
    ) {
        let of = (Kind::RackTlp, tcb.index);
        self.timer.set(due, of, env.schedule());
    }
}
