//! Moves packets: routers are drop-tail queues with a rate, backbone links are delays.
//!
//! The network consists of regions that can be simulated alone for a time (`regions.rs`); a [`Network`]
//! is one of them. A queue of a backbone router, or of any router whose queues are served separately, is
//! a few numbers (`queue.rs`): a departure time is known at the arrival. Stored are packets in flight
//! between two elements, in order of arrival, and packets that wait for a server that two queues share
//! (`shared_server.rs`).
//!
//! An event is the arrival of a packet where several FIFOs meet, or the end of a service. What follows
//! at once, or before any other event, is processed in the same event: packets that only pass a backbone
//! router before what its own region sends there, and packets on their way down from it.

mod arrivals;
mod fifo;
mod layout;
mod packet;
mod packet_trace;
mod queue;
mod regions;
mod routes;
mod shared_server;
mod tournament;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::arrivals::Arrivals;
pub(crate) use self::arrivals::InFlight;
use self::fifo::Fifo;
use self::layout::{AccessParent, Hop, Layout, Station};
pub(crate) use self::packet::{FlowId, Kind, Packet};
pub(crate) use self::packet_trace::{FlowEnd, PacketTrace, TraceState};
use self::queue::DropTailQueue;
pub(crate) use self::regions::Regions;
pub(crate) use self::routes::Routes;
use self::shared_server::SharedServer;
use self::tournament::Tournament;
use crate::config::{Router, Service, Topology};
use crate::records::{Direction, QueueSample, RouterId};

/// An event at a host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostEvent {
    /// A packet has passed the access router of its host.
    Delivered(Packet),
    /// A receiver has generated an acknowledgement, which is sent now.
    AckReady(Packet),
    /// A source may send the next data packet.
    MaySend(FlowId),
}

/// Routers and links of a region, and all packets between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Arrivals up to here may be processed early.
    horizon: Time,
    layout: Layout,
    /// Queues towards the backbone and towards the hosts, if they are served separately.
    access: Vec<RouterQueues>,
    pops: Vec<RouterQueues>,
    /// Points of presence, then access routers, with one server for both queues, if they have.
    shared: Vec<SharedServer>,
    backbone: Vec<DropTailQueue>,
    /// From other regions, by backbone router.
    arrivals: Vec<Arrivals>,
    /// By link that begins here: packets sent into it, including those whose departure is still to come;
    /// and to other regions, those that have not been handed over.
    sent: Vec<u64>,
    outboxes: Vec<Vec<InFlight>>,
    /// Time between two packets of a host, by its speed.
    packet_intervals: Vec<Span>,
    /// Packets in flight, by station.
    fifos: Vec<Fifo<InFlight>>,
    #[serde(skip)]
    event_list: Tournament,
    rebased: Time,
    /// Events so far.
    pub(crate) events: u64,
    /// Whether [`Self::send`] may take its fast path: no trace.
    fast_send: bool,
    /// Whether packets are traced now, and of which flows.
    traced: bool,
    packet_trace: Option<Box<PacketTrace>>,
}

/// The two queues of a router, each served at its full capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RouterQueues {
    up: DropTailQueue,
    down: DropTailQueue,
}

impl Network {
    /// A region of the network of `topology`, with hosts of these speeds.
    pub(crate) fn new(
        topology: &Topology,
        regions: &Regions,
        routes: &Routes,
        region: usize,
        packet_intervals: Vec<Span>,
    ) -> Self {
        let layout = Layout::new(topology, regions, routes, region, packet_intervals.len());
        let own = |ids: &[u16]| ids.iter().map(|&id| usize::from(id)).collect::<Vec<_>>();
        let pops = own(&layout.pops);
        let pops = pops.iter().map(|&pop| &topology.pops[pop].router);
        let access = own(&layout.access);
        let access = access.iter().map(|&access| &topology.access[access].router);
        let separate = topology.service == Service::Dual;
        let queues = |router: &Router| RouterQueues {
            up: DropTailQueue::new(router.capacity, router.buffer),
            down: DropTailQueue::new(router.capacity, router.buffer),
        };
        let backbone = own(&layout.backbone).into_iter();
        let cross_region = |router: &u16| {
            let links = topology.links.iter().enumerate();
            let here = links.filter(|(_, link)| {
                link.to == usize::from(*router) && regions.of_backbone(link.from) != region
            });
            Arrivals::new(here.map(|(id, _)| id as u16))
        };
        let strict = topology.service == Service::Alternating;
        let servers = pops.clone().chain(access.clone()).filter(|_| !separate);
        let shared = servers.map(|router| SharedServer::new(router, strict));
        let shared: Vec<SharedServer> = shared.collect();
        Self {
            traced: false,
            fast_send: true,
            packet_trace: None,
            now: Time::ZERO,
            horizon: Time::ZERO,
            access: access.filter(|_| separate).map(queues).collect(),
            pops: pops.filter(|_| separate).map(queues).collect(),
            backbone: backbone
                .map(|at| &topology.backbone[at])
                .map(|at| DropTailQueue::new(at.capacity, at.buffer))
                .collect(),
            arrivals: layout.backbone.iter().map(cross_region).collect(),
            sent: vec![0; layout.out_links.len()],
            outboxes: vec![Vec::new(); layout.out_links.len()],
            packet_intervals,
            fifos: vec![Fifo::default(); layout.stations.len()],
            event_list: Tournament::new(layout.stations.len()),
            shared,
            layout,
            rebased: Time::ZERO,
            events: 0,
        }
    }

    /// Time between two packets of a host.
    #[inline]
    pub(crate) fn packet_interval(&self, speed: u16) -> Span {
        self.packet_intervals[speed as usize]
    }

    /// Links that lead here from other regions: backbone router, position there, number in the network.
    pub(crate) fn links_in(&self) -> Vec<(u16, usize, u16)> {
        let routers = self.arrivals.iter().enumerate();
        let links = routers.flat_map(|(router, arrivals)| {
            let links = arrivals.links().iter().enumerate();
            links.map(move |(at, &link)| (router as u16, at, link))
        });
        links.collect()
    }

    /// Receives packets on such a link.
    pub(crate) fn receive(&mut self, router: u16, at: usize, packets: &mut Vec<InFlight>) {
        let layout = &self.layout;
        let stays = |packet: &Packet| !matches!(layout.hop(router, packet.to), Hop::Link(_));
        self.arrivals[router as usize].receive(at, packets, stays);
        self.expect_cross_region(router);
    }

    /// Packets from other regions that stay in this one and arrive by `end`.
    pub(crate) fn staying_until(&self, end: Time) -> impl Iterator<Item = &Packet> {
        let arrivals = self.arrivals.iter();
        arrivals.flat_map(move |arrivals| arrivals.staying_until(end))
    }

    /// How many packets on such a link that were received arrive after `time`.
    pub(crate) fn later_than(&self, router: u16, at: usize, time: Time) -> usize {
        self.arrivals[router as usize].later_than(at, time)
    }

    /// Queues are sampled at `until` and not before; nothing is processed beyond it.
    pub(crate) fn set_horizon(&mut self, until: Time) {
        self.horizon = until;
    }

    /// All events until `until` have been processed.
    pub(crate) fn finish<const TRACED: bool>(&mut self, until: Time) {
        for router in 0..self.backbone.len() as u16 {
            self.pass_through::<TRACED>(router, until);
        }
        self.now = until;
    }

    /// Packets for other regions, by link, that have not been handed over.
    pub(crate) fn outboxes(&mut self) -> impl Iterator<Item = (u16, &mut Vec<InFlight>)> {
        let links = self.layout.out_links.iter().zip(&mut self.outboxes);
        links.map(|(link, packets)| (link.id, packets))
    }

    /// The next event at a host, if there is one by `limit`. Compiled twice: the copy that traces
    /// packets (`packet_trace.rs`) costs the other one no test.
    #[inline]
    pub(crate) fn next<const TRACED: bool>(&mut self, limit: Time) -> Option<HostEvent> {
        while let Some(station) = self.event_list.first_by(limit) {
            self.events += 1;
            match self.layout.stations[station] {
                Station::PopServer(pop) => self.end_service_at_pop::<TRACED>(pop, limit),
                Station::AccessServer(access) => {
                    let delivered = self.end_service_at_access::<TRACED>(access, limit);
                    if delivered.is_some() {
                        return delivered;
                    }
                }
                Station::CrossRegion(router) => self.arrive_cross_region::<TRACED>(router, limit),
                Station::AckReady => return Some(HostEvent::AckReady(self.pop(station))),
                Station::MaySend => return Some(HostEvent::MaySend(self.pop(station).flow())),
                Station::OutOfBackbone(router) => {
                    let packet = self.pop(station);
                    self.arrive_from_backbone::<TRACED>(router, self.now, packet);
                }
                Station::OnLink(router) => {
                    let packet = self.pop(station);
                    self.arrive_at_backbone::<TRACED>(router, packet, limit);
                }
                Station::OutOfPop(pop) => {
                    let packet = self.pop(station);
                    let router = self.layout.parent(pop);
                    self.arrive_at_backbone::<TRACED>(router, packet, limit);
                }
                Station::OutOfAccess(access) => {
                    let packet = self.pop(station);
                    self.arrive_from_access::<TRACED>(access, packet, limit);
                }
                Station::BelowPop => {
                    let packet = self.pop(station);
                    self.arrive_at_access::<TRACED>(self.now, packet);
                }
                Station::ToHosts => return Some(HostEvent::Delivered(self.pop(station))),
            }
        }
        None
    }

    /// Removes the first packet of a FIFO, whose arrival is the current event.
    #[inline]
    fn pop(&mut self, station: usize) -> Packet {
        let fifo = &mut self.fifos[station];
        let first = fifo.pop().expect("its arrival is an event");
        let next = fifo.first().map_or(Time::NEVER, |next| next.time);
        self.event_list.set(station, next);
        self.now = first.time;
        first.packet
    }

    /// A service ends at a point of presence.
    #[inline]
    fn end_service_at_pop<const TRACED: bool>(&mut self, pop: u16, limit: Time) {
        let served = self.shared[pop as usize].serving();
        let packet = self.end_service(pop as usize, served);
        match served {
            Direction::Up => {
                let router = self.layout.parent(pop);
                self.arrive_at_backbone::<TRACED>(router, packet, limit);
            }
            Direction::Down => self.arrive_at_access::<TRACED>(self.now, packet),
        }
    }

    /// A service ends at an access router.
    #[inline]
    fn end_service_at_access<const TRACED: bool>(
        &mut self,
        access: u16,
        limit: Time,
    ) -> Option<HostEvent> {
        let router = self.layout.pops.len() + access as usize;
        let served = self.shared[router].serving();
        let packet = self.end_service(router, served);
        match served {
            Direction::Up => {
                self.arrive_from_access::<TRACED>(access, packet, limit);
                None
            }
            Direction::Down => Some(HostEvent::Delivered(packet)),
        }
    }

    /// Moves the origin of the event list, if it is due.
    pub(crate) fn rebase(&mut self) {
        if self.now.since(self.rebased) >= Tournament::REACH / 2 {
            self.rebased = self.now;
            self.rebuild();
        }
    }

    /// Rebuilds the event list, which checkpoints do not store.
    pub(crate) fn rebuild(&mut self) {
        let mut event_list = Tournament::new(self.layout.stations.len());
        event_list.set_base(self.rebased);
        for (number, &station) in self.layout.stations.iter().enumerate() {
            let pops = self.layout.pops.len();
            let time = match station {
                Station::PopServer(pop) => self.shared[pop as usize].end_of_service(),
                Station::AccessServer(access) => {
                    self.shared[pops + access as usize].end_of_service()
                }
                Station::CrossRegion(router) => self.arrivals[router as usize].next_staying(),
                _ => self.fifos[number]
                    .first()
                    .map_or(Time::NEVER, |next| next.time),
            };
            event_list.set(number, time);
        }
        self.event_list = event_list;
    }

    /// A host under `access` sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, access: u16, packet: Packet) {
        let access = self.layout.local(access);
        if !self.fast_send {
            self.send_traced(access, packet);
        } else if !self.shared.is_empty() {
            self.enqueue_shared::<false>(
                self.layout.pops.len() + access as usize,
                Direction::Up,
                packet,
            );
        } else if let Some(departure) = self.access[access as usize].up.enqueue(self.now) {
            self.push(self.layout.out_of_access(access), departure, packet);
        }
    }

    /// A receiver begins to process a packet that it will acknowledge.
    #[inline]
    pub(crate) fn process(&mut self, speed: u16, packet: Packet) {
        let time = self.now + self.packet_interval(speed);
        self.push(self.layout.ack_ready(speed), time, packet);
    }

    /// A source that has just sent may send again one packet interval later.
    #[inline]
    pub(crate) fn pace(&mut self, speed: u16, flow: FlowId) {
        let time = self.now + self.packet_interval(speed);
        let turn = Packet::new(Kind::Data, 0, flow, 0, self.now);
        self.push(self.layout.may_send(speed), time, turn);
    }

    /// A packet arrives at the router above an access router.
    #[inline]
    fn arrive_from_access<const TRACED: bool>(&mut self, access: u16, packet: Packet, limit: Time) {
        match self.layout.above(access) {
            AccessParent::Backbone(router) => {
                self.arrive_at_backbone::<TRACED>(router, packet, limit);
            }
            AccessParent::Pop(pop) if !self.shared.is_empty() => {
                self.enqueue_shared::<TRACED>(pop as usize, Direction::Up, packet);
            }
            AccessParent::Pop(pop) => {
                let now = self.now;
                let departure = self.pops[pop as usize].up.enqueue(now);
                if TRACED {
                    let router = RouterId::Pop(self.layout.pops[pop as usize].into());
                    self.record_enqueue(now, &packet, router, Direction::Up, departure);
                }
                if let Some(departure) = departure {
                    self.push(self.layout.out_of_pop(pop), departure, packet);
                }
            }
        }
    }

    /// The next packet that stays in the region arrives from another one.
    #[inline]
    fn arrive_cross_region<const TRACED: bool>(&mut self, router: u16, limit: Time) {
        self.pass_through::<TRACED>(router, self.arrivals[router as usize].next_staying());
        let Some(InFlight { time, packet }) = self.arrivals[router as usize].take_staying() else {
            return;
        };
        self.expect_cross_region(router);
        self.now = time;
        self.enqueue_at_backbone::<TRACED>(router, time, packet, limit);
    }

    /// Enters the next packet from another region that stays in this one in the event list.
    #[inline]
    fn expect_cross_region(&mut self, router: u16) {
        let time = self.arrivals[router as usize].next_staying();
        self.event_list.set(self.layout.cross_region(router), time);
    }

    /// A packet arrives at a backbone router from its own region.
    #[inline]
    fn arrive_at_backbone<const TRACED: bool>(&mut self, router: u16, packet: Packet, limit: Time) {
        self.pass_through::<TRACED>(router, self.now);
        self.enqueue_at_backbone::<TRACED>(router, self.now, packet, limit);
    }

    /// Processes what passes a backbone router on its way between other regions, until `time`.
    #[inline]
    fn pass_through<const TRACED: bool>(&mut self, router: u16, time: Time) {
        while let Some(one) = self.arrivals[router as usize].take_passing(time) {
            self.events += 1;
            self.enqueue_at_backbone::<TRACED>(router, one.time, one.packet, time);
        }
    }

    /// A packet is queued at a backbone router at `time`.
    #[inline]
    fn enqueue_at_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        time: Time,
        packet: Packet,
        limit: Time,
    ) {
        let departure = self.backbone[router as usize].enqueue(time);
        if TRACED {
            let id = RouterId::Backbone(self.layout.backbone[router as usize].into());
            self.record_enqueue(time, &packet, id, Direction::Up, departure);
        }
        let Some(departure) = departure else {
            return;
        };
        if let Hop::Link(link) = self.layout.hop(router, packet.to) {
            return self.send_on_link(link, departure, packet);
        }
        let station = self.layout.out_of_backbone(router);
        let early = if self.shared.is_empty() {
            departure <= self.horizon
        } else {
            departure <= limit && self.event_list.is_before_first(departure)
        };
        if early && self.fifos[station].is_empty() {
            self.arrive_from_backbone::<TRACED>(router, departure, packet);
        } else {
            self.push(station, departure, packet);
        }
    }

    #[inline]
    fn send_on_link(&mut self, link: u16, departure: Time, packet: Packet) {
        let link = link as usize;
        self.sent[link] += 1;
        let out = self.layout.out_links[link];
        let time = departure + out.delay;
        match out.within {
            None => self.outboxes[link].push(InFlight { time, packet }),
            Some(fifo) => self.push(fifo, time, packet),
        }
    }

    /// A packet for this region has left its last backbone router at `time`.
    #[inline]
    fn arrive_from_backbone<const TRACED: bool>(
        &mut self,
        router: u16,
        time: Time,
        packet: Packet,
    ) {
        let Hop::Pop(pop) = self.layout.hop(router, packet.to) else {
            return self.arrive_at_access::<TRACED>(time, packet);
        };
        if !self.shared.is_empty() {
            self.now = time;
            return self.enqueue_shared::<TRACED>(pop as usize, Direction::Down, packet);
        }
        let departure = self.pops[pop as usize].down.enqueue(time);
        if TRACED {
            let id = RouterId::Pop(self.layout.pops[pop as usize].into());
            self.record_enqueue(time, &packet, id, Direction::Down, departure);
        }
        if let Some(departure) = departure {
            let fifo = self.layout.below_pop(pop);
            if departure <= self.horizon && self.fifos[fifo].is_empty() {
                self.arrive_at_access::<TRACED>(departure, packet);
            } else {
                self.push(fifo, departure, packet);
            }
        }
    }

    /// The packet arrives at its access router from above, at `time`.
    #[inline]
    fn arrive_at_access<const TRACED: bool>(&mut self, time: Time, packet: Packet) {
        let access = self.layout.local(packet.to);
        if !self.shared.is_empty() {
            self.now = time;
            let router = self.layout.pops.len() + access as usize;
            return self.enqueue_shared::<TRACED>(router, Direction::Down, packet);
        }
        let departure = self.access[access as usize].down.enqueue(time);
        if TRACED {
            let id = RouterId::Access(packet.to.into());
            self.record_enqueue(time, &packet, id, Direction::Down, departure);
        }
        if let Some(departure) = departure {
            self.push(self.layout.to_hosts(access), departure, packet);
        }
    }

    /// Appends a packet to a FIFO.
    #[inline]
    fn push(&mut self, station: usize, time: Time, packet: Packet) {
        let fifo = &mut self.fifos[station];
        debug_assert!(
            fifo.iter().next_back().is_none_or(|last| last.time <= time),
            "packets overtake each other"
        );
        if fifo.is_empty() {
            self.event_list.set(station, time);
        }
        fifo.push(InFlight { time, packet });
    }

    /// Samples backbone routers, with their numbers in the network.
    pub(crate) fn sample_backbone(&self) -> impl Iterator<Item = (u16, QueueSample)> {
        let queues = self.backbone.iter().map(|queue| queue.sample(self.now));
        self.layout.backbone.iter().copied().zip(queues)
    }

    /// Samples points of presence, with their numbers in the network: up and down.
    pub(crate) fn sample_pops(&self) -> impl Iterator<Item = (u16, (QueueSample, QueueSample))> {
        let samples = (0..self.layout.pops.len()).map(|pop| match self.shared.get(pop) {
            Some(shared) => shared.sample(),
            None => self.pops[pop].sample(self.now),
        });
        self.layout.pops.iter().copied().zip(samples)
    }

    /// Samples access routers, with their numbers in the network: up and down.
    pub(crate) fn sample_access(&self) -> impl Iterator<Item = (u16, (QueueSample, QueueSample))> {
        let first = self.layout.pops.len();
        let samples = (0..self.layout.access.len()).map(move |access| {
            match self.shared.get(first + access) {
                Some(shared) => shared.sample(),
                None => self.access[access].sample(self.now),
            }
        });
        self.layout.access.iter().copied().zip(samples)
    }

    /// Packets that have entered each link by now, with the link's number in the network. Of links to
    /// other regions, those are included that have been handed over and have not departed.
    pub(crate) fn entered(&self) -> impl Iterator<Item = (u16, u64)> {
        let links = self.layout.out_links.iter().enumerate();
        links.map(|(at, link)| {
            let entered = self.now + link.delay;
            let late = |one: &&InFlight| one.time > entered;
            let ahead = match link.within {
                Some(fifo) => self.fifos[fifo].iter().rev().take_while(late).count(),
                None => self.outboxes[at].iter().rev().take_while(late).count(),
            };
            (link.id, self.sent[at] - ahead as u64)
        })
    }
}

impl RouterQueues {
    fn sample(&self, now: Time) -> (QueueSample, QueueSample) {
        (self.up.sample(now), self.down.sample(now))
    }
}
