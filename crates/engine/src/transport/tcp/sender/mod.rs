//! The sending end: processes acknowledgements and timers, and sends the segments that the window allows.
//!
//! Loss recovery decides on reductions of the window and on the next segment to send. It also counts the segments in
//! flight. The control block has the state that all loss recovery algorithms share.

mod application;

use std::mem::offset_of;
use std::sync::Arc;

use longhaul_congestion::{Controller, Limit};
use longhaul_units::{Span, Time};

use super::ack::Ack;
use super::control_block::{ControlBlock, Sending};
#[cfg(test)]
use super::info::Info;
use super::recovery::{LossRecovery, RecoveryAlgorithm, with_recovery};
use super::regular::{unusual, usual};
use super::wire::Wire;
use crate::config::{Ecn, Tcp};
use crate::measure::{EventKind, FlowCounters, FlowSample};
use crate::network::Path;
use crate::packet::{Flags, Packet, SackOption};
use crate::prefetch::prefetch;
use crate::random::Stream;
use crate::schedule::Schedule;
use crate::transport::Environment;

/// The sending end of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    tcb: ControlBlock,
    recovery: RecoveryAlgorithm,
}

impl Sender {
    /// Offset, from the sender's beginning, of the memory that is read for a sample of the time series.
    pub(crate) const SAMPLED: usize = offset_of!(Self, tcb);
    /// Offset of the counters, from the sender's beginning.
    pub(crate) const COUNTED: usize = offset_of!(Self, tcb.counters);

    pub(crate) fn new(
        index: u32,
        flow: u32,
        path: Path,
        config: Arc<Tcp>,
        controller: &Controller,
        stream: Stream,
    ) -> Self {
        Self {
            recovery: RecoveryAlgorithm::new(config.recovery),
            tcb: ControlBlock::new(index, flow, path, config, controller, stream),
        }
    }

    /// Resets the round-trip time estimator when a run begins, and draws a new phase of its clock.
    pub(crate) fn reset(&mut self) {
        self.tcb.leave_plain();
        self.tcb.reset_clock();
    }

    /// Begins to record the state after each acknowledgement. `connection` is the connection's number within its flow
    /// in these records.
    pub(crate) fn trace_as(&mut self, connection: u64) {
        self.tcb.leave_plain();
        self.tcb.trace_as(connection);
    }

    /// Opens the connection by sending the SYN.
    pub(crate) fn start(&mut self, env: &mut impl Environment) {
        let tcb = &mut self.tcb;
        tcb.limit_since = env.now();
        tcb.cwnd_since = env.now();
        tcb.limit = Limit::Network;
        tcb.log(EventKind::Start, tcb.congestion.window.cwnd(), env);
        tcb.nxt = 1;
        tcb.transmit_cold(0, env);
    }

    /// Stops the application: no new data is sent, but segments sent so far are still delivered.
    pub(crate) fn stop(&mut self) {
        self.tcb.leave_plain();
        let sent = self.tcb.max_sent.max(1);
        if sent < self.tcb.end {
            self.tcb.end_with(sent);
        }
    }

    /// Prefetches the memory that an acknowledgement uses.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.tcb.prefetch();
        prefetch(&self.recovery);
    }

    /// Prefetches the memory that a sample reads.
    #[inline]
    pub(crate) fn prefetch_for_sample(&self) {
        self.tcb.prefetch_for_sample();
        prefetch(&self.recovery);
    }

    /// Processes an acknowledgement.
    #[inline(always)]
    pub(crate) fn on_packet(&mut self, packet: &Packet, env: &mut impl Environment) {
        let tcb = &mut self.tcb;
        if tcb.expects(packet) {
            with_recovery!(self, recovery => process_regular_ack(tcb, recovery, packet, env));
        } else {
            with_recovery!(self, recovery => process_any_ack(tcb, recovery, packet, env));
        }
    }

    /// Leaves the plain state, so that the next acknowledgement does not take the fast path.
    #[cfg(test)]
    pub(crate) fn leave_plain(&mut self) {
        self.tcb.leave_plain();
    }

    /// Returns true if an acknowledgement of new data would take the fast path now.
    #[cfg(test)]
    pub(crate) fn is_plain(&self) -> bool {
        self.tcb.is_plain()
    }

    /// Returns true if the packet is an acknowledgement that would take the fast path now.
    #[cfg(test)]
    pub(crate) fn expects(&self, packet: &Packet) -> bool {
        self.tcb.expects(packet)
    }

    /// Returns the sender's state as Linux reports it in `TCP_INFO`.
    #[cfg(test)]
    pub(crate) fn info(&self) -> Info {
        let mut info = Info {
            cwnd: self.tcb.congestion.window.cwnd() as u64,
            ssthresh: self.tcb.congestion.window.ssthresh(),
            unacked: self.tcb.max_sent - self.tcb.una,
            ..Info::default()
        };
        if let RecoveryAlgorithm::Rack(rack) = &self.recovery {
            rack.inform(&self.tcb, &mut info);
        }
        info
    }

    /// Processes a send event: the random delay or the pacing gap is over.
    pub(crate) fn on_send_event(&mut self, env: &mut impl Environment) {
        let tcb = &mut self.tcb;
        if !tcb.end_wait(env.now()) {
            return;
        }
        tcb.integrate_cwnd::<false>(env.now());
        with_recovery!(self, recovery => send_paced(tcb, recovery, u32::MAX, true, env));
    }

    /// Sets the path of the sender's dummy segments.
    pub(crate) fn send_dummies_along(&mut self, path: Path) {
        self.tcb.send_dummies_along(path);
    }

    /// Returns true if the algorithm sends dummy segments.
    pub(crate) fn sends_dummies(&self) -> bool {
        self.tcb.congestion.needs().dummies
    }

    /// Processes the event for the departure of a dummy segment.
    pub(crate) fn on_dummy_event(&mut self, env: &mut impl Environment) {
        self.tcb.on_dummy_event(env);
    }

    /// Processes the answer to a dummy segment. The window may grow.
    pub(crate) fn on_dummy_ack(&mut self, env: &mut impl Environment) {
        let tcb = &mut self.tcb;
        tcb.leave_plain();
        tcb.integrate_cwnd::<false>(env.now());
        tcb.congestion.on_dummy_ack();
        with_recovery!(self, recovery => send_paced(tcb, recovery, u32::MAX, false, env));
    }

    /// Processes a timer event of RACK-TLP.
    pub(crate) fn on_rack_tlp_timer(&mut self, env: &mut impl Environment) {
        self.tcb.leave_plain();
        if let RecoveryAlgorithm::Rack(rack) = &mut self.recovery
            && rack.on_timer(&mut self.tcb, env)
        {
            send_paced(&mut self.tcb, rack, u32::MAX, false, env);
        }
    }

    /// Processes the expiry of the retransmission timer, unless its deadline has been moved later.
    pub(crate) fn on_timer(&mut self, env: &mut impl Environment) {
        let tcb = &mut self.tcb;
        let now = env.now();
        if !tcb.timer.expires(now) || tcb.una == tcb.max_sent {
            return;
        }
        tcb.leave_plain();
        tcb.integrate_cwnd::<false>(now);
        let cwnd = tcb.congestion.window.cwnd();
        tcb.on_timeout(now);
        tcb.log(EventKind::Timeout, cwnd, env);
        tcb.restart_timer(env);
        if tcb.established {
            tcb.begin_dummies(env);
            with_recovery!(self, recovery => {
                recovery.on_timeout(tcb, now);
                send_paced(tcb, recovery, u32::MAX, false, env);
            });
        } else {
            // Data alone is subject to loss recovery; a SYN is only retransmitted.
            tcb.transmit_cold(0, env);
        }
    }

    /// Returns the earliest deadline of the sender's timers or, while its send event is pending, the earliest possible
    /// timer event of any connection. Until then, only acknowledgements change its state.
    #[inline]
    pub(crate) fn due(&self, schedule: &Schedule) -> Time {
        if self.tcb.sending == Sending::Later {
            return schedule.next_timer();
        }
        match &self.recovery {
            RecoveryAlgorithm::Rack(rack) => self.tcb.timer.deadline().min(rack.due()),
            _ => self.tcb.timer.deadline(),
        }
    }

    /// Returns true if the segments carry requests to routers.
    pub(crate) fn asks_routers(&self) -> bool {
        self.tcb.congestion.needs().routers
    }

    /// Returns true if the sender draws random numbers while it sends.
    pub(crate) fn draws(&self) -> bool {
        self.tcb.config.send_jitter > Span::ZERO
    }

    /// Returns the index of the first hop of the segments' route.
    pub(crate) fn route(&self) -> u32 {
        self.tcb.path.route
    }

    /// Returns the time at which the stream was closed and its last byte acknowledged; `None` before.
    pub(crate) fn finish(&self) -> Option<Time> {
        (self.tcb.finish != Time::NEVER).then_some(self.tcb.finish)
    }

    /// Returns the number of data packets sent.
    pub(crate) fn sent_pkts(&self) -> u64 {
        self.tcb.sent_pkts()
    }

    /// Returns the sender's counters up to `now`, without the receiver's.
    pub(crate) fn counters(&mut self, now: Time) -> FlowCounters {
        self.tcb.counters(now)
    }

    /// Returns the smallest and the largest round-trip sample since the last call, and restarts the record of both.
    /// Both are zero if there was no sample.
    pub(crate) fn restart_extremes(&mut self) -> (Span, Span) {
        self.tcb.trips.restart_extremes()
    }

    /// Returns the sender's state for the time series, without the values of the receiver.
    pub(crate) fn sample(&mut self, now: Time) -> FlowSample {
        let tcb = &mut self.tcb;
        FlowSample {
            time: now,
            flow: tcb.flow,
            cwnd: Some(tcb.congestion.window.cwnd()),
            ssthresh: Some(tcb.congestion.window.ssthresh()),
            srtt: tcb.srtt(),
            in_flight: with_recovery!(self, recovery => recovery.in_flight(tcb)),
            sent_pkts: tcb.sent_pkts(),
            retransmitted_pkts: tcb.counters.retransmitted_pkts,
            delivered_bytes: 0,
            in_order_bytes: 0,
        }
    }

    /// Returns the mapping of segment numbers to sequence numbers.
    pub(crate) fn wire(&self) -> Wire<'_> {
        Wire::new(&self.tcb.config)
    }
}

/// Processes an acknowledgement on the fast path ([`super::regular`]). The function is compiled for each loss recovery
/// algorithm; the algorithm is thus selected only once per acknowledgement.
#[inline(never)]
fn process_regular_ack(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    packet: &Packet,
    env: &mut impl Environment,
) {
    process_ack::<true>(tcb, recovery, packet, env);
}

/// Processes an acknowledgement that cannot take the fast path.
#[inline(never)]
fn process_any_ack(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    packet: &Packet,
    env: &mut impl Environment,
) {
    tcb.leave_plain();
    process_ack::<false>(tcb, recovery, packet, env);
    // An acknowledgement with options in the store is not regular, and neither is the next one: SACK ranges report
    // missing segments, and counts of marks and headers of routers are in every acknowledgement.
    if packet.sack.is_by_value() {
        tcb.survey(|| recovery.is_open());
    }
}

#[inline(always)]
fn process_ack<const REGULAR: bool>(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    packet: &Packet,
    env: &mut impl Environment,
) {
    let options;
    let mut ack = Ack {
        next: packet.seq,
        sack: if REGULAR || packet.sack.is_none() {
            &SackOption::NONE
        } else {
            options = tcb.process_options(packet.sack, env);
            &options
        },
        options: packet.sack,
        flags: packet.flags,
        stamp: packet.stamp,
        in_recovery: unusual::<REGULAR>(recovery.in_recovery(tcb)),
        delivered: tcb.delivered,
    };
    if !REGULAR && let Some(count) = ack.sack.marks() {
        // An increase of the count has the same effect as an ECN echo.
        ack.flags = ack.flags.with_if(Flags::ECE, tcb.count_marks(count) > 0);
    }
    tcb.integrate_cwnd::<REGULAR>(env.now());
    let echoes = unusual::<REGULAR>(ack.ece()) && tcb.established && ack.next >= tcb.una;
    let base = if echoes { tcb.window_in_use(0.0) } else { 0.0 };
    // DCTCP counts an echo before it responds (RFC 8257 section 3.3).
    let counts_first = tcb.config.ecn == Ecn::Dctcp;
    if echoes && !counts_first {
        answer_mark(tcb, recovery, (ack, base), env);
    }
    let burst = if usual::<REGULAR>(tcb.established) {
        recovery.on_ack::<REGULAR>(tcb, ack, env)
    } else {
        tcb.establish(ack, env);
        Some(u32::MAX)
    };
    if echoes && counts_first {
        answer_mark(tcb, recovery, (ack, base), env);
    }
    if let Some(limit) = burst {
        if REGULAR && tcb.sends_plainly() {
            send_as::<true, true>(tcb, recovery, limit, false, env);
        } else if REGULAR {
            send_paced(tcb, recovery, limit, false, env);
        } else {
            send(tcb, recovery, limit, false, env);
        }
    }
    tcb.trace_ack(|| recovery.in_flight(tcb), env);
    if REGULAR {
        return;
    }
    tcb.check_finish(env);
    if packet.flags.has(Flags::FIN) {
        tcb.acknowledge_fin(env);
    }
}

/// Responds to a mark that an acknowledgement echoes; `base` is the window in use when the acknowledgement arrived.
#[cold]
fn answer_mark(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    (ack, base): (Ack, f64),
    env: &mut impl Environment,
) {
    let window = tcb.window();
    if tcb.on_ecn_echo(ack, base, env) {
        recovery.on_reduction_for_mark(tcb, window);
    }
}

/// Sends at most `burst` segments, as far as the window, the data and pacing allow. A random delay holds back the whole
/// burst, unless `released` is true.
#[inline(always)]
fn send(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    burst: u32,
    released: bool,
    env: &mut impl Environment,
) {
    send_as::<false, false>(tcb, recovery, burst, released, env);
}

/// Sends segments as [`send`] does, but is not inlined. Used for connections on the fast path that may be paced, and
/// for sending that is caused by a timer, a send event or the answer to a dummy segment.
#[inline(never)]
fn send_paced(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    burst: u32,
    released: bool,
    env: &mut impl Environment,
) {
    if tcb.is_plain() {
        send_as::<true, false>(tcb, recovery, burst, released, env);
    } else {
        send(tcb, recovery, burst, released, env);
    }
}

/// Sends segments as [`send`] does. `REGULAR` is true if acknowledgements may take the fast path; `FREELY` is true if
/// segments leave as soon as the window allows.
#[inline(always)]
fn send_as<const REGULAR: bool, const FREELY: bool>(
    tcb: &mut ControlBlock,
    recovery: &mut impl LossRecovery,
    burst: u32,
    released: bool,
    env: &mut impl Environment,
) {
    let mut left = burst;
    let (mut jitter, mut pacing) = (Span::ZERO, None);
    // With `REGULAR`, `FREELY` is true exactly if `sending` is `Freely`: no test is needed.
    if !FREELY && (REGULAR || tcb.sending != Sending::Freely) {
        left = burst.min(tcb.config.max_burst.unwrap_or(u32::MAX));
        match tcb.sending {
            Sending::Freely | Sending::AtOnce => {}
            Sending::InPairs => left = left.min(tcb.whole_pairs(recovery.in_flight(tcb))),
            Sending::Later => return tcb.hasten(env),
        }
        jitter = tcb.config.send_jitter;
        pacing = tcb.pacing(env.now());
    }
    let mut sent_new = false;
    let first = tcb.max_sent;
    while left > 0 {
        let Some(segment) = recovery.next::<REGULAR>(tcb) else {
            break;
        };
        if unusual::<FREELY>(jitter > Span::ZERO && !released) {
            let delay = tcb.stream.span(jitter);
            tcb.arm_send(env.now() + delay, env);
            break;
        }
        if let Some(pacing) = pacing
            && tcb.waits(pacing, env)
        {
            break;
        }
        sent_new |= usual::<REGULAR>(segment >= tcb.nxt);
        if tcb.leaves_plainly(segment) {
            tcb.transmit::<true>(segment, env);
        } else if REGULAR {
            tcb.transmit_cold(segment, env);
        } else {
            tcb.transmit::<false>(segment, env);
        }
        recovery.on_sent::<REGULAR>(tcb, segment, env);
        left -= 1;
    }
    recovery.after_sending::<REGULAR>(tcb, sent_new || FREELY, env);
    tcb.note_limit(first, env.now());
}
