//! One direction of a link: loss, queue, transmitter and propagation.
//!
//! A first-in first-out queue fixes a packet's departure when it arrives, so by default a link
//! computes it then and keeps one ring of all its packets, waiting, in service or propagating, in
//! order of their arrival at the far end. Explicit service takes an event per packet at the end of
//! its transmission. Both give the same results (tested).

mod ring;
mod transmitter;

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use self::ring::Ring;
use self::transmitter::Transmitter;
use super::loss::LossModel;
use super::ns2_clock::Ns2Clock;
use super::queue::{Arrival, DropReason, Queue, Verdict};
use crate::config::{Clock, Service};
use crate::measure::{LinkCounters, LinkSample};
use crate::packet::{Flags, Packet};
use crate::schedule::{Event, Schedule};

/// One direction of a link at work.
#[derive(Debug)]
pub(crate) struct Link {
    id: u32,
    service: Service,
    pub(crate) captured: bool,
    pub(crate) sampled: bool,
    delay: Span,
    transmitter: Transmitter,
    /// With [`Clock::Ns2`]: the same times as ns-2 computes them, which then count.
    ns2_clock: Option<Ns2Clock>,
    queue: Queue,
    loss: LossModel,
    /// Packets that have begun service and are not yet at the far end; with service on arrival
    /// also, behind them, those that wait.
    ring: Ring,
    /// With explicit service: packets at the front of the ring whose transmission has ended, and
    /// packets that wait.
    transmitted: usize,
    backlog: VecDeque<Packet>,
    waiting_pkts: u64,
    waiting_bytes: u64,
    /// When the first waiting packet begins service.
    next_start: Time,
    /// End of the last scheduled transmission; see [`Self::busy_until`].
    busy_until: Time,
    tally: Tally,
}

/// Counters of a link. A packet's departure may lie ahead of the counters' update; see
/// [`Link::counters`].
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    arrived_pkts: u64,
    arrived_bytes: u64,
    marked_pkts: u64,
    dropped: [u64; 4],
    dropped_bytes: u64,
    /// Total waiting time of all accepted packets, in picoseconds, the future part included.
    waits: u128,
    /// Sum of the service starts of the packets that wait, modulo 2^64: what is ahead in `waits`.
    starts_ahead: u64,
    queue_max: u64,
}

impl Tally {
    #[cold]
    fn count_drop(&mut self, reason: DropReason, bytes: u16) {
        self.dropped[reason as usize] += 1;
        self.dropped_bytes += u64::from(bytes);
    }
}

/// What became of a packet offered to a link.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) enum Offer {
    Accepted,
    /// Accepted, and the next to be handed on, at the time given.
    Leads(Time),
    Dropped,
}

impl Link {
    pub(crate) fn new(
        id: u32,
        config: &crate::config::Link,
        clock: Clock,
        queue: Queue,
        loss: LossModel,
    ) -> Self {
        let follows_ns2 = clock == Clock::Ns2 && config.service == Service::OnArrival;
        Self {
            id,
            service: config.service,
            captured: config.captured,
            sampled: config.sampled,
            delay: config.delay,
            transmitter: Transmitter::new(config.rate),
            ns2_clock: follows_ns2.then(|| Ns2Clock::new(config.rate, config.delay)),
            queue,
            loss,
            ring: Ring::default(),
            transmitted: 0,
            backlog: VecDeque::new(),
            waiting_pkts: 0,
            waiting_bytes: 0,
            next_start: Time::ZERO,
            busy_until: Time::ZERO,
            tally: Tally::default(),
        }
    }

    /// A packet reaches the near end of the link.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        mut packet: Packet,
        now: Time,
        schedule: &mut Schedule,
    ) -> Offer {
        self.tally.arrived_pkts += 1;
        self.tally.arrived_bytes += u64::from(packet.bytes);
        if self.service == Service::OnArrival {
            self.begin_services(now, packet.ns2_s);
        }
        let idle = self.is_idle_at(now, packet.ns2_s);
        match self.decide(&packet, now, idle) {
            Verdict::Accept => {}
            Verdict::AcceptMarked => {
                packet.flags = packet.flags.with(Flags::CE);
                self.tally.marked_pkts += 1;
            }
            Verdict::Drop(reason) => {
                self.tally.count_drop(reason, packet.bytes);
                return Offer::Dropped;
            }
        }
        match (self.service, idle) {
            (Service::OnArrival, _) => {
                let start = self.serve(&mut packet, now, idle);
                if !idle {
                    self.note_wait(start, now);
                }
                return self.pass(packet);
            }
            (Service::Explicit, true) => self.begin_service(packet, now, schedule),
            (Service::Explicit, false) => self.enqueue(packet, now),
        }
        Offer::Accepted
    }

    /// What becomes of a packet that arrives at `now`.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, now: Time, idle: bool) -> Verdict {
        if self.loss.loses() {
            return Verdict::Drop(DropReason::Loss);
        }
        self.queue.on_arrival(&Arrival {
            now,
            bytes: u32::from(packet.bytes),
            ecn_capable: packet.flags.has(Flags::ECT),
            waiting_pkts: self.waiting_pkts,
            waiting_bytes: self.waiting_bytes,
            idle_since: idle.then(|| self.busy_until()),
        })
    }

    /// End of the last scheduled transmission.
    #[inline]
    fn busy_until(&self) -> Time {
        match &self.ns2_clock {
            None => self.busy_until,
            Some(clock) => clock.busy_until(),
        }
    }

    /// Whether a packet that arrives then goes straight into service.
    #[inline]
    fn is_idle_at(&self, now: Time, ns2_s: f64) -> bool {
        match &self.ns2_clock {
            None => self.busy_until <= now,
            Some(clock) => clock.is_idle_at(ns2_s),
        }
    }

    /// Service on arrival: tells the packet when it arrives at the far end, and returns when its
    /// service begins.
    #[inline(always)]
    fn serve(&mut self, packet: &mut Packet, now: Time, idle: bool) -> Time {
        let start = if idle { now } else { self.busy_until() };
        match &mut self.ns2_clock {
            None => {
                self.busy_until = start + self.transmitter.time(packet.bytes);
                packet.time = self.busy_until + self.delay;
            }
            Some(clock) => packet.time = clock.serve(packet, self.waiting_pkts == 0),
        }
        if !idle {
            if self.waiting_pkts == 0 {
                self.next_start = start;
            }
            self.waiting_pkts += 1;
            self.waiting_bytes += u64::from(packet.bytes);
        }
        start
    }

    /// The packet just served waits from `now` until `start`.
    #[inline]
    fn note_wait(&mut self, start: Time, now: Time) {
        self.tally.queue_max = self.tally.queue_max.max(self.waiting_pkts);
        self.tally.waits += u128::from(start.since(now).as_ps());
        self.tally.starts_ahead = self.tally.starts_ahead.wrapping_add(start.as_ps());
    }

    /// Service on arrival: appends the packet, which knows its arrival at the far end, to the ring.
    #[inline(always)]
    fn pass(&mut self, packet: Packet) -> Offer {
        let leads = self.ring.is_through();
        self.ring.push(packet);
        if leads {
            Offer::Leads(packet.time)
        } else {
            Offer::Accepted
        }
    }

    /// Service on arrival: moves packets whose service has begun by `now` out of the waiting ones.
    #[inline]
    fn begin_services(&mut self, now: Time, ns2_s: f64) {
        while self.waiting_pkts > 0 {
            let begun = match &self.ns2_clock {
                None => self.next_start <= now,
                Some(clock) => clock.has_begun_by(ns2_s),
            };
            if !begun {
                break;
            }
            self.note_start();
        }
    }

    /// Packets at the front of the ring that have begun service.
    #[inline]
    fn begun(&self) -> usize {
        match self.service {
            Service::OnArrival => self.ring.len() - self.waiting_pkts as usize,
            Service::Explicit => self.ring.len(),
        }
    }

    /// The first waiting packet's service has begun.
    #[inline]
    fn note_start(&mut self) {
        let packet = self.ring.at(self.begun());
        let (bytes, arrival) = (packet.bytes, packet.time);
        self.waiting_pkts -= 1;
        self.waiting_bytes -= u64::from(bytes);
        let start = self.next_start.as_ps();
        self.tally.starts_ahead = self.tally.starts_ahead.wrapping_sub(start);
        self.next_start = match &mut self.ns2_clock {
            None => arrival - self.delay,
            Some(clock) => clock.start_of_next(bytes),
        };
    }

    /// Explicit service: the packet waits; its start is known only once it begins.
    fn enqueue(&mut self, mut packet: Packet, now: Time) {
        self.waiting_pkts += 1;
        self.waiting_bytes += u64::from(packet.bytes);
        self.tally.queue_max = self.tally.queue_max.max(self.waiting_pkts);
        // Until its departure is known, `time` is when it began to wait.
        packet.time = now;
        self.backlog.push_back(packet);
    }

    /// Explicit service: transmission of a packet begins.
    fn begin_service(&mut self, mut packet: Packet, now: Time, schedule: &mut Schedule) {
        self.busy_until = now + self.transmitter.time(packet.bytes);
        packet.time = self.busy_until + self.delay;
        packet.ns2_s = packet.time.as_secs_f64();
        schedule.push_link(self.busy_until, Event::Departure(self.id));
        self.ring.push(packet);
    }

    /// Explicit service: transmission of a packet ends. The caller has taken the event off the
    /// schedule.
    pub(crate) fn depart(&mut self, now: Time, schedule: &mut Schedule) {
        self.transmitted += 1;
        if self.transmitted == 1 {
            let next = self.next().expect("its transmission has ended");
            schedule.push_link(next.time, Event::Arrival(self.id));
        }
        if let Some(packet) = self.backlog.pop_front() {
            self.waiting_pkts -= 1;
            self.waiting_bytes -= u64::from(packet.bytes);
            self.tally.waits += u128::from(now.since(packet.time).as_ps());
            self.begin_service(packet, now, schedule);
        }
    }

    /// The packet that reaches the far end next, if that is known yet.
    #[inline]
    pub(crate) fn next(&self) -> Option<&Packet> {
        match self.service {
            Service::OnArrival => self.ring.next(),
            Service::Explicit => self.ring.next().filter(|_| self.transmitted > 0),
        }
    }

    /// Hands on the next packet, if it reaches the far end by `until`, which may lie ahead of the
    /// simulation.
    #[inline(always)]
    pub(crate) fn hand_on(&mut self, until: Time) -> Option<Packet> {
        let packet = *self.next()?;
        if packet.time > until {
            return None;
        }
        if self.service == Service::Explicit {
            self.transmitted -= 1;
        }
        if self.ring.hand_on() {
            self.forget();
        }
        Some(packet)
    }

    /// Forgets packets that have left the link and its counters.
    fn forget(&mut self) {
        // The last of those whose service has begun may be in service.
        let kept = self.ring.len() - self.begun() + 1;
        self.ring.forget(kept);
    }

    /// Counters up to `now`.
    pub(crate) fn counters(&mut self, now: Time) -> LinkCounters {
        self.catch_up(now);
        let in_service_bytes = self.in_service_bytes(now);
        let tally = &self.tally;
        let pending_pkts = self.waiting_pkts + u64::from(in_service_bytes.is_some());
        let pending_bytes = self.waiting_bytes + in_service_bytes.unwrap_or(0);
        let dropped = |reason: DropReason| tally.dropped[reason as usize];
        let dropped_pkts: u64 = tally.dropped.iter().sum();
        LinkCounters {
            arrived_pkts: tally.arrived_pkts,
            arrived_bytes: tally.arrived_bytes,
            departed_pkts: tally.arrived_pkts - dropped_pkts - pending_pkts,
            departed_bytes: tally.arrived_bytes - tally.dropped_bytes - pending_bytes,
            dropped_loss_pkts: dropped(DropReason::Loss),
            dropped_overflow_pkts: dropped(DropReason::Overflow),
            dropped_early_pkts: dropped(DropReason::Early),
            dropped_forced_pkts: dropped(DropReason::Forced),
            marked_pkts: tally.marked_pkts,
            queue_integral: self.waited(now) as f64 * 1e-12,
            queue_max_pkts: tally.queue_max,
        }
    }

    /// Takes note of the services that have begun by `now`.
    fn catch_up(&mut self, now: Time) {
        if self.service == Service::OnArrival {
            self.begin_services(now, now.as_secs_f64());
        }
    }

    /// Forgets the largest queue up to `now`: a new period of measurement begins.
    pub(crate) fn restart_maximum(&mut self, now: Time) -> u64 {
        self.catch_up(now);
        std::mem::replace(&mut self.tally.queue_max, self.waiting_pkts)
    }

    /// State up to `now` for the time series.
    pub(crate) fn sample(&mut self, now: Time) -> LinkSample {
        let counters = self.counters(now);
        LinkSample {
            time: now,
            link: self.id,
            queue_pkts: self.waiting_pkts,
            queue_bytes: self.waiting_bytes,
            queue_avg_pkts: self.queue.average_pkts(),
            max_p: self.queue.max_p(),
            queue_integral: counters.queue_integral,
            departed_pkts: counters.departed_pkts,
            departed_bytes: counters.departed_bytes,
            dropped_pkts: counters.dropped_pkts(),
            marked_pkts: counters.marked_pkts,
        }
    }

    /// Bytes of the packet in service, if there is one.
    fn in_service_bytes(&self, now: Time) -> Option<u64> {
        if self.busy_until() <= now {
            return None;
        }
        // The last packet that has begun service; it is still in the ring.
        let at = self.begun().checked_sub(1)?;
        Some(u64::from(self.ring.at(at).bytes))
    }

    /// Picoseconds that packets have waited up to `now`.
    fn waited(&self, now: Time) -> u128 {
        match self.service {
            Service::OnArrival => {
                let elapsed = self.waiting_pkts.wrapping_mul(now.as_ps());
                self.tally.waits - u128::from(self.tally.starts_ahead.wrapping_sub(elapsed))
            }
            Service::Explicit => {
                let waiting = self
                    .backlog
                    .iter()
                    .map(|packet| now.since(packet.time).as_ps());
                self.tally.waits + waiting.map(u128::from).sum::<u128>()
            }
        }
    }
}
