//! Service ahead of time, on a link that one other link alone feeds.
//!
//! Once the feeder has accepted a packet, it is known when the packet reaches the next link, after
//! which others, and hence when that link will have served it: nobody else can come between. The
//! packet goes into the next link's ring at once, and its arrival there takes no event. That link's
//! waiting packets, clock and transmitter are then those of its last arrival, which may lie ahead
//! of the simulation; its counters follow the simulation's time through a ring of the arrivals that
//! have yet to come.

use std::collections::VecDeque;

use longhaul_units::{Span, Time};

use super::{Held, Link, Tally};
use crate::config::{self, Service};
use crate::network::loss::Loss;
use crate::network::queue::{Capacity, QueueConfig};
use crate::packet::Packet;
use crate::schedule::{Event, Schedule};

/// What a link does with the packets that it has accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Onward {
    /// It delivers them by an event when they reach the far end.
    #[default]
    OnTime,
    /// It hands them to the next link as soon as their arrival there is known. Its ring keeps
    /// copies for its own counters.
    AheadOfTime,
}

/// Arrivals at a link that have yet to come.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// Whether the link is fed ahead of time.
    pub(super) ahead: bool,
    ring: VecDeque<FutureArrival>,
}

#[derive(Clone, Copy, Debug)]
struct FutureArrival {
    time: Time,
    wait: Span,
    /// Packets that wait once it has arrived.
    waiting_pkts: u32,
    bytes: u16,
}

/// A drop-tail queue at least as fast as the link that feeds it never holds more than the bytes of
/// one packet, the largest of which has 65,535 and the smallest 20.
const NEVER_FULL: u64 = 65_535 / 20 + 1;

/// Whether a link may hand its packets on ahead of time.
pub(crate) fn may_feed(link: &config::Link) -> bool {
    link.service == Service::OnArrival && !link.captured
}

/// Whether a link may be fed ahead of time by `feeder`, if that alone feeds it: every packet has to
/// get through, and the queue has to stay short.
pub(crate) fn may_be_fed(link: &config::Link, feeder: &config::Link) -> bool {
    let never_full = match &link.queue {
        QueueConfig::DropTail(queue) => match queue.limit {
            Capacity::Packets(limit) => limit > NEVER_FULL,
            Capacity::Bytes(limit) => limit > 2 * 65_535,
        },
        QueueConfig::Red(_) => false,
    };
    let lossless = link.loss == Loss::None;
    never_full && lossless && link.rate >= feeder.rate && may_feed(link)
}

impl Link {
    /// From now on the link hands its packets on ahead of time.
    pub(crate) fn feed_ahead(&mut self) {
        self.onward = Onward::AheadOfTime;
    }

    /// From now on the link is fed ahead of time.
    pub(crate) fn be_fed_ahead(&mut self) {
        self.arrivals.ahead = true;
    }

    /// A packet will reach the near end at its `time`.
    #[inline(always)]
    pub(crate) fn offer_ahead(&mut self, mut packet: Packet, now: Time, schedule: &mut Schedule) {
        let arrival = packet.time;
        self.begin_services(arrival, packet.ns2_s);
        let idle = self.is_idle_at(arrival, packet.ns2_s);
        let start = self.serve(&mut packet, arrival, idle);
        self.settle(now);
        self.arrivals.ring.push_back(FutureArrival {
            time: arrival,
            wait: start.since(arrival),
            waiting_pkts: if idle { 0 } else { self.waiting_pkts as u32 },
            bytes: packet.bytes,
        });
        if self.ring.is_empty() {
            schedule.push_near(packet.time, Event::Arrival(self.id));
        }
        self.ring.push_back(packet);
    }

    /// Drops the copies of packets that have reached the next link.
    #[inline]
    pub(super) fn forget_arrived(&mut self, now: Time) {
        while let Some(first) = self.ring.front()
            && first.time <= now
        {
            if self.served == 0 {
                self.note_start();
            }
            self.served -= 1;
            self.ring.pop_front();
        }
    }

    /// Counts the packets that have arrived by `now`.
    #[inline]
    fn settle(&mut self, now: Time) {
        while let Some(first) = self.arrivals.ring.front()
            && first.time <= now
        {
            self.tally.count_arrival(first);
            self.arrivals.ring.pop_front();
        }
    }

    /// What a link that is fed ahead of time holds at `now`. The ring's packets from the front on
    /// have departed, are in service, wait, or have yet to arrive.
    pub(super) fn held_ahead(&mut self, now: Time) -> Held {
        self.settle(now);
        let arrived = self.ring.len() - self.arrivals.ring.len();
        let departed = self
            .ring
            .partition_point(|packet| packet.time - self.delay <= now)
            .min(arrived);
        let mut held = Held {
            waiting_pkts: 0,
            waiting_bytes: 0,
            in_service_bytes: (departed < arrived).then(|| u64::from(self.ring[departed].bytes)),
            waited_ps: self.tally.waits,
        };
        for at in departed + 1..arrived {
            held.waiting_pkts += 1;
            held.waiting_bytes += u64::from(self.ring[at].bytes);
            // Its service begins when the packet before it has departed.
            let start = self.ring[at - 1].time - self.delay;
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
        self.accepted_pkts += 1;
        self.accepted_bytes += u64::from(arrival.bytes);
        self.waits += u128::from(arrival.wait.as_ps());
        self.queue_max = self.queue_max.max(u64::from(arrival.waiting_pkts));
    }
}
