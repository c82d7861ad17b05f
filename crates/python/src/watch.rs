//! Calls of Python during a simulation: they report progress, and can stop the run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_engine::measure::{Control, DataPackets, Ticker};
use longhaul_units::Time;
use pyo3::prelude::*;

use crate::limit::TimeLimit;
use crate::memory::MemoryLimit;

/// Cause that stopped a run. A failure of an algorithm is not stored here, but by
/// [`crate::algorithm`].
#[derive(Debug)]
pub(crate) enum Stop {
    /// A Python exception, raised by a signal, by the function that gets the progress, or by a
    /// measuring function.
    Raised(PyErr),
    /// The time limit, which has passed.
    Limit(Duration),
    /// The memory limit in bytes, which has been exceeded.
    Memory(u64),
}

/// Cause that stopped the run; `None` if nothing has stopped it. It is shared by [`Watch`] and the
/// recorder of MesoNet, which stop the run, and [`crate::run::run`].
pub(crate) type StoppedBy = Arc<Mutex<Option<Stop>>>;

/// Reporter of progress to a Python function, about ten times a second. It stops the run if the
/// function raises an exception, the user interrupts, or the time or memory limit is reached.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    ticker: Ticker,
    limit: Option<TimeLimit>,
    memory: Option<MemoryLimit>,
    stopped_by: StoppedBy,
}

impl Watch {
    pub(crate) fn new(
        callback: Option<Py<PyAny>>,
        ticker: Ticker,
        limit: Option<TimeLimit>,
        memory: Option<MemoryLimit>,
        stopped_by: StoppedBy,
    ) -> Self {
        Self {
            callback,
            ticker,
            limit,
            memory,
            stopped_by,
        }
    }

    /// Calls the user's callback and checks signals and limits, if the ticker has ticked. Stops the run
    /// if Python raises an exception, or if the time or memory limit is exceeded.
    pub(crate) fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        if !self.ticker.take() {
            return Control::Continue;
        }
        let stop = match Python::attach(|py| self.turn(py, now, data_packets())) {
            Err(error) => Stop::Raised(error),
            Ok(()) => match (&self.limit, &self.memory) {
                (Some(limit), _) if limit.is_over() => Stop::Limit(limit.limit),
                (_, Some(memory)) if !memory.allows(0) => Stop::Memory(memory.bytes),
                _ => return Control::Continue,
            },
        };
        *self
            .stopped_by
            .lock()
            .expect("no thread panics while it holds the lock") = Some(stop);
        Control::Stop
    }

    fn turn(&self, py: Python<'_>, now: Time, data_packets: u64) -> PyResult<()> {
        py.check_signals()?;
        if let Some(callback) = &self.callback {
            callback.call1(py, (now.as_secs_f64(), data_packets))?;
        }
        Ok(())
    }
}
