//! Who is next to whom: the tables by which packets find their way, and the numbers of the lines.

use serde::{Deserialize, Serialize};

use crate::config::{Parent, Service, Topology};

/// Which queues follow an access router on the way up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Above {
    Pop(u16),
    Backbone,
}

/// What the packets of a line arrive at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// A point of presence, from below.
    Pop(u16),
    /// A backbone router.
    Backbone(u16),
    /// A host.
    Host,
    /// A receiver that has made an answer.
    Answer,
    /// A source whose turn it is.
    Pace,
    /// A point of presence from above, of which it could not be told ahead of time.
    HeldAtPop(u16),
    /// The same of an access router.
    HeldAtAccess,
    /// An access router with one server, from a host.
    Sent(u16),
    /// A router whose one server has ended a service.
    Served(u16),
    /// Nothing: packets wait for a server.
    Waiting,
}

/// The tables. Lines are numbered from access routers up, to hosts, from points of presence, on
/// links, held at points of presence, held at access routers, answers, and turns of sources; where routers
/// have one server, in service at each, and waiting for it up and down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Routing {
    /// Of each access router.
    above: Vec<Above>,
    domains: Vec<u16>,
    /// Of each point of presence.
    parents: Vec<u16>,
    /// Ends of each link.
    ends: Vec<(u16, u16)>,
    /// `links[at * routers + to]`.
    links: Vec<u16>,
    routers: usize,
    service: Service,
    /// Of hosts.
    speeds: usize,
}

impl Routing {
    /// Stands for no link; nothing is ever sent there.
    const NONE: u16 = u16::MAX;

    pub(super) fn new(topology: &Topology, speeds: usize) -> Self {
        let parents: Vec<u16> = topology
            .pops
            .iter()
            .map(|pop| pop.backbone as u16)
            .collect();
        let above = |parent| match parent {
            Parent::Pop(pop) => Above::Pop(pop as u16),
            Parent::Backbone(_) => Above::Backbone,
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
                .map(|link| link.map_or(Self::NONE, |link| link as u16))
                .collect(),
            routers: topology.backbone.len(),
            service: topology.service,
            speeds,
            parents,
        }
    }

    /// What each line leads to.
    pub(super) fn stages(&self) -> Vec<Stage> {
        let (accesses, pops) = (self.above.len(), self.parents.len());
        let up = (0..accesses).map(|access| match (self.service, self.above[access]) {
            (Service::Shared, _) => Stage::Sent(access as u16),
            (Service::Dual, Above::Pop(pop)) => Stage::Pop(pop),
            (Service::Dual, Above::Backbone) => Stage::Backbone(self.domains[access]),
        });
        let one_server = match self.service {
            Service::Dual => 0,
            Service::Shared => accesses + pops,
        };
        up.chain(std::iter::repeat_n(Stage::Host, accesses))
            .chain(self.parents.iter().map(|&router| Stage::Backbone(router)))
            .chain(self.ends.iter().map(|&(_, to)| Stage::Backbone(to)))
            .chain((0..pops).map(|pop| Stage::HeldAtPop(pop as u16)))
            .chain(std::iter::repeat_n(Stage::HeldAtAccess, accesses))
            .chain(std::iter::repeat_n(Stage::Answer, self.speeds))
            .chain(std::iter::repeat_n(Stage::Pace, self.speeds))
            .chain((0..one_server).map(|router| Stage::Served(router as u16)))
            .chain(std::iter::repeat_n(Stage::Waiting, 2 * one_server))
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
    pub(super) fn held_at_pop(&self, pop: u16) -> usize {
        self.on_link(0) + self.ends.len() + pop as usize
    }

    #[inline]
    pub(super) fn held_at_access(&self, access: u16) -> usize {
        self.held_at_pop(0) + self.parents.len() + access as usize
    }

    #[inline]
    pub(super) fn answers(&self, speed: u16) -> usize {
        self.held_at_access(0) + self.above.len() + speed as usize
    }

    #[inline]
    pub(super) fn paces(&self, speed: u16) -> usize {
        self.answers(0) + self.speeds + speed as usize
    }

    /// In service at a router with one server; points of presence come before access routers.
    pub(super) fn served(&self, router: usize) -> usize {
        self.paces(0) + self.speeds + router
    }

    /// Waiting for that server on one of two ways.
    pub(super) fn waiting(&self, router: usize, way: usize) -> usize {
        let routers = self.parents.len() + self.above.len();
        self.served(0) + routers * (1 + way) + router
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
    pub(super) fn above(&self, access: u16) -> Above {
        self.above[access as usize]
    }

    /// The backbone router above an access router.
    #[inline]
    pub(crate) fn domain(&self, access: u16) -> u16 {
        self.domains[access as usize]
    }

    /// The link that leads from one backbone router towards another.
    #[inline]
    pub(super) fn link(&self, at: u16, to: u16) -> u16 {
        self.links[at as usize * self.routers + to as usize]
    }

    /// The point of presence of an access router, if it has one.
    pub(crate) fn pop(&self, access: u16) -> Option<u16> {
        match self.above[access as usize] {
            Above::Pop(pop) => Some(pop),
            Above::Backbone => None,
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
            if link == Self::NONE || path.len() > self.routers {
                return None;
            }
            path.push((at, Some(link)));
            at = self.ends[link as usize].1;
        }
        path.push((to, None));
        Some(path)
    }
}
