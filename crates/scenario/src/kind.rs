//! Kinds of simulation. Each has a table that selects it, its keys, and a function that resolves
//! them.

use longhaul_engine::Config;
use longhaul_keys::Key;
use longhaul_units::Time;

use crate::document::Table;
use crate::error::Diagnostic;
use crate::making::Algorithms;
use crate::mesonet::run::MesoNetRun;
use crate::model;
use crate::render::ExplainRow;
use crate::warnings;

/// The simulation that a scenario describes.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// Connections over a network of links.
    Tcp(Box<Config>),
    /// NIST's MesoNet.
    MesoNet(Box<MesoNetRun>),
}

impl Simulation {
    /// Returns the end time of the simulation.
    pub(crate) fn duration(&self) -> Time {
        match self {
            Self::Tcp(config) => config.duration,
            Self::MesoNet(run) => run.config.duration,
        }
    }

    /// Returns true if the simulation draws random numbers, not counting those for the order of
    /// simultaneous arrivals.
    pub(crate) fn draws(&self) -> bool {
        match self {
            Self::Tcp(config) => !warnings::drawn(config).is_empty(),
            Self::MesoNet(_) => true,
        }
    }

    /// Returns the number of bytes of time series and captures that the run is expected to write, as
    /// far as it can be predicted.
    pub(crate) fn expected_bytes(&self) -> f64 {
        match self {
            Self::Tcp(config) => warnings::expected_bytes(config),
            Self::MesoNet(_) => 0.0,
        }
    }
}

/// A resolved scenario: all values are present.
pub(crate) struct ResolvedScenario {
    /// The scenario's whole document.
    pub root: Table,
    pub simulation: Simulation,
    /// Rows of `longhaul explain` about derived values, in addition to the rows of keys.
    pub explained: Vec<ExplainRow>,
    pub warnings: Vec<String>,
}

/// A kind of simulation.
pub(crate) struct SimulationKind {
    /// Name of the table that only scenarios of this kind have.
    pub table: &'static str,
    /// All keys of a scenario file of this kind.
    pub keys: &'static [Key],
    /// Returns the alternative names that the kind's table may contain in place of its keys.
    pub other_names: fn() -> Vec<&'static str>,
    /// Moves values from alternative names to the keys that these names stand for.
    pub rename: fn(&mut Table) -> Vec<Diagnostic>,
    /// Completes a checked document, or reports values that contradict each other.
    pub resolve: fn(Table, &dyn Algorithms) -> Result<ResolvedScenario, Vec<Diagnostic>>,
}

impl SimulationKind {
    /// Removes and reports the keys in `root` that this kind of simulation does not have, but the default kind has.
    pub(crate) fn remove_foreign_keys(&self, root: &mut Table) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        let known = |keys: &[Key], key: &str| keys.iter().any(|known| known.name == key);
        root.entries.retain(|key, node| {
            let foreign = known(model::SCENARIO, key) && !known(self.keys, key);
            if foreign {
                let table = self.table;
                let message =
                    format!("a scenario with [{table}] has no `{key}`; leave one of them out");
                out.push(Diagnostic::new(key, node.key_origin(), message));
            }
            !foreign
        });
        out
    }
}
