//! The time limit of a run, which counts from the reading of its scenario on, for that executes the files of algorithms
//! in Python.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::ScenarioError;

/// Time for reading and running a scenario, by the wall clock, from now on.
#[pyclass(frozen, module = "longhaul._engine")]
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    pub(crate) began: Instant,
    pub(crate) limit: Duration,
    /// File to which Python's `faulthandler` writes the stack when the limit has passed. If a file is given and an
    /// algorithm cannot be interrupted, the whole program is ended.
    pub(crate) stacks: Option<PathBuf>,
}

#[pymethods]
impl TimeLimit {
    #[new]
    #[pyo3(signature = (limit_s, stacks = None))]
    fn new(limit_s: f64, stacks: Option<PathBuf>) -> PyResult<Self> {
        let limit = Duration::try_from_secs_f64(limit_s)
            .map_err(|error| ScenarioError::new_err(format!("the limit: {error}")))?;
        Ok(Self {
            began: Instant::now(),
            limit,
            stacks,
        })
    }
}

impl TimeLimit {
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= self.limit
    }
}
