//! Loss recovery of ns-2's `Sack1` agent, for comparison with ns-2 studies.
//!
//! The agent's pipe starts at the number of outstanding segments less the duplicate ACK threshold. Each acknowledgement
//! decrements it, a partial one by two, and each segment sent increments it. Lost segments are not subtracted (ns-2.35,
//! `tcp-sack1.cc`): recovery from a large loss starts slowly.

use longhaul_units::Time;

use super::LossRecovery;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::{ControlBlock, LastReduction};
use crate::transport::tcp::ranges::Ranges;
use crate::transport::tcp::regular::{unusual, usual};

/// Loss recovery state of a `Sack1` agent; the order of fields in memory is fixed.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Ns2Sack {
    recovering: bool,
    /// True from a timeout to the next new acknowledgement; duplicates are ignored meanwhile.
    timed_out: bool,
    pipe: i64,
    /// One past the last segment retransmitted; zero if there is none.
    repaired: u64,
    sacked: Ranges,
}

impl LossRecovery for Ns2Sack {
    #[inline]
    fn in_recovery(&self, _tcb: &ControlBlock) -> bool {
        self.recovering
    }

    #[inline]
    fn is_open(&self) -> bool {
        !self.recovering && !self.timed_out && self.repaired == 0 && self.sacked.is_empty()
    }

    fn in_flight(&self, tcb: &ControlBlock) -> u64 {
        if self.recovering {
            self.pipe.max(0) as u64
        } else {
            tcb.nxt - tcb.una
        }
    }

    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        if usual::<REGULAR>(!self.recovering) {
            let open = tcb.allows(tcb.nxt - tcb.una);
            return (open && tcb.nxt < tcb.end).then_some(tcb.nxt);
        }
        if self.pipe >= tcb.congestion.window.cwnd() as i64 {
            return None;
        }
        let limit = tcb.una + tcb.peer_window;
        match self.sacked.next_hole(self.repaired.max(tcb.una)) {
            Some(hole) => (hole < limit).then_some(hole),
            None => (tcb.nxt < limit && tcb.nxt < tcb.end).then_some(tcb.nxt),
        }
    }

    #[inline]
    fn on_sent<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        segment: u64,
        _env: &mut impl Environment,
    ) {
        if unusual::<REGULAR>(self.recovering) {
            self.pipe += 1;
            if segment < tcb.nxt {
                self.repaired = self.repaired.max(segment + 1);
            }
        }
        tcb.nxt = tcb.nxt.max(segment + 1);
    }

    fn on_timeout(&mut self, tcb: &mut ControlBlock, _now: Time) {
        self.recovering = false;
        self.timed_out = true;
        tcb.mark_flight_lost();
        self.clear();
        tcb.nxt = tcb.una;
    }

    #[inline(always)]
    fn on_ack<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) -> Option<u32> {
        if unusual::<REGULAR>(self.recovering) {
            self.on_ack_in_recovery(tcb, ack, env);
            return (ack.next >= tcb.una).then_some(u32::MAX);
        }
        if usual::<REGULAR>(ack.next > tcb.una) {
            let acked = ack.next - tcb.una;
            tcb.process_cumulative_ack::<REGULAR>(ack, env);
            tcb.on_new_ack::<REGULAR>(ack, acked, tcb.nxt - tcb.una, env.now());
            self.timed_out = false;
            if unusual::<REGULAR>(!self.sacked.is_empty() || self.repaired > 0) {
                self.clear();
            }
        } else if ack.next == tcb.una && !self.timed_out {
            self.on_duplicate(tcb, ack, env);
        } else if ack.next < tcb.una {
            return None;
        }
        if REGULAR {
            return Some(u32::MAX);
        }
        if self.recovering {
            // Nothing but the retransmission is sent before the next acknowledgement.
            return None;
        }
        (tcb.dupacks == 0).then_some(u32::MAX)
    }
}

impl Ns2Sack {
    fn clear(&mut self) {
        self.sacked.clear();
        self.repaired = 0;
    }

    fn on_duplicate(&mut self, tcb: &mut ControlBlock, ack: Ack, env: &mut impl Environment) {
        if !self.process_blocks(tcb, ack) {
            return;
        }
        tcb.dupacks += 1;
        let mut sample = tcb.ack_sample(0, self.in_flight(tcb), ack, env.now());
        tcb.complete(&mut sample, ack);
        tcb.report_ack(&sample, ack);
        if tcb.dupacks == tcb.config.dupack_threshold {
            self.on_loss(tcb, env);
            if self.recovering {
                tcb.on_ack_in_recovery(&sample);
            }
        } else if tcb.dupacks < tcb.config.dupack_threshold && tcb.config.limited_transmit {
            tcb.transmit_one_beyond(env);
        }
    }

    fn process_blocks(&mut self, tcb: &mut ControlBlock, ack: Ack) -> bool {
        let before = self.sacked.total();
        let (blocks, count) = self.sacked.unseen(ack.sack, ack.next);
        for &(left, right) in &blocks[..count] {
            if right > ack.next {
                self.sacked
                    .add(left.max(ack.next), right, |l, r| tcb.on_sacked(l, r));
            }
        }
        tcb.process_sacked(self.sacked.total());
        self.sacked.total() > before
    }

    fn on_loss(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        if tcb.una > tcb.recover || tcb.una == 1 {
            self.enter_recovery(tcb, env);
            tcb.reduce(0.0, env);
        } else if tcb.config.ecn.is_on() && tcb.last_reduction == LastReduction::Ecn {
            self.enter_recovery(tcb, env);
            tcb.reduce_for_loss(env);
        } else {
            return;
        }
        tcb.transmit_cold(tcb.una, env);
    }

    fn enter_recovery(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let outstanding = (tcb.max_sent - tcb.una) as i64;
        self.pipe = outstanding - i64::from(tcb.config.dupack_threshold);
        self.recovering = true;
        self.repaired = self.repaired.max(tcb.una + 1);
        tcb.lost += 1;
        tcb.restart_timer_for_retransmission(env);
    }

    fn on_ack_in_recovery(&mut self, tcb: &mut ControlBlock, ack: Ack, env: &mut impl Environment) {
        self.pipe -= 1;
        let acked = ack.next.saturating_sub(tcb.una);
        let mut news = acked > 0;
        let full = ack.next >= tcb.recover;
        if full {
            tcb.recover = 1;
            self.recovering = false;
            tcb.process_cumulative_ack::<false>(ack, env);
            self.timed_out = false;
            self.clear();
        } else if news {
            self.pipe -= 1;
            tcb.process_partial_ack(ack.next);
            self.sacked.remove_below(ack.next);
            self.process_blocks(tcb, ack);
            tcb.restart_or_stop_timer::<false>(env);
            tcb.rtt.end_backoff(&tcb.config.rto);
        } else if ack.next == tcb.una && !self.timed_out {
            news = self.process_blocks(tcb, ack);
        }
        if news {
            let mut sample = tcb.ack_sample(acked, self.in_flight(tcb), ack, env.now());
            tcb.complete(&mut sample, ack);
            tcb.report_ack(&sample, ack);
            tcb.on_ack_in_recovery(&sample);
        }
        if full {
            tcb.end_recovery(env);
        }
    }
}
