//! Loss repair as ns-2's `Reno` and `Newreno` agents have it, for comparison with ns-2 studies.

use longhaul_congestion::{Cause, Change};

use super::sender::{Ack, Core, LastCut};
use crate::transport::Env;

/// Most segments that `Newreno` sends for a duplicate acknowledgement.
const NEWRENO_BURST: u32 = 2;

/// State of the agents.
#[derive(Debug)]
pub(super) struct Ns2Window {
    newreno: bool,
    /// Segments that the window is inflated by (`dupwnd_`).
    inflation: u64,
    partial_seen: bool,
}

impl Ns2Window {
    pub(super) fn reno() -> Self {
        Self {
            newreno: false,
            inflation: 0,
            partial_seen: false,
        }
    }

    pub(super) fn newreno() -> Self {
        Self {
            newreno: true,
            ..Self::reno()
        }
    }

    pub(super) fn in_flight(&self, core: &Core) -> u64 {
        core.nxt - core.una
    }

    #[inline]
    pub(super) fn next(&mut self, core: &mut Core) -> Option<u64> {
        let window = core.congestion.window.cwnd() as u64 + self.inflation;
        let open = core.nxt < core.una + window.min(core.peer_window);
        (open && core.nxt < core.end).then_some(core.nxt)
    }

    #[inline]
    pub(super) fn on_sent(&mut self, core: &mut Core, segment: u64) {
        core.nxt = segment + 1;
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.inflation = 0;
        core.nxt = core.una;
    }

    /// Returns how many segments may follow, if any.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) -> Option<u32> {
        if ack.next > core.una {
            let repairing = core.last_cut == LastCut::Loss;
            if self.newreno && repairing && ack.next < core.recover {
                self.on_partial(core, ack, env);
            } else {
                if repairing && (self.inflation > 0 || !self.newreno) {
                    core.last_cut = LastCut::Recovered;
                    core.end_recovery(env);
                }
                self.inflation = 0;
                self.partial_seen = false;
                let acked = ack.next - core.una;
                core.advance(ack, env);
                core.grow(acked, ack, env.network.now);
            }
        } else if ack.next == core.una {
            self.on_duplicate(core, env);
        } else {
            return None;
        }
        match core.dupacks {
            0 => Some(u32::MAX),
            count if count < core.config.dupack_threshold => None,
            _ => Some(if self.newreno {
                NEWRENO_BURST
            } else {
                u32::MAX
            }),
        }
    }

    fn on_duplicate(&mut self, core: &mut Core, env: &mut Env) {
        core.dupacks += 1;
        let threshold = core.config.dupack_threshold;
        if core.dupacks == threshold {
            self.on_loss(core, env);
        } else if core.dupacks > threshold {
            if core.last_cut == LastCut::Loss {
                self.inflation += 1;
            }
        } else if core.config.limited_transmit {
            core.transmit_one_beyond(env);
        }
    }

    fn on_loss(&mut self, core: &mut Core, env: &mut Env) {
        let again = !self.newreno && core.last_cut == LastCut::Loss;
        if core.una > core.recover || core.una == 1 || again {
            core.reduce(Cause::Loss, self.inflation as f64, env);
        } else if core.config.ecn && core.last_cut == LastCut::Ecn {
            core.last_cut = LastCut::Loss;
        } else {
            return;
        }
        core.restart_timer_for_repair(env);
        core.transmit(core.una, env);
        self.inflation = u64::from(core.config.dupack_threshold);
    }

    /// A partial acknowledgement in `Newreno`: deflates the window by what it acknowledges, and
    /// repeats the next segment.
    fn on_partial(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) {
        let acked = ack.next - core.una;
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            let excess = (acked - self.inflation) as f64;
            let window = &mut core.congestion.window;
            window.set_cwnd(window.cwnd() - excess, Change::Reduction);
            self.inflation = 1;
        }
        if !self.partial_seen {
            self.partial_seen = true;
            core.restart_timer(env);
        }
        core.una = ack.next;
        core.nxt = core.nxt.max(ack.next);
        core.stop_timing(ack.next);
        core.transmit(core.una, env);
    }
}

impl Core {
    /// ns-2's limited transmit: one new segment beyond the window for each of the first duplicate
    /// acknowledgements (`send_one`).
    pub(super) fn transmit_one_beyond(&mut self, env: &mut Env) {
        let in_flight = self.nxt - self.una;
        let beyond = self.congestion.window.cwnd() + f64::from(self.dupacks);
        if in_flight < self.peer_window && (in_flight + 1) as f64 <= beyond && self.nxt < self.end {
            let segment = self.nxt;
            self.nxt += 1;
            self.transmit(segment, env);
        }
    }
}
