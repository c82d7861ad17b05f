//! Routes through the whole network.

use serde::{Deserialize, Serialize};

use crate::config::{Parent, Topology};

/// Routing tables of the network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Routes {
    /// Index of the point of presence above each access router; `None` for direct access routers.
    pops: Vec<Option<u16>>,
    domains: Vec<u16>,
    /// The two ends of each link.
    ends: Vec<(u16, u16)>,
    /// Next link from one backbone router towards another: `links[at * routers + to]`.
    links: Vec<u16>,
    routers: usize,
}

impl Routes {
    /// Number that stands for no link.
    const NO_LINK: u16 = u16::MAX;

    pub(crate) fn new(topology: &Topology) -> Self {
        let pop = |parent| match parent {
            Parent::Pop(pop) => Some(pop as u16),
            Parent::Backbone(_) => None,
        };
        let ends = topology.links.iter();
        let links = topology.next_link.iter().flatten();
        Self {
            pops: topology.access.iter().map(|at| pop(at.parent)).collect(),
            domains: topology
                .access
                .iter()
                .map(|at| topology.backbone_above(at.parent) as u16)
                .collect(),
            ends: ends
                .map(|link| (link.from as u16, link.to as u16))
                .collect(),
            links: links
                .map(|link| link.map_or(Self::NO_LINK, |link| link as u16))
                .collect(),
            routers: topology.backbone.len(),
        }
    }

    /// Returns the backbone router above an access router.
    #[inline]
    pub(crate) fn domain(&self, access: u16) -> u16 {
        self.domains[access as usize]
    }

    /// Returns the point of presence above an access router; `None` for a direct access router.
    pub(crate) fn pop(&self, access: u16) -> Option<u16> {
        self.pops[access as usize]
    }

    /// Returns the next link from backbone router `at` towards `to`; `None` without a route.
    pub(super) fn link(&self, at: u16, to: u16) -> Option<u16> {
        let link = self.links[at as usize * self.routers + to as usize];
        (link != Self::NO_LINK).then_some(link)
    }

    /// Returns the backbone router at the end of a link.
    pub(super) fn end(&self, link: u16) -> u16 {
        self.ends[link as usize].1
    }

    /// Returns the backbone routers on the route from `from` to `to`, both included.
    pub(crate) fn routers_between(&self, from: u16, to: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(from), move |&at| {
            let link = (at != to).then(|| self.link(at, to)).flatten()?;
            Some(self.end(link))
        })
    }

    /// Returns the links on the route from one backbone router to another; `None` without a route,
    /// or if the route is a loop.
    pub(crate) fn path(&self, from: u16, to: u16) -> Option<Vec<u16>> {
        let (mut path, mut at) = (Vec::new(), from);
        while at != to {
            let link = self.link(at, to)?;
            if path.len() > self.routers {
                return None;
            }
            path.push(link);
            at = self.end(link);
        }
        Some(path)
    }
}
