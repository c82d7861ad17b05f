//! Conversion of the user's table `[mesonet]` to the configuration of `longhaul-mesonet`.
//!
//! The checks and messages are those of other scenarios; the model itself (`longhaul-mesonet`) does not depend on them.
//! `original` first translates the original names of keys. Then the keys, which `keys` declares, are checked as in any
//! scenario. Afterwards, these modules convert them:
//!
//! ```text
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
use longhaul_keys::Profile;
use longhaul_mesonet::config::{Config, Hosts, Measure, StartWaves, Transport, Users};
use longhaul_units::Span;

use crate::document::{Origin, Table, fill};
use crate::error::Diagnostic;
use crate::kind::{ResolvedScenario, Simulation, SimulationKind};
use crate::making::Algorithms;
use crate::model::{MesoNetScenario, Seeds};
use crate::{model, profile};

use clock::Clock;
use hosts::Population;
use keys::{FileKeys, HostKeys, MeasureKeys, MesoNet, NetworkKeys, TransportKeys, UserKeys};
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
    profile::load("mesonet", text, MesoNet::KEYS, &Origin::Default)
});

/// Completes a checked document, or reports inconsistencies.
fn resolve(mut root: Table, makers: &dyn Algorithms) -> Result<ResolvedScenario, Vec<Diagnostic>> {
    let mut out = Vec::new();
    root.fill(Seeds::KEYS, Profile::ALL[0]);
    let Seeds { seed, replication } = Seeds::of(&root);
    let origin = root.node(MesoNetScenario::mesonet).origin.clone();
    let mesonet = root.sub_mut(MesoNetScenario::mesonet);
    if !mesonet.has(MesoNet::intervals) {
        let message = "the key `intervals` is missing: how many measurement intervals to simulate";
        return Err(vec![Diagnostic::new("mesonet", &origin, message)]);
    }
    if let Some(hosts) = mesonet.table_mut(MesoNet::hosts) {
        hosts::complete_shares(hosts);
    }
    fill(mesonet, &DEFAULTS);
    let clock = Clock::of(mesonet, &mut out);
    let network = topology::load(mesonet.sub_mut(MesoNet::network), &mut out);
    let (Some(clock), Some(network)) = (clock, network) else {
        return Err(out);
    };
    clock.resolve_times(mesonet, &mut out);
    let layout = Layout::of(&network.table, &network.path, &mut out);
    let parts = DerivedParts::of(mesonet, &network, &layout, &clock, &mut out);
    let algorithms = flows::algorithms(mesonet, makers, &mut out);
    let long_lived = flows::long_lived(mesonet, &layout, &algorithms, &clock, &mut out);
    let mut files = files::files(mesonet.sub_mut(MesoNet::files), &clock, &mut out);
    let users = users(mesonet.sub(MesoNet::users), &clock, &mut out);
    let Some(parts) = parts.filter(|_| out.is_empty()) else {
        return Err(out);
    };
    let sources = parts.population.all_sources();
    let measure = mesonet.sub_mut(MesoNet::measure);
    let trace = trace::trace(measure, &long_lived, sources, &clock, &mut out);
    let hosts = HostKeys::of(mesonet.sub(MesoNet::hosts));
    let keys = FileKeys::of(mesonet.sub(MesoNet::files));
    if keys.admission {
        files.admission = Some(files::admission(
            &keys,
            &files,
            &parts.population,
            &layout,
            hosts.fast_share,
            &algorithms,
        ));
    }
    let network = mesonet.sub(MesoNet::network);
    let buffers = Buffers::new(network, parts.round_trips);
    let topology = sizes::topology(
        &layout,
        parts.routes,
        &parts.population,
        &buffers,
        &clock,
        &mut out,
    );
    let measure = mesonet.sub(MesoNet::measure);
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
            base: clock.rate(hosts.base_rate),
            fast: clock.rate(hosts.fast_rate),
            fast_share: hosts.fast_share,
        },
        transport: transport(mesonet.read(MesoNet::transport), &clock),
        algorithms,
        users,
        files,
        long_lived,
        measure: Measure {
            every: clock.interval,
            batch: measure.read(MeasureKeys::batch) as usize,
            flow_log: measure.read(MeasureKeys::flow_log),
        },
        topology,
    };
    let rates = Rates::of(network);
    let explained = explained::rows(
        &config,
        &rates,
        &buffers,
        &parts.population,
        &layout,
        &clock,
    );
    let warnings = warnings(&rates);
    let run = MesoNetRun {
        tables: measure.read(MeasureKeys::tables),
        flush_every: mesonet.read(MesoNet::flush_every),
        config,
    };
    Ok(ResolvedScenario {
        root,
        simulation: Simulation::MesoNet(Box::new(run)),
        explained,
        warnings,
    })
}

/// Values that follow from the topology and its hosts.
struct DerivedParts {
    routes: Routes,
    population: Population,
    /// Sum of round-trip times over pairs of backbone routers, in time steps, and the number of
    /// pairs.
    round_trips: (u64, u64),
}

impl DerivedParts {
    fn of(
        mesonet: &Table,
        network: &topology::NamedTopology,
        layout: &Layout,
        clock: &Clock,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let factor = mesonet.sub(MesoNet::network);
        let factor = factor.read(NetworkKeys::delay_factor);
        let routes = Routes::of(&network.table, &network.path, layout, clock, factor, out);
        let population = Population::of(mesonet.sub(MesoNet::hosts), layout, out);
        let (routes, population) = (routes?, population?);
        let mut ends: Vec<usize> = layout
            .access
            .iter()
            .map(|access| access.backbone(layout))
            .collect();
        ends.dedup();
        routes.refuse_unconnected(&ends, &network.path, layout, out);
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
    let UserKeys { think, start } = UserKeys::of(table);
    let start_waves = StartWaves {
        at_once: start.at_once,
        second: start.second,
        third: start.third,
    };
    let sum = start_waves.at_once + start_waves.second + start_waves.third;
    if sum > 1.0 + 1e-9 {
        let message = format!("the three probabilities add up to {sum}, more than 1");
        let path = "mesonet.users";
        out.push(Diagnostic::at(table, UserKeys::start, path, message));
    }
    Users {
        think: clock.span(think),
        start: start_waves,
    }
}

fn transport(keys: TransportKeys, clock: &Clock) -> Transport {
    Transport {
        initial_cwnd: keys.initial_cwnd,
        initial_ssthresh: keys.initial_ssthresh,
        slow_start: SlowStart::NistLimited {
            max_ssthresh: keys.max_ssthresh,
        },
        max_cwnd: keys.max_cwnd,
        min_cwnd: keys.min_cwnd,
        srtt_gain: keys.srtt_gain,
        srtt_allowance: clock.span(keys.srtt_allowance),
        rtt_excess: keys
            .rtt_excess
            .map_or(Span::ZERO, |excess| clock.span(excess)),
        handshake_rtt: keys.handshake_rtt,
    }
}

/// Returns a warning if points of presence are faster than backbone routers, and one if normal access routers are
/// faster than points of presence. The published networks have their bottlenecks at access routers (NIST SP 500-282,
/// chapter 3).
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
