//! Links and routes: everything between the two ends of a flow.

pub(crate) mod change;
pub(crate) mod graph;
pub(crate) mod impairments;
mod link;
mod lookahead;
pub(crate) mod loss;
mod route;

use std::collections::VecDeque;

use longhaul_units::Time;

use self::change::Changes;
use self::impairments::Impairments;
pub(crate) use self::link::NextArrival;
#[cfg(test)]
pub(crate) use self::link::TieBreak;
use self::link::{DualClockTime, FlowDrops, Link, Offer};
pub(crate) use self::lookahead::{Delivery, Endpoint};
use self::lookahead::{Merge, Plan};
use self::loss::LossModel;
pub(crate) use self::route::{Carrier, End, Hop, Path, Routes};
use crate::config::{Config, Service};
use crate::measure::{LinkCounters, LinkSample};
use crate::packet::{OptionStore, Packet, SackBlocks, SackHandle, SackOption, XcpHeader};
use crate::queue::Queue;
use crate::random::Streams;
use crate::schedule::{Event, Schedule};

/// Where a packet went that has reached the far end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delivered {
    /// Another link has it.
    ToLink,
    /// It has reached the end of its route.
    ToEnd(End),
}

/// The network, and the clock and event list that everything shares.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Now, as ns-2 has it; see [`crate::config::Clock`].
    ns2_s: f64,
    pub(crate) schedule: Schedule,
    links: Vec<Link>,
    routes: Routes,
    options: OptionStore,
    /// By link: how far ahead of the simulation it forwards its packets.
    deliveries: Vec<Delivery>,
    merges: Vec<Merge>,
    changes: Vec<Changes>,
    impairments: Vec<Impairments>,
    /// Packets sent and not recorded yet, if packets of any link are captured.
    sent: Option<VecDeque<Packet>>,
}

impl Network {
    pub(crate) fn new(config: &Config, streams: &Streams) -> Self {
        assert!(config.links.len() <= Schedule::MAX_LINKS, "too many links");
        let mut schedule = Schedule::default();
        let changes = Changes::of(config, streams, &mut schedule);
        Self {
            now: Time::ZERO,
            ns2_s: 0.0,
            schedule,
            links: Self::links(config, streams, false),
            routes: Routes::new(config),
            options: OptionStore::default(),
            deliveries: vec![Delivery::OnTime; config.links.len()],
            merges: Vec::new(),
            changes,
            impairments: Impairments::of(config, streams),
            sent: (config.links.iter().any(|link| link.captured)).then(VecDeque::new),
        }
    }

    /// Rebuilds all links, before any event, such that they give way to packets of higher priority.
    pub(crate) fn prioritise(&mut self, config: &Config, streams: &Streams) {
        self.links = Self::links(config, streams, true);
    }

    fn links(config: &Config, streams: &Streams, priorities: bool) -> Vec<Link> {
        let links = config.links.iter().zip(0..).map(|(link, id)| {
            let name = &link.name;
            let queue_stream = streams.component(&format!("links/{name}/queue"));
            let queue = match link.service() {
                Service::OnArrival if priorities => {
                    Queue::new(&link.queue, queue_stream).prioritised()
                }
                Service::OnArrival => Queue::new(&link.queue, queue_stream),
                Service::Explicit => Queue::buffered(&link.queue, queue_stream),
            };
            let loss_stream = streams.losses(&format!("links/{name}/loss"));
            let loss = LossModel::new(&link.loss, loss_stream);
            Link::new(id, link, config.clock, queue, loss, streams)
        });
        links.collect()
    }

    /// The route from node to node, at whose end `end` gets the packets; `None` if there is no
    /// path.
    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        self.routes.path(from, to, end)
    }

    /// An event other than a packet's arrival happens.
    #[inline]
    pub(crate) fn set_clock(&mut self, now: Time) {
        self.set_ns2_clock(now.as_secs_f64());
    }

    /// An event happens whose time ns-2's clock resolves more finely than a picosecond.
    #[inline]
    pub(crate) fn set_ns2_clock(&mut self, now_s: f64) {
        self.ns2_s = now_s;
    }

    /// Puts a packet on the first link of its route.
    #[inline(always)]
    pub(crate) fn send(&mut self, packet: Packet) {
        if self.sent.is_some() {
            self.note_sent(packet);
        }
        match self.routes.hop(packet.route) {
            Hop::Link(link) => self.offer(link, &packet),
            Hop::Impairments(index, carrier) => {
                // A copy: packets that take the other way stay in registers.
                let route = packet.route + 1;
                self.impair(index, carrier, Packet { route, ..packet });
            }
            Hop::End(_) => unreachable!("a route begins with a link"),
        }
    }

    /// Captured packets are recorded as they are when they are sent.
    #[cold]
    fn note_sent(&mut self, packet: Packet) {
        if let Some(sent) = &mut self.sent {
            sent.push_back(packet);
        }
    }

    /// Whether packets of any link are recorded.
    pub(crate) fn is_captured(&self) -> bool {
        self.sent.is_some()
    }

    /// Takes the next of the packets that have been sent, where packets are recorded.
    pub(crate) fn next_sent(&mut self) -> Option<Packet> {
        self.sent.as_mut()?.pop_front()
    }

    /// A packet reaches the near end of a link.
    #[inline(always)]
    fn offer(&mut self, link: u32, packet: &Packet) {
        let now = self.dual_clock_time();
        let offer = self.links[link as usize].offer(packet, packet.route, now, &mut self.options);
        self.finish_offer(link, offer, packet.sack);
    }

    /// Stores SACK blocks for the acknowledgement `next`, which is about to be sent.
    #[inline]
    pub(crate) fn store_sack(&mut self, blocks: &SackBlocks, next: u64) -> SackHandle {
        self.options.put(blocks, next)
    }

    /// Takes a received acknowledgement's SACK blocks, once its header is taken.
    #[inline]
    pub(crate) fn take_sack(&mut self, handle: SackHandle) -> SackOption {
        self.options.take(handle)
    }

    /// Stores a header for routers beside a packet's blocks.
    pub(crate) fn store_header(&mut self, header: XcpHeader, sack: SackHandle) -> SackHandle {
        self.options.put_header(header, sack)
    }

    /// Takes a received packet's header for routers, if it has one; also returns where its blocks
    /// are.
    pub(crate) fn take_header(&mut self, handle: SackHandle) -> (Option<XcpHeader>, SackHandle) {
        self.options.take_header(handle)
    }

    /// Discards the options of a packet that is not delivered.
    pub(crate) fn forget_options(&mut self, packet: &Packet) {
        self.options.forget(packet.sack);
    }

    /// The SACK blocks of a packet that goes on.
    pub(crate) fn peek_sack(&self, packet: &Packet) -> SackOption {
        self.options.get(packet.sack)
    }

    #[inline(always)]
    fn dual_clock_time(&self) -> DualClockTime {
        DualClockTime {
            time: self.now,
            ns2_s: self.ns2_s,
        }
    }

    /// The packet that `from` has forwarded reaches the near end of the link `to`.
    #[inline(always)]
    fn transfer(&mut self, from: u32, to: u32) {
        let (offer, sack) = self.offer_forwarded(from, to);
        self.finish_offer(to, offer, sack);
    }

    #[inline(always)]
    fn offer_forwarded(&mut self, from: u32, to: u32) -> (Offer, SackHandle) {
        let now = self.dual_clock_time();
        let both = self.links.get_disjoint_mut([from as usize, to as usize]);
        let [before, next] = both.expect("no link follows itself");
        let packet = before.last_forwarded();
        let offer = next.offer(packet, packet.route + 1, now, &mut self.options);
        (offer, packet.sack)
    }

    #[inline(always)]
    fn finish_offer(&mut self, link: u32, offer: Offer, sack: SackHandle) {
        match offer {
            Offer::Accepted => {}
            Offer::First => self.activate(link),
            Offer::Dropped => self.options.forget(sack),
        }
    }

    /// A link that had no packets to forward has one.
    #[inline]
    fn activate(&mut self, link: u32) {
        match self.deliveries[link as usize] {
            Delivery::ToObservation => self.forward_without_events(link),
            _ => self.enter_arrival(link),
        }
    }

    /// Forwards the only packet of a link to the next link, and so on as far as links work ahead of time: without
    /// any event.
    #[inline(never)]
    fn forward_without_events(&mut self, mut link: u32) {
        let DualClockTime { time, ns2_s } = self.dual_clock_time();
        let until = self.schedule.next_observation();
        while self.deliveries[link as usize] == Delivery::ToObservation
            && let Some(packet) = self.links[link as usize].next()
            && let Hop::Link(next) = self.routes.hop(packet.route + 1)
            && let Some(packet) = self.links[link as usize].forward(until)
        {
            self.now = packet.time;
            self.ns2_s = packet.ns2_s;
            let (offer, sack) = self.offer_forwarded(link, next);
            (self.now, self.ns2_s) = (time, ns2_s);
            match offer {
                Offer::First => link = next,
                Offer::Accepted => return,
                Offer::Dropped => return self.options.forget(sack),
            }
        }
        self.enter_arrival(link);
    }

    /// Enters the arrival of a link's only packet.
    #[inline]
    fn enter_arrival(&mut self, link: u32) {
        let Some(next) = self.links[link as usize].next_arrival() else {
            unreachable!("the link has a packet");
        };
        match self.deliveries[link as usize] {
            Delivery::Merged(merge) => {
                self.merges[merge as usize].push(next, link, merge, &mut self.schedule);
            }
            _ => self.schedule.push_arrival(next, link),
        }
    }

    /// Plans the lookahead, once all routes are known, and begins the update intervals
    /// of disciplines: whole ones since time zero.
    pub(crate) fn look_ahead(&mut self, config: &Config, endpoints: &[Endpoint]) {
        for (link, id) in self.links.iter().zip(0..) {
            if let Some(interval) = link.update_interval() {
                let end = Time::ZERO + interval;
                self.schedule.push_observation(end, Event::QueueUpdate(id));
            }
        }
        let Plan { deliveries, merges } = lookahead::plan(config, &self.routes, endpoints);
        self.deliveries = deliveries;
        self.merges = merges;
    }

    /// The event of a link's arrivals: how far ahead of the simulation it forwards them.
    #[inline]
    pub(crate) fn begin_arrivals(&mut self, link: u32) -> Delivery {
        self.links[link as usize].catch_up(self.now, &mut self.options);
        self.deliveries[link as usize]
    }

    /// Forwards a link's next packets to the links that follow, as long as they reach its far end by
    /// `until`. Stops at one that has reached the end of its route, which is left in `arrived`.
    #[inline]
    pub(crate) fn forward(&mut self, link: u32, until: Time, arrived: &mut Packet) -> Option<End> {
        loop {
            if let Delivered::ToEnd(end) = self.forward_one(link, until, arrived)? {
                return Some(end);
            }
        }
    }

    /// Forwards a link's next packet, if it reaches its far end by `until`. One that has reached the
    /// end of its route is left in `arrived`: returned, it would be moved several times.
    #[inline(always)]
    pub(crate) fn forward_one(
        &mut self,
        link: u32,
        until: Time,
        arrived: &mut Packet,
    ) -> Option<Delivered> {
        let packet = self.links[link as usize].forward(until)?;
        self.now = packet.time;
        self.ns2_s = packet.ns2_s;
        match self.routes.hop(packet.route + 1) {
            Hop::Link(next) => {
                self.transfer(link, next);
                Some(Delivered::ToLink)
            }
            Hop::Impairments(index, carrier) => {
                let route = packet.route + 2;
                let packet = Packet { route, ..*packet };
                self.impair(index, carrier, packet);
                Some(Delivered::ToLink)
            }
            Hop::End(end) => {
                *arrived = *packet;
                Some(Delivered::ToEnd(end))
            }
        }
    }

    /// The packet that a link will forward after so many others, if it is known.
    #[inline]
    pub(crate) fn ahead(&self, link: u32, others: usize) -> Option<&Packet> {
        self.links[link as usize].ahead(others)
    }

    /// The event of a link's arrivals is over: there may be another.
    #[inline]
    pub(crate) fn finish_arrivals(&mut self, link: u32) {
        match self.links[link as usize].next_arrival() {
            Some(next) => self.schedule.renew_arrival(next, link),
            None => self.schedule.finish_link(),
        }
    }

    /// The event of arrivals at a link that several others lead to.
    pub(crate) fn merge(&mut self, index: u32) {
        let begin = self.now;
        let until = self.merges[index as usize].may_go_on_until(begin, &self.schedule);
        while let Some((link, time)) = self.merges[index as usize].next_by(until) {
            let feeder = &mut self.links[link as usize];
            let Some(packet) = feeder.forward(time) else {
                unreachable!("a merge knows of packets on links only");
            };
            self.now = packet.time;
            self.ns2_s = packet.ns2_s;
            let next = feeder.next_arrival();
            let merge = &mut self.merges[index as usize];
            merge.renew(link, next);
            let into = merge.into;
            self.transfer(link, into);
        }
        self.merges[index as usize].finish(begin, &mut self.schedule);
    }

    /// The event of an update of a link's queue discipline.
    pub(crate) fn update_queue(&mut self, link: u32) {
        let interval = self.links[link as usize].update(self.now, &mut self.options);
        let next = self.now + interval.expect("only disciplines with updates have events for them");
        self.schedule
            .push_observation(next, Event::QueueUpdate(link));
    }

    /// Brings all links up to now.
    fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.options);
        }
    }

    /// The packet about to arrive at the far end of a link whose packets are recorded.
    #[inline]
    pub(crate) fn captured(&self, link: u32) -> Option<&Packet> {
        let link = &self.links[link as usize];
        let due = |packet: &&Packet| link.captured && packet.time <= self.now;
        link.next().filter(due)
    }

    /// What will take a packet at the end of its route.
    pub(crate) fn destination(&self, packet: &Packet) -> End {
        let mut position = packet.route;
        loop {
            match self.routes.hop(position) {
                Hop::Link(_) | Hop::Impairments(..) => position += 1,
                Hop::End(end) => return end,
            }
        }
    }

    /// Counters of every link up to now.
    pub(crate) fn counters(&mut self) -> Vec<LinkCounters> {
        self.catch_up();
        let now = self.now;
        let counters = self.links.iter_mut().map(|link| link.counters(now));
        let mut counters: Vec<LinkCounters> = counters.collect();
        for (link, duplicated_pkts) in self.duplicated() {
            counters[link].duplicated_pkts = duplicated_pkts;
        }
        counters
    }

    /// Counts drops and marks of the data packets of each of so many connections.
    pub(crate) fn track(&mut self, connections: u32) {
        for link in &mut self.links {
            link.track(connections);
        }
    }

    /// Drops and marks of the data packets of each of so many connections, on all links.
    pub(crate) fn flow_drops(&mut self, connections: usize) -> Vec<FlowDrops> {
        self.catch_up();
        let mut all = vec![FlowDrops::default(); connections];
        for link in &self.links {
            link.add_flow_drops(&mut all);
        }
        all
    }

    /// Restarts the record of largest queues; returns those so far.
    pub(crate) fn restart_maxima(&mut self) -> Vec<u64> {
        self.catch_up();
        let now = self.now;
        self.links
            .iter_mut()
            .map(|link| link.restart_maximum(now))
            .collect()
    }

    /// Samples of the links that are sampled.
    pub(crate) fn samples(&mut self) -> impl Iterator<Item = LinkSample> {
        self.catch_up();
        let now = self.now;
        self.links
            .iter_mut()
            .filter(|link| link.sampled)
            .map(move |link| link.sample(now))
    }
}
