//! What links do to packets beside queueing and carrying them.

mod changes;
mod distribution;
mod loss;

use longhaul_engine::config::{Link, Service};
use longhaul_engine::{Change, EntranceConfig, Loss, Reordering};

use crate::document::{Node, Table};
use crate::error::Diagnostic;
use crate::queue;
use crate::read::join;
use crate::topology::CoreLink;
use crate::typed::{Typed, number_of};

/// Checks what the keys of a link say about it together, and fills in what they leave out.
pub(crate) fn resolve(link: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    loss::resolve(link, path, out);
    changes::resolve(link, path, out);
    if let Some(reordering) = link.get("reordering").and_then(Node::table) {
        distribution::check(reordering, "delay", &join(path, "reordering"), out);
    }
}

/// The engine's form of one direction of a resolved link.
pub(crate) fn config(link: &CoreLink, captured: bool) -> Link {
    Link {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: link.rate,
        delay: link.delay,
        queue: queue::config(link.queue(), link.rate, link.delay),
        entrance: entrance(link),
        loss: forward_loss(link),
        changes: changes(link),
        service: Service::OnArrival,
        sampled: true,
        captured,
    }
}

fn forward_loss(link: &CoreLink) -> Loss {
    let loss = link.keys.get("loss").filter(|_| link.forward);
    loss.map_or(Loss::None, loss::config)
}

/// What happens to packets first, if anything does.
fn entrance(link: &CoreLink) -> Option<Box<EntranceConfig>> {
    let keys = Some(&link.keys).filter(|_| link.forward)?;
    let reordering = keys.get("reordering").and_then(Node::table);
    let entrance = EntranceConfig {
        duplication: keys.get("duplication").map_or(0.0, number_of),
        reordering: reordering.map(|reordering| Reordering {
            probability: reordering.number("probability"),
            delay: distribution::config(reordering.node("delay")),
        }),
    };
    (entrance != EntranceConfig::default()).then(|| Box::new(entrance))
}

/// The reverse direction has the rates and delays, and no loss of its own.
fn changes(link: &CoreLink) -> Vec<Change> {
    let mut changes = link.keys.get("changes").map_or(Vec::new(), changes::config);
    if !link.forward {
        changes.iter_mut().for_each(|change| change.loss = None);
    }
    changes
}

/// The only entry of a table of alternatives.
fn only(table: &Table) -> (&str, &Node) {
    let (key, node) = table.iter().next().expect("checked when resolved");
    (key, node)
}
