//! Shortest paths. They are used for routes of packets, and for windows and buffers that scenarios derive from paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use longhaul_units::Span;

/// Nodes and one-way links, both numbered from zero. Most nodes are hosts, that is, they have only one neighbour. A
/// search for a path skips all hosts except those at the two ends, and is therefore short even with thousands of hosts.
#[derive(Clone, Debug)]
pub struct Graph {
    /// For each node, the links from this node to nodes that are not hosts, in the order of the links' numbers.
    leaving: Vec<Vec<Link>>,
    /// For each host, the links that lead to it, in the order of the links' numbers.
    entering: Vec<Vec<Link>>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    id: usize,
    from: usize,
    to: usize,
    delay: Span,
}

/// The best path to a node that a search has found so far.
#[derive(Clone, Copy, Debug)]
struct Way {
    cost: (Span, u32),
    /// Last link of the path; `None` for the start node.
    last: Option<Link>,
}

impl Graph {
    /// Returns a graph with `nodes` nodes; each link is a tuple of its first node, second node and propagation delay.
    pub fn new(nodes: usize, links: impl IntoIterator<Item = (usize, usize, Span)>) -> Self {
        let number = |(id, (from, to, delay))| Link {
            id,
            from,
            to,
            delay,
        };
        let links: Vec<Link> = links.into_iter().enumerate().map(number).collect();
        let mut neighbours = vec![Neighbours::None; nodes];
        for link in &links {
            neighbours[link.from].add(link.to);
            neighbours[link.to].add(link.from);
        }
        let (mut leaving, mut entering) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for link in links {
            match neighbours[link.to] {
                Neighbours::Many => leaving[link.from].push(link),
                Neighbours::None | Neighbours::One(_) => entering[link.to].push(link),
            }
        }
        Self { leaving, entering }
    }

    /// Returns the links of the shortest path: smallest delay, then fewest hops (Dijkstra). Among equal paths, each
    /// node is reached over the predecessor closest to the start, then over the one with the smallest number. Of
    /// parallel links with equal delays, the first is used. Returns `None` if there is no path.
    pub fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut ways = BTreeMap::new();
        let mut frontier = BinaryHeap::from([Reverse(((Span::ZERO, 0_u32), from))]);
        let cost = (Span::ZERO, 0);
        ways.insert(from, Way { cost, last: None });
        while let Some(Reverse((cost, node))) = frontier.pop() {
            if node == to {
                break;
            }
            if ways[&node].cost != cost {
                continue;
            }
            let to_host = self.entering[to].iter().filter(|link| link.from == node);
            for &link in self.leaving[node].iter().chain(to_host) {
                let cost = (cost.0 + link.delay, cost.1 + 1);
                if ways.get(&link.to).is_none_or(|known| cost < known.cost) {
                    let last = Some(link);
                    ways.insert(link.to, Way { cost, last });
                    frontier.push(Reverse((cost, link.to)));
                }
            }
        }
        let mut links = Vec::new();
        let mut way = ways.get(&to)?;
        while let Some(last) = way.last {
            links.push(last.id);
            way = &ways[&last.from];
        }
        links.reverse();
        Some(links)
    }
}

/// Neighbours of a node, over links in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Neighbours {
    None,
    One(usize),
    Many,
}

impl Neighbours {
    fn add(&mut self, node: usize) {
        *self = match *self {
            Self::None => Self::One(node),
            Self::One(known) if known == node => Self::One(node),
            Self::One(_) | Self::Many => Self::Many,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Graph {
        /// Returns the graph with no node treated as a host: a search then visits all nodes.
        fn without_hosts(mut self) -> Self {
            for link in self.entering.iter_mut().flat_map(|links| links.drain(..)) {
                self.leaving[link.from].push(link);
            }
            for links in &mut self.leaving {
                links.sort_by_key(|link| link.id);
            }
            self
        }
    }

    proptest! {
        /// Searches that skip hosts find the same paths as searches that visit them. Tested on random graphs with
        /// one-way links, two-way links and equal paths.
        #[test]
        fn leaving_out_hosts_changes_no_path(
            links in prop::collection::vec((0usize..8, 0usize..8, 0u64..3), 1..30),
        ) {
            let links = links.iter().map(|&(from, to, ms)| (from, to, Span::from_millis(ms)));
            let graph = Graph::new(8, links);
            let plain = graph.clone().without_hosts();
            for (from, to) in (0..64).map(|pair| (pair / 8, pair % 8)) {
                prop_assert_eq!(graph.shortest_path(from, to), plain.shortest_path(from, to));
            }
        }
    }

    #[test]
    fn searches_look_at_no_hosts_that_they_are_not_for() {
        let star: Vec<_> = (1..1000).map(|host| (host, 0, 1)).collect();
        let graph = Graph::new(1000, both_ways(&star));
        assert!(graph.leaving[0].is_empty());
        assert_eq!(graph.shortest_path(7, 900), Some(vec![12, 1799]));
    }

    fn both_ways(links: &[(usize, usize, u64)]) -> Vec<(usize, usize, Span)> {
        let pair = |&(a, b, ms)| [(a, b, Span::from_millis(ms)), (b, a, Span::from_millis(ms))];
        links.iter().flat_map(pair).collect()
    }

    /// Of two paths with equal costs, the path over the node with the smaller number (node 1) is chosen, although the
    /// link to node 2 comes first.
    #[test]
    fn a_diamond_of_equal_costs_has_one_path_with_and_without_hosts() {
        let core = [(0, 2, 5), (0, 1, 5), (2, 3, 5), (1, 3, 5)];
        let graph = Graph::new(4, both_ways(&core));
        assert_eq!(graph.shortest_path(0, 3), Some(vec![2, 6]));
        assert_eq!(graph.shortest_path(3, 0), Some(vec![7, 3]));
        let hosts = [&core[..], &[(4, 0, 2), (5, 3, 2)]].concat();
        let graph = Graph::new(6, both_ways(&hosts));
        assert_eq!(graph.shortest_path(4, 5), Some(vec![8, 2, 6, 11]));
    }

    #[test]
    fn delay_counts_before_hops_and_some_nodes_cannot_be_reached() {
        let links = [(0, 1, 9), (0, 2, 3), (2, 1, 3), (0, 2, 3)];
        let graph = Graph::new(4, both_ways(&links));
        assert_eq!(graph.shortest_path(0, 1), Some(vec![2, 4]));
        assert_eq!(graph.shortest_path(0, 0), Some(vec![]));
        assert_eq!(graph.shortest_path(0, 3), None);
    }
}
