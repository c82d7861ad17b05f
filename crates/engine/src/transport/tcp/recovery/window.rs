//! Loss recovery without selective acknowledgements: Tahoe, Reno (RFC 5681 section 3.2) and NewReno
//! (RFC 6582).

use longhaul_units::Time;

use super::LossRecovery;
use crate::config::Recovery;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
use crate::transport::tcp::regular::{unusual, usual};

/// Loss recovery by fast retransmit and an inflated window.
#[derive(Debug)]
pub(crate) struct WindowRecovery {
    kind: Recovery,
    recovering: bool,
    /// One past the last segment that the recovery covers (`recover` of RFC 6582).
    recover: u64,
    /// Inflation of the window in recovery, in segments: one for each duplicate acknowledgement, which shows that a
    /// segment has left the network. A partial acknowledgement of `n` segments decreases it by `n - 1`.
    inflation: i64,
    /// True if a partial acknowledgement of this recovery has restarted the timer.
    timer_restarted: bool,
}

impl WindowRecovery {
    pub(crate) fn new(kind: Recovery) -> Self {
        Self {
            kind,
            recovering: false,
            recover: 0,
            inflation: 0,
            timer_restarted: false,
        }
    }
}

impl LossRecovery for WindowRecovery {
    #[inline]
    fn in_recovery(&self, _tcb: &ControlBlock) -> bool {
        self.recovering
    }

    #[inline]
    fn is_open(&self) -> bool {
        !self.recovering && self.inflation == 0
    }

    fn in_flight(&self, tcb: &ControlBlock) -> u64 {
        tcb.nxt - tcb.una
    }

    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        let mut allowed = tcb.window() as i64 + self.inflation;
        // Limited transmit (RFC 3042). It does not apply to retransmissions after a timeout, since duplicates are then
        // caused by needless retransmissions.
        if !self.recovering && tcb.config.limited_transmit && tcb.nxt >= tcb.max_sent {
            allowed += i64::from(tcb.dupacks.min(tcb.config.dupack_threshold - 1));
        }
        let in_flight = (tcb.nxt - tcb.una) as i64;
        let open = in_flight < allowed.clamp(1, tcb.peer_window as i64);
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
        self.recovering = false;
        self.inflation = 0;
        self.recover = tcb.max_sent;
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
        if usual::<REGULAR>(ack.next > tcb.una) {
            let acked = ack.next - tcb.una;
            if unusual::<REGULAR>(self.recovering) {
                self.on_ack_in_recovery(tcb, ack, acked, env);
            } else {
                tcb.process_cumulative_ack::<REGULAR>(ack, env);
                tcb.on_new_ack::<REGULAR>(ack, acked, self.in_flight(tcb), env.now());
            }
        } else if ack.next == tcb.una && tcb.max_sent > tcb.una {
            tcb.process_duplicate_ack();
            let mut sample = tcb.ack_sample(0, self.in_flight(tcb), ack, env.now());
            tcb.complete(&mut sample, ack);
            tcb.report_ack(&sample, ack);
            self.on_duplicate(tcb, env);
            if self.recovering {
                tcb.on_ack_in_recovery(&sample);
            }
        }
        Some(u32::MAX)
    }
}

impl WindowRecovery {
    fn on_duplicate(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        if self.recovering {
            self.inflation += 1;
            return;
        }
        // RFC 6582 section 3.2 step 2: fast recovery begins only once data is acknowledged that was sent after the last
        // fast retransmit or timeout.
        if tcb.dupacks != tcb.config.dupack_threshold || tcb.una <= self.recover {
            return;
        }
        self.recover = tcb.max_sent;
        tcb.lost += 1;
        tcb.reduce_for_loss(env);
        tcb.restart_timer_for_retransmission(env);
        if self.kind == Recovery::Tahoe {
            if !tcb.sends_by_window() {
                tcb.congestion.window.restart();
            }
            tcb.nxt = tcb.una;
            return;
        }
        self.recovering = true;
        self.timer_restarted = false;
        self.inflation = i64::from(tcb.config.dupack_threshold);
        tcb.transmit_cold(tcb.una, env);
    }

    fn on_ack_in_recovery(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        acked: u64,
        env: &mut impl Environment,
    ) {
        let full = ack.next >= self.recover || self.kind == Recovery::Reno;
        if full {
            tcb.process_cumulative_ack::<false>(ack, env);
        } else {
            tcb.process_partial_ack(ack.next);
            tcb.lost += 1;
        }
        let mut sample = tcb.ack_sample(acked, self.in_flight(tcb), ack, env.now());
        tcb.complete(&mut sample, ack);
        tcb.report_ack(&sample, ack);
        if full {
            self.end_recovery(tcb, env);
        } else {
            // This is a partial acknowledgement: the segment at the next hole has also been lost.
            if !self.timer_restarted {
                self.timer_restarted = true;
                tcb.restart_or_stop_timer::<false>(env);
            }
            self.inflation += 1 - acked as i64;
            tcb.transmit_cold(tcb.una, env);
        }
        tcb.on_ack_in_recovery(&sample);
    }

    fn end_recovery(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        self.recovering = false;
        self.inflation = 0;
        if !tcb.sends_by_window() {
            // RFC 6582 section 3.2 step 3, option 1, which avoids a burst.
            let flight = (tcb.nxt - tcb.una).max(1) as f64;
            let window = tcb.congestion.window.ssthresh().min(flight + 1.0);
            tcb.congestion.window.set_cwnd(window);
        }
        tcb.end_recovery(env);
    }
}
