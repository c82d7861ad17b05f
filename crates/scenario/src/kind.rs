//! What a kind of simulation is: the table that tells it, its keys, and who resolves them.

use longhaul_engine::Config;
use longhaul_keys::Key;
use longhaul_units::Time;

use crate::custom::Algorithms;
use crate::document::Table;
use crate::error::Diagnostic;
use crate::mesonet::run::MesoNetRun;
use crate::model;
use crate::render::ExplainRow;
use crate::warnings;

/// What is simulated.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// Connections over a network of links.
    Tcp(Box<Config>),
    /// NIST's MesoNet.
    MesoNet(Box<MesoNetRun>),
}

impl Simulation {
    /// When it ends.
    pub(crate) fn duration(&self) -> Time {
        match self {
            Self::Tcp(config) => config.duration,
            Self::MesoNet(run) => run.config.duration,
        }
    }

    /// The fewest bytes that its tables will take, as far as that can be foreseen: of the time series.
    pub(crate) fn foreseen_bytes(&self) -> f64 {
        match self {
            Self::Tcp(config) => warnings::foreseen_bytes(config),
            Self::MesoNet(_) => 0.0,
        }
    }
}

/// Everything that a scenario gives.
pub(crate) struct Resolved {
    /// The document, complete.
    pub root: Table,
    pub simulation: Simulation,
    /// What follows from the values and is none.
    pub explained: Vec<ExplainRow>,
    pub warnings: Vec<String>,
}

/// A kind of simulation.
pub(crate) struct SimulationKind {
    /// The table that only scenarios of this kind have.
    pub table: &'static str,
    /// All keys of a scenario file of this kind.
    pub keys: &'static [Key],
    /// Other names of keys, which may stand in the table.
    pub other_names: fn() -> Vec<&'static str>,
    /// Moves what is given under other names to its keys.
    pub rename: fn(&mut Table) -> Vec<Diagnostic>,
    /// Completes a checked document, or says what contradicts what.
    pub resolve: fn(Table, &dyn Algorithms) -> Result<Resolved, Vec<Diagnostic>>,
}

impl SimulationKind {
    /// Takes out the keys of the file that only other kinds have, and reports them.
    pub(crate) fn remove_foreign_keys(&self, root: &mut Table) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        let known = |keys: &[Key], key: &str| keys.iter().any(|known| known.name == key);
        root.retain(|key, node| {
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
