//! Regions: parts of the network that can be simulated one after the other, or at the same time.
//!
//! A packet takes at least the propagation delay of a link to reach another region, so a region can
//! be simulated alone for that long (conservative synchronisation with lookahead: R. M. Fujimoto,
//! *Parallel Discrete Event Simulation*, CACM 33(10), 1990). The regions, and this time, follow from
//! the topology alone, never from the number of threads.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::{BackboneLink, Topology};

/// Minimum delay of a link between two regions, and thus minimum time that a region can be simulated alone.
const MIN_WINDOW: Span = Span::from_micros(500);
/// Maximum time that a region is simulated alone (window). State that all regions share, such as the
/// list of idle receivers, is updated between windows.
const MAX_WINDOW: Span = Span::from_millis(3);

/// The region of every router, and the window: the time that a region can be simulated alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Regions {
    /// Region of each backbone router; regions are numbered in the order of their first router.
    of_backbone: Vec<u16>,
    of_access: Vec<u16>,
    pub(crate) count: usize,
    pub(crate) window: Span,
}

impl Regions {
    /// Divides the network into regions: sets of backbone routers that are connected by links of a
    /// short delay.
    pub(crate) fn new(topology: &Topology) -> Self {
        let mut joined: Vec<usize> = (0..topology.backbone.len()).collect();
        for link in &topology.links {
            if link.delay < MIN_WINDOW {
                let (one, other) = (joined[link.from], joined[link.to]);
                let (low, high) = (one.min(other), one.max(other));
                for router in &mut joined {
                    if *router == high {
                        *router = low;
                    }
                }
            }
        }
        let separating = topology
            .links
            .iter()
            .filter(|link| joined[link.from] != joined[link.to]);
        let window = separating
            .map(|link| link.delay)
            .fold(MAX_WINDOW, Span::min);
        let mut firsts: Vec<usize> = joined.clone();
        firsts.sort_unstable();
        firsts.dedup();
        let number = |router: &usize| firsts.partition_point(|first| first < router) as u16;
        Self::from_numbers(topology, joined.iter().map(number).collect(), window)
    }

    /// Returns the whole network as a single region.
    #[cfg(test)]
    pub(crate) fn one(topology: &Topology) -> Self {
        Self::from_numbers(topology, vec![0; topology.backbone.len()], MAX_WINDOW)
    }

    fn from_numbers(topology: &Topology, of_backbone: Vec<u16>, window: Span) -> Self {
        let access = topology.access.iter();
        Self {
            of_access: access
                .map(|access| of_backbone[topology.backbone_above(access.parent)])
                .collect(),
            count: of_backbone
                .iter()
                .max()
                .map_or(0, |&last| usize::from(last) + 1),
            of_backbone,
            window,
        }
    }

    /// Returns the links that lead to a backbone router from other regions.
    pub(crate) fn links_into(&self, topology: &Topology, router: u16) -> impl Iterator<Item = u16> {
        let router = usize::from(router);
        let region = self.of_backbone(router);
        let links = topology.links.iter().enumerate();
        let leads =
            move |link: &BackboneLink| link.to == router && self.of_backbone(link.from) != region;
        links
            .filter(move |(_, link)| leads(link))
            .map(|(id, _)| id as u16)
    }

    pub(crate) fn of_backbone(&self, router: usize) -> usize {
        self.of_backbone[router].into()
    }

    /// Returns true if the region of backbone router `router` has other backbone routers.
    pub(crate) fn has_neighbours(&self, router: usize) -> bool {
        let region = self.of_backbone[router];
        let in_region = self.of_backbone.iter().filter(|&&other| other == region);
        in_region.count() > 1
    }

    pub(crate) fn of_access(&self, access: u16) -> usize {
        self.of_access[access as usize].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{
        AccessClass, AccessRouter, BackboneLink, PacketRate, Parent, Router, Service,
    };

    /// Returns a row of backbone routers, each with an access router. `delays` are the delays of the links between the
    /// backbone routers, in microseconds.
    fn row(delays: &[u64]) -> Topology {
        let router = || Router {
            name: String::new(),
            capacity: PacketRate::per_ms(1.0),
            buffer: 1,
        };
        let link = |(at, &delay): (usize, &u64)| BackboneLink {
            name: String::new(),
            from: at,
            to: at + 1,
            delay: Span::from_micros(delay),
        };
        let access = |at| AccessRouter {
            router: router(),
            class: AccessClass::Direct,
            parent: Parent::Backbone(at),
            sources: 0,
            receivers: 0,
        };
        Topology {
            backbone: (0..=delays.len()).map(|_| router()).collect(),
            links: delays.iter().enumerate().map(link).collect(),
            next_link: Vec::new(),
            pops: Vec::new(),
            access: (0..=delays.len()).map(access).collect(),
            service: Service::Shared,
            shared_buffer: false,
        }
    }

    #[test]
    fn links_with_a_delay_separate_regions_and_the_shortest_is_the_window() {
        let regions = Regions::new(&row(&[2000, 100, 700, 499]));
        let of = |at: u16| (regions.of_backbone(at.into()), regions.of_access(at));
        assert_eq!([0, 1, 2, 3, 4].map(of), [0, 1, 1, 2, 2].map(|at| (at, at)));
        assert_eq!((regions.count, regions.window), (3, Span::from_micros(700)));
        // Requests of files must not wait for long.
        assert_eq!(Regions::new(&row(&[50_000])).window, MAX_WINDOW);
        assert_eq!(Regions::new(&row(&[0])).count, 1);
    }
}
