//! Algorithms that a scenario brings along: `congestion = { python = "my_cc.py:MyCC", gain = 2 }`.
//!
//! The text of the file becomes part of the resolved scenario, as `source`: what identifies the
//! results includes the algorithm, and the resolved scenario runs without the file.

use std::path::Path;
use std::sync::Arc;

use longhaul_congestion::{ControllerSpec, Custom, Factory};

use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::read_text;
use crate::read::beside;
use crate::render;
use crate::typed::Typed;

/// An algorithm of the user's own, as a scenario names it.
#[derive(Debug)]
pub struct CustomAlgorithm<'a> {
    /// Name of its class.
    pub class: &'a str,
    /// The file that messages name, and the text of it. Without them the class was handed over by
    /// the program.
    pub file: Option<(&'a str, &'a str)>,
    /// What its constructor gets: a JSON object.
    pub parameters: serde_json::Value,
}

/// Makes algorithms of the user's own; the scenario itself knows no language to write them in.
pub trait Algorithms {
    /// The algorithm, and the text that identifies it; or why there is none.
    fn make(&self, algorithm: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String>;
}

/// Where no algorithm can be made.
pub(crate) struct NoAlgorithms;

impl Algorithms for NoAlgorithms {
    fn make(&self, _: &CustomAlgorithm<'_>) -> Result<(Arc<dyn Factory>, String), String> {
        Err("algorithms written in Python run from Python only".to_string())
    }
}

/// Keys that do not go to the constructor.
const OWN: [&str; 2] = ["python", "source"];

/// Whether a table of congestion control names an algorithm of the user's own.
pub(crate) fn is_custom(table: &Table) -> bool {
    OWN.iter().any(|key| table.contains_key(*key))
}

/// Checks a table that names one. What the constructor takes is known only when it is loaded.
pub(crate) fn check(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let given = OWN.map(|key| table.get(key).map(|node| node.origin.clone()));
    table.retain(|_, node| node.of_other_kind.is_none());
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
            // A class that is missing beside its text is reported where the text is.
            let origin = given[index].iter().chain(given.iter().flatten()).next();
            let origin = origin.expect("one of them names this kind of table");
            out.push(Diagnostic::new(&join(path, key), origin, message));
        }
    }
    table.values_mut().for_each(|node| settle(&mut node.value));
}

fn is_class(name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(inside) && !name.starts_with(|c: char| c.is_numeric())
}

/// A number without a fraction is a whole one: it is written that way in the resolved scenario,
/// which has to give the constructor the same.
fn settle(value: &mut Value) {
    match value {
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9.007e15 => {
            *value = Value::Whole(*number as i64);
        }
        Value::List(items) => items.iter_mut().for_each(|item| settle(&mut item.value)),
        Value::Table(table) => table.values_mut().for_each(|node| settle(&mut node.value)),
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

/// What flows are called whose algorithm this is.
pub(crate) fn class(python: &str) -> &str {
    split(python).1
}

/// Loads the algorithm and keeps its text in the table.
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
    let found = file.map(|file| beside(&node.origin, file));
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
    // The text identifies the algorithm, wherever its file lies.
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
