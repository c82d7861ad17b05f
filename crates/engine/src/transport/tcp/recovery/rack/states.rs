//! State changes of RACK-TLP: beginning and end of recoveries, undoing of reductions, and the segments that may be sent
//! in each state (`CaState`).

use longhaul_congestion::AckSample;

use super::Rack;
use super::detection::NewlyDelivered;
use crate::config::PrrRule;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
#[cfg(test)]
use crate::transport::tcp::info::Info;
use crate::transport::tcp::recovery::undo::Undo;
use crate::transport::tcp::recovery::{CaState, LossRecovery};

impl Rack {
    /// Restores the state before the current reduction if this reduction was spurious. No segment then counts as lost.
    /// Otherwise continues F-RTO. If the acknowledgement reports duplicates (`twice`), lengthens the reordering window.
    #[cold]
    pub(super) fn look_for_undo(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        (advanced, arrived, twice): (u64, &NewlyDelivered, Option<(u64, u64)>),
        env: &mut impl Environment,
    ) {
        if twice.is_some() && tcb.config.undo {
            let in_flight = tcb.max_sent - tcb.una - self.sacked.total() - self.flight.lost();
            self.patience.on_duplicates(tcb.delivered, in_flight);
        }
        let Some(undo) = &mut self.undo else { return };
        let explained = twice.is_some_and(|twice| undo.on_duplicates(twice));
        let over = tcb.una >= self.recovery_point;
        let late = advanced > 0 && undo.answers_first_copy(tcb, ack);
        if late && !over && self.ca_state == CaState::Recovery {
            // The original segment fills the hole, so that it was overtaken and not lost (`tcp_try_undo_partial`).
            self.flight.see_overtaken(tcb.una - advanced);
        }
        let needed = if self.ca_state == CaState::Loss {
            let original = arrived
                .original
                .is_some_and(|segment| segment < self.recovery_point);
            !(late || explained || original && undo.trusts_original())
        } else if self.ca_state != CaState::Recovery {
            // After the recovery, only duplicates indicate a spurious retransmission.
            !explained
        } else if explained {
            false
        } else {
            // While a retransmission is in flight, further indications will arrive (`tcp_try_undo_partial`).
            !late || !over && self.flight.repeated_in(tcb.una, tcb.max_sent) > 0
        };
        if needed {
            let sent_new = tcb.max_sent > self.recovery_point;
            let reports = arrived.any && ack.sack.has_blocks();
            let goes_on = self.ca_state == CaState::Loss
                && undo.go_on(tcb, advanced > 0 && !over, reports, sent_new);
            if goes_on {
                self.recovery_point = tcb.max_sent;
            }
            return;
        }
        self.undo = None;
        self.flight.restore_lost();
        tcb.undo_reduction();
        match self.ca_state {
            CaState::Recovery => tcb.end_recovery(env),
            CaState::Loss => tcb.congestion.on_recovery_exit(env.now()),
            CaState::Open | CaState::Cwr => return,
        }
        self.ca_state = CaState::Open;
    }

    /// Reduces the window if the answer to a tail loss probe shows a loss that the probe has repaired (RFC 8985 section
    /// 7.4). Only in the state `Open`: otherwise, the window is already reduced.
    pub(super) fn process_probe_answer(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        duplicate: bool,
        env: &mut impl Environment,
    ) {
        if self.probe.on_ack(ack, duplicate) && self.ca_state == CaState::Open {
            tcb.reduce_for_loss(env);
        }
    }

    /// Returns true while the window is being reduced.
    #[inline]
    pub(super) fn reduces(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// Updates the number of segments that PRR allows to leave, while the window is being reduced. `delivered` is the
    /// number of newly delivered segments; by Linux's rule, nothing changes if it is zero. `grows` is true if PRR may
    /// allow one segment more than were delivered.
    pub(super) fn update_prr(&mut self, tcb: &ControlBlock, delivered: u64, grows: bool) {
        let pipe = self.in_flight(tcb);
        let linux = tcb.config.prr == PrrRule::Linux;
        if !self.reduces() || linux && delivered == 0 {
            return;
        }
        let Some(prr) = &mut self.prr else { return };
        prr.on_ack(delivered, pipe, tcb.window(), grows);
        if linux {
            prr.allow_first();
        }
    }

    /// Ends and begins recoveries, and lets the window grow if growth is allowed. `told` is an acknowledgement that
    /// newly delivers segments, with its sample for the algorithm; `None` for other events. Returns true if the
    /// acknowledgement has let the window grow; the algorithm then has its sample.
    pub(super) fn update_ca_state(
        &mut self,
        tcb: &mut ControlBlock,
        told: Option<(&AckSample, Ack)>,
        env: &mut impl Environment,
    ) -> bool {
        let before = self.ca_state;
        // After a mark, a segment sent after the reduction has to arrive, too. It shows that the receiver has got the
        // response to its mark.
        let point = self.recovery_point + u64::from(before == CaState::Cwr);
        if before != CaState::Open && tcb.una >= point {
            self.ca_state = CaState::Open;
        }
        let recovers = before == CaState::Recovery;
        let ends = self.ca_state != before && before != CaState::Cwr;
        let enters = self.ca_state <= CaState::Cwr && self.flight.lost() > 0;
        let may_grow = !self.holds_growth(tcb, before) && !enters && self.ca_state != CaState::Cwr;
        let raises = |acked: u64| acked > 0 || self.counts_selective(tcb) || tcb.tolerates_losses();
        let grows = told.is_some_and(|(sample, _)| raises(sample.acked)) && may_grow;
        if let Some((sample, ack)) = told.filter(|_| !grows) {
            tcb.report_ack(sample, ack);
        }
        if ends && recovers {
            self.patience.on_recovery_exit();
            tcb.end_recovery(env);
        } else if ends {
            tcb.congestion.on_recovery_exit(env.now());
        }
        if enters {
            self.enter_recovery(tcb, env);
        } else if let Some((sample, _)) = told.filter(|_| grows) {
            tcb.grow_window(sample);
        }
        grows
    }

    /// Returns true if the window must not grow because of a recovery. In Linux, the acknowledgement that ends a
    /// recovery lets the window grow (`tcp_cong_control`, after `tcp_fastretrans_alert`). `before` is the state before
    /// the acknowledgement.
    pub(super) fn holds_growth(&self, tcb: &ControlBlock, before: CaState) -> bool {
        let goes_on = self.ca_state == CaState::Recovery;
        let reduced = before == CaState::Recovery && !tcb.tolerates_losses();
        reduced && (goes_on || tcb.config.prr != PrrRule::Linux)
    }

    /// Returns true if selective acknowledgements without a cumulative one enlarge the window. In Linux, they do if the
    /// degree of reordering exceeds the duplicate ACK threshold (`tcp_may_raise_cwnd`).
    pub(super) fn counts_selective(&self, tcb: &ControlBlock) -> bool {
        let threshold = u64::from(tcb.config.dupack_threshold);
        tcb.config.prr == PrrRule::Linux && self.flight.reordering() > threshold
    }

    pub(super) fn enter_recovery(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let goes_on = self.ca_state == CaState::Cwr;
        let window = tcb.window();
        self.ca_state = CaState::Recovery;
        self.recovery_point = tcb.max_sent;
        self.probe.end();
        self.undo = (tcb.config.undo && !goes_on).then(|| Undo::in_recovery(tcb.una));
        tcb.reduce_for_loss(env);
        tcb.restart_timer_for_retransmission(env);
        if !goes_on {
            self.start_prr(tcb, window);
        }
        // Linux counts the delivered segments before it sends anything.
        let counts_first = tcb.config.prr == PrrRule::Linux && self.prr.is_some();
        if let Some(segment) = self.flight.first_lost().filter(|_| !counts_first) {
            tcb.transmit_cold(segment, env);
            self.note_sent(tcb, segment, env.now());
        }
    }

    /// Starts proportional rate reduction: by Linux's rule, from a window of `window` segments; by that of RFC 6937,
    /// from the unacknowledged segments.
    fn start_prr(&mut self, tcb: &ControlBlock, window: u64) {
        if let Some(prr) = &mut self.prr {
            prr.start(match tcb.config.prr {
                PrrRule::Rfc6937 => tcb.max_sent - tcb.una,
                PrrRule::Linux => window,
            });
        }
    }

    /// Lets the congestion control algorithm reduce the window for losses to which it has not reacted so far. If it now
    /// reduces the window, begins proportional rate reduction.
    pub(super) fn weigh_losses(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let window = tcb.window();
        if tcb.weigh_losses(env) {
            self.start_prr(tcb, window);
        }
    }

    /// Sets the fields of `TCP_INFO` that this algorithm determines, as Linux does. While the window is being reduced,
    /// cwnd is the allowed flight (`tcp_cwnd_reduction`). Retransmissions that have not arrived also count as lost
    /// segments.
    #[cfg(test)]
    pub(crate) fn inform(&self, tcb: &ControlBlock, info: &mut Info) {
        let repeated = self.flight.repeated_in(tcb.una, tcb.max_sent);
        let probes = u64::from(self.probe.is_under_way());
        let threshold = u64::from(tcb.config.dupack_threshold);
        info.reordering = self.flight.reordering().max(threshold);
        info.sacked = self.sacked.total();
        info.retrans = repeated;
        info.lost = self.flight.lost() + repeated.saturating_sub(probes);
        info.ca_state = match self.ca_state {
            CaState::Open if info.sacked > 0 => "disorder",
            CaState::Open => "open",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
        };
        if let Some(prr) = self.prr.as_ref().filter(|_| self.reduces()) {
            info.cwnd = self.in_flight(tcb) + prr.allowance();
        }
    }
}
