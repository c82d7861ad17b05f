//! The port in front of a link: it asks the queue discipline if a packet is admitted, and counts packets that arrive,
//! wait, leave or are lost.

mod explicit;

use longhaul_units::{Span, Time};

use super::Offer;
use super::clock::{Clock, DualClockTime};
use super::per_flow_drops::PerFlowDrops;
use super::ring::Ring;
use crate::config::Work;
use crate::measure::{ClassCounters, DelayHistogram, LinkCounters};
use crate::network::loss::LossModel;
use crate::packet::{Flags, Packet};
use crate::queue::{Arrival, DropReason, Queue, Verdict};

/// Queue discipline, loss and counters of a link.
#[derive(Debug)]
pub(crate) struct Port {
    pub(super) queue: Queue,
    pub(super) loss: LossModel,
    /// Packets that have begun service and have not reached the far end. With service on arrival, the waiting packets
    /// follow them in the ring; with explicit service, the discipline stores the waiting packets.
    ring: Ring,
    waiting_pkts: u64,
    waiting_bytes: u64,
    counters: Counters,
    pub(super) flow_drops: PerFlowDrops,
    /// Queueing delays, if they are measured.
    waits: Option<Box<Waits>>,
}

/// Counters of a port. If the link computes one transmission after the other (explicit service), the counters are only
/// up to date after [`Link::catch_up`](super::Link::catch_up).
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    accepted_bytes: u64,
    marked_pkts: u64,
    dropped: [u64; DropReason::COUNT],
    dropped_bytes: u64,
    /// Sum of the waiting times of accepted packets, in picoseconds. With service on arrival, a packet's whole waiting
    /// time is added when the packet is accepted; with explicit service, when it begins service or is dropped.
    waits: u128,
    /// Sum, in picoseconds, of the times at which the waiting packets will begin service. With explicit service, these
    /// times are unknown, and the arrival times are added up instead.
    starts_ahead: u128,
    queue_max: u64,
    /// Sum over all arrivals of the number of waiting packets that each arriving packet found.
    found_waiting: u64,
}

/// Queueing delays. They are recorded one by one for packets that wait; packets that find the link idle are only
/// counted.
#[derive(Debug, Default)]
struct Waits {
    /// Delays of packets that waited. With service on arrival, a packet's delay is recorded when the packet is
    /// accepted.
    timed: DelayHistogram,
    /// Number of packets that were accepted before the measurement began. With explicit service, number of packets that
    /// had begun service by then.
    before: u64,
}

impl Port {
    /// Restarts the measurement of queueing delays.
    pub(super) fn measure_waits(&mut self) {
        self.waits = Some(Box::new(Waits {
            timed: DelayHistogram::default(),
            before: self.ring.accepted() as u64,
        }));
    }

    /// Returns true if queueing delays are measured.
    pub(super) fn measures_waits(&self) -> bool {
        self.waits.is_some()
    }

    /// Returns the queueing delays measured so far, and ends their measurement; `None` if they are not measured.
    pub(super) fn take_waits(&mut self) -> Option<DelayHistogram> {
        let Waits { mut timed, before } = *self.waits.take()?;
        let accepted = self.ring.accepted() as u64 - before;
        // A wait is recorded before the ring grows, and a run without memory ends there.
        timed.record_instant(accepted.saturating_sub(timed.packets()));
        Some(timed)
    }

    pub(super) fn new(queue: Queue, loss: LossModel) -> Self {
        Self {
            queue,
            loss,
            ring: Ring::default(),
            waiting_pkts: 0,
            waiting_bytes: 0,
            counters: Counters::default(),
            flow_drops: PerFlowDrops::default(),
            waits: None,
        }
    }

    /// Returns the number of packets that have begun service and have not reached the far end. With service on arrival,
    /// waiting packets are included.
    pub(super) fn under_way(&self) -> usize {
        self.ring.under_way()
    }

    /// Decides about a packet that reaches the near end. Returns its flags, possibly with a mark; `None` if it is
    /// dropped.
    #[inline(always)]
    fn admit(
        &mut self,
        packet: &Packet,
        now: Time,
        idle: bool,
        busy_until: impl Fn() -> Time,
    ) -> Option<Flags> {
        let mut flags = packet.flags;
        self.counters.found_waiting += self.waiting_pkts;
        let verdict = if self.loss.loses() {
            Verdict::Drop(DropReason::Loss)
        } else if idle && self.queue.accepts_trivially(now) {
            Verdict::Accept
        } else {
            self.queue.on_arrival(&Arrival {
                now,
                bytes: u32::from(packet.bytes),
                ecn_capable: flags.has(Flags::ECT),
                low_priority: flags.has(Flags::LOW),
                waiting_pkts: self.waiting_pkts,
                waiting_bytes: self.waiting_bytes,
                idle_since: idle.then(&busy_until),
            })
        };
        match verdict {
            Verdict::Accept => {}
            Verdict::AcceptMarked => {
                flags = flags.with(Flags::CE);
                self.count_mark(packet);
            }
            Verdict::Drop(reason) => {
                self.count_drop(reason, packet);
                return None;
            }
        }
        self.counters.accepted_bytes += u64::from(packet.bytes);
        Some(flags)
    }

    #[cold]
    pub(super) fn count_drop(&mut self, reason: DropReason, packet: &Packet) {
        self.counters.dropped[reason as usize] += 1;
        self.counters.dropped_bytes += u64::from(packet.bytes);
        if let Some(flow) = self.flow_drops.of(packet) {
            flow.dropped_pkts += 1;
        }
    }

    #[cold]
    fn count_mark(&mut self, packet: &Packet) {
        self.counters.marked_pkts += 1;
        if let Some(flow) = self.flow_drops.of(packet) {
            flow.marked_pkts += 1;
        }
    }

    /// Processes a packet that reaches the near end of a link whose departures are computed on arrival.
    #[inline(always)]
    pub(super) fn offer(
        &mut self,
        clock: &mut impl Clock,
        packet: &Packet,
        route: u32,
        arrival: DualClockTime,
    ) -> Offer {
        self.begin_services(clock, arrival);
        let idle = clock.is_idle(arrival);
        let now = arrival.time;
        let Some(flags) = self.admit(packet, now, idle, || clock.busy_until()) else {
            return Offer::Dropped;
        };
        let none_waits = self.waiting_pkts == 0;
        let (start, DualClockTime { time, ns2_s }) =
            clock.serve(packet.bytes, arrival, idle, none_waits);
        if !idle {
            self.note_waiting(packet.bytes);
            let wait = start.since(now);
            self.note_wait(wait);
            if let Some(waits) = &mut self.waits {
                waits.timed.record(wait);
            }
            self.counters.starts_ahead += u128::from(start.as_ps());
        }
        // The packet before the waiting ones may be in service.
        let needed = self.ring.accepted() - self.waiting_pkts as usize;
        let packet = Packet {
            time,
            ns2_s,
            route,
            flags,
            ..*packet
        };
        if self.ring.push(packet, needed) {
            Offer::First
        } else {
            Offer::Accepted
        }
    }

    /// Stores a packet of an access link until the packet's arrival at the far end. Returns true if it is the next
    /// packet to be forwarded.
    pub(super) fn hold(&mut self, packet: &Packet) -> bool {
        self.ring.push(*packet, self.ring.accepted())
    }

    /// Counts the services that have begun by `now`, if the link computes departures on arrival.
    #[inline(always)]
    pub(super) fn begin_services(&mut self, clock: &mut impl Clock, now: DualClockTime) {
        while self.waiting_pkts > 0 && clock.has_begun(now) {
            let first = self.ring.accepted() - self.waiting_pkts as usize;
            let packet = self.ring.at(first);
            let start = clock.begin_next(packet);
            let bytes = packet.bytes;
            self.note_start(bytes);
            self.counters.starts_ahead -= u128::from(start.as_ps());
        }
    }

    /// Counts a packet that begins to wait.
    #[inline]
    fn note_waiting(&mut self, bytes: u16) {
        self.waiting_pkts += 1;
        self.waiting_bytes += u64::from(bytes);
        self.counters.queue_max = self.counters.queue_max.max(self.waiting_pkts);
    }

    /// Counts a waiting packet that begins service.
    #[inline]
    fn note_start(&mut self, bytes: u16) {
        self.waiting_pkts -= 1;
        self.waiting_bytes -= u64::from(bytes);
    }

    /// Adds the complete waiting time of a packet to the counters.
    #[inline]
    fn note_wait(&mut self, wait: Span) {
        self.counters.waits += u128::from(wait.as_ps());
    }

    /// Returns the next packet to forward.
    #[inline]
    pub(super) fn next(&self) -> Option<&Packet> {
        self.ring.next()
    }

    /// Forwards the next packet and returns it, if it reaches the far end by `until`.
    #[inline(always)]
    pub(super) fn forward(&mut self, until: Time) -> Option<&Packet> {
        self.ring.forward(until)
    }

    /// Returns the packet that will be forwarded after `others` other packets, if this packet is already known.
    #[inline]
    pub(super) fn ahead(&self, others: usize) -> Option<&Packet> {
        self.ring.ahead(others)
    }

    /// Returns the packet that was forwarded last.
    #[inline(always)]
    pub(super) fn last_forwarded(&self) -> &Packet {
        self.ring.last_forwarded()
    }

    /// Returns the number of waiting packets, and their bytes.
    pub(super) fn waiting(&self) -> (u64, u64) {
        (self.waiting_pkts, self.waiting_bytes)
    }

    /// Returns the sum of the times that the waiting packets still have to wait at `now`, in picoseconds. Valid only if
    /// the link computes departures on arrival.
    pub(super) fn waits_ahead(&self, now: Time) -> u128 {
        self.counters.starts_ahead - self.waiting_ps(now)
    }

    /// Returns `now` in picoseconds times the number of waiting packets.
    fn waiting_ps(&self, now: Time) -> u128 {
        u128::from(self.waiting_pkts) * u128::from(now.as_ps())
    }

    /// Returns the sum of all recorded waiting times in picoseconds.
    pub(super) fn waits(&self) -> u128 {
        self.counters.waits
    }

    /// Returns the maximum length of the queue so far, and begins a new maximum.
    pub(super) fn restart_maximum(&mut self) -> u64 {
        std::mem::replace(&mut self.counters.queue_max, self.waiting_pkts)
    }

    /// Returns the counters up to `now` of a link that computes departures on arrival. All services that have begun by
    /// `now` must have been recorded.
    pub(super) fn counters_on_arrival(&self, clock: &impl Clock, now: Time) -> LinkCounters {
        let in_service = clock.busy_until() > now;
        let unsent = clock.unsent(now, self.waiting_bytes);
        let waited_ps = self.waits() - self.waits_ahead(now);
        self.counters(self.waiting_pkts, in_service, unsent, waited_ps)
    }

    /// Returns the link's counters. `in_ring` packets wait in the ring. `in_service` is true if another packet is in
    /// service; `unsent` is its unsent part. `waited_ps` is the sum of all waiting times so far.
    pub(super) fn counters(
        &self,
        in_ring: u64,
        in_service: bool,
        unsent: Work,
        waited_ps: u128,
    ) -> LinkCounters {
        let counters = &self.counters;
        let accepted_pkts = self.ring.accepted() as u64 + self.waiting_pkts - in_ring;
        let last = (self.ring.accepted() as u64 - in_ring).checked_sub(1);
        let in_service = last.filter(|_| in_service);
        let in_service_bytes = in_service.map_or(0, |number| self.ring.at(number as usize).bytes);
        let pending_pkts = self.waiting_pkts + u64::from(in_service.is_some());
        let pending_bytes = self.waiting_bytes + u64::from(in_service_bytes);
        let departed_bytes = counters.accepted_bytes - pending_bytes;
        let dropped = |reason: DropReason| counters.dropped[reason as usize];
        let dropped_pkts: u64 = counters.dropped.iter().sum();
        LinkCounters {
            arrived_pkts: accepted_pkts + dropped_pkts,
            arrived_bytes: counters.accepted_bytes + counters.dropped_bytes,
            departed_pkts: accepted_pkts - pending_pkts,
            departed_bytes,
            transmitted: Work::of_bytes(counters.accepted_bytes - self.waiting_bytes).since(unsent),
            // The capacities of the link and the packets that did not reach the port are known to the network, which
            // adds them.
            bucket_capacity: Work::default(),
            line_capacity: Work::default(),
            dropped_loss_pkts: dropped(DropReason::Loss),
            dropped_overflow_pkts: dropped(DropReason::Overflow),
            dropped_early_pkts: dropped(DropReason::Early),
            dropped_forced_pkts: dropped(DropReason::Forced),
            dropped_policed_pkts: dropped(DropReason::Policed),
            dropped_thinned_pkts: dropped(DropReason::Thinned),
            dropped_filtered_pkts: dropped(DropReason::Filtered),
            marked_pkts: counters.marked_pkts,
            duplicated_pkts: 0,
            queue_integral_ps: waited_ps,
            queue_found_pkts: counters.found_waiting,
            queue_max_pkts: counters.queue_max,
            l4s: ClassCounters::default(),
            classic: ClassCounters::default(),
        }
    }
}
