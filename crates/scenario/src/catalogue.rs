//! What scenarios may hold, for `longhaul list`: keys, queues, traffic, profiles.

use crate::check::describe;
use crate::document::Value;
use crate::model::{self, DISCIPLINES, Discipline, Field, Kind};
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

/// A key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its dotted path; `*` stands for any entry of a list, and `[kind]` behind a table for the kinds that
    /// have the key.
    pub path: String,
    /// What it means, with its default, or its original name.
    pub help: &'static str,
    /// What may be written.
    pub allowed: String,
}

/// A kind of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// What a scenario calls it.
    pub kind: &'static str,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A bundle of defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it stands for.
    pub description: String,
}

/// Every key of a scenario but those of queues, which have a list of their own.
pub fn keys() -> Vec<Key> {
    let mut keys = Vec::new();
    add_keys(model::SCENARIO, "", &mut keys);
    keys
}

/// Every kind of traffic.
pub fn traffic() -> Vec<Traffic> {
    let Kind::Tagged(kinds) = model::TRAFFIC else {
        unreachable!("traffic has kinds")
    };
    let kinds = kinds.iter().map(|&(kind, fields)| {
        let mut keys = Vec::new();
        add_keys(fields, "", &mut keys);
        Traffic { kind, keys }
    });
    kinds.collect()
}

/// Every profile.
pub fn profiles() -> Vec<Profile> {
    let names = profile::NAMES.iter();
    let described = names.map(|name| Profile {
        name,
        description: profile::description(name),
    });
    described.collect()
}

fn add_keys(fields: &[Field], above: &str, keys: &mut Vec<Key>) {
    for field in fields {
        add_key(field, &field.kind, &format!("{above}{}", field.key), keys);
    }
}

fn add_key(field: &Field, kind: &Kind, path: &str, keys: &mut Vec<Key>) {
    match kind {
        Kind::Table(below) => add_keys(below, &format!("{path}."), keys),
        Kind::List(Kind::Table(below)) => add_keys(below, &format!("{path}.*."), keys),
        Kind::Tagged(kinds) if !field.key.ends_with("queue") => {
            for (kind, below) in *kinds {
                add_keys(below, &format!("{path}[{kind}]."), keys);
            }
        }
        kind => keys.push(Key {
            path: path.to_string(),
            help: field.help,
            allowed: describe(kind),
        }),
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
