//! Moves packets: routers are drop-tail queues with a rate, backbone links are delays.
//!
//! A queue is a few numbers (`queue.rs`); stored are only packets in flight between two elements
//! (`fifos.rs`), in order of arrival. An event is the arrival of a packet where several FIFOs meet: at a
//! point of presence from below, at a backbone router, at a host. From the last backbone router down to
//! the host no other packet can come between, so that the three queues on this path are processed in one
//! event; never past the end of an interval, at which queues are sampled ([`Network::horizon`]).

mod fifos;
mod packet;
mod packet_trace;
mod queue;
mod routing;
mod shared_server;
mod tournament;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::fifos::Fifos;
pub(crate) use self::packet::{FlowId, Kind, Packet};
pub(crate) use self::packet_trace::{PacketTrace, TraceState};
use self::queue::DropTailQueue;
pub(crate) use self::routing::Routing;
use self::routing::{AccessParent, Destination};
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

/// Routers and links, and all packets between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Arrivals up to here may be processed early.
    horizon: Time,
    routing: Routing,
    /// Queues towards the backbone and towards the hosts.
    access: Vec<RouterQueues>,
    pops: Vec<RouterQueues>,
    backbone: Vec<DropTailQueue>,
    /// Points of presence and access routers, if they have one server for both queues.
    shared: Vec<SharedServer>,
    delays: Vec<Span>,
    /// Packets sent into each link, including those whose departure is still to come.
    sent: Vec<u64>,
    /// Time between two packets of a host, by its speed.
    packet_intervals: Vec<Span>,
    fifos: Fifos,
    destinations: Vec<Destination>,
    #[serde(skip)]
    event_list: Tournament,
    rebased: Time,
    /// Events so far.
    pub(crate) events: u64,
    /// Whether [`Self::send`] may take its fast path: separate servers, no trace.
    fast_send: bool,
    /// Whether packets are traced now, and of which flows.
    traced: bool,
    packet_trace: Option<Box<PacketTrace>>,
}

/// The flow of filler packets.
const FILLER: FlowId = FlowId {
    slot: u32::MAX,
    generation: 0,
};

/// The two queues of a router, each served at its full capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RouterQueues {
    up: DropTailQueue,
    down: DropTailQueue,
}

impl Network {
    /// The network of `topology`, with hosts of these speeds.
    pub(crate) fn new(topology: &Topology, packet_intervals: Vec<Span>) -> Self {
        let pair = |router: &Router| RouterQueues {
            up: DropTailQueue::new(router.capacity, router.buffer),
            down: DropTailQueue::new(router.capacity, router.buffer),
        };
        let routing = Routing::new(topology, packet_intervals.len());
        let destinations = routing.destinations();
        let pops = topology.pops.iter().map(|pop| &pop.router);
        let two_queues = pops.chain(topology.access.iter().map(|access| &access.router));
        let shared = match topology.service {
            Service::Dual => Vec::new(),
            service => two_queues
                .map(|router| SharedServer::new(router, service == Service::Alternating))
                .collect(),
        };
        let backbone = topology.backbone.iter();
        Self {
            fast_send: shared.is_empty(),
            traced: false,
            packet_trace: None,
            now: Time::ZERO,
            horizon: Time::ZERO,
            access: topology.access.iter().map(|at| pair(&at.router)).collect(),
            pops: topology.pops.iter().map(|at| pair(&at.router)).collect(),
            backbone: backbone
                .map(|at| DropTailQueue::new(at.capacity, at.buffer))
                .collect(),
            shared,
            delays: topology.links.iter().map(|link| link.delay).collect(),
            sent: vec![0; topology.links.len()],
            packet_intervals,
            fifos: Fifos::new(
                destinations.len(),
                Packet::new(Kind::Data, 0, FILLER, 0, Time::ZERO),
            ),
            event_list: Tournament::new(destinations.len()),
            destinations,
            routing,
            rebased: Time::ZERO,
            events: 0,
        }
    }

    /// Routing tables.
    pub(crate) fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Time between two packets of a host.
    #[inline]
    pub(crate) fn packet_interval(&self, speed: u16) -> Span {
        self.packet_intervals[speed as usize]
    }

    /// Queues are sampled at `horizon` and not before. Those that share a server are never processed
    /// early.
    pub(crate) fn set_horizon(&mut self, horizon: Time) {
        if self.shared.is_empty() {
            self.horizon = horizon;
        }
    }

    /// The next event at a host, if there is one by `limit`. Compiled twice: the copy that traces
    /// packets (`packet_trace.rs`) costs the other one no test.
    #[inline]
    pub(crate) fn next<const TRACED: bool>(&mut self, limit: Time) -> Option<HostEvent> {
        while let Some(fifo) = self.event_list.first_by(limit) {
            let (at, time) = self.fifos.pop(fifo);
            self.event_list.renew(fifo, self.fifos.first(fifo));
            self.now = time;
            self.events += 1;
            match self.destinations[fifo] {
                Destination::Pop(pop) => self.arrive_at_pop::<TRACED>(pop, at),
                Destination::Backbone(router) => self.arrive_at_backbone::<TRACED>(router, at),
                Destination::Host => return Some(HostEvent::Delivered(*self.fifos.packet(at))),
                Destination::AckReady => return Some(HostEvent::AckReady(*self.fifos.packet(at))),
                Destination::MaySend => {
                    return Some(HostEvent::MaySend(self.fifos.packet(at).flow()));
                }
                Destination::DeferredAtPop(pop) => {
                    self.arrive_at_pop_from_backbone::<TRACED>(
                        pop,
                        time,
                        self.fifos.packet(at).to,
                        at,
                    );
                }
                Destination::DeferredAtAccess => {
                    self.arrive_at_access::<TRACED>(time, self.fifos.packet(at).to, at);
                }
                Destination::Sent(access) => {
                    self.enqueue_shared::<TRACED>(
                        self.pops.len() + access as usize,
                        Direction::Up,
                        at,
                    );
                }
                Destination::Served(router) => self.end_service::<TRACED>(router as usize, at),
                Destination::AckQueue => unreachable!("the tournament does not know these fifos"),
            }
        }
        None
    }

    /// The packet that will be delivered next by an access router.
    #[inline]
    pub(crate) fn next_delivery(&self, access: u16) -> Option<&Packet> {
        self.fifos.peek(self.routing.to_hosts(access))
    }

    /// Moves the origin of the event list, if it is due.
    pub(crate) fn rebase(&mut self) {
        if self.now.since(self.rebased) >= Tournament::REACH / 2 {
            self.rebased = self.now;
            self.order_lines();
        }
    }

    /// Rebuilds the event list, which checkpoints do not store.
    pub(crate) fn rebuild(&mut self) {
        self.event_list = Tournament::new(self.destinations.len());
        self.order_lines();
    }

    fn order_lines(&mut self) {
        let fifos = self.destinations.iter().enumerate();
        let firsts = fifos.map(|(fifo, &destination)| match destination {
            Destination::AckQueue => None,
            _ => self.fifos.first(fifo),
        });
        self.event_list.rebase(self.rebased, firsts);
    }

    /// A host under `access` sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, access: u16, packet: Packet) {
        if !self.fast_send {
            self.send_slow_path(access, packet);
        } else if let Some(departure) = self.access[access as usize].up.enqueue(self.now) {
            self.push(access as usize, departure, packet);
        }
    }

    /// A receiver begins to process a packet that it will acknowledge.
    #[inline]
    pub(crate) fn process(&mut self, speed: u16, packet: Packet) {
        let time = self.now + self.packet_interval(speed);
        self.push(self.routing.processing(speed), time, packet);
    }

    /// A source that has just sent may send again one packet interval later.
    #[inline]
    pub(crate) fn pace(&mut self, speed: u16, flow: FlowId) {
        let time = self.now + self.packet_interval(speed);
        let turn = Packet::new(Kind::Data, 0, flow, 0, self.now);
        self.push(self.routing.pacing(speed), time, turn);
    }

    /// The packet at index `at` arrives at a point of presence from below.
    #[inline]
    fn arrive_at_pop<const TRACED: bool>(&mut self, pop: u16, at: usize) {
        let now = self.now;
        if !self.shared.is_empty() {
            return self.enqueue_shared::<TRACED>(pop as usize, Direction::Up, at);
        }
        let departure = self.pops[pop as usize].up.enqueue(now);
        if TRACED {
            self.record_enqueue(now, at, RouterId::Pop(pop.into()), Direction::Up, departure);
        }
        if let Some(departure) = departure {
            self.forward(self.routing.out_of_pop(pop), departure, at);
        }
    }

    /// The packet at index `at` arrives at a backbone router.
    #[inline]
    fn arrive_at_backbone<const TRACED: bool>(&mut self, router: u16, at: usize) {
        let now = self.now;
        let departure = self.backbone[router as usize].enqueue(now);
        if TRACED {
            self.record_enqueue(
                now,
                at,
                RouterId::Backbone(router.into()),
                Direction::Up,
                departure,
            );
        }
        let Some(departure) = departure else {
            return;
        };
        let to = self.fifos.packet(at).to;
        let domain = self.routing.domain(to);
        if domain != router {
            let link = self.routing.link(router, domain);
            self.sent[link as usize] += 1;
            let time = departure + self.delays[link as usize];
            self.forward(self.routing.on_link(link), time, at);
            return;
        }
        match self.routing.above(to) {
            AccessParent::Pop(pop) => {
                let fifo = self.routing.deferred_at_pop(pop);
                if self.may_process_early(fifo, departure) {
                    self.arrive_at_pop_from_backbone::<TRACED>(pop, departure, to, at);
                } else {
                    self.forward(fifo, departure, at);
                }
            }
            AccessParent::Backbone => self.send_to_access::<TRACED>(departure, to, at),
        }
    }

    /// The packet at index `at`, for access router `to`, arrives at a point of presence from the
    /// backbone.
    #[inline]
    fn arrive_at_pop_from_backbone<const TRACED: bool>(
        &mut self,
        pop: u16,
        time: Time,
        to: u16,
        at: usize,
    ) {
        if !self.shared.is_empty() {
            return self.enqueue_shared::<TRACED>(pop as usize, Direction::Down, at);
        }
        let departure = self.pops[pop as usize].down.enqueue(time);
        if TRACED {
            self.record_enqueue(
                time,
                at,
                RouterId::Pop(pop.into()),
                Direction::Down,
                departure,
            );
        }
        if let Some(departure) = departure {
            self.send_to_access::<TRACED>(departure, to, at);
        }
    }

    /// The packet leaves for its access router, where it arrives at `time`.
    #[inline]
    fn send_to_access<const TRACED: bool>(&mut self, time: Time, to: u16, at: usize) {
        let fifo = self.routing.deferred_at_access(to);
        if self.may_process_early(fifo, time) {
            self.arrive_at_access::<TRACED>(time, to, at);
        } else {
            self.forward(fifo, time, at);
        }
    }

    /// The packet arrives at its access router from above.
    #[inline]
    fn arrive_at_access<const TRACED: bool>(&mut self, time: Time, to: u16, at: usize) {
        if !self.shared.is_empty() {
            return self.enqueue_shared::<TRACED>(
                self.pops.len() + to as usize,
                Direction::Down,
                at,
            );
        }
        let departure = self.access[to as usize].down.enqueue(time);
        if TRACED {
            self.record_enqueue(
                time,
                at,
                RouterId::Access(to.into()),
                Direction::Down,
                departure,
            );
        }
        if let Some(departure) = departure {
            self.forward(self.routing.to_hosts(to), departure, at);
        }
    }

    /// Whether an arrival at `time` may be processed now: nothing in `fifo` comes before it.
    #[inline]
    fn may_process_early(&self, fifo: usize, time: Time) -> bool {
        time <= self.horizon && self.fifos.is_empty(fifo)
    }

    /// Appends a packet to a FIFO.
    #[inline]
    fn push(&mut self, fifo: usize, time: Time, packet: Packet) {
        if self.fifos.push(fifo, time, packet) {
            self.event_list.enter(fifo, time);
        }
    }

    /// Appends the packet that was removed last, from index `at`, to a FIFO.
    #[inline]
    fn forward(&mut self, fifo: usize, time: Time, at: usize) {
        if self.fifos.forward(fifo, time, at) {
            self.event_list.enter(fifo, time);
        }
    }

    /// Samples the queue of a backbone router.
    pub(crate) fn sample_backbone(&self, router: usize) -> QueueSample {
        self.backbone[router].sample(self.now)
    }

    /// Samples the queues of a point of presence: up and down.
    pub(crate) fn sample_pop(&self, pop: usize) -> (QueueSample, QueueSample) {
        let shared = self.shared.get(pop).map(SharedServer::sample);
        shared.unwrap_or_else(|| self.pops[pop].sample(self.now))
    }

    /// Samples the queues of an access router: up and down.
    pub(crate) fn sample_access(&self, access: usize) -> (QueueSample, QueueSample) {
        let shared = self.shared.get(self.pops.len() + access);
        let shared = shared.map(SharedServer::sample);
        shared.unwrap_or_else(|| self.access[access].sample(self.now))
    }

    /// Packets that have entered a link by now.
    pub(crate) fn entered(&self, link: usize) -> u64 {
        let entered = self.now + self.delays[link];
        let times = self.fifos.latest_first(self.routing.on_link(link as u16));
        let ahead = times.take_while(|&time| time > entered);
        self.sent[link] - ahead.count() as u64
    }
}

impl RouterQueues {
    fn sample(&self, now: Time) -> (QueueSample, QueueSample) {
        (self.up.sample(now), self.down.sample(now))
    }
}
