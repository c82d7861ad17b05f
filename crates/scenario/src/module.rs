//! Congestion control modules of Linux: `congestion = { module = "tcp_mine.so", beta = 717 }`.
//!
//! The SHA-256 of the object file becomes part of the resolved scenario. The file itself is not
//! copied. The scenario's hash covers the file's name and its SHA-256, but not the directory.

use std::path::{Path, PathBuf};

use longhaul_congestion::{self as congestion, ControllerSpec};
use longhaul_keys::{Field, KIND};

use crate::algorithm::{EXTERNAL, MODULE, PARAMETERS, PYTHON, SHA256, VARIANT, is_custom};
use crate::document::{Node, Origin, Table, Value, describe_value, join};
use crate::error::Diagnostic;
use crate::files::{read_bytes, relative_to};
use crate::making::{Algorithms, LinuxModule, ModuleValue};
use crate::render::hexadecimal;

/// Keys of the table that are not parameters of the module.
const OWN: [&str; 3] = [MODULE.name(), SHA256.name(), PARAMETERS.name()];

/// Returns true if a `congestion` table names a kernel module.
pub(crate) fn is_module(table: &Table) -> bool {
    // `module` may also be an argument of a class in Python.
    table.has(MODULE) && !is_custom(table)
}

/// Checks a table of a congestion control module of Linux, except the names of the module's parameters.
pub(crate) fn check(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    for key in [KIND, VARIANT, EXTERNAL, PYTHON] {
        if table.has(key) {
            let name = key.name();
            let message = format!("a module of Linux has no {name}; leave out {name} or module");
            out.push(Diagnostic::of_key(table, key, path, message));
        }
    }
    for key in [MODULE, SHA256] {
        expect_text(table, key, path, out);
    }
    for (name, node) in given(table) {
        if value_of(node).is_none() {
            let found = describe_value(&node.value);
            let message = format!("expected a number, true or false, found {found}");
            out.push(Diagnostic::new(&join(path, name), &node.origin, message));
        }
    }
    if let Some(node) = table.get(PARAMETERS) {
        if !matches!(node.value, Value::Table(_)) {
            let message = "expected a table of the module's parameters".to_string();
            out.push(Diagnostic::new(
                &join(path, PARAMETERS.name()),
                &node.origin,
                message,
            ));
        } else if let Some((name, node)) = given_twice(table) {
            let message = "it is given twice: here and among the module's parameters".to_string();
            out.push(Diagnostic::new(&join(path, name), &node.origin, message));
        }
    }
}

fn expect_text(table: &Table, key: Field<String>, path: &str, out: &mut Vec<Diagnostic>) {
    if let Some(Node { value, origin, .. }) = table.get(key)
        && !matches!(value, Value::Text(_))
    {
        let message = format!("expected text in quotes, found {}", describe_value(value));
        out.push(Diagnostic::new(&join(path, key.name()), origin, message));
    }
}

/// Returns the parameters in a table: its keys that are not in `OWN`, and the keys of its table `parameters`.
fn given(table: &Table) -> impl Iterator<Item = (&str, &Node)> {
    let below = table.get(PARAMETERS).and_then(|node| match &node.value {
        Value::Table(below) => Some(below),
        _ => None,
    });
    let own = table
        .entries
        .iter()
        .filter(|(key, _)| !OWN.contains(&key.as_str()));
    own.chain(below.into_iter().flat_map(|below| below.entries.iter()))
        .map(|(name, node)| (name.as_str(), node))
}

fn given_twice(table: &Table) -> Option<(&str, &Node)> {
    given(table).find(|(name, _)| given(table).filter(|(other, _)| other == name).count() > 1)
}

fn value_of(node: &Node) -> Option<ModuleValue> {
    match node.value {
        Value::Flag(flag) => Some(ModuleValue::Flag(flag)),
        Value::Whole(number) => Some(ModuleValue::Whole(number)),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9.007e15 => {
            Some(ModuleValue::Whole(number as i64))
        }
        Value::Number(number) => Some(ModuleValue::Real(number)),
        _ => None,
    }
}

fn written(value: ModuleValue) -> Value {
    match value {
        ModuleValue::Flag(flag) => Value::Flag(flag),
        ModuleValue::Whole(number) => Value::Whole(number),
        ModuleValue::Real(number) => Value::Number(number),
    }
}

/// Loads the Linux module that `table` names, and adds the file's hash and the parameters' defaults to `table`. The
/// file's path becomes absolute. A file with another hash than the one in `table` is refused.
pub(crate) fn resolve(
    table: &mut Table,
    path: &str,
    algorithms: &dyn Algorithms,
) -> Result<ControllerSpec, Diagnostic> {
    let node = table.node(MODULE).clone();
    let path = join(path, MODULE.name());
    let refuse = |reason: String| Diagnostic::new(&path, &node.origin, reason);
    let file = absolute(&relative_to(&node.origin, node.word()));
    let object = read_bytes(&file).map_err(refuse)?;
    let digest = hexadecimal(&hmac_sha256::Hash::hash(&object));
    match table.get(SHA256) {
        Some(known) if known.word() != digest => {
            let message = format!(
                "{} is another file than that of this scenario: expected SHA-256 {}, found {digest}; \
                 leave out sha256 to take it as it is",
                file.display(),
                known.word()
            );
            return Err(refuse(message));
        }
        _ => {}
    }
    let parameters = given(table)
        .filter_map(|(name, node)| Some((name.to_string(), value_of(node)?)))
        .collect();
    let module = LinuxModule {
        file: &file,
        object,
        parameters,
    };
    let made = algorithms.module(module).map_err(refuse)?;
    let rule = format!("of {}", file.display());
    table.or_insert(SHA256, Value::Text(digest), Origin::Derived(rule));
    table.insert(
        MODULE,
        Node::text(&file.display().to_string(), node.origin.clone()),
    );
    for (name, value) in made.defaults {
        let is_given = given(table).any(|(given, _)| given == name);
        if !is_given && !OWN.contains(&name.as_str()) {
            let node = Node::new(written(value), Origin::Default);
            table.entries.insert(name, node);
        }
    }
    Ok(ControllerSpec {
        kind: made.name,
        custom: Some(congestion::Custom(made.factory)),
        ..ControllerSpec::default()
    })
}

/// Returns the absolute form of `path`; resolved scenarios may be read in another directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
