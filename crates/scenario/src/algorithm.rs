//! Keys in the tables of congestion control and slow start, except the parameters that the registry
//! of algorithms declares.

use std::path::Path;

use longhaul_keys::{Field, KIND};

use crate::document::Table;

/// The algorithm of a flow that does not name one.
pub(crate) const DEFAULT_CONGESTION: &str = "reno";

/// Key for the variant of an algorithm.
pub(crate) const VARIANT: Field<String> = Field::new("variant");

/// Key for the threshold of limited slow start, in segments.
pub(crate) const MAX_SSTHRESH: Field<f64> = Field::new("max_ssthresh");
/// Key for the length of a train of acknowledgements that ends the kernel's HyStart, as a fraction of the smallest
/// round-trip time.
pub(crate) const TRAIN: Field<f64> = Field::new("train");

/// Key for the class of a custom algorithm: `FILE:CLASS`, or only the name of a class that the calling Python program
/// passes.
pub(crate) const PYTHON: Field<String> = Field::new("python");

/// Key for the source text of a custom algorithm's file, in resolved scenarios.
pub(crate) const SOURCE: Field<String> = Field::new("source");

/// Key for the address of a controller in another process: `unix:PATH` or `tcp:HOST:PORT`.
pub(crate) const EXTERNAL: Field<String> = Field::new("external");

/// Key for the version of the controller in another process. It is part of the scenario's hash:
/// runs with different versions are different runs.
pub(crate) const VERSION: Field<String> = Field::new("version");

/// Key for the object file of a congestion control module of Linux.
pub(crate) const MODULE: Field<String> = Field::new("module");
/// Key for the SHA-256 of a module's object file.
pub(crate) const SHA256: Field<String> = Field::new("sha256");
/// Key for a table of parameters of a module; needed for parameters that are named like other keys.
pub(crate) const PARAMETERS: Field<String> = Field::new("parameters");

/// Returns true if a `congestion` table names a custom algorithm, a class in Python.
pub(crate) fn is_custom(table: &Table) -> bool {
    table.has(PYTHON) || table.has(SOURCE)
}

/// Splits the value of the key `python` into file and class. The file is `None` if the value is only a class.
pub(crate) fn split(python: &str) -> (Option<&str>, &str) {
    match python.rsplit_once(':') {
        Some((file, class)) => (Some(file), class),
        None => (None, python),
    }
}

/// Returns the name of the algorithm in a table: the name of a class, kind or module, or the word
/// `external`. It is the default label of TCP flows without `traffic`.
pub(crate) fn name(congestion: Option<&Table>) -> &str {
    let python = congestion.and_then(|table| table.get(PYTHON));
    let kind = congestion.and_then(|table| table.get(KIND));
    let module = congestion.filter(|table| !is_custom(table));
    if let Some(module) = module.and_then(|table| table.get(MODULE)) {
        return stem(module.word());
    }
    match (python, kind) {
        _ if congestion.is_some_and(|table| table.has(EXTERNAL)) => EXTERNAL.name(),
        (Some(python), _) => split(python.word()).1,
        (None, Some(kind)) => kind.word(),
        (None, None) => DEFAULT_CONGESTION,
    }
}

/// Returns the name of a module's file without directory, extension, and the kernel's prefix
/// `tcp_`.
fn stem(file: &str) -> &str {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let stem = stem.unwrap_or(file);
    stem.strip_prefix("tcp_").unwrap_or(stem)
}
