//! Loss repair as ns-2's `Sack1` agent has it, for comparison with ns-2 studies.
//!
//! Its pipe counts acknowledgements: set on entering recovery from what is outstanding, one less
//! for each acknowledgement, one more for each segment sent. Segments known to be lost are not
//! taken off (gold set README), so that the repair of a large loss starts slowly.

use longhaul_congestion::Cause;

use super::ranges::Ranges;
use super::sender::{Ack, Core, LastCut};
use crate::transport::Env;

/// State of the agent.
#[derive(Debug, Default)]
pub(super) struct Ns2Sack {
    recovering: bool,
    /// Since a timeout no new acknowledgement has come: duplicates are ignored.
    timed_out: bool,
    pipe: i64,
    sacked: Ranges,
    /// One past the last segment sent again, or zero.
    repaired: u64,
}

impl Ns2Sack {
    pub(super) fn in_flight(&self, core: &Core) -> u64 {
        if self.recovering {
            self.pipe.max(0) as u64
        } else {
            core.nxt - core.una
        }
    }

    #[inline]
    pub(super) fn next(&mut self, core: &mut Core) -> Option<u64> {
        if !self.recovering {
            let open = core.nxt < core.una + core.window();
            return (open && core.nxt < core.end).then_some(core.nxt);
        }
        if self.pipe >= core.congestion.window.cwnd() as i64 {
            return None;
        }
        let limit = core.una + core.peer_window;
        match self.sacked.next_hole(self.repaired.max(core.una)) {
            Some(hole) => (hole < limit).then_some(hole),
            None => (core.nxt < limit && core.nxt < core.end).then_some(core.nxt),
        }
    }

    #[inline]
    pub(super) fn on_sent(&mut self, core: &mut Core, segment: u64) {
        if self.recovering {
            self.pipe += 1;
            if segment < core.nxt {
                self.repaired = self.repaired.max(segment + 1);
            }
        }
        core.nxt = core.nxt.max(segment + 1);
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.recovering = false;
        self.timed_out = true;
        self.clear();
        core.nxt = core.una;
    }

    fn clear(&mut self) {
        self.sacked.clear();
        self.repaired = 0;
    }

    /// Returns how many segments may follow, if any.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) -> Option<u32> {
        if self.recovering {
            self.on_ack_in_recovery(core, ack, env);
            return (ack.next >= core.una).then_some(u32::MAX);
        }
        if ack.next > core.una {
            let acked = ack.next - core.una;
            core.advance(ack, env);
            core.grow(acked, ack, env.network.now);
            self.timed_out = false;
            if !self.sacked.is_empty() || self.repaired > 0 {
                self.clear();
            }
        } else if ack.next == core.una && !self.timed_out {
            self.on_duplicate(core, ack, env);
        } else if ack.next < core.una {
            return None;
        }
        if self.recovering {
            // Nothing beyond the repair itself until the next acknowledgement.
            return None;
        }
        (core.dupacks == 0).then_some(u32::MAX)
    }

    fn on_duplicate(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) {
        if !self.take_blocks(ack) {
            return;
        }
        core.dupacks += 1;
        if core.dupacks == core.config.dupack_threshold {
            self.on_loss(core, env);
        } else if core.dupacks < core.config.dupack_threshold && core.config.limited_transmit {
            core.transmit_one_beyond(env);
        }
    }

    fn take_blocks(&mut self, ack: &Ack) -> bool {
        let before = self.sacked.total();
        for &(left, right) in ack.sack.as_slice() {
            if right > ack.next {
                self.sacked.add(left.max(ack.next), right, |_, _| {});
            }
        }
        self.sacked.total() > before
    }

    fn on_loss(&mut self, core: &mut Core, env: &mut Env) {
        if core.una > core.recover || core.una == 1 {
            self.enter_recovery(core, env);
            core.reduce(Cause::Loss, 0.0, env);
        } else if core.config.ecn && core.last_cut == LastCut::Ecn {
            core.last_cut = LastCut::Loss;
            self.enter_recovery(core, env);
        } else {
            return;
        }
        core.transmit(core.una, env);
    }

    fn enter_recovery(&mut self, core: &mut Core, env: &mut Env) {
        let outstanding = (core.max_sent - core.una) as i64;
        self.pipe = outstanding - i64::from(core.config.dupack_threshold);
        self.recovering = true;
        self.repaired = self.repaired.max(core.una + 1);
        core.restart_timer_for_repair(env);
    }

    fn on_ack_in_recovery(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) {
        self.pipe -= 1;
        if ack.next >= core.recover {
            core.recover = 1;
            self.recovering = false;
            core.advance(ack, env);
            self.timed_out = false;
            self.clear();
            core.end_recovery(env);
        } else if ack.next > core.una {
            core.una = ack.next;
            self.sacked.remove_below(ack.next);
            self.take_blocks(ack);
            self.pipe -= 1;
            core.restart_or_stop_timer(env);
            core.rtt.end_backoff();
        } else if ack.next == core.una && !self.timed_out {
            self.take_blocks(ack);
        }
    }
}
