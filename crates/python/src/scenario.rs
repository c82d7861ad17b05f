//! A scenario as a Python object: checked, resolved, ready to run.

use std::path::Path;

use pyo3::prelude::*;

use crate::error::ScenarioError;
use crate::run;

/// A scenario, checked and resolved.
#[pyclass(frozen, module = "longhaul._engine")]
pub(crate) struct Scenario {
    inner: longhaul_scenario::Scenario,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file, with `key=value` overrides.
    #[staticmethod]
    #[pyo3(signature = (path, overrides = Vec::new()))]
    fn load(path: &str, overrides: Vec<String>) -> PyResult<Self> {
        Self::checked(longhaul_scenario::load(Path::new(path), &overrides))
    }

    /// Reads scenario text, TOML or JSON; `name` stands for the file in messages.
    #[staticmethod]
    #[pyo3(signature = (text, name, overrides = Vec::new()))]
    fn parse(text: &str, name: &str, overrides: Vec<String>) -> PyResult<Self> {
        Self::checked(longhaul_scenario::parse(text, name, None, &overrides))
    }

    #[getter]
    fn title(&self) -> String {
        self.inner.title()
    }

    /// Identifies the resolved scenario.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.config().duration.as_secs_f64()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// The scenario with every default filled in, as JSON.
    fn resolved_json(&self) -> String {
        self.inner.resolved_json().to_string()
    }

    /// Path, value and origin of every value.
    fn explain(&self) -> Vec<(String, String, String)> {
        let rows = self.inner.explain().into_iter();
        rows.map(|row| (row.path, row.value, row.origin)).collect()
    }

    /// Simulates, and leaves a run directory at `out`.
    #[pyo3(signature = (out, *, progress = None, overwrite = false))]
    fn run(
        &self,
        py: Python<'_>,
        out: &str,
        progress: Option<Py<PyAny>>,
        overwrite: bool,
    ) -> PyResult<()> {
        py.detach(|| run::run(&self.inner, Path::new(out), progress, overwrite))
    }
}

impl Scenario {
    fn checked(
        result: Result<longhaul_scenario::Scenario, longhaul_scenario::ScenarioError>,
    ) -> PyResult<Self> {
        match result {
            Ok(inner) => Ok(Self { inner }),
            Err(error) => Err(ScenarioError::new_err(error.to_string())),
        }
    }
}
