//! The kinds of simulation. A new one needs a line here, and a variant of [`Simulation`].

use crate::document::Table;
use crate::error::Diagnostic;
use crate::kind::{ResolvedScenario, Simulation, SimulationKind};
use crate::making::Algorithms;
use crate::{build, mesonet, model, resolve, warnings};

/// Simulation of connections over a network of links, the default kind.
const TCP: SimulationKind = SimulationKind {
    table: "topology",
    keys: model::SCENARIO,
    other_names: Vec::new,
    rename: |_| Vec::new(),
    resolve: resolve_tcp,
};

/// All kinds except [`TCP`].
pub(crate) const OTHERS: [SimulationKind; 1] = [mesonet::KIND];

/// Returns the kind of simulation that a scenario describes.
pub(crate) fn of(root: &Table) -> &'static SimulationKind {
    const KINDS: &[SimulationKind] = &OTHERS;
    let other = KINDS
        .iter()
        .find(|kind| root.entries.contains_key(kind.table));
    other.unwrap_or(&TCP)
}

fn resolve_tcp(
    root: Table,
    algorithms: &dyn Algorithms,
) -> Result<ResolvedScenario, Vec<Diagnostic>> {
    let resolved = resolve::resolve(root, algorithms)?;
    let config = build::build(&resolved);
    let warnings = warnings::warnings(&resolved, &config);
    Ok(ResolvedScenario {
        root: resolved.root,
        explained: vec![warnings::explain_drawn(&config)],
        simulation: Simulation::Tcp(Box::new(config)),
        warnings,
    })
}
