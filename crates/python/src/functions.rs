//! Functions that the built-in algorithms use: transcendental functions with the same bits on every
//! platform, and tabulated functions of the window, which avoid a logarithm per acknowledgement.
//! Also the check of names.

use std::cell::RefCell;

use longhaul_congestion::ResponseTable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the exponential function of `x`.
#[pyfunction]
pub(crate) fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Returns the natural logarithm of `x`.
#[pyfunction]
pub(crate) fn log(x: f64) -> f64 {
    libm::log(x)
}

/// Returns `x` to the power of `y`.
#[pyfunction]
pub(crate) fn power(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// A smooth function of the window, which is interpolated between tabulated values. For a window
/// outside the table, the function is called.
#[pyclass(frozen, module = "longhaul.congestion")]
pub(crate) struct Tabulated {
    table: ResponseTable,
    function: Py<PyAny>,
}

#[pymethods]
impl Tabulated {
    #[new]
    fn new(py: Python<'_>, function: Py<PyAny>, low: f64, high: f64) -> PyResult<Self> {
        if !(0.0 < low && low <= high && high.is_finite()) {
            let message = format!("expected a range of windows, found {low} to {high}");
            return Err(PyValueError::new_err(message));
        }
        let failed = RefCell::new(None);
        let value = |window: f64| match call(py, &function, window) {
            Ok(value) => value,
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
                f64::NAN
            }
        };
        let table = ResponseTable::new(low, high, value);
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(Self { table, function }),
        }
    }

    fn __call__(&self, py: Python<'_>, window: f64) -> PyResult<f64> {
        match self.table.at(window) {
            Some(value) => Ok(value),
            None => call(py, &self.function, window),
        }
    }
}

fn call(py: Python<'_>, function: &Py<PyAny>, window: f64) -> PyResult<f64> {
    function.call1(py, (window,))?.extract(py)
}

/// Returns the reason why a text cannot be a name or title; `None` if it can. Names and titles are one line of
/// printable text of limited length.
#[pyfunction]
pub(crate) fn check_name(text: &str) -> Option<String> {
    longhaul_keys::check_name(text).err()
}
