//! Facts about a run that its directory contains in addition to the results: scenario, version, warnings.

use std::sync::Arc;

use longhaul_engine::Config;
use longhaul_units::Time;

/// Description of a run in its directory, in addition to the results: scenario, version and
/// warnings. `C` is the type of the simulation's configuration.
#[derive(Clone, Debug)]
pub struct RunMeta<C = Config> {
    /// The scenario with every default set, as stored in run.json.
    pub resolved_scenario: serde_json::Value,
    /// Hash of the resolved scenario and of the results version.
    pub scenario_hash: String,
    /// Configuration of the simulation: names, seed, measurement window.
    pub config: Arc<C>,
    /// Version of Longhaul.
    pub version: String,
    /// Warnings for the user about the results.
    pub warnings: Vec<String>,
    /// True to replace an older run of the same name.
    pub overwrite: bool,
    /// Duration that the scenario gives; for an emulation that was not interrupted, its end time.
    pub duration: Time,
}
