//! Regions: parts of the network that can be simulated one after the other, or at the same time.
//!
//! No packet gets from one region to another in less than the propagation delay of the links between
//! them, so that a region can be simulated alone for that long (conservative synchronisation with
//! lookahead: R. M. Fujimoto, *Parallel Discrete Event Simulation*, CACM 33(10), 1990). Regions and
//! windows follow from the topology alone, never from the number of threads.

use longhaul_units::Span;
use serde::{Deserialize, Serialize};

use crate::config::Topology;

/// Links with a shorter delay do not separate regions: windows would be too short.
const MIN_WINDOW: Span = Span::from_micros(500);
/// Longest window. What spans regions, such as which receivers are idle, is updated between windows.
const MAX_WINDOW: Span = Span::from_millis(3);

/// The region of every router, and how long each region can be simulated alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Regions {
    /// By backbone router; numbered in the order of their first router.
    of_backbone: Vec<u16>,
    of_access: Vec<u16>,
    pub(crate) count: usize,
    pub(crate) window: Span,
}

impl Regions {
    /// A region for each set of backbone routers that links with a short delay connect.
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

    /// The whole network as one region.
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

    pub(crate) fn of_backbone(&self, router: usize) -> usize {
        self.of_backbone[router].into()
    }

    pub(crate) fn of_access(&self, access: u16) -> usize {
        self.of_access[access as usize].into()
    }
}
