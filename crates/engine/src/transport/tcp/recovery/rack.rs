//! Loss recovery by time, RACK-TLP (RFC 8985): a segment is lost when one sent sufficiently later has
//! arrived. Reordering is waited for; retransmissions can be lost like any segment; a probe makes
//! up for acknowledgements that the end of the data does not cause.
//!
//! The reordering window grows with duplicates that the receiver reports (`RACK.reo_wnd_mult`), where reductions are
//! undone, too.

use longhaul_congestion::AckSample;
use longhaul_units::{Span, Time};

use super::prr::Prr;
use super::tail_probe::TailProbe;
use super::transmissions::{Transmission, Transmissions};
use super::undo::{Patience, Undo, duplicates};
use super::{CaState, LossRecovery};
use crate::config::PrrRule;
use crate::schedule::timers::{Kind, Timer};
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
#[cfg(test)]
use crate::transport::tcp::info::Info;
use crate::transport::tcp::ranges::Ranges;
use crate::transport::tcp::regular::{unusual, usual};

/// What the RACK-TLP timer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    /// Segments overtaken, but not for long enough.
    #[default]
    Reordering,
    /// Acknowledgements, to probe if there are none.
    Probe,
}

/// What an acknowledgement newly delivers.
#[derive(Debug, Default)]
struct Arrived {
    any: bool,
    /// The newest transmission that certainly arrived.
    newest: Option<Transmission>,
    /// When the last of these in their order was sent, cumulatively acknowledged ones first (Linux, `tcp_rack_advance`,
    /// and RFC 8985 section 6.2 take its round trip); and whether that is known.
    last: Option<Time>,
    last_known: bool,
    /// The first that was never sent again.
    original: Option<u64>,
}

impl Arrived {
    /// A segment has arrived: the newest of an acknowledgement's transmissions counts, unless its
    /// first copy may be meant (RFC 8985 section 6.2, step 2).
    #[inline]
    fn take(
        &mut self,
        segment: u64,
        flight: &mut Transmissions,
        tcb: &ControlBlock,
        ack: Ack,
        now: Time,
    ) {
        let Some((sent, repeated)) = flight.deliver(segment) else {
            return;
        };
        let first_copy = repeated
            && (tcb.config.timestamps.bytes().is_some() && ack.stamp < sent
                || now.since(sent) < tcb.rtt.min_rtt());
        if !first_copy {
            self.newest = self.newest.max(Some(Transmission { sent, segment }));
            if !self.last_known {
                self.last = Some(sent);
            }
        }
        if !repeated {
            self.original = self.original.or(Some(segment));
        }
        self.any = true;
    }
}

/// The scoreboard and what follows from it.
#[derive(Debug)]
pub(crate) struct Rack {
    ca_state: CaState,
    /// Recovery ends when everything below this is acknowledged.
    recovery_point: u64,
    prr: Option<Prr>,
    /// Selectively acknowledged segments above the cumulative acknowledgement.
    sacked: Ranges,
    flight: Transmissions,
    /// The newest transmission that has arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Transmission,
    /// Its round trip (`RACK.rtt`).
    rtt: Span,
    /// A timeout: the first segment is sent whatever is in flight (RFC 6298 section 5.4).
    forced: bool,
    probe: TailProbe,
    timer: Timer,
    wait: Wait,
    /// Knows whether the current reduction was needed, if it may be undone.
    undo: Option<Undo>,
    patience: Patience,
}

impl Rack {
    pub(crate) fn new(prr: bool) -> Self {
        Self {
            ca_state: CaState::Open,
            recovery_point: 0,
            prr: prr.then(Prr::default),
            sacked: Ranges::default(),
            flight: Transmissions::default(),
            newest: Transmission {
                sent: Time::ZERO,
                segment: 0,
            },
            rtt: Span::ZERO,
            forced: false,
            probe: TailProbe::default(),
            timer: Timer::IDLE,
            wait: Wait::default(),
            undo: None,
            patience: Patience::new(),
        }
    }
}

impl LossRecovery for Rack {
    #[inline]
    fn in_recovery(&self, _tcb: &ControlBlock) -> bool {
        self.ca_state == CaState::Recovery
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.ca_state == CaState::Open
            && self.sacked.is_empty()
            && self.flight.is_whole()
            && !self.forced
            && !self.probe.is_under_way()
    }

    #[inline]
    fn in_flight(&self, tcb: &ControlBlock) -> u64 {
        tcb.max_sent - tcb.una - self.sacked.total() - self.flight.lost()
    }

    /// The next segment to send, if there is room: lost ones first.
    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        if unusual::<REGULAR>(self.forced) {
            return Some(tcb.una);
        }
        if REGULAR {
            return tcb.next_new();
        }
        let room = match &self.prr {
            Some(prr) if self.reduces() && !tcb.controls_cwnd => prr.allows(),
            _ => tcb.cwnd_allows(self.in_flight(tcb)),
        };
        if !room {
            return None;
        }
        let new = tcb.has_new();
        if new && self.undo.as_ref().is_some_and(Undo::prefers_new) {
            return Some(tcb.nxt);
        }
        self.flight.first_lost().or(new.then_some(tcb.nxt))
    }

    #[inline(always)]
    fn on_sent<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        segment: u64,
        env: &mut impl Environment,
    ) {
        if REGULAR {
            tcb.nxt = segment + 1;
            self.flight.send_new(segment, env.now());
        } else {
            self.note_sent(tcb, segment, env.now());
        }
    }

    #[inline]
    fn after_sending<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        moves: bool,
        env: &mut impl Environment,
    ) {
        if moves && usual::<REGULAR>(self.may_probe(tcb)) {
            self.arm_probe_timer(tcb, env);
        }
    }

    /// Linux spreads the reduction for a mark over a round trip, too (`tcp_enter_cwr`).
    fn on_reduction_for_mark(&mut self, tcb: &mut ControlBlock, window: u64) {
        if tcb.config.prr != PrrRule::Linux || self.ca_state > CaState::Cwr {
            return;
        }
        if let Some(prr) = &mut self.prr {
            self.ca_state = CaState::Cwr;
            self.recovery_point = tcb.max_sent;
            prr.start_for_mark(window);
        }
    }

    /// Section 6.3: lost are the first segment, and those sent more than a round trip ago.
    fn on_timeout(&mut self, tcb: &mut ControlBlock, now: Time) {
        if tcb.config.undo && (self.ca_state <= CaState::Cwr || tcb.una >= self.recovery_point) {
            self.undo = Some(Undo::after_timeout(tcb.una));
        }
        self.ca_state = CaState::Loss;
        self.recovery_point = tcb.max_sent;
        self.forced = true;
        self.probe.end();
        self.timer.cancel();
        let first = tcb.una;
        self.mark_lost(tcb, first);
        let reordering_timeout = self.rtt + self.reordering_window(tcb);
        while let Some(first) = self.flight.first()
            && first.sent + reordering_timeout <= now
        {
            self.mark_lost(tcb, first.segment);
        }
    }

    #[inline(always)]
    fn on_ack<const REGULAR: bool>(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        env: &mut impl Environment,
    ) -> Option<u32> {
        let now = env.now();
        let (delivered, lost) = (tcb.delivered, tcb.lost);
        let advanced = ack.next.saturating_sub(tcb.una);
        let mut arrived = Arrived::default();
        // Regular acknowledgements overtake nothing unless something was sent again.
        let in_order = REGULAR && self.flight.is_in_order_from(tcb.una);
        if in_order {
            arrived.newest = Some(self.flight.deliver_first(ack.next));
            arrived.any = true;
        } else if usual::<REGULAR>(advanced > 0) {
            self.forced = false;
            self.process_newly_acked::<REGULAR>(tcb, ack, now, &mut arrived);
            arrived.last_known = arrived.last.is_some();
        }
        if usual::<REGULAR>(advanced > 0) {
            tcb.process_cumulative_ack::<REGULAR>(ack, env);
        }
        if !REGULAR {
            self.process_blocks(tcb, ack, now, &mut arrived);
        }
        if let Some(newest) = arrived.newest {
            let last = arrived.last.filter(|_| tcb.config.prr == PrrRule::Linux);
            self.rtt = now.since(last.unwrap_or(newest.sent));
            self.newest = self.newest.max(newest);
        }
        let twice = if !REGULAR && ack.sack.has_blocks() && tcb.config.dsack {
            duplicates(ack)
        } else {
            None
        };
        if !REGULAR && (self.undo.is_some() || twice.is_some()) {
            self.look_for_undo(tcb, ack, (advanced, &arrived, twice), env);
        }
        if !in_order {
            self.find_lost(tcb, now);
        }
        if in_order || REGULAR && self.flight.is_whole() {
            let mut sample = tcb.ack_sample(advanced, self.in_flight(tcb), ack, now);
            tcb.complete(&mut sample, ack);
            tcb.grow_window(&sample);
            if !tcb.sends_plainly() {
                // Otherwise after sending.
                self.arm_probe_timer(tcb, env);
            }
            return Some(u32::MAX);
        }
        tcb.leave_plain();
        if arrived.any {
            let mut sample = tcb.ack_sample(advanced, self.in_flight(tcb), ack, now);
            tcb.complete(&mut sample, ack);
            self.process_probe_answer(tcb, ack, twice.is_some(), env);
            self.update_ca_state(tcb, Some((&sample, ack)), env);
            if ack.in_recovery || self.ca_state == CaState::Recovery {
                tcb.on_ack_in_recovery(&sample);
            }
        } else {
            let duplicate = ack.next == tcb.una && !ack.sack.has_blocks() || twice.is_some();
            self.process_probe_answer(tcb, ack, duplicate, env);
            self.update_ca_state(tcb, None, env);
        }
        let grows = tcb.config.prr != PrrRule::Linux || advanced > 0 && tcb.lost == lost;
        self.update_prr(tcb, tcb.delivered - delivered, grows);
        self.set_timer(tcb, advanced > 0, env);
        Some(u32::MAX)
    }
}

impl Rack {
    fn note_sent(&mut self, tcb: &mut ControlBlock, segment: u64, now: Time) {
        self.forced = false;
        if let Some(undo) = self.undo.as_mut().filter(|_| segment < tcb.nxt) {
            undo.on_retransmission(now);
        }
        tcb.nxt = tcb.nxt.max(segment + 1);
        self.flight.send(segment, now);
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
    }

    /// Finds out whether the current reduction was needed. If not, all is as before it, and nothing is lost.
    #[cold]
    fn look_for_undo(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        (advanced, arrived, twice): (u64, &Arrived, Option<(u64, u64)>),
        env: &mut impl Environment,
    ) {
        if twice.is_some() && tcb.config.undo {
            let in_flight = tcb.max_sent - tcb.una - self.sacked.total() - self.flight.lost();
            self.patience.on_duplicates(tcb.delivered, in_flight);
        }
        let Some(undo) = &mut self.undo else { return };
        let explained = twice.is_some_and(|twice| undo.on_duplicates(twice));
        let over = tcb.una >= self.recovery_point;
        let late = advanced > 0 && undo.answers_first_copy(tcb, ack);
        let needed = if self.ca_state == CaState::Loss {
            let original = arrived
                .original
                .is_some_and(|segment| segment < self.recovery_point);
            !(late || explained || original && undo.trusts_original())
        } else if self.ca_state != CaState::Recovery {
            // After the recovery: duplicates alone tell.
            !explained
        } else if explained {
            false
        } else {
            // With something sent again under way, more of that is left to come (`tcp_try_undo_partial`).
            !late || !over && self.flight.repeated_in(tcb.una, tcb.max_sent) > 0
        };
        if needed {
            let sent_new = tcb.max_sent > self.recovery_point;
            let reports = arrived.any && ack.sack.has_blocks();
            let goes_on = self.ca_state == CaState::Loss
                && undo.go_on(tcb, advanced > 0 && !over, reports, sent_new);
            if goes_on {
                self.recovery_point = tcb.max_sent;
            }
            return;
        }
        self.undo = None;
        self.flight.restore_lost();
        tcb.undo_reduction();
        match self.ca_state {
            CaState::Recovery => tcb.end_recovery(env),
            CaState::Loss => tcb.congestion.on_recovery_exit(env.now()),
            CaState::Open | CaState::Cwr => return,
        }
        self.ca_state = CaState::Open;
    }

    /// A loss that a tail loss probe has repaired calls for a reduction like any other (section 7.4).
    fn process_probe_answer(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        duplicate: bool,
        env: &mut impl Environment,
    ) {
        if self.probe.on_ack(ack, duplicate) && self.ca_state == CaState::Open {
            tcb.reduce_for_loss(env);
        }
    }

    /// Whether the window is being reduced.
    #[inline]
    fn reduces(&self) -> bool {
        matches!(self.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// Works out how much may be sent after `delivered` segments more, while the window is being reduced; whether more
    /// than these.
    fn update_prr(&mut self, tcb: &ControlBlock, delivered: u64, grows: bool) {
        let pipe = self.in_flight(tcb);
        let linux = tcb.config.prr == PrrRule::Linux;
        if !self.reduces() || linux && delivered == 0 {
            return;
        }
        let Some(prr) = &mut self.prr else { return };
        prr.on_ack(delivered, pipe, tcb.window(), grows);
        if linux {
            prr.allow_first();
        }
    }

    /// Processes the segments that the cumulative acknowledgement covers.
    #[inline]
    fn process_newly_acked<const REGULAR: bool>(
        &mut self,
        tcb: &ControlBlock,
        ack: Ack,
        now: Time,
        arrived: &mut Arrived,
    ) {
        let Self { sacked, flight, .. } = self;
        if usual::<REGULAR>(sacked.is_empty()) {
            for segment in tcb.una..ack.next {
                arrived.take(segment, flight, tcb, ack, now);
            }
        } else {
            sacked.add(tcb.una, ack.next, |left, right| {
                for segment in left..right {
                    arrived.take(segment, flight, tcb, ack, now);
                }
            });
            sacked.remove_below(ack.next);
        }
        self.flight.forget_below(ack.next);
    }

    /// Processes the selective acknowledgements, in the order of their segments.
    fn process_blocks(
        &mut self,
        tcb: &mut ControlBlock,
        ack: Ack,
        now: Time,
        arrived: &mut Arrived,
    ) {
        let Self { sacked, flight, .. } = self;
        let (mut blocks, count) = sacked.unseen(ack.sack, ack.next);
        blocks[..count].sort_unstable();
        for &(left, right) in &blocks[..count] {
            let left = left.max(tcb.una);
            if left < right {
                sacked.add(left, right, |left, right| {
                    tcb.on_sacked(left, right);
                    for segment in left..right {
                        arrived.take(segment, flight, tcb, ack, now);
                    }
                });
            }
        }
        tcb.process_sacked(sacked.total());
    }

    /// How long a segment may be overtaken before it is lost (RFC 8985 section 6.2, step 4).
    fn reordering_window(&self, tcb: &ControlBlock) -> Span {
        let few = self.sacked.total() < u64::from(tcb.config.dupack_threshold);
        if self.flight.reordering_seen() || (self.ca_state <= CaState::Cwr && few) {
            (tcb.rtt.min_rtt() / 4 * self.patience.steps).min(tcb.srtt())
        } else {
            Span::ZERO
        }
    }

    /// Marks as lost what was overtaken long enough ago (step 5).
    fn find_lost(&mut self, tcb: &mut ControlBlock, now: Time) {
        self.flight.overtake(self.newest);
        let reordering_timeout = self.rtt + self.reordering_window(tcb);
        while self.flight.last_overtaken().is_some()
            && let Some(first) = self.flight.first()
            && first.sent + reordering_timeout <= now
        {
            self.mark_lost(tcb, first.segment);
        }
    }

    fn mark_lost(&mut self, tcb: &mut ControlBlock, segment: u64) {
        if !self.flight.is_lost(segment) {
            self.flight.mark_lost(segment);
            tcb.lost += 1;
        }
    }

    /// Ends and begins recoveries, and lets the window grow where that is allowed. With the facts of an
    /// acknowledgement that tells of newly delivered segments, if there is one.
    fn update_ca_state(
        &mut self,
        tcb: &mut ControlBlock,
        told: Option<(&AckSample, Ack)>,
        env: &mut impl Environment,
    ) {
        let before = self.ca_state;
        // Something above has to arrive for the answer to a mark to have got there.
        let point = self.recovery_point + u64::from(before == CaState::Cwr);
        if before != CaState::Open && tcb.una >= point {
            self.ca_state = CaState::Open;
        }
        let recovers = before == CaState::Recovery;
        let ends = self.ca_state != before && before != CaState::Cwr;
        let enters = self.ca_state <= CaState::Cwr && self.flight.lost() > 0;
        let may_grow = !recovers && !enters && self.ca_state != CaState::Cwr;
        let grows = told.is_some_and(|(sample, _)| sample.acked > 0) && may_grow;
        if let Some((sample, ack)) = told.filter(|_| !grows) {
            tcb.report_ack(sample, ack);
        }
        if ends && recovers {
            self.patience.on_recovery_exit();
            tcb.end_recovery(env);
        } else if ends {
            tcb.congestion.on_recovery_exit(env.now());
        }
        if enters {
            self.enter_recovery(tcb, env);
        } else if let Some((sample, _)) = told.filter(|_| grows) {
            tcb.grow_window(sample);
        }
    }

    fn enter_recovery(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        let goes_on = self.ca_state == CaState::Cwr;
        let window = tcb.window();
        self.ca_state = CaState::Recovery;
        self.recovery_point = tcb.max_sent;
        self.probe.end();
        self.undo = (tcb.config.undo && !goes_on).then(|| Undo::in_recovery(tcb.una));
        tcb.reduce_for_loss(env);
        tcb.restart_timer_for_retransmission(env);
        if let Some(prr) = &mut self.prr
            && !goes_on
        {
            prr.start(match tcb.config.prr {
                PrrRule::Rfc6937 => tcb.max_sent - tcb.una,
                PrrRule::Linux => window,
            });
        }
        // Linux counts what has been delivered before it sends anything.
        let counts_first = tcb.config.prr == PrrRule::Linux && self.prr.is_some();
        if let Some(segment) = self.flight.first_lost().filter(|_| !counts_first) {
            tcb.transmit_cold(segment, env);
            self.note_sent(tcb, segment, env.now());
        }
    }

    /// Adds what it knows to what Linux's `TCP_INFO` says: of a window that is being reduced, what may be in flight
    /// (`tcp_cwnd_reduction`); as lost, also what was sent again and has not arrived.
    #[cfg(test)]
    pub(crate) fn inform(&self, tcb: &ControlBlock, info: &mut Info) {
        let repeated = self.flight.repeated_in(tcb.una, tcb.max_sent);
        let probes = u64::from(self.probe.is_under_way());
        info.sacked = self.sacked.total();
        info.retrans = repeated;
        info.lost = self.flight.lost() + repeated.saturating_sub(probes);
        info.ca_state = match self.ca_state {
            CaState::Open if info.sacked > 0 => "disorder",
            CaState::Open => "open",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
        };
        if let Some(prr) = self.prr.as_ref().filter(|_| self.reduces()) {
            info.cwnd = self.in_flight(tcb) + prr.allowance();
        }
    }

    /// When the newest segment left that has arrived.
    pub(crate) fn newest_sent(&self) -> Time {
        self.newest.sent
    }

    /// When the RACK-TLP timer expires.
    pub(crate) fn due(&self) -> Time {
        self.timer.deadline()
    }

    /// The RACK-TLP timer. Returns whether it was due.
    pub(crate) fn on_timer(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) -> bool {
        let now = env.now();
        if !self.timer.expires(now) || tcb.una == tcb.max_sent {
            return false;
        }
        tcb.integrate_cwnd::<false>(now);
        match self.wait {
            Wait::Probe => self.send_probe(tcb, env),
            Wait::Reordering => {
                self.find_lost(tcb, now);
                self.update_ca_state(tcb, None, env);
                // Linux has it go on as for an acknowledgement of one segment (`tcp_rack_reo_timeout`).
                let linux = tcb.config.prr == PrrRule::Linux;
                self.update_prr(tcb, u64::from(linux), !linux);
                self.set_timer(tcb, false, env);
            }
        }
        true
    }

    /// Sends a probe if one is due; the retransmission timer starts over in any case (section 7.3).
    fn send_probe(&mut self, tcb: &mut ControlBlock, env: &mut impl Environment) {
        tcb.restart_timer(env);
        let Some(segment) = self.probe.segment(tcb) else {
            return;
        };
        let repeats = segment < tcb.max_sent;
        if repeats {
            tcb.restart_timer_for_retransmission(env);
        }
        tcb.transmit_cold(segment, env);
        self.note_sent(tcb, segment, env.now());
        self.probe.on_sent(tcb, repeats);
    }

    /// Sets the timer after an acknowledgement: for the last of the segments that were overtaken, or
    /// for a probe.
    #[inline]
    fn set_timer(&mut self, tcb: &mut ControlBlock, advanced: bool, env: &mut impl Environment) {
        let now = env.now();
        if let Some(last) = self.flight.last_overtaken() {
            let due = last.sent + self.rtt + self.reordering_window(tcb);
            self.wait = Wait::Reordering;
            self.start_timer(tcb, due.max(now), env);
        } else if !self.may_probe(tcb) {
            self.timer.cancel();
        } else if advanced || self.wait == Wait::Reordering {
            self.arm_probe_timer(tcb, env);
        }
    }

    /// Whether silence calls for a probe: while nothing is known to be missing (section 7.2).
    #[inline]
    fn may_probe(&self, tcb: &ControlBlock) -> bool {
        self.ca_state <= CaState::Cwr && self.sacked.is_empty() && tcb.una < tcb.max_sent
    }

    #[inline]
    fn arm_probe_timer(&mut self, tcb: &ControlBlock, env: &mut impl Environment) {
        self.wait = Wait::Probe;
        let due = TailProbe::deadline(tcb, env.now());
        self.start_timer(tcb, due, env);
    }

    #[inline]
    fn start_timer(&mut self, tcb: &ControlBlock, due: Time, env: &mut impl Environment) {
        let of = (Kind::RackTlp, tcb.index);
        self.timer.set(due, of, env.schedule());
    }
}
