//! What a queue's `kind` may be, for `longhaul list queues`.

use crate::check::describe;
use crate::document::Value;
use crate::model::mesonet::MESONET;
use crate::model::{DISCIPLINES, Discipline, Field, Kind};
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

/// A key of `[mesonet]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MesoNetKey {
    /// Its dotted path below `mesonet`; `*` stands for any entry of a list.
    pub path: String,
    /// What it means, its original name, and its default.
    pub help: &'static str,
    /// What may be written.
    pub allowed: String,
}

/// Every key of `[mesonet]`.
pub fn mesonet_keys() -> Vec<MesoNetKey> {
    let mut keys = Vec::new();
    add_keys(MESONET, "", &mut keys);
    keys
}

fn add_keys(fields: &[Field], above: &str, keys: &mut Vec<MesoNetKey>) {
    for field in fields {
        let path = format!("{above}{}", field.key);
        match &field.kind {
            Kind::Table(below) => add_keys(below, &format!("{path}."), keys),
            Kind::List(Kind::Table(below)) => add_keys(below, &format!("{path}.*."), keys),
            kind => keys.push(MesoNetKey {
                path,
                help: field.help,
                allowed: describe(kind),
            }),
        }
    }
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
