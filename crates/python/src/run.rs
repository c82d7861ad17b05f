//! One run: from a checked scenario to its directory, while Python goes on.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_engine::measure::Control;
use longhaul_engine::simulation::{self, SetupError};
use longhaul_output::{
    MesoNetMeta, MesoNetWriter, OutputError as WriteError, Progress, RunMeta, RunWriter,
};
use longhaul_scenario::{Scenario, Simulation};
use pyo3::prelude::*;

use crate::algorithm;
use crate::error::{AlgorithmError, OutputError, RunError, ScenarioError};
use crate::measures::Measuring;
use crate::memory::Baseline;
use crate::watch::Watch;

/// Why a run was stopped, if it was, by the Python side.
pub(crate) type StoppedBy = Arc<Mutex<Option<PyErr>>>;

/// Simulates `scenario` and leaves its directory at `out`, or nothing if it fails, is interrupted,
/// or `progress` raises. What was recorded before an algorithm in Python raised an exception is
/// kept, marked as stopped. `measures` are functions that get each interval of MesoNet. With
/// `checkpoint_every` a run of MesoNet can be gone on with by the same call when this one was killed.
/// Called without the interpreter's lock.
pub(crate) fn run(
    scenario: &Scenario,
    out: &Path,
    progress: Option<Py<PyAny>>,
    measures: Vec<Py<PyAny>>,
    overwrite: bool,
    checkpoint_every: Option<Duration>,
) -> PyResult<()> {
    let stopped_by = StoppedBy::default();
    let mut watch = Watch::new(progress, stopped_by.clone());
    let turn: Progress = Box::new(move |now, packets| {
        if algorithm::has_failed() {
            return Control::Stop;
        }
        watch.progress(now, packets)
    });
    // Of an earlier run in this thread, if it had nobody to tell.
    algorithm::take_failure();
    let memory = Baseline::take();
    let cannot_write = |error: WriteError| OutputError::new_err(error.to_string());
    let (failure, written) = match scenario.simulation() {
        Simulation::Tcp(_) if !measures.is_empty() => {
            let message = "measures of your own are for scenarios of MesoNet, with [mesonet]";
            return Err(ScenarioError::new_err(message));
        }
        Simulation::Tcp(_) if checkpoint_every.is_some() => {
            let message = "checkpoints are for scenarios of MesoNet, with [mesonet]";
            return Err(ScenarioError::new_err(message));
        }
        Simulation::Tcp(config) => {
            let meta = meta(scenario, config.as_ref().clone(), overwrite);
            let mut writer = RunWriter::create(out, meta, turn).map_err(cannot_write)?;
            let began = Instant::now();
            let mut totals = simulation::run(config, &mut writer).map_err(refused)?;
            let wall = began.elapsed();
            let failure = failure(&stopped_by)?;
            totals.stopped |= failure.is_some();
            let peak = memory.growth_bytes().unwrap_or(0);
            (failure, writer.finish(&totals, wall, peak).map(drop))
        }
        Simulation::MesoNet(run) => {
            let meta = MesoNetMeta {
                run: meta(scenario, run.config.clone(), overwrite),
                tables: run.tables.clone(),
                flush_every: run.flush_every,
                checkpoint_every,
            };
            let mut writer = MesoNetWriter::create(out, meta, turn).map_err(cannot_write)?;
            let state = writer.take_state(!measures.is_empty());
            let state = state.map_err(cannot_write)?;
            let mut recorder = Measuring::new(writer, measures, &run.config, stopped_by.clone());
            let began = Instant::now();
            let result = match state {
                Some(state) => simulation::resume_mesonet(&run.config, &state, &mut recorder),
                None => simulation::run_mesonet(&run.config, &mut recorder),
            };
            let mut totals = result.map_err(refused)?;
            let wall = began.elapsed();
            let failure = failure(&stopped_by)?;
            totals.stopped |= failure.is_some();
            let peak = memory.growth_bytes().unwrap_or(0);
            let written = recorder.writer.finish(&totals, wall, peak);
            (failure, written.map(drop))
        }
    };
    match written {
        Ok(()) => failure.map_or(Ok(()), Err),
        Err(error) => Err(RunError::new_err(error.to_string())),
    }
}

fn meta<C>(scenario: &Scenario, config: C, overwrite: bool) -> RunMeta<C> {
    RunMeta {
        resolved_scenario: scenario.resolved_json(),
        scenario_hash: scenario.hash(),
        config: Arc::new(config),
        version: env!("CARGO_PKG_VERSION").to_string(),
        warnings: scenario.warnings().to_vec(),
        overwrite,
    }
}

fn refused(error: SetupError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// What an algorithm in Python raised, after which the run is written nevertheless. Anything else that
/// stopped the run leaves nothing.
fn failure(stopped_by: &StoppedBy) -> PyResult<Option<PyErr>> {
    if let Some(error) = stopped_by.lock().expect("nobody panics with it").take() {
        return Err(error);
    }
    match algorithm::take_failure() {
        Some(error) if !Python::attach(|py| error.is_instance_of::<AlgorithmError>(py)) => {
            Err(error)
        }
        failure => Ok(failure),
    }
}
