//! The answer of the playground: the results of a run that the page shows.

use longhaul_engine::config::Config;
use longhaul_engine::measure::{FlowCounters, LinkTotals, Totals};
use longhaul_engine::simulation;
use longhaul_scenario::Simulation;
use serde::Serialize;

use crate::series::{Line, Series};

/// Reason for refusing a scenario.
#[derive(Serialize)]
pub struct Refusal {
    pub error: String,
}

/// Results of a run: totals over its measurement window, and time series over the whole run.
#[derive(Serialize)]
pub struct Answer {
    title: String,
    /// Beginning and end of the measurement window.
    from_s: f64,
    to_s: f64,
    data_packets: u64,
    warnings: Vec<String>,
    labels: Vec<Group>,
    links: Vec<Link>,
    cwnd: Vec<Line>,
    goodput: Vec<Line>,
    queue: Vec<Line>,
}

/// The flows of one label.
#[derive(Serialize)]
struct Group {
    label: String,
    flows: usize,
    goodput_bps: f64,
    /// Retransmitted packets as a fraction of all data packets sent.
    retransmitted: Option<f64>,
    rtt_mean_s: Option<f64>,
}

/// A link that is sampled.
#[derive(Serialize)]
struct Link {
    name: String,
    utilisation: Option<f64>,
    queue_mean_pkts: f64,
    dropped_pkts: u64,
    marked_pkts: u64,
}

impl Answer {
    /// Reads a scenario and simulates it; the error is a message for the user.
    pub fn to(scenario: &str) -> Result<Self, String> {
        let scenario = longhaul_scenario::parse(scenario, "scenario", None, &[])
            .map_err(|error| error.to_string())?;
        let Simulation::Tcp(config) = scenario.simulation() else {
            return Err("MesoNet is not in the playground: longhaul run FILE".to_string());
        };
        let mut series = Series::default();
        let totals = simulation::run(config, &mut series).map_err(|error| error.to_string())?;
        let measured = totals.end.as_secs_f64() - config.measure.from.as_secs_f64();
        Ok(Self {
            title: scenario.title(),
            from_s: config.measure.from.as_secs_f64(),
            to_s: totals.end.as_secs_f64(),
            data_packets: totals.data_packets,
            warnings: [scenario.warnings(), &totals.run_warnings].concat(),
            labels: groups(config, &totals, measured),
            links: links(config, &totals, measured),
            cwnd: series.cwnd(config),
            goodput: series.goodput(config),
            queue: series.queue(config),
        })
    }
}

fn groups(config: &Config, totals: &Totals, measured: f64) -> Vec<Group> {
    let mut labels: Vec<&str> = config
        .flows
        .iter()
        .map(|flow| flow.label.as_str())
        .collect();
    labels.dedup();
    let of = |label: &str| {
        let flows = config.flows.iter().zip(&totals.flows);
        let of_label = flows.filter(|(flow, _)| flow.label == label);
        let counters: Vec<&FlowCounters> = of_label.map(|(_, totals)| &totals.window).collect();
        let sum = |count: fn(&FlowCounters) -> f64| -> f64 {
            counters.iter().map(|counters| count(counters)).sum()
        };
        let sent = sum(|counters| counters.sent_pkts as f64);
        let samples = sum(|counters| counters.rtt_samples as f64);
        Group {
            label: label.to_string(),
            flows: counters.len(),
            goodput_bps: sum(|counters| counters.delivered_bytes as f64) * 8.0 / measured,
            retransmitted: (sent > 0.0)
                .then(|| sum(|counters| counters.retransmitted_pkts as f64) / sent),
            rtt_mean_s: (samples > 0.0)
                .then(|| sum(|counters| counters.rtt_sum.as_secs_f64()) / samples),
        }
    };
    labels.into_iter().map(of).collect()
}

fn links(config: &Config, totals: &Totals, measured: f64) -> Vec<Link> {
    let of = |name: &str, totals: &LinkTotals| {
        let window = &totals.window;
        let capacity = window.capacity().bytes();
        Link {
            name: name.to_string(),
            utilisation: (capacity > 0.0).then(|| window.transmitted.bytes() / capacity),
            queue_mean_pkts: window.queue_integral() / measured,
            dropped_pkts: window.dropped_pkts(),
            marked_pkts: window.marked_pkts,
        }
    };
    let links = config.links.iter().zip(&totals.links);
    links
        .filter(|(link, _)| link.sampled)
        .map(|(link, totals)| of(&link.name, totals))
        .collect()
}
