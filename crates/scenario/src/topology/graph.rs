//! Any nodes and links.

use longhaul_keys::{Key, Kind, count, joined, key, required};

use super::{Core, Layout, Topology, find_node};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::link::{LINK, round_trip};
use crate::typed::{Typed, text_of};

pub(super) const GRAPH: Topology = Topology {
    name: "graph",
    help: "Any nodes and links; routes are shortest by delay.",
    keys: &[
        required("nodes", Kind::List(&Kind::Text), "Names of the nodes."),
        required(
            "links",
            Kind::List(&Kind::Table(EDGE)),
            "Links between nodes.",
        ),
    ],
    flow_keys: &[
        key("from", Kind::Text, "Graph: sending node."),
        key("to", Kind::Text, "Graph: receiving node."),
    ],
    lay_out,
    endpoints,
};

/// A link of a graph also has its end nodes.
const EDGE: &[Key] = &joined::<{ count(EDGE_LISTS) }>(EDGE_LISTS);
const EDGE_LISTS: &[&[Key]] = &[PLACE, LINK];

const PLACE: &[Key] = &[
    required("from", Kind::Text, "Node where the link begins."),
    required("to", Kind::Text, "Node where it ends."),
    key("name", Kind::Text, "Name of the link.").derived("FROM-TO"),
    key("duplex", Kind::Flag, "Whether there is a link back.").default("true"),
];

fn lay_out(table: &mut Table, path: &str, layout: &mut Layout<'_>) -> Vec<String> {
    let listed = table.list("nodes");
    let nodes: Vec<String> = listed
        .iter()
        .map(|node| text_of(node).to_string())
        .collect();
    for (index, node) in listed.iter().enumerate() {
        if nodes[..index].contains(&nodes[index]) {
            let path = join(path, &format!("nodes.{index}"));
            let message = format!("there are two nodes `{}`", nodes[index]);
            layout.refuse(&path, &node.origin, message);
        }
    }
    let mut names = Vec::new();
    let edges = table.list_mut("links");
    for (index, edge) in edges.iter_mut().filter_map(Node::table_mut).enumerate() {
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
    let from = find_node(nodes, edge, "from", path, layout.out);
    let to = find_node(nodes, edge, "to", path, layout.out);
    let (Some(from), Some(to)) = (from, to) else {
        return;
    };
    if from == to {
        let message = format!("the link leads from `{}` to itself", nodes[from]);
        layout.refuse(&join(path, "to"), &edge.node("to").origin, message);
    }
    if !edge.contains_key("name") {
        let name = format!("{}-{}", nodes[from], nodes[to]);
        edge.derive("name", Value::Text(name), "FROM-TO");
    }
    let name = edge.word("name").to_string();
    if names.contains(&name) {
        let message = format!("there are two links `{name}`; give them names");
        layout.refuse(&join(path, "name"), &edge.node("name").origin, message);
    }
    edge.default("duplex", Value::Flag(true), Origin::Default);
    if let (false, Some(reverse)) = (edge.read::<bool>("duplex"), edge.get("reverse")) {
        let message = "there is no link back with `duplex = false`; leave one of both keys out";
        let origin = reverse.key_origin().clone();
        return layout.refuse(&join(path, "reverse"), &origin, message);
    }
    let (rtt, before) = (round_trip(edge), layout.links.len());
    layout.both_ways(&name, (from, to), edge, path, rtt);
    if !edge.read::<bool>("duplex") {
        layout.links.truncate(before + 1);
        edge.remove("reverse");
    }
    names.push(name);
}

fn endpoints(
    flow: &mut Table,
    path: &str,
    core: &Core,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, usize)> {
    if let Some(key) = ["from", "to"].iter().find(|key| !flow.contains_key(**key)) {
        let origin = flow.node("protocol").origin.clone();
        let message = format!("the key `{key}` is missing: the name of a node");
        out.push(Diagnostic::new(path, &origin, message));
        return None;
    }
    let from = find_node(&core.nodes, flow, "from", path, out);
    let to = find_node(&core.nodes, flow, "to", path, out);
    let (from, to) = (from?, to?);
    if from == to {
        let origin = &flow.node("to").origin;
        let message = "a flow needs two different nodes";
        out.push(Diagnostic::new(&join(path, "to"), origin, message));
        return None;
    }
    Some((from, to))
}
