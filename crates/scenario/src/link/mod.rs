//! What links do to packets beside queueing and carrying them.

mod changes;
mod entrance;
mod loss;
mod shaper;

use longhaul_engine::config::{Link, Service};
use longhaul_engine::{Change, Loss};

use crate::document::{Node, Table};
use crate::error::Diagnostic;
use crate::queue;
use crate::topology::CoreLink;
use crate::typed::span_of;

pub(crate) use shaper::shaper;

/// Checks what the keys of a link say about it together, and fills in what they leave out.
pub(crate) fn resolve(link: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    loss::resolve(link, path, out);
    changes::resolve(link, path, out);
    entrance::resolve(link, path, out);
}

/// The engine's form of one direction of a resolved link.
pub(crate) fn config(link: &CoreLink, captured: bool) -> Link {
    Link {
        name: link.name.clone(),
        from: link.from,
        to: link.to,
        rate: link.rate,
        delay: link.delay,
        queue: queue::config(link.queue(), link.capacity(), link.delay),
        shaper: link.shaper,
        entrance: entrance::config(link),
        loss: forward_loss(link),
        changes: changes(link),
        tick: link.keys.get("tick").map(span_of),
        service: Service::OnArrival,
        sampled: true,
        captured,
    }
}

fn forward_loss(link: &CoreLink) -> Loss {
    let loss = link.keys.get("loss").filter(|_| link.forward);
    loss.map_or(Loss::None, loss::config)
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
