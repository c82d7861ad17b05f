//! Loss recovery with selective acknowledgements and the pipe of RFC 6675. There are two alternatives: forward
//! acknowledgement for the detection of losses, and proportional rate reduction for sending in recovery.
//!
//! The RFC computes several quantities by a walk through the window. Here, each acknowledgement updates counters. The
//! cost does not depend on the window.

use longhaul_congestion::AckSample;
use longhaul_units::Time;

use super::prr::Prr;
use super::{CaState, LossRecovery, fack};
use crate::config::Recovery;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
use crate::transport::tcp::ranges::Ranges;
use crate::transport::tcp::regular::usual;

/// Rule for the detection of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    /// A segment is lost if sufficiently many segments above it are acknowledged (RFC 6675 section 4, `IsLost`).
    Count,
    /// A segment is lost if a higher segment is acknowledged; outside recovery, only if the highest acknowledged one is
    /// sufficiently far above `una` (FACK).
    Forward,
}

/// The scoreboard and the state derived from it; the order of fields in memory is fixed.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sack {
    ca_state: CaState,
    detection: Detection,
    /// True if this recovery has used its rescue retransmission (RFC 6675 section 4, rule 4).
    rescued: bool,
    /// Number of unacknowledged segments below `lost_below`.
    lost: u64,
    /// Number of unacknowledged segments below `high_rxt`.
    retransmitted: u64,
    /// Selectively acknowledged segments above the cumulative acknowledgement.
    sacked: Ranges,
    prr: Option<Prr>,
    /// Segment number at the end of recovery: recovery ends when everything below it is acknowledged (`RecoveryPoint`).
    recovery_point: u64,
    /// One past the highest segment retransmitted in this recovery (`HighRxt` + 1).
    high_rxt: u64,
    /// Start of the search for the next retransmission: everything between `high_rxt` and this segment is acknowledged.
    next_rxt_from: u64,
    /// End of the lost segments: all unacknowledged segments below it are lost (`IsLost`).
    lost_below: u64,
}

impl Sack {
    pub(crate) fn new(recovery: Recovery) -> Self {
        Self {
            ca_state: CaState::Open,
            detection: if recovery == Recovery::Fack {
                Detection::Forward
            } else {
                Detection::Count
            },
            rescued: false,
            lost: 0,
            retransmitted: 0,
            sacked: Ranges::default(),
            prr: (recovery == Recovery::SackPrr).then(Prr::default),
            recovery_point: 0,
            high_rxt: 0,
            next_rxt_from: 0,
            lost_below: 0,
        }
    }
}

impl LossRecovery for Sack {
    #[inline]
    fn in_recovery(&self, _tcb: &ControlBlock) -> bool {
        self.ca_state == CaState::Recovery
    }

    #[inline]
    fn is_open(&self) -> bool {
        let none_missing = self.sacked.is_empty() && self.lost == 0 && self.retransmitted == 0;
        self.ca_state == CaState::Open && none_missing
    }

    /// Returns the pipe of RFC 6675 section 4: the number of segments estimated to be in the network.
    #[inline]
    fn in_flight(&self, tcb: &ControlBlock) -> u64 {
        tcb.max_sent - tcb.una - self.sacked.total() - self.lost + self.retransmitted
    }

    /// Returns the next segment to send, if the pipe has room (`NextSeg` of RFC 6675 section 4).
    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        if REGULAR {
            return tcb.next_new();
        }
        let room = match &self.prr {
            Some(prr) if self.ca_state == CaState::Recovery && !tcb.sends_by_window() => {
                prr.allows()
            }
            _ => tcb.cwnd_allows(self.in_flight(tcb)),
        };
        if !room {
            return None;
        }
        if self.ca_state != CaState::Open
            && let Some(segment) = self.next_seg_rule_1(tcb)
        {
            return Some(segment);
        }
        let new = tcb.has_new();
        if new {
            return Some(tcb.nxt);
        }
        if self.ca_state == CaState::Recovery {
            self.next_seg_rules_3_4(tcb)
        } else {
            None
        }
    }

    #[inline]
    fn on_sent<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        segment: u64,
        _env: &mut impl Environment,
    ) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
        if usual::<REGULAR>(segment >= tcb.nxt) {
            tcb.nxt = segment + 1;
        } else if segment < self.lost_below.max(self.sacked.end()) {
            self.note_retransmission(segment);
        } else {
            // Only rule 4 returns a segment that is neither lost nor overtaken.
            self.rescued = true;
        }
    }

    fn on_timeout(&mut self, tcb: &mut ControlBlock, _now: Time) {
        tcb.lost += self.in_flight(tcb);
        self.ca_state = CaState::Loss;
        self.recovery_point = tcb.max_sent;
        self.high_rxt = tcb.una;
        self.next_rxt_from = 0;
        self.retransmitted = 0;
        self.lost_below = tcb.max_sent;
        self.lost = tcb.max_sent - tcb.una - self.sacked.total();
    }

    #[inline(always)]
    fn on_ack<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) -> Option<u32> {
        let now = env.now();
        let delivered = tcb.delivered;
        let advanced = ack.next.saturating_sub(tcb.una);
        let in_order = self.ca_state == CaState::Open && self.sacked.is_empty();
        if usual::<REGULAR>(in_order && !ack.sack.has_blocks()) {
            if usual::<REGULAR>(advanced > 0) {
                tcb.process_cumulative_ack::<REGULAR>(ack, env);
                tcb.on_new_ack::<REGULAR>(ack, advanced, self.in_flight(tcb), now);
            }
            return Some(u32::MAX);
        }
        if advanced > 0 {
            self.drop_acknowledged(tcb.una, ack.next);
            tcb.process_cumulative_ack::<false>(ack, env);
        }
        let news = self.process_blocks(tcb, ack);
        if advanced == 0 && news {
            tcb.dupacks += 1;
        }
        self.find_lost(tcb);
        if advanced > 0 || news {
            let mut sample = tcb.ack_sample(advanced, self.in_flight(tcb), ack, now);
            tcb.complete(&mut sample, ack);
            self.update_ca_state(tcb, ack, Some(&sample), env);
            if ack.in_recovery || self.ca_state == CaState::Recovery {
                tcb.on_ack_in_recovery(&sample);
                self.weigh_losses(tcb, env);
            }
        } else {
            self.update_ca_state_without_news(tcb, ack, env);
        }
        let pipe = self.in_flight(tcb);
        if self.ca_state == CaState::Recovery
            && let Some(prr) = &mut self.prr
        {
            prr.on_ack(tcb.delivered - delivered, pipe, tcb.window(), true);
        }
        Some(u32::MAX)
    }
}

impl Sack {
    /// Applies rule 1: returns the first lost segment not yet retransmitted.
    fn next_seg_rule_1(&mut self, tcb: &ControlBlock) -> Option<u64> {
        let from = self.high_rxt.max(tcb.una).max(self.next_rxt_from);
        if from >= self.lost_below {
            return None;
        }
        let segment = self.sacked.next_absent(from);
        self.next_rxt_from = segment;
        (segment < self.lost_below).then_some(segment)
    }

    /// Applies rules 3 and 4. Rule 3 returns an unacknowledged segment below an acknowledged segment, though it is not
    /// known to be lost. If there is none, rule 4 returns the last segment sent, once per recovery, unless this segment
    /// is acknowledged or was already retransmitted.
    fn next_seg_rules_3_4(&mut self, tcb: &ControlBlock) -> Option<u64> {
        let segment = self.sacked.next_absent(self.high_rxt.max(tcb.una));
        if segment < self.sacked.end() {
            return Some(segment);
        }
        let last = tcb.max_sent - 1;
        if self.rescued || last < self.high_rxt || last < self.sacked.end() {
            return None;
        }
        Some(last)
    }

    /// Records the retransmission of `segment`, the first unacknowledged segment from `high_rxt` on.
    fn note_retransmission(&mut self, segment: u64) {
        self.high_rxt = segment + 1;
        self.retransmitted += 1;
    }

    /// Ends a completed recovery, or begins a recovery if a segment is lost. Lets the window grow, but not at an
    /// acknowledgement that arrives in fast recovery or begins one; if the algorithm tolerates the losses, the window
    /// also grows in recovery. `sample` is `None` if the acknowledgement reports no newly delivered segments.
    #[inline(always)]
    fn update_ca_state(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        sample: Option<&AckSample>,
        env: &mut impl Environment,
    ) {
        let before = self.ca_state;
        if before != CaState::Open && tcb.una >= self.recovery_point {
            self.ca_state = CaState::Open;
        }
        let ends = self.ca_state != before;
        let recovers = before == CaState::Recovery;
        let enters = self.ca_state == CaState::Open && !recovers && self.finds_loss(tcb);
        let grows = if tcb.tolerates_losses() {
            sample.is_some() && !enters
        } else {
            sample.is_some_and(|sample| sample.acked > 0) && !recovers && !enters
        };
        if let Some(sample) = sample.filter(|_| !grows) {
            tcb.report_ack(sample, ack);
        }
        if ends && recovers {
            tcb.end_recovery(env);
        } else if ends {
            tcb.congestion.on_recovery_exit(env.now());
        }
        if enters {
            self.enter_recovery(tcb, env);
        } else if let Some(sample) = sample.filter(|_| grows) {
            tcb.grow_window(sample);
        }
    }

    /// Returns true if a segment counts as lost, or if the number of duplicate acknowledgements has reached the
    /// threshold (RFC 6675 section 5, steps 1 and 2).
    fn finds_loss(&self, tcb: &ControlBlock) -> bool {
        let lost = self.lost > 0 || tcb.dupacks >= tcb.config.dupack_threshold;
        lost && tcb.una < tcb.max_sent
    }

    /// Updates the congestion avoidance state after an acknowledgement that reports nothing new.
    #[cold]
    fn update_ca_state_without_news(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) {
        self.update_ca_state(tcb, ack, None, env);
    }

    /// Enters recovery (RFC 6675 section 5, step 4).
    #[cold]
    fn enter_recovery(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        self.ca_state = CaState::Recovery;
        self.recovery_point = tcb.max_sent;
        self.rescued = false;
        tcb.reduce_for_loss(env);
        tcb.restart_timer_for_retransmission(env);
        let first = tcb.una;
        self.raise_lost_below(tcb, first + 1);
        self.start_prr(tcb);
        if self.high_rxt <= first {
            tcb.transmit_cold(first, env);
            self.on_sent::<false>(tcb, first, env);
        }
    }

    fn start_prr(&mut self, tcb: &ControlBlock) {
        if let Some(prr) = &mut self.prr {
            prr.start(tcb.max_sent - tcb.una);
        }
    }

    /// Lets the algorithm decide again whether to tolerate the losses of the current recovery, because more segments may
    /// have been lost since its last decision.
    fn weigh_losses(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        if tcb.weigh_losses(env) {
            self.start_prr(tcb);
        }
    }

    /// Forgets the segments from `una` to `next`, which are now cumulatively acknowledged.
    fn drop_acknowledged(&mut self, una: u64, next: u64) {
        self.lost -= self.missing(una, next.min(self.lost_below));
        self.retransmitted -= self.missing(una, next.min(self.high_rxt));
        self.lost_below = self.lost_below.max(next);
        self.high_rxt = self.high_rxt.max(next);
        self.sacked.remove_below(next);
    }

    /// Returns the number of segments in `[from, to)` that are not selectively acknowledged.
    fn missing(&self, from: u64, to: u64) -> u64 {
        if to <= from {
            0
        } else {
            to - from - self.sacked.count_in(from, to)
        }
    }

    /// Adds the acknowledgement's SACK blocks to the scoreboard; returns true if they report new segments.
    #[inline(always)]
    fn process_blocks(&mut self, tcb: &mut ControlBlock, ack: Ack) -> bool {
        let before = self.sacked.total();
        if let Some(first) = ack.sack.first(ack.next) {
            self.process_block(tcb, first);
            if !self.sacked.repeats(ack.sack, ack.next) {
                self.process_older_blocks(tcb, ack);
            }
        }
        tcb.process_sacked(self.sacked.total());
        self.sacked.total() > before
    }

    /// Adds all SACK blocks except the first to the scoreboard. Not inlined, since these rarely report new segments.
    #[inline(never)]
    fn process_older_blocks(&mut self, tcb: &mut ControlBlock, ack: Ack) {
        let older = ack.sack.blocks(ack.next).skip(1);
        older.for_each(|block| self.process_block(tcb, block));
    }

    #[inline(always)]
    fn process_block(&mut self, tcb: &mut ControlBlock, (left, right): (u64, u64)) {
        let left = left.max(tcb.una);
        if left < right {
            let (lost_below, high_rxt) = (self.lost_below, self.high_rxt);
            let (lost, retransmitted) = (&mut self.lost, &mut self.retransmitted);
            self.sacked.add(left, right, |l, r| {
                *lost -= r.min(lost_below).saturating_sub(l);
                *retransmitted -= r.min(high_rxt).saturating_sub(l);
                tcb.on_sacked(l, r);
            });
        }
    }

    /// Raises `lost_below` if an acknowledgement shows that more segments are lost.
    #[inline(always)]
    fn find_lost(&mut self, tcb: &mut ControlBlock) {
        let threshold = tcb.config.dupack_threshold;
        let edge = match self.detection {
            Detection::Count => self.edge_by_count(threshold.into()),
            Detection::Forward => {
                let repairing = self.ca_state != CaState::Open;
                fack::lost_below(&self.sacked, tcb.una, threshold, repairing)
            }
        };
        if let Some(edge) = edge
            && edge > self.lost_below
        {
            self.raise_lost_below(tcb, edge);
        }
    }

    /// Returns the segment below which all unacknowledged segments count as lost: at least `threshold` segments at or
    /// above it are selectively acknowledged (RFC 6675 section 4, in whole segments). Returns `None` if fewer segments
    /// are selectively acknowledged.
    #[inline]
    fn edge_by_count(&self, threshold: u64) -> Option<u64> {
        if let Some((left, right)) = self.sacked.newest()
            && right - left >= threshold
        {
            return Some(left);
        }
        self.edge_by_walking(threshold)
    }

    #[inline(never)]
    fn edge_by_walking(&self, threshold: u64) -> Option<u64> {
        let mut above = 0;
        self.sacked.descending().find_map(|(left, right)| {
            above += right - left;
            (above >= threshold).then_some(left)
        })
    }

    /// Marks unacknowledged segments below `edge` as lost.
    #[inline(never)]
    fn raise_lost_below(&mut self, tcb: &mut ControlBlock, edge: u64) {
        if edge > self.lost_below {
            let lost = self.missing(self.lost_below.max(tcb.una), edge);
            self.lost_below = edge;
            self.lost += lost;
            tcb.lost += lost;
        }
    }
}
