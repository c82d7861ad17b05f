//! The network between the flows' hosts: one file for each kind of topology, and what they have in common.

use longhaul_engine::Graph;
use longhaul_keys::{Key, Kind, count, joined, key};
use longhaul_units::{Rate, Span};

use crate::check::unknown;
use crate::document::{Origin, Table, join};
use crate::error::Diagnostic;
use crate::link::{self, ACCESS, Context, CoreLink};
use crate::typed::{Typed, text_of};

/// A kind of topology.
pub(crate) struct Topology {
    /// Name of its table in `[topology]`.
    pub name: &'static str,
    pub help: &'static str,
    pub keys: &'static [Key],
    /// Keys of a group of flows that say where they run.
    pub flow_keys: &'static [Key],
    /// Resolves the table and lays out nodes and links.
    lay_out: fn(&mut Table, &str, &mut Layout<'_>) -> Vec<String>,
    /// Finds the end nodes of a group of flows, whose table and path are given.
    pub endpoints: FindEndpoints,
}

/// First and last node of a group of flows.
type FindEndpoints = fn(&mut Table, &str, &Core, &mut Vec<Diagnostic>) -> Option<(usize, usize)>;

impl Topology {
    /// Whether flows have hosts of their own behind access links.
    pub fn has_access(&self) -> bool {
        self.keys.iter().any(|key| key.name == ACCESS_LINKS.name)
    }
}

/// The modules of the kinds, and the table of what they declare.
macro_rules! kinds {
    ($($module:ident::$KIND:ident),* $(,)?) => {
        $(mod $module;)*
        const KINDS: &[&Topology] = &[$(&$module::$KIND),*];
    };
}

// Every kind of topology: a new one takes a file and a line here.
kinds! {
    dumbbell::DUMBBELL,
    parking_lot::PARKING_LOT,
    graph::GRAPH,
}

/// Keys of `[topology]`, of which one is given.
pub(crate) const TOPOLOGY: &[Key] = &{
    let mut keys = [key("", Kind::Flag, ""); KINDS.len()];
    let mut index = 0;
    while index < keys.len() {
        let kind = KINDS[index];
        keys[index] = key(kind.name, Kind::Table(kind.keys), kind.help);
        index += 1;
    }
    keys
};

/// Keys of a group of flows that say where they run, in all topologies.
pub(crate) const FLOW_PLACES: &[Key] = &joined::<{ count(&PLACES) }>(&PLACES);
const PLACES: [&[Key]; KINDS.len()] = {
    let mut places: [&[Key]; KINDS.len()] = [&[]; KINDS.len()];
    let mut index = 0;
    while index < places.len() {
        places[index] = KINDS[index].flow_keys;
        index += 1;
    }
    places
};

/// Access links, of topologies that have them.
const ACCESS_LINKS: Key = key(
    "access",
    Kind::Table(ACCESS),
    "Links between each flow's own hosts and the routers; without them flows sit on the routers.",
);

/// Routers and the links between them; access links come with the flows.
pub(crate) struct Core {
    pub kind: &'static Topology,
    pub nodes: Vec<String>,
    pub links: Vec<CoreLink>,
    graph: Graph,
}

/// The links of a topology as they are laid out.
struct Layout<'a> {
    links: Vec<CoreLink>,
    context: Context,
    out: &'a mut Vec<Diagnostic>,
}

impl Layout<'_> {
    /// Lays out both directions of a link. `rtt` is that of "1 BDP".
    fn both_ways(
        &mut self,
        name: &str,
        ends: (usize, usize),
        table: &mut Table,
        path: &str,
        rtt: Span,
    ) {
        let pair = link::both_ways(name, ends, table, path, rtt, self.context, self.out);
        self.links.extend(pair.into_iter().flatten());
    }

    fn refuse(&mut self, path: &str, origin: &Origin, message: impl Into<String>) {
        self.out.push(Diagnostic::new(path, origin, message));
    }
}

/// Resolves the topology's table in place and lays out its nodes and links.
pub(crate) fn resolve(
    topology: &mut Table,
    origin: &Origin,
    context: Context,
    out: &mut Vec<Diagnostic>,
) -> Option<Core> {
    let kind = KINDS.iter().find(|kind| topology.contains_key(kind.name));
    let (Some(&kind), 1) = (kind, topology.len()) else {
        let names: Vec<String> = KINDS
            .iter()
            .map(|kind| format!("[topology.{}]", kind.name))
            .collect();
        let message = format!("give one of {}", names.join(", "));
        out.push(Diagnostic::new("topology", origin, message));
        return None;
    };
    let before = out.len();
    let mut layout = Layout {
        links: Vec::new(),
        context,
        out,
    };
    let path = join("topology", kind.name);
    let nodes = (kind.lay_out)(topology.sub_mut(kind.name), &path, &mut layout);
    let links = layout.links;
    if out.len() > before {
        return None;
    }
    let ends = links.iter().map(|core| &core.link);
    let ends = ends.map(|link| (link.from, link.to, link.delay));
    let graph = Graph::new(nodes.len(), ends);
    Some(Core {
        kind,
        nodes,
        links,
        graph,
    })
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

/// A route from one node to another.
pub(crate) struct Route<'a> {
    /// Its links, in order.
    pub links: Vec<&'a CoreLink>,
    /// Propagation delay, one way.
    pub delay: Span,
    /// Rate of the slowest link.
    pub rate: Rate,
}

impl Core {
    /// The route between two different nodes, as the engine computes it.
    pub fn route(&self, from: usize, to: usize) -> Option<Route<'_>> {
        let path = self.graph.shortest_path(from, to)?;
        let links: Vec<&CoreLink> = path.iter().map(|&link| &self.links[link]).collect();
        let delays = links.iter().map(|core| core.link.delay);
        Some(Route {
            delay: delays.fold(Span::ZERO, |sum, delay| sum + delay),
            rate: links.iter().map(|core| core.link.capacity()).min()?,
            links,
        })
    }
}
