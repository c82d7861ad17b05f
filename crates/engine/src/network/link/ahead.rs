//! Service ahead of time, of packets whose arrival is known before it happens.
//!
//! Once a link has accepted a packet, it is known when the packet reaches the far end, and after
//! which others. If all packets of the next link come that way, nobody else can come between: the
//! packet is offered there at once, and its arrival takes no event. The same goes for a receiver
//! at the far end, and for the link of its acknowledgements if only receivers behind the one link
//! use it. What a link decides on then is its state at its last arrival, which may lie ahead of
//! the simulation; its counters follow the simulation's time through a ring of the arrivals that
//! have yet to come.

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::ring::{Passage, Ring};
use super::{Held, Link, Offer, Tally};
use crate::config::{self, Service};
use crate::network::queue::{DropReason, QueueConfig, Verdict};
use crate::packet::Packet;
use crate::schedule::Schedule;

/// Arrivals at a link that have yet to come.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Whether the link is fed ahead of time.
    pub(super) ahead: bool,
    ring: VecDeque<FutureArrival>,
    /// Those in the ring that the link has accepted.
    accepted: usize,
}

#[derive(Clone, Copy, Debug)]
struct FutureArrival {
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

/// Whether a link may be fed ahead of time. RED's average, which is sampled, would be that of the
/// last arrival.
pub(crate) fn may_be_fed(link: &config::Link) -> bool {
    link.service == Service::OnArrival && matches!(link.queue, QueueConfig::DropTail(_))
}

impl Link {
    /// From now on the link hands its packets on ahead of time.
    pub(crate) fn feed_ahead(&mut self) {
        self.ring = Ring::Passages(VecDeque::new());
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
        self.settle(now);
        let arrival = packet.time;
        let mut coming = FutureArrival {
            time: arrival,
            wait: Span::ZERO,
            waiting_pkts: 0,
            bytes: packet.bytes,
            dropped: None,
        };
        self.begin_services(arrival, packet.ns2_s);
        let idle = self.is_idle_at(arrival, packet.ns2_s);
        if let Verdict::Drop(reason) = self.decide(&packet, arrival, idle) {
            coming.dropped = Some(reason);
            self.arrivals.ring.push_back(coming);
            return Offer::Dropped;
        }
        let start = self.serve(&mut packet, arrival, idle);
        if !idle {
            coming.wait = start.since(arrival);
            coming.waiting_pkts = self.waiting_pkts as u32;
        }
        self.arrivals.ring.push_back(coming);
        self.arrivals.accepted += 1;
        self.pass(packet, now, schedule)
    }

    /// Forgets packets handed on that have reached the far end.
    #[inline]
    pub(super) fn forget_arrived(&mut self, now: Time) {
        while let Ring::Passages(passages) = &self.ring
            && let Some(first) = passages.front()
            && first.time <= now
        {
            if self.served == 0 {
                self.note_start();
            }
            self.served -= 1;
            if let Ring::Passages(passages) = &mut self.ring {
                passages.pop_front();
            }
        }
    }

    /// Counts the packets that have arrived by `now`.
    #[inline]
    fn settle(&mut self, now: Time) {
        while let Some(first) = self.arrivals.ring.front()
            && first.time <= now
        {
            self.tally.count_arrival(first);
            self.arrivals.accepted -= usize::from(first.dropped.is_none());
            self.arrivals.ring.pop_front();
        }
    }

    /// What a link that is fed ahead of time holds at `now`. The ring's packets from the front on
    /// have departed, are in service, wait, or have yet to arrive.
    pub(super) fn held_ahead(&mut self, now: Time) -> Held {
        self.settle(now);
        let arrived = self.ring.len() - self.arrivals.accepted;
        let departure = |passage: Passage| passage.time - self.delay;
        let departed = self
            .ring
            .partition_point(|passage| departure(passage) <= now)
            .min(arrived);
        let mut held = Held {
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
    #[inline]
    fn count_arrival(&mut self, arrival: &FutureArrival) {
        self.arrived_pkts += 1;
        self.arrived_bytes += u64::from(arrival.bytes);
        if let Some(reason) = arrival.dropped {
            self.dropped[reason as usize] += 1;
            return;
        }
        self.accepted_pkts += 1;
        self.accepted_bytes += u64::from(arrival.bytes);
        self.waits += u128::from(arrival.wait.as_ps());
        self.queue_max = self.queue_max.max(u64::from(arrival.waiting_pkts));
    }
}
