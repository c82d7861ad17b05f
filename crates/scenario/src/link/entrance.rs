//! What happens to packets before they reach a link: delay boxes, noise of hosts, copies, reordering.

use longhaul_engine::config::Distribution;
use longhaul_engine::{DelayBox, EntranceConfig, Reordering};

use crate::distribution;
use crate::document::{Node, Origin, Table, Value};
use crate::error::Diagnostic;
use crate::read::join;
use crate::topology::CoreLink;
use crate::typed::{Typed, number_of};

/// Checks the tables of a link's entrance, and fills in what they leave out.
pub(super) fn resolve(link: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    if let Some(reordering) = link.get("reordering").and_then(Node::table) {
        distribution::check(reordering, "delay", &join(path, "reordering"), out);
    }
    distribution::check(link, "host_noise", path, out);
    let Some(node) = link.get_mut("delay_box") else {
        return;
    };
    let (path, origin) = (join(path, "delay_box"), node.origin.clone());
    let delay_box = node.table_mut().expect("a delay box is a table");
    let drawn = ["delay", "loss", "rate"];
    if !drawn.iter().any(|key| delay_box.contains_key(*key)) {
        let message = "the box does nothing; give delay, loss or rate";
        out.push(Diagnostic::new(&path, &origin, message));
    }
    delay_box.default("symmetric", Value::Flag(true), Origin::Default);
    for key in drawn {
        distribution::check(delay_box, key, &path, out);
    }
}

/// The engine's form, for one direction of a link.
pub(super) fn config(link: &CoreLink) -> Option<Box<EntranceConfig>> {
    let table = |key| link.keys.get(key).and_then(Node::table);
    let reordering = table("reordering").filter(|_| link.forward);
    let duplication = link.keys.get("duplication").filter(|_| link.forward);
    let entrance = EntranceConfig {
        delay_box: delay_box(link),
        duplication: duplication.map_or(0.0, number_of),
        reordering: reordering.map(|reordering| Reordering {
            probability: reordering.number("probability"),
            delay: distribution::config(reordering.node("delay")),
        }),
    };
    (entrance != EntranceConfig::default()).then(|| Box::new(entrance))
}

/// What flows have of their own there, if anything.
fn delay_box(link: &CoreLink) -> Option<DelayBox> {
    let table = link.keys.get("delay_box").and_then(Node::table);
    let noise = link.keys.get("host_noise").map(distribution::config);
    if table.is_none() && noise.is_none() {
        return None;
    }
    let nothing = Distribution::Constant(0.0);
    let drawn = |key| table?.get(key).map(distribution::config);
    let shared = table.filter(|table| table.flag("symmetric"));
    let name = shared.map_or(link.name.as_str(), |_| link.forward_name());
    Some(DelayBox {
        delay: drawn("delay").unwrap_or(nothing.clone()),
        loss: drawn("loss").unwrap_or(nothing),
        rate: drawn("rate"),
        noise,
        name: format!("links/{name}/delay_box"),
    })
}
