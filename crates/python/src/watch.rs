//! What the Python side does while a simulation runs: it sees progress and can stop the run.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_engine::measure::{Control, DataPackets};
use longhaul_units::Time;
use pyo3::prelude::*;

/// How often Python gets a turn, by the wall clock.
const INTERVAL: Duration = Duration::from_millis(100);

/// Reports progress to a Python callable about ten times a second, and stops the run when that
/// raises or the user interrupts.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    last: Instant,
    /// Why the run has to stop, for whoever started it.
    stopped_by: Arc<Mutex<Option<PyErr>>>,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>, stopped_by: Arc<Mutex<Option<PyErr>>>) -> Self {
        Self {
            callback,
            last: Instant::now(),
            stopped_by,
        }
    }

    /// Called far more often than Python gets a turn.
    pub(crate) fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        if self.last.elapsed() < INTERVAL {
            return Control::Continue;
        }
        self.last = Instant::now();
        match Python::attach(|py| self.turn(py, now, data_packets())) {
            Ok(()) => Control::Continue,
            Err(error) => {
                *self.stopped_by.lock().expect("nobody panics with it") = Some(error);
                Control::Stop
            }
        }
    }

    fn turn(&self, py: Python<'_>, now: Time, data_packets: u64) -> PyResult<()> {
        py.check_signals()?;
        if let Some(callback) = &self.callback {
            callback.call1(py, (now.as_secs_f64(), data_packets))?;
        }
        Ok(())
    }
}
