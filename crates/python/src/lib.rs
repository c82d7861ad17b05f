//! The Python module `longhaul._engine`: the only crate that knows Python.
//!
//! `_engine.pyi` beside the Python package declares and documents the same names.

mod catalogue;
mod memory;
mod run;
mod scenario;
mod watch;

use pyo3::prelude::*;

/// Exceptions, each with a base that catches all.
mod error {
    use pyo3::create_exception;
    use pyo3::exceptions::PyException;

    create_exception!(
        longhaul,
        LonghaulError,
        PyException,
        "Anything refused or failed."
    );
    create_exception!(
        longhaul,
        ScenarioError,
        LonghaulError,
        "A scenario that cannot be run."
    );
    create_exception!(
        longhaul,
        OutputError,
        LonghaulError,
        "A place that cannot be written to."
    );
    create_exception!(
        longhaul,
        RunError,
        LonghaulError,
        "A run that failed under way."
    );
}

#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::catalogue::algorithms;
    #[pymodule_export]
    use crate::error::{LonghaulError, OutputError, RunError, ScenarioError};
    #[pymodule_export]
    use crate::scenario::Scenario;
    use pyo3::prelude::*;

    /// The JSON Schema of scenario files.
    #[pyfunction]
    fn schema() -> String {
        longhaul_scenario::schema().to_string()
    }

    /// The version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Changes when the same scenario gives other numbers.
    #[pyfunction]
    fn results_version() -> u32 {
        longhaul_engine::RESULTS_VERSION
    }

    /// How the engine was compiled.
    #[pyfunction]
    fn build_profile() -> &'static str {
        if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
    }
}
