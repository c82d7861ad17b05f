//! Loss recovery of ns-2's `Reno` and `Newreno` agents, for comparison with ns-2 studies.

use longhaul_units::Time;

use super::LossRecovery;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::{ControlBlock, LastReduction};

/// Maximum number of segments that `Newreno` sends for a duplicate acknowledgement from the threshold on, or for a
/// partial one, in addition to a retransmission.
const NEWRENO_BURST: u32 = 2;

/// Loss recovery state of a `Reno` or `Newreno` agent.
#[derive(Debug)]
pub(crate) struct Ns2Window {
    newreno: bool,
    /// Inflation of the window, in segments (`dupwnd_`).
    inflation: u64,
    partial_seen: bool,
}

impl Ns2Window {
    pub(crate) fn reno() -> Self {
        Self {
            newreno: false,
            inflation: 0,
            partial_seen: false,
        }
    }

    pub(crate) fn newreno() -> Self {
        Self {
            newreno: true,
            ..Self::reno()
        }
    }
}

impl LossRecovery for Ns2Window {
    #[inline]
    fn in_recovery(&self, tcb: &ControlBlock) -> bool {
        tcb.last_reduction == LastReduction::Loss
    }

    /// Returns false. The fast path must not be used, since it ignores the kind of the window's last reduction.
    fn is_open(&self) -> bool {
        false
    }

    fn in_flight(&self, tcb: &ControlBlock) -> u64 {
        tcb.nxt - tcb.una
    }

    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        let window = tcb.congestion.window.cwnd() as u64 + self.inflation;
        let open = tcb.nxt < tcb.una + window.min(tcb.peer_window);
        (open && tcb.nxt < tcb.end).then_some(tcb.nxt)
    }

    #[inline]
    fn on_sent<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        segment: u64,
        _env: &mut impl Environment,
    ) {
        tcb.nxt = segment + 1;
    }

    fn on_timeout(&mut self, tcb: &mut ControlBlock, _now: Time) {
        self.inflation = 0;
        tcb.mark_flight_lost();
        tcb.nxt = tcb.una;
    }

    #[inline(always)]
    fn on_ack<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) -> Option<u32> {
        if ack.next > tcb.una {
            // A congestion echo in this acknowledgement has been processed already, which ends a
            // recovery (`recv` of `tcp-newreno.cc` calls `ecn` first).
            let repairing = self.in_recovery(tcb);
            if self.newreno && repairing && ack.next < tcb.recover {
                self.on_partial(tcb, ack, env);
            } else {
                if ack.in_recovery && (self.inflation > 0 || !self.newreno) {
                    if repairing {
                        tcb.last_reduction = LastReduction::Recovered;
                    }
                    tcb.end_recovery(env);
                }
                self.inflation = 0;
                self.partial_seen = false;
                // The acknowledgement that ends a recovery also lets the window grow.
                let ack = Ack {
                    in_recovery: false,
                    ..ack
                };
                let acked = ack.next - tcb.una;
                tcb.process_cumulative_ack::<false>(ack, env);
                tcb.on_new_ack::<false>(ack, acked, self.in_flight(tcb), env.now());
            }
        } else if ack.next == tcb.una && tcb.una < tcb.max_sent {
            tcb.process_duplicate_ack();
            let mut sample = tcb.ack_sample(0, self.in_flight(tcb), ack, env.now());
            tcb.complete(&mut sample, ack);
            tcb.report_ack(&sample, ack);
            self.on_duplicate(tcb, env);
            if tcb.last_reduction == LastReduction::Loss {
                tcb.on_ack_in_recovery(&sample);
            }
        } else {
            return None;
        }
        match tcb.dupacks {
            0 => Some(u32::MAX),
            count if count < tcb.config.dupack_threshold => None,
            _ => Some(if self.newreno {
                NEWRENO_BURST
            } else {
                u32::MAX
            }),
        }
    }
}

impl Ns2Window {
    fn on_duplicate(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let threshold = tcb.config.dupack_threshold;
        if tcb.dupacks == threshold {
            self.on_loss(tcb, env);
        } else if tcb.dupacks > threshold {
            if tcb.last_reduction == LastReduction::Loss {
                self.inflation += 1;
            }
        } else if tcb.config.limited_transmit {
            tcb.transmit_one_beyond(env);
        }
    }

    fn on_loss(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let again = !self.newreno && tcb.last_reduction == LastReduction::Loss;
        if tcb.una > tcb.recover || tcb.una == 1 || again {
            tcb.reduce(self.inflation as f64, env);
        } else if tcb.config.ecn.is_on() && tcb.last_reduction == LastReduction::Ecn {
            tcb.reduce_for_loss(env);
        } else {
            return;
        }
        tcb.lost += 1;
        tcb.restart_timer_for_retransmission(env);
        tcb.transmit_cold(tcb.una, env);
        self.inflation = u64::from(tcb.config.dupack_threshold);
    }

    /// Processes a partial acknowledgement in `Newreno`: deflates the window by the acknowledged segments less one, and
    /// retransmits the next one. The first partial acknowledgement restarts the timer.
    fn on_partial(&mut self, tcb: &mut ControlBlock, ack: Ack, env: &mut impl Environment) {
        let acked = ack.next - tcb.una;
        tcb.process_partial_ack(ack.next);
        tcb.lost += 1;
        let mut sample = tcb.ack_sample(acked, self.in_flight(tcb), ack, env.now());
        tcb.complete(&mut sample, ack);
        tcb.report_ack(&sample, ack);
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            let excess = (acked - self.inflation) as f64;
            if !tcb.controls_cwnd {
                let window = &mut tcb.congestion.window;
                window.set_cwnd(window.cwnd() - excess);
            }
            self.inflation = 1;
        }
        if !self.partial_seen {
            self.partial_seen = true;
            tcb.restart_timer(env);
        }
        tcb.transmit_cold(tcb.una, env);
        tcb.on_ack_in_recovery(&sample);
    }
}

impl ControlBlock {
    /// Implements ns-2's limited transmit: sends one new segment beyond the window for each of the first duplicate
    /// acknowledgements (`send_one`).
    pub(super) fn transmit_one_beyond(&mut self, env: &mut impl Environment) {
        let in_flight = self.nxt - self.una;
        let beyond = self.congestion.window.cwnd() + f64::from(self.dupacks);
        if in_flight < self.peer_window && (in_flight + 1) as f64 <= beyond && self.nxt < self.end {
            let segment = self.nxt;
            self.nxt += 1;
            self.transmit_cold(segment, env);
        }
    }
}
