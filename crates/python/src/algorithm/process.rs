//! Controllers in other processes: the check of their address, and the reaction of a run if they
//! fail.

use std::cell::RefCell;

use longhaul_external::{PATIENCE, Program};
use pyo3::prelude::*;

use super::{fail, take_failure};
use crate::error::AlgorithmError;
use crate::limit::TimeLimit;

thread_local! {
    static LIMIT: RefCell<Option<TimeLimit>> = const { RefCell::new(None) };
}

/// Raises an exception if no controller answers at the address, or if it does not speak the
/// protocol.
#[pyfunction]
pub(crate) fn check_controller(py: Python<'_>, address: &str) -> PyResult<()> {
    let checked = py.detach(|| longhaul_external::check(&address.parse()?, PROGRAM));
    checked.map_err(|what| take_failure().unwrap_or_else(|| AlgorithmError::new_err(what)))
}

/// Callbacks for a controller in another process: for its failure, and during the wait for its answer.
pub(super) const PROGRAM: Program = Program {
    failed: |message| fail(AlgorithmError::new_err(message)),
    stops_waiting: || {
        let limit_is_over =
            LIMIT.with_borrow(|limit| limit.as_ref().is_some_and(TimeLimit::is_over));
        let interrupted = Python::attach(|py| py.check_signals());
        if let Err(error) = interrupted {
            fail(error);
        } else if limit_is_over {
            let message =
                "a controller in another process had not answered when the time limit was reached";
            fail(AlgorithmError::new_err(message));
        } else {
            return false;
        }
        true
    },
    patience: PATIENCE,
};

/// Time limit of this thread's run, for controllers in other processes, as long as the value lives.
pub(crate) struct NotedLimit;

impl NotedLimit {
    pub(crate) fn begin(limit: Option<TimeLimit>) -> Self {
        LIMIT.set(limit);
        Self
    }
}

impl Drop for NotedLimit {
    fn drop(&mut self) {
        LIMIT.set(None);
    }
}
