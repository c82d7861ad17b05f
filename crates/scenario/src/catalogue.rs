//! Lists of everything that scenarios may contain, for `longhaul list`: keys, queues, traffic,
//! profiles.

use longhaul_engine::queue::{DISCIPLINES, Discipline};
use longhaul_keys::{self as declared, Kind};

use crate::check::describe;
use crate::model;
use crate::render;

/// A queue discipline, with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDiscipline {
    /// Name in scenarios.
    pub kind: &'static str,
    /// Full name.
    pub title: &'static str,
    /// Behaviour of the discipline, in a sentence.
    pub description: &'static str,
    /// RFC or paper that defines the discipline.
    pub source: &'static str,
    /// Keys of this discipline in a scenario's table `queue`.
    pub keys: Vec<QueueKey>,
}

/// A key of a queue discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueKey {
    /// Name of the key.
    pub name: &'static str,
    /// Meaning of the key.
    pub help: &'static str,
    /// Allowed values.
    pub allowed: String,
    /// Default of the key in the profile `rfc`, as text of a scenario; empty without a default.
    pub default: String,
}

/// A key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Dotted path of the key. `*` stands for any entry of a list; `[kind]` behind a table names
    /// the kinds that have the key.
    pub path: String,
    /// Meaning of the key.
    pub help: &'static str,
    /// Allowed values.
    pub allowed: String,
    /// Unit of a number; empty if `allowed` states it, or the number has none.
    pub unit: &'static str,
    /// Default of the key (with the profiles that have other defaults), the rule by which it is derived, or `required`.
    /// Empty for an optional key without a default.
    pub default: String,
    /// Source of the key: an RFC, a paper, or names in other implementations.
    pub source: &'static str,
}

/// A kind of traffic, with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Name in scenarios.
    pub kind: &'static str,
    /// Keys of this kind of traffic in a scenario's table `traffic`.
    pub keys: Vec<Key>,
}

/// A profile: a named set of defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Implementation or standard that the profile represents.
    pub description: &'static str,
}

/// Returns all keys of scenarios, except those of queues (see [`queues`]), of distributions, and of
/// algorithms.
pub fn keys() -> Vec<Key> {
    let mut keys = Vec::new();
    add_keys(model::SCENARIO, "", &mut keys);
    keys
}

/// Returns every kind of traffic.
pub fn traffic() -> Vec<Traffic> {
    let kinds = crate::traffic::Traffic::KINDS
        .iter()
        .map(|&(kind, fields)| {
            let mut keys = Vec::new();
            add_keys(fields, "", &mut keys);
            Traffic { kind, keys }
        });
    kinds.collect()
}

/// Returns every profile.
pub fn profiles() -> Vec<Profile> {
    let described = declared::Profile::ALL.into_iter().map(|profile| Profile {
        name: profile.name(),
        description: profile.description(),
    });
    described.collect()
}

fn add_keys(declared: &[declared::Key], above: &str, keys: &mut Vec<Key>) {
    for key in declared {
        add_key(key, &key.kind, &format!("{above}{}", key.name), keys);
    }
}

fn add_key(key: &declared::Key, kind: &Kind, path: &str, keys: &mut Vec<Key>) {
    match kind {
        Kind::Table(below) => add_keys(below, &format!("{path}."), keys),
        Kind::List(Kind::Table(below)) => add_keys(below, &format!("{path}.*."), keys),
        Kind::Tagged(kinds) if !key.name.ends_with("queue") => {
            for (kind, below) in *kinds {
                add_keys(below, &format!("{path}[{kind}]."), keys);
            }
        }
        kind => keys.push(Key {
            path: path.to_string(),
            help: key.help,
            allowed: describe(kind),
            unit: key.unit,
            default: key.default.to_string(),
            source: key.source,
        }),
    }
    if let Kind::OneOf(kinds) = kind {
        for below in kinds.iter() {
            if let Kind::Table(keys_below) = below {
                add_keys(keys_below, &format!("{path}."), keys);
            }
        }
    }
}

/// Returns every queue discipline.
pub fn queues() -> Vec<QueueDiscipline> {
    let discipline = |known: &Discipline| QueueDiscipline {
        kind: known.kind,
        title: known.title,
        description: known.description,
        source: known.source,
        keys: known.keys.iter().map(key).collect(),
    };
    DISCIPLINES.iter().map(discipline).collect()
}

fn key(field: &declared::Key) -> QueueKey {
    let default = field.default_node(declared::Profile::Rfc);
    QueueKey {
        name: field.name,
        help: field.help,
        allowed: describe(&field.kind),
        default: default.map_or(String::new(), |node| render::written(&node.value)),
    }
}
