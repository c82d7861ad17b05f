//! The time limit of a run. It begins when the scenario is read, since reading executes the files
//! of Python algorithms.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::ScenarioError;

/// Wall-clock time limit for reading and running a scenario, from the creation of this value on.
#[pyclass(frozen, module = "longhaul._engine")]
#[derive(Clone, Debug)]
pub(crate) struct TimeLimit {
    pub(crate) began: Instant,
    pub(crate) limit: Duration,
    /// File for the call stacks of Python's `faulthandler` when the time limit passes. With a file, the whole program
    /// is ended if an algorithm cannot be interrupted; with `None`, it is not.
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
