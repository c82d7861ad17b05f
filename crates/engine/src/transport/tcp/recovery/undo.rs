//! Reductions that were not needed: what was sent again had only been late, and the window goes back to what it was
//! (Linux, `tcp_may_undo` of `net/ipv4/tcp_input.c`).
//!
//! That an acknowledgement answers the first copy of a segment shows its timestamp, which is older than any
//! retransmission (Eifel, RFC 3522; `tcp_packet_delayed`); or all that was sent again arrives twice, as the receiver
//! reports (D-SACK, RFC 2883 and RFC 3708; `tcp_check_dsack`). After a timeout, it also shows when a segment is acknowledged
//! that was never sent again: new data is sent before more of the old is (F-RTO, RFC 5682 section 3; `tcp_process_loss`).

use longhaul_units::Time;

use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;

/// What there is to know of a reduction.
#[derive(Debug)]
pub(crate) struct Undo {
    /// When something was first sent again; [`Time::NEVER`] before.
    resent: Time,
    /// The first segment of the reduction (`undo_marker`), and how many that were sent again since are not known to have
    /// arrived twice (`undo_retrans`).
    first: u64,
    unexplained: u64,
    /// Whether F-RTO goes on.
    frto: bool,
    /// Whether new data leaves before lost segments.
    new_first: bool,
}

impl Undo {
    /// A recovery begins.
    pub(crate) fn in_recovery(first: u64) -> Self {
        Self {
            resent: Time::NEVER,
            first,
            unexplained: 0,
            frto: false,
            new_first: false,
        }
    }

    /// The timer has expired.
    pub(crate) fn after_timeout(first: u64) -> Self {
        Self {
            frto: true,
            ..Self::in_recovery(first)
        }
    }

    /// A segment is sent again.
    pub(crate) fn on_retransmission(&mut self, now: Time) {
        self.resent = self.resent.min(now);
        self.unexplained += 1;
    }

    /// The segments from `left` to `right` have arrived twice. Whether all that was sent again has: nothing was lost.
    pub(crate) fn on_duplicates(&mut self, (left, right): (u64, u64)) -> bool {
        if right <= self.first || self.resent == Time::NEVER || self.unexplained == 0 {
            return false;
        }
        self.unexplained = self.unexplained.saturating_sub(right - left);
        self.unexplained == 0
    }

    /// Whether an acknowledgement answers what was sent before anything was sent again.
    pub(crate) fn answers_first_copy(&self, tcb: &ControlBlock, ack: Ack) -> bool {
        tcb.config.timestamps.bytes().is_some() && tcb.echoes_before(ack, self.resent)
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

/// The segments that an acknowledgement reports to have arrived before (RFC 2883 section 4: what its first block holds
/// lies below the acknowledgement or in the second block).
pub(crate) fn duplicates(ack: Ack) -> Option<(u64, u64)> {
    let mut blocks = ack.sack.blocks(ack.next);
    let (left, right) = blocks.next()?;
    let holds = |(l, r): (u64, u64)| l <= left && right <= r;
    (right <= ack.next || blocks.next().is_some_and(holds)).then_some((left, right))
}

/// How much longer than at first RACK waits for what was overtaken, which duplicates lengthen (RFC 8985 section 6.2, step
/// 4; Linux, `tcp_rack_update_reo_wnd`).
#[derive(Debug)]
pub(crate) struct Patience {
    /// In quarters of the smallest round-trip time (`reo_wnd_steps`).
    pub(crate) steps: u64,
    /// Recoveries until it starts over (`reo_wnd_persist`).
    recoveries: u32,
    /// Segments delivered when it last grew.
    grown_at: u64,
}

impl Patience {
    const MOST_STEPS: u64 = 255;
    const RECOVERIES: u32 = 16;

    pub(crate) const fn new() -> Self {
        Self {
            steps: 1,
            recoveries: 0,
            grown_at: 0,
        }
    }

    /// Duplicates are reported, when `delivered` segments are delivered and `in_flight` of those sent later are not: once
    /// a round trip.
    pub(crate) fn on_duplicates(&mut self, delivered: u64, in_flight: u64) {
        if delivered < self.grown_at {
            return;
        }
        self.steps = (self.steps + 1).min(Self::MOST_STEPS);
        self.recoveries = Self::RECOVERIES;
        self.grown_at = delivered + in_flight;
    }

    /// A recovery is over.
    pub(crate) fn on_recovery_exit(&mut self) {
        self.recoveries = self.recoveries.saturating_sub(1);
        if self.recoveries == 0 {
            self.steps = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_once_a_round_trip_and_lasts_sixteen_recoveries() {
        let mut patience = Patience::new();
        patience.on_duplicates(100, 20);
        patience.on_duplicates(119, 20);
        assert_eq!(patience.steps, 2);
        patience.on_duplicates(120, 20);
        assert_eq!(patience.steps, 3);
        (0..15).for_each(|_| patience.on_recovery_exit());
        assert_eq!(patience.steps, 3);
        patience.on_recovery_exit();
        assert_eq!(patience.steps, 1);
    }
}
