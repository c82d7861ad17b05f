//! Reading of the topology, and checks of keys that refer to its elements.

use std::sync::Arc;

use longhaul_keys::Field;
use longhaul_mesonet::config::Topology;

use super::keys::{Identifier, MeasureKeys, NetworkKeys, TopologyFile};
use super::layout::find;
use crate::check::check_root;
use crate::document::{Node, Origin, Source, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::{read_text, relative_to};
use crate::read;

/// Names and texts of the built-in topologies.
const BUILT_IN: [(&str, &str); 2] = [
    ("abilene", include_str!("../../topologies/abilene.toml")),
    ("dumbbell", include_str!("../../topologies/dumbbell.toml")),
];

/// A topology that was read and checked, with its place for messages.
pub(crate) struct NamedTopology {
    pub table: Table,
    /// Path of the topology's table in messages; empty for a file and for a built-in topology.
    pub path: String,
    pub origin: Origin,
}

/// Reads the topology of a network; `None` after an error. The name of a file is replaced by the
/// file's contents, which become part of the resolved scenario.
pub(crate) fn load(network: &mut Table, out: &mut Vec<Diagnostic>) -> Option<NamedTopology> {
    const PATH: &str = "mesonet.network.topology";
    let node = network.node(NetworkKeys::topology);
    let Value::Text(name) = &node.value else {
        return Some(NamedTopology {
            table: node.read(),
            path: PATH.to_string(),
            origin: node.origin.clone(),
        });
    };
    let built_in = BUILT_IN.iter().find(|(known, _)| known == name);
    let (file, text) = match built_in {
        Some((name, text)) => ((*name).to_string(), (*text).to_string()),
        None => {
            let file = relative_to(&node.origin, name);
            let text = read_text(&file).map_err(|reason| {
                let names = BUILT_IN.map(|(name, _)| name).join(", ");
                let message = format!("{reason}; write {names}, or the path of a topology file");
                out.push(Diagnostic::new(PATH, &node.origin, message));
            });
            (file.display().to_string(), text.ok()?)
        }
    };
    let source = Arc::new(Source::new(file, text));
    let origin = Origin::File(Arc::clone(&source), 0..0);
    let mut table = read::parse(&source).map_err(|error| out.push(error)).ok()?;
    let errors = check_root(&mut table, TopologyFile::KEYS, &origin);
    if !errors.is_empty() {
        out.extend(errors);
        return None;
    }
    if built_in.is_none() {
        let contents = Node::new(Value::Table(table.clone()), origin.clone());
        network.insert(NetworkKeys::topology, contents);
    }
    Some(NamedTopology {
        table,
        path: String::new(),
        origin,
    })
}

/// Refuses a monitored link, point of presence or access router that the topology does not have.
pub(crate) fn check_monitors(measure: &Table, topology: &Topology, out: &mut Vec<Diagnostic>) {
    let links = topology.links.iter().map(|link| link.name.as_str());
    let pops = topology.pops.iter().map(|pop| pop.router.name.as_str());
    let access = topology
        .access
        .iter()
        .map(|access| access.router.name.as_str());
    let key = MeasureKeys::backbone_link;
    check_monitor(measure, key, "link of the backbone", links, out);
    check_monitor(measure, MeasureKeys::pop, "point of presence", pops, out);
    check_monitor(measure, MeasureKeys::access, "access router", access, out);
}

fn check_monitor<'a>(
    measure: &Table,
    key: Field<Identifier>,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    out: &mut Vec<Diagnostic>,
) {
    let none = match measure.read(key) {
        Identifier::Name(name) => name.is_empty(),
        Identifier::Number(number) => number == 0,
    };
    if !none {
        let path = join("mesonet.measure", key.name());
        find(measure.node(key), what, names, &path, out);
    }
}
