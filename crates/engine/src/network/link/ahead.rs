//! Service ahead of time, of packets whose arrival is known before it happens.
//!
//! Once a link has accepted a packet, it is known when the packet reaches the far end, and after
//! which others. If all packets of the next link come that way, nobody else can come between: the
//! packet is offered there at once, and its arrival takes no event. The same goes for a receiver
//! at the far end, and for the link of its acknowledgements if only receivers behind the one link
//! use it. What a link decides on then is its state at its last arrival, which may lie ahead of
//! the simulation; its counters follow the simulation's time through a list of the arrivals that
//! have yet to come.

use longhaul_units::{Span, Time};

use super::ring::{Backlog, Passage, Ring};
use super::{Held, Link, Offer, Tally};
use crate::config::{self, Clock, Service};
use crate::network::loss::Loss;
use crate::network::queue::{Capacity, DropReason, QueueConfig, Verdict};
use crate::packet::Packet;
use crate::schedule::Schedule;

/// Arrivals at a link that have yet to come.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Whether the link is fed ahead of time.
    pub(super) ahead: bool,
    /// When the packets arrive that the link has accepted.
    accepted: Backlog<Time>,
    /// Of those that wait or are dropped, usually few.
    eventful: Backlog<Eventful>,
}

#[derive(Clone, Copy, Debug)]
struct Eventful {
    time: Time,
    wait: Span,
    /// Packets that wait once it has arrived.
    waiting_pkts: u32,
    bytes: u16,
    dropped: Option<DropReason>,
}

/// Whether a link may hand its packets on ahead of time.
pub(crate) fn may_feed(link: &config::Link) -> bool {
    link.service == Service::OnArrival && !link.captured
}

/// A drop-tail queue at least as fast as the link that feeds it never holds more than the bytes of
/// one packet, the largest of which has 65,535 and the smallest 20.
const NEVER_FULL: u64 = 65_535 / 20 + 1;

/// Whether a link may be fed ahead of time with what `feeder` has served. RED's average, which is
/// sampled, would be that of the last arrival. The sums of ns-2's clock are not differences of
/// each other to the picosecond, so that a queue under it has to stay short.
pub(crate) fn may_be_fed(link: &config::Link, feeder: &config::Link, clock: Clock) -> bool {
    let QueueConfig::DropTail(queue) = &link.queue else {
        return false;
    };
    let never_full = match queue.limit {
        Capacity::Packets(limit) => limit > NEVER_FULL,
        Capacity::Bytes(limit) => limit > 2 * 65_535,
    };
    let stays_short = never_full && link.loss == Loss::None && link.rate >= feeder.rate;
    link.service == Service::OnArrival && (clock == Clock::Exact || stays_short)
}

impl Link {
    /// From now on the link hands its packets on ahead of time.
    pub(crate) fn feed_ahead(&mut self) {
        self.ring = Ring::Passages(Backlog::default());
    }

    /// From now on the link is fed ahead of time.
    pub(crate) fn be_fed_ahead(&mut self) {
        self.arrivals.ahead = true;
    }

    /// Whether the link is fed ahead of time.
    #[inline]
    pub(crate) fn is_fed_ahead(&self) -> bool {
        self.arrivals.ahead
    }

    /// A packet will reach the near end at its `time`.
    #[inline(always)]
    pub(crate) fn offer_ahead(
        &mut self,
        mut packet: Packet,
        now: Time,
        schedule: &mut Schedule,
    ) -> Offer {
        let arrivals = &self.arrivals;
        if arrivals.accepted.are_many() || arrivals.eventful.are_many() {
            self.settle(now);
        }
        // Includes what has yet to come.
        self.tally.arrived_pkts += 1;
        self.tally.arrived_bytes += u64::from(packet.bytes);
        let arrival = packet.time;
        self.begin_services(arrival, packet.ns2_s);
        let idle = self.is_idle_at(arrival, packet.ns2_s);
        if let Verdict::Drop(reason) = self.decide(&packet, arrival, idle) {
            self.arrivals.eventful.push(Eventful {
                time: arrival,
                wait: Span::ZERO,
                waiting_pkts: 0,
                bytes: packet.bytes,
                dropped: Some(reason),
            });
            return Offer::Dropped;
        }
        let start = self.serve(&mut packet, arrival, idle);
        if !idle {
            self.arrivals.eventful.push(Eventful {
                time: arrival,
                wait: start.since(arrival),
                waiting_pkts: self.waiting_pkts as u32,
                bytes: packet.bytes,
                dropped: None,
            });
        }
        self.arrivals.accepted.push(arrival);
        self.pass(packet, now, schedule)
    }

    /// Forgets packets handed on that have reached the far end.
    pub(super) fn forget_arrived(&mut self, now: Time) {
        self.begin_services(now, now.as_secs_f64());
        if let Ring::Passages(passages) = &mut self.ring {
            drop(passages.forget(|passage| passage.time <= now));
        }
    }

    /// Takes note of the packets that have arrived by `now`.
    #[cold]
    fn settle(&mut self, now: Time) {
        drop(self.arrivals.accepted.forget(|&arrival| arrival <= now));
        for arrival in self.arrivals.eventful.forget(|coming| coming.time <= now) {
            self.tally.note(&arrival);
        }
    }

    /// What a link that is fed ahead of time holds at `now`. The ring's packets from the front on
    /// have departed, are in service, wait, or have yet to arrive.
    pub(super) fn held_ahead(&mut self, now: Time) -> Held {
        self.settle(now);
        let arrived = self.ring.len() - self.arrivals.accepted.len();
        let coming = (arrived..self.ring.len()).map(|at| self.ring.at(at).bytes);
        let dropped = self.arrivals.eventful.iter();
        let dropped = dropped.filter(|coming| coming.dropped.is_some());
        let (mut coming_pkts, mut coming_bytes) = (0, 0);
        for bytes in coming.chain(dropped.map(|coming| coming.bytes)) {
            coming_pkts += 1;
            coming_bytes += u64::from(bytes);
        }
        let departure = |passage: Passage| passage.time - self.delay;
        let departed = self
            .ring
            .partition_point(|passage| departure(passage) <= now)
            .min(arrived);
        let mut held = Held {
            coming_pkts,
            coming_bytes,
            waiting_pkts: 0,
            waiting_bytes: 0,
            in_service_bytes: (departed < arrived).then(|| self.ring.at(departed).bytes.into()),
            waited_ps: self.tally.waits,
        };
        for at in departed + 1..arrived {
            held.waiting_pkts += 1;
            held.waiting_bytes += u64::from(self.ring.at(at).bytes);
            // Its service begins when the packet before it has departed.
            let start = departure(self.ring.at(at - 1));
            held.waited_ps -= u128::from(start.since(now).as_ps());
        }
        held
    }
}

impl Tally {
    fn note(&mut self, arrival: &Eventful) {
        if let Some(reason) = arrival.dropped {
            self.count_drop(reason, arrival.bytes);
        }
        self.waits += u128::from(arrival.wait.as_ps());
        self.queue_max = self.queue_max.max(u64::from(arrival.waiting_pkts));
    }
}
