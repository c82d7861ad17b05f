//! Static shortest-path routes, shared by all flows between the same nodes.
//!
//! All routes are in one table. A route is a sequence of hops; the last hop gives the kind of receiver ([`End`]). A
//! packet carries its position in the table, so that forwarding needs only one load.

use std::collections::BTreeMap;

use longhaul_kernel::prefetch::prefetch;

use super::graph::Graph;
use crate::config::Config;
use crate::schedule::timers::OPENED_BITS;

/// Kind of receiver at the end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// A TCP sender, for acknowledgements.
    TcpSender,
    /// A TCP receiver, for data segments.
    TcpReceiver,
    /// A TCP receiver, for dummy packets, which the receiver answers.
    DummyReceiver,
    /// A TCP sender, for the answers to its dummy packets.
    DummySender,
    /// A receiver of UDP datagrams, which counts them.
    UdpReceiver,
    /// The sending endpoint of a foreign stack's connection, for datagrams.
    StackSender,
    /// The receiving endpoint of a foreign stack's connection, for datagrams.
    StackReceiver,
    /// A real program outside the emulated network.
    Outside,
    /// The sending endpoint of connections that traffic opens during the run.
    TrafficSender,
    /// The receiving endpoint of connections that traffic opens during the run.
    TrafficReceiver,
    /// The start node of a proxy, for segments from a flow's sender.
    ProxyEntry,
    /// The end node of a proxy, for segments from the start node.
    ProxyExit,
    /// The start node of a proxy, where the proxy takes over segments from the sender of a connection that a traffic
    /// source has opened.
    TrafficEntry,
}

/// Kind of transport of a packet. Indices of flows are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Carrier {
    Tcp,
    /// Datagram streams, connections of foreign stacks, and flows of real programs. Their indices are from one common
    /// range.
    Udp,
    /// Connections that sources open during the run. The last two bits of the number in a packet identify the direction
    /// and the leg of the connection.
    Traffic,
}

impl Carrier {
    /// Returns the number of a flow or connection without the bits for direction and leg. `number` is the number in one
    /// of its packets.
    pub(super) fn common(self, number: u32) -> u32 {
        match self {
            Self::Tcp | Self::Udp => number,
            Self::Traffic => number & !3,
        }
    }

    /// Returns the index of the flow or connection of a packet with `number`. Later connections may reuse the index.
    pub(super) fn place(self, number: u32) -> usize {
        match self {
            Self::Tcp | Self::Udp => number as usize,
            Self::Traffic => self.side(number) >> 2,
        }
    }

    /// Returns the index of the flow or connection that a packet with `number` belongs to. For traffic, each direction
    /// and each leg of a connection has its own index.
    pub(super) fn side(self, number: u32) -> usize {
        match self {
            Self::Tcp | Self::Udp => number as usize,
            Self::Traffic => (number & ((1 << OPENED_BITS) - 1)) as usize,
        }
    }
}

impl End {
    fn carrier(self) -> Carrier {
        match self {
            Self::TrafficSender | Self::TrafficReceiver | Self::TrafficEntry => Carrier::Traffic,
            Self::UdpReceiver | Self::StackSender | Self::StackReceiver | Self::Outside => {
                Carrier::Udp
            }
            Self::TcpSender
            | Self::TcpReceiver
            | Self::DummySender
            | Self::DummyReceiver
            | Self::ProxyEntry
            | Self::ProxyExit => Carrier::Tcp,
        }
    }
}

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    Link(u32),
    /// The impairments of the link that follows.
    Impairments(u32, Carrier),
    /// An access link, given by its number among the access links.
    Access(u32),
    End(End),
}

/// A route of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Position of the route's first hop in the route table.
    pub(crate) route: u32,
}

#[derive(Debug)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
    /// Index of each link's impairments, if it has any.
    impairments: Vec<Option<u32>>,
    known: BTreeMap<(usize, usize, End), Option<u32>>,
    graph: Graph,
}

impl Routes {
    pub(crate) fn new(config: &Config) -> Self {
        let links = config.links.iter();
        let links = links.map(|link| (link.from, link.to, link.delay));
        let graph = Graph::new(config.nodes.len(), links);
        let mut numbers = 0..;
        let impairments = config.links.iter().map(|link| {
            let number = || numbers.next();
            link.is_impaired().then(number).flatten()
        });
        Self {
            impairments: impairments.collect(),
            hops: Vec::new(),
            known: BTreeMap::new(),
            graph,
        }
    }

    #[inline]
    pub(crate) fn hop(&self, position: u32) -> Hop {
        self.hops[position as usize]
    }

    /// Prefetches the hop at `position` in the route table.
    #[inline]
    pub(super) fn prefetch(&self, position: u32) {
        prefetch(&self.hops[position as usize]);
    }

    /// Replaces links by access links in all routes. `access` gives the number of each link among the access links, or
    /// `None` for other links.
    pub(super) fn lead_over_access(&mut self, access: &[Option<u32>]) {
        for hop in &mut self.hops {
            if let Hop::Link(link) = *hop
                && let Some(index) = access[link as usize]
            {
                *hop = Hop::Access(index);
            }
        }
    }

    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        if let Some(&known) = self.known.get(&(from, to, end)) {
            return known.map(|route| Path { route });
        }
        let links = self.graph.shortest_path(from, to);
        let route = links.filter(|links| !links.is_empty()).map(|links| {
            let route = u32::try_from(self.hops.len()).expect("more than 4e9 hops");
            for link in links {
                let impairments = self.impairments[link];
                self.hops
                    .extend(impairments.map(|index| Hop::Impairments(index, end.carrier())));
                self.hops.push(Hop::Link(link as u32));
            }
            self.hops.push(Hop::End(end));
            route
        });
        self.known.insert((from, to, end), route);
        route.map(|route| Path { route })
    }

    /// Returns the links and the kind of receiver of every route found so far. Access links are left out.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Vec<usize>, End)> {
        let mut links = Vec::new();
        self.hops.iter().filter_map(move |&hop| match hop {
            Hop::Link(link) => {
                links.push(link as usize);
                None
            }
            Hop::Impairments(..) | Hop::Access(_) => None,
            Hop::End(end) => Some((std::mem::take(&mut links), end)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_stays_small() {
        assert_eq!(size_of::<Hop>(), 8);
    }
}
