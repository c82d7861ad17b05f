//! Congestion control written in Python. The class is found in a file or passed by the program;
//! flows call it from the simulation's thread, which holds the interpreter's lock only during
//! calls.
//!
//! The Python module `longhaul.algorithm` finds and checks the class; this module turns it into a
//! controller.

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

/// The Python module that finds and checks classes.
const HELPER: &str = "longhaul.algorithm";

thread_local! {
    /// Error that ended the run in this thread. A simulation stays in the thread in which it began.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Interrupts the call that a Python thread is in. The caller must hold the interpreter's lock, so
/// that the call cannot end meanwhile.
pub(crate) fn interrupt(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?.call_method1("interrupt", (thread,))?;
    Ok(())
}

/// Cancels an interruption that came too late.
pub(crate) fn forget_interruption(py: Python<'_>, thread: &Py<PyAny>) -> PyResult<()> {
    py.import(HELPER)?
        .call_method1("forget_interruption", (thread,))?;
    Ok(())
}

/// Ends the run of this thread with an error, unless an earlier error ends it already.
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
