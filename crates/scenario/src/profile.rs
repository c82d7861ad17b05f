//! What a profile prefers besides the defaults of keys, and defaults that are kept as TOML beside the sources.

use std::sync::{Arc, LazyLock};

use longhaul_keys::{Key, Profile};

use crate::check::check_root;
use crate::document::{Node, Origin, Source, Table, Value};
use crate::model;
use crate::read;
use crate::typed::Typed;

const TEXTS: [&str; 4] = [
    include_str!("../profiles/rfc.toml"),
    include_str!("../profiles/linux.toml"),
    include_str!("../profiles/ns2-2.35.toml"),
    include_str!("../profiles/ns2-2003.toml"),
];

static PROFILES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let load = |(profile, text): (Profile, &&str)| {
        let name = profile.name();
        load(name, text, model::PROFILE, &Origin::Profile(name))
    };
    Profile::ALL.into_iter().zip(&TEXTS).map(load).collect()
});

static QUEUES: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../profiles/queues.toml");
    load("queues", text, model::SHARED_QUEUES, &Origin::Default)
});

/// A file of defaults, whose values all have one origin.
pub(crate) fn load(name: &str, text: &str, keys: &'static [Key], origin: &Origin) -> Table {
    let source = Arc::new(Source {
        name: name.to_string(),
        text: text.to_string(),
    });
    let mut table = read::parse(&source).expect("a profile is TOML");
    let errors = check_root(&mut table, keys, origin);
    assert!(errors.is_empty(), "profile {name}: {}", errors[0]);
    attribute(&mut table, origin);
    table
}

/// What a profile says about queues of a kind, or all profiles together.
pub(crate) fn queue<'a>(profile: &'a Table, kind: &str) -> &'a Table {
    let own = profile.get(kind).and_then(Node::table);
    own.unwrap_or_else(|| QUEUES.sub(kind))
}

/// Defaults of queues.
pub(crate) fn queues(profile: Profile) -> &'static Table {
    &PROFILES[profile as usize]
}

/// The variant of algorithms that have it.
pub(crate) fn variant(profile: Profile) -> Node {
    let name = match profile {
        // Variant `linux` of an algorithm is that of an older kernel.
        Profile::Rfc | Profile::Linux => "paper",
        Profile::Ns2_35 | Profile::Ns2_2003 => "ns2",
    };
    Node::text(name, Origin::Profile(profile.name()))
}

/// The slow start that `max_ssthresh` alone chooses: that of RFC 3742, or ns-2's.
pub(crate) fn limited_slow_start(profile: Profile) -> Node {
    let name = match profile {
        Profile::Rfc | Profile::Linux => "limited",
        Profile::Ns2_35 | Profile::Ns2_2003 => "ns2-limited",
    };
    Node::text(name, Origin::Profile(profile.name()))
}

/// Gives all values of a table one origin.
fn attribute(table: &mut Table, origin: &Origin) {
    for node in table.values_mut() {
        attribute_node(node, origin);
    }
}

fn attribute_node(node: &mut Node, origin: &Origin) {
    node.origin = origin.clone();
    node.key = None;
    match &mut node.value {
        Value::Table(table) => attribute(table, origin),
        Value::List(items) => items
            .iter_mut()
            .for_each(|item| attribute_node(item, origin)),
        _ => {}
    }
}
