//! The state of a connection's sending end that all schemes of loss repair share (RFC 9293 calls it
//! transmission control block), and what they do with it: round trips, the retransmission timer,
//! window reductions, ECN response and the sending of segments.

use std::sync::Arc;

use longhaul_congestion::{
    AckSample, Cause, Change, Congestion, CongestionControl, CongestionState, Controller, Limit,
    Phases, Timeout, Window,
};
use longhaul_units::{PS_PER_S, Span, Time};

use super::delivery_rate::DeliveryRate;
use super::rto::RttEstimator;
use super::wire::Wire;
use crate::config::{AckCounting, RttClock, Tcp};
use crate::measure::{self, EventKind, FlowCounters};
use crate::network::Path;
use crate::packet::{Flags, Packet, SackBlocks, SackHandle};
use crate::random::Stream;
use crate::schedule::{Event, LazyTimer};
use crate::transport::Env;

/// The last thing that moved the window down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastCut {
    None,
    Loss,
    Ecn,
    Timeout,
    /// A loss, whose recovery is over.
    Recovered,
}

/// An acknowledgement as the schemes see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    /// The next segment that the receiver expects.
    pub(super) next: u64,
    pub(super) sack: SackBlocks,
    /// ECN echo.
    pub(super) ece: bool,
    /// Time stamp that it echoes.
    pub(super) stamp: Time,
}

/// State that all schemes share.
#[derive(Debug)]
pub(super) struct ControlBlock {
    /// Index among the TCP connections.
    pub(super) index: u32,
    /// The flow's id in records.
    pub(super) flow: u32,
    path: Path,
    pub(super) config: Arc<Tcp>,
    full_bytes: u16,
    /// The ns-2 profiles differ from the RFCs in more than their numbers.
    ns2: bool,
    /// The oldest segment not acknowledged.
    pub(super) una: u64,
    /// The next segment to send; behind `max_sent` while a timeout's losses are sent again.
    pub(super) nxt: u64,
    /// One past the highest segment sent.
    pub(super) max_sent: u64,
    /// One past the last segment that the application has to send.
    pub(super) end: u64,
    pub(super) last_payload: u64,
    /// Segments that receive window and send buffer allow in flight.
    pub(super) peer_window: u64,
    pub(super) congestion: CongestionState,
    /// The algorithm holds the window at all times: the transport's own rules leave it alone.
    pub(super) holds_window: bool,
    /// Segments known to be delivered beyond the cumulative acknowledgement: selectively
    /// acknowledged, or one for each duplicate acknowledgement.
    pub(super) beyond: u64,
    /// Data segments known to be delivered so far.
    pub(super) delivered: u64,
    /// Data segments taken for lost so far.
    pub(super) lost: u64,
    /// Measures the delivery rate, for algorithms that ask for it.
    rate: Option<Box<DeliveryRate>>,
    /// A reduction covers the segments below this.
    pub(super) recover: u64,
    pub(super) dupacks: u32,
    pub(super) last_cut: LastCut,
    cwr_pending: bool,
    syn_lost: bool,
    pub(super) established: bool,
    pub(super) rtt: RttEstimator,
    pub(super) timer: LazyTimer,
    /// When the timer was last set to expire.
    pub(super) timeout_at: Time,
    /// Without time stamps: the segment that times the round trip, and when it was sent.
    timed: Option<(u64, Time)>,
    round: u64,
    round_end: u64,
    /// Whether a send event is pending, for jitter or pacing.
    pub(super) send_pending: bool,
    /// With pacing: when the next segment may leave.
    pace_next: Time,
    pub(super) stream: Stream,
    pub(super) counters: FlowCounters,
    pub(super) limit: Limit,
    pub(super) limit_since: Time,
    pub(super) cwnd_since: Time,
    pub(super) finish: Option<Time>,
}

impl ControlBlock {
    pub(super) fn new(
        index: u32,
        flow: u32,
        path: Path,
        config: Arc<Tcp>,
        controller: Controller,
        mut stream: Stream,
    ) -> Self {
        let peer_window = config
            .receive_window
            .min(config.send_buffer.unwrap_or(u64::MAX));
        let ssthresh = config
            .initial_ssthresh
            .unwrap_or(config.receive_window as f64);
        let window = Window::new(
            config.initial_window,
            config.slow_start.initial_ssthresh(ssthresh),
            f64::INFINITY,
            config.rounding,
        );
        let rtt = RttEstimator::new(config.rto, tick_phase(&config, &mut stream));
        let wire = Wire::new(&config);
        let (end, last_payload) = (wire.end(), wire.last_payload());
        let full_bytes = config.mss_bytes + config.header_bytes + config.timestamps.unwrap_or(0);
        Self {
            index,
            flow,
            path,
            full_bytes: full_bytes as u16,
            ns2: config.recovery.is_ns2(),
            una: 0,
            nxt: 0,
            max_sent: 0,
            end,
            last_payload,
            peer_window,
            holds_window: controller.phases() == Phases::All,
            beyond: 0,
            delivered: 0,
            lost: 0,
            rate: controller.needs().delivery_rate.then(Box::default),
            congestion: CongestionState::new(window, config.slow_start, controller),
            recover: 1,
            dupacks: 0,
            last_cut: LastCut::None,
            cwr_pending: false,
            syn_lost: false,
            established: false,
            rtt,
            timer: LazyTimer::IDLE,
            timeout_at: Time::NEVER,
            timed: None,
            round: 0,
            round_end: 1,
            send_pending: false,
            pace_next: Time::ZERO,
            stream,
            counters: FlowCounters::default(),
            limit: Limit::Application,
            limit_since: Time::ZERO,
            cwnd_since: Time::ZERO,
            finish: None,
            config,
        }
    }

    /// ns-2 resets all agents when a run begins, which draws the phases of their clocks once more.
    pub(super) fn reset_clock(&mut self) {
        let phase = tick_phase(&self.config, &mut self.stream);
        self.rtt = RttEstimator::new(self.config.rto, phase);
    }

    /// The SYN is acknowledged: the window opens to its initial size (RFC 5681 section 3.1: this
    /// acknowledgement does not make it grow).
    #[cold]
    pub(super) fn establish(&mut self, ack: &Ack, env: &mut Env) {
        self.established = true;
        self.advance(ack, env);
        // A SYN is shorter than a data segment: its round trip would pass for the path's least.
        self.rtt.replace_min_rtt();
        let initial = if self.syn_lost {
            1.0
        } else {
            self.config.initial_window
        };
        self.congestion.window.set_cwnd(initial, Change::Initial);
    }

    /// Segments that window and peer allow in flight: whole segments of the window.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        (self.congestion.window.cwnd() as u64).min(self.peer_window)
    }

    /// Takes a cumulative acknowledgement of new data: round trip, timer, round count.
    #[inline]
    pub(super) fn advance(&mut self, ack: &Ack, env: &mut Env) {
        let now = env.network.now;
        self.take_cumulative(ack.next);
        self.dupacks = 0;
        self.sample_rtt(ack, now);
        self.restart_or_stop_timer(env);
        if ack.next >= self.round_end {
            self.round += 1;
            self.round_end = self.max_sent;
            let sample = self.ack_sample(0, self.nxt - self.una, ack, now);
            self.congestion.on_round(&sample);
        }
    }

    /// Takes a cumulative acknowledgement inside a repair, after which time goes on as before.
    pub(super) fn advance_in_repair(&mut self, next: u64) {
        self.take_cumulative(next);
        self.stop_timing(next);
    }

    /// Everything below `next` is delivered. Of what the acknowledgement covers, all but the segment
    /// that was missing had been reported before.
    #[inline]
    fn take_cumulative(&mut self, next: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(self.una, next);
            rate.forget_below(next);
        }
        self.beyond = self
            .beyond
            .saturating_sub((next - self.una).saturating_sub(1));
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.count_delivered();
    }

    /// Takes a duplicate acknowledgement: a segment has arrived, which one is not known.
    pub(super) fn take_duplicate(&mut self) {
        self.dupacks += 1;
        self.beyond = (self.beyond + 1).min((self.max_sent - self.una).saturating_sub(1));
        self.count_delivered();
    }

    /// Takes selective acknowledgements, `total` of them in all: their news are reported one by one
    /// to [`Self::on_sacked`].
    pub(super) fn take_selective(&mut self, total: u64) {
        self.beyond = total;
        self.count_delivered();
    }

    /// The segments from `left` to `right` are selectively acknowledged.
    #[inline]
    pub(super) fn on_sacked(&mut self, left: u64, right: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(left, right);
        }
    }

    /// Everything in flight counts as lost.
    pub(super) fn lose_flight(&mut self) {
        self.lost += (self.nxt - self.una).saturating_sub(self.beyond);
    }

    /// Never decreases: what a scheme forgets after a timeout was delivered all the same.
    #[inline]
    fn count_delivered(&mut self) {
        self.delivered = self.delivered.max(self.una - 1 + self.beyond);
    }

    #[inline]
    fn sample_rtt(&mut self, ack: &Ack, now: Time) {
        if self.config.timestamps.is_some() {
            self.take_rtt(ack.stamp, now);
            self.rtt.end_backoff();
        } else if let Some((segment, sent)) = self.timed
            && ack.next > segment
        {
            self.timed = None;
            self.rtt.end_backoff();
            self.take_rtt(sent, now);
        }
    }

    #[inline]
    fn take_rtt(&mut self, sent: Time, now: Time) {
        let rtt = self.rtt.sample(sent, now);
        let counters = &mut self.counters;
        counters.rtt_samples += 1;
        counters.rtt_sum += rtt;
        counters.rtt_max = counters.rtt_max.max(rtt);
        if rtt < counters.rtt_min || counters.rtt_min == Span::ZERO {
            counters.rtt_min = rtt;
        }
    }

    /// Ends the timing of the current segment (Karn's rule) and the backoff if it was acknowledged.
    fn stop_timing(&mut self, acknowledged: u64) {
        if self
            .timed
            .is_some_and(|(segment, _)| acknowledged > segment)
        {
            self.timed = None;
            self.rtt.end_backoff();
        }
    }

    /// Restarts the retransmission timer.
    #[inline]
    pub(super) fn restart_timer(&mut self, env: &mut Env) {
        self.timeout_at = env.network.now + self.rtt.timeout();
        let event = Event::RetransmissionTimer(self.index);
        self.timer
            .set(self.timeout_at, &mut env.network.schedule, event);
    }

    /// Restarts the timer while anything is outstanding (RFC 6298 section 5.2 and 5.3).
    #[inline]
    pub(super) fn restart_or_stop_timer(&mut self, env: &mut Env) {
        if self.una < self.max_sent {
            self.restart_timer(env);
        } else {
            self.timer.cancel();
        }
    }

    /// Restarts the timer for a repair, and gives up timing the round trip (Karn's rule).
    pub(super) fn restart_timer_for_repair(&mut self, env: &mut Env) {
        self.restart_timer(env);
        self.timed = None;
    }

    /// Reports newly delivered segments to the algorithm: `acked` of them by the cumulative
    /// acknowledgement. Comes before anything that moves the window.
    #[inline]
    pub(super) fn observe(
        &mut self,
        ack: &Ack,
        acked: u64,
        in_flight: u64,
        now: Time,
    ) -> AckSample {
        let mut sample = self.ack_sample(acked, in_flight, ack, now);
        if let Some(rate) = &mut self.rate
            && let Some((rate, limit)) = rate.sample(self.delivered, self.rtt.min_rtt(), now)
        {
            sample.delivery_rate = Some(rate);
            sample.limit = limit;
        }
        self.congestion.observe(&sample);
        sample
    }

    /// Grows the window for an acknowledgement of new segments.
    #[inline]
    pub(super) fn grow(&mut self, sample: &AckSample) {
        // RFC 3168 section 6.1.2: no growth on acknowledgements that echo congestion. A window that
        // does not limit the sender says nothing about the path (RFC 7661); ns-2 grows it anyway.
        // What a timeout left to send again is limited by the window even without new data.
        let unused = self.limit != Limit::Network && !self.ns2;
        let held = (sample.ecn_echo || unused) && !self.repairs_timeout();
        if self.holds_window || !held {
            self.congestion.on_ack(sample);
        }
    }

    /// Hands an acknowledgement inside a recovery to algorithms that hold the window there too.
    pub(super) fn steer(&mut self, sample: &AckSample) {
        self.congestion.on_ack(&AckSample {
            in_recovery: true,
            ..*sample
        });
    }

    /// Whether what was in flight at a timeout is being sent again. The receiver then goes on
    /// echoing congestion until the first new segment, which carries the answer (CWR, RFC 3168
    /// section 6.1.2): such echoes must not hold the window at one segment. ns-2 answers with any
    /// segment.
    #[inline]
    fn repairs_timeout(&self) -> bool {
        !self.ns2 && self.last_cut == LastCut::Timeout && self.una < self.recover
    }

    #[inline]
    fn ack_sample(&self, acked: u64, in_flight: u64, ack: &Ack, now: Time) -> AckSample {
        let credit = match self.config.ack_counting {
            AckCounting::PerAck => 1.0,
            AckCounting::PerSegment { slow_start_limit } => {
                if self.congestion.window.in_slow_start() {
                    (acked as f64).min(slow_start_limit)
                } else {
                    acked as f64
                }
            }
        };
        AckSample {
            now,
            acked,
            delivered: self.delivered,
            lost: self.lost,
            in_recovery: false,
            credit,
            rtt: self.config.timestamps.map(|_| now.since(ack.stamp)),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            one_way_delay: ack.sack.transit(),
            pair_spacing: None,
            router: None,
            ecn_echo: ack.ece,
            in_flight,
            delivery_rate: None,
            limit: self.limit,
            round: self.round,
            segment_bytes: u64::from(self.full_bytes),
        }
    }

    /// An echoed congestion mark: reduces once per window of data (RFC 3168 section 6.1.2, RFC 8257
    /// section 3.3). `base` is the window in use when it arrived.
    #[cold]
    pub(super) fn on_ecn_echo(&mut self, ack: &Ack, base: f64, env: &mut Env) {
        let ns2_after_timeout = self.ns2 && self.last_cut == LastCut::Timeout;
        if ack.next > self.recover || ns2_after_timeout {
            self.cut(Cause::Ecn, base, env);
        }
    }

    /// The window in use, which reductions apply to. `inflation` is what the scheme allows above the
    /// window at the moment.
    pub(super) fn window_in_use(&self, inflation: f64) -> f64 {
        let cwnd = self.congestion.window.cwnd();
        if self.ns2 {
            (cwnd + inflation).min(self.peer_window as f64)
        } else {
            cwnd.min(self.flight_size())
        }
    }

    /// Reduces the window once for a loss of data sent so far.
    pub(super) fn reduce(&mut self, inflation: f64, env: &mut Env) {
        self.cut(Cause::Loss, self.window_in_use(inflation), env);
    }

    fn cut(&mut self, cause: Cause, base: f64, env: &mut Env) {
        let window = &self.congestion.window;
        let before = window.cwnd();
        let event = Congestion {
            now: env.network.now,
            cause,
            base,
            in_flight: self.max_sent - self.una,
            in_slow_start: window.in_slow_start(),
            first: self.counters.cuts_loss + self.counters.cuts_ecn + self.counters.timeouts == 0,
        };
        self.recover = self.max_sent;
        self.cwr_pending = true;
        self.congestion.on_congestion(&event);
        if cause == Cause::Ecn {
            self.counters.cuts_ecn += 1;
            self.last_cut = LastCut::Ecn;
        } else {
            self.counters.cuts_loss += 1;
            self.last_cut = LastCut::Loss;
        }
        self.log(EventKind::Cut(cause), before, env);
    }

    /// Reduces for a loss, unless an ECN reduction already covers this window of data (RFC 3168
    /// section 6.1.2).
    pub(super) fn reduce_for_loss(&mut self, env: &mut Env) {
        if self.last_cut == LastCut::Ecn && self.una <= self.recover {
            self.last_cut = LastCut::Loss;
        } else {
            self.reduce(0.0, env);
        }
    }

    /// Tells controller and log that a repair is complete.
    pub(super) fn end_recovery(&mut self, env: &mut Env) {
        let before = self.congestion.window.cwnd();
        self.congestion.on_recovery_exit(env.network.now);
        self.log(EventKind::RecoveryExit, before, env);
    }

    /// Data sent and not cumulatively acknowledged (RFC 5681 section 2).
    fn flight_size(&self) -> f64 {
        (self.max_sent - self.una).max(1) as f64
    }

    /// The timer expired: restart from one segment, with all outstanding data to be sent again.
    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.una == 0 {
            self.syn_lost = true;
        }
        let cwnd = self.congestion.window.cwnd();
        let keep_ssthresh = if self.ns2 {
            self.last_cut == LastCut::Ecn
        } else {
            self.last_cut == LastCut::Timeout || !self.established
        };
        let base = match (self.established, self.ns2) {
            (false, _) => 1.0,
            (true, true) => cwnd.min(self.peer_window as f64),
            (true, false) => cwnd.min(self.flight_size()),
        };
        self.congestion.on_timeout(&Timeout {
            now,
            base,
            keep_ssthresh,
        });
        self.counters.timeouts += 1;
        self.last_cut = LastCut::Timeout;
        self.recover = self.max_sent;
        self.dupacks = 0;
        self.cwr_pending = true;
        self.timed = None;
        self.rtt.back_off();
    }

    /// Sends a segment.
    #[inline]
    pub(super) fn transmit(&mut self, segment: u64, env: &mut Env) {
        let now = env.network.now;
        let is_new = segment >= self.max_sent;
        let nothing_outstanding = self.una == self.max_sent;
        let bytes = self.wire_bytes(segment);
        let mut flags = Flags::NONE;
        if segment == 0 {
            flags = Flags::SYN;
        } else {
            self.counters.sent_pkts += 1;
            self.counters.sent_bytes += u64::from(bytes);
            if self.config.ecn.is_on() && (is_new || self.ns2) {
                // RFC 3168 section 6.1.5 keeps marks off retransmissions; ns-2 does not.
                flags = Flags::ECT.with_if(Flags::CWR, self.cwr_pending);
                self.cwr_pending = false;
            }
            flags = flags.with_if(Flags::FIN, segment + 1 == self.end);
        }
        if let Some(rate) = &mut self.rate {
            rate.on_sent(segment, self.delivered, nothing_outstanding, now);
        }
        if is_new {
            self.max_sent = segment + 1;
            if self.timed.is_none() {
                self.timed = Some((segment, now));
            }
        } else if segment > 0 {
            self.counters.retransmitted_pkts += 1;
        }
        env.network.send(Packet {
            time: now,
            ns2_s: 0.0,
            seq: segment,
            stamp: now,
            flow: self.index,
            route: self.path.route,
            sack: SackHandle::NONE,
            bytes,
            flags,
        });
        if nothing_outstanding || !self.timer.is_set() {
            self.restart_timer(env);
        }
    }

    #[inline]
    fn wire_bytes(&self, segment: u64) -> u16 {
        if segment == 0 {
            let options = self.config.timestamps.unwrap_or(0);
            return (self.config.ack_bytes + options) as u16;
        }
        let missing = u64::from(self.config.mss_bytes) - self.last_payload;
        if segment + 1 == self.end {
            self.full_bytes - missing as u16
        } else {
            self.full_bytes
        }
    }

    /// With pacing: whether the next segment has to wait; if so its send event is armed, otherwise
    /// the gap to the one after it is reserved. An algorithm that gives a rate always paces.
    #[inline]
    pub(super) fn paced(&mut self, env: &mut Env) -> bool {
        let now = env.network.now;
        if now < self.pace_next {
            self.arm_send(self.pace_next, env);
            return true;
        }
        let gap = match self.congestion.pacing_rate() {
            Some(rate) => rate.transmission(u64::from(self.full_bytes)).0,
            None if self.config.pacing => {
                // The window over the round trip, as RFC 9002 section 7.7 without its factor.
                let cwnd = self.congestion.window.cwnd();
                Span::from_ps((self.rtt.srtt().as_ps() as f64 / cwnd) as u64)
            }
            None => return false,
        };
        self.pace_next = now + gap;
        false
    }

    pub(super) fn arm_send(&mut self, at: Time, env: &mut Env) {
        self.send_pending = true;
        env.network.schedule.push_near(at, Event::Send(self.index));
    }

    /// Notes what keeps the sender from sending more.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Time) {
        let limit = if self.nxt >= self.end {
            Limit::Application
        } else if self.nxt >= self.una + self.peer_window {
            Limit::ReceiveWindow
        } else {
            Limit::Network
        };
        if limit != self.limit {
            self.charge_limit(now);
            self.limit = limit;
        }
        if limit != Limit::Network
            && let Some(rate) = &mut self.rate
        {
            let in_flight = (self.nxt - self.una).saturating_sub(self.beyond);
            rate.note_limit(limit, self.delivered + in_flight);
        }
    }

    pub(super) fn charge_limit(&mut self, now: Time) {
        let span = now.since(self.limit_since);
        self.limit_since = now;
        if !self.running() {
            return;
        }
        let limited = &mut self.counters.limited;
        match self.limit {
            Limit::Network => limited.network += span,
            Limit::ReceiveWindow => limited.receive_window += span,
            Limit::Application => limited.application += span,
        }
    }

    /// Whether the flow has started and not finished.
    fn running(&self) -> bool {
        self.max_sent > 0 && self.finish.is_none()
    }

    /// Adds the time since the last change to the integral of the window.
    #[inline]
    pub(super) fn account(&mut self, now: Time) {
        if self.running() {
            let span = now.since(self.cwnd_since).as_ps() as f64 / PS_PER_S as f64;
            self.counters.cwnd_integral += self.congestion.window.cwnd() * span;
        }
        self.cwnd_since = now;
    }

    #[inline]
    pub(super) fn check_finish(&mut self, env: &mut Env) {
        if self.una >= self.end && self.finish.is_none() {
            self.charge_limit(env.network.now);
            self.finish = Some(env.network.now);
            self.log(EventKind::Finish, self.congestion.window.cwnd(), env);
        }
    }

    /// Logs a congestion event; `before` is the window before it.
    pub(super) fn log(&self, kind: EventKind, before: f64, env: &mut Env) {
        let window = &self.congestion.window;
        env.log.push(measure::Event {
            time: env.network.now,
            flow: self.flow,
            kind,
            cwnd_before: before,
            cwnd_after: window.cwnd(),
            ssthresh_after: window.ssthresh(),
            in_flight: self.max_sent - self.una,
        });
    }
}

/// Where in a tick the clock of a connection begins.
fn tick_phase(config: &Tcp, stream: &mut Stream) -> Span {
    match config.rto.clock {
        RttClock::Exact { .. } => Span::ZERO,
        RttClock::Ns2Ticks { tick } => stream.span(tick),
    }
}
