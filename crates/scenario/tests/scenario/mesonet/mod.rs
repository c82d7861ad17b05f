//! Scenarios of MesoNet: the configuration that they give, and every refusal.

mod network;
mod originals;
mod refusals;
mod users;

use longhaul_mesonet::Config;
use longhaul_scenario::{Scenario, Simulation, parse};

/// The shortest valid scenario of MesoNet.
const BASE: &str = "[mesonet]\nintervals = 100\n";

/// Reads [`BASE`] with overrides of keys in `[mesonet]`.
fn scenario(overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides
        .iter()
        .map(|text| format!("mesonet.{text}"))
        .collect();
    parse(BASE, "base.toml", None, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn config(scenario: &Scenario) -> &Config {
    match scenario.simulation() {
        Simulation::MesoNet(run) => &run.config,
        Simulation::Tcp(_) => panic!("no scenario of MesoNet"),
    }
}

/// Returns the engine's configuration of [`BASE`] with overrides.
fn with(overrides: &[&str]) -> Config {
    config(&scenario(overrides)).clone()
}

/// Overrides that give a topology of two backbone routers with a normal access router each.
const SMALL: &str = "network.topology = { backbone = [\
    { name = \"X\", pops = [{ normal = 1 }] }, { name = \"Y\", pops = [{ normal = 1 }] }], \
    links = [{ from = \"X\", to = \"Y\", delay = 5 }] }";
