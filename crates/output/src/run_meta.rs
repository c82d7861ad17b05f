//! What a run directory says about its run beyond what was simulated.

use std::sync::Arc;

use longhaul_engine::Config;
use longhaul_units::Time;

/// What a run directory says about its run beyond what was simulated.
#[derive(Clone, Debug)]
pub struct RunMeta<C = Config> {
    /// The scenario with every default filled in, as run.json keeps it.
    pub resolved_scenario: serde_json::Value,
    /// What identifies that scenario and the version of its results.
    pub scenario_hash: String,
    /// What is simulated: names, seed, measurement window.
    pub config: Arc<C>,
    /// Version of Longhaul.
    pub version: String,
    /// What the user should know before trusting the results.
    pub warnings: Vec<String>,
    /// Whether an older run of the same name is replaced.
    pub overwrite: bool,
    /// The duration of the scenario.
    pub duration: Time,
}
