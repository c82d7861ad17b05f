//! Queues: the engine's disciplines complete and read the tables of a scenario.

use longhaul_engine::queue::{Capacity, DISCIPLINES, Discipline, LinkContext, QueueConfig};
use longhaul_keys::Profile;
use longhaul_units::{Bytes, Rate};

use crate::defaults;
use crate::document::{Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::typed::Typed;

/// The discipline that a checked table names.
fn discipline(queue: &Table) -> &'static Discipline {
    let kind = queue.word("kind");
    let mut known = DISCIPLINES.iter();
    known
        .find(|discipline| discipline.kind == kind)
        .expect("a checked queue has a known kind")
}

/// Fills in the defaults of a profile, and makes explicit what follows from the place of the queue.
pub(crate) fn resolve(
    queue: &mut Table,
    path: &str,
    link: &LinkContext,
    profile: Profile,
    out: &mut Vec<Diagnostic>,
) {
    let discipline = discipline(queue);
    defaults::fill(queue, discipline.keys, profile);
    let mut values = defaults::values(queue);
    if let Err(refusal) = discipline.complete(&mut values, link) {
        let origin = &queue.node(refusal.key).origin;
        let path = join(path, refusal.key);
        return out.push(Diagnostic::new(&path, origin, refusal.message));
    }
    queue.retain(|key, _| values.get(key).is_some());
    for (key, rule) in values.rules() {
        let value = values.get(key).expect("what is derived is there");
        let rule = match queue.get(key) {
            // The rule names the origin of a quantity in another unit; that of `auto` says nothing.
            Some(node) if matches!(node.value, Value::Quantity(_)) => {
                format!("{rule} ({})", node.origin)
            }
            _ => rule.to_string(),
        };
        queue.insert(
            key.to_string(),
            defaults::node(value.clone(), &Origin::Derived(rule)),
        );
    }
}

/// The engine's configuration of a resolved queue, in front of a link of this rate.
pub(crate) fn config(queue: &Table, rate: Rate) -> QueueConfig {
    discipline(queue).config(&defaults::values(queue), rate)
}

/// Packets of this size that a resolved queue holds.
pub(crate) fn capacity_packets(queue: &Table, packet: Bytes) -> f64 {
    match defaults::values(queue).read("limit") {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bytes(bytes) => bytes as f64 / packet.0 as f64,
    }
}
