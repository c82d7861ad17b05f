//! Static shortest-path routes, shared by all flows between the same nodes.
//!
//! A route is a run of hops in one table, ended by the kind of endpoint that takes the packet. A
//! packet holds its position in the table, so that forwarding is one load.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::config::Config;

/// What takes a packet at the end of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// A TCP sender gets an acknowledgement.
    TcpSender,
    /// A TCP receiver gets a segment.
    TcpReceiver,
    /// A TCP receiver answers a dummy, and a sender counts the answer.
    DummyReceiver,
    DummySender,
    /// A datagram is counted.
    UdpReceiver,
    /// The same two at the ends of connections that traffic opens as it goes.
    TrafficSender,
    TrafficReceiver,
    /// The start node of a proxy gets a segment from a sender, and the end node one from the start.
    ProxyEntry,
    ProxyExit,
    /// The start node gets a segment of a connection that traffic has opened.
    TrafficEntry,
}

/// What carries a flow's packets: each kind has indices of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Carrier {
    Tcp,
    Udp,
    /// Connections that sources open as they go. The numbers of the directions and legs of one differ
    /// in the last two bits.
    Traffic,
}

impl Carrier {
    /// What all packets of a flow, or of a connection, have in common, from the number of one.
    pub(super) fn common(self, number: u32) -> u32 {
        match self {
            Self::Tcp | Self::Udp => number,
            Self::Traffic => number & !3,
        }
    }
}

impl End {
    fn carrier(self) -> Carrier {
        match self {
            Self::TrafficSender | Self::TrafficReceiver | Self::TrafficEntry => Carrier::Traffic,
            Self::UdpReceiver => Carrier::Udp,
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
    /// What happens to packets before the link that follows.
    Entrance(u32, Carrier),
    End(End),
}

/// A route and what it adds up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Position of its first hop in the table.
    pub(crate) route: u32,
}

#[derive(Debug)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
    /// By link: its entrance, if it has one.
    entrances: Vec<Option<u32>>,
    known: BTreeMap<(usize, usize, End), Option<u32>>,
    /// Links that leave each node, as (link, far end, delay in picoseconds).
    leaving: Vec<Vec<(u32, usize, u64)>>,
}

impl Routes {
    pub(crate) fn new(config: &Config) -> Self {
        let mut leaving = vec![Vec::new(); config.nodes.len()];
        for (link, id) in config.links.iter().zip(0..) {
            leaving[link.from].push((id, link.to, link.delay.as_ps()));
        }
        let mut numbers = 0..;
        let entrances = config.links.iter().map(|link| {
            let _ = link.entrance.as_ref()?;
            numbers.next()
        });
        Self {
            entrances: entrances.collect(),
            hops: Vec::new(),
            known: BTreeMap::new(),
            leaving,
        }
    }

    #[inline]
    pub(crate) fn hop(&self, position: u32) -> Hop {
        self.hops[position as usize]
    }

    pub(crate) fn path(&mut self, from: usize, to: usize, end: End) -> Option<Path> {
        if let Some(&known) = self.known.get(&(from, to, end)) {
            return known.map(|route| Path { route });
        }
        let route = self.shortest(from, to).map(|links| {
            let route = u32::try_from(self.hops.len()).expect("more than 4e9 hops");
            for link in links {
                let entrance = self.entrances[link as usize];
                self.hops
                    .extend(entrance.map(|index| Hop::Entrance(index, end.carrier())));
                self.hops.push(Hop::Link(link));
            }
            self.hops.push(Hop::End(end));
            route
        });
        self.known.insert((from, to, end), route);
        route.map(|route| Path { route })
    }

    /// The links of every route found so far, and where it ends.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Vec<usize>, End)> {
        let mut links = Vec::new();
        self.hops.iter().filter_map(move |&hop| match hop {
            Hop::Link(link) => {
                links.push(link as usize);
                None
            }
            Hop::Entrance(..) => None,
            Hop::End(end) => Some((std::mem::take(&mut links), end)),
        })
    }

    /// Links of the path with the smallest (delay, hops), ties broken by link order (Dijkstra).
    fn shortest(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut best: Vec<Option<(u64, u32)>> = vec![None; self.leaving.len()];
        let mut reached_by: Vec<Option<(u32, usize)>> = vec![None; self.leaving.len()];
        let mut frontier = BinaryHeap::from([Reverse(((0_u64, 0_u32), from))]);
        best[from] = Some((0, 0));
        while let Some(Reverse((cost, node))) = frontier.pop() {
            if node == to {
                break;
            }
            if best[node] != Some(cost) {
                continue;
            }
            for &(link, next, delay) in &self.leaving[node] {
                let next_cost = (cost.0 + delay, cost.1 + 1);
                if best[next].is_none_or(|known| next_cost < known) {
                    best[next] = Some(next_cost);
                    reached_by[next] = Some((link, node));
                    frontier.push(Reverse((next_cost, next)));
                }
            }
        }
        let mut links = Vec::new();
        let mut node = to;
        while node != from {
            let (link, previous) = reached_by[node]?;
            links.push(link);
            node = previous;
        }
        links.reverse();
        (!links.is_empty()).then_some(links)
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
