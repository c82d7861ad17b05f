//! The congestion controller of one flow. A kernel module makes its decisions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_congestion::{
    AckSample, Cause, Congestion, CongestionControl, Extension, Idle, Limit, Needs, Phase, Phases,
    Timeout, Window,
};
use longhaul_units::{Rate, Span, Time};

use crate::interface::{
    APP_LIMITED, COMPLETES, CWND_LIMITED, Decision, ECE, Facts, INFINITE, LOSS, MARK, MAY_GROW,
    Traits,
};
use crate::object::{Connection, Object};

/// Bytes of a segment's headers with timestamps over IPv4: 20 bytes each for IP and TCP, and 12
/// bytes of options.
const HEADERS: u64 = 52;

/// Seed of the random numbers of the first flow of each loaded object, independent of the
/// scenario's seed. The object's next flows have the next numbers as seeds, so that flows of one
/// object draw different random numbers.
const SEED: u64 = 0x6c6f_6e67_6861_756c;

/// The window reduction in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    None,
    /// A reduction after a loss or a timeout. It lasts until the transport ends the recovery.
    Recovery,
    /// A reduction after a mark. It lasts until more than this number of segments is acknowledged.
    Mark(u64),
}

#[derive(Debug)]
pub(crate) struct Controller {
    shared: Arc<Shared>,
    connection: Option<Connection>,
    facts: Facts,
    decision: Decision,
    /// Bytes of a full segment, with headers.
    segment_bytes: u64,
    /// Number of segments acknowledged cumulatively so far, by acknowledgements that were passed to
    /// the module.
    una: u64,
    /// Number of segments delivered so far.
    delivered: u64,
    /// Number of segments lost so far.
    lost: u64,
    /// Number of segments marked so far. If acknowledgements do not count marks, all segments that
    /// an ECN echo newly reports as delivered count.
    marked: u64,
    reduction: Reduction,
    /// End time of the last recovery, until the module has been told that it ended; then `None`.
    ended: Option<Time>,
    /// Time of the last acknowledgement that was passed to the module.
    acked_at: Time,
    /// True if the module controls the window, and a loss has begun a recovery since the
    /// acknowledgement at `acked_at`.
    enters: bool,
}

/// A compiled kernel module, with the number of flows that have used it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) object: Arc<Object>,
    pub(crate) flows: AtomicU64,
}

impl Clone for Controller {
    /// Returns a controller in the initial state. Only a controller that has not been called is
    /// cloned, once for each flow.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.shared))
    }
}

impl Controller {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            connection: None,
            facts: Facts {
                rtt_us: -1,
                rate_segments: -1,
                rate_interval_us: -1,
                ..Facts::default()
            },
            decision: Decision::default(),
            segment_bytes: 0,
            una: 0,
            delivered: 0,
            lost: 0,
            marked: 0,
            reduction: Reduction::None,
            ended: None,
            acked_at: Time::ZERO,
            enters: false,
        }
    }

    fn traits(&self) -> Traits {
        self.shared.object.traits()
    }

    fn controls_window(&self) -> bool {
        self.traits().has(Traits::CONG_CONTROL)
    }

    /// Starts the module's connection, at the first acknowledgement.
    fn begin(&mut self, ack: &AckSample, window: &mut Window) {
        if self.connection.is_some() {
            return;
        }
        self.segment_bytes = ack.segment_bytes;
        self.facts.mss = ack.segment_bytes.saturating_sub(HEADERS).max(1) as u32;
        self.note_round_trips(ack);
        self.look(ack.now, window);
        let number = self.shared.flows.fetch_add(1, Ordering::Relaxed);
        let object = Arc::clone(&self.shared.object);
        let (connection, decision) =
            Connection::start(object, &self.facts, SEED.wrapping_add(number));
        self.connection = Some(connection);
        self.apply(decision, window);
    }

    fn note_round_trips(&mut self, ack: &AckSample) {
        self.facts.rtt_us = ack.rtt.map_or(-1, |rtt| whole_us(rtt) as i64);
        self.facts.srtt_us = (ack.srtt.as_ps() / 125_000) as u32;
        self.facts.min_rtt_us = whole_us(ack.min_rtt) as u32;
    }

    /// Updates the time and the window in `self.facts`, which the module gets with its next call.
    #[inline]
    fn look(&mut self, now: Time, window: &Window) {
        self.facts.now_ns = now.since(Time::ZERO).as_ps() / 1000;
        self.facts.cwnd = window.cwnd() as u32;
        self.facts.ssthresh = window.ssthresh().min(f64::from(INFINITE)) as u32;
    }

    /// Stores the module's decision, from which pacing is computed. Changes the window and the
    /// threshold only if the decision differs from the facts, so that they keep their fractions.
    #[inline]
    fn apply(&mut self, decision: Decision, window: &mut Window) {
        self.decision = decision;
        if decision.ssthresh != self.facts.ssthresh {
            window.set_ssthresh(f64::from(decision.ssthresh));
        }
        if decision.cwnd != self.facts.cwnd {
            window.set_cwnd(f64::from(decision.cwnd));
        }
    }

    /// Updates the facts about the connection that the module gets, from an acknowledgement.
    fn note(&mut self, ack: &AckSample) {
        let newly = ack.delivered.saturating_sub(self.delivered);
        let losses = ack.lost.saturating_sub(self.lost);
        let marks = match ack.marked {
            Some(marked) => marked.saturating_sub(self.marked),
            None if ack.ecn_echo => newly,
            None => 0,
        };
        self.una += ack.acked;
        self.delivered = self.delivered.max(ack.delivered);
        self.lost = self.lost.max(ack.lost);
        self.marked += marks;
        self.note_round_trips(ack);
        let sacked = self.delivered.saturating_sub(self.una);
        let facts = &mut self.facts;
        (facts.rate_segments, facts.rate_interval_us) = match ack.delivery_rate {
            Some(rate) => (rate.segments() as i64, whole_us(rate.interval()) as i64),
            None => (-1, -1),
        };
        facts.una = self.una as u32;
        facts.sacked_out = sacked as u32;
        facts.packets_out = (ack.in_flight + sacked) as u32;
        facts.prior_in_flight = (ack.in_flight + newly + losses) as u32;
        facts.delivered = self.delivered as u32;
        facts.delivered_ce = self.marked as u32;
        facts.lost = self.lost as u32;
        facts.acked = ack.acked as u32;
        // Acknowledgements that hinted at a loss were not passed to the module, so only the
        // segments of the acknowledgement that revealed the loss count.
        facts.acked_sacked = if std::mem::take(&mut self.enters) {
            newly.min((ack.credit as u64).max(1))
        } else {
            newly
        } as u32;
        facts.losses = losses as u32;
        facts.marks = marks as u32;
    }

    /// Returns the flags that the module gets with an acknowledgement. As in the kernel (`tcp_may_raise_cwnd`),
    /// [`MAY_GROW`] is set even if the window was not fully used, since the module itself checks [`CWND_LIMITED`].
    /// `completes` is true if the acknowledgement ends a reduction of the window.
    fn flags(&self, ack: &AckSample, phase: Phase, completes: bool) -> u32 {
        let unused = phase == Phase::NoGrowth
            && ack.limit != Limit::Network
            && ack.acked > 0
            && !ack.ecn_echo
            && self.reduction == Reduction::None;
        let flag = |set: bool, bit| if set { bit } else { 0 };
        flag(phase.may_grow() || unused, MAY_GROW)
            | flag(!unused, CWND_LIMITED)
            | flag(ack.limit == Limit::Application, APP_LIMITED)
            | flag(ack.ecn_echo, ECE)
            | flag(completes, COMPLETES)
    }

    /// Ends the current reduction if the current acknowledgement completes it, or if its recovery
    /// has ended and the module has not been told. Returns true if so.
    fn completes(&mut self) -> bool {
        let over = match self.reduction {
            Reduction::Mark(until) => self.una > until,
            Reduction::None | Reduction::Recovery => false,
        };
        let completes = self.ended.take().is_some() || over;
        if completes {
            self.reduction = Reduction::None;
        }
        completes
    }

    fn tell(
        &mut self,
        now: Time,
        window: &mut Window,
        call: impl FnOnce(&mut Connection, &Facts) -> Decision,
    ) {
        self.look(now, window);
        if let Some(connection) = &mut self.connection {
            let decision = call(connection, &self.facts);
            self.apply(decision, window);
        }
    }

    /// Tells the module that a recovery has ended, unless the module already knows.
    fn catch_up(&mut self, now: Time, window: &mut Window) {
        if self.ended.take().is_some() {
            self.reduction = Reduction::None;
            self.tell(now, window, Connection::recovered);
        }
    }
}

impl CongestionControl for Controller {
    fn phases(&self) -> Phases {
        if self.controls_window() {
            Phases::All
        } else {
            Phases::SlowStart
        }
    }

    fn on_handshake(&mut self, ack: &AckSample, window: &mut Window) {
        self.begin(ack, window);
    }

    fn first_window(&mut self, initial: f64) -> f64 {
        match &self.connection {
            Some(_) if self.decision.cwnd != self.facts.cwnd => f64::from(self.decision.cwnd),
            _ => initial,
        }
    }

    fn on_ack(&mut self, ack: &AckSample, phase: Phase, window: &mut Window) {
        self.begin(ack, window);
        if self.ended.is_some_and(|at| at != ack.now) {
            self.catch_up(ack.now, window);
        }
        self.note(ack);
        let completes = self.completes();
        self.facts.flags = self.flags(ack, phase, completes);
        self.acked_at = ack.now;
        self.tell(ack.now, window, Connection::ack);
    }

    fn on_congestion(&mut self, event: &Congestion, window: &mut Window) {
        self.catch_up(event.now, window);
        if self.connection.is_none() {
            return window.reduce_to(event.base / 2.0);
        }
        let (cause, reduction) = match event.cause {
            Cause::Ecn => (MARK, Reduction::Mark(self.una + event.in_flight)),
            Cause::Loss | Cause::Nak => (LOSS, Reduction::Recovery),
        };
        self.reduction = reduction;
        self.enters = self.controls_window() && reduction == Reduction::Recovery;
        self.facts.packets_out = event.in_flight as u32;
        self.tell(event.now, window, |connection, facts| {
            connection.reduce(facts, cause)
        });
        if !self.controls_window() && self.decision.ssthresh != INFINITE {
            window.reduce_to(f64::from(self.decision.ssthresh));
        }
    }

    fn on_timeout(&mut self, event: &Timeout, window: &mut Window) {
        self.catch_up(event.now, window);
        self.reduction = Reduction::Recovery;
        let keeps = event.keep_ssthresh;
        if self.connection.is_none() {
            return longhaul_congestion::restart(event, window);
        }
        self.tell(event.now, window, |connection, facts| {
            connection.timeout(facts, keeps)
        });
    }

    fn on_recovery_exit(&mut self, now: Time, window: &mut Window) {
        self.ended = Some(now);
        // A module that does not control the window must get the acknowledgement before the end of
        // the recovery. If it does not have it yet, the end is reported with it ([`COMPLETES`]).
        if self.acked_at == now || self.controls_window() {
            self.catch_up(now, window);
        }
    }

    fn on_idle(&mut self, idle: &Idle, window: &mut Window) {
        self.catch_up(idle.now, window);
        self.facts.packets_out = 0;
        self.tell(idle.now, window, Connection::restart);
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        let bytes_per_s = self.decision.pacing_bytes_per_s;
        if bytes_per_s == 0 {
            return None;
        }
        // The kernel's pacing rate counts payload only.
        let (payload, segment) = (u128::from(self.facts.mss), u128::from(self.segment_bytes));
        let bps = 8 * u128::from(bytes_per_s) * segment / payload.max(1);
        Some(Rate::from_bps(bps.min(u128::from(u64::MAX)) as u64))
    }

    #[inline]
    fn send_quantum(&self) -> u64 {
        u64::from(self.decision.burst_segments.max(1))
    }

    fn needs(&self) -> Needs {
        let has = |bit| self.traits().has(bit);
        Needs {
            delivery_rate: has(Traits::CONG_CONTROL),
            rack_tlp: has(Traits::CONG_CONTROL),
            paces: has(Traits::CONG_CONTROL),
            every_mark: has(Traits::NEEDS_ECN),
            l4s: has(Traits::NEEDS_L4S),
            ..Needs::RTT
        }
    }

    fn extension(&mut self) -> Option<&mut dyn Extension> {
        Some(self)
    }
}

impl Extension for Controller {
    fn on_undo(&mut self, window: &mut Window) {
        let before = self.facts.cwnd;
        self.look(self.acked_at, window);
        self.facts.cwnd = self.facts.cwnd.min(before);
        if let Some(connection) = &mut self.connection {
            self.decision = connection.undo(&self.facts);
            window.set_cwnd(f64::from(self.decision.cwnd));
        }
    }
}

fn whole_us(span: Span) -> u64 {
    span.as_ps() / 1_000_000
}
