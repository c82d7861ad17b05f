//! Transmission of segments, their pacing, and the retransmission timer.

use longhaul_congestion::{Load, RouterRequest};
use longhaul_units::{Rate, Span, Time};

use super::{ControlBlock, Sending};
use crate::config::{self, PacedBursts};
use crate::network::Path;
use crate::packet::{Flags, Packet, SackHandle, XcpHeader};
use crate::schedule::Event;
use crate::schedule::timers::Kind;
use crate::transport::Environment;
use crate::transport::tcp::delivery_rate::DeliveryRate;
use crate::transport::tcp::dummies::DummyTrain;
use crate::transport::tcp::regular::{unusual, usual};

/// Factor by which the pacing rate must rise for the waiting segment to be rescheduled. After a smaller change, the
/// segment leaves at the time given by the former rate.
const RATE_JUMP: u64 = 2;

/// State of pacing. Each segment, even a short one, reserves the interval that a full segment takes at the pacing rate.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// End of the interval that the last segment has reserved.
    next: Time,
    /// Maximum time by which a segment may leave before `next`: `n - 1` intervals, for bursts of `n` segments.
    ahead: Span,
    /// Length of the time interval that the last segment has reserved.
    given: Span,
    /// Time of the pending send event.
    due: Time,
    /// The last pacing rate. The interval `gap` of a full segment at this rate is computed only when the rate changes.
    rate: Option<Rate>,
    gap: Span,
}

/// Limits that pacing sets for segments to be sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    /// Interval per segment at the pacing rate.
    gap: Span,
    /// The next segment may leave now if the pacing interval of the previous segment ends at or before this time.
    latest: Time,
}

impl Pace {
    #[inline]
    fn gap(&mut self, rate: Rate, bytes: u16) -> Span {
        if self.rate != Some(rate) {
            self.rate = Some(rate);
            self.gap = rate.transmission(bytes.into()).0;
        }
        self.gap
    }
}

impl ControlBlock {
    /// Sends a segment.
    #[inline(always)]
    pub(crate) fn transmit<const PLAIN: bool>(&mut self, segment: u64, env: &mut impl Environment) {
        let now = env.now();
        let is_new = usual::<PLAIN>(segment >= self.max_sent);
        let nothing_outstanding = unusual::<PLAIN>(self.una == self.max_sent);
        let bytes = self.wire_bytes::<PLAIN>(segment);
        if !PLAIN {
            self.last_sent = now;
        }
        let mut flags = Flags::NONE;
        if unusual::<PLAIN>(segment == 0) {
            flags = Flags::SYN;
        } else {
            let accurate = !PLAIN && self.config.ecn == config::Ecn::Accurate;
            let is_capable = is_new || self.ns2 || accurate;
            if self.config.ecn.is_on() && is_capable && (PLAIN || self.holds_data(segment)) {
                // Retransmissions are not ECN-capable (RFC 3168 section 6.1.5), except those of ns-2 and of AccECN.
                flags = Flags::ECT.with_if(Flags::CWR, unusual::<PLAIN>(self.cwr_pending));
                self.cwr_pending = false;
            }
            flags = flags.with_if(Flags::FIN, unusual::<PLAIN>(segment == self.fin));
        }
        let mut sack = SackHandle::NONE;
        if self.extras.is_some() {
            (flags, sack) = self.equip(segment, flags, env);
        }
        if is_new {
            self.max_sent = segment + 1;
            if self.timed_since == Time::NEVER {
                (self.timed, self.timed_since) = (segment, now);
            }
        } else {
            self.count_retransmission(segment);
        }
        env.send(Packet {
            time: now,
            ns2_s: 0.0,
            seq: segment,
            stamp: now,
            flow: self.index,
            route: self.path.route,
            sack,
            bytes,
            flags,
        });
        if nothing_outstanding || unusual::<PLAIN>(!self.timer.is_set()) {
            self.restart_timer(env);
        }
    }

    /// Counts a retransmitted segment, if it holds data.
    fn count_retransmission(&mut self, segment: u64) {
        let payload = self.payload_bytes(segment);
        self.counters.retransmitted_pkts += u64::from(payload > 0);
        self.retransmitted_bytes += payload;
    }

    /// Prepares a segment for its departure, if the algorithm needs extras ([`super::super::extras`]). Returns the
    /// segment's flags and options.
    #[inline(never)]
    fn equip(
        &mut self,
        segment: u64,
        flags: Flags,
        env: &mut impl Environment,
    ) -> (Flags, SackHandle) {
        // This function makes tail calls only, so that it need not save registers.
        let Some(extras) = &mut self.extras else {
            return (flags, SackHandle::NONE);
        };
        let l4s = extras.asks_for_l4s && flags.has(Flags::ECT);
        let flags = flags.with_if(Flags::ECT1, l4s);
        if !extras.marks_segments
            && let Some(rate) = &mut extras.rate
        {
            if rate.goes_on(segment, self.delivered, env.now()) {
                return (flags, SackHandle::NONE);
            }
            return self.begin_burst(segment, flags, env);
        }
        self.mark(segment, flags, env)
    }

    /// Records a segment other than the SYN for the estimation of the delivery rate, if the algorithm needs it. Returns
    /// the flags and options to send with the segment: `flags` unchanged, and no options.
    #[inline(never)]
    fn begin_burst(
        &mut self,
        segment: u64,
        flags: Flags,
        env: &mut impl Environment,
    ) -> (Flags, SackHandle) {
        let alone = self.una == self.max_sent;
        let delivered = self.delivered;
        if segment > 0
            && let Some(rate) = self.rate()
        {
            rate.on_sent(segment, delivered, alone, env.now());
        }
        (flags, SackHandle::NONE)
    }

    /// Prepares a segment for its departure, and returns its flags and options, with a request to routers if the
    /// algorithm makes one. Records the send time if the connection times all segments or sends packet pairs.
    #[inline(never)]
    fn mark(
        &mut self,
        segment: u64,
        flags: Flags,
        env: &mut impl Environment,
    ) -> (Flags, SackHandle) {
        let bare = self.begin_burst(segment, flags, env);
        let Some(extras) = &mut self.extras else {
            return bare;
        };
        if segment == 0 {
            return bare;
        }
        let is_new = segment >= self.max_sent;
        if let Some(times) = &mut extras.times {
            times.on_sent(segment, is_new, env.now());
        }
        if let Some(pairs) = &mut extras.pairs {
            pairs.on_sent(segment, is_new, env.now());
        }
        if !extras.asks_routers {
            return bare;
        }
        match self.congestion.router_request(self.srtt()) {
            None => bare,
            Some(RouterRequest::Vcp) => (flags.with_load(Load::Low), SackHandle::NONE),
            Some(RouterRequest::Xcp { cwnd, rtt, change }) => {
                let header = XcpHeader {
                    rtt_s: rtt.as_secs_f64(),
                    spacing_s: rtt.as_secs_f64() / cwnd,
                    change: change * f64::from(self.full_bytes),
                    granted: false,
                };
                (flags, env.options().put_header(header, SackHandle::NONE))
            }
        }
    }

    /// Returns a mutable reference to the meter of the delivery rate, if the algorithm needs it.
    #[inline]
    pub(super) fn rate(&mut self) -> Option<&mut DeliveryRate> {
        self.extras.as_mut()?.rate.as_mut()
    }

    /// Sends a segment outside the fast path: the SYN, one that loss recovery has chosen, or one that must not leave
    /// plainly ([`Self::leaves_plainly`]). Not inlined, since this is rare.
    #[cold]
    pub(crate) fn transmit_cold(&mut self, segment: u64, env: &mut impl Environment) {
        self.transmit::<false>(segment, env);
    }

    /// Acknowledges the FIN of the receiver. The receiver closes after the last segment of a transfer (RFC 9293 section
    /// 3.6). Does nothing without a configured transfer size, and for ns-2's one-way agents, which have no FIN.
    #[cold]
    pub(crate) fn acknowledge_fin(&self, env: &mut impl Environment) {
        if self.ns2 || self.config.transfer.is_none() {
            return;
        }
        env.send(Packet {
            time: env.now(),
            ns2_s: 0.0,
            seq: 0,
            stamp: env.now(),
            flow: self.index,
            route: self.path.route,
            sack: SackHandle::NONE,
            bytes: self.wire_bytes::<false>(0),
            flags: Flags::ACK,
        });
    }

    #[inline]
    fn wire_bytes<const PLAIN: bool>(&self, segment: u64) -> u16 {
        if unusual::<PLAIN>(segment == 0) {
            let options = self.config.timestamps.bytes().unwrap_or(0);
            return (self.config.ack_bytes + options) as u16;
        }
        if unusual::<PLAIN>(segment >= self.short.first()) {
            self.full_bytes - self.short.missing_in(segment)
        } else {
            self.full_bytes
        }
    }

    /// Returns the pacing of segments that could leave now; `None` if the connection is not paced, or not yet
    /// (`after` of [`config::Pacing`]). If the algorithm sets a rate, the connection is always paced.
    #[inline(always)]
    pub(crate) fn pacing(&mut self, now: Time) -> Option<Pacing> {
        if let Some(rate) = self.congestion.pacing_rate() {
            return Some(self.pacing_at_rate(rate, now));
        }
        self.config
            .pacing
            .filter(|pacing| self.max_sent > pacing.after.into())
            .map(|gains| self.pacing_by_window(gains, now))
    }

    #[inline(never)]
    fn pacing_at_rate(&mut self, rate: Rate, now: Time) -> Pacing {
        let gap = self.pace.gap(rate, self.full_bytes);
        let quantum = self.congestion.send_quantum();
        self.pacing_with(gap, quantum, now)
    }

    /// Returns the pacing at a gain times the window divided by the smoothed round-trip time (RFC 9002 section 7.7;
    /// Linux, `tcp_update_pacing_rate`).
    #[cold]
    fn pacing_by_window(&mut self, gains: config::Pacing, now: Time) -> Pacing {
        let window = &self.congestion.window;
        let gain = if window.cwnd() < window.ssthresh() / 2.0 {
            gains.slow_start
        } else {
            gains.avoidance
        };
        let rate = gain * window.cwnd();
        let gap = Span::from_ps((self.srtt().as_ps() as f64 / rate) as u64);
        let in_time = gains.burst_time.as_ps() / gap.as_ps().max(1);
        self.pacing_with(gap, in_time.max(gains.min_burst.into()), now)
    }

    /// Returns the pacing for an interval of `gap` per segment; up to `quantum` segments may leave together.
    #[inline]
    fn pacing_with(&mut self, gap: Span, quantum: u64, now: Time) -> Pacing {
        if self.config.paced_bursts == PacedBursts::Linux {
            return self.pacing_by_bursts(gap, quantum, now);
        }
        if self.pace.next <= now {
            self.pace.next = now;
            self.pace.ahead = gap * (quantum - 1);
        }
        let latest = now + self.pace.ahead;
        Pacing { gap, latest }
    }

    /// Returns the pacing by Linux's rule: a burst begins when the intervals of all earlier segments are over. After a
    /// pause, the intervals of the next burst are shortened, at most by half.
    #[inline(never)]
    fn pacing_by_bursts(&mut self, gap: Span, quantum: u64, now: Time) -> Pacing {
        if self.pace.next > now {
            return Pacing {
                gap,
                latest: Time::ZERO,
            };
        }
        let pause = now.since(self.pace.next);
        let gap = Span::from_ps(gap.as_ps() - (gap / 2).min(pause / quantum).as_ps());
        self.pace.next = now;
        Pacing {
            gap,
            latest: now + gap * (quantum - 1),
        }
    }

    /// Returns true if pacing delays the next segment, and schedules its departure. Otherwise reserves a pacing
    /// interval for this segment.
    #[inline(always)]
    pub(crate) fn waits(&mut self, pacing: Pacing, env: &mut impl Environment) -> bool {
        if self.pace.next > pacing.latest {
            self.arm_send(self.pace.next, env);
            return true;
        }
        self.pace.next += pacing.gap;
        self.pace.given = pacing.gap;
        false
    }

    #[inline(never)]
    pub(crate) fn arm_send(&mut self, at: Time, env: &mut impl Environment) {
        self.sending = Sending::Later;
        self.pace.due = at;
        env.schedule().push_timer(at, Event::Send(self.index));
    }

    /// Reschedules a waiting segment if the pacing rate has jumped: the remaining wait is divided by the ratio of the
    /// rates (quinn, `Pacer::delay`). Linux instead keeps the departure time that was fixed when the last segment left
    /// (`tcp_update_skb_after_send`).
    #[inline(never)]
    pub(crate) fn hasten(&mut self, env: &mut impl Environment) {
        let now = env.now();
        let paced = self.pace.due == self.pace.next && self.pace.next > now;
        if !paced || self.config.paced_bursts == PacedBursts::Linux {
            return;
        }
        let gap = self.pacing(now).map_or(Span::ZERO, |pacing| pacing.gap);
        if gap * RATE_JUMP <= self.pace.given {
            let part = gap.as_ps() as f64 / self.pace.given.as_ps() as f64;
            let left = self.pace.next.since(now).as_ps() as f64 * part;
            self.pace.next = now + Span::from_ps(left as u64);
            self.pace.given = gap;
            self.arm_send(self.pace.next, env);
        }
    }

    /// Ends a random delay or a pacing gap at its send event. Returns false if another event has replaced this one.
    pub(crate) fn end_wait(&mut self, now: Time) -> bool {
        let is_due = self.sending == Sending::Later && self.pace.due == now;
        if is_due {
            self.sending = Sending::after_wait(&self.congestion);
        }
        is_due
    }

    /// Returns the number of segments that may leave, rounded down to whole pairs. If nothing is in flight, at least
    /// one segment may leave, since the window may be one segment.
    #[cold]
    pub(crate) fn whole_pairs(&self, in_flight: u64) -> u32 {
        let room = self.window().saturating_sub(in_flight);
        let paired = room - room % 2;
        let least = u64::from(in_flight == 0);
        u32::try_from(paired.max(least)).unwrap_or(u32::MAX)
    }

    /// Sets the path of the dummy segments that the algorithm may request.
    pub(crate) fn send_dummies_along(&mut self, path: Path) {
        if let Some(extras) = &mut self.extras {
            extras.dummies = Some(DummyTrain::new(path));
        }
    }

    /// Begins to send the dummy segments that the algorithm requests, if any. They are spread over a round trip or,
    /// without a round-trip sample, over the timeout.
    pub(crate) fn begin_dummies(&mut self, env: &mut impl Environment) {
        // After a lost SYN there is no sample. Dummies sent at once would fill a short queue before each
        // retransmission.
        let rtt = match self.srtt() {
            Span::ZERO => self.rtt.timeout(),
            srtt => srtt,
        };
        let train = self
            .extras
            .as_mut()
            .and_then(|extras| extras.dummies.as_mut());
        let Some(train) = train else {
            return;
        };
        if let Some(dummies) = self.congestion.take_dummies(rtt, self.peer_window) {
            train.begin(dummies, self.index, env);
        }
    }

    /// Processes the event for the departure of a dummy segment.
    pub(crate) fn on_dummy_event(&mut self, env: &mut impl Environment) {
        let last = self.max_sent - 1;
        let bytes = self.wire_bytes::<false>(last);
        let train = self
            .extras
            .as_mut()
            .and_then(|extras| extras.dummies.as_mut());
        if let Some(train) = train {
            if self.finish != Time::NEVER {
                train.end();
            }
            train.on_event(self.index, last, bytes, env);
        }
    }

    /// Restarts the retransmission timer.
    #[inline]
    pub(crate) fn restart_timer(&mut self, env: &mut impl Environment) {
        let timeout_at = env.now() + self.rtt.timeout();
        let of = (Kind::Retransmission, self.index);
        self.timer.set(timeout_at, of, env.schedule());
    }

    /// Restarts the timer if anything is outstanding; otherwise stops it, and the connection is idle (RFC 6298 sections
    /// 5.2 and 5.3).
    #[inline(always)]
    pub(crate) fn restart_or_stop_timer<const REGULAR: bool>(
        &mut self,
        env: &mut impl Environment,
    ) {
        if usual::<REGULAR>(self.una < self.max_sent) {
            self.restart_timer(env);
        } else {
            self.stop_timer(env);
        }
    }

    /// Stops the timer. Not inlined: long flows almost always have something outstanding.
    #[cold]
    #[inline(never)]
    fn stop_timer(&mut self, env: &mut impl Environment) {
        self.idle_since = env.now();
        let of = (Kind::Retransmission, self.index);
        self.timer.stop(of, env.schedule());
    }

    /// Restarts the retransmission timer after a retransmission, and stops timing the round trip (Karn's rule).
    pub(crate) fn restart_timer_for_retransmission(&mut self, env: &mut impl Environment) {
        self.restart_timer(env);
        self.stop_timing();
    }
}
