//! Loss repair without selective acknowledgements: Tahoe, Reno (RFC 5681 section 3.2) and NewReno
//! (RFC 6582).

use longhaul_congestion::Change;

use super::sender::{Ack, Core};
use crate::config::Recovery;
use crate::transport::Env;

/// Repair by fast retransmit and an inflated window.
#[derive(Debug)]
pub(super) struct WindowRepair {
    kind: Recovery,
    recovering: bool,
    /// The repair covers the segments below this (`recover` of RFC 6582).
    recover: u64,
    /// Segments that the window is inflated by: duplicate acknowledgements tell of departures.
    inflation: i64,
    /// Whether a partial acknowledgement of this recovery has restarted the timer.
    timer_restarted: bool,
}

impl WindowRepair {
    pub(super) fn new(kind: Recovery) -> Self {
        Self {
            kind,
            recovering: false,
            recover: 0,
            inflation: 0,
            timer_restarted: false,
        }
    }

    pub(super) fn in_flight(&self, core: &Core) -> u64 {
        core.nxt - core.una
    }

    #[inline]
    pub(super) fn next(&mut self, core: &mut Core) -> Option<u64> {
        let mut allowed = core.window() as i64 + self.inflation;
        // RFC 3042; while a timeout's losses are sent again, duplicates tell of needless repeats.
        if !self.recovering && core.config.limited_transmit && core.nxt >= core.max_sent {
            allowed += i64::from(core.dupacks.min(core.config.dupack_threshold - 1));
        }
        let in_flight = (core.nxt - core.una) as i64;
        let open = in_flight < allowed.clamp(1, core.peer_window as i64);
        (open && core.nxt < core.end).then_some(core.nxt)
    }

    #[inline]
    pub(super) fn on_sent(&mut self, core: &mut Core, segment: u64) {
        core.nxt = segment + 1;
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.recovering = false;
        self.inflation = 0;
        self.recover = core.max_sent;
        core.nxt = core.una;
    }

    /// Returns how many segments may follow.
    #[inline]
    pub(super) fn on_ack(&mut self, core: &mut Core, ack: &Ack, env: &mut Env) -> Option<u32> {
        if ack.next > core.una {
            let acked = ack.next - core.una;
            if self.recovering {
                self.on_ack_in_recovery(core, ack, acked, env);
            } else {
                core.advance(ack, env);
                core.grow(acked, ack, env.network.now);
            }
        } else if ack.next == core.una && core.max_sent > core.una {
            self.on_duplicate(core, env);
        }
        Some(u32::MAX)
    }

    fn on_duplicate(&mut self, core: &mut Core, env: &mut Env) {
        core.dupacks += 1;
        if self.recovering {
            self.inflation += 1;
            return;
        }
        // RFC 6582 section 3.2 step 2: only losses of data sent after the last reduction.
        if core.dupacks != core.config.dupack_threshold || core.una <= self.recover {
            return;
        }
        self.recover = core.max_sent;
        core.reduce_for_loss(env);
        core.restart_timer_for_repair(env);
        if self.kind == Recovery::Tahoe {
            core.congestion.window.restart();
            core.nxt = core.una;
            return;
        }
        self.recovering = true;
        self.timer_restarted = false;
        self.inflation = i64::from(core.config.dupack_threshold);
        core.transmit(core.una, env);
    }

    fn on_ack_in_recovery(&mut self, core: &mut Core, ack: &Ack, acked: u64, env: &mut Env) {
        let full = ack.next >= self.recover || self.kind == Recovery::Reno;
        if full {
            core.advance(ack, env);
            self.recovering = false;
            self.inflation = 0;
            // RFC 6582 section 3.2 step 3, option 1: no burst of what the repair has freed.
            let flight = (core.nxt - core.una).max(1) as f64;
            let window = core.congestion.window.ssthresh().min(flight + 1.0);
            core.congestion.window.set_cwnd(window, Change::Reduction);
            core.end_recovery(env);
            return;
        }
        // A partial acknowledgement: the next hole is lost too.
        core.una = ack.next;
        core.nxt = core.nxt.max(ack.next);
        core.stop_timing(ack.next);
        if !self.timer_restarted {
            self.timer_restarted = true;
            core.restart_or_stop_timer(env);
        }
        self.inflation += 1 - acked as i64;
        core.transmit(core.una, env);
    }
}
