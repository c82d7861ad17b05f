//! The user's scenario file: from text to the engine's [`Config`].
//!
//! ```text
//! TOML or JSON, extends, --set  -- read -->  a tree of values, each with its origin (document)
//!   -- check -->  nothing unknown, every unit right, every value in range (model)
//!   -- resolve -->  every value present: profile, default, derived (topology, queue, flow)
//!   -- build -->  the engine's configuration
//! ```
//!
//! The model, and the functions that resolve and build, depend on the kind of simulation (`kinds`).
//!
//! A scenario with errors is refused before anything runs. A message gives file, line, key, the
//! value found and the allowed values. [`Scenario::explain`] gives the origin of each value.

mod algorithm;
mod build;
mod catalogue;
mod check;
mod custom;
mod distribution;
mod document;
mod error;
mod external;
mod files;
mod flow;
mod json;
mod kind;
mod kinds;
mod link;
mod making;
mod merge;
mod mesonet;
mod model;
mod module;
mod profile;
mod proxy;
mod queue;
mod read;
mod renamed;
mod render;
mod resolve;
mod schema;
mod topology;
mod traffic;
mod unknown_names;
mod warnings;

use std::path::Path;

use longhaul_engine::{Config, RESULTS_VERSION};
use longhaul_units::Time;

pub use catalogue::{
    Key, Profile, QueueDiscipline, QueueKey, Traffic, keys, profiles, queues, traffic,
};
pub use error::ScenarioError;
pub use kind::Simulation;
pub use making::{
    Algorithms, CustomAlgorithm, FoundStack, LinuxModule, MadeModule, ModuleValue, OwnAlgorithm,
    StackError,
};
pub use mesonet::run::MesoNetRun;
pub use model::quic::{Client, QuicStack};
pub use render::ExplainRow;
pub use schema::schema;

use document::{Origin, Table};
use error::Places;
use making::NoAlgorithms;
use model::About;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    root: Table,
    simulation: Simulation,
    /// Rows of `explain` about derived values, in addition to the rows of keys.
    explained: Vec<ExplainRow>,
    warnings: Vec<String>,
}

/// Reads a scenario file, with `key=value` overrides. The scenario cannot name algorithms that are not built in, nor
/// QUIC stacks.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    load_with(path, overrides, &NoAlgorithms)
}

/// Reads a scenario file, with `key=value` overrides. `algorithms` makes the QUIC stacks that the scenario names, and
/// the algorithms that are not built in.
pub fn load_with(
    path: &Path,
    overrides: &[String],
    algorithms: &dyn Algorithms,
) -> Result<Scenario, ScenarioError> {
    let (root, origin) = read::read_file(path)?;
    complete(root, &origin, overrides, algorithms)
}

/// Reads a scenario from a text in TOML or JSON. `name` replaces the name of the file in messages.
/// Files that the scenario extends are relative to `base`, or to the current directory without a
/// `base`; all other files that it names are relative to the directory of `name`. The scenario
/// cannot name algorithms that are not built in, nor QUIC stacks.
pub fn parse(
    text: &str,
    name: &str,
    base: Option<&Path>,
    overrides: &[String],
) -> Result<Scenario, ScenarioError> {
    parse_with(text, name, base, overrides, &NoAlgorithms)
}

/// Reads a scenario from a text as [`parse`] does, but accepts QUIC stacks, and algorithms that are not built in.
/// `algorithms` makes them.
pub fn parse_with(
    text: &str,
    name: &str,
    base: Option<&Path>,
    overrides: &[String],
    algorithms: &dyn Algorithms,
) -> Result<Scenario, ScenarioError> {
    let (root, origin) = read::read_text(text, name, base)?;
    complete(root, &origin, overrides, algorithms)
}

fn complete(
    mut root: Table,
    origin: &Origin,
    overrides: &[String],
    algorithms: &dyn Algorithms,
) -> Result<Scenario, ScenarioError> {
    for text in overrides {
        read::apply_override(&mut root, text)?;
    }
    let kind = kinds::of(&root);
    let mut errors = (kind.rename)(&mut root);
    errors.extend(kind.remove_foreign_keys(&mut root));
    errors.extend(check::check_root(&mut root, kind.keys, origin));
    if !errors.is_empty() {
        return Err(ScenarioError::new(errors));
    }
    let places = Places::of(&root, origin);
    let resolved = (kind.resolve)(root, algorithms)
        .map_err(|errors| ScenarioError::in_file(errors, &places))?;
    Ok(Scenario {
        root: resolved.root,
        simulation: resolved.simulation,
        explained: resolved.explained,
        warnings: resolved.warnings,
    })
}

impl Scenario {
    /// Returns the scenario with every value present, as canonical JSON: sorted keys, and
    /// quantities with their units. The JSON can be read again as the same scenario.
    pub fn resolved_json(&self) -> serde_json::Value {
        render::json(&self.root)
    }

    /// Returns a row for every value, with its origin.
    pub fn explain(&self) -> Vec<ExplainRow> {
        let mut rows = render::explain(&self.root);
        rows.extend_from_slice(&self.explained);
        rows
    }

    /// Returns the simulation that the scenario describes.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Returns the configuration of the engine, for a scenario of links and flows.
    ///
    /// # Panics
    ///
    /// Panics if the scenario is of another kind.
    pub fn config(&self) -> &Config {
        match &self.simulation {
            Simulation::Tcp(config) => config,
            _ => panic!("only scenarios of links and connections have one"),
        }
    }

    /// Returns the end time of the simulation.
    pub fn duration(&self) -> Time {
        self.simulation.duration()
    }

    /// Returns the warnings about values that are allowed, but probably not intended.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns true if random numbers decide anything except the order of packets that arrive at
    /// the same time. If not, replications differ only in this order and its consequences.
    pub fn draws(&self) -> bool {
        self.simulation.draws()
    }

    /// Returns a message that only the order of simultaneous packets is random, with changes that
    /// would make replications differ; `None` if [`Self::draws`] is true.
    pub fn nothing_drawn(&self) -> Option<&'static str> {
        (!self.draws()).then_some(warnings::NOTHING_DRAWN)
    }

    /// Returns the number of bytes of time series and captures that the run is expected to write,
    /// as far as it can be predicted.
    pub fn expected_bytes(&self) -> f64 {
        self.simulation.expected_bytes()
    }

    /// Returns the title; empty if the scenario has none.
    pub fn title(&self) -> String {
        self.root.read(About::title).unwrap_or_default()
    }

    /// Returns the hash that identifies the results: SHA-256 of the canonical JSON, without the directories of module
    /// files, and of [`RESULTS_VERSION`].
    pub fn hash(&self) -> String {
        let mut canonical = self.resolved_json();
        render::without_directories(&mut canonical);
        render::hash(&canonical, RESULTS_VERSION)
    }
}
