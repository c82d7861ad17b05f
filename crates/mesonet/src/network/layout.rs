//! The elements of a region, and their numbers in the region.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use super::arrivals::Crossing;
use super::regions::Regions;
use super::routes::Routes;
use crate::config::{Parent, Service, Topology};
use crate::records::Direction;

/// The router above an access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AccessParent {
    Pop(u16),
    Backbone(u16),
}

/// Next hop of a packet at a backbone router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Hop {
    Link(u16),
    /// A link at whose end the packet's arrival is an event: a link to the last backbone router on its route, or to one
    /// of several routers of a region.
    LastLink(u16),
    Pop(u16),
    Access(u16),
}

/// Stations: the sources of events in a region. A station has at most one next event at a time. Each station except
/// servers and links from other regions has a FIFO of packets with times. The time of the first packet is the time of
/// the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Station {
    /// Packets on their way from an access router to the router above it.
    OutOfAccess(u16),
    /// Packets on their way from their last access router to hosts.
    ToHosts,
    /// Packets on their way from a point of presence to its backbone router.
    OutOfPop(u16),
    /// Packets for this region that arrive at a backbone router from other regions.
    CrossRegion(u16),
    /// Packets on a link within the region, to a backbone router.
    OnLink(u16),
    /// Packets on their way from a backbone router to an element below it.
    OutOfBackbone(u16),
    /// Packets on their way from a point of presence to an access router.
    BelowPop,
    /// Receivers that process a packet.
    AckReady,
    /// Sources that wait until their host may send the next packet.
    MaySend,
    /// The server that both queues of a point of presence or access router share. Access routers
    /// are numbered after points of presence.
    Server(u16),
}

/// Next hop of a packet at a router with a shared server. Every kind of next hop is stored as a number, so that a next
/// hop can be selected without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Next(u32);

impl Next {
    /// Next hop: the access router of the packet's destination, below this router.
    const BELOW: Self = Self(u32::MAX - 1);
    /// Next hop: the host that is the packet's destination.
    const HOST: Self = Self(u32::MAX);
    /// Number of the first backbone router. Smaller numbers are routers with a shared server.
    const BACKBONE: u32 = 1 << 17;

    fn to_backbone(router: u16) -> Self {
        Self(Self::BACKBONE + u32::from(router))
    }

    /// Returns the number of the next hop if it is a router with a shared server; `None` otherwise.
    #[inline]
    pub(super) fn server(self) -> Option<usize> {
        (self.0 < Self::BACKBONE).then_some(self.0 as usize)
    }

    /// Returns the next hop if it is a backbone router; `None` if it is a host. Must not be called
    /// for a router with a shared server ([`Self::server`]).
    #[inline]
    pub(super) fn backbone(self) -> Option<u16> {
        (self != Self::HOST).then_some((self.0 - Self::BACKBONE) as u16)
    }
}

/// A one-way link that begins in the region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OutLink {
    /// The link's number in the network.
    pub(super) id: u16,
    pub(super) delay: Span,
    /// Index of the link's FIFO; `None` if the link ends in another region.
    pub(super) within: Option<usize>,
    /// Number of packets sent onto the link. A packet counts as soon as its departure time is known.
    pub(super) sent: u64,
    /// Packets that have not been handed over yet to the region in which the link ends. Always empty if the link ends
    /// in the region in which it begins.
    pub(super) outbox: Crossing,
}

/// Tables of a region's elements. Routers have numbers within the region. A packet's destination
/// `to` is an access router's number in the whole network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Points of presence of the region, by their numbers in the whole network.
    pub(super) pops: Vec<u16>,
    pub(super) access: Vec<u16>,
    pub(super) backbone: Vec<u16>,
    /// Number in the region of each access router of the network; [`ELSEWHERE`] for those of other regions.
    local_access: Vec<u16>,
    /// The router above each access router.
    above: Vec<AccessParent>,
    /// Backbone router above each point of presence.
    parents: Vec<u16>,
    /// Next hops from the two queues of each router with a shared server.
    next: Vec<[Next; 2]>,
    /// Next hops at backbone routers: the hop from router `at` towards access router `to` is
    /// `hops[at * n + to]`, with the number n of access routers in the network.
    hops: Vec<Hop>,
    pub(super) stations: Vec<Station>,
    /// Number of different speeds of hosts.
    speeds: usize,
    /// Index of the first [`Station::CrossRegion`].
    cross_region: usize,
    /// Index of the first [`Station::OutOfBackbone`].
    out_of_backbone: usize,
    /// Index of the first [`Station::AckReady`].
    ack_ready: usize,
    /// Index of the first [`Station::MaySend`].
    may_send: usize,
    /// Index of the first [`Station::Server`].
    servers: usize,
}

/// Number that stands for an element of another region.
const ELSEWHERE: u16 = u16::MAX;

impl Layout {
    pub(super) fn new(
        topology: &Topology,
        regions: &Regions,
        routes: &Routes,
        region: usize,
        speeds: usize,
    ) -> (Self, Vec<OutLink>) {
        let all = 0..topology.backbone.len();
        let backbone: Vec<u16> = all
            .filter(|&router| regions.of_backbone(router) == region)
            .map(|router| router as u16)
            .collect();
        let own = |above: usize| regions.of_backbone(above) == region;
        let pops = topology.pops.iter().enumerate();
        let pops = pops.filter(|(_, pop)| own(pop.backbone));
        let pops: Vec<u16> = pops.map(|(at, _)| at as u16).collect();
        let accesses = topology.access.iter().enumerate();
        let accesses = accesses.filter(|(_, at)| own(topology.backbone_above(at.parent)));
        let access: Vec<u16> = accesses.map(|(at, _)| at as u16).collect();
        let place = |list: &[u16], id: usize| {
            let at = list.iter().position(|&other| usize::from(other) == id);
            at.map_or(ELSEWHERE, |at| at as u16)
        };
        let above = access
            .iter()
            .map(|&id| match topology.access[id as usize].parent {
                Parent::Pop(pop) => AccessParent::Pop(place(&pops, pop)),
                Parent::Backbone(above) => AccessParent::Backbone(place(&backbone, above)),
            });
        let parents = pops
            .iter()
            .map(|&pop| place(&backbone, topology.pops[pop as usize].backbone));
        let mut layout = Self {
            local_access: (0..topology.access.len())
                .map(|id| place(&access, id))
                .collect(),
            above: above.collect(),
            parents: parents.collect(),
            next: Vec::new(),
            hops: Vec::new(),
            stations: Vec::new(),
            speeds,
            cross_region: 0,
            out_of_backbone: 0,
            ack_ready: 0,
            may_send: 0,
            servers: 0,
            pops,
            access,
            backbone,
        };
        let out_links = layout.number_stations(topology, regions, region);
        layout.fill_next();
        layout.fill_hops(topology, regions, routes, &out_links);
        (layout, out_links)
    }

    /// Numbers the region's stations, and returns the links that begin in the region. Of simultaneous
    /// events, the event of the station with the lowest number is processed first.
    fn number_stations(
        &mut self,
        topology: &Topology,
        regions: &Regions,
        region: usize,
    ) -> Vec<OutLink> {
        let mut out_links = Vec::new();
        let (pops, access) = (self.pops.len() as u16, self.access.len() as u16);
        let backbone = self.backbone.len() as u16;
        let stations = &mut self.stations;
        if topology.service == Service::Dual {
            stations.extend((0..access).map(Station::OutOfAccess));
            stations.extend((0..access).map(|_| Station::ToHosts));
            stations.extend((0..pops).map(Station::OutOfPop));
            stations.extend((0..pops).map(|_| Station::BelowPop));
        }
        self.cross_region = stations.len();
        stations.extend((0..backbone).map(Station::CrossRegion));
        self.out_of_backbone = stations.len();
        stations.extend((0..backbone).map(Station::OutOfBackbone));
        for (id, link) in topology.links.iter().enumerate() {
            if regions.of_backbone(link.from) != region {
                continue;
            }
            let to = self
                .backbone
                .iter()
                .position(|&at| usize::from(at) == link.to);
            let within = to.map(|to| {
                stations.push(Station::OnLink(to as u16));
                stations.len() - 1
            });
            out_links.push(OutLink {
                id: id as u16,
                delay: link.delay,
                within,
                sent: 0,
                outbox: Crossing::default(),
            });
        }
        self.ack_ready = stations.len();
        stations.extend((0..self.speeds).map(|_| Station::AckReady));
        self.may_send = stations.len();
        stations.extend((0..self.speeds).map(|_| Station::MaySend));
        self.servers = stations.len();
        if topology.service != Service::Dual {
            stations.extend((0..pops + access).map(Station::Server));
        }
        out_links
    }

    fn fill_next(&mut self) {
        let of_pops = self
            .parents
            .iter()
            .map(|&parent| [Next::to_backbone(parent), Next::BELOW]);
        let of_access = self.above.iter().map(|&above| match above {
            AccessParent::Pop(pop) => [Next(pop.into()), Next::HOST],
            AccessParent::Backbone(router) => [Next::to_backbone(router), Next::HOST],
        });
        self.next = of_pops.chain(of_access).collect();
    }

    fn fill_hops(
        &mut self,
        topology: &Topology,
        regions: &Regions,
        routes: &Routes,
        out_links: &[OutLink],
    ) {
        let ends_at = |id: u16, domain: u16| {
            let end = routes.end(id);
            end == domain || regions.has_neighbours(end.into())
        };
        for &at in &self.backbone {
            for to in 0..topology.access.len() as u16 {
                let domain = routes.domain(to);
                let hop = if domain != at {
                    // A hop without a route is never used: the simulation does not start if a route
                    // between routers with hosts is missing (`SetupError::NoPath`).
                    let id = routes.link(at, domain);
                    let leads = |out: &OutLink| Some(out.id) == id;
                    let link = out_links.iter().position(leads).unwrap_or(0) as u16;
                    match id {
                        Some(id) if ends_at(id, domain) => Hop::LastLink(link),
                        _ => Hop::Link(link),
                    }
                } else {
                    let local = self.local_access[to as usize];
                    match self.above[local as usize] {
                        AccessParent::Pop(pop) => Hop::Pop(pop),
                        AccessParent::Backbone(_) => Hop::Access(local),
                    }
                };
                self.hops.push(hop);
            }
        }
    }

    /// Returns the next hop at backbone router `router` towards access router `to` of the network.
    #[inline]
    pub(super) fn hop(&self, router: u16, to: u16) -> Hop {
        self.hops[router as usize * self.local_access.len() + to as usize]
    }

    /// Converts the number `access` of an access router in the network to its number in the region.
    #[inline]
    pub(super) fn local(&self, access: u16) -> u16 {
        self.local_access[access as usize]
    }

    #[inline]
    pub(super) fn above(&self, access: u16) -> AccessParent {
        self.above[access as usize]
    }

    /// Returns the backbone router above a point of presence.
    #[inline]
    pub(super) fn parent(&self, pop: u16) -> u16 {
        self.parents[pop as usize]
    }

    /// Returns the index of the station [`Station::OutOfAccess`] of an access router.
    #[inline]
    pub(super) fn out_of_access(&self, access: u16) -> usize {
        access as usize
    }

    #[inline]
    pub(super) fn to_hosts(&self, access: u16) -> usize {
        self.access.len() + access as usize
    }

    #[inline]
    pub(super) fn out_of_pop(&self, pop: u16) -> usize {
        2 * self.access.len() + pop as usize
    }

    #[inline]
    pub(super) fn below_pop(&self, pop: u16) -> usize {
        2 * self.access.len() + self.pops.len() + pop as usize
    }

    #[inline]
    pub(super) fn cross_region(&self, router: u16) -> usize {
        self.cross_region + router as usize
    }

    #[inline]
    pub(super) fn out_of_backbone(&self, router: u16) -> usize {
        self.out_of_backbone + router as usize
    }

    #[inline]
    pub(super) fn ack_ready(&self, speed: u16) -> usize {
        self.ack_ready + speed as usize
    }

    #[inline]
    pub(super) fn may_send(&self, speed: u16) -> usize {
        self.may_send + speed as usize
    }

    /// Returns the index of the station [`Station::Server`] of a router. In `router`, the points of presence are
    /// numbered first, then the access routers.
    #[inline]
    pub(super) fn server(&self, router: usize) -> usize {
        self.servers + router
    }

    /// Returns the number of access router `access` in the numbering of shared servers: first those of points of
    /// presence, then those of access routers.
    #[inline]
    pub(super) fn access_server(&self, access: u16) -> usize {
        self.pops.len() + access as usize
    }

    /// Returns the next hop of a packet after a router with one server for two queues. The packet leaves the queue
    /// `served` of this `router`; its destination is below the access router `to`.
    #[inline]
    pub(super) fn next(&self, router: u16, served: Direction, to: u16) -> Next {
        let below = Next(self.access_server(self.local(to)) as u32);
        let next = self.next[router as usize][served as usize];
        // Without a branch, since the processor could not predict it.
        if next == Next::BELOW { below } else { next }
    }
}
