//! Execution of a run, from a checked scenario to its run directory, while other Python code
//! continues.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_engine::measure::{Control, OutOfMemory, Ticker};
use longhaul_engine::memory::Budget;
use longhaul_engine::simulation;
use longhaul_mesonet::config::Algorithm;
use longhaul_mesonet::simulate;
use longhaul_output::{
    MesoNetMeta, MesoNetWriter, OutputError as WriteError, Progress, RunMeta, RunWriter,
};
use longhaul_scenario::{Scenario, Simulation};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::algorithm;
use crate::call_watch::CallWatch;
use crate::clock::Clock;
use crate::error::{AlgorithmError, OutputError, RunError, ScenarioError};
use crate::latest::{Latest, WatchedRecorder};
use crate::limit::TimeLimit;
use crate::measures::Measuring;
use crate::memory::{Baseline, MemoryLimit, byte_count};
use crate::watch::{Stop, StoppedBy, Watch};

/// Options of a run.
pub(crate) struct Options {
    pub(crate) progress: Option<Py<PyAny>>,
    /// The user's functions that get each interval of MesoNet.
    pub(crate) measures: Vec<Py<PyAny>>,
    pub(crate) overwrite: bool,
    /// Wall-clock time between checkpoints of a run of MesoNet; `None` for no checkpoints. A later
    /// call with the same scenario and directory resumes from the last checkpoint.
    pub(crate) checkpoint_every: Option<Duration>,
    /// Wall-clock time limit; `None` for no limit.
    pub(crate) limit: Option<TimeLimit>,
    /// Bytes that the run may allocate; `None` for nine tenths of the memory that is available when
    /// it begins.
    pub(crate) memory: Option<u64>,
    /// Object that gets the latest samples during the run; `None` if nobody watches.
    pub(crate) latest: Option<Latest>,
    /// Number of threads of a run of MesoNet.
    pub(crate) threads: usize,
}

/// A run with its directory on disk.
pub(crate) struct FinishedRun {
    pub(crate) directory: PathBuf,
    /// Error that stopped the run: an exception, a failure of an algorithm, or the memory limit.
    /// `None` if the run was complete or reached its time limit.
    pub(crate) raised: Option<PyErr>,
}

/// Simulates `scenario` and writes a run directory to `out`. A failed run leaves no directory. A
/// stopped run keeps its records so far, is marked as stopped, and does not replace an older run.
/// With checkpoints, however, a stopped run is an error, and leaves only its last checkpoint. Must
/// be called without the interpreter's lock.
pub(crate) fn run(scenario: &Scenario, out: &Path, options: Options) -> PyResult<FinishedRun> {
    let stopped_by = StoppedBy::default();
    let ticker = Ticker::default();
    let (limit, by) = (options.limit, stopped_by.clone());
    let baseline = Baseline::take();
    let memory = MemoryLimit::new(options.memory, baseline);
    let _budget = memory.map(|memory| Budget::begin(move |bytes| memory.allows(bytes)));
    let mut watch = Watch::new(options.progress, ticker.clone(), limit.clone(), memory, by);
    let turn: Progress = Box::new(move |now, packets| {
        if algorithm::has_failed() {
            return Control::Stop;
        }
        watch.progress(now, packets)
    });
    // Discards an unreported error of an earlier run in this thread.
    algorithm::take_failure();
    let ticking = ticker.clone();
    let _clock = Clock::start(move || ticking.tick());
    let _noted = algorithm::NotedLimit::begin(limit.clone());
    let _call_watch = limit
        .as_ref()
        .map(|limit| CallWatch::start(limit, Some(out)))
        .transpose()?;
    let cannot_write = |error: WriteError| OutputError::new_err(error.to_string());
    let (measures, overwrite) = (options.measures, options.overwrite);
    let (failure, written) = match scenario.simulation() {
        Simulation::Tcp(_) if !measures.is_empty() => {
            let message = "measures of your own are for scenarios of MesoNet, with [mesonet]";
            return Err(ScenarioError::new_err(message));
        }
        Simulation::Tcp(_) if options.checkpoint_every.is_some() => {
            let message = "checkpoints are for scenarios of MesoNet, with [mesonet]";
            return Err(ScenarioError::new_err(message));
        }
        Simulation::Tcp(_) if options.threads != 1 => {
            let message = "threads are for scenarios of MesoNet, with [mesonet]";
            return Err(ScenarioError::new_err(message));
        }
        Simulation::Tcp(config) => {
            let meta = meta(scenario, config.as_ref().clone(), overwrite);
            let writer = RunWriter::create(out, meta, turn).map_err(cannot_write)?;
            let mut writer = writer.with_ticker(ticker);
            let began = Instant::now();
            let totals = match &options.latest {
                None => simulation::run(config, &mut writer),
                Some(latest) => simulation::run(
                    config,
                    &mut WatchedRecorder::new(&mut writer, latest, config),
                ),
            };
            let mut totals = totals.map_err(|error| refused(error, &stopped_by))?;
            let wall = began.elapsed();
            let refused = totals.out_of_memory.take().zip(memory);
            let exhausted = refused.map(|(refused, limit)| Failure::of_memory(&refused, &limit));
            let failure = Failure::take(&stopped_by)?.or(exhausted);
            if let Some(failure) = &failure {
                totals.stopped = true;
                writer.note_stop(&failure.name);
            }
            let peak = baseline.growth_bytes().unwrap_or(0);
            let written = writer.finish(&totals, wall, peak);
            (failure, written.map(|run| run.directory))
        }
        Simulation::MesoNet(run) => {
            let meta = MesoNetMeta {
                run: meta(scenario, run.config.clone(), overwrite),
                tables: run.tables.clone(),
                flush_every: run.flush_every,
                checkpoint_every: options.checkpoint_every,
            };
            let mut writer = MesoNetWriter::create(out, meta, turn).map_err(cannot_write)?;
            let state = writer.take_state(!measures.is_empty());
            let state = state.map_err(cannot_write)?;
            let mut recorder = Measuring::new(
                writer,
                measures,
                options.latest,
                &run.config,
                stopped_by.clone(),
            );
            let began = Instant::now();
            // Python algorithms run in the thread that reports their errors.
            let of_user = |one: &Algorithm| one.congestion.custom.is_some();
            let threads = match run.config.algorithms.iter().any(of_user) {
                true => 1,
                false => options.threads,
            };
            let result = simulate(&run.config, state.as_deref(), threads, &mut recorder);
            let mut totals = result.map_err(|error| refused(error, &stopped_by))?;
            let wall = began.elapsed();
            let failure = Failure::take(&stopped_by)?;
            if let Some(failure) = &failure {
                if options.checkpoint_every.is_some() {
                    return Err(failure.error());
                }
                totals.stopped = true;
                recorder.writer.note_stop(&failure.name);
            }
            let peak = baseline.growth_bytes().unwrap_or(0);
            let written = recorder.writer.finish(&totals, wall, peak);
            (failure, written.map(|run| run.directory))
        }
    };
    match written {
        Ok(directory) => Ok(FinishedRun {
            directory,
            raised: failure.and_then(|failure| failure.raised),
        }),
        Err(error) => Err(RunError::new_err(error.to_string())),
    }
}

pub(crate) fn meta<C>(scenario: &Scenario, config: C, overwrite: bool) -> RunMeta<C> {
    RunMeta {
        resolved_scenario: scenario.resolved_json(),
        scenario_hash: scenario.hash(),
        config: Arc::new(config),
        version: env!("CARGO_PKG_VERSION").to_string(),
        warnings: scenario.warnings().to_vec(),
        overwrite,
        duration: scenario.duration(),
    }
}

/// Returns the error of a run that did not begin: an exception or a limit that stopped its setup, or
/// otherwise `error`.
fn refused(error: impl std::fmt::Display, stopped_by: &StoppedBy) -> PyErr {
    let stop = stopped_by
        .lock()
        .expect("no thread panics while it holds the lock")
        .take();
    match stop {
        Some(Stop::Raised(error)) => error,
        Some(Stop::Memory(bytes)) => RunError::new_err(format!(
            "the memory limit of {} was reached before the run began",
            byte_count(bytes as f64)
        )),
        Some(Stop::Limit(_)) => {
            RunError::new_err("the time limit was reached before the run began")
        }
        None => ScenarioError::new_err(error.to_string()),
    }
}

/// Cause that ended a run early.
struct Failure {
    /// Description of the cause, which is written to run.json.
    name: String,
    raised: Option<PyErr>,
}

impl Failure {
    /// Returns the cause that stopped the run; `None` if it was not stopped.
    ///
    /// # Errors
    ///
    /// Fails after an exception in a Python algorithm that is not an `AlgorithmError`, such as the
    /// user's interruption. The run then leaves no directory.
    fn take(stopped_by: &StoppedBy) -> PyResult<Option<Self>> {
        let stop = stopped_by
            .lock()
            .expect("no thread panics while it holds the lock")
            .take();
        if let Some(stop) = stop {
            return Ok(Some(match stop {
                Stop::Limit(limit) => Self {
                    name: format!("the limit of {:?}", limit),
                    raised: None,
                },
                Stop::Memory(bytes) => Self::beyond_memory(bytes, ""),
                Stop::Raised(error) => Self {
                    name: Python::attach(|py| name_of(&error, py)),
                    raised: Some(error),
                },
            }));
        }
        match algorithm::take_failure() {
            Some(error) if !Python::attach(|py| error.is_instance_of::<AlgorithmError>(py)) => {
                Err(error)
            }
            failure => Ok(failure.map(|error| Self {
                name: "an exception in an algorithm".to_string(),
                raised: Some(error),
            })),
        }
    }

    /// Returns the failure of a run that needed more memory than `limit`.
    fn of_memory(need: &OutOfMemory, limit: &MemoryLimit) -> Self {
        let OutOfMemory { refused, holders } = need;
        let bytes = byte_count(refused.bytes as f64);
        let details = format!(": {} needed {bytes} more; {holders}", refused.what);
        Self::beyond_memory(limit.bytes, &details)
    }

    fn beyond_memory(bytes: u64, details: &str) -> Self {
        let name = format!("the memory limit of {}{details}", byte_count(bytes as f64));
        let raised = RunError::new_err(format!("stopped by {name}"));
        Self {
            name,
            raised: Some(raised),
        }
    }

    /// Returns the error to raise if the run keeps no records.
    fn error(&self) -> PyErr {
        match &self.raised {
            Some(error) => Python::attach(|py| error.clone_ref(py)),
            None => RunError::new_err(format!("stopped by {}", self.name)),
        }
    }
}

fn name_of(error: &PyErr, py: Python<'_>) -> String {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        "an interrupt".to_string()
    } else {
        let kind = error.get_type(py).name();
        kind.map_or_else(|_| "an exception".to_string(), |name| name.to_string())
    }
}
