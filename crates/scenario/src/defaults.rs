//! Fills in the defaults that keys declare.

use longhaul_keys::{self as keys, DefaultText, Key, Kind, Profile, Values};

use crate::document::{Node, Origin, Table, Value};

/// Adds the defaults of a profile for absent keys of a table, and of the tables in it.
pub(crate) fn fill(table: &mut Table, keys: &[Key], profile: Profile) {
    for key in keys {
        if let (false, Some(node)) = (table.contains_key(key.name), default(key, profile)) {
            table.insert(key.name.to_string(), node);
        }
        if let Some(node) = table.get_mut(key.name) {
            complete(node, &key.kind, profile);
        }
    }
}

/// The default of a key.
pub(crate) fn default(key: &Key, profile: Profile) -> Option<Node> {
    let text = key.default_in(profile)?;
    let origin = match key.default {
        DefaultText::ByProfile(_) => Origin::Profile(profile.name()),
        _ => Origin::Default,
    };
    let value = key.kind.parse(text);
    let value = value.unwrap_or_else(|| unreachable!("`{}` cannot be {text}", key.name));
    Some(node(value, &origin))
}

/// Fills in absent keys of a value that is a table, or stands for one.
fn complete(node: &mut Node, kind: &Kind, profile: Profile) {
    match (kind, &mut node.value) {
        (Kind::Table(keys), Value::Table(table)) => fill(table, keys, profile),
        (Kind::Tagged(kinds), Value::Table(table)) => {
            let tag = table.get("kind").map(|node| node.value.clone());
            let found = kinds
                .iter()
                .find(|(name, _)| tag == Some(Value::Text((*name).to_string())));
            if let Some((_, keys)) = found {
                fill(table, keys, profile);
            }
        }
        (Kind::List(kind), Value::List(items)) => {
            items
                .iter_mut()
                .for_each(|item| complete(item, kind, profile));
        }
        (Kind::OneOf(kinds), value) => {
            let table = kinds.iter().find(|kind| matches!(kind, Kind::Table(_)));
            if *value == Value::Flag(true)
                && let Some(_) = table
            {
                *value = Value::Table(Table::new());
            }
            let fitting = kinds.iter().find(|kind| match value {
                Value::Table(_) => matches!(kind, Kind::Table(_) | Kind::Tagged(_)),
                Value::List(_) => matches!(kind, Kind::List(_)),
                _ => false,
            });
            if let Some(kind) = fitting {
                complete(node, kind, profile);
            }
        }
        _ => {}
    }
}

/// A value, and everything in it, with this origin.
pub(crate) fn node(value: keys::Value, origin: &Origin) -> Node {
    let value = match value {
        keys::Value::Flag(flag) => Value::Flag(flag),
        keys::Value::Whole(whole) => Value::Whole(whole),
        keys::Value::Number(number) => Value::Number(number),
        keys::Value::Text(text) => Value::Text(text),
        keys::Value::Quantity(quantity) => Value::Quantity(quantity),
        keys::Value::List(items) => {
            let items = items.into_iter().map(|item| node(item, origin));
            Value::List(items.collect())
        }
        keys::Value::Table(values) => {
            let entries = values.iter();
            let entry =
                |(key, value): (&str, &keys::Value)| (key.to_string(), node(value.clone(), origin));
            Value::Table(entries.map(entry).collect())
        }
    };
    Node::new(value, origin.clone())
}

/// The values of a checked table, to be read as what its keys declare.
pub(crate) fn values(table: &Table) -> Values {
    let entries = table.iter();
    entries
        .map(|(key, node)| (key.clone(), plain(&node.value)))
        .collect()
}

/// A value without its origin.
pub(crate) fn plain(value: &Value) -> keys::Value {
    match value {
        Value::Flag(flag) => keys::Value::Flag(*flag),
        Value::Whole(whole) => keys::Value::Whole(*whole),
        Value::Number(number) => keys::Value::Number(*number),
        Value::Text(text) => keys::Value::Text(text.clone()),
        Value::Quantity(quantity) => keys::Value::Quantity(*quantity),
        Value::List(items) => {
            keys::Value::List(items.iter().map(|item| plain(&item.value)).collect())
        }
        Value::Table(table) => keys::Value::Table(values(table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    fn check_all(keys: &[Key], path: &str) -> usize {
        let of = |key: &Key| {
            let path = format!("{path}.{}", key.name);
            for profile in Profile::ALL {
                if let Some(text) = key.default_in(profile) {
                    assert!(key.kind.parse(text).is_some(), "{path} cannot be {text}");
                }
            }
            usize::from(key.default_in(Profile::Rfc).is_some()) + below(&key.kind, &path)
        };
        keys.iter().map(of).sum()
    }

    fn below(kind: &Kind, path: &str) -> usize {
        match kind {
            Kind::Table(keys) => check_all(keys, path),
            Kind::Tagged(kinds) => kinds.iter().map(|(_, keys)| check_all(keys, path)).sum(),
            Kind::List(item) => below(item, path),
            Kind::OneOf(kinds) => kinds.iter().map(|kind| below(kind, path)).sum(),
            _ => 0,
        }
    }

    /// A default that its key does not allow would stop the program only where it is needed.
    #[test]
    fn every_default_is_allowed_by_its_key() {
        assert!(check_all(model::SCENARIO, "") > 100);
    }
}
