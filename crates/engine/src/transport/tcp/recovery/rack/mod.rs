//! Time-based loss recovery, RACK-TLP (RFC 8985): a segment is lost when another one, sent sufficiently later, has
//! arrived. The reordering window defines "sufficiently". Lost retransmissions are detected like any lost segment. At
//! the end of the data, where no later segments follow, a probe brings the acknowledgement.
//!
//! If reductions may be undone, the reordering window grows when the receiver reports duplicates (`RACK.reo_wnd_mult`).

mod detection;
mod states;
mod timer;

use longhaul_units::{Span, Time};

use self::detection::NewlyDelivered;
use self::timer::Wait;
use super::prr::Prr;
use super::tail_probe::TailProbe;
use super::transmissions::{Transmission, Transmissions};
use super::undo::{Patience, Undo, duplicates};
use super::{CaState, LossRecovery};
use crate::config::PrrRule;
use crate::schedule::timers::Timer;
use crate::transport::Environment;
use crate::transport::tcp::ack::Ack;
use crate::transport::tcp::control_block::ControlBlock;
use crate::transport::tcp::ranges::Ranges;
use crate::transport::tcp::regular::{unusual, usual};

/// State of loss recovery by RACK-TLP.
#[derive(Debug)]
pub(crate) struct Rack {
    ca_state: CaState,
    /// Segment number at the end of recovery: recovery ends when everything below it is acknowledged.
    recovery_point: u64,
    prr: Option<Prr>,
    /// Selectively acknowledged segments above the cumulative acknowledgement.
    sacked: Ranges,
    flight: Transmissions,
    /// The newest transmission that has arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Transmission,
    /// Round-trip time (`RACK.rtt`) of the newest transmission that the last acknowledgement with news reported. With
    /// Linux's rule for PRR, that of the last segment it reported ([`NewlyDelivered::last`]).
    rtt: Span,
    /// True after a timeout: the first segment is sent regardless of the flight (RFC 6298 section 5.4).
    forced: bool,
    probe: TailProbe,
    timer: Timer,
    wait: Wait,
    /// Evidence that decides if the current reduction was spurious; `None` if no reduction can be undone now.
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

    /// Returns the next segment to send, if the window or, in a reduction, PRR has room: a lost segment, or else a new
    /// one. There are two exceptions: right after a timeout, `una` is sent even without room; and in F-RTO, new data
    /// goes first.
    #[inline(always)]
    fn next<const REGULAR: bool>(&mut self, tcb: &mut ControlBlock) -> Option<u64> {
        if unusual::<REGULAR>(self.forced) {
            return Some(tcb.una);
        }
        if REGULAR {
            return tcb.next_new();
        }
        let room = match &self.prr {
            Some(prr) if self.reduces() && !tcb.sends_by_window() => prr.allows(),
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

    /// Begins Linux's proportional rate reduction after an ECN mark (`tcp_enter_cwr`). Does nothing during a recovery
    /// or after a timeout, without PRR or with its other rule, or if the algorithm controls the window itself
    /// (`tcp_cong_control`).
    fn on_reduction_for_mark(&mut self, tcb: &mut ControlBlock, window: u64) {
        let linux = tcb.config.prr == PrrRule::Linux && !tcb.controls_cwnd;
        if !linux || self.ca_state > CaState::Cwr {
            return;
        }
        if let Some(prr) = &mut self.prr {
            self.ca_state = CaState::Cwr;
            self.recovery_point = tcb.max_sent;
            prr.start_for_mark(window);
        }
    }

    /// Marks segments as lost after a timeout: the first one, and all segments sent at least a round trip and the
    /// reordering window ago (RFC 8985 section 6.3).
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
        let mut arrived = NewlyDelivered::default();
        // Without retransmissions, a regular acknowledgement does not report an overtaken segment.
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
                // Senders in the plain path start the timer after sending.
                self.arm_probe_timer(tcb, env);
            }
            return Some(u32::MAX);
        }
        tcb.leave_plain();
        if arrived.any {
            let mut sample = tcb.ack_sample(advanced, self.in_flight(tcb), ack, now);
            tcb.complete(&mut sample, ack);
            self.process_probe_answer(tcb, ack, twice.is_some(), env);
            let grown = self.update_ca_state(tcb, Some((&sample, ack)), env);
            if ack.in_recovery || self.ca_state == CaState::Recovery {
                // An algorithm that controls the window gets each acknowledgement once (`tcp_cong_control`).
                if !(grown && tcb.controls_cwnd) {
                    tcb.on_ack_in_recovery(&sample);
                }
                self.weigh_losses(tcb, env);
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
}
