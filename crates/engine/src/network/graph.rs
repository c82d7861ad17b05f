//! Shortest paths: those that packets take, and those that scenarios derive windows and buffers from.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longhaul_units::Span;

/// Nodes and one-way links, both numbered from zero.
#[derive(Clone, Debug)]
pub struct Graph {
    /// By node: the links that leave it, in order.
    leaving: Vec<Vec<Leaving>>,
}

#[derive(Clone, Copy, Debug)]
struct Leaving {
    link: usize,
    to: usize,
    delay: Span,
}

impl Graph {
    /// A graph of so many nodes; each link leads from a node to a node and has a propagation delay.
    pub fn new(nodes: usize, links: impl IntoIterator<Item = (usize, usize, Span)>) -> Self {
        let mut leaving = vec![Vec::new(); nodes];
        for (link, (from, to, delay)) in links.into_iter().enumerate() {
            leaving[from].push(Leaving { link, to, delay });
        }
        Self { leaving }
    }

    /// The links of the path with the least delay and, of those, the fewest hops (Dijkstra). Of paths
    /// that are alike, a node is reached from the nearest node before it, then from the one with the
    /// smallest number, over the first link. Nodes that one link joins to the others change nothing.
    pub fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut best: Vec<Option<(Span, u32)>> = vec![None; self.leaving.len()];
        let mut reached_by: Vec<Option<(usize, usize)>> = vec![None; self.leaving.len()];
        let mut frontier = BinaryHeap::from([Reverse(((Span::ZERO, 0_u32), from))]);
        best[from] = Some((Span::ZERO, 0));
        while let Some(Reverse((cost, node))) = frontier.pop() {
            if node == to {
                break;
            }
            if best[node] != Some(cost) {
                continue;
            }
            for leaving in &self.leaving[node] {
                let next_cost = (cost.0 + leaving.delay, cost.1 + 1);
                if best[leaving.to].is_none_or(|known| next_cost < known) {
                    best[leaving.to] = Some(next_cost);
                    reached_by[leaving.to] = Some((leaving.link, node));
                    frontier.push(Reverse((next_cost, leaving.to)));
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
        Some(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(links: &[(usize, usize, u64)]) -> Vec<(usize, usize, Span)> {
        let pair = |&(a, b, ms)| [(a, b, Span::from_millis(ms)), (b, a, Span::from_millis(ms))];
        links.iter().flat_map(pair).collect()
    }

    /// Over node 2 and over node 1 it is as far; the link to node 2 has the smaller number.
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
