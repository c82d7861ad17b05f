//! What acknowledgements tell: deliveries, losses, round trips, and the facts that the algorithm gets.

use longhaul_congestion::{AckSample, Change, Limit};
use longhaul_units::Time;

use super::{Ack, ControlBlock, LastCut};
use crate::config::AckCounting;
use crate::packet::{SackHandle, SackOption};
use crate::transport::Env;

impl ControlBlock {
    /// Takes what an acknowledgement carries beside its fields. Returns its blocks; an answer of
    /// routers is kept for the next sample.
    #[inline]
    pub(crate) fn take_options(&mut self, handle: SackHandle, env: &mut Env) -> SackOption {
        let blocks = if handle.has_header() {
            self.take_answer(handle, env)
        } else {
            handle
        };
        env.network.take_sack(blocks)
    }

    #[cold]
    fn take_answer(&mut self, handle: SackHandle, env: &mut Env) -> SackHandle {
        let (header, blocks) = env.network.take_header(handle);
        if let (Some(header), Some(extras)) = (header, &mut self.extras) {
            *extras.granted.get_or_insert(0.0) += header.change / f64::from(self.full_bytes);
        }
        blocks
    }

    /// Takes a cumulative acknowledgement of new data: round trip, timer, round count.
    #[inline(always)]
    pub(crate) fn advance(&mut self, ack: Ack, env: &mut Env) {
        let now = env.network.now;
        self.take_cumulative(ack.next);
        self.dupacks = 0;
        self.sample_rtt(ack, now);
        self.restart_or_stop_timer(env);
        if ack.next >= self.round_end {
            self.round += 1;
            self.round_end = self.max_sent;
            let mut sample = self.ack_sample(0, self.nxt - self.una, ack, now);
            if let Some(extras) = &self.extras {
                extras.complete_rtt(&mut sample, &mut self.rtt);
            }
            self.congestion.on_round(&sample);
        }
    }

    /// Takes a cumulative acknowledgement inside a repair, after which time goes on as before.
    pub(crate) fn advance_in_repair(&mut self, next: u64) {
        self.take_cumulative(next);
        self.end_timing_below(next);
    }

    /// Everything below `next` is delivered. Of what the acknowledgement covers, all but the segment
    /// that was missing had been reported before.
    #[inline]
    fn take_cumulative(&mut self, next: u64) {
        if let Some(extras) = &mut self.extras {
            extras.on_cumulative(self.una, next);
        }
        self.beyond = self
            .beyond
            .saturating_sub((next - self.una).saturating_sub(1));
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.count_delivered();
    }

    /// Takes a duplicate acknowledgement: a segment has arrived, which one is not known.
    pub(crate) fn take_duplicate(&mut self) {
        self.dupacks += 1;
        self.beyond = (self.beyond + 1).min((self.max_sent - self.una).saturating_sub(1));
        self.count_delivered();
    }

    /// Takes selective acknowledgements, `total` of them in all: their news are reported one by one
    /// to [`Self::on_sacked`].
    pub(crate) fn take_selective(&mut self, total: u64) {
        self.beyond = total;
        self.count_delivered();
    }

    /// The segments from `left` to `right` are selectively acknowledged.
    #[inline]
    pub(crate) fn on_sacked(&mut self, left: u64, right: u64) {
        if let Some(extras) = &mut self.extras {
            extras.on_sacked(left, right);
        }
    }

    /// Everything in flight counts as lost.
    pub(crate) fn lose_flight(&mut self) {
        self.lost += (self.nxt - self.una).saturating_sub(self.beyond);
    }

    /// Never decreases: what a scheme forgets after a timeout was delivered all the same.
    #[inline]
    fn count_delivered(&mut self) {
        self.delivered = self.delivered.max(self.una - 1 + self.beyond);
    }

    #[inline]
    fn sample_rtt(&mut self, ack: Ack, now: Time) {
        if self.config.timestamps.bytes().is_some() {
            self.take_rtt(ack.stamp, now);
            self.rtt.end_backoff(&self.config.rto);
        } else if self.times_below(ack.next) {
            let sent = self.stop_timing();
            self.rtt.end_backoff(&self.config.rto);
            self.take_rtt(sent, now);
        }
    }

    #[inline]
    fn take_rtt(&mut self, sent: Time, now: Time) {
        let rtt = self.rtt.sample(&self.config.rto, sent, now);
        self.trips.take(rtt);
    }

    /// Whether a segment below `next` times the round trip.
    #[inline]
    fn times_below(&self, next: u64) -> bool {
        self.timed_since != Time::NEVER && self.timed < next
    }

    /// No segment times the round trip any more; returns when the one that did was sent.
    #[inline]
    pub(super) fn stop_timing(&mut self) -> Time {
        std::mem::replace(&mut self.timed_since, Time::NEVER)
    }

    /// Ends the timing of the current segment (Karn's rule) and the backoff if it was acknowledged.
    fn end_timing_below(&mut self, next: u64) {
        if self.times_below(next) {
            self.stop_timing();
            self.rtt.end_backoff(&self.config.rto);
        }
    }

    /// Reports newly delivered segments to the algorithm, after what it alone asks for has been added
    /// to the sample. Comes before anything that moves the window.
    #[inline(never)]
    pub(crate) fn observe(&mut self, sample: &mut AckSample, ack: Ack) {
        if let Some(extras) = &mut self.extras {
            extras.complete(sample, ack, &mut self.rtt);
        }
        // Those that hold the window at all times hear all of it then.
        if !self.holds_window {
            self.congestion.observe(sample);
        }
    }

    /// Reports newly delivered segments and grows the window: what most acknowledgements lead to. Most
    /// of these need no sample.
    #[inline(always)]
    pub(crate) fn observe_and_grow(&mut self, ack: Ack, acked: u64, in_flight: u64, now: Time) {
        if self.extras.is_some() {
            self.observe_all_and_grow(ack, acked, in_flight, now);
        } else if self.holds_growth(ack.ece()) || !self.congestion.step(self.credit(ack, acked)) {
            self.sample_and_grow(ack, acked, in_flight, now);
        }
    }

    /// The same with a sample, but without a copy of it.
    #[inline(never)]
    fn sample_and_grow(&mut self, ack: Ack, acked: u64, in_flight: u64, now: Time) {
        let sample = self.ack_sample(acked, in_flight, ack, now);
        self.congestion.observe(&sample);
        self.grow(&sample);
    }

    /// The same with what the algorithm alone asks for, out of the way of those that ask for nothing.
    #[inline(never)]
    fn observe_all_and_grow(&mut self, ack: Ack, acked: u64, in_flight: u64, now: Time) {
        let mut sample = self.ack_sample(acked, in_flight, ack, now);
        self.observe(&mut sample, ack);
        self.grow(&sample);
    }

    /// Grows the window for an acknowledgement of new segments.
    #[inline]
    pub(crate) fn grow(&mut self, sample: &AckSample) {
        if self.holds_window {
            self.congestion.on_ack_in_all_phases(sample);
        } else if !self.holds_growth(sample.ecn_echo) {
            self.congestion.on_ack(sample);
        } else if sample.router.is_some() {
            self.follow_down(sample);
        }
    }

    /// Whether the window may not grow: RFC 3168 section 6.1.2, no growth on acknowledgements that
    /// echo congestion. A window that does not limit the sender says nothing about the path (RFC
    /// 7661); ns-2 grows it anyway. What a timeout left to send again is limited by the window even
    /// without new data.
    #[inline]
    fn holds_growth(&self, ecn_echo: bool) -> bool {
        let unused = self.limit != Limit::Network && !self.ns2;
        (ecn_echo || unused) && !self.repairs_timeout()
    }

    /// Hands on what routers answer to a sender that does not use its window: they may lower it.
    fn follow_down(&mut self, sample: &AckSample) {
        let before = self.congestion.window.cwnd();
        self.congestion.on_ack(sample);
        let window = &mut self.congestion.window;
        if window.cwnd() > before {
            window.set_cwnd(before, Change::Avoidance);
        }
    }

    /// Hands an acknowledgement inside a recovery, or one that begins it, to algorithms that hold the
    /// window there too.
    pub(crate) fn steer(&mut self, sample: &mut AckSample) {
        sample.in_recovery = true;
        if self.holds_window {
            self.congestion.on_ack_in_all_phases(sample);
        } else {
            self.congestion.on_ack(sample);
        }
    }

    /// Whether what was in flight at a timeout is being sent again. The receiver then goes on
    /// echoing congestion until the first new segment, which carries the answer (CWR, RFC 3168
    /// section 6.1.2): such echoes must not hold the window at one segment. ns-2 answers with any
    /// segment.
    #[inline]
    pub(super) fn repairs_timeout(&self) -> bool {
        !self.ns2 && self.last_cut == LastCut::Timeout && self.una < self.recover
    }

    /// Segments that count towards growth, of those that an acknowledgement covers.
    #[inline]
    fn credit(&self, ack: Ack, acked: u64) -> f64 {
        match self.config.ack_counting {
            AckCounting::PerAck => 1.0,
            AckCounting::PerSegment { slow_start_limit } => {
                // Processors have an instruction for signed integers only.
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

    /// RFC 3465 section 2.3: one segment after a timeout, when what an acknowledgement covers may have
    /// left the network long ago.
    #[inline]
    fn slow_start_limit(&self, limit: f64) -> f64 {
        if self.repairs_timeout() { 1.0 } else { limit }
    }

    /// The facts of an acknowledgement that covers `acked` segments more.
    ///
    /// Always inlined: a function that returns them would have them copied.
    #[inline(always)]
    pub(crate) fn ack_sample(&self, acked: u64, in_flight: u64, ack: Ack, now: Time) -> AckSample {
        let credit = self.credit(ack, acked);
        AckSample {
            now,
            acked,
            delivered: self.delivered,
            lost: self.lost,
            in_recovery: ack.in_recovery,
            credit,
            rtt: self.config.timestamps.bytes().map(|_| now.since(ack.stamp)),
            srtt: self.srtt(),
            min_rtt: self.rtt.min_rtt(),
            one_way_delay: ack.sack.transit(),
            pair_spacing: None,
            router: None,
            ecn_echo: ack.ece(),
            in_flight,
            delivery_rate: None,
            limit: self.limit,
            round: self.round,
            segment_bytes: u64::from(self.full_bytes),
        }
    }
}
