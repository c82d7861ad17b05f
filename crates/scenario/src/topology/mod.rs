//! The network between the hosts of flows: one file for each kind of topology, and common parts.

use longhaul_engine::Graph;
use longhaul_keys::{Field, Key, Kind, count, joined, key, keys};
use longhaul_units::{Rate, Span};

use crate::document::{Origin, Table, join};
use crate::error::Diagnostic;
use crate::link::{self, AccessKeys, Context, CoreLink};
use crate::unknown_names::unknown_name;

/// A kind of topology.
pub(crate) struct Topology {
    /// Name of the table of this kind in `[topology]`.
    pub name: &'static str,
    pub help: &'static str,
    pub keys: &'static [Key],
    /// Keys of a group of flows that determine its end nodes.
    pub flow_keys: &'static [Key],
    /// Resolves the table of the topology, given its path, and adds the links to the layout. Returns the names of the
    /// topology's nodes.
    lay_out: fn(&mut Table, &str, &mut Layout<'_>) -> Vec<String>,
    /// Function that finds the end nodes of a group of flows, given the group's table and path. It also sets the
    /// defaults of `flow_keys` in this table.
    pub endpoints: FindEndpoints,
}

/// Function that returns the indices of the first and the last node of a group of flows; `None`
/// after an error.
type FindEndpoints = fn(&mut Table, &str, &Core, &mut Vec<Diagnostic>) -> Option<(usize, usize)>;

impl Topology {
    /// Returns the field of the kind's table in `[topology]`.
    fn field(&self) -> Field<Table> {
        Field::new(self.name)
    }

    /// Returns true if flows can have separate hosts behind access links.
    pub fn has_access(&self) -> bool {
        let access = AccessLinks::access.name();
        self.keys.iter().any(|key| key.name == access)
    }
}

/// Declares a module for each kind of topology, and the list `KINDS` of all kinds.
macro_rules! kinds {
    ($($module:ident::$KIND:ident),* $(,)?) => {
        $(mod $module;)*
        const KINDS: &[&Topology] = &[$(&$module::$KIND),*];
    };
}

// Every kind of topology: a new one needs a file, and a line here.
kinds! {
    dumbbell::DUMBBELL,
    parking_lot::PARKING_LOT,
    graph::GRAPH,
}

pub(crate) use graph::FlowPlace as GraphPlace;

/// Keys of `[topology]`; exactly one is given.
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

/// Keys of a group of flows that determine its end nodes, for all topologies.
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

keys! {
    /// The scenario key `access`, for topologies that have access links.
    pub(crate) struct AccessLinks {}
    apart {
        /// Links between separate hosts of each flow and the routers; without them flows begin and
        /// end at the routers.
        pub access: Table = Kind::Table(AccessKeys::KEYS).key(),
    }
}

/// Routers and the links between them. Access links are added with the flows.
pub(crate) struct Core {
    pub kind: &'static Topology,
    pub nodes: Vec<String>,
    pub links: Vec<CoreLink>,
    graph: Graph,
}

/// The links of a topology while they are added.
struct Layout<'a> {
    links: Vec<CoreLink>,
    context: Context,
    out: &'a mut Vec<Diagnostic>,
}

impl Layout<'_> {
    /// Adds both directions of a link. A queue's limit of "1 BDP" is computed with the round-trip time `rtt`.
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
}

/// Resolves the topology's table in place, and returns its nodes and links; `None` after errors.
pub(crate) fn resolve(
    topology: &mut Table,
    origin: &Origin,
    context: Context,
    out: &mut Vec<Diagnostic>,
) -> Option<Core> {
    let kind = KINDS.iter().find(|kind| topology.has(kind.field()));
    let (Some(&kind), 1) = (kind, topology.entries.len()) else {
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
    let nodes = (kind.lay_out)(topology.sub_mut(kind.field()), &path, &mut layout);
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

/// Returns the index of the node that the value of `key` names. Without such a node, adds an error and returns `None`.
pub(crate) fn find_node(
    nodes: &[String],
    table: &Table,
    key: Field<String>,
    path: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let wanted = table.word(key);
    let position = nodes.iter().position(|name| name == wanted);
    if position.is_none() {
        let message = unknown_name("node", wanted, nodes.iter().map(String::as_str));
        out.push(Diagnostic::at(table, key, path, message));
    }
    position
}

/// A route from one node to another.
pub(crate) struct Route<'a> {
    /// The links of the route, in order.
    pub links: Vec<&'a CoreLink>,
    /// One-way propagation delay.
    pub delay: Span,
    /// Smallest `Link::capacity` on the route.
    pub rate: Rate,
}

impl Core {
    /// Returns the route that the engine uses between two different nodes; `None` if there is none.
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
