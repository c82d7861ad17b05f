//! The network of MesoNet: routers that are queues with a rate, links that are delays.
//!
//! It stands beside the network of TCP and UDP, whose ports know sizes, disciplines, marks and
//! losses. Here a packet has no size and a queue is drop-tail, so that a queue is a few numbers
//! (`server.rs`) and the only packets that are kept are those between two elements (`line.rs`), in
//! order of arrival. An event is the arrival of a packet where several lines meet: at a point of
//! presence from below, at a backbone router, at a host. From the last backbone router to the host
//! there is nothing to meet, so that the three queues on this way are passed in one event; never past
//! the end of an interval, at which queues are looked at ([`Network::horizon`]).

mod fifos;
mod packet;
mod packet_trace;
mod queue;
mod routing;
mod shared_server;
mod tournament;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::fifos::Lines;
pub(crate) use self::packet::{FlowId, Kind, Packet};
pub(crate) use self::packet_trace::{Watch, Watched};
use self::queue::Server;
pub(crate) use self::routing::Routing;
use self::routing::{Above, Stage};
use self::shared_server::{SharedRouter, Way};
use self::tournament::Tournament;
use crate::config::{Router, Service, Topology};
use crate::records::{QueueSample, Site};

/// Something that concerns hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// A packet has passed the access router of its host.
    Delivered(Packet),
    /// A receiver has made an answer, which leaves now.
    Answered(Packet),
    /// A source may send the next data packet.
    Paced(FlowId),
}

/// Routers and links, and all packets between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// Until when queues may be told of arrivals ahead of time.
    horizon: Time,
    routing: Routing,
    /// Queues towards the backbone and towards the hosts.
    access: Vec<Pair>,
    pops: Vec<Pair>,
    backbone: Vec<Server>,
    /// Points of presence and access routers instead, where they have one server.
    shared: Vec<SharedRouter>,
    delays: Vec<Span>,
    /// Packets that were sent into each link, some of them ahead of time.
    sent: Vec<u64>,
    /// How long hosts of each speed take for a packet.
    gaps: Vec<Span>,
    lines: Lines,
    stages: Vec<Stage>,
    #[serde(skip)]
    order: Tournament,
    rebased: Time,
    /// Events so far.
    pub(crate) events: u64,
    /// Whether what a host sends just goes into a queue of its own.
    plain: bool,
    /// Whether packets are followed now, and of which flows.
    traced: bool,
    watch: Option<Box<Watch>>,
}

/// The flow of packets that only fill places.
const NOBODY: FlowId = FlowId {
    place: u32::MAX,
    life: 0,
};

/// The two queues of a router, each served at its full capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    up: Server,
    down: Server,
}

impl Network {
    /// The network of `topology` with hosts that take `gaps` for a packet.
    pub(crate) fn new(topology: &Topology, gaps: Vec<Span>) -> Self {
        let pair = |router: &Router| Pair {
            up: Server::new(router.capacity, router.buffer),
            down: Server::new(router.capacity, router.buffer),
        };
        let routing = Routing::new(topology, gaps.len());
        let stages = routing.stages();
        let pops = topology.pops.iter().map(|pop| &pop.router);
        let two_queues = pops.chain(topology.access.iter().map(|access| &access.router));
        let shared = match topology.service {
            Service::Dual => Vec::new(),
            Service::Shared => two_queues.map(SharedRouter::new).collect(),
        };
        let backbone = topology.backbone.iter();
        Self {
            plain: shared.is_empty(),
            traced: false,
            watch: None,
            now: Time::ZERO,
            horizon: Time::ZERO,
            access: topology.access.iter().map(|at| pair(&at.router)).collect(),
            pops: topology.pops.iter().map(|at| pair(&at.router)).collect(),
            backbone: backbone
                .map(|at| Server::new(at.capacity, at.buffer))
                .collect(),
            shared,
            delays: topology.links.iter().map(|link| link.delay).collect(),
            sent: vec![0; topology.links.len()],
            gaps,
            lines: Lines::new(
                stages.len(),
                Packet::new(Kind::Data, 0, NOBODY, 0, Time::ZERO),
            ),
            order: Tournament::new(stages.len()),
            stages,
            routing,
            rebased: Time::ZERO,
            events: 0,
        }
    }

    /// Where things are and how to get there.
    pub(crate) fn routing(&self) -> &Routing {
        &self.routing
    }

    /// How long hosts of a speed take for a packet.
    #[inline]
    pub(crate) fn gap(&self, speed: u16) -> Span {
        self.gaps[speed as usize]
    }

    /// Queues are looked at when `horizon` is reached, and not before. Those that share a server are
    /// never told ahead of time.
    pub(crate) fn set_horizon(&mut self, horizon: Time) {
        if self.shared.is_empty() {
            self.horizon = horizon;
        }
    }

    /// The next event that concerns hosts, by `limit`. There is a copy of what packets go through that
    /// follows some of them (`watch.rs`), so that the other one does not even ask whether to.
    #[inline]
    pub(crate) fn next<const TRACED: bool>(&mut self, limit: Time) -> Option<Happening> {
        while let Some(line) = self.order.first_by(limit) {
            let (at, time) = self.lines.take(line);
            self.order.renew(line, self.lines.first(line));
            self.now = time;
            self.events += 1;
            match self.stages[line] {
                Stage::Pop(pop) => self.climb::<TRACED>(pop, at),
                Stage::Backbone(router) => self.cross::<TRACED>(router, at),
                Stage::Host => return Some(Happening::Delivered(*self.lines.packet(at))),
                Stage::Answer => return Some(Happening::Answered(*self.lines.packet(at))),
                Stage::Pace => return Some(Happening::Paced(self.lines.packet(at).flow())),
                Stage::HeldAtPop(pop) => {
                    self.descend::<TRACED>(pop, time, self.lines.packet(at).to, at);
                }
                Stage::HeldAtAccess => {
                    self.arrive::<TRACED>(time, self.lines.packet(at).to, at);
                }
                Stage::Sent(access) => {
                    self.offer_shared::<TRACED>(self.pops.len() + access as usize, Way::Up, at);
                }
                Stage::Served(router) => self.finish::<TRACED>(router as usize, at),
                Stage::Waiting => unreachable!("the tournament does not know these lines"),
            }
        }
        None
    }

    /// The packet that will be delivered next under an access router.
    #[inline]
    pub(crate) fn upcoming(&self, access: u16) -> Option<&Packet> {
        self.lines.peek(self.routing.to_hosts(access))
    }

    /// Counts keys of the tournament from now on, if it is time.
    pub(crate) fn rebase(&mut self) {
        if self.now.since(self.rebased) >= Tournament::REACH / 2 {
            self.rebased = self.now;
            self.order_lines();
        }
    }

    /// What is not stored: which line comes next.
    pub(crate) fn complete(&mut self) {
        self.order = Tournament::new(self.stages.len());
        self.order_lines();
    }

    fn order_lines(&mut self) {
        let lines = self.stages.iter().enumerate();
        let firsts = lines.map(|(line, &stage)| match stage {
            Stage::Waiting => None,
            _ => self.lines.first(line),
        });
        self.order.rebase(self.rebased, firsts);
    }

    /// A host under `access` sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, access: u16, packet: Packet) {
        if !self.plain {
            self.send_aside(access, packet);
        } else if let Some(departure) = self.access[access as usize].up.offer(self.now) {
            self.put(access as usize, departure, packet);
        }
    }

    /// A receiver starts to make an answer.
    #[inline]
    pub(crate) fn answer(&mut self, speed: u16, packet: Packet) {
        let time = self.now + self.gap(speed);
        self.put(self.routing.answers(speed), time, packet);
    }

    /// A source that has just sent waits for its turn to send again.
    #[inline]
    pub(crate) fn pace(&mut self, speed: u16, flow: FlowId) {
        let time = self.now + self.gap(speed);
        let turn = Packet::new(Kind::Data, 0, flow, 0, self.now);
        self.put(self.routing.paces(speed), time, turn);
    }

    /// The packet at `at` has come from below to a point of presence.
    #[inline]
    fn climb<const TRACED: bool>(&mut self, pop: u16, at: usize) {
        let now = self.now;
        if !self.shared.is_empty() {
            return self.offer_shared::<TRACED>(pop as usize, Way::Up, at);
        }
        let departure = self.pops[pop as usize].up.offer(now);
        if TRACED {
            self.note_offer(now, at, Site::Pop(pop.into()), Way::Up, departure);
        }
        if let Some(departure) = departure {
            self.forward(self.routing.out_of_pop(pop), departure, at);
        }
    }

    /// The packet at `at` has come to a backbone router.
    #[inline]
    fn cross<const TRACED: bool>(&mut self, router: u16, at: usize) {
        let now = self.now;
        let departure = self.backbone[router as usize].offer(now);
        if TRACED {
            self.note_offer(now, at, Site::Backbone(router.into()), Way::Up, departure);
        }
        let Some(departure) = departure else {
            return;
        };
        let to = self.lines.packet(at).to;
        let domain = self.routing.domain(to);
        if domain != router {
            let link = self.routing.link(router, domain);
            self.sent[link as usize] += 1;
            let time = departure + self.delays[link as usize];
            self.forward(self.routing.on_link(link), time, at);
            return;
        }
        match self.routing.above(to) {
            Above::Pop(pop) => {
                let line = self.routing.held_at_pop(pop);
                if self.may_go_ahead(line, departure) {
                    self.descend::<TRACED>(pop, departure, to, at);
                } else {
                    self.forward(line, departure, at);
                }
            }
            Above::Backbone => self.go_to_access::<TRACED>(departure, to, at),
        }
    }

    /// The packet at `at`, for access router `to`, comes at `time` from above to a point of presence.
    #[inline]
    fn descend<const TRACED: bool>(&mut self, pop: u16, time: Time, to: u16, at: usize) {
        if !self.shared.is_empty() {
            return self.offer_shared::<TRACED>(pop as usize, Way::Down, at);
        }
        let departure = self.pops[pop as usize].down.offer(time);
        if TRACED {
            self.note_offer(time, at, Site::Pop(pop.into()), Way::Down, departure);
        }
        if let Some(departure) = departure {
            self.go_to_access::<TRACED>(departure, to, at);
        }
    }

    /// The packet comes at `time` from above to its access router.
    #[inline]
    fn go_to_access<const TRACED: bool>(&mut self, time: Time, to: u16, at: usize) {
        let line = self.routing.held_at_access(to);
        if self.may_go_ahead(line, time) {
            self.arrive::<TRACED>(time, to, at);
        } else {
            self.forward(line, time, at);
        }
    }

    /// The access router is told of it.
    #[inline]
    fn arrive<const TRACED: bool>(&mut self, time: Time, to: u16, at: usize) {
        if !self.shared.is_empty() {
            return self.offer_shared::<TRACED>(self.pops.len() + to as usize, Way::Down, at);
        }
        let departure = self.access[to as usize].down.offer(time);
        if TRACED {
            self.note_offer(time, at, Site::Access(to.into()), Way::Down, departure);
        }
        if let Some(departure) = departure {
            self.forward(self.routing.to_hosts(to), departure, at);
        }
    }

    /// Whether a queue may be told now of an arrival at `time`, behind nothing that waits in `line`
    /// to be told of.
    #[inline]
    fn may_go_ahead(&self, line: usize, time: Time) -> bool {
        time <= self.horizon && self.lines.is_empty(line)
    }

    /// Puts a host's packet on a line.
    #[inline]
    fn put(&mut self, line: usize, time: Time, packet: Packet) {
        if self.lines.put(line, time, packet) {
            self.order.enter(line, time);
        }
    }

    /// Puts the packet that was taken last, from `at`, on a line.
    #[inline]
    fn forward(&mut self, line: usize, time: Time, at: usize) {
        if self.lines.forward(line, time, at) {
            self.order.enter(line, time);
        }
    }

    /// The queue of a backbone router.
    pub(crate) fn sample_backbone(&self, router: usize) -> QueueSample {
        self.backbone[router].sample(self.now)
    }

    /// The queues of a point of presence: up and down.
    pub(crate) fn sample_pop(&self, pop: usize) -> (QueueSample, QueueSample) {
        let shared = self.shared.get(pop).map(SharedRouter::sample);
        shared.unwrap_or_else(|| self.pops[pop].sample(self.now))
    }

    /// The queues of an access router: up and down.
    pub(crate) fn sample_access(&self, access: usize) -> (QueueSample, QueueSample) {
        let shared = self.shared.get(self.pops.len() + access);
        let shared = shared.map(SharedRouter::sample);
        shared.unwrap_or_else(|| self.access[access].sample(self.now))
    }

    /// Packets that have entered a link by now.
    pub(crate) fn entered(&self, link: usize) -> u64 {
        let entered = self.now + self.delays[link];
        let times = self.lines.latest_first(self.routing.on_link(link as u16));
        let ahead = times.take_while(|&time| time > entered);
        self.sent[link] - ahead.count() as u64
    }
}

impl Pair {
    fn sample(&self, now: Time) -> (QueueSample, QueueSample) {
        (self.up.sample(now), self.down.sample(now))
    }
}
