//! Detection of spurious reductions: the retransmitted segments had only been delayed. Such reductions are undone
//! (Linux, `tcp_may_undo` of `net/ipv4/tcp_input.c`).
//!
//! There are three signs of a spurious reduction. First, the acknowledgement is for the first copy of a segment: its
//! timestamp is older than any retransmission (Eifel, RFC 3522; `tcp_packet_delayed`). Second, the receiver reports
//! that all retransmitted segments have arrived twice (D-SACK, RFC 2883 and RFC 3708; `tcp_check_dsack`). Third, a
//! segment without a retransmission is acknowledged after a timeout. To find out, the sender sends new data before
//! further retransmissions (F-RTO, RFC 5682 section 3; `tcp_process_loss`).

use longhaul_units::Time;

use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;

/// Evidence that decides if a reduction was spurious.
#[derive(Debug)]
pub(crate) struct Undo {
    /// Time of the first retransmission; [`Time::NEVER`] if there was none.
    resent: Time,
    /// First unacknowledged segment at the reduction (`undo_marker`).
    first: u64,
    /// Number of retransmissions since the reduction that are not known to have arrived twice
    /// (`undo_retrans`).
    unexplained: u64,
    /// True while F-RTO is under way.
    frto: bool,
    /// True if new data must leave before lost segments (F-RTO).
    new_first: bool,
}

impl Undo {
    /// Begins to collect evidence that a fast recovery was spurious.
    pub(crate) fn in_recovery(first: u64) -> Self {
        Self {
            resent: Time::NEVER,
            first,
            unexplained: 0,
            frto: false,
            new_first: false,
        }
    }

    /// Begins to collect evidence that a timeout was spurious.
    pub(crate) fn after_timeout(first: u64) -> Self {
        Self {
            frto: true,
            ..Self::in_recovery(first)
        }
    }

    /// Records a retransmission.
    pub(crate) fn on_retransmission(&mut self, now: Time) {
        self.resent = self.resent.min(now);
        self.unexplained += 1;
    }

    /// Records that the segments from `left` to `right` have arrived twice. Returns true if all retransmitted
    /// segments have now arrived twice: then no segment was lost.
    pub(crate) fn on_duplicates(&mut self, (left, right): (u64, u64)) -> bool {
        if right <= self.first || self.resent == Time::NEVER || self.unexplained == 0 {
            return false;
        }
        self.unexplained = self.unexplained.saturating_sub(right - left);
        self.unexplained == 0
    }

    /// Returns true if an acknowledgement is for a segment sent before the first retransmission, or if nothing has been
    /// retransmitted since the reduction. Always false without timestamps.
    pub(crate) fn answers_first_copy(&self, tcb: &ControlBlock, ack: Ack) -> bool {
        tcb.config.timestamps.bytes().is_some() && tcb.echoes_before(ack, self.resent)
    }

    /// Returns true while F-RTO is under way: the acknowledgement of a segment that was never retransmitted would then
    /// show that the timeout was spurious.
    pub(crate) fn trusts_original(&self) -> bool {
        self.frto
    }

    /// Continues F-RTO after an acknowledgement that does not show a spurious timeout. Returns true at step 2.b of RFC
    /// 5682: new data should leave next. If there is no new data, F-RTO ends.
    ///
    /// `advanced` is true if the acknowledgement moves `una`, but not to the end of the flight at the timeout.
    /// `reports` is true if the acknowledgement reports segments out of order. `sent_new` is true if new data has been
    /// sent since the timeout.
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
            // Step 3.a of F-RTO: the loss was real.
            self.frto = !reports;
            return false;
        }
        if !advanced {
            return false;
        }
        // Step 2.b of F-RTO.
        self.new_first = tcb.has_new();
        self.frto = self.new_first;
        true
    }

    /// Returns true if new data must leave before lost segments.
    pub(crate) fn prefers_new(&self) -> bool {
        self.new_first
    }
}

/// Returns the segments that an acknowledgement reports as duplicates: its first block lies below the acknowledgement
/// number or within the second block (RFC 2883 section 4).
pub(crate) fn duplicates(ack: Ack) -> Option<(u64, u64)> {
    let mut blocks = ack.sack.blocks(ack.next);
    let (left, right) = blocks.next()?;
    let holds = |(l, r): (u64, u64)| l <= left && right <= r;
    (right <= ack.next || blocks.next().is_some_and(holds)).then_some((left, right))
}

/// Multiplier of RACK's reordering window: reports of duplicate segments increase it (RFC 8985 section 6.2, step 4;
/// Linux, `tcp_rack_update_reo_wnd`).
#[derive(Debug)]
pub(crate) struct Patience {
    /// Reordering window in quarters of the minimum round-trip time (`reo_wnd_steps`).
    pub(crate) steps: u64,
    /// Number of recoveries left until `steps` returns to 1 (`reo_wnd_persist`).
    recoveries: u32,
    /// Number of delivered segments at which the reordering window may grow again.
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

    /// Lengthens the reordering window when the receiver reports duplicates, at most once per round trip. `delivered`
    /// is the count of segments delivered so far, and `in_flight` the number in flight.
    pub(crate) fn on_duplicates(&mut self, delivered: u64, in_flight: u64) {
        if delivered < self.grown_at {
            return;
        }
        self.steps = (self.steps + 1).min(Self::MOST_STEPS);
        self.recoveries = Self::RECOVERIES;
        self.grown_at = delivered + in_flight;
    }

    /// Records that a recovery is over.
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
