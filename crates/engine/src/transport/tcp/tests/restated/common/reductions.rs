//! Reductions of the window: for losses, marks and timeouts.

use longhaul_congestion::{Cause, Congestion, Timeout};
use longhaul_units::Time;

use super::{Algorithm, Connection, Cut, Rule, exceeds_tolerance};

impl Connection {
    /// Returns the value that a reduction starts from: the flight, at most `cwnd` (RFC 5681 equation 4), or in ns-2,
    /// `cwnd` plus `inflation`.
    fn in_use(&self, inflation: f64) -> f64 {
        if self.ns2 {
            (self.cwnd + inflation).min(self.peer_window as f64)
        } else {
            self.cwnd.min((self.max_sent - self.una).max(1) as f64)
        }
    }

    /// Processes a timeout (RFC 6298 section 5, RFC 5681 section 3.1). The slow-start threshold stays if the
    /// unacknowledged data was already retransmitted after an earlier timeout.
    pub(super) fn expire(&mut self, rule: &mut impl Rule) {
        self.deadline = Time::NEVER;
        if self.una == self.max_sent {
            return;
        }
        let keep_ssthresh = if self.ns2 {
            self.cut == Cut::Mark
        } else {
            self.repairs_timeout()
        };
        let event = Timeout {
            now: self.now,
            base: self.in_use(0.0),
            keep_ssthresh,
            sent: self.max_sent - 1,
        };
        self.told.push(format!("{event:?}"));
        if !keep_ssthresh {
            self.ssthresh = (event.base / 2.0).max(2.0);
        }
        self.cwnd = 1.0;
        self.counters.timeouts += 1;
        self.cut = Cut::Timeout;
        self.tolerates = false;
        self.recover = self.max_sent;
        self.dupacks = 0;
        self.answers_mark = self.config.ecn.is_on();
        self.timed = None;
        self.backoff *= 2;
        self.restart_timer();
        rule.on_timeout(self);
        self.send(rule, u64::MAX);
    }

    /// Returns true from a timeout until all segments sent before it are acknowledged; always false for ns-2's senders.
    pub(super) fn repairs_timeout(&self) -> bool {
        !self.ns2 && self.cut == Cut::Timeout && self.una < self.recover
    }

    /// Responds to a mark, once for each window of data (RFC 3168 section 6.1.2).
    pub(super) fn answer_mark(&mut self, next: u64) {
        if next > self.recover || self.ns2 && self.cut == Cut::Timeout {
            self.reduce(Cause::Ecn, self.in_use(0.0));
        }
    }

    /// Reduces the window for a loss, unless a mark has already reduced it for this window of data.
    pub(in super::super) fn reduce_for_loss(&mut self) {
        if self.cut == Cut::Mark && self.una <= self.recover {
            self.cut = Cut::Loss;
            self.tolerates = false;
        } else {
            self.reduce_from(0.0);
        }
    }

    /// Reduces the window for a loss, unless the algorithm tolerates losses. In ns-2, the window to reduce is cwnd plus
    /// `inflation`, the segments that recovery allows in addition.
    pub(in super::super) fn reduce_from(&mut self, inflation: f64) {
        let tolerant = self.algorithm == Algorithm::Tolerant && !self.ns2;
        self.tolerates = tolerant && !exceeds_tolerance(self.delivered, self.lost);
        if !self.tolerates {
            self.reduce(Cause::Loss, self.in_use(inflation));
        }
    }

    /// Reduces the window and returns true if losses tolerated so far now exceed the tolerance.
    pub(in super::super) fn weigh_losses(&mut self) -> bool {
        let tolerated = self.tolerates;
        if tolerated {
            self.reduce_from(0.0);
        }
        tolerated && !self.tolerates
    }

    /// Returns true if the window alone determines the segments that may leave, even in a recovery.
    pub(in super::super) fn window_governs(&self) -> bool {
        self.tolerates || self.algorithm == Algorithm::Controlling
    }

    fn reduce(&mut self, cause: Cause, base: f64) {
        let cuts = self.counters.cuts_loss + self.counters.cuts_ecn + self.counters.timeouts;
        let event = Congestion {
            now: self.now,
            cause,
            base,
            in_flight: self.max_sent - self.una,
            in_slow_start: self.cwnd < self.ssthresh,
            first: cuts == 0,
        };
        self.told.push(format!("{event:?}"));
        self.tolerates = false;
        self.recover = self.max_sent;
        self.answers_mark = self.config.ecn.is_on();
        let least = match cause {
            Cause::Ecn => self.config.min_cwnd.ecn,
            _ => self.config.min_cwnd.loss,
        };
        let before = (self.cwnd, self.ssthresh);
        self.ssthresh = (base / 2.0).max(2.0);
        self.cwnd = (base / 2.0).max(1.0);
        if self.algorithm != Algorithm::Controlling {
            self.cwnd = self.cwnd.max(least.into());
        }
        if cause == Cause::Loss {
            self.counters.cuts_loss += 1;
            self.cut = Cut::Loss;
        } else if self.ns2 || before != (self.cwnd, self.ssthresh) {
            self.counters.cuts_ecn += 1;
            self.cut = Cut::Mark;
        }
    }

    pub(in super::super) fn tell_exit(&mut self) {
        self.told.push(format!("exit {:?}", self.now));
    }

    /// Ends a recovery.
    pub(in super::super) fn end_recovery(&mut self) {
        self.tolerates = false;
        self.tell_exit();
    }
}
