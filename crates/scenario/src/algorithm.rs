//! Keys of tables of congestion control and slow start that are not parameters of the registry.

use std::path::Path;

use longhaul_keys::{Field, KIND};

use crate::document::Table;

/// The algorithm of a flow that names none.
pub(crate) const DEFAULT_CONGESTION: &str = "reno";

/// Variant of an algorithm.
pub(crate) const VARIANT: Field<String> = Field::new("variant");

/// Window at which limited slow start begins, in segments.
pub(crate) const MAX_SSTHRESH: Field<f64> = Field::new("max_ssthresh");
/// Trains of acknowledgements that end slow start in the kernel's HyStart.
pub(crate) const TRAIN: Field<f64> = Field::new("train");

/// File and class of an algorithm that the user writes.
pub(crate) const PYTHON: Field<String> = Field::new("python");

/// Text of that file.
pub(crate) const SOURCE: Field<String> = Field::new("source");

/// Address of a controller in another process: `unix:PATH` or `tcp:HOST:PORT`.
pub(crate) const EXTERNAL: Field<String> = Field::new("external");

/// Version of the program at that address: runs of another version are other runs.
pub(crate) const VERSION: Field<String> = Field::new("version");

/// The object of a congestion control module of Linux, the SHA-256 of its contents, and parameters that have the name of
/// one of these keys.
pub(crate) const MODULE: Field<String> = Field::new("module");
pub(crate) const SHA256: Field<String> = Field::new("sha256");
pub(crate) const PARAMETERS: Field<String> = Field::new("parameters");

/// Returns the file, if one is named, and the class.
pub(crate) fn split(python: &str) -> (Option<&str>, &str) {
    match python.rsplit_once(':') {
        Some((file, class)) => (Some(file), class),
        None => (None, python),
    }
}

/// Returns the name of the algorithm of a table, which is the default label of its flows: that of a class, or
/// a kind.
pub(crate) fn name(congestion: Option<&Table>) -> &str {
    let python = congestion.and_then(|table| table.get(PYTHON));
    let kind = congestion.and_then(|table| table.get(KIND));
    if let Some(module) = congestion.and_then(|table| table.get(MODULE)) {
        return stem(module.word());
    }
    match (python, kind) {
        _ if congestion.is_some_and(|table| table.has(EXTERNAL)) => EXTERNAL.name(),
        (Some(python), _) => split(python.word()).1,
        (None, Some(kind)) => kind.word(),
        (None, None) => DEFAULT_CONGESTION,
    }
}

/// Returns the name of a module's file without directory and ending, and without the `tcp_` that the kernel's
/// have.
fn stem(file: &str) -> &str {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let stem = stem.unwrap_or(file);
    stem.strip_prefix("tcp_").unwrap_or(stem)
}
