//! Loads the topology, and checks references to its elements.

use std::sync::Arc;

use longhaul_mesonet::config::Topology;

use super::keys::TOPOLOGY_FILE;
use super::layout::find;
use crate::check::check_root;
use crate::document::{Node, Origin, Source, Table, Value};
use crate::error::Diagnostic;
use crate::files;
use crate::read::{self, relative_to};
use crate::typed::{Typed, text_of};

/// Topologies that have names.
const BUILT_IN: [(&str, &str); 2] = [
    ("abilene", include_str!("../../topologies/abilene.toml")),
    ("dumbbell", include_str!("../../topologies/dumbbell.toml")),
];

/// A topology that can be read.
pub(crate) struct Named {
    pub table: Table,
    /// Its path in messages.
    pub path: String,
    pub origin: Origin,
}

/// The topology of a network. The name of a file is replaced by its contents, which are part of the
/// resolved scenario.
pub(crate) fn load(network: &mut Table, out: &mut Vec<Diagnostic>) -> Option<Named> {
    const PATH: &str = "mesonet.network.topology";
    let node = network.node("topology");
    let Value::Text(name) = &node.value else {
        return Some(Named {
            table: network.sub("topology").clone(),
            path: PATH.to_string(),
            origin: node.origin.clone(),
        });
    };
    let built_in = BUILT_IN.iter().find(|(known, _)| known == name);
    let (file, text) = match built_in {
        Some((name, text)) => ((*name).to_string(), (*text).to_string()),
        None => {
            let file = relative_to(&node.origin, name);
            let text = files::read_text(&file).map_err(|reason| {
                let names = BUILT_IN.map(|(name, _)| name).join(", ");
                let message = format!("{reason}; write {names}, or the path of a topology file");
                out.push(Diagnostic::new(PATH, &node.origin, message));
            });
            (file.display().to_string(), text.ok()?)
        }
    };
    let source = Arc::new(Source { name: file, text });
    let origin = Origin::File(Arc::clone(&source), 0..0);
    let mut table = read::parse(&source).map_err(|error| out.push(error)).ok()?;
    let errors = check_root(&mut table, TOPOLOGY_FILE, &origin);
    if !errors.is_empty() {
        out.extend(errors);
        return None;
    }
    if built_in.is_none() {
        let contents = Node::new(Value::Table(table.clone()), origin.clone());
        network.insert("topology".to_string(), contents);
    }
    Some(Named {
        table,
        path: String::new(),
        origin,
    })
}

/// Refuses monitors of links that do not exist. Zero means none.
pub(crate) fn check_monitors(measure: &Table, topology: &Topology, out: &mut Vec<Diagnostic>) {
    let links = topology.links.iter().map(|link| link.name.as_str());
    let pops = topology.pops.iter().map(|pop| pop.router.name.as_str());
    let access = topology
        .access
        .iter()
        .map(|access| access.router.name.as_str());
    check_monitor(measure, "backbone_link", "link of the backbone", links, out);
    check_monitor(measure, "pop", "point of presence", pops, out);
    check_monitor(measure, "access", "access router", access, out);
}

fn check_monitor<'a>(
    measure: &Table,
    key: &str,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    out: &mut Vec<Diagnostic>,
) {
    let node = measure.node(key);
    let none = match &node.value {
        Value::Text(_) => text_of(node).is_empty(),
        _ => node.read::<u64>() == 0,
    };
    if !none {
        find(node, what, names, &format!("mesonet.measure.{key}"), out);
    }
}
