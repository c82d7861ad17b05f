//! One run: from a checked scenario to its directory, while Python goes on.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use longhaul_engine::measure::Control;
use longhaul_engine::simulation;
use longhaul_output::{RunMeta, RunWriter};
use longhaul_scenario::Scenario;
use pyo3::prelude::*;

use crate::algorithm;
use crate::error::{AlgorithmError, OutputError, RunError, ScenarioError};
use crate::memory::Baseline;
use crate::watch::Watch;

/// Simulates `scenario` and leaves its directory at `out`, or nothing if it fails, is interrupted,
/// or `progress` raises. What was recorded before an algorithm in Python raised an exception is
/// kept, marked as stopped. Called without the interpreter's lock.
pub(crate) fn run(
    scenario: &Scenario,
    out: &Path,
    progress: Option<Py<PyAny>>,
    overwrite: bool,
) -> PyResult<()> {
    let stopped_by = Arc::new(Mutex::new(None));
    let mut watch = Watch::new(progress, stopped_by.clone());
    let config = Arc::new(scenario.config().clone());
    let meta = RunMeta {
        resolved_scenario: scenario.resolved_json(),
        scenario_hash: scenario.hash(),
        config: config.clone(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        warnings: scenario.warnings().to_vec(),
        overwrite,
    };
    let turn = Box::new(move |now, packets| {
        if algorithm::has_failed() {
            return Control::Stop;
        }
        watch.progress(now, packets)
    });
    // Of an earlier run in this thread, if it had nobody to tell.
    algorithm::take_failure();
    let memory = Baseline::take();
    let mut writer = RunWriter::create(out, meta, turn)
        .map_err(|error| OutputError::new_err(error.to_string()))?;
    let began = Instant::now();
    let mut totals = simulation::run(&config, &mut writer)
        .map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let wall = began.elapsed();
    if let Some(error) = stopped_by.lock().expect("nobody panics with it").take() {
        return Err(error);
    }
    let failure = algorithm::take_failure();
    if let Some(error) = &failure {
        if !Python::attach(|py| error.is_instance_of::<AlgorithmError>(py)) {
            return Err(failure.expect("just seen"));
        }
        totals.stopped = true;
    }
    let peak = memory.growth_bytes().unwrap_or(0);
    match writer.finish(&totals, wall, peak) {
        Ok(_) => failure.map_or(Ok(()), Err),
        Err(error) => Err(RunError::new_err(error.to_string())),
    }
}
