//! What the Python side does while a simulation runs: it sees progress and can stop the run.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use longhaul_engine::measure::{Control, DataPackets, Ticker};
use longhaul_units::Time;
use pyo3::prelude::*;

use crate::algorithm::{self, Calls};

/// How often Python gets a turn, by the wall clock.
const INTERVAL: Duration = Duration::from_millis(100);

/// What has stopped a run.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Python raised: a signal, or the function that sees progress.
    Raised(PyErr),
    /// It took as long as it may.
    Limit(Duration),
}

/// What stopped the run, for its caller.
pub(crate) type StoppedBy = Arc<Mutex<Option<Stop>>>;

/// Reports progress to a Python callable about ten times a second, and stops the run when that
/// raises, the user interrupts, or time is up.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    ticker: Ticker,
    began: Instant,
    limit: Option<Duration>,
    stopped_by: StoppedBy,
}

impl Watch {
    pub(crate) fn new(
        callback: Option<Py<PyAny>>,
        ticker: Ticker,
        limit: Option<Duration>,
        stopped_by: StoppedBy,
    ) -> Self {
        Self {
            callback,
            ticker,
            began: Instant::now(),
            limit,
            stopped_by,
        }
    }

    /// Called more often than Python gets a turn.
    pub(crate) fn progress(&mut self, now: Time, data_packets: DataPackets<'_>) -> Control {
        if !self.ticker.take() {
            return Control::Continue;
        }
        let stop = match Python::attach(|py| self.turn(py, now, data_packets())) {
            Err(error) => Stop::Raised(error),
            Ok(()) => match self.limit {
                Some(limit) if self.began.elapsed() >= limit => Stop::Limit(limit),
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

/// Ends a call of an algorithm that goes on when time is up: the simulation has no turn then.
pub(crate) struct CallLimit {
    began: Instant,
    limit: Duration,
    calls: Arc<Calls>,
    /// The simulation's, as Python names it.
    thread: Py<PyAny>,
    /// The call at the last tick.
    seen: Option<u64>,
    interrupts: bool,
}

impl CallLimit {
    /// For algorithms that this thread calls.
    pub(crate) fn new(limit: Duration) -> PyResult<Self> {
        let thread = Python::attach(|py| -> PyResult<_> {
            let ident = py.import("threading")?.call_method0("get_ident")?;
            Ok(ident.unbind())
        })?;
        Ok(Self {
            began: Instant::now(),
            limit,
            calls: Calls::of_this_thread(),
            thread,
            seen: None,
            interrupts: false,
        })
    }

    /// Called at each tick.
    fn check(&mut self) {
        let before = std::mem::replace(&mut self.seen, self.calls.current());
        let lasts = self.seen.is_some() && self.seen == before;
        if !lasts || self.began.elapsed() < self.limit {
            return;
        }
        Python::attach(|py| {
            if self.calls.current() == self.seen {
                self.interrupts = true;
                let _ = algorithm::interrupt(py, &self.thread);
            }
        });
    }

    /// The run is over.
    fn end(&self) {
        if self.interrupts {
            let _ = Python::attach(|py| algorithm::forget_interruption(py, &self.thread));
        }
    }
}

/// Ticks as long as it lives, in a thread of its own: whether a simulation has its turn soon is no
/// question of what it simulates.
pub(crate) struct Clock {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    pub(crate) fn start(ticker: Ticker, mut call_limit: Option<CallLimit>) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = Arc::clone(&over);
        let tick = move || {
            let (over, changed) = &*seen;
            let mut over = over
                .lock()
                .expect("no thread panics while it holds the lock");
            while !*over {
                let waited = changed.wait_timeout(over, INTERVAL);
                over = waited.expect("no thread panics while it holds the lock").0;
                ticker.tick();
                if let Some(limit) = &mut call_limit {
                    limit.check();
                }
            }
            if let Some(limit) = &call_limit {
                limit.end();
            }
        };
        let thread = thread::Builder::new().name("ticker".into()).spawn(tick);
        // Without a thread more, a run has its reports of progress less often.
        Self {
            over,
            thread: thread.ok(),
        }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let (over, changed) = &*self.over;
        *over
            .lock()
            .expect("no thread panics while it holds the lock") = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
