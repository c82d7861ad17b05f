//! Congestion control written in Python. The class is found in a file or passed by the user's program. Flows call it
//! from the simulation's thread; this thread holds the interpreter's lock only during calls.
//!
//! The Python module `longhaul.algorithm` finds and checks the class; this module turns it into a controller.

mod calls;
mod class;
mod controller;
mod loader;
mod process;

use std::cell::RefCell;

use pyo3::prelude::*;

pub(crate) use self::calls::Calls;
pub(crate) use self::loader::{Loader, describe_module};
pub(crate) use self::process::{NotedLimit, check_controller};

/// Name of the Python module that finds and checks classes.
const HELPER: &str = "longhaul.algorithm";

thread_local! {
    /// Error in this thread that ended the run. A simulation never changes its thread.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Interrupts the call in progress in a Python thread with an exception. The caller must hold the
/// interpreter's lock, so that the call cannot end meanwhile.
pub(crate) fn interrupt(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?.call_method1("interrupt", (thread,))?;
    Ok(())
}

/// Cancels an interruption that has not been raised because the call had already ended.
pub(crate) fn forget_interruption(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?
        .call_method1("forget_interruption", (thread,))?;
    Ok(())
}

/// Stores the error that ends the run of this thread, unless an earlier error is stored.
fn fail(error: PyErr) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Returns and removes the error of this thread: an exception in a Python algorithm, a failure of a
/// controller in another process, or a user's interruption of either.
pub(crate) fn take_failure() -> Option<PyErr> {
    FAILURE.with_borrow_mut(Option::take)
}

/// Returns true if there is an error that [`take_failure`] would return.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}
