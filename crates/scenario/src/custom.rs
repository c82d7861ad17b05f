//! Custom algorithms, written by the user: `congestion = { python = "my_cc.py:MyCC", gain = 2 }`.
//!
//! The source code becomes part of the resolved scenario, as `source`: the scenario's hash covers the
//! algorithm, and the resolved scenario runs without the file.

use std::path::Path;

use longhaul_congestion::{self as congestion, ControllerSpec};
use longhaul_keys::{Field, KIND};

use crate::algorithm::{EXTERNAL, PYTHON, SOURCE, VARIANT, split};
use crate::document::{Node, Origin, Table, Value, join};
use crate::error::Diagnostic;
use crate::files::{read_text, relative_to};
use crate::making::{Algorithms, CustomAlgorithm};
use crate::render;

/// Keys of a custom algorithm that are not passed to the constructor of its Python class.
const OWN: [Field<String>; 2] = [PYTHON, SOURCE];

/// Checks the table of a custom algorithm, and normalizes the numbers in it. Names and types of the
/// constructor's arguments are checked only when the algorithm is loaded.
pub(crate) fn check(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let given = OWN.map(|key| table.get(key).map(|node| node.origin.clone()));
    for key in [KIND, VARIANT, EXTERNAL] {
        if table.has(key) {
            let name = key.name();
            let message =
                format!("an algorithm in Python has no {name}; leave out {name} or python");
            out.push(Diagnostic::of_key(table, key, path, message));
        }
    }
    for (index, key) in OWN.into_iter().enumerate() {
        let is_python = key.name() == PYTHON.name();
        let (message, wrong) = match table.get(key).map(|node| &node.value) {
            Some(Value::Text(text)) => ("", is_python && !is_class(split(text).1)),
            None if !is_python => ("", false),
            _ => (" in quotes", true),
        };
        if wrong {
            let message =
                format!("expected file and class{message}, as in python = \"my_cc.py:MyCC\"");
            // A missing class is reported at the position of its source code.
            let origin = given[index].iter().chain(given.iter().flatten()).next();
            let origin = origin.expect("one of them names this kind of table");
            out.push(Diagnostic::new(&join(path, key.name()), origin, message));
        }
    }
    normalize_entries(table, path, out);
}

fn is_class(name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(inside) && !name.starts_with(|c: char| c.is_numeric())
}

/// Converts numbers without a fraction, if they are below about 2^53, to whole numbers, and refuses
/// infinite numbers and NaN. JSON, the format of resolved scenarios, cannot represent infinite
/// numbers and NaN.
fn normalize(node: &mut Node, path: &str, out: &mut Vec<Diagnostic>) {
    match &mut node.value {
        Value::Number(number) if !number.is_finite() => {
            let message = format!("expected a finite number, found {number}");
            out.push(Diagnostic::new(path, &node.origin, message));
        }
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9.007e15 => {
            node.value = Value::Whole(*number as i64);
        }
        Value::List(items) => items.iter_mut().for_each(|item| normalize(item, path, out)),
        Value::Table(table) => normalize_entries(table, path, out),
        _ => {}
    }
}

fn normalize_entries(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    for (name, node) in &mut table.entries {
        normalize(node, &join(path, name), out);
    }
}

/// Loads the algorithm and stores its source code in the table.
pub(crate) fn resolve(
    table: &mut Table,
    path: &str,
    algorithms: &dyn Algorithms,
) -> Result<ControllerSpec, Diagnostic> {
    let node = table.node(PYTHON).clone();
    let path = join(path, PYTHON.name());
    let refuse = |reason: String| Diagnostic::new(&path, &node.origin, reason);
    let python = table.read(PYTHON);
    let (file, class) = split(&python);
    let place = file.map(|file| relative_to(&node.origin, file));
    let text = match (table.get(SOURCE), &place) {
        (Some(source), _) => Some(source.read::<String>()),
        (None, Some(file)) => Some(read_text(file).map_err(refuse)?),
        (None, None) => None,
    };
    let name = place.map_or(python.clone(), |file| file.display().to_string());
    let mut parameters = table.clone();
    for key in OWN {
        parameters.remove(key);
    }
    let (factory, source) = algorithms
        .make(&CustomAlgorithm {
            class,
            file: text.as_deref().map(|text| (name.as_str(), text)),
            parameters: render::json(&parameters),
        })
        .map_err(refuse)?;
    let rule = format!("the text of {name}");
    table.or_insert(SOURCE, Value::Text(source), Origin::Derived(rule));
    // The source code identifies the algorithm, wherever its file is.
    let file = file.and_then(|file| Path::new(file).file_name());
    if let Some(file) = file {
        let short = format!("{}:{class}", file.display());
        table.insert(PYTHON, Node::text(&short, node.origin.clone()));
    }
    Ok(ControllerSpec {
        kind: class.to_string(),
        custom: Some(congestion::Custom(factory)),
        ..ControllerSpec::default()
    })
}
