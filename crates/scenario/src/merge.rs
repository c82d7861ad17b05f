//! Merging of documents, as `extends` and `--set` require.

use longhaul_keys::KIND;

use crate::algorithm::{EXTERNAL, MODULE, PYTHON, SHA256, SOURCE, VERSION};
use crate::document::{Node, Table, Value};
use crate::mesonet::keys::TopologyFile;
use crate::model::Scenario;

/// Keys that select the algorithm or model of a table: built-in, in a file of the user, in another
/// process, or in a module.
const NAMES: [&str; 4] = [KIND.name(), PYTHON.name(), EXTERNAL.name(), MODULE.name()];

/// Removes the key that selects a table's algorithm or model, before another one is set. Also removes the source text,
/// version or hash that belongs to this key.
fn forget_name(table: &mut Table) {
    if table.remove(PYTHON).is_some() {
        table.remove(SOURCE);
    }
    if table.remove(EXTERNAL).is_some() {
        table.remove(VERSION);
    }
    if table.remove(MODULE).is_some() {
        table.remove(SHA256);
    }
    table.remove(KIND);
}

/// Sets one key of a table, replacing its value. A key in [`NAMES`] also removes the former name and what belongs to it
/// ([`forget_name`]). All other keys stay, even if `key` is `kind`: the checker refuses keys that do not belong to the
/// new kind.
pub(crate) fn put(table: &mut Table, key: String, node: Node) {
    if NAMES.contains(&key.as_str()) {
        forget_name(table);
    }
    table.entries.insert(key, node);
}

/// Merges `upper` into `lower`. Tables are merged; all other values of `upper` replace those of `lower`, and so does a
/// topology of another kind or with other routers. A key in [`NAMES`] removes the former name ([`forget_name`]).
pub(crate) fn overlay(lower: &mut Table, upper: Table) {
    let upper = upper.entries;
    if NAMES.iter().any(|key| upper.contains_key(*key)) {
        forget_name(lower);
    }
    for (key, node) in upper {
        // For another kind of network, or for other routers, the links and routes of the lower
        // document do not apply.
        let replaces = key == Scenario::topology.name()
            && lower.get(Scenario::topology).is_some_and(|below| {
                let kinds = |node: &Node| node.table()?.entries.keys().next().cloned();
                let has_routers = |node: &Node| {
                    let table = node.table();
                    table.is_some_and(|table| table.has(TopologyFile::backbone))
                };
                has_routers(&node) || !has_routers(below) && kinds(below) != kinds(&node)
            });
        match (lower.entries.get_mut(&key), node.value) {
            (
                Some(Node {
                    value: Value::Table(below),
                    ..
                }),
                Value::Table(above),
            ) if !replaces => overlay(below, above),
            (_, value) => drop(lower.entries.insert(key, Node { value, ..node })),
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_keys::Field;

    use super::*;
    use crate::document::Origin;

    fn table(keys: &[&'static str]) -> Table {
        let texts = keys.iter().map(|key| Field::<String>::new(key));
        texts.fold(Table::new(), |table, key| table.with(key, Value::text("x")))
    }

    fn names(table: &Table) -> Vec<&str> {
        let mut names: Vec<&str> = table.entries.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// Checks that an algorithm's new name (`kind`, `python`, `external` or `module`) replaces the old name. The old
    /// algorithm's source text, version or hash is removed, too; all other keys stay.
    /// Links alone change a network of routers; other routers, or another kind of network, replace it.
    #[test]
    fn other_routers_replace_a_topology() {
        let nested = |keys: &[&'static str]| {
            let node = Node::new(Value::Table(table(keys)), Origin::Default);
            let mut outer = Table::new();
            outer.insert(Scenario::topology, node);
            outer
        };
        for (below, above, expected) in [
            (
                &["backbone", "links"][..],
                &["links"][..],
                &["backbone", "links"][..],
            ),
            (&["backbone", "links"], &["backbone"], &["backbone"]),
            (&["dumbbell"], &["parking_lot"], &["parking_lot"]),
        ] {
            let mut lower = nested(below);
            overlay(&mut lower, nested(above));
            let merged = lower.table(Field::<Table>::new("topology"));
            assert_eq!(names(merged.expect("a topology")), expected);
        }
    }

    #[test]
    fn a_name_leaves_with_what_belongs_to_it() {
        const LEFT: [(&[&str], &[&str]); 5] = [
            (&["python", "source", "gain"], &["gain"]),
            (&["external", "version", "gain"], &["gain"]),
            (&["module", "sha256", "gain"], &["gain"]),
            (
                // After `kind`, these keys are parameters.
                &["kind", "source", "version", "sha256"],
                &["sha256", "source", "version"],
            ),
            (
                &["python", "source", "version", "sha256"],
                &["sha256", "version"],
            ),
        ];
        for (below, left) in LEFT {
            for name in NAMES {
                let mut expected = [left, &[name]].concat();
                expected.sort_unstable();
                let mut lower = table(below);
                overlay(&mut lower, table(&[name]));
                assert_eq!(names(&lower), expected, "{below:?} below {name}");
                let mut lower = table(below);
                let node = table(&[name])
                    .entries
                    .remove(name)
                    .expect("it has been set");
                put(&mut lower, name.to_string(), node);
                assert_eq!(names(&lower), expected, "{name} put on {below:?}");
            }
            let mut lower = table(below);
            overlay(&mut lower, table(&["other"]));
            assert_eq!(names(&lower).len(), below.len() + 1);
        }
    }
}
