//! Congestion control written in Python: found in a file or handed over as a class, and called for
//! each flow from the simulation's thread, which holds the interpreter's lock only meanwhile.
//!
//! `longhaul.algorithm` finds and checks the class; here it becomes a controller like any other.

mod calls;
mod class;
mod controller;
mod loader;
mod process;

use std::cell::RefCell;

use pyo3::prelude::*;

pub(crate) use self::calls::Calls;
pub(crate) use self::loader::{Loader, describe_module};
pub(crate) use self::process::{check_controller, note_limit};

/// The Python half.
const HELPER: &str = "longhaul.algorithm";

thread_local! {
    /// Error that ended the run in this thread. A simulation stays in the thread that it began in.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Ends the call that a thread of Python is in. To be called with the interpreter's lock, so that the thread is not
/// about to leave it.
pub(crate) fn interrupt(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?.call_method1("interrupt", (thread,))?;
    Ok(())
}

/// Takes back an interruption that came too late.
pub(crate) fn forget_interruption(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?
        .call_method1("forget_interruption", (thread,))?;
    Ok(())
}

/// Ends the run of this thread with an error, unless it ends with an earlier one.
fn fail(error: PyErr) {
    FAILURE.with_borrow_mut(|failure| {
        failure.get_or_insert(error);
    });
}

/// Takes the exception that an algorithm in Python raised in this thread.
pub(crate) fn take_failure() -> Option<PyErr> {
    FAILURE.with_borrow_mut(Option::take)
}

/// Returns true if an algorithm in Python has raised an exception in this thread.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}
