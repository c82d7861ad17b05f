//! The Python module `longhaul._engine`; no other crate uses Python.
//!
//! `_engine.pyi` in the Python package declares and documents the same names.

mod algorithm;
mod call_watch;
mod catalogue;
mod clock;
mod emulation;
mod facts;
mod functions;
mod hybrid;
mod interval;
mod latest;
mod limit;
mod measures;
mod memory;
mod rounds;
mod run;
mod scenario;
mod watch;

use pyo3::prelude::*;

/// The exceptions of the module, which share a base class.
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
    create_exception!(longhaul, RunError, LonghaulError, "A run that failed.");
    create_exception!(
        longhaul,
        EmulationError,
        LonghaulError,
        "An emulation that this machine, or the scenario, does not allow."
    );
    create_exception!(
        longhaul,
        AlgorithmError,
        LonghaulError,
        "A congestion control algorithm in Python that cannot be used, or that raised an exception."
    );
}

#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::algorithm::{check_controller, describe_module};
    #[pymodule_export]
    use crate::catalogue::{algorithms, columns, profiles, queues, scenario_keys, traffic};
    #[pymodule_export]
    use crate::error::{
        AlgorithmError, EmulationError, LonghaulError, OutputError, RunError, ScenarioError,
    };
    #[pymodule_export]
    use crate::facts::{Ack, Congestion, Timeout, Window};
    #[pymodule_export]
    use crate::functions::{Tabulated, check_name, exp, log, power};
    #[pymodule_export]
    use crate::hybrid::hybrid;
    #[pymodule_export]
    use crate::interval::Interval;
    #[pymodule_export]
    use crate::latest::Latest;
    #[pymodule_export]
    use crate::limit::TimeLimit;
    #[pymodule_export]
    use crate::memory::byte_count;
    #[pymodule_export]
    use crate::scenario::Scenario;
    use longhaul_units::{Dimension, Quantity};
    use pyo3::prelude::*;

    /// Returns the JSON Schema of scenario files.
    #[pyfunction]
    fn schema() -> String {
        longhaul_scenario::schema().to_string()
    }

    /// Parses a time with its unit, such as `50 ms`, and returns it in seconds.
    #[pyfunction]
    fn seconds(text: &str) -> PyResult<f64> {
        match Quantity::parse(text, &[Dimension::Time]) {
            Ok(Quantity::Span(span)) => Ok(span.as_secs_f64()),
            Ok(other) => unreachable!("{other} is no time"),
            Err(error) => Err(ScenarioError::new_err(error.to_string())),
        }
    }

    /// Parses a rate with its unit, such as `10 Mbps`, and returns it in bits per second.
    #[pyfunction]
    fn bits_per_second(text: &str) -> PyResult<u64> {
        match Quantity::parse(text, &[Dimension::Rate]) {
            Ok(Quantity::Rate(rate)) => Ok(rate.as_bps()),
            Ok(other) => unreachable!("{other} is no rate"),
            Err(error) => Err(ScenarioError::new_err(error.to_string())),
        }
    }

    /// Returns the version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Returns the version of results, which changes when the same scenario gives different results.
    #[pyfunction]
    fn results_version() -> u32 {
        longhaul_engine::RESULTS_VERSION
    }

    /// Returns the build profile of the engine.
    #[pyfunction]
    fn build_profile() -> &'static str {
        if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
    }
}
