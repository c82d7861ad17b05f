//! Congestion control in another process: `congestion = { external = "unix:controller.sock" }`.

use longhaul_congestion::{self as congestion, ControllerSpec};

use crate::algorithm::{EXTERNAL, VERSION};
use crate::document::{Table, Value, join};
use crate::error::Diagnostic;
use crate::making::Algorithms;

/// Returns true if a `congestion` table names a controller in another process.
pub(crate) fn is_external(table: &Table) -> bool {
    table.has(EXTERNAL)
}

/// Checks the keys of a controller in another process. The form of its address is checked by
/// [`resolve`].
pub(crate) fn check(table: &mut Table, path: &str, out: &mut Vec<Diagnostic>) {
    let names = [EXTERNAL.name(), VERSION.name()];
    for (key, node) in &table.entries {
        let message = if !names.contains(&key.as_str()) {
            let (external, version) = (names[0], names[1]);
            format!(
                "a controller in another process has {external} and {version} alone, and its own settings"
            )
        } else if matches!(node.value, Value::Text(_)) {
            continue;
        } else {
            "expected text in quotes".to_string()
        };
        out.push(Diagnostic::new(&join(path, key), &node.origin, message));
    }
}

/// Reads the specification of a controller in another process. The connection is opened for the first report of
/// a flow.
pub(crate) fn resolve(
    table: &Table,
    path: &str,
    algorithms: &dyn Algorithms,
) -> Result<ControllerSpec, Diagnostic> {
    let refuse = |reason: String| Diagnostic::at(table, EXTERNAL, path, reason);
    let factory = algorithms.external(table.word(EXTERNAL)).map_err(refuse)?;
    Ok(ControllerSpec {
        kind: EXTERNAL.name().to_string(),
        custom: Some(congestion::Custom(factory)),
        ..ControllerSpec::default()
    })
}
