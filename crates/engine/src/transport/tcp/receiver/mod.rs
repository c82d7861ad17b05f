//! The receiving end: reassembly, acknowledgements (RFC 5681 section 4.2), SACK blocks (RFC 2018)
//! and ECN echo (RFC 3168 section 6.1.3, RFC 8257 section 3.2, RFC 9768).

mod prompt;
mod two_way;

use std::cmp::Ordering;
use std::sync::Arc;

use longhaul_units::Time;

use self::prompt::PromptAcks;
use super::accecn::{CeCounter, OPTION_BYTES};
use super::dummies;
use super::ranges::Ranges;
use super::regular::{unusual, usual};
use super::reports::Reports;
use super::wire::Wire;
use crate::config::{ClockError, DelayedAck, Ecn, Tcp};
use crate::network::Path;
use crate::packet::{Flags, Packet, SackBlocks, SackHandle};
use crate::prefetch::prefetch_lines;
use crate::schedule::timers::{Kind, Timer};
use crate::transport::Environment;

/// The receiving end of a connection. The order of fields in memory is fixed: only the first cache lines are needed for
/// segments that arrive in order.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    config: Arc<Tcp>,
    /// Index among the TCP connections.
    index: u32,
    path: Path,
    /// The next segment expected.
    next: u64,
    /// Segments below this number take the fast path if they arrive in order and have no flag other than ECT. Zero if
    /// no segment may take the fast path: for example, before the first data segment, or while segments are missing. If
    /// acknowledgements have optional contents, it is always zero, and `reported_below` is the bound.
    plain_below: u64,
    /// Timestamp that acknowledgements echo, chosen by RFC 7323 section 4.3 with one exception: if no segment waits for
    /// its acknowledgement, a segment behind a gap is echoed itself. It thus gives algorithms a round-trip sample.
    stamp: Time,
    /// Data that acknowledgements report to the sender: times, and feedback of routers; `None` if they report neither.
    reports: Option<Box<Reports>>,
    /// One past the last segment of a finite transfer.
    end: u64,
    /// Number of segments that have arrived in order and are not acknowledged yet.
    unacknowledged: u32,
    ack_bytes: u16,
    reports_sack: bool,
    /// True if acknowledgements echo congestion.
    congestion_seen: bool,
    timer: Timer,
    /// The bound that replaces `plain_below` if acknowledgements have optional contents; otherwise zero.
    reported_below: u64,
    out_of_order: Ranges,
    /// SACK blocks reported most recently, for repetition in later acknowledgements.
    reported: SackBlocks,
    /// Rules for prompt acknowledgements; absent if every acknowledgement may be delayed, or none.
    prompt: Option<Box<PromptAcks>>,
    /// Path of the answers to dummy segments, if the sender may send these.
    dummy_answers: Option<Path>,
    /// With AccECN, the counter of marked packets.
    ce: Option<CeCounter>,
}

impl Receiver {
    /// Creates the receiver. `asks_routers` is true if the sender's segments carry requests to routers; the receiver
    /// then returns the routers' answers.
    pub(crate) fn new(index: u32, path: Path, config: Arc<Tcp>, asks_routers: bool) -> Self {
        let wire = Wire::new(&config);
        let (end, window_bytes) = (wire.end(), wire.window_bytes());
        let quick = config.delayed_ack.map_or(0, |delayed| delayed.quick);
        let prompt = || PromptAcks::new(quick, u64::from(config.mss_bytes), window_bytes);
        Self {
            prompt: (quick > 0).then(|| Box::new(prompt())),
            index,
            path,
            ack_bytes: (config.ack_bytes + config.timestamps.bytes().unwrap_or(0)) as u16,
            reports_sack: config.reports_sack(),
            next: 0,
            plain_below: 0,
            reported_below: 0,
            out_of_order: Ranges::default(),
            reported: SackBlocks::default(),
            congestion_seen: false,
            stamp: Time::ZERO,
            dummy_answers: None,
            ce: (config.ecn == Ecn::Accurate).then(CeCounter::new),
            reports: Reports::new(&config, asks_routers),
            unacknowledged: 0,
            timer: Timer::IDLE,
            end,
            config,
        }
    }

    /// Sets the receiver's clock, which differs from the sender's, for the transit times that it reports.
    pub(crate) fn set_clock(&mut self, clock: ClockError) {
        if let Some(reports) = &mut self.reports {
            reports.set_clock(clock);
        }
    }

    /// Prefetches the memory that a segment in order uses.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_lines::<2, _>(self);
    }

    /// Returns the segments that have arrived while others before them are missing.
    pub(super) fn out_of_order(&self) -> &Ranges {
        &self.out_of_order
    }

    /// Returns the index of the first hop of the acknowledgements' route.
    pub(crate) fn route(&self) -> u32 {
        self.path.route
    }

    /// Returns the deadline of the receiver's timer. Before this time, only arriving segments change the receiver's
    /// state.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.timer.deadline()
    }

    /// Processes a segment.
    #[inline]
    pub(crate) fn on_segment(&mut self, packet: &Packet, env: &mut impl Environment) {
        let in_order = packet.seq == self.next && packet.seq < self.plain_below;
        if in_order && packet.flags.only(Flags::ECT) {
            self.take_segment::<true, false>(packet, env);
        } else {
            self.take_other_segment(packet, env);
        }
    }

    /// Processes a segment outside the fast path for acknowledgements without optional contents. If the receiver's
    /// acknowledgements have such contents, this is every segment. Not inlined, to keep that fast path small.
    #[inline(never)]
    fn take_other_segment(&mut self, packet: &Packet, env: &mut impl Environment) {
        let in_order = packet.seq == self.next && packet.seq < self.reported_below;
        if in_order && packet.flags.only(Flags::ECT.with(Flags::LOAD)) {
            self.take_segment::<true, true>(packet, env);
        } else {
            self.take_any_segment(packet, env);
        }
    }

    /// Processes any segment, and then determines which of the next segments may take the fast path.
    #[inline(always)]
    fn take_any_segment(&mut self, packet: &Packet, env: &mut impl Environment) {
        if self.prompt.is_some() {
            self.note_arrival(packet, env.now());
        }
        self.take_segment::<false, true>(packet, env);
        let plain = self.next > 1
            && self.out_of_order.is_empty()
            && self.ce.is_none()
            && !(self.config.ecn == Ecn::Dctcp && self.congestion_seen);
        if !plain {
            (self.plain_below, self.reported_below) = (0, 0);
            return;
        }
        let settled_below = match &self.prompt {
            Some(prompt) => prompt.settled_below(),
            None => u64::MAX,
        };
        let below = settled_below.min(self.end - 1);
        if self.reports.is_some() {
            self.reported_below = below;
        } else {
            self.plain_below = below;
        }
    }

    /// Records an arrival for the rules of immediate acknowledgement. Not inlined: most receivers have no such rules.
    #[inline(never)]
    fn note_arrival(&mut self, packet: &Packet, now: Time) {
        let Some(prompt) = &mut self.prompt else {
            return;
        };
        let out_of_order = (self.out_of_order.total(), self.out_of_order.end());
        match packet.seq.cmp(&self.next) {
            _ if packet.seq == 0 => prompt.on_handshake(now),
            Ordering::Equal => prompt.on_segment(packet.seq, packet.stamp, out_of_order, now),
            Ordering::Greater => prompt.on_out_of_order(out_of_order.0),
            Ordering::Less => prompt.on_duplicate(),
        }
    }

    /// Processes a segment. `REGULAR` selects the fast path ([`super::regular`]). Without `REPORTS`, the receiver's
    /// acknowledgements have no optional contents.
    #[inline(always)]
    fn take_segment<const REGULAR: bool, const REPORTS: bool>(
        &mut self,
        packet: &Packet,
        env: &mut impl Environment,
    ) {
        let echo_changes = !REGULAR && self.note_congestion(packet.flags, env);
        if REPORTS && let Some(reports) = &mut self.reports {
            reports.record(packet, env);
        }
        if self.unacknowledged == 0 {
            // If an acknowledgement covers several segments, the earliest of them determines the timestamp.
            self.stamp = packet.stamp;
        }
        let in_order = packet.seq == self.next;
        if usual::<REGULAR>(in_order && self.out_of_order.is_empty()) {
            self.next += 1;
            if self.answers_at_once::<REGULAR>(packet.seq, echo_changes, env) {
                self.acknowledge::<REGULAR, REPORTS>(false, env);
            }
            return;
        }
        self.on_irregular(packet, env);
    }

    /// Leaves the plain state, so that the next segment does not take the fast path.
    pub(crate) fn leave_plain(&mut self) {
        (self.plain_below, self.reported_below) = (0, 0);
    }

    /// Returns true if the next expected segment will take the fast path.
    #[cfg(test)]
    pub(crate) fn is_plain(&self) -> bool {
        self.next < self.plain_below.max(self.reported_below)
    }

    /// Sets the path of answers to dummy segments.
    pub(crate) fn answer_dummies_along(&mut self, path: Path) {
        self.dummy_answers = Some(path);
    }

    /// Answers a dummy segment.
    pub(crate) fn on_dummy(&mut self, packet: &Packet, env: &mut impl Environment) {
        if let Some(path) = self.dummy_answers {
            let answer = dummies::answer(packet, path, self.next, self.ack_bytes);
            env.send(answer);
        }
    }

    /// Returns true if a segment in order is acknowledged at once. If it is not, and no earlier segment waits, sets the
    /// timer for delayed acknowledgements.
    #[inline(always)]
    fn answers_at_once<const REGULAR: bool>(
        &mut self,
        segment: u64,
        echo_changes: bool,
        env: &mut impl Environment,
    ) -> bool {
        let Some(delayed) = self.config.delayed_ack else {
            return true;
        };
        let delays = usual::<REGULAR>(segment > 0) || delayed.delays_syn;
        let at_once = !REGULAR && self.hurries(delayed, segment);
        self.unacknowledged += 1;
        if self.unacknowledged >= delayed.segments || !delays || echo_changes || at_once {
            return true;
        }
        if self.unacknowledged == 1 {
            let due = env.now() + delayed.timeout;
            self.timer.set(due, self.own_timer(), env.schedule());
        }
        false
    }

    /// Returns true if the acknowledgement of a data segment must not be delayed now. Either a rule of prompt
    /// acknowledgements applies, or the segment is the last one of the data and `push` is set (Linux,
    /// `tcp_cleanup_rbuf`, for segments with PSH).
    fn hurries(&self, delayed: DelayedAck, segment: u64) -> bool {
        let prompt = self.prompt.as_ref().is_some_and(|prompt| prompt.at_once());
        segment > 0 && (prompt || delayed.push && segment + 1 == self.end)
    }

    /// Records a segment's congestion mark and CWR flag. Returns true if they require an acknowledgement at once.
    #[inline]
    fn note_congestion(&mut self, flags: Flags, env: &mut impl Environment) -> bool {
        let marked = flags.has(Flags::CE);
        match self.config.ecn {
            Ecn::Off | Ecn::Classic => {
                let answered = flags.has(Flags::CWR);
                let seen = self.congestion_seen && !answered;
                self.congestion_seen = seen || marked;
                let Some(prompt) = &mut self.prompt else {
                    return false;
                };
                if marked && !seen {
                    prompt.on_mark();
                }
                // A segment with CWR is acknowledged at once, since the sender's window may be very small (Linux,
                // `tcp_ecn_accept_cwr`).
                answered
            }
            Ecn::Accurate => self.ce.as_mut().is_some_and(|ce| ce.on_packet(marked)),
            Ecn::Dctcp => {
                let changes = marked != self.congestion_seen;
                if changes {
                    self.change_echo(marked, env);
                }
                changes
            }
        }
    }

    /// Sets DCTCP's echo, the ECE flag of acknowledgements, to the mark of a new segment. First acknowledges the
    /// waiting segments with the old echo; the sender's count of marks is thus exact (RFC 8257 section 3.2).
    #[cold]
    fn change_echo(&mut self, marked: bool, env: &mut impl Environment) {
        if self.unacknowledged > 0 {
            self.acknowledge_cold(false, env);
        }
        self.congestion_seen = marked;
    }

    /// Processes a segment that is out of order, fills a gap or is a duplicate. Acknowledges it at once, unless the
    /// acknowledgement is held back ([`Self::holds_back`]).
    fn on_irregular(&mut self, packet: &Packet, env: &mut impl Environment) {
        if packet.flags.has(Flags::ACK) {
            // This packet is the acknowledgement of the receiver's FIN and has no data.
            return;
        }
        if packet.seq <= self.next {
            self.stamp = packet.stamp;
        }
        if packet.seq > self.next && self.crowds_out(packet.seq) {
            self.acknowledge_cold(true, env);
        }
        let repeated = self.reports_sack && self.config.dsack && self.has_arrived(packet.seq);
        let newest = self.arrange(packet.seq);
        if self.reports_sack {
            self.report(newest);
        }
        if repeated {
            // A D-SACK block is reported once (RFC 2883 section 4).
            let reported = self.reported;
            self.reported = reported.behind((packet.seq, packet.seq + 1));
            self.acknowledge_cold(true, env);
            self.reported = reported;
            return;
        }
        if !self.holds_back(newest.is_some(), env) {
            self.acknowledge::<false, true>(true, env);
        }
    }

    /// Returns true if a data segment has arrived before.
    fn has_arrived(&self, segment: u64) -> bool {
        segment > 0 && (segment < self.next || self.out_of_order.containing(segment).is_some())
    }

    /// Returns true if a held-back acknowledgement must leave before `segment` is recorded: the segment touches neither
    /// of the two most recent blocks, so that it extends or begins a third one (Linux, `tcp_sack_new_ofo_skb`).
    fn crowds_out(&self, segment: u64) -> bool {
        let held_back = self
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.is_holding_back());
        let blocks = self.reported.as_slice();
        let touches = |&(left, right): &(u64, u64)| left <= segment + 1 && segment <= right;
        held_back && blocks.len() >= 2 && !blocks[..2].iter().any(touches)
    }

    /// Returns true if the acknowledgement of a segment is held back. Sets the timer for the first one held back.
    /// `missing` is true if earlier segments are missing.
    fn holds_back(&mut self, missing: bool, env: &mut impl Environment) -> bool {
        if !missing || !self.reports_sack {
            return false;
        }
        let Some(prompt) = &mut self.prompt else {
            return false;
        };
        let waits = prompt.is_holding_back();
        let Some(delay) = prompt.holds_back(self.next) else {
            return false;
        };
        if !waits {
            let due = env.now() + delay;
            self.timer.set(due, self.own_timer(), env.schedule());
        }
        true
    }

    /// Records that a segment has arrived; if it is out of order, returns the SACK block that contains it.
    #[inline(always)]
    fn arrange(&mut self, segment: u64) -> Option<(u64, u64)> {
        if segment < self.next {
            return None;
        }
        if segment > self.next {
            self.out_of_order.add(segment, segment + 1, |_, _| {});
            return self.out_of_order.containing(segment);
        }
        self.next = self.out_of_order.next_absent(segment + 1);
        self.out_of_order.remove_below(self.next);
        None
    }

    /// Updates the SACK blocks to report. The block `first`, with the newest segment, precedes the blocks reported most
    /// recently (RFC 2018 section 4).
    #[inline(always)]
    fn report(&mut self, first: Option<(u64, u64)>) {
        if let (Some((left, right)), Some(latest)) = (first, self.reported.latest_mut())
            && *latest == (left, right - 1)
        {
            // In most cases, the most recent block has grown by a segment, and the others have not changed.
            latest.1 = right;
            return;
        }
        let mut blocks = SackBlocks::NONE;
        first.into_iter().for_each(|block| blocks.push(block));
        for &(left, right) in self.reported.as_slice() {
            let covered = first.is_some_and(|(l, r)| l <= left && right <= r);
            if left >= self.next && !covered && !blocks.is_full() {
                blocks.push((left, right));
            }
        }
        self.reported = blocks;
    }

    /// Processes an event of the timer: sends the acknowledgement that was delayed or held back.
    pub(crate) fn on_timer(&mut self, env: &mut impl Environment) {
        if !self.timer.expires(env.now()) {
            return;
        }
        let held_back = self
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.is_holding_back());
        if held_back || self.unacknowledged > 0 {
            self.acknowledge_cold(held_back, env);
        }
    }

    /// Sends an acknowledgement. Not inlined, unlike [`Self::acknowledge`], which is inlined on the fast path.
    #[cold]
    fn acknowledge_cold(&mut self, reports: bool, env: &mut impl Environment) {
        self.acknowledge::<false, true>(reports, env);
    }

    #[inline(always)]
    fn own_timer(&self) -> (Kind, u32) {
        (Kind::DelayedAck, self.index)
    }

    /// Sends an acknowledgement of the segments that have arrived. The argument `reports` says if it has SACK blocks.
    /// The constants select specialized code: `REGULAR` for the fast path ([`super::regular`]), and `REPORTS`, if
    /// false, for acknowledgements without optional contents.
    #[inline(always)]
    fn acknowledge<const REGULAR: bool, const REPORTS: bool>(
        &mut self,
        reports: bool,
        env: &mut impl Environment,
    ) {
        self.unacknowledged = 0;
        self.timer.cancel();
        let answers_syn = !REGULAR && self.next == 1 && self.out_of_order.is_empty();
        if !REGULAR
            && !answers_syn
            && let Some(prompt) = &mut self.prompt
        {
            prompt.on_ack();
        }
        let blocks = if reports {
            &self.reported
        } else {
            &SackBlocks::NONE
        };
        let (mut ace, mut option_bytes) = (0, 0);
        let counted;
        let blocks = match &mut self.ce {
            Some(ce) if !REGULAR => {
                let (field, count) = ce.report();
                counted = blocks.with_marks(count);
                // Three blocks leave no room for the AccECN option. The sender nevertheless gets the count.
                (ace, option_bytes) = (field, if blocks.is_full() { 0 } else { OPTION_BYTES });
                &counted
            }
            _ => blocks,
        };
        let sack_bytes = match blocks.as_slice().len() as u32 {
            0 => 0,
            count => self.config.sack_option_bytes + self.config.sack_block_bytes * count,
        } as u16;
        let (sack, flags) = match &mut self.reports {
            _ if !REPORTS => (SackHandle::NONE, Flags::ACK),
            Some(reports) => reports.take_report(blocks, self.next, env),
            None if blocks.is_empty() => (SackHandle::NONE, Flags::ACK),
            None => (env.options().put(blocks, self.next), Flags::ACK),
        };
        let flags = flags
            .with_if(Flags::ECE, self.congestion_seen)
            .with_if(Flags::SYN, unusual::<REGULAR>(answers_syn))
            .with_if(Flags::FIN, unusual::<REGULAR>(self.next == self.end));
        let flags = if REGULAR { flags } else { flags.with_ace(ace) };
        env.send(Packet {
            time: env.now(),
            ns2_s: 0.0,
            seq: self.next,
            stamp: self.stamp,
            flow: self.index,
            route: self.path.route,
            sack,
            bytes: self.ack_bytes + sack_bytes + option_bytes,
            flags,
        });
    }
}
