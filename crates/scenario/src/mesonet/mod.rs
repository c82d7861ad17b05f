//! `[mesonet]`: from the user's table to the configuration of `longhaul-mesonet`.
//!
//! A module of this crate, whose checker, origins and diagnostics it uses; the model itself
//! (`longhaul-mesonet`) knows none of them. `keys` declares the keys.
//!
//! ```text
//! original   original names are translated to keys
//!   -- then keys are checked, as in any scenario
//! clock      steps, intervals, duration
//! topology   the topology by its name or file: layout (the hierarchy of routers), routes
//! hosts      numbers and places of sources and receivers
//! sizes      speeds and buffers
//! files, flows   files, algorithms, long-lived flows
//! trace      flows that are traced
//! explained  derived values, for `longhaul explain`
//! ```

mod clock;
mod explained;
mod files;
mod flows;
mod hosts;
pub(crate) mod keys;
mod layout;
mod original;
mod routes;
pub(crate) mod run;
mod sizes;
mod topology;
mod trace;

use std::sync::LazyLock;

use longhaul_congestion::SlowStart;
use longhaul_mesonet::config::{Config, Hosts, Measure, StartWaves, Transport, Users};
use longhaul_units::Span;

use crate::custom::Algorithms;
use crate::document::{Node, Origin, Table, Value, fill};
use crate::error::Diagnostic;
use crate::kind::{Resolved, Simulation, SimulationKind};
use crate::typed::{Typed, text_of};
use crate::{model, profile};

use clock::Clock;
use hosts::Population;
use keys::MESONET;
use layout::Layout;
use original::ORIGINALS;
use routes::Routes;
use run::MesoNetRun;
use sizes::{Buffers, Rates};

/// Scenarios with `[mesonet]`.
pub(crate) const KIND: SimulationKind = SimulationKind {
    table: "mesonet",
    keys: model::MESONET_SCENARIO,
    other_names: || ORIGINALS.iter().map(|original| original.name).collect(),
    rename: original::translate,
    resolve,
};

static DEFAULTS: LazyLock<Table> = LazyLock::new(|| {
    let text = include_str!("../../profiles/mesonet.toml");
    profile::load("mesonet", text, MESONET, &Origin::Default)
});

/// Completes a checked document, or reports contradictions.
fn resolve(mut root: Table, makers: &dyn Algorithms) -> Result<Resolved, Vec<Diagnostic>> {
    let mut out = Vec::new();
    root.default("seed", Value::Whole(1), Origin::Default);
    root.default("replication", Value::Whole(0), Origin::Default);
    let (seed, replication) = (root.read::<u64>("seed"), root.read::<u64>("replication"));
    let origin = root.node("mesonet").origin.clone();
    let mesonet = root.sub_mut("mesonet");
    if !mesonet.contains_key("intervals") {
        let message = "the key `intervals` is missing: how many measurement intervals to simulate";
        return Err(vec![Diagnostic::new("mesonet", &origin, message)]);
    }
    if let Some(hosts) = mesonet.get_mut("hosts").and_then(Node::table_mut) {
        hosts::complete_shares(hosts);
    }
    fill(mesonet, &DEFAULTS);
    let clock = Clock::of(mesonet, &mut out);
    let network = topology::load(mesonet.sub_mut("network"), &mut out);
    let (Some(clock), Some(network)) = (clock, network) else {
        return Err(out);
    };
    clock.resolve_times(mesonet, &mut out);
    let layout = Layout::of(&network.table, &network.path, &mut out);
    let parts = Parts::of(mesonet, &network, &layout, &clock, &mut out);
    let algorithms = flows::algorithms(mesonet, makers, &mut out);
    let long_lived = flows::long_lived(mesonet, &layout, &algorithms, &clock, &mut out);
    let mut files = files::files(mesonet.sub_mut("files"), &clock, &mut out);
    let users = users(mesonet.sub("users"), &clock, &mut out);
    let Some(parts) = parts.filter(|_| out.is_empty()) else {
        return Err(out);
    };
    let sources = parts.population.all_sources();
    let measure = mesonet.sub_mut("measure");
    let trace = trace::trace(measure, &long_lived, sources, &clock, &mut out);
    let hosts = mesonet.sub("hosts");
    let table = mesonet.sub("files");
    if table.read::<bool>("admission") {
        let share = hosts.read::<f64>("fast_share");
        files.admission = Some(files::admission(
            table,
            &files,
            &parts.population,
            &layout,
            share,
            &algorithms,
        ));
    }
    let buffers = Buffers::new(mesonet.sub("network"), parts.round_trips);
    let topology = sizes::topology(
        &layout,
        parts.routes,
        &parts.population,
        &buffers,
        &clock,
        &mut out,
    );
    let measure = mesonet.sub("measure");
    topology::check_monitors(measure, &topology, &mut out);
    if !out.is_empty() {
        return Err(out);
    }
    let config = Config {
        trace,
        seed,
        replication,
        duration: clock.end(),
        hosts: Hosts {
            base: clock.rate(hosts.read::<f64>("base_rate")),
            fast: clock.rate(hosts.read::<f64>("fast_rate")),
            fast_share: hosts.read("fast_share"),
        },
        transport: transport(mesonet.sub("transport"), &clock),
        algorithms,
        users,
        files,
        long_lived,
        measure: Measure {
            every: clock.interval,
            batch: measure.read::<u64>("batch") as usize,
            flow_log: measure.read("flow_log"),
        },
        topology,
    };
    let rates = Rates::of(mesonet.sub("network"));
    let explained = explained::rows(
        &config,
        &rates,
        &buffers,
        &parts.population,
        &layout,
        &clock,
    );
    let warnings = warnings(&rates);
    let tables = measure.list("tables").iter();
    let run = MesoNetRun {
        tables: tables.map(|node| text_of(node).to_string()).collect(),
        flush_every: mesonet
            .get("flush_every")
            .map(|_| mesonet.read::<u64>("flush_every")),
        config,
    };
    Ok(Resolved {
        root,
        simulation: Simulation::MesoNet(Box::new(run)),
        explained,
        warnings,
    })
}

/// What follows from the topology and its hosts.
struct Parts {
    routes: Routes,
    population: Population,
    /// Sum of round trips over pairs of backbone routers in time steps, and the number of pairs.
    round_trips: (u64, u64),
}

impl Parts {
    fn of(
        mesonet: &Table,
        network: &topology::Named,
        layout: &Layout,
        clock: &Clock,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let factor = mesonet.sub("network").read::<f64>("delay_factor");
        let routes = Routes::of(&network.table, &network.path, layout, clock, factor, out);
        let population = Population::of(mesonet.sub("hosts"), layout, out);
        let (routes, population) = (routes?, population?);
        let mut ends: Vec<usize> = layout
            .access
            .iter()
            .map(|one| one.backbone(layout))
            .collect();
        ends.dedup();
        let mut refuse = |message: String| {
            out.push(Diagnostic::new(&network.path, &network.origin, message));
        };
        if ends.len() < 2 {
            refuse("access routers have to be below two backbone routers or more".to_string());
            return None;
        }
        let round_trips = routes.round_trips(&ends, layout);
        let round_trips = round_trips.map_err(refuse).ok()?;
        Some(Self {
            routes,
            population,
            round_trips,
        })
    }
}

fn users(table: &Table, clock: &Clock, out: &mut Vec<Diagnostic>) -> Users {
    let start = table.sub("start");
    let start_waves = StartWaves {
        at_once: start.read("at_once"),
        second: start.read("second"),
        third: start.read("third"),
    };
    let sum = start_waves.at_once + start_waves.second + start_waves.third;
    if sum > 1.0 + 1e-9 {
        let message = format!("the three probabilities add up to {sum}, more than 1");
        let origin = &table.node("start").origin;
        out.push(Diagnostic::new("mesonet.users.start", origin, message));
    }
    Users {
        think: clock.span(table.node("think")),
        start: start_waves,
    }
}

fn transport(table: &Table, clock: &Clock) -> Transport {
    Transport {
        initial_cwnd: table.read("initial_cwnd"),
        initial_ssthresh: table.read("initial_ssthresh"),
        slow_start: SlowStart::NistLimited {
            max_ssthresh: table.read("max_ssthresh"),
        },
        max_cwnd: table.read("max_cwnd"),
        min_cwnd: table.read("min_cwnd"),
        srtt_gain: table.read("srtt_gain"),
        srtt_allowance: clock.span(table.node("srtt_allowance")),
        rtt_excess: table
            .get("rtt_excess")
            .map_or(Span::ZERO, |node| clock.span(node)),
        handshake_rtt: table.read("handshake_rtt"),
    }
}

/// The published networks have their bottlenecks at access routers (NIST SP 500-282, chapter 3).
fn warnings(rates: &Rates) -> Vec<String> {
    let tiers = [
        (
            "backbone routers",
            rates.backbone,
            "points of presence",
            rates.pop,
        ),
        (
            "points of presence",
            rates.pop,
            "normal access routers",
            rates.normal,
        ),
    ];
    let slower = tiers
        .into_iter()
        .filter(|(_, above, _, below)| above < below);
    let warning = |(above, fast, below, faster)| {
        format!(
            "{above} forward {fast} packets per time step, {below} {faster}: more than those above them"
        )
    };
    slower.map(warning).collect()
}
