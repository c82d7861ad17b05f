//! Tables of queues in a scenario. Each queue discipline of the engine derives and reads the values of its tables.

use longhaul_engine::queue::{Capacity, DISCIPLINES, Discipline, LinkContext, QueueConfig};
use longhaul_keys::KIND;
use longhaul_units::{Bytes, Rate};

use crate::document::{Origin, Table, Value, join};
use crate::error::Diagnostic;

/// Returns the discipline that a checked table names.
fn discipline(queue: &Table) -> &'static Discipline {
    let kind = queue.word(KIND);
    let mut known = DISCIPLINES.iter();
    known
        .find(|discipline| discipline.kind == kind)
        .expect("a checked queue has a known kind")
}

/// Derives the values that depend on the link of the queue. All other keys already have their values: their defaults
/// are filled in together with those of the link.
pub(crate) fn resolve(
    queue: &mut Table,
    path: &str,
    link: &LinkContext,
    out: &mut Vec<Diagnostic>,
) {
    let discipline = discipline(queue);
    let given = queue.clone();
    if let Err(refusal) = discipline.complete(queue, link) {
        let origin = &given.entries[refusal.key].origin;
        let path = join(path, refusal.key);
        return out.push(Diagnostic::new(&path, origin, refusal.message));
    }
    // The rule of a converted quantity also states the quantity's origin; the rule that replaces `auto` does not.
    for (key, node) in &mut queue.entries {
        let before = &given.entries[key];
        if let (Origin::Derived(rule), Value::Quantity(_)) = (&mut node.origin, &before.value)
            && !matches!(before.origin, Origin::Derived(_))
        {
            *rule += &format!(" ({})", before.origin);
        }
    }
}

/// Returns the engine's configuration of a resolved queue in front of a link with the rate `rate`.
pub(crate) fn config(queue: &Table, rate: Rate) -> QueueConfig {
    discipline(queue).config(queue, rate)
}

/// Returns true if the discipline of a resolved queue separates flows.
pub(crate) fn is_per_flow(queue: &Table) -> bool {
    discipline(queue).per_flow
}

/// Returns the number of packets of `packet` bytes that a resolved queue can contain.
pub(crate) fn capacity_packets(queue: &Table, packet: Bytes) -> f64 {
    match queue.read(Capacity::FIELD) {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bytes(bytes) => bytes as f64 / packet.0 as f64,
    }
}
