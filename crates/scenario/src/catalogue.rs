//! What a queue's `kind` may be, for `longhaul list queues`.

use crate::check::describe;
use crate::document::Value;
use crate::model::{DISCIPLINES, Discipline, Field};
use crate::{profile, queue, render};

/// A queue discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDiscipline {
    /// What a scenario calls it.
    pub kind: &'static str,
    /// Its name in full.
    pub title: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// RFC or paper.
    pub source: &'static str,
    /// Its keys.
    pub keys: Vec<QueueKey>,
}

/// A key of a queue discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueKey {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// What may be written.
    pub allowed: String,
    /// The default of the profile `rfc`, as one would write it.
    pub default: String,
}

/// Every queue discipline.
pub fn queues() -> Vec<QueueDiscipline> {
    let discipline = |known: &Discipline| QueueDiscipline {
        kind: known.kind,
        title: known.title,
        description: known.description,
        source: known.source,
        keys: known
            .fields
            .iter()
            .map(|field| key(known.kind, field))
            .collect(),
    };
    DISCIPLINES.iter().map(discipline).collect()
}

fn key(kind: &str, field: &Field) -> QueueKey {
    let defaults = profile::queue(profile::find(profile::NAMES[0]), kind);
    let limit = Value::Quantity(queue::DEFAULT_LIMIT);
    let default = defaults.get(field.key).map_or(&limit, |node| &node.value);
    QueueKey {
        name: field.key,
        help: field.help,
        allowed: describe(&field.kind),
        default: render::written(default),
    }
}
