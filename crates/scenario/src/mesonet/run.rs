//! A resolved scenario of MesoNet.

use longhaul_mesonet::Config;

/// A simulation of MesoNet, and the tables to write.
#[derive(Clone, Debug)]
pub struct MesoNetRun {
    /// Configuration of the simulation.
    pub config: Config,
    /// Names of the tables to write.
    pub tables: Vec<String>,
    /// Number of intervals between writes of rows; `None` for the default.
    pub flush_every: Option<u64>,
}
