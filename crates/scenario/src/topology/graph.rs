//! The topology of arbitrary nodes and links.

use longhaul_keys::{Key, Kind, keys, together};

use super::{Core, Layout, Topology, find_node};
use crate::document::{Table, Value, join};
use crate::error::Diagnostic;
use crate::link::{LINK, LinkParts, round_trip};
use crate::model::flow::AnyFlow;

pub(super) const GRAPH: Topology = Topology {
    name: "graph",
    help: "Any nodes and links; routes are shortest by delay.",
    keys: Network::KEYS,
    flow_keys: FlowPlace::KEYS,
    lay_out,
    endpoints,
};

keys! {
    /// Keys of the table `topology.graph`.
    struct Network {
        /// Names of the nodes.
        nodes: Vec<String> = Kind::List(&Kind::Name).key().required(),
    }
    apart {
        /// Links between nodes.
        links: Vec<Table> = Kind::List(&Kind::Table(EDGE)).key().required(),
    }
}

keys! {
    /// Keys that determine the route of a group of flows in a graph.
    pub(crate) struct FlowPlace {
        /// Graph: node from which the flows send.
        from: String = Kind::Name.key(),
        /// Graph: node to which the flows send.
        pub to: String = Kind::Name.key(),
    }
}

/// Keys of a link of a graph: its two end nodes, and the keys of all links.
const EDGE: &[Key] = together!(Edge::KEYS, LINK);

keys! {
    /// Keys of a link of a graph, in addition to those of all links.
    struct Edge {
        /// Node where the link begins.
        from: String = Kind::Name.key().required(),
        /// Node where the link ends.
        to: String = Kind::Name.key().required(),
        /// Name of the link.
        name: String = Kind::Name.key().derived("FROM-TO"),
        /// True if there is also a link in the opposite direction.
        duplex: bool = Kind::Flag.key().default("true"),
    }
}

fn lay_out(table: &mut Table, path: &str, layout: &mut Layout<'_>) -> Vec<String> {
    let nodes = table.read(Network::nodes);
    for (index, node) in table.list(Network::nodes).iter().enumerate() {
        if nodes[..index].contains(&nodes[index]) {
            let path = join(path, &format!("nodes.{index}"));
            let message = format!("there are two nodes `{}`", nodes[index]);
            let duplicate = Diagnostic::new(&path, &node.origin, message);
            layout.out.push(duplicate);
        }
    }
    let mut names = Vec::new();
    for (index, edge) in table.tables_mut(Network::links).enumerate() {
        let path = join(path, &format!("links.{index}"));
        lay_out_edge(edge, &path, &nodes, &mut names, layout);
    }
    nodes
}

fn lay_out_edge(
    edge: &mut Table,
    path: &str,
    nodes: &[String],
    names: &mut Vec<String>,
    layout: &mut Layout<'_>,
) {
    let from = find_node(nodes, edge, Edge::from, path, layout.out);
    let to = find_node(nodes, edge, Edge::to, path, layout.out);
    let (Some(from), Some(to)) = (from, to) else {
        return;
    };
    if from == to {
        let message = format!("the link leads from `{}` to itself", nodes[from]);
        layout
            .out
            .push(Diagnostic::at(edge, Edge::to, path, message));
    }
    if !edge.has(Edge::name) {
        let name = format!("{}-{}", nodes[from], nodes[to]);
        edge.derive(Edge::name, Value::Text(name), "FROM-TO");
    }
    edge.or_default(Edge::duplex, Value::Flag(true));
    let (duplex, reverse) = (edge.read(Edge::duplex), LinkParts::reverse);
    let name = edge.read(Edge::name);
    let back = duplex.then(|| format!("{name}-reverse"));
    let own: Vec<String> = std::iter::once(name.clone()).chain(back).collect();
    if let Some(taken) = own.iter().find(|name| names.contains(name)) {
        let message = format!("there are two links `{taken}`; give them names");
        layout
            .out
            .push(Diagnostic::at(edge, Edge::name, path, message));
    }
    if !duplex && edge.has(reverse) {
        let message = "there is no link back with `duplex = false`; leave one of both keys out";
        return layout
            .out
            .push(Diagnostic::of_key(edge, reverse, path, message));
    }
    let (rtt, before) = (round_trip(edge), layout.links.len());
    layout.both_ways(&name, (from, to), edge, path, rtt);
    if !duplex {
        layout.links.truncate(before + 1);
        edge.remove(reverse);
    }
    names.extend(own);
}

fn endpoints(
    flow: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    let ends = [FlowPlace::from, FlowPlace::to];
    if let Some(key) = ends.into_iter().find(|key| !flow.has(*key)) {
        let origin = &flow.node(AnyFlow::protocol).origin;
        let message = format!("the key {key} is missing: the name of a node");
        out.push(Diagnostic::new(path, origin, message));
        return None;
    }
    let [from, to] = ends.map(|key| find_node(&core.nodes, flow, key, path, out));
    let (from, to) = (from?, to?);
    if from == to {
        let message = "a flow needs two different nodes";
        out.push(Diagnostic::at(flow, FlowPlace::to, path, message));
        return None;
    }
    Some((from, to))
}
