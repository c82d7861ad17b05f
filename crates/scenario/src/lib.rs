//! The user's scenario file: from text to the engine's [`Config`].
//!
//! ```text
//! TOML or JSON, extends, --set  -- read -->  a tree of values, each with its origin (document)
//!   -- check -->  nothing unknown, every unit right, every value in range (model)
//!   -- resolve -->  every value present: profile, default, derived (topology, queue, flow)
//!   -- build -->  the engine's configuration
//! ```
//!
//! A scenario with a table `[mesonet]` takes another way from the second step on (`mesonet`).
//!
//! What is wrong is refused before anything runs, with file, line, key, what was found and what is
//! allowed. [`Scenario::explain`] tells where each value comes from.

mod build;
mod catalogue;
mod check;
mod custom;
mod defaults;
mod distribution;
mod document;
mod error;
mod files;
mod flow;
mod link;
mod mesonet;
mod model;
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
mod typed;
mod warnings;

use std::path::Path;

use longhaul_engine::{Config, RESULTS_VERSION};
use longhaul_units::Time;

pub use catalogue::{
    Key, Profile, QueueDiscipline, QueueKey, Traffic, keys, mesonet_keys, profiles, queues, traffic,
};
pub use custom::{Algorithms, CustomAlgorithm};
pub use error::ScenarioError;
pub use mesonet::MesoNetRun;
pub use render::ExplainRow;
pub use schema::schema;

use custom::NoAlgorithms;
use document::{Origin, Table};
use error::{Diagnostic, Places};

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    root: Table,
    simulation: Simulation,
    /// What follows from the values and is none.
    explained: Vec<ExplainRow>,
    warnings: Vec<String>,
}

/// What the engine simulates.
#[derive(Clone, Debug)]
pub enum Simulation {
    /// Connections over a network of links.
    Tcp(Box<Config>),
    /// MesoNet.
    MesoNet(Box<MesoNetRun>),
}

/// Reads a scenario file, with `key=value` overrides. It brings no algorithm along.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    load_with(path, overrides, &NoAlgorithms)
}

/// Reads a scenario file that may name algorithms of the user's own.
pub fn load_with(
    path: &Path,
    overrides: &[String],
    algorithms: &dyn Algorithms,
) -> Result<Scenario, ScenarioError> {
    let (root, origin) = read::read_file(path)?;
    complete(root, &origin, overrides, algorithms)
}

/// Reads a scenario from a text, TOML or JSON. `name` stands for the file in messages, and files
/// that it extends are found from `base`, the current directory without it. It brings no algorithm
/// along.
pub fn parse(
    text: &str,
    name: &str,
    base: Option<&Path>,
    overrides: &[String],
) -> Result<Scenario, ScenarioError> {
    parse_with(text, name, base, overrides, &NoAlgorithms)
}

/// As [`parse`], of a scenario that may name algorithms of the user's own.
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
    let mut errors = mesonet::original::translate(&mut root);
    let is_mesonet = root.contains_key("mesonet");
    let fields = if is_mesonet {
        errors.extend(keys_of_tcp(&mut root));
        model::MESONET_SCENARIO
    } else {
        model::SCENARIO
    };
    errors.extend(check::check_root(&mut root, fields, origin));
    if !errors.is_empty() {
        return Err(ScenarioError::new(errors));
    }
    let places = Places::of(&root, origin);
    let in_file = |errors| ScenarioError::in_file(errors, &places);
    if is_mesonet {
        let resolved = mesonet::resolve(root, algorithms).map_err(in_file)?;
        return Ok(Scenario {
            root: resolved.root,
            simulation: Simulation::MesoNet(Box::new(resolved.run)),
            explained: resolved.explained,
            warnings: resolved.warnings,
        });
    }
    let resolved = resolve::resolve(root, algorithms).map_err(in_file)?;
    let config = build::build(&resolved);
    let warnings = warnings::warnings(&resolved, &config);
    Ok(Scenario {
        root: resolved.root,
        simulation: Simulation::Tcp(Box::new(config)),
        explained: Vec::new(),
        warnings,
    })
}

/// Takes out what says nothing about a simulation of MesoNet, and reports it.
fn keys_of_tcp(root: &mut Table) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let known =
        |fields: &[longhaul_keys::Key], key: &str| fields.iter().any(|field| field.name == key);
    root.retain(|key, node| {
        let of_tcp = known(model::SCENARIO, key) && !known(model::MESONET_SCENARIO, key);
        if of_tcp {
            let message =
                format!("a scenario with [mesonet] has no `{key}`; leave one of them out");
            out.push(Diagnostic::new(key, node.key_origin(), message));
        }
        !of_tcp
    });
    out
}

impl Scenario {
    /// The scenario with every value present, as canonical JSON: sorted keys, quantities with
    /// their units. Parsed again it gives the same scenario.
    pub fn resolved_json(&self) -> serde_json::Value {
        render::json(&self.root)
    }

    /// Every value with its origin.
    pub fn explain(&self) -> Vec<ExplainRow> {
        let mut rows = render::explain(&self.root);
        rows.extend_from_slice(&self.explained);
        rows
    }

    /// What the engine simulates.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What the engine simulates, of a scenario of TCP.
    ///
    /// # Panics
    ///
    /// If it is one of MesoNet.
    pub fn config(&self) -> &Config {
        match &self.simulation {
            Simulation::Tcp(config) => config,
            Simulation::MesoNet(_) => panic!("a scenario of MesoNet has no TCP flows"),
        }
    }

    /// When the simulation ends.
    pub fn duration(&self) -> Time {
        match &self.simulation {
            Simulation::Tcp(config) => config.duration,
            Simulation::MesoNet(run) => run.config.duration,
        }
    }

    /// What is allowed but probably not meant.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The fewest bytes that its tables will take, as far as that can be foreseen: of the time series.
    pub fn foreseen_bytes(&self) -> f64 {
        match &self.simulation {
            Simulation::Tcp(config) => warnings::foreseen_bytes(config),
            Simulation::MesoNet(_) => 0.0,
        }
    }

    /// The title; empty if the scenario has none.
    pub fn title(&self) -> String {
        self.root
            .get("title")
            .map(|title| typed::text_of(title).to_string())
            .unwrap_or_default()
    }

    /// What identifies the results: SHA-256 of the canonical JSON and [`RESULTS_VERSION`].
    pub fn hash(&self) -> String {
        render::hash(&self.resolved_json(), RESULTS_VERSION)
    }
}
