//! Reductions that were not needed: what was sent again had only been late, and the window goes back to what it was
//! (Linux, `tcp_may_undo` of `net/ipv4/tcp_input.c`).
//!
//! That an acknowledgement answers the first copy of a segment shows its timestamp, which is older than any
//! retransmission (Eifel, RFC 3522; `tcp_packet_delayed`). After a timeout, it also shows when a segment is acknowledged
//! that was never sent again: new data is sent before more of the old is (F-RTO, RFC 5682 section 3; `tcp_process_loss`).

use longhaul_units::Time;

use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;

/// What there is to know of a reduction.
#[derive(Debug)]
pub(crate) struct Undo {
    /// When something was first sent again; [`Time::NEVER`] before.
    resent: Time,
    /// Whether F-RTO goes on.
    frto: bool,
    /// Whether new data leaves before lost segments.
    new_first: bool,
}

impl Undo {
    /// A recovery begins.
    pub(crate) fn in_recovery() -> Self {
        Self {
            resent: Time::NEVER,
            frto: false,
            new_first: false,
        }
    }

    /// The timer has expired.
    pub(crate) fn after_timeout() -> Self {
        Self {
            frto: true,
            ..Self::in_recovery()
        }
    }

    /// A segment is sent again.
    pub(crate) fn on_retransmission(&mut self, now: Time) {
        self.resent = self.resent.min(now);
    }

    /// Whether an acknowledgement answers what was sent before anything was sent again.
    pub(crate) fn answers_first_copy(&self, tcb: &ControlBlock, ack: Ack) -> bool {
        tcb.config.timestamps.bytes().is_some() && ack.stamp < self.resent
    }

    /// Whether a segment that was never sent again shows that the timeout was too early, by its acknowledgement.
    pub(crate) fn trusts_original(&self) -> bool {
        self.frto
    }

    /// An acknowledgement after a timeout that shows nothing. `advanced`, if it moves forward, but not to the end of what
    /// was in flight; `reports`, if it tells of segments that arrived out of order; `sent_new`, if new data has been sent
    /// since the timeout. Returns whether what is in flight now counts as that: new data is about to leave.
    pub(crate) fn go_on(
        &mut self,
        tcb: &ControlBlock,
        advanced: bool,
        reports: bool,
        sent_new: bool,
    ) -> bool {
        self.new_first = false;
        if !self.frto {
            return false;
        }
        if sent_new {
            // Step 3.a: the loss was real.
            self.frto = !reports;
            return false;
        }
        if !advanced {
            return false;
        }
        // Step 2.b.
        self.new_first = tcb.has_new();
        self.frto = self.new_first;
        true
    }

    /// Whether new data leaves before lost segments.
    pub(crate) fn prefers_new(&self) -> bool {
        self.new_first
    }
}
