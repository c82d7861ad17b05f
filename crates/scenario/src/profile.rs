//! Profiles: frozen bundles of defaults, kept as TOML beside the sources.

use std::sync::{Arc, LazyLock};

use crate::check::check_root;
use crate::document::{Node, Origin, Source, Table, Value};
use crate::model::{self, Field};
use crate::read;
use crate::typed::Typed;

/// Names of the profiles, the default first.
pub(crate) const NAMES: &[&str] = &["rfc", "linux", "ns2-2.35", "ns2-2003"];

const TEXTS: [&str; 4] = [
    include_str!("../profiles/rfc.toml"),
    include_str!("../profiles/linux.toml"),
    include_str!("../profiles/ns2-2.35.toml"),
    include_str!("../profiles/ns2-2003.toml"),
];

static PROFILES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let load = |(name, text): (&&'static str, &&str)| {
        load(name, text, model::PROFILE, &Origin::Profile(name))
    };
    NAMES.iter().zip(&TEXTS).map(load).collect()
});

static QUEUES: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../profiles/queues.toml");
    load("queues", text, model::SHARED_QUEUES, &Origin::Default)
});

/// A file of defaults, whose values all have one origin.
pub(crate) fn load(name: &str, text: &str, fields: &'static [Field], origin: &Origin) -> Table {
    let source = Arc::new(Source {
        name: name.to_string(),
        text: text.to_string(),
    });
    let mut table = read::parse(&source).expect("a profile is TOML");
    let errors = check_root(&mut table, fields, origin);
    assert!(errors.is_empty(), "profile {name}: {}", errors[0]);
    attribute(&mut table, origin);
    table
}

/// What a profile says about queues of a kind, or all profiles together.
pub(crate) fn queue<'a>(profile: &'a Table, kind: &str) -> &'a Table {
    let own = profile.get(kind).and_then(Node::table);
    own.unwrap_or_else(|| QUEUES.sub(kind))
}

/// The profile of that name, one of [`NAMES`].
pub(crate) fn find(name: &str) -> &'static Table {
    let index = NAMES.iter().position(|known| *known == name);
    &PROFILES[index.expect("the checker knows the profiles")]
}

/// What the first lines of a profile say of it.
pub(crate) fn description(name: &str) -> String {
    let index = NAMES.iter().position(|known| *known == name);
    let text = TEXTS[index.expect("the checker knows the profiles")];
    let lines = text.lines().map_while(|line| line.strip_prefix("# "));
    let all = lines.collect::<Vec<_>>().join(" ");
    let (_, said) = all.split_once(": ").expect("a profile says what it is");
    said.to_string()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_gives_every_transport_option() {
        for name in NAMES {
            let tcp = find(name)["tcp"].table().expect("a table");
            for field in model::TCP {
                assert!(tcp.contains_key(field.key), "{name} has no {}", field.key);
            }
        }
    }
}
