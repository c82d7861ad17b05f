//! Packet transport: routers are drop-tail queues with a rate, backbone links are delays.
//!
//! The network consists of regions that can be simulated alone for a time (`regions.rs`); a [`Network`] is one region.
//! A queue with its own server is a few numbers, since each departure time is known at the arrival (`queue.rs`).
//! Packets are stored only in flight, and while they wait for a server that two queues share (`shared_server.rs`).
//!
//! The event list holds arrivals of packets, ends of services and events at hosts, but two kinds of arrivals are
//! processed without it. A packet that only passes through the region is processed late: just before the next other
//! packet that arrives at the same backbone router, or at the end of the step ([`Network::finish`]). If a backbone
//! router sends a packet down to hosts, the packet's arrival at the next router is processed early, at once, unless
//! another event could precede this arrival.

mod arrivals;
mod cross_region;
mod events;
mod fifo;
mod forwarding;
mod host_interface;
mod layout;
mod packet;
mod packet_trace;
mod queue;
mod regions;
mod routes;
mod samples;
mod shared_server;
mod tournament;

use longhaul_units::{Span, Time};
use serde::{Deserialize, Serialize};

use self::arrivals::Arrivals;
pub(crate) use self::arrivals::Crossing;
use self::arrivals::InFlight;
use self::fifo::Fifo;
pub(crate) use self::host_interface::HostEvent;
use self::layout::{Layout, OutLink};
pub(crate) use self::packet::{FlowId, Kind, Packet};
pub(crate) use self::packet_trace::{FlowEnd, PacketTrace, TraceState};
use self::queue::DropTailQueue;
pub(crate) use self::regions::Regions;
pub(crate) use self::routes::Routes;
use self::shared_server::SharedServer;
use self::tournament::Tournament;
use crate::config::{Router, Service, Topology};
use crate::records::QueueSample;

/// Routers and links of a region, and all packets between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) now: Time,
    /// End of the current step, where queues may be sampled. Arrivals up to this time may be processed early.
    horizon: Time,
    layout: Layout,
    /// Queues of access routers with a separate server for each direction; empty if the directions share a server.
    access: Vec<RouterQueues>,
    pops: Vec<RouterQueues>,
    /// Routers with one server for two queues: first points of presence, then access routers. Empty
    /// if all queues have separate servers.
    shared: Vec<SharedServer>,
    backbone: Vec<DropTailQueue>,
    /// Packets from other regions, by backbone router.
    arrivals: Vec<Arrivals>,
    out_links: Vec<OutLink>,
    /// Time that a host needs between two packets, by index of its speed.
    packet_intervals: Vec<Span>,
    /// Packets in flight between elements, by station.
    fifos: Vec<Fifo<InFlight>>,
    #[serde(skip)]
    event_list: Tournament,
    rebased: Time,
    /// Number of events processed so far. Arrivals that are processed early do not count.
    pub(crate) events: u64,
    /// True if [`Self::send`] may use its fast path, which does not record traces.
    fast_send: bool,
    /// True while packets are traced.
    traced: bool,
    /// The traced flows; `None` for runs without a trace.
    packet_trace: Option<Box<PacketTrace>>,
}

/// The two queues of a router. Each of them is served at the full capacity of the router.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RouterQueues {
    up: DropTailQueue,
    down: DropTailQueue,
}

impl Network {
    /// Returns a region of the network of `topology`.
    pub(crate) fn new(
        topology: &Topology,
        regions: &Regions,
        routes: &Routes,
        region: usize,
        packet_intervals: Vec<Span>,
    ) -> Self {
        let speeds = packet_intervals.len();
        let (layout, out_links) = Layout::new(topology, regions, routes, region, speeds);
        let at = |&number: &u16| usize::from(number);
        let backbone = layout
            .backbone
            .iter()
            .map(|router| &topology.backbone[at(router)]);
        let pops = layout.pops.iter().map(|pop| &topology.pops[at(pop)].router);
        let access = layout
            .access
            .iter()
            .map(|access| &topology.access[at(access)].router);
        let dual = topology.service == Service::Dual;
        let one_server = pops.clone().chain(access.clone()).filter(|_| !dual);
        Self {
            traced: false,
            fast_send: true,
            packet_trace: None,
            now: Time::ZERO,
            horizon: Time::ZERO,
            shared: one_server
                .map(|router| SharedServer::new(router, topology))
                .collect(),
            access: access.filter(|_| dual).map(RouterQueues::new).collect(),
            pops: pops.filter(|_| dual).map(RouterQueues::new).collect(),
            backbone: backbone
                .map(|router| DropTailQueue::new(router.capacity, router.buffer))
                .collect(),
            arrivals: layout
                .backbone
                .iter()
                .map(|&router| Arrivals::new(regions.links_into(topology, router)))
                .collect(),
            out_links,
            packet_intervals,
            fifos: vec![Fifo::default(); layout.stations.len()],
            event_list: Tournament::new(layout.stations.len()),
            layout,
            rebased: Time::ZERO,
            events: 0,
        }
    }

    /// Sets the end of the current step, where queues may be sampled. Arrivals up to this time may
    /// be processed before they are due; later arrivals may not.
    pub(crate) fn set_horizon(&mut self, until: Time) {
        self.horizon = until;
    }
}

impl RouterQueues {
    fn new(router: &Router) -> Self {
        Self {
            up: DropTailQueue::new(router.capacity, router.buffer),
            down: DropTailQueue::new(router.capacity, router.buffer),
        }
    }

    fn sample(&self, now: Time) -> (QueueSample, QueueSample) {
        (self.up.sample(now), self.down.sample(now))
    }
}
