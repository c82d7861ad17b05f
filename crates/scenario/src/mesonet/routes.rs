//! Links and routes of the backbone. A route that the topology file does not give is the one with
//! the shortest delay. The routes between backbone routers with access routers below them are checked
//! for loops and missing links before the run.

use longhaul_mesonet::config::BackboneLink;
use longhaul_units::Span;

use super::clock::Clock;
use super::keys::{LinkKeys, RouteKeys, TopologyFile};
use super::layout::Layout;
use crate::document::{Node, Table, join};
use crate::error::Diagnostic;
use crate::unknown_names::unknown_name;

/// Links of the backbone, and the routing table of each backbone router.
pub(crate) struct Routes {
    pub links: Vec<BackboneLink>,
    /// Index of the next link at router `at` towards router `to`: `next_link[at][to]`; `None`
    /// without a route.
    pub next_link: Vec<Vec<Option<usize>>>,
    /// Delay of each link in time steps.
    steps: Vec<u64>,
}

impl Routes {
    /// Reads the links and routes of a checked topology; `None` after an error. `factor` multiplies the delays.
    pub fn of(
        topology: &Table,
        path: &str,
        layout: &Layout,
        clock: &Clock,
        factor: f64,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let before = out.len();
        let count = layout.backbone.len();
        let mut routes = Self {
            links: Vec::new(),
            next_link: vec![vec![None; count]; count],
            steps: Vec::new(),
        };
        for (index, link) in topology.tables(TopologyFile::links).enumerate() {
            // Halves are rounded to even: buffers in appendix C of NIST SP 500-282 follow from
            // this.
            let exact = factor * clock.steps(link.read(LinkKeys::delay));
            let steps = exact.round_ties_even() as u64;
            let path = join(path, &format!("links.{index}"));
            if steps == 0 {
                // An event at one of the two routers could still reach the other one in the same
                // time step, and return.
                let message = format!(
                    "{exact} time steps, rounded to none; between backbone routers packets take one at least"
                );
                out.push(Diagnostic::at(link, LinkKeys::delay, &path, message));
            }
            routes.add_link(link, &path, layout, clock.of_steps(steps), steps, out);
        }
        for (index, route) in topology.tables(TopologyFile::routes).enumerate() {
            let path = join(path, &format!("routes.{index}"));
            routes.add_route(route, &path, layout, out);
        }
        (0..count).for_each(|to| routes.fill_shortest(to));
        (out.len() == before).then_some(routes)
    }

    fn add_link(
        &mut self,
        link: &Table,
        path: &str,
        layout: &Layout,
        delay: Span,
        steps: u64,
        out: &mut Vec<Diagnostic>,
    ) {
        let ends = [LinkKeys::from, LinkKeys::to]
            .map(|key| backbone_router(layout, link.node(key), &join(path, key.name()), out));
        let [Some(from), Some(to)] = ends else {
            return;
        };
        if from == to {
            let name = &layout.backbone[from].name;
            let message = format!("the link leads from `{name}` to itself");
            return out.push(Diagnostic::at(link, LinkKeys::to, path, message));
        }
        let both = !link.has(LinkKeys::both) || link.read(LinkKeys::both);
        for (from, to) in [(from, to), (to, from)]
            .into_iter()
            .take(1 + usize::from(both))
        {
            if self.link(from, to).is_some() {
                let [from, to] = [from, to].map(|end| &layout.backbone[end].name);
                let message = format!("there are two links from `{from}` to `{to}`");
                let origin = &link.node(LinkKeys::from).origin;
                return out.push(Diagnostic::new(path, origin, message));
            }
            self.links.push(BackboneLink {
                name: format!(
                    "{}-{}",
                    layout.backbone[from].name, layout.backbone[to].name
                ),
                from,
                to,
                delay,
            });
            self.steps.push(steps);
        }
    }

    fn link(&self, from: usize, to: usize) -> Option<usize> {
        let leads = |link: &BackboneLink| link.from == from && link.to == to;
        self.links.iter().position(leads)
    }

    fn add_route(&mut self, route: &Table, path: &str, layout: &Layout, out: &mut Vec<Diagnostic>) {
        let ends = [RouteKeys::at, RouteKeys::next]
            .map(|key| backbone_router(layout, route.node(key), &join(path, key.name()), out));
        let [Some(at), Some(next)] = ends else {
            return;
        };
        let Some(link) = self.link(at, next) else {
            let [at, next] = [at, next].map(|end| &layout.backbone[end].name);
            let message = format!("no link leads from `{at}` to `{next}`");
            return out.push(Diagnostic::at(route, RouteKeys::next, path, message));
        };
        for (index, node) in route.list(RouteKeys::to).iter().enumerate() {
            let path = join(path, &format!("to.{index}"));
            let Some(to) = backbone_router(layout, node, &path, out) else {
                continue;
            };
            let wrong = if to == at {
                "packets for this router have arrived there"
            } else if self.next_link[at][to].is_some() {
                "another route has the next router of these packets"
            } else {
                self.next_link[at][to] = Some(link);
                continue;
            };
            out.push(Diagnostic::new(&path, &node.origin, wrong));
        }
    }

    /// Fills in each route to router `to` that is not given, over the path with the shortest delay.
    /// Among equal delays, fewer links are preferred. Among equal numbers of links, the path that is found first is
    /// used; its first link is not always the one that comes first in the list.
    fn fill_shortest(&mut self, to: usize) {
        let mut best: Vec<Option<(u64, usize, usize)>> = vec![None; self.next_link.len()];
        best[to] = Some((0, 0, usize::MAX));
        for _ in 1..best.len() {
            for (index, link) in self.links.iter().enumerate() {
                let Some((delay, hops, _)) = best[link.to] else {
                    continue;
                };
                let reached = (delay + self.steps[index], hops + 1, index);
                let worse = |(delay, hops, _)| (delay, hops) > (reached.0, reached.1);
                if best[link.from].is_none_or(worse) {
                    best[link.from] = Some(reached);
                }
            }
        }
        for (at, found) in best.into_iter().enumerate() {
            if let Some((_, _, link)) = found.filter(|_| at != to) {
                self.next_link[at][to].get_or_insert(link);
            }
        }
    }

    /// Refuses backbone routers without a link, except those in `ends`, which have access routers below
    /// them: [`Self::round_trips`] checks the paths of these.
    pub fn refuse_unconnected(
        &self,
        ends: &[usize],
        path: &str,
        layout: &Layout,
        out: &mut Vec<Diagnostic>,
    ) {
        for (number, router) in layout.backbone.iter().enumerate() {
            let touches = |link: &BackboneLink| link.from == number || link.to == number;
            if !ends.contains(&number) && !self.links.iter().any(touches) {
                let path = join(path, &format!("backbone.{number}"));
                let message = format!("router `{}` has neither hosts nor links", router.name);
                out.push(Diagnostic::new(&path, &router.origin, message));
            }
        }
    }

    /// Returns the delay in time steps of the path from one backbone router to another. If the path does not reach
    /// `to`, the error is the list of the routers on the path.
    fn path_delay(&self, from: usize, to: usize) -> Result<u64, Vec<usize>> {
        let (mut path, mut steps) = (vec![from], 0);
        while path[path.len() - 1] != to {
            let at = path[path.len() - 1];
            let Some(link) = self.next_link[at][to] else {
                return Err(path);
            };
            steps += self.steps[link];
            let next = self.links[link].to;
            let is_loop = path.contains(&next);
            path.push(next);
            if is_loop {
                return Err(path);
            }
        }
        Ok(steps)
    }

    /// Returns the sum of the round-trip times, in time steps, over all ordered pairs of the
    /// backbone routers `ends`, and the number of pairs. The error is a message about the first
    /// pair without a path.
    pub fn round_trips(&self, ends: &[usize], layout: &Layout) -> Result<(u64, u64), String> {
        let (mut sum, mut pairs) = (0, 0);
        for &from in ends {
            for &to in ends.iter().filter(|&&to| to != from) {
                // Each path is part of two round trips: as the forward path of one, and as the
                // return path of the other.
                let delay = self.path_delay(from, to);
                sum += 2 * delay.map_err(|path| no_path(&path, to, layout))?;
                pairs += 1;
            }
        }
        Ok((sum, pairs))
    }
}

/// Returns a message about a path that does not lead to `to`: it loops, or ends where no link leads towards `to`.
fn no_path(path: &[usize], to: usize, layout: &Layout) -> String {
    let name = |&router: &usize| layout.backbone[router].name.as_str();
    let names: Vec<&str> = path.iter().map(name).collect();
    let (from, to) = (names[0], name(&to));
    let last = path.len() - 1;
    if let Some(first) = path[..last].iter().position(|at| *at == path[last]) {
        let routers = names[first..].join(", ");
        return format!("packets from `{from}` to `{to}` are in a routing loop: {routers}");
    }
    format!(
        "no route leads from `{from}` to `{to}`: `{}` has no link towards it",
        names[last]
    )
}

fn backbone_router(
    layout: &Layout,
    node: &Node,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let names = || layout.backbone.iter().map(|router| router.name.as_str());
    let position = names().position(|name| name == node.word());
    if position.is_none() {
        let message = unknown_name("backbone router", node.word(), names());
        out.push(Diagnostic::new(path, &node.origin, message));
    }
    position
}
