//! Custom algorithms, which the user writes: `congestion = { python = "my_cc.py:MyCC", gain = 2 }`.
//!
//! The source code becomes part of the resolved scenario, as `source`: the scenario's hash covers the
//! algorithm, and the resolved scenario runs without the file.

use std::path::Path;
use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, Custom, Factory};

use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::read_text;
use crate::read::relative_to;
use crate::render;
use crate::typed::Typed;

/// A custom algorithm, as a scenario names it.
#[derive(Debug)]
pub struct CustomAlgorithm<'a> {
    /// Name of its class.
    pub class: &'a str,
    /// The name of the file, for messages, and its text; none if the program passed the class itself.
    pub file: Option<(&'a str, &'a str)>,
    /// Arguments of its constructor: a JSON object.
    pub parameters: serde_json::Value,
}

/// Makes custom algorithms; this crate does not depend on the language that they are written in.
pub trait Algorithms {
    /// The algorithm and its source code, or an error message.
    fn make(&self, algorithm: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String>;
}

/// For programs that cannot load custom algorithms.
pub(crate) struct NoAlgorithms;

impl Algorithms for NoAlgorithms {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("algorithms written in Python run from Python only".to_string())
    }
}

/// Keys that are not passed to the constructor.
const OWN: [&str; 2] = ["python", "source"];

/// Whether a table of congestion control names a custom algorithm.
pub(crate) fn is_custom(table: &Table) -> bool {
    OWN.iter().any(|key| table.contains_key(*key))
}

/// Checks the table of a custom algorithm. The constructor's arguments are known only when it is loaded.
pub(crate) fn check(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let given = OWN.map(|key| table.get(key).map(|node| node.origin.clone()));
    for key in ["kind", "variant"] {
        if let Some(node) = table.get(key) {
            let message = format!("an algorithm in Python has no {key}; leave out {key} or python");
            out.push(Diagnostic::new(
                &join(path, key),
                node.key_origin(),
                message,
            ));
        }
    }
    for (index, key) in OWN.into_iter().enumerate() {
        let (message, wrong) = match table.get(key).map(|node| &node.value) {
            Some(Value::Text(text)) => ("", key == "python" && !is_class(split(text).1)),
            None if key == "source" => ("", false),
            _ => (" in quotes", true),
        };
        if wrong {
            let message =
                format!("expected file and class{message}, as in python = \"my_cc.py:MyCC\"");
            // A missing class is reported at the position of its source code.
            let origin = given[index].iter().chain(given.iter().flatten()).next();
            let origin = origin.expect("one of them names this kind of table");
            out.push(Diagnostic::new(&join(path, key), origin, message));
        }
    }
    table
        .values_mut()
        .for_each(|node| normalize(&mut node.value));
}

fn is_class(name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(inside) && !name.starts_with(|c: char| c.is_numeric())
}

/// Turns numbers without a fraction into whole ones: the resolved scenario writes them so, and must pass the
/// same values to the constructor.
fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9.007e15 => {
            *value = Value::Whole(*number as i64);
        }
        Value::List(items) => items.iter_mut().for_each(|item| normalize(&mut item.value)),
        Value::Table(table) => table
            .values_mut()
            .for_each(|node| normalize(&mut node.value)),
        _ => {}
    }
}

/// The file, if one is named, and the class.
fn split(python: &str) -> (Option<&str>, &str) {
    match python.rsplit_once(':') {
        Some((file, class)) => (Some(file), class),
        None => (None, python),
    }
}

/// The name of the class, which is the default label of its flows.
pub(crate) fn class(python: &str) -> &str {
    split(python).1
}

/// Loads the algorithm and stores its source code in the table.
pub(crate) fn resolve(
    table: &mut Table,
    path: &str,
    algorithms: &dyn Algorithms,
) -> Result<ControllerSpec, Diagnostic> {
    let node = table.node("python").clone();
    let path = join(path, "python");
    let refuse = |reason: String| Diagnostic::new(&path, &node.origin, reason);
    let python = table.word("python").to_string();
    let (file, class) = split(&python);
    let found = file.map(|file| relative_to(&node.origin, file));
    let text = match (table.get("source"), &found) {
        (Some(_), _) => Some(table.word("source").to_string()),
        (None, Some(file)) => Some(read_text(file).map_err(refuse)?),
        (None, None) => None,
    };
    let name = found.map_or(python.clone(), |file| file.display().to_string());
    let parameters = table.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
    let parameters: Table = parameters
        .map(|(key, node)| (key.clone(), node.clone()))
        .collect();
    let (factory, source) = algorithms
        .make(&CustomAlgorithm {
            class,
            file: text.as_deref().map(|text| (name.as_str(), text)),
            parameters: render::json(&parameters),
        })
        .map_err(refuse)?;
    let rule = format!("the text of {name}");
    let source = Node::text(&source, Origin::Derived(rule));
    table.entry("source".to_string()).or_insert(source);
    // The source code identifies the algorithm, wherever its file is.
    let file = file.and_then(|file| Path::new(file).file_name());
    if let Some(file) = file {
        let short = format!("{}:{class}", file.display());
        table.insert(
            "python".to_string(),
            Node::text(&short, node.origin.clone()),
        );
    }
    Ok(ControllerSpec {
        kind: class.to_string(),
        custom: Some(Custom(factory)),
        ..ControllerSpec::default()
    })
}
