//! Derived values of a scenario of MesoNet: speeds, buffers, numbers of hosts, and shares of flow
//! classes. Runs of the original begin with the same report (NIST SP 500-282, chapter 3).

use longhaul_mesonet::config::{AccessClass, Config, Router};
use longhaul_mesonet::records::FlowClass;

use super::clock::Clock;
use super::files::LARGE;
use super::hosts::Population;
use super::layout::{Layout, class_name};
use super::sizes::{Buffers, Rates};
use crate::render::ExplainRow;

const CLASSES: [AccessClass; 3] = [AccessClass::Normal, AccessClass::Fast, AccessClass::Direct];

/// Bits of a packet (NIST SP 500-282, chapter 3: 1500 octets), to show rates in bit/s.
const PACKET_BITS: f64 = 12_000.0;

/// Returns the rows of all derived values for `longhaul explain`.
pub(crate) fn rows(
    config: &Config,
    rates: &Rates,
    buffers: &Buffers<'_>,
    population: &Population,
    layout: &Layout,
    clock: &Clock,
) -> Vec<ExplainRow> {
    let mut rows = vec![
        row(
            "duration",
            clock.duration.to_string(),
            "interval x intervals",
        ),
        row(
            "network.mean_round_trip",
            format!("{:.4} time steps", buffers.mean_round_trip()),
            "propagation both ways, over all pairs of backbone routers with hosts",
        ),
    ];
    speeds(rates, clock, &mut rows);
    buffers_of_tiers(config, &mut rows);
    hosts(population, layout, &mut rows);
    limits(config, &mut rows);
    rows
}

fn row(path: &str, value: String, rule: &str) -> ExplainRow {
    ExplainRow {
        path: format!("mesonet.{path}"),
        value,
        origin: format!("derived: {rule}"),
    }
}

fn speeds(rates: &Rates, clock: &Clock, rows: &mut Vec<ExplainRow>) {
    let tiers = [
        (
            "backbone",
            rates.backbone,
            "backbone_rate x backbone_speedup",
        ),
        ("pops", rates.pop, "backbone_rate / pop_divisor"),
        (
            "normal",
            rates.normal,
            "backbone_rate / pop_divisor / access_divisor",
        ),
        (
            "fast",
            rates.fast,
            "rate of normal access routers x fast_factor",
        ),
        (
            "direct",
            rates.direct,
            "rate of normal access routers x direct_factor",
        ),
    ];
    rows.extend(tiers.map(|(tier, rate, rule)| {
        let gbps = clock.rate(rate).as_per_s() * PACKET_BITS / 1e9;
        let value = format!("{rate} packets per time step ({gbps:.4} Gbps at 1500 B)");
        row(&format!("network.capacity.{tier}"), value, rule)
    }));
}

fn buffers_of_tiers(config: &Config, rows: &mut Vec<ExplainRow>) {
    let topology = &config.topology;
    let mut add = |tier: &str, routers: Vec<&Router>| {
        let rule = "network.buffer x network.buffer_factor, rounded up, then down";
        let sizes = || routers.iter().map(|router| router.buffer);
        let (Some(min), Some(max)) = (sizes().min(), sizes().max()) else {
            return;
        };
        let mean = sizes().sum::<u64>() as f64 / routers.len() as f64;
        let value = if min == max {
            format!("{min} packets")
        } else {
            format!("{min} to {max} packets, {mean:.2} on average")
        };
        let shared = topology.shared_buffer && tier != "backbone";
        let queues = if shared {
            "for both queues of each of"
        } else {
            "in each queue of"
        };
        let value = format!("{value}, {queues} {} routers", routers.len());
        rows.push(row(&format!("network.buffers.{tier}"), value, rule));
    };
    add("backbone", topology.backbone.iter().collect());
    add(
        "pops",
        topology.pops.iter().map(|pop| &pop.router).collect(),
    );
    let access = |class| {
        let of_class = topology
            .access
            .iter()
            .filter(move |access| access.class == class);
        of_class.map(|access| &access.router).collect()
    };
    for class in CLASSES {
        add(class_name(class), access(class));
    }
    add(
        "access",
        topology
            .access
            .iter()
            .map(|access| &access.router)
            .collect(),
    );
}

fn hosts(population: &Population, layout: &Layout, rows: &mut Vec<ExplainRow>) {
    let kinds = [
        (
            "sources",
            &population.sources,
            population.all_sources(),
            "3",
        ),
        (
            "receivers",
            &population.receivers,
            population.all_receivers(),
            "12",
        ),
    ];
    for (kind, counts, all, factor) in kinds {
        for class in CLASSES {
            let below = layout.access.iter().zip(counts);
            let below = below.filter(|(access, _)| access.class == class);
            let counts: Vec<u32> = below.map(|(_, &count)| count).collect();
            let (Some(min), Some(max)) = (counts.iter().min(), counts.iter().max()) else {
                continue;
            };
            let each = if min == max {
                min.to_string()
            } else {
                format!("{min} to {max}")
            };
            let value = format!("{each} below each of {} routers", counts.len());
            let rule = format!("{factor} x hosts.sources x hosts.scale x share");
            rows.push(row(
                &format!("hosts.{kind}.{}", class_name(class)),
                value,
                &rule,
            ));
        }
        rows.push(row(
            &format!("hosts.{kind}.all"),
            all.to_string(),
            "their sum",
        ));
    }
    if population.all_sources() > 0 {
        let shares: Vec<String> = FlowClass::ALL
            .into_iter()
            .map(|class| {
                let share = class_share(class, population, layout);
                format!(
                    "{} {:.2} %",
                    format!("{class:?}").to_uppercase(),
                    100.0 * share
                )
            })
            .collect();
        let rule =
            "products of the classes' shares of sources and receivers (NIST SP 500-282, chapter 3)";
        rows.push(row("hosts.flow_classes", shares.join(", "), rule));
    }
}

/// Adds rows with the limits on the numbers of flows that transfer large files.
fn limits(config: &Config, rows: &mut Vec<ExplainRow>) {
    let Some(admission) = &config.files.admission else {
        return;
    };
    for (at, (key, _)) in LARGE.into_iter().enumerate() {
        rows.push(row(
            &format!("files.{}.max", key.name()),
            admission.max[at].to_string(),
            "sources x probability, at least 1000, 100 or 10 (NIST SP 500-282, equations 1 to 3)",
        ));
        let min = admission.min[at].map(|count| count.to_string());
        rows.push(row(
            &format!("files.{}.min", key.name()),
            min.join(" "),
            "0.1 x maximum x part of the flows, by path, interface and algorithm (table 8-7)",
        ));
    }
}

/// Returns the fraction of flows that would be of class `class` if every source chose uniformly
/// among all receivers.
fn class_share(class: FlowClass, population: &Population, layout: &Layout) -> f64 {
    use AccessClass::{Direct, Fast, Normal};
    let (one, other) = match class {
        FlowClass::Dd => (Direct, Direct),
        FlowClass::Df => (Direct, Fast),
        FlowClass::Dn => (Direct, Normal),
        FlowClass::Ff => (Fast, Fast),
        FlowClass::Fn => (Fast, Normal),
        FlowClass::Nn => (Normal, Normal),
    };
    let (one_share, other_share) = (
        population.shares(one, layout),
        population.shares(other, layout),
    );
    let forth = one_share.0 * other_share.1;
    if one == other {
        forth
    } else {
        forth + other_share.0 * one_share.1
    }
}
