//! Routing tables, and the numbers of the FIFOs between elements.

use serde::{Deserialize, Serialize};

use crate::config::{Parent, Service, Topology};

/// The router above an access router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AccessParent {
    Pop(u16),
    Backbone,
}

/// Where the packets of a FIFO arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Destination {
    /// A point of presence, from below.
    Pop(u16),
    /// A backbone router.
    Backbone(u16),
    /// A host.
    Host,
    /// A receiver that has generated an acknowledgement.
    AckReady,
    /// A source that may send its next packet.
    MaySend,
    /// A point of presence from above, at an arrival that could not be processed early.
    DeferredAtPop(u16),
    /// An access router from above, likewise.
    DeferredAtAccess,
    /// An access router with one server, from a host.
    Sent(u16),
    /// A router with one server, at the end of a service.
    Served(u16),
    /// None: packets wait for a server.
    AckQueue,
}

/// The tables. FIFOs are numbered in this order: from access routers up, to hosts, from points of
/// presence up, on links, deferred at points of presence, deferred at access routers, packets that
/// receivers process, pacing of sources; with one server a router also in service, and waiting up and
/// down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Routing {
    /// By access router.
    above: Vec<AccessParent>,
    domains: Vec<u16>,
    /// By point of presence.
    parents: Vec<u16>,
    /// Both ends, by link.
    ends: Vec<(u16, u16)>,
    /// `links[at * routers + to]`.
    links: Vec<u16>,
    routers: usize,
    service: Service,
    /// How many speeds hosts have.
    speeds: usize,
}

impl Routing {
    /// Stands for no link.
    const NO_LINK: u16 = u16::MAX;

    pub(super) fn new(topology: &Topology, speeds: usize) -> Self {
        let parents: Vec<u16> = topology
            .pops
            .iter()
            .map(|pop| pop.backbone as u16)
            .collect();
        let above = |parent| match parent {
            Parent::Pop(pop) => AccessParent::Pop(pop as u16),
            Parent::Backbone(_) => AccessParent::Backbone,
        };
        let domain = |parent| match parent {
            Parent::Pop(pop) => parents[pop],
            Parent::Backbone(router) => router as u16,
        };
        let links = topology.next_link.iter().flatten();
        Self {
            above: topology.access.iter().map(|at| above(at.parent)).collect(),
            domains: topology.access.iter().map(|at| domain(at.parent)).collect(),
            ends: topology
                .links
                .iter()
                .map(|link| (link.from as u16, link.to as u16))
                .collect(),
            links: links
                .map(|link| link.map_or(Self::NO_LINK, |link| link as u16))
                .collect(),
            routers: topology.backbone.len(),
            service: topology.service,
            speeds,
            parents,
        }
    }

    /// Where each FIFO leads.
    pub(super) fn destinations(&self) -> Vec<Destination> {
        let (accesses, pops) = (self.above.len(), self.parents.len());
        let up = (0..accesses).map(|access| match (self.service, self.above[access]) {
            (Service::Dual, AccessParent::Pop(pop)) => Destination::Pop(pop),
            (Service::Dual, AccessParent::Backbone) => Destination::Backbone(self.domains[access]),
            (Service::Shared | Service::Alternating, _) => Destination::Sent(access as u16),
        });
        let one_server = match self.service {
            Service::Dual => 0,
            Service::Shared | Service::Alternating => accesses + pops,
        };
        up.chain(std::iter::repeat_n(Destination::Host, accesses))
            .chain(
                self.parents
                    .iter()
                    .map(|&router| Destination::Backbone(router)),
            )
            .chain(self.ends.iter().map(|&(_, to)| Destination::Backbone(to)))
            .chain((0..pops).map(|pop| Destination::DeferredAtPop(pop as u16)))
            .chain(std::iter::repeat_n(Destination::DeferredAtAccess, accesses))
            .chain(std::iter::repeat_n(Destination::AckReady, self.speeds))
            .chain(std::iter::repeat_n(Destination::MaySend, self.speeds))
            .chain((0..one_server).map(|router| Destination::Served(router as u16)))
            .chain(std::iter::repeat_n(Destination::AckQueue, 2 * one_server))
            .collect()
    }

    #[inline]
    pub(super) fn to_hosts(&self, access: u16) -> usize {
        self.above.len() + access as usize
    }

    #[inline]
    pub(super) fn out_of_pop(&self, pop: u16) -> usize {
        2 * self.above.len() + pop as usize
    }

    #[inline]
    pub(super) fn on_link(&self, link: u16) -> usize {
        2 * self.above.len() + self.parents.len() + link as usize
    }

    #[inline]
    pub(super) fn deferred_at_pop(&self, pop: u16) -> usize {
        self.on_link(0) + self.ends.len() + pop as usize
    }

    #[inline]
    pub(super) fn deferred_at_access(&self, access: u16) -> usize {
        self.deferred_at_pop(0) + self.parents.len() + access as usize
    }

    #[inline]
    pub(super) fn processing(&self, speed: u16) -> usize {
        self.deferred_at_access(0) + self.above.len() + speed as usize
    }

    #[inline]
    pub(super) fn pacing(&self, speed: u16) -> usize {
        self.processing(0) + self.speeds + speed as usize
    }

    /// In service at a router with one server; points of presence come before access routers.
    pub(super) fn served(&self, router: usize) -> usize {
        self.pacing(0) + self.speeds + router
    }

    /// Waiting for that server on one of two ways.
    pub(super) fn waiting(&self, router: usize, direction: usize) -> usize {
        let routers = self.parents.len() + self.above.len();
        self.served(0) + routers * (1 + direction) + router
    }

    /// The access router among routers with one server, or none of a point of presence.
    pub(super) fn access_of(&self, router: usize) -> Option<u16> {
        router
            .checked_sub(self.parents.len())
            .map(|access| access as u16)
    }

    /// The backbone router above a point of presence.
    #[inline]
    pub(super) fn parent(&self, pop: u16) -> u16 {
        self.parents[pop as usize]
    }

    /// What an access router is attached to.
    #[inline]
    pub(super) fn above(&self, access: u16) -> AccessParent {
        self.above[access as usize]
    }

    /// The backbone router above an access router.
    #[inline]
    pub(crate) fn domain(&self, access: u16) -> u16 {
        self.domains[access as usize]
    }

    /// The next link from one backbone router towards another.
    #[inline]
    pub(super) fn link(&self, at: u16, to: u16) -> u16 {
        self.links[at as usize * self.routers + to as usize]
    }

    /// The point of presence of an access router, if it has one.
    pub(crate) fn pop(&self, access: u16) -> Option<u16> {
        match self.above[access as usize] {
            AccessParent::Pop(pop) => Some(pop),
            AccessParent::Backbone => None,
        }
    }

    /// Backbone routers from one to another, both included.
    pub(crate) fn routers_between(&self, from: u16, to: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(from), move |&at| {
            (at != to).then(|| self.ends[self.link(at, to) as usize].1)
        })
    }

    /// Backbone routers and the links between them from one to another; none if the tables do not
    /// lead there.
    pub(crate) fn path(&self, from: u16, to: u16) -> Option<Vec<(u16, Option<u16>)>> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let link = self.link(at, to);
            if link == Self::NO_LINK || path.len() > self.routers {
                return None;
            }
            path.push((at, Some(link)));
            at = self.ends[link as usize].1;
        }
        path.push((to, None));
        Some(path)
    }
}
