//! Access links: links at the edge of a large network. There are many, and each has few packets at a time.
//!
//! On a drop-tail link, the arrival of a packet at the far end has a closed form: `max(arrival, end of the last
//! transmission) + transmission + delay`, unless the queue is full. Such a link needs no stored packets and no events
//! if packets can be passed on before they reach the far end; of a waiting packet, only the size and the beginning of
//! its service are stored. There are two cases:
//!
//! - Links that lead to one other link put their packets into that link's queue of arrivals at once (`merge.rs`).
//! - Links that lead to endpoints of connections deliver a packet to its endpoint at once, unless a timer or an
//!   observation is due before the packet's arrival, or an earlier packet is still stored. The packet is then stored on
//!   the link until its arrival, as on any other link ([`Link::hold`](super::Link::hold)).
//!
//! The remaining state of a link takes two cache lines, next to the state of the opposite link. Access links are used
//! only in networks with many links. In small networks, each link has many packets at a time, and storing them on the
//! link is faster.

use std::collections::VecDeque;

use longhaul_kernel::prefetch::{prefetch, prefetch_lines};
use longhaul_units::{Span, Time};

use super::link::{Line, Occupancy, RandomTieBreak};
use super::{Delivery, End, Hop, Network};
use crate::config::{Config, Work};
use crate::measure::LinkCounters;
use crate::packet::Packet;
use crate::queue::{Arrival, DropReason, DropTail, QueueConfig, Verdict};
use crate::schedule::{Arriving, NextArrival};

/// State shared by several access links, usually by all of them.
#[derive(Debug)]
struct Model {
    line: Line,
    queue: DropTail,
    /// Index of the `Merge` that receives the links' packets; `None` if the links lead to endpoints.
    merge: Option<u32>,
}

/// An access link. The fields that every packet needs are in the first cache line.
#[derive(Debug)]
#[repr(C, align(64))]
struct AccessLink {
    occupancy: Occupancy,
    accepted_pkts: u64,
    accepted_bytes: u64,
    draws: RandomTieBreak,
    link: u32,
    /// Index of the [`Model`] that the link shares with others.
    model: u32,
    queue_max: u32,
    /// Size in bytes of the packet that began service last.
    served_bytes: u16,
    /// True if packets wait in the queue.
    queues: bool,
    /// True if the link may hold packets until their arrival time.
    holds: bool,
    waiting: VecDeque<Waiting>,
    /// Sum of the waiting times of all accepted packets, in picoseconds, including waiting times that are not over yet.
    waits_ps: u128,
    /// Sum, over all arriving packets, of the number of packets that wait at the arrival.
    found_waiting: u64,
    waiting_bytes: u64,
}

/// A packet that waits in the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Time at which the packet's service will begin.
    start: Time,
    bytes: u16,
}

impl Model {
    fn is(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.line.rate(), one.line.delay(), one.queue, one.merge);
        key(self) == key(other)
    }
}

impl AccessLink {
    /// Removes from the queue the packets whose service has begun by `now`.
    #[inline]
    fn begin_services(&mut self, now: Time) {
        if !self.queues {
            return;
        }
        while let Some(first) = self.waiting.front()
            && first.start <= now
        {
            self.served_bytes = first.bytes;
            self.waiting_bytes -= u64::from(first.bytes);
            self.waiting.pop_front();
        }
        self.queues = !self.waiting.is_empty();
    }

    /// Accepts or drops an entering packet. Returns its arrival time at the far end; `None` if it is dropped.
    #[inline(always)]
    fn take(&mut self, bytes: u16, now: Time, model: &mut Model) -> Option<Time> {
        self.begin_services(now);
        let idle = self.occupancy.is_idle(now);
        if !idle && !self.has_room(bytes, now, &model.queue) {
            return None;
        }
        let (start, arrival) = self.occupancy.serve(&mut model.line, bytes, now, idle);
        if idle {
            self.served_bytes = bytes;
        } else {
            self.queues = true;
            self.waiting.push_back(Waiting { start, bytes });
            self.waiting_bytes += u64::from(bytes);
            self.queue_max = self.queue_max.max(self.waiting.len() as u32);
            self.waits_ps += u128::from(start.since(now).as_ps());
        }
        self.accepted_pkts += 1;
        self.accepted_bytes += u64::from(bytes);
        Some(arrival)
    }

    /// Returns true if the queue has room for a packet of `bytes` that finds the link busy.
    #[inline]
    fn has_room(&mut self, bytes: u16, now: Time, queue: &DropTail) -> bool {
        let waiting_pkts = self.waiting.len() as u64;
        self.found_waiting += waiting_pkts;
        let arrival = Arrival {
            now,
            bytes: bytes.into(),
            ecn_capable: false,
            low_priority: false,
            waiting_pkts,
            waiting_bytes: self.waiting_bytes,
            idle_since: None,
        };
        queue.decide(&arrival) == Verdict::Accept
    }

    /// Returns the link's counters up to `now`. Packets that the link has dropped are counted in `drops`.
    fn counters(&mut self, now: Time, model: &Model, drops: &LinkCounters) -> LinkCounters {
        self.begin_services(now);
        let (waiting_pkts, waiting_bytes) = (self.waiting.len() as u64, self.waiting_bytes);
        let in_service = self.occupancy.busy_until() > now;
        let in_service_bytes = if in_service { self.served_bytes } else { 0 };
        let unsent = self.occupancy.unsent(&model.line, now, waiting_bytes);
        let waits = self.waiting.iter().map(|packet| packet.start.since(now));
        let waits_ahead_ps: u128 = waits.map(|wait| u128::from(wait.as_ps())).sum();
        LinkCounters {
            arrived_pkts: self.accepted_pkts + drops.dropped_pkts(),
            arrived_bytes: self.accepted_bytes + drops.arrived_bytes,
            departed_pkts: self.accepted_pkts - waiting_pkts - u64::from(in_service),
            departed_bytes: self.accepted_bytes - waiting_bytes - u64::from(in_service_bytes),
            transmitted: Work::of_bytes(self.accepted_bytes - waiting_bytes).since(unsent),
            queue_integral_ps: self.waits_ps - waits_ahead_ps,
            queue_found_pkts: self.found_waiting,
            queue_max_pkts: self.queue_max.into(),
            ..*drops
        }
    }

    /// Returns the maximum length of the queue up to `now`, and begins a new maximum.
    fn restart_maximum(&mut self, now: Time) -> u64 {
        self.begin_services(now);
        std::mem::replace(&mut self.queue_max, self.waiting.len() as u32).into()
    }
}

/// All access links.
#[derive(Debug, Default)]
pub(super) struct AccessLinks {
    links: Vec<AccessLink>,
    models: Vec<Model>,
    spreading: Vec<Spreading>,
}

/// A link that leads only to access links, all of which lead to endpoints of connections.
#[derive(Debug)]
struct Spreading {
    link: u32,
    /// Minimum propagation delay of the access links behind this link. A packet that leaves this link takes at least
    /// this time to reach an endpoint.
    shortest: Span,
    /// True if an event of the link is scheduled.
    has_event: bool,
}

impl AccessLinks {
    /// Returns mutable references to an access link and to the state that it shares with other access links.
    #[inline(always)]
    fn get(&mut self, index: u32) -> (&mut AccessLink, &mut Model) {
        let access = &mut self.links[index as usize];
        let model = &mut self.models[access.model as usize];
        (access, model)
    }

    /// Adds the link with the number `link` to the access links. Links with equal models share one model.
    fn add(&mut self, link: u32, model: Model, draws: RandomTieBreak) {
        let known = self.models.iter().position(|known| known.is(&model));
        let model = known.unwrap_or_else(|| {
            self.models.push(model);
            self.models.len() - 1
        });
        self.links.push(AccessLink {
            occupancy: Occupancy::default(),
            accepted_pkts: 0,
            accepted_bytes: 0,
            draws,
            link,
            model: model as u32,
            queue_max: 0,
            served_bytes: 0,
            queues: false,
            holds: false,
            waiting: VecDeque::new(),
            waits_ps: 0,
            found_waiting: 0,
            waiting_bytes: 0,
        });
    }

    /// Fills in the counters of all access links up to `now`.
    pub(super) fn count(&mut self, now: Time, counters: &mut [LinkCounters]) {
        for access in &mut self.links {
            let of_link = &mut counters[access.link as usize];
            *of_link = access.counters(now, &self.models[access.model as usize], of_link);
        }
    }

    /// Records that the link `spreading`, which leads to access links, has an event; returns true if it had none.
    pub(super) fn needs_event(&mut self, spreading: u32) -> bool {
        !std::mem::replace(&mut self.spreading[spreading as usize].has_event, true)
    }

    /// Writes the maximum queue length of each access link into `maxima`, and begins new maxima.
    pub(super) fn restart_maxima(&mut self, now: Time, maxima: &mut [u64]) {
        for access in &mut self.links {
            maxima[access.link as usize] = access.restart_maximum(now);
        }
    }
}

impl Network {
    /// Turns `links` into access links, in the given order. If both directions of a link become access links, they are
    /// neighbours in `links`. `spreading` lists the links that lead to access links, each with the minimum delay of
    /// these access links.
    pub(super) fn make_access(
        &mut self,
        config: &Config,
        links: &[u32],
        spreading: Vec<(u32, Span)>,
    ) {
        let mut numbers = vec![None; self.links.len()];
        for (&link, index) in links.iter().zip(0..) {
            let of = &config.links[link as usize];
            let QueueConfig::DropTail(queue) = of.queue else {
                unreachable!("access links are drop-tail");
            };
            let model = Model {
                line: Line::new(of.rate, of.delay),
                queue,
                merge: match self.deliveries[link as usize] {
                    Delivery::Merged(merge) => Some(merge),
                    _ => None,
                },
            };
            let draws = self.links[link as usize].tie_breaks();
            self.access.add(link, model, draws);
            numbers[link as usize] = Some(index);
        }
        self.routes.lead_over_access(&numbers);
        let spreading = spreading.into_iter().map(|(link, shortest)| Spreading {
            link,
            shortest,
            has_event: false,
        });
        self.access.spreading = spreading.collect();
    }

    /// Puts a packet on an access link at the beginning of a route; drops the packet if the link's queue is full.
    #[inline(always)]
    pub(super) fn enter_access(&mut self, index: u32, packet: &Packet) {
        let (access, model) = self.access.get(index);
        let Some(time) = access.take(packet.bytes, self.now, model) else {
            return self.drop_at_access(index, packet);
        };
        let Some(merge) = model.merge else {
            unreachable!("a route begins with a link that leads to a merge");
        };
        let tie_break = access.draws.tie_break(time);
        let ns2_s = self.ns2_s;
        let packet = Packet {
            time,
            ns2_s,
            ..*packet
        };
        let arriving = Arriving::new(NextArrival { time, tie_break }, access.link, packet);
        self.merges[merge as usize].push_packet(arriving, merge, &mut self.schedule);
    }

    #[cold]
    #[inline(never)]
    fn drop_at_access(&mut self, index: u32, packet: &Packet) {
        let link = self.access.links[index as usize].link;
        self.links[link as usize].note_drop(DropReason::Overflow, packet);
        self.options.forget(packet.sack);
    }

    /// Returns the latest time at which a packet can enter an access link and still reach its endpoint by
    /// `observation`. `spreading` identifies the link before the access link.
    pub(crate) fn reaches_ends_by(&self, spreading: u32, observation: Time) -> Time {
        let shortest = self.access.spreading[spreading as usize].shortest;
        Time::from_ps(observation.as_ps().saturating_sub(shortest.as_ps()))
    }

    /// Ends the event of a link that leads to access links, and schedules the link's next event at the arrival of its
    /// next packet. If this packet arrives after `until`, the event is postponed until after `observation`, the time of
    /// the next observation. `spreading` is the link's index among the links that lead to access links.
    pub(crate) fn finish_to_access(&mut self, spreading: u32, until: Time, observation: Time) {
        let of = &mut self.access.spreading[spreading as usize];
        match self.links[of.link as usize].next_arrival() {
            Some(mut next) => {
                if next.time > until {
                    next.time = next.time.max(observation + Span::from_ps(1));
                }
                self.schedule.renew_arrival(next, of.link);
            }
            None => {
                of.has_event = false;
                self.schedule.finish_link();
            }
        }
    }

    /// Moves all packets that have arrived at access links by now onto these links. Called before an observation: the
    /// events that move these packets may come after the observation.
    pub(super) fn catch_up_access(&mut self) {
        let mut packet = Packet::NONE;
        for spreading in 0..self.access.spreading.len() {
            let link = self.access.spreading[spreading].link;
            while let Some(access) = self.forward_to_access(link, self.now, &mut packet) {
                if self.cross_access(access, &mut packet).is_some() {
                    debug_assert!(packet.time >= self.now, "it could have gone on");
                    self.hold_at_access(access, &packet);
                }
            }
        }
    }

    /// Forwards the next packet of a link that leads to access links, if it reaches the far end by `until`. Returns the
    /// index of the packet's access link.
    #[inline(always)]
    pub(crate) fn forward_to_access(
        &mut self,
        link: u32,
        until: Time,
        forwarded: &mut Packet,
    ) -> Option<u32> {
        let packet = self.links[link as usize].forward(until)?;
        *forwarded = *packet;
        forwarded.route += 1;
        let Hop::Access(index) = self.routes.hop(forwarded.route) else {
            unreachable!("all links that follow are access links");
        };
        Some(index)
    }

    /// Moves a packet over an access link: sets the packet's time to the arrival time at the endpoint. Returns the kind
    /// of this endpoint; `None` if the link drops the packet.
    #[inline(always)]
    pub(crate) fn cross_access(&mut self, index: u32, packet: &mut Packet) -> Option<End> {
        let (access, model) = self.access.get(index);
        let Some(time) = access.take(packet.bytes, packet.time, model) else {
            self.drop_at_access(index, packet);
            return None;
        };
        packet.time = time;
        let Hop::End(end) = self.routes.hop(packet.route + 1) else {
            unreachable!("access links are the first or the last on a route");
        };
        Some(end)
    }

    /// Returns true if packets that have crossed an access link are still stored until their arrival times.
    #[inline(always)]
    pub(crate) fn access_holds(&mut self, index: u32) -> bool {
        let access = &mut self.access.links[index as usize];
        access.holds = access.holds && self.links[access.link as usize].next().is_some();
        access.holds
    }

    /// Stores a packet of an access link until the packet's arrival at the far end.
    #[inline(never)]
    pub(crate) fn hold_at_access(&mut self, index: u32, packet: &Packet) {
        let access = &mut self.access.links[index as usize];
        access.holds = true;
        let link = access.link;
        if self.links[link as usize].hold(packet) {
            self.await_arrival(link);
        }
    }

    /// Prefetches memory for later packets on `link`, which leads to access links: the options and the access link (in
    /// both directions) of the packet `step` places ahead, and the route of the packet `2 * step` places ahead. Returns
    /// the former packet.
    #[inline(always)]
    pub(crate) fn prefetch_access(&self, link: u32, step: usize) -> Option<&Packet> {
        if let Some(coming) = self.ahead(link, 2 * step) {
            self.routes.prefetch(coming.route + 1);
        }
        let coming = self.ahead(link, step)?;
        self.options.prefetch(coming.sack);
        if let Hop::Access(index) = self.routes.hop(coming.route + 1)
            && let Some(access) = self.access.links.get(index as usize..)
        {
            access.first().inspect(|&to| prefetch(to));
            access.get(1).inspect(|&back| prefetch_lines::<2, _>(back));
        }
        Some(coming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_link_takes_two_cache_lines() {
        assert_eq!(size_of::<AccessLink>(), 128);
        assert!(std::mem::offset_of!(AccessLink, waiting) <= 64);
    }
}
