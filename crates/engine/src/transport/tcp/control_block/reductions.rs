//! Reductions of the window for losses, marks, timeouts and idle times. In general, losses and marks in one window of
//! data cause one reduction.

use longhaul_congestion::{Cause, Congestion, Timeout};
use longhaul_units::{Span, Time};

use super::{ControlBlock, LastReduction};
use crate::config::ReductionRule;
use crate::measure::EventKind;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;

impl ControlBlock {
    /// Processes an echoed congestion mark: reduces the window once per window of data (RFC 3168 section 6.1.2, RFC
    /// 8257 section 3.3), and in ns-2 always after a timeout. `base` is the window in use when the mark arrived.
    /// Returns true if the window was reduced.
    #[cold]
    pub(crate) fn on_ecn_echo(&mut self, ack: Ack, base: f64, env: &mut impl Environment) -> bool {
        let ns2_after_timeout = self.ns2 && self.last_reduction == LastReduction::Timeout;
        let answers = ack.next > self.recover || ns2_after_timeout;
        let before = self.counters.cuts_ecn;
        if answers {
            self.reduce_cwnd(Cause::Ecn, base, env);
        }
        self.counters.cuts_ecn > before
    }

    /// Returns the window that is multiplied in a reduction. In ns-2, this window includes `inflation`, the number of
    /// segments that loss recovery currently allows in addition to cwnd.
    pub(crate) fn window_in_use(&self, inflation: f64) -> f64 {
        let cwnd = self.congestion.window.cwnd();
        if self.ns2 {
            return (cwnd + inflation).min(self.peer_window as f64);
        }
        match self.config.reductions {
            ReductionRule::Rfc5681 => cwnd.min(self.flight_size()),
            ReductionRule::Linux => cwnd,
        }
    }

    /// Reduces the window after a loss, once for all losses in the data sent so far. If the algorithm tolerates the
    /// loss, the window stays, but earlier reductions can no longer be undone. In ns-2, no loss is tolerated, and the
    /// window to reduce is cwnd plus `inflation` segments.
    pub(crate) fn reduce(&mut self, inflation: f64, env: &mut impl Environment) {
        if self.ns2 || self.congestion.answers_losses(self.delivered, self.lost) {
            self.reduce_cwnd(Cause::Loss, self.window_in_use(inflation), env);
        } else {
            self.tolerates_losses = true;
            self.note_prior(false);
        }
    }

    /// Returns true if the algorithm tolerates the losses of the current recovery: the window grows instead of being
    /// reduced.
    #[inline]
    pub(crate) fn tolerates_losses(&self) -> bool {
        self.tolerates_losses
    }

    /// Returns true if loss recovery must neither set the window nor limit sending in another way, such as proportional
    /// rate reduction: the algorithm controls the window at all times, or tolerates the losses.
    #[inline]
    pub(crate) fn sends_by_window(&self) -> bool {
        self.controls_cwnd || self.tolerates_losses
    }

    /// Lets the algorithm decide again about losses that it has tolerated so far. Returns true if
    /// the window is reduced now.
    pub(crate) fn weigh_losses(&mut self, env: &mut impl Environment) -> bool {
        if self.tolerates_losses {
            self.reduce(0.0, env);
            return !self.tolerates_losses;
        }
        false
    }

    fn reduce_cwnd(&mut self, cause: Cause, base: f64, env: &mut impl Environment) {
        let window = self.congestion.window;
        let before = window.cwnd();
        let event = Congestion {
            now: env.now(),
            cause,
            base,
            in_flight: self.max_sent - self.una,
            in_slow_start: window.in_slow_start(),
            first: self.counters.cuts_loss + self.counters.cuts_ecn + self.counters.timeouts == 0,
        };
        self.recover = self.max_sent;
        self.tolerates_losses = false;
        self.cwr_pending = self.config.ecn.is_on();
        // A reduction for a mark is never undone.
        self.note_prior(cause == Cause::Loss);
        self.congestion.on_congestion(&event);
        if cause == Cause::Ecn {
            if !self.ns2 && self.congestion.window == window {
                // The algorithm ignores the mark, or the window is at its minimum. ns-2 records a reduction even then.
                return;
            }
            self.counters.cuts_ecn += 1;
            self.last_reduction = LastReduction::Ecn;
        } else {
            self.counters.cuts_loss += 1;
            self.last_reduction = LastReduction::Loss;
        }
        self.begin_dummies(env);
        self.log(EventKind::Cut(cause), before, env);
    }

    /// Reduces the window for a loss, unless an ECN reduction already covers this window of data.
    pub(crate) fn reduce_for_loss(&mut self, env: &mut impl Environment) {
        if self.mark_covers_loss() && self.una <= self.recover {
            self.tolerates_losses = false;
            self.last_reduction = LastReduction::Loss;
        } else {
            self.reduce(0.0, env);
        }
    }

    /// Returns true if the last reduction was for a mark and also covers losses in the same window of data (RFC 3168
    /// section 6.1.2). Returns false for algorithms that reduce the window in proportion to the marks: there, a loss
    /// causes the standard reduction in addition (RFC 8257 section 3.5).
    pub(crate) fn mark_covers_loss(&self) -> bool {
        self.last_reduction == LastReduction::Ecn && !self.congestion.needs().every_mark
    }

    /// Halves the window once for each retransmission timeout that fits into `unused`, the time since the last
    /// transmission, but not below the initial window. First raises ssthresh to three quarters of cwnd if it is smaller
    /// (Linux, `tcp_cwnd_restart` and `tcp_current_ssthresh`). Does nothing unless `unused` exceeds the timeout.
    pub(crate) fn halve_unused(&mut self, unused: Span) {
        let timeouts = unused.as_ps() / self.rtt.timeout().as_ps();
        if unused <= self.rtt.timeout() {
            return;
        }
        let window = &mut self.congestion.window;
        let cwnd = window.cwnd();
        let least = cwnd.min(self.config.initial_window);
        let mut left = cwnd as u64;
        window.set_ssthresh(window.ssthresh().max((left / 2 + left / 4) as f64));
        left = left.checked_shr(timeouts as u32).unwrap_or(0);
        self.congestion.restart_after_idle((left as f64).max(least));
    }

    /// Ends the recovery, and reports this to the algorithm and to the log.
    pub(crate) fn end_recovery(&mut self, env: &mut impl Environment) {
        let before = self.congestion.window.cwnd();
        self.tolerates_losses = false;
        self.congestion.on_recovery_exit(env.now());
        self.log(EventKind::RecoveryExit, before, env);
    }

    /// Returns the data sent and not cumulatively acknowledged (RFC 5681 section 2), in segments; at least one.
    fn flight_size(&self) -> f64 {
        (self.max_sent - self.una).max(1) as f64
    }

    /// Stores cwnd and ssthresh before a reduction if it may be undone. Otherwise removes the stored values, so that no
    /// earlier reduction can be undone either.
    fn note_prior(&mut self, may_be_undone: bool) {
        let window = &self.congestion.window;
        let prior = (window.cwnd(), window.ssthresh());
        if let Some(extras) = self.extras.as_mut().filter(|_| self.config.undo) {
            extras.prior = may_be_undone.then_some(prior);
        }
    }

    /// Undoes the last reduction, which was spurious (Linux, `tcp_undo_cwnd_reduction`). The window stays if no values
    /// are stored, as after a mark.
    pub(crate) fn undo_reduction(&mut self) {
        let prior = self.extras.as_mut().and_then(|extras| extras.prior.take());
        if let Some((cwnd, ssthresh)) = prior {
            self.congestion.undo(cwnd, ssthresh);
        }
        self.cwr_pending = false;
        self.last_reduction = LastReduction::Recovered;
    }

    /// Returns true if a timeout does not change ssthresh, because ssthresh was already reduced for this window of data
    /// (Linux, `tcp_enter_loss`).
    fn stays_reduced(&self) -> bool {
        self.config.reductions == ReductionRule::Linux
            && !matches!(
                self.last_reduction,
                LastReduction::None | LastReduction::Recovered
            )
            && self.una < self.recover
    }

    /// Processes a timeout: congestion control restarts the window, and the timeout backs off. Loss recovery marks the
    /// lost segments afterwards, and the caller restarts the timer.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        if self.una == 0 {
            self.syn_lost = true;
        }
        let keep_ssthresh = if self.ns2 {
            self.last_reduction == LastReduction::Ecn
        } else {
            // RFC 5681 section 3.1: ssthresh is held constant for data that the timer already retransmitted, which
            // is all that was outstanding then (RFC 6675 section 5.1).
            self.retransmits_after_timeout() || self.stays_reduced() || !self.established
        };
        let base = if self.established {
            self.window_in_use(0.0)
        } else {
            1.0
        };
        if !keep_ssthresh {
            self.note_prior(true);
        }
        self.congestion.on_timeout(&Timeout {
            now,
            base,
            keep_ssthresh,
            sent: self.max_sent.saturating_sub(1),
        });
        self.counters.timeouts += 1;
        self.last_reduction = LastReduction::Timeout;
        self.tolerates_losses = false;
        self.recover = self.max_sent;
        self.dupacks = 0;
        self.cwr_pending = self.config.ecn.is_on();
        self.stop_timing();
        self.rtt.back_off(&self.config.rto);
    }
}
