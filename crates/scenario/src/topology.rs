//! The network between the flows' hosts: dumbbell, parking lot or any graph, as nodes and links.

use longhaul_engine::Graph;
use longhaul_engine::config::Shaper;
use longhaul_keys::Profile;
use longhaul_units::{Bytes, Rate, Span};

use crate::check::unknown;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::link;
use crate::profile;
use crate::queue::{self, Place};
use crate::read::join;
use crate::typed::{Typed, text_of};

/// Routers and the links between them; access links come with the flows.
pub(crate) struct Core {
    pub kind: Kind,
    pub nodes: Vec<String>,
    pub links: Vec<CoreLink>,
}

/// Which table describes the network.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Dumbbell,
    ParkingLot,
    Graph,
}

/// One direction of a link, with its resolved table.
pub(crate) struct CoreLink {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub rate: Rate,
    pub delay: Span,
    /// Token bucket, of the forward direction only.
    pub shaper: Option<Shaper>,
    /// Whether it is the one of whose loss and changes of loss the keys speak.
    pub forward: bool,
    /// The link's resolved keys.
    pub keys: Table,
}

impl CoreLink {
    /// The rate that it can keep up.
    pub fn capacity(&self) -> Rate {
        let limit = self.shaper.map_or(self.rate, |shaper| shaper.rate);
        self.rate.min(limit)
    }
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::Dumbbell => "dumbbell",
            Self::ParkingLot => "parking-lot",
            Self::Graph => "graph",
        }
    }
}

/// Resolves the topology's table in place and lays out its nodes and links.
pub(crate) fn resolve(
    topology: &mut Table,
    origin: &Origin,
    packet: Bytes,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) -> Option<Core> {
    let kinds = [Kind::Dumbbell, Kind::ParkingLot, Kind::Graph];
    let kind = kinds
        .into_iter()
        .find(|kind| topology.contains_key(kind.key()));
    let (Some(kind), 1) = (kind, topology.len()) else {
        let message =
            "give one of [topology.dumbbell], [topology.parking-lot] and [topology.graph]";
        out.push(Diagnostic::new("topology", origin, message));
        return None;
    };
    let path = join("topology", kind.key());
    let table = topology.sub_mut(kind.key());
    let before = out.len();
    let mut builder = Builder {
        packet,
        profile,
        out,
    };
    let core = match kind {
        Kind::Dumbbell => builder.dumbbell(table, &path),
        Kind::ParkingLot => builder.parking_lot(table, &path),
        Kind::Graph => builder.graph(table, &path),
    };
    (out.len() == before).then_some(core)
}

struct Builder<'a> {
    packet: Bytes,
    profile: Profile,
    out: &'a mut Vec<Diagnostic>,
}

impl Builder<'_> {
    fn dumbbell(&mut self, table: &mut Table, path: &str) -> Core {
        let nodes = vec!["left".to_string(), "right".to_string()];
        let link = table.sub_mut("bottleneck");
        let rtt = link.span("delay") * 2;
        let mut links = Vec::new();
        self.both_ways(
            "bottleneck",
            (0, 1),
            link,
            &join(path, "bottleneck"),
            rtt,
            &mut links,
        );
        Core {
            kind: Kind::Dumbbell,
            nodes,
            links,
        }
    }

    fn parking_lot(&mut self, table: &mut Table, path: &str) -> Core {
        let path = join(path, "hops");
        let Node {
            value: Value::List(hops),
            origin,
            ..
        } = table.get_mut("hops").expect("the checker requires hops")
        else {
            unreachable!("hops is a list")
        };
        if hops.is_empty() {
            self.out.push(Diagnostic::new(
                &path,
                origin,
                "a parking lot needs at least one hop",
            ));
        }
        let delays = hops
            .iter()
            .filter_map(Node::table)
            .map(|hop| hop.span("delay"));
        let rtt = delays.fold(Span::ZERO, |sum, delay| sum + delay) * 2;
        let nodes = (0..=hops.len())
            .map(|index| format!("router-{index}"))
            .collect();
        let mut links = Vec::new();
        for (index, hop) in hops.iter_mut().filter_map(Node::table_mut).enumerate() {
            let (name, path) = (format!("hop-{index}"), join(&path, &index.to_string()));
            self.both_ways(&name, (index, index + 1), hop, &path, rtt, &mut links);
        }
        Core {
            kind: Kind::ParkingLot,
            nodes,
            links,
        }
    }

    fn graph(&mut self, table: &mut Table, path: &str) -> Core {
        let nodes: Vec<String> = table
            .list("nodes")
            .iter()
            .map(|node| text_of(node).to_string())
            .collect();
        for (index, node) in table.list("nodes").iter().enumerate() {
            if nodes[..index].contains(&nodes[index]) {
                let path = join(path, &format!("nodes.{index}"));
                let message = format!("there are two nodes `{}`", nodes[index]);
                self.out.push(Diagnostic::new(&path, &node.origin, message));
            }
        }
        let mut links: Vec<CoreLink> = Vec::new();
        let Node {
            value: Value::List(edges),
            ..
        } = table.get_mut("links").expect("the checker requires links")
        else {
            unreachable!("links is a list")
        };
        for (index, edge) in edges.iter_mut().filter_map(Node::table_mut).enumerate() {
            let path = join(path, &format!("links.{index}"));
            self.edge(edge, &path, &nodes, &mut links);
        }
        Core {
            kind: Kind::Graph,
            nodes,
            links,
        }
    }

    fn edge(&mut self, edge: &mut Table, path: &str, nodes: &[String], links: &mut Vec<CoreLink>) {
        let from = find_node(nodes, edge, "from", path, self.out);
        let to = find_node(nodes, edge, "to", path, self.out);
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        if from == to {
            let message = format!("the link leads from `{}` to itself", nodes[from]);
            let origin = &edge.node("to").origin;
            self.out
                .push(Diagnostic::new(&join(path, "to"), origin, message));
        }
        if !edge.contains_key("name") {
            let name = format!("{}-{}", nodes[from], nodes[to]);
            edge.derive("name", Value::Text(name), "FROM-TO");
        }
        let name = edge.word("name").to_string();
        if links.iter().any(|link| link.name == name) {
            let origin = &edge.node("name").origin;
            let message = format!("there are two links `{name}`; give them names");
            self.out
                .push(Diagnostic::new(&join(path, "name"), origin, message));
        }
        edge.default("both", Value::Flag(true), Origin::Default);
        let rtt = edge.span("delay") * 2;
        self.both_ways(&name, (from, to), edge, path, rtt, links);
        if !edge.flag("both") {
            links.pop();
            edge.remove("reverse_queue");
        }
    }

    /// Resolves a link's queues and appends its two directions. `rtt` is that of "1 BDP".
    fn both_ways(
        &mut self,
        name: &str,
        (from, to): (usize, usize),
        link: &mut Table,
        path: &str,
        rtt: Span,
        links: &mut Vec<CoreLink>,
    ) {
        let (rate, delay) = (link.rate("rate"), link.span("delay"));
        let default = || queue::default_queue(queue::DEFAULT_LIMIT);
        link.entry("queue".to_string()).or_insert_with(default);
        let shaper = link::shaper(link, path, self.packet, self.out);
        let capacity = shaper.map_or(rate, |shaper| shaper.rate);
        for (key, rate) in [("queue", capacity), ("reverse_queue", rate)] {
            let place = Place {
                rate,
                delay,
                rtt,
                packet: self.packet,
                profile: profile::queues(self.profile),
            };
            if link.contains_key(key) {
                queue::resolve(link.sub_mut(key), &join(path, key), &place, self.out);
            }
        }
        // The same both ways, and wrong only once.
        let queue = link.node("queue").clone();
        link.entry("reverse_queue".to_string()).or_insert(queue);
        link::resolve(link, path, self.out);
        let one_way = |name: String, (from, to), forward| CoreLink {
            name,
            from,
            to,
            rate,
            delay,
            shaper: shaper.filter(|_| forward),
            forward,
            keys: link.clone(),
        };
        links.push(one_way(name.to_string(), (from, to), true));
        let reverse = format!("{name}{}", CoreLink::REVERSE);
        links.push(one_way(reverse, (to, from), false));
    }
}

impl CoreLink {
    /// The end of the name of a link's reverse direction.
    const REVERSE: &str = "-reverse";

    /// The name of the link's forward direction.
    pub fn forward_name(&self) -> &str {
        let stripped = self.name.strip_suffix(Self::REVERSE);
        stripped.filter(|_| !self.forward).unwrap_or(&self.name)
    }

    /// The queue in front of it.
    pub fn queue(&self) -> &Table {
        let key = if self.forward {
            "queue"
        } else {
            "reverse_queue"
        };
        self.keys.sub(key)
    }
}

/// The index of the node that a key names.
pub(crate) fn find_node(
    nodes: &[String],
    table: &Table,
    key: &str,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let node = table.node(key);
    let found = nodes.iter().position(|name| name == text_of(node));
    if found.is_none() {
        let message = unknown("node", text_of(node), nodes.iter().map(String::as_str));
        out.push(Diagnostic::new(&join(path, key), &node.origin, message));
    }
    found
}

impl Core {
    /// The links from one node to another, as the engine routes.
    pub fn route(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let links = self.links.iter();
        let links = links.map(|link| (link.from, link.to, link.delay));
        Graph::new(self.nodes.len(), links).shortest_path(from, to)
    }

    /// Propagation delay along a route.
    pub fn delay(&self, route: &[usize]) -> Span {
        route
            .iter()
            .fold(Span::ZERO, |sum, &link| sum + self.links[link].delay)
    }

    /// Rate of the slowest link of a route.
    pub fn slowest(&self, route: &[usize]) -> Option<Rate> {
        route.iter().map(|&link| self.links[link].capacity()).min()
    }
}
