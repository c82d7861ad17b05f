//! Processing of acknowledgements: delivered and lost segments, round-trip samples, and calls of congestion control.

use longhaul_congestion::{AckSample, Limit, Phase};
use longhaul_units::{Span, Time};

use super::{ControlBlock, LastReduction, Sending};
use crate::config::{AckCounting, RttSample};
use crate::packet::{SackHandle, SackOption};
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::regular::unusual;
use crate::transport::tcp::rto::Timing;

impl ControlBlock {
    /// Removes the options of an acknowledgement from the store: keeps the feedback of routers for the next sample, and
    /// returns the SACK blocks.
    #[inline]
    pub(crate) fn process_options(
        &mut self,
        handle: SackHandle,
        env: &mut impl Environment,
    ) -> SackOption {
        let blocks = if handle.has_header() {
            self.process_router_header(handle, env)
        } else {
            handle
        };
        env.options().take(blocks)
    }

    #[cold]
    fn process_router_header(
        &mut self,
        handle: SackHandle,
        env: &mut impl Environment,
    ) -> SackHandle {
        let (header, blocks) = env.options().take_header(handle);
        if let (Some(header), Some(extras)) = (header, &mut self.extras) {
            *extras.granted.get_or_insert(0.0) += header.change / f64::from(self.full_bytes);
        }
        blocks
    }

    /// Processes a cumulative acknowledgement of new data: takes a round-trip sample, and updates the timer and the
    /// count of round trips.
    #[inline(always)]
    pub(crate) fn process_cumulative_ack<const REGULAR: bool>(
        &mut self,
        ack: Ack,
        env: &mut impl Environment,
    ) {
        let now = env.now();
        self.move_una::<REGULAR>(ack.next);
        self.dupacks = 0;
        self.sample_rtt(ack, now);
        self.restart_or_stop_timer::<REGULAR>(env);
        if ack.next >= self.round_end {
            self.round += 1;
            self.round_end = self.max_sent;
            self.new_round = true;
        }
    }

    /// Advances `una` at a partial acknowledgement in recovery; neither restarts the timer nor counts a round trip.
    pub(crate) fn process_partial_ack(&mut self, next: u64) {
        self.move_una::<false>(next);
        self.end_timing_below(next);
    }

    /// Moves `una` to `next`: all segments below `next` are delivered.
    #[inline]
    fn move_una<const REGULAR: bool>(&mut self, next: u64) {
        if let Some(extras) = &mut self.extras {
            extras.on_cumulative(self.una, next);
        }
        if unusual::<REGULAR>(self.sacked_or_dupacked > 0) {
            // All of these segments except the first are taken to be already counted as delivered.
            let others = (next - self.una).saturating_sub(1);
            self.sacked_or_dupacked = self.sacked_or_dupacked.saturating_sub(others);
        }
        self.una = next;
        if unusual::<REGULAR>(self.nxt < next) {
            self.nxt = next;
        }
        self.count_delivered();
    }

    /// Processes a duplicate acknowledgement: one more segment above `una` has arrived, but its number is unknown.
    pub(crate) fn process_duplicate_ack(&mut self) {
        self.dupacks += 1;
        self.sacked_or_dupacked =
            (self.sacked_or_dupacked + 1).min((self.max_sent - self.una).saturating_sub(1));
        self.count_delivered();
    }

    /// Processes selective acknowledgements that cover `total` segments in all; the caller passes newly covered
    /// segments to [`Self::on_sacked`].
    pub(crate) fn process_sacked(&mut self, total: u64) {
        self.sacked_or_dupacked = total;
        self.count_delivered();
    }

    /// Processes the selective acknowledgement of the segments in `[left, right)`.
    #[inline]
    pub(crate) fn on_sacked(&mut self, left: u64, right: u64) {
        if let Some(extras) = &mut self.extras {
            extras.on_sacked(left, right);
        }
    }

    /// Counts everything in flight as lost.
    pub(crate) fn mark_flight_lost(&mut self) {
        self.lost += (self.nxt - self.una).saturating_sub(self.sacked_or_dupacked);
    }

    /// Updates the count of delivered segments. The count never decreases: segments that the scoreboard forgets after a
    /// timeout remain delivered.
    #[inline]
    fn count_delivered(&mut self) {
        self.delivered = self.delivered.max(self.una - 1 + self.sacked_or_dupacked);
    }

    /// Processes an acknowledgement of `acked` further segments outside recovery. The window may grow. An [`AckSample`]
    /// is made only if the algorithm needs it, or if an echoed mark or a partly unused window may forbid growth.
    #[inline(always)]
    pub(crate) fn on_new_ack<const REGULAR: bool>(
        &mut self,
        ack: Ack,
        acked: u64,
        in_flight: u64,
        now: Time,
    ) {
        debug_assert!(!(REGULAR && ack.ece()), "a regular one echoes nothing");
        let before = in_flight + acked;
        let needs_sample = self.extras.is_some()
            || !REGULAR && self.growth_suppressed(ack.ece(), before)
            || self.sending != Sending::Freely && self.leaves_window_unused(before);
        if needs_sample || !self.congestion.increment(self.credit(ack, acked)) {
            self.on_new_ack_with_sample(ack, acked, in_flight, now);
        }
    }

    #[inline(never)]
    fn on_new_ack_with_sample(&mut self, ack: Ack, acked: u64, in_flight: u64, now: Time) {
        let mut sample = self.ack_sample(acked, in_flight, ack, now);
        self.complete(&mut sample, ack);
        self.grow_window(&sample);
    }

    /// Lets the window grow for an acknowledgement, unless an echoed mark or an unused window forbids growth. The
    /// acknowledgement arrives outside recovery, ends a recovery (Linux), or arrives in a recovery whose losses the
    /// algorithm tolerates. `sample` comes from [`Self::complete`].
    #[inline]
    pub(crate) fn grow_window(&mut self, sample: &AckSample) {
        let before = sample.in_flight + sample.acked;
        if self.controls_cwnd {
            self.congestion.on_ack_in(sample, Phase::Avoidance);
        } else if self.growth_suppressed(sample.ecn_echo, before)
            || self.leaves_window_unused(before)
        {
            self.congestion.on_ack_in(sample, Phase::NoGrowth);
        } else {
            self.congestion.on_ack(sample);
        }
    }

    /// Informs the congestion control algorithm of an acknowledgement that does not let the window grow, before losses
    /// are handled. Does nothing if the algorithm controls the window itself. Such an algorithm is informed of these
    /// acknowledgements only in recovery, and after losses are handled ([`Self::on_ack_in_recovery`]).
    pub(crate) fn report_ack(&mut self, sample: &AckSample, ack: Ack) {
        if !self.controls_cwnd {
            let phase = if ack.in_recovery {
                Phase::Recovery
            } else {
                Phase::NoGrowth
            };
            self.congestion.on_ack_in(sample, phase);
        }
    }

    /// Processes an acknowledgement that arrives in a recovery or begins one, after losses have been handled.
    pub(crate) fn on_ack_in_recovery(&mut self, sample: &AckSample) {
        if self.controls_cwnd {
            self.congestion.on_ack_in(sample, Phase::Recovery);
        } else {
            self.congestion.halve_rate(sample);
        }
    }

    /// Returns true if the window must not grow. There are two reasons: the acknowledgement echoes congestion (RFC 3168
    /// section 6.1.2), or the window does not limit the sender and thus says nothing about the path (RFC 7661; ignored
    /// by ns-2; Linux allows exceptions, [`Self::may_grow_beyond_use`]). In both cases, cwnd may still grow up to twice
    /// the flight during retransmissions after a timeout. `in_flight` is the flight before the acknowledgement.
    #[inline]
    fn growth_suppressed(&mut self, ecn_echo: bool, in_flight: u64) -> bool {
        let limited = self.limit != Limit::Network && !self.ns2;
        if !ecn_echo && !limited {
            return false;
        }
        self.peaks.note(self.round, in_flight);
        let used = self.peaks.fill_half_of(self.congestion.window.cwnd());
        let unused = limited && !(used && self.may_grow_beyond_use());
        (ecn_echo || unused) && !(used && self.retransmits_after_timeout())
    }

    /// Returns true if pacing, jitter or the limit on bursts kept more than half of the window unused for a round trip.
    /// Such a window must not grow, since it does not limit the sender. Returns false during retransmissions after a
    /// timeout. `in_flight` is the flight before the acknowledgement. Linux has a separate rule
    /// ([`Self::may_grow_beyond_use`]), and ns-2 none.
    fn leaves_window_unused(&mut self, in_flight: u64) -> bool {
        if self.sending == Sending::Freely || self.ns2 || self.config.growth_beyond_use {
            return false;
        }
        self.peaks.note(self.round, in_flight);
        let used = self.peaks.fill_half_of(self.congestion.window.cwnd());
        !used && !self.retransmits_after_timeout()
    }

    /// Returns true if the congestion window may grow even while something else limits the sender. Always false without
    /// `growth_beyond_use`.
    fn may_grow_beyond_use(&self) -> bool {
        let window = &self.congestion.window;
        let usage = self
            .extras
            .as_ref()
            .and_then(|extras| extras.usage.as_ref());
        usage.is_some_and(|usage| usage.allows_growth(window.in_slow_start(), window.cwnd()))
    }

    /// Returns true while the segments that were in flight at a timeout are being retransmitted. The receiver may echo
    /// congestion all this time, since only new segments carry CWR (RFC 3168 section 6.1.2). These echoes must not keep
    /// the window at one segment. Always false for ns-2, where retransmissions carry CWR, too.
    #[inline]
    pub(super) fn retransmits_after_timeout(&self) -> bool {
        !self.ns2 && self.last_reduction == LastReduction::Timeout && self.una < self.recover
    }

    /// Returns the growth credit of an acknowledgement of `acked` segments, in segments: one per acknowledgement, or
    /// one per segment acknowledged or delivered, according to `ack_counting`.
    #[inline]
    fn credit(&self, ack: Ack, acked: u64) -> f64 {
        match self.config.ack_counting {
            AckCounting::PerAck => 1.0,
            AckCounting::PerSegment { slow_start_limit } => {
                // The conversion is from a signed integer, since processors have an instruction for signed integers
                // only.
                let acked = acked as i64 as f64;
                if self.congestion.window.in_slow_start() {
                    acked.min(self.slow_start_limit(slow_start_limit))
                } else {
                    acked
                }
            }
            AckCounting::Delivered => (self.delivered - ack.delivered) as i64 as f64,
        }
    }

    /// Returns the maximum growth per acknowledgement in slow start: `limit` segments. After a timeout it is one
    /// segment, since the acknowledged segments may have left the network long ago (RFC 3465 section 2.3).
    #[inline]
    fn slow_start_limit(&self, limit: f64) -> f64 {
        if self.retransmits_after_timeout() {
            1.0
        } else {
            limit
        }
    }

    /// Passes the acknowledgement of the SYN to the algorithm.
    pub(super) fn on_handshake(&mut self, ack: Ack, now: Time) {
        self.new_round = false;
        let mut sample = self.ack_sample(0, self.nxt - self.una, ack, now);
        if self.rtt.timing == Timing::Segments {
            self.complete_handshake(&mut sample);
        }
        self.congestion.on_handshake(&sample);
    }

    /// Returns the part of an acknowledgement's sample that every algorithm needs; the acknowledgement covers
    /// `acked` new segments. [`Self::complete`] adds the rest.
    ///
    /// Always inlined: otherwise the returned sample would be copied.
    #[inline(always)]
    pub(crate) fn ack_sample(&self, acked: u64, in_flight: u64, ack: Ack, now: Time) -> AckSample {
        let credit = self.credit(ack, acked);
        AckSample {
            now,
            acked,
            delivered: self.delivered,
            lost: self.lost,
            credit,
            rtt: (self.rtt.timing == Timing::Echoes).then(|| now.since(ack.stamp)),
            srtt: self.srtt(),
            min_rtt: self.rtt.min_rtt(),
            one_way_delay: self.transit(ack),
            pair_spacing: None,
            router: None,
            ecn_echo: ack.ece(),
            marked: None,
            in_flight,
            delivery_rate: None,
            limit: self.limit,
            round: self.round,
            round_start: false,
            segment_bytes: u64::from(self.full_bytes),
        }
    }

    /// Returns the transit time that an acknowledgement reports; `None` if it reports none, or the ACK delay instead.
    #[inline(always)]
    fn transit(&self, ack: Ack) -> Option<Span> {
        ack.reported_time()
            .filter(|_| self.config.rtt_sample != RttSample::Reported)
    }

    /// Returns the number of new marks that an acknowledgement reports; `count` is the counter in it (AccECN).
    #[cold]
    pub(crate) fn count_marks(&mut self, count: u16) -> u64 {
        let marks = self
            .extras
            .as_mut()
            .and_then(|extras| extras.marks.as_mut());
        marks.map_or(0, |marks| marks.on_ack(count))
    }

    /// Completes the sample of an acknowledgement for the algorithm. Records if a round trip has begun, and adds the
    /// measurements that only some algorithms need.
    #[inline(always)]
    pub(crate) fn complete(&mut self, sample: &mut AckSample, ack: Ack) {
        sample.round_start = std::mem::take(&mut self.new_round);
        if self.extras.is_some() {
            self.complete_with_extras(sample, ack);
        }
    }

    #[inline(always)]
    fn complete_with_extras(&mut self, sample: &mut AckSample, ack: Ack) {
        if self.rtt.timing == Timing::Segments {
            self.complete_round_trip(sample, ack);
        }
        if let Some(extras) = &mut self.extras {
            extras.complete(sample, ack, &mut self.rtt);
        }
    }
}
